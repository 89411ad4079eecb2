//! A terminal with a screen: what it shows is read from there, as a person would.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{Read as _, Write as _};
use std::os::unix::ffi::OsStrExt as _;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread::JoinHandle;
use std::time::Duration;

use openclaw_testkit::leaks::wait_until;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, Signal, kill_process};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{LocalModes, Winsize, tcgetattr, tcsetwinsize};

/// How long it may take to show or do what it is waited for.
const PATIENCE: Duration = Duration::from_mins(1);
/// How often the reader looks whether it should go on.
const LOOK: Duration = Duration::from_millis(50);
const ROWS: u16 = 40;
/// The question where the cursor is.
const WHERE: &[u8] = b"\x1b[6n";

/// Keys that are no letters.
pub(crate) const CTRL_C: &str = "\u{3}";
pub(crate) const CTRL_D: &str = "\u{4}";
pub(crate) const CTRL_Z: &str = "\u{1a}";
pub(crate) const UP: &str = "\u{1b}[A";
pub(crate) const ENTER: &str = "\r";
pub(crate) const TAB: &str = "\t";

/// What a terminal is like.
#[derive(Clone, Copy)]
pub(crate) struct Kind {
    pub(crate) columns: u16,
    /// Whether it says where its cursor is.
    pub(crate) answers: bool,
}

impl Default for Kind {
    fn default() -> Self {
        Self {
            columns: 100,
            answers: true,
        }
    }
}

/// A program with a terminal of its own, whose session it leads.
pub(crate) struct Console {
    keyboard: File,
    seen: Arc<Mutex<Seen>>,
    reader: JoinHandle<()>,
    /// Whether the reader lets go of the terminal.
    is_unplugged: Arc<AtomicBool>,
    child: Child,
}

struct Seen {
    bytes: Vec<u8>,
    screen: vt100::Parser,
}

impl Console {
    /// Starts a program, given as the command and its arguments.
    pub(crate) fn start(kind: Kind, command: &Command) -> Self {
        // What the program had open as well would not go away.
        let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
        let ours = openpt(flags).unwrap();
        grantpt(&ours).unwrap();
        unlockpt(&ours).unwrap();
        tcsetwinsize(&ours, size(kind.columns)).unwrap();
        let name = ptsname(&ours, Vec::new()).unwrap();
        let theirs = || {
            let path = OsStr::from_bytes(name.as_bytes());
            let file = File::options().read(true).write(true).open(path);
            Stdio::from(file.unwrap())
        };
        // Only what leads a session has keys that send signals.
        let mut led = Command::new("setsid");
        led.arg("--ctty").arg(command.get_program());
        led.args(command.get_args()).env_clear();
        for (name, value) in command.get_envs() {
            led.env(name, value.unwrap_or_default());
        }
        led.env("TERM", "xterm-256color");
        if let Some(directory) = command.get_current_dir() {
            led.current_dir(directory);
        }
        let child = led.stdin(theirs()).stdout(theirs()).stderr(theirs());
        let child = child.spawn().unwrap();
        let keyboard = File::from(ours);
        let seen = Arc::new(Mutex::new(Seen {
            bytes: Vec::new(),
            screen: vt100::Parser::new(ROWS, kind.columns, 1_000),
        }));
        let is_unplugged = Arc::new(AtomicBool::new(false));
        let reader = read(
            keyboard.try_clone().unwrap(),
            Arc::clone(&seen),
            kind.answers,
            Arc::clone(&is_unplugged),
        );
        Self {
            keyboard,
            seen,
            reader,
            is_unplugged,
            child,
        }
    }

    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap()
    }

    /// Everything that was ever written, with the sequences for the terminal.
    pub(crate) fn written(&self) -> String {
        String::from_utf8_lossy(&self.seen().bytes).into_owned()
    }

    /// What stands on the screen.
    pub(crate) fn screen(&self) -> String {
        self.seen().screen.screen().contents()
    }

    /// Waits until something stands on the screen.
    #[track_caller]
    pub(crate) fn shows(&self, words: &str) -> String {
        self.shows_when(words, |screen| screen.contains(words))
    }

    /// Waits until something is on the last line that is not empty.
    #[track_caller]
    pub(crate) fn asks(&self, words: &str) -> String {
        self.shows_when(words, |screen| {
            let last = screen.lines().rfind(|line| !line.trim().is_empty());
            last.is_some_and(|last| last.trim_end() == words.trim_end())
        })
    }

    #[track_caller]
    fn shows_when(&self, words: &str, stands: impl Fn(&str) -> bool) -> String {
        let does = || stands(&self.screen());
        assert!(
            wait_until(PATIENCE, || does() || self.reader.is_finished()) && does(),
            "{words:?} is missing on:\n{}\n--- {:?}",
            self.screen(),
            self.written()
        );
        self.screen()
    }

    /// Types what ends a line, and waits until it has ended.
    #[track_caller]
    pub(crate) fn enters(&mut self, text: &str) {
        let before = self.seen().bytes.len();
        self.types(text);
        let has_ended = || self.seen().bytes[before..].contains(&b'\n');
        assert!(
            wait_until(PATIENCE, || has_ended() || self.reader.is_finished()),
            "{text:?} ends no line:\n{}",
            self.screen()
        );
    }

    pub(crate) fn types(&mut self, text: &str) {
        self.keyboard.write_all(text.as_bytes()).unwrap();
    }

    /// Waits until what was typed has arrived where the program would read it: the system takes a moment for
    /// keys.
    #[track_caller]
    pub(crate) fn has_keys(&self) {
        // Opened for a moment: the terminal is gone when nobody has it open any more.
        let name = ptsname(&self.keyboard, Vec::new()).unwrap();
        let path = OsStr::from_bytes(name.as_bytes());
        let theirs = File::options().read(true).open(path).unwrap();
        let has_arrived = || {
            let mut polled = [PollFd::new(&theirs, PollFlags::IN)];
            poll(&mut polled, Some(&Timespec::default())).unwrap() == 1
        };
        assert!(wait_until(PATIENCE, has_arrived), "nothing arrives");
    }

    /// Types a line, once it is asked for.
    #[track_caller]
    pub(crate) fn says(&mut self, prompt: &str, line: &str) {
        self.asks(prompt);
        self.enters(&format!("{line}{ENTER}"));
    }

    /// Gives the terminal another width, as whoever drags its window does.
    pub(crate) fn resize(&self, columns: u16) {
        self.seen().screen.screen_mut().set_size(ROWS, columns);
        tcsetwinsize(&self.keyboard, size(columns)).unwrap();
    }

    pub(crate) fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    /// Whether lines are edited by the terminal and shown as they are typed, as shells expect it.
    pub(crate) fn is_calm(&self) -> bool {
        let modes = tcgetattr(&self.keyboard).unwrap().local_modes;
        modes.contains(LocalModes::ICANON | LocalModes::ECHO | LocalModes::ISIG)
    }

    /// Waits for the end, and gives the code and what stands on the screen.
    #[track_caller]
    pub(crate) fn ended(mut self) -> (Option<i32>, String) {
        let mut status = None;
        let has_ended = wait_until(PATIENCE, || {
            status = self.child.try_wait().unwrap();
            status.is_some()
        });
        assert!(has_ended, "it goes on:\n{}", self.screen());
        assert!(self.is_calm(), "the terminal is not as it was");
        (status.unwrap().code(), self.screen())
    }

    /// Takes the terminal away, and waits for the end. Nobody sends a signal but the system.
    #[track_caller]
    pub(crate) fn unplugged(self) {
        let Self {
            keyboard,
            reader,
            is_unplugged,
            mut child,
            ..
        } = self;
        // The reader has the terminal open, too.
        is_unplugged.store(true, Ordering::SeqCst);
        reader.join().unwrap();
        drop(keyboard);
        let has_ended = wait_until(PATIENCE, || child.try_wait().unwrap().is_some());
        assert!(has_ended, "it goes on without its terminal");
    }
}

fn size(columns: u16) -> Winsize {
    Winsize {
        ws_row: ROWS,
        ws_col: columns,
        ws_xpixel: 0,
        ws_ypixel: 0,
    }
}

/// Draws what is written, and says where the cursor is.
fn read(
    mut terminal: File,
    seen: Arc<Mutex<Seen>>,
    answers: bool,
    is_unplugged: Arc<AtomicBool>,
) -> JoinHandle<()> {
    std::thread::spawn(move || {
        let mut piece = [0; 4096];
        while !is_unplugged.load(Ordering::SeqCst) {
            let timeout = Timespec::try_from(LOOK).unwrap();
            let mut waited = [PollFd::new(&terminal, PollFlags::IN)];
            if poll(&mut waited, Some(&timeout)) == Ok(0) {
                continue;
            }
            let Ok(length @ 1..) = terminal.read(&mut piece) else {
                return;
            };
            let mut seen = seen.lock().unwrap();
            for byte in &piece[..length] {
                seen.bytes.push(*byte);
                seen.screen.process(&[*byte]);
                if answers && seen.bytes.ends_with(WHERE) {
                    let (row, column) = seen.screen.screen().cursor_position();
                    write!(terminal, "\u{1b}[{};{}R", row + 1, column + 1).unwrap();
                }
            }
        }
    })
}
