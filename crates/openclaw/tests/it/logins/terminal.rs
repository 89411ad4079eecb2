//! Logging in at a terminal, where somebody can be asked.

use std::ffi::OsStr;
use std::fs::File;
use std::io::Write as _;
use std::os::unix::ffi::OsStrExt as _;
use std::process::{Command, Stdio};
use std::time::Duration;

use openclaw_testkit::leaks::wait_until;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

use super::running::Listener;
use super::{LoginLab, get, sent_to};

/// How long it may take to say or do what it is waited for.
const PATIENCE: Duration = Duration::from_mins(1);
const QUESTION: &str = "now? [Y/n]";

/// A program in a terminal of its own.
pub(crate) struct Terminal {
    keyboard: File,
    screen: Listener,
    child: std::process::Child,
}

impl Terminal {
    fn run(lab: &LoginLab, arguments: &[&str]) -> Self {
        Self::of(lab.lab.home.command(arguments))
    }

    pub(crate) fn of(mut command: Command) -> Self {
        let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&ours).unwrap();
        unlockpt(&ours).unwrap();
        let name = ptsname(&ours, Vec::new()).unwrap();
        let theirs = || {
            let path = OsStr::from_bytes(name.as_bytes());
            let file = File::options().read(true).write(true).open(path);
            Stdio::from(file.unwrap())
        };
        let child = command
            .stdin(theirs())
            .stdout(theirs())
            .stderr(theirs())
            .spawn()
            .unwrap();
        let keyboard = File::from(ours);
        Self {
            screen: Listener::to(keyboard.try_clone().unwrap()),
            keyboard,
            child,
        }
    }

    /// Waits until something stands on the screen so often.
    #[track_caller]
    pub(crate) fn shows(&self, words: &str, times: usize) -> String {
        let stands = || self.screen.so_far().matches(words).count() >= times;
        assert!(
            wait_until(PATIENCE, || stands() || self.screen.is_over()) && stands(),
            "{words:?}: {}",
            self.screen.so_far()
        );
        self.screen.so_far()
    }

    /// Waits for the end, and gives the code and how often more stood on the screen than before.
    #[track_caller]
    pub(crate) fn grown(self) -> (Option<i32>, usize) {
        let (mut length, mut times) = (0, 0);
        wait_until(PATIENCE, || {
            let now = self.screen.so_far().len();
            times += usize::from(now > length);
            length = now;
            self.screen.is_over()
        });
        (self.ended().0, times)
    }

    pub(crate) fn types(&mut self, line: &str) {
        writeln!(self.keyboard, "{line}").unwrap();
    }

    /// The address of a login, by its number.
    #[track_caller]
    fn address(&self, number: usize) -> String {
        let shown = self.shows("shows in the end here", number);
        let lines = shown.lines().map(str::trim);
        let mut addresses = lines.filter(|line| line.contains("/authorize?"));
        addresses.nth(number - 1).unwrap().to_owned()
    }

    /// Waits for the end, and gives the code.
    #[track_caller]
    pub(crate) fn ended(mut self) -> (Option<i32>, String) {
        let mut status = None;
        let has_ended = wait_until(PATIENCE, || {
            status = self.child.try_wait().unwrap();
            status.is_some()
        });
        assert!(has_ended, "{}", self.screen.so_far());
        (status.unwrap().code(), self.screen.so_far())
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn every_question_gets_the_answer_that_is_typed_after_it() {
    let lab = LoginLab::new("");
    let mut terminal = Terminal::run(&lab, &["mcp", "call", "fake/admin"]);
    terminal.shows(QUESTION, 1);
    terminal.types("y");
    // The browser ends the first login while the program waits for what is pasted.
    assert_eq!(get(&sent_to(&terminal.address(1))).status, 200);
    // For this tool it does not allow enough.
    let shown = terminal.shows(QUESTION, 2);
    assert!(
        shown.contains("more than the login allows: admin"),
        "{shown}"
    );
    terminal.types("");
    let address = terminal.address(2);
    terminal.types("http://127.0.0.1:1/callback?state=nonsense&code=1");
    terminal.shows("it belongs to no login that is under way", 1);
    terminal.types(&sent_to(&address));
    let (code, screen) = terminal.ended();
    assert_eq!(code, Some(0), "{screen}");
    assert_eq!(lab.counters().exchanges, 2);
    lab.done(&["mcp", "call", "fake/admin"]);
}

#[test]
fn who_says_no_is_not_logged_in() {
    let lab = LoginLab::new("");
    let mut terminal = Terminal::run(&lab, &["mcp", "call", "fake/echo", "message=hi"]);
    terminal.shows(QUESTION, 1);
    terminal.types("n");
    let (code, screen) = terminal.ended();
    assert_eq!(code, Some(1), "{screen}");
    assert!(screen.contains("openclaw mcp auth fake"), "{screen}");
    assert_eq!(lab.counters().registrations, 0);
}

#[test]
fn what_was_pasted_in_vain_is_told_with_what_to_do() {
    let lab = LoginLab::new("");
    let mut terminal = Terminal::run(&lab, &["mcp", "auth", "fake", "--no-browser"]);
    let address = terminal.address(1);
    let back = sent_to(&address);
    lab.server.set_flags("--fail-exchange 503").unwrap();
    terminal.types(&back);
    terminal.shows("hint: try again later", 1);
    lab.server.set_flags("").unwrap();
    terminal.types(&back);
    let (code, screen) = terminal.ended();
    assert_eq!(code, Some(0), "{screen}");
    lab.calls();
}
