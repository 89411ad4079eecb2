//! The modes of the terminal: kept before anybody changes them, and put back on every way out.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// How long a terminal may take to say where its cursor is. One that has not answered by then is a bare
/// line, or so far away that editing would be no pleasure.
const ANSWER: Duration = Duration::from_millis(800);
/// How often it is looked whether the terminal is still there.
const LOOK: Duration = Duration::from_millis(500);

/// The modes that the terminal had before anybody changed them; none, where nobody will.
static BEFORE: Mutex<Option<platform::Modes>> = Mutex::new(None);

fn before() -> MutexGuard<'static, Option<platform::Modes>> {
    BEFORE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// As long as this lives, the modes of the terminal may be changed; then they are put back.
#[derive(Debug)]
pub(crate) struct KeptModes(());

impl KeptModes {
    /// Keeps the modes that the terminal has now.
    pub(crate) fn now() -> Self {
        *before() = platform::Modes::now();
        Self(())
    }
}

impl Drop for KeptModes {
    fn drop(&mut self) {
        restore();
        *before() = None;
    }
}

/// Puts the modes back that were kept, if any were: also for whoever leaves without saying goodbye.
pub(crate) fn restore() {
    if let Some(modes) = before().as_ref() {
        modes.restore();
    }
}

/// Waits until the terminal is gone. Whoever was told to ignore the signal of that has to look.
pub(crate) async fn gone() {
    let mut looks = tokio::time::interval(LOOK);
    loop {
        looks.tick().await;
        if platform::is_gone() {
            return;
        }
    }
}

/// As long as this lives, nothing that is typed is shown. It is kept for whoever reads next, as it was
/// typed or pasted.
#[derive(Debug)]
pub(crate) struct Unseen(Option<platform::Modes>);

impl Unseen {
    /// From now on.
    pub(crate) fn now() -> Self {
        Self(platform::Modes::hide_keys())
    }
}

impl Drop for Unseen {
    fn drop(&mut self) {
        if let Some(modes) = &self.0 {
            modes.restore();
        }
    }
}

/// Whether the terminal says where its cursor is, as line editors have to know; if so, what was typed
/// meanwhile.
pub(crate) fn tells_cursor() -> Option<String> {
    let is_dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
    if is_dumb {
        return None;
    }
    platform::tells_cursor(ANSWER)
}

/// Stops this program as Ctrl-Z does, until the shell lets it go on: with the modes that the terminal had
/// before, and then with those that it has now.
pub(crate) fn suspend() {
    if !platform::has_shell() {
        return;
    }
    let now = platform::Modes::now();
    // Where another program of our group has stopped already, the shell has the terminal, and nobody else
    // may change it.
    if platform::is_in_front() {
        restore();
    }
    platform::stop();
    if let Some(now) = now {
        now.resume();
    }
}

/// Has what is pasted marked as that, after a line editor has ended that.
pub(crate) fn mark_pastes() {
    platform::mark_pastes();
}

/// Suspends this program whenever somebody asks for it, so that the shell gets the terminal as it was.
/// Never ends.
pub(crate) async fn suspend_when_asked() {
    platform::suspend_when_asked().await;
}

#[cfg(unix)]
mod platform {
    use std::io::{self, Write as _, stderr, stdin};
    use std::time::{Duration, Instant};

    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    use rustix::process::{
        Pid, Signal, getpgid, getpgrp, getppid, getsid, kill_current_process_group,
    };
    use rustix::termios::{
        InputModes, LocalModes, OptionalActions, Termios, tcgetattr, tcgetpgrp, tcsetattr,
    };
    use tokio::signal::unix::{SignalKind, signal};

    /// Has what is pasted marked as that.
    const PASTES: &[u8] = b"\x1b[?2004h";
    /// Ends that and shows the cursor: what a line editor may have left.
    const CALM: &[u8] = b"\x1b[?2004l\x1b[?25h";
    /// How long it takes at most until a process that is told to stop has stopped.
    const STOPPED: Duration = Duration::from_millis(100);
    const WHERE: &[u8] = b"\x1b[6n";
    /// How many processes may stand between a shell and us.
    const MOST_ABOVE: usize = 32;
    /// How much is read while an answer is waited for.
    const MOST: usize = 4096;

    #[derive(Clone, Debug)]
    pub(super) struct Modes(Termios);

    impl Modes {
        /// Those of the standard input, where that is a terminal.
        pub(super) fn now() -> Option<Self> {
            tcgetattr(stdin()).ok().map(Self)
        }

        /// Stops to show what is typed, and gives the modes from before.
        pub(super) fn hide_keys() -> Option<Self> {
            let before = Self::now()?;
            let mut quiet = before.clone();
            quiet.0.local_modes.remove(LocalModes::ECHO);
            // Editors know the end of a line as the key that was pressed.
            quiet.0.input_modes.remove(InputModes::ICRNL);
            quiet.resume();
            Some(before)
        }

        /// Whether somebody edits lines, or will.
        fn is_for_editor(&self) -> bool {
            let shell = LocalModes::ICANON | LocalModes::ECHO;
            !self.0.local_modes.contains(shell)
        }

        /// Sets these again, for whoever edits lines.
        pub(super) fn resume(&self) {
            self.set();
            if self.is_for_editor() {
                mark_pastes();
            }
        }

        pub(super) fn set(&self) {
            // A terminal that is gone has no modes.
            let _ = tcsetattr(stdin(), OptionalActions::Now, &self.0);
        }

        pub(super) fn restore(&self) {
            let now = Self::now();
            self.set();
            if now.is_some_and(|now| now.is_for_editor()) {
                let _ = stderr().write_all(CALM);
            }
        }
    }

    pub(super) fn mark_pastes() {
        // What can't be marked is typed.
        let _ = stderr().write_all(PASTES);
    }

    pub(super) fn is_gone() -> bool {
        let input = stdin();
        let mut looked = [PollFd::new(&input, PollFlags::empty())];
        let gone = PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL;
        match poll(&mut looked, Some(&Timespec::default())) {
            Ok(_) => looked.iter().any(|it| it.revents().intersects(gone)),
            Err(_) => false,
        }
    }

    pub(super) fn tells_cursor(patience: Duration) -> Option<String> {
        let before = Modes::now()?;
        let mut raw = before.clone();
        raw.0.make_raw();
        raw.set();
        let typed = ask(patience);
        before.set();
        let typed = typed.ok()??;
        Some(String::from_utf8_lossy(&typed).into_owned())
    }

    /// What was typed before the terminal answered; none, if it does not.
    fn ask(patience: Duration) -> io::Result<Option<Vec<u8>>> {
        stderr().write_all(WHERE)?;
        let until = Instant::now() + patience;
        let mut heard = Vec::new();
        let mut piece = [0; 256];
        while heard.len() < MOST {
            let left = until.saturating_duration_since(Instant::now());
            let timeout = Timespec::try_from(left).map_err(io::Error::other)?;
            let input = stdin();
            let mut waited = [PollFd::new(&input, PollFlags::IN)];
            match poll(&mut waited, Some(&timeout)) {
                Ok(0) => return Ok(None),
                Ok(_) => {}
                Err(rustix::io::Errno::INTR) => continue,
                Err(error) => return Err(error.into()),
            }
            // Not through the standard library: what that would keep to itself, nobody else could read.
            match rustix::io::read(&input, &mut piece)? {
                0 => return Ok(None),
                length => heard.extend_from_slice(piece.get(..length).unwrap_or_default()),
            }
            if let Some(typed) = without_answer(&heard) {
                return Ok(Some(typed));
            }
        }
        Ok(None)
    }

    /// What was heard without `CSI row ; column R`; none, if that is not there.
    fn without_answer(heard: &[u8]) -> Option<Vec<u8>> {
        let mut from = 0;
        loop {
            let rest = heard.get(from..)?;
            let start = from + rest.windows(2).position(|pair| pair == b"\x1b[")?;
            from = start + 2;
            let rest = heard.get(from..)?;
            let place = |byte: &u8| byte.is_ascii_digit() || *byte == b';';
            let length = rest.iter().take_while(|byte| place(byte)).count();
            if length >= 3 && rest.get(length) == Some(&b'R') {
                let (before, after) = (heard.get(..start)?, heard.get(from + length + 1..)?);
                return Some([before, after].concat());
            }
        }
    }

    /// Whether a shell is there that could let us go on: a process of this session and another group that
    /// started ours, be it by way of others of our group.
    pub(super) fn has_shell() -> bool {
        let mut above = getppid();
        for _ in 0..MOST_ABOVE {
            let Some(process) = above else {
                return false;
            };
            match getpgid(Some(process)) {
                Ok(group) if group == getpgrp() => above = parent(process),
                Ok(_) => {
                    let session = getsid(Some(process)).ok();
                    return session.is_some() && session == getsid(None).ok();
                }
                Err(_) => return false,
            }
        }
        false
    }

    /// Whether the terminal is ours to change.
    pub(super) fn is_in_front() -> bool {
        tcgetpgrp(stdin()).is_ok_and(|group| group == getpgrp())
    }

    /// The process that started another one. Only Linux tells.
    fn parent(process: Pid) -> Option<Pid> {
        let path = format!("/proc/{}/stat", process.as_raw_nonzero());
        let status = std::fs::read_to_string(path).ok()?;
        // The name of the program may hold anything: the fields begin behind its last parenthesis.
        let (_, fields) = status.rsplit_once(')')?;
        let number = fields.split_whitespace().nth(1)?;
        Pid::from_raw(number.parse().ok()?)
    }

    /// Stops until somebody lets us go on.
    pub(super) fn stop() {
        let _ = stderr().write_all(b"\n");
        // All of a pipeline, as the key does.
        let _ = kill_current_process_group(Signal::STOP);
        // A signal to all threads takes a moment: whoever went on would take the terminal from the shell.
        std::thread::sleep(STOPPED);
    }

    pub(super) async fn suspend_when_asked() {
        let asked = signal(SignalKind::from_raw(Signal::TSTP.as_raw()));
        if let Ok(mut asked) = asked {
            while asked.recv().await.is_some() {
                super::suspend();
            }
        }
        std::future::pending::<()>().await;
    }

    #[cfg(test)]
    mod tests {
        use super::without_answer;

        #[test]
        fn an_answer_is_found_among_what_is_typed() {
            for (heard, typed) in [
                ("\u{1b}[1;1R", ""),
                ("hello\u{1b}[A\u{1b}[24;80Rx", "hello\u{1b}[Ax"),
            ] {
                let found = without_answer(heard.as_bytes());
                assert_eq!(found.as_deref(), Some(typed.as_bytes()), "{heard:?}");
            }
            for heard in [
                "",
                "\u{1b}[",
                "\u{1b}[1;1",
                "\u{1b}[A1;1R",
                "\u{1b}[R",
                "1;1R",
            ] {
                assert_eq!(without_answer(heard.as_bytes()), None, "{heard:?}");
            }
        }
    }
}

#[cfg(not(unix))]
mod platform {
    use std::time::Duration;

    #[derive(Debug)]
    pub(super) struct Modes;

    impl Modes {
        /// Whoever changes them there puts them back.
        pub(super) fn now() -> Option<Self> {
            None
        }

        pub(super) fn hide_keys() -> Option<Self> {
            None
        }

        pub(super) fn resume(&self) {}

        pub(super) fn restore(&self) {}
    }

    pub(super) fn mark_pastes() {}

    /// Whoever reads there is told.
    pub(super) fn is_gone() -> bool {
        false
    }

    /// Consoles there are asked in another way, and always answer.
    pub(super) fn tells_cursor(_patience: Duration) -> Option<String> {
        Some(String::new())
    }

    pub(super) fn has_shell() -> bool {
        false
    }

    pub(super) fn is_in_front() -> bool {
        true
    }

    pub(super) fn stop() {}

    pub(super) async fn suspend_when_asked() {
        std::future::pending::<()>().await;
    }
}
