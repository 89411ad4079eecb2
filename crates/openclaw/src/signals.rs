//! Being told to stop: once to stop well, twice to stop at once.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::watch;

use crate::failure::Signal;
use crate::terminal;

/// How long a command may take to stop well.
const GRACE: Duration = Duration::from_secs(7);

/// Hears signals from now on, whatever the rest of the program is doing.
///
/// They are heard on a thread of their own: one that waits for a slow reader of its output could
/// not hear them.
#[derive(Clone, Debug)]
pub(crate) struct Signals {
    first: watch::Receiver<Option<Signal>>,
    interrupts: Diverted,
    hang_ups: Diverted,
}

/// Hears one signal where it means something else than the end of the program: Ctrl-C may stop
/// something smaller, and a hang-up may mean that the configuration has changed.
///
/// Only while somebody has said so: else it ends the program, as any other signal.
#[derive(Clone, Debug)]
pub(crate) struct Diverted {
    heard: watch::Receiver<u64>,
    are_caught: Arc<AtomicBool>,
}

/// As long as this lives, the signal does not end the program.
#[derive(Debug)]
pub(crate) struct Caught(Arc<AtomicBool>);

impl Drop for Caught {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Relaxed);
    }
}

impl Diverted {
    fn new() -> (watch::Sender<u64>, Self) {
        let (sender, heard) = watch::channel(0);
        let are_caught = Arc::default();
        (sender, Self { heard, are_caught })
    }

    /// Takes the signal over.
    pub(crate) fn catch(&self) -> Caught {
        self.catch_for_good();
        Caught(Arc::clone(&self.are_caught))
    }

    /// Takes the signal over for as long as the program runs.
    pub(crate) fn catch_for_good(&self) {
        self.are_caught.store(true, Ordering::Relaxed);
    }

    /// Forgets what was heard so far.
    pub(crate) fn forget(&mut self) {
        self.heard.mark_unchanged();
    }

    /// Waits for the next one.
    pub(crate) async fn next(&mut self) {
        if self.heard.changed().await.is_err() {
            // The thread is gone, and nothing will be heard any more.
            std::future::pending::<()>().await;
        }
    }
}

impl Signals {
    /// Begins to listen.
    pub(crate) fn listen() -> io::Result<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        let mut source = {
            let _entered = runtime.enter();
            platform::Source::new()?
        };
        let (sender, first) = watch::channel(None);
        let (interrupted, interrupts) = Diverted::new();
        let (hung_up, hang_ups) = Diverted::new();
        let are_caught = [
            Arc::clone(&interrupts.are_caught),
            Arc::clone(&hang_ups.are_caught),
        ];
        std::thread::Builder::new()
            .name("signals".to_owned())
            .spawn(move || {
                runtime.block_on(async {
                    let signal = loop {
                        match source.next().await {
                            Signal::Interrupt if are_caught[0].load(Ordering::Relaxed) => {
                                interrupted.send_modify(|count| *count += 1);
                            }
                            Signal::HangUp if are_caught[1].load(Ordering::Relaxed) => {
                                hung_up.send_modify(|count| *count += 1);
                            }
                            signal => break signal,
                        }
                    };
                    // Whoever no longer waits for it is about to leave.
                    let _ = sender.send(Some(signal));
                    let again = async {
                        loop {
                            match source.next().await {
                                Signal::HangUp if are_caught[1].load(Ordering::Relaxed) => {}
                                signal => return signal,
                            }
                        }
                    };
                    let again = tokio::time::timeout(GRACE, again).await;
                    leave(again.unwrap_or(signal));
                });
            })?;
        Ok(Self {
            first,
            interrupts,
            hang_ups,
        })
    }

    /// Ctrl-C, for whoever wants to take it over.
    pub(crate) fn interrupts(&self) -> Diverted {
        self.interrupts.clone()
    }

    /// Hang-ups, for whoever wants to take them over.
    pub(crate) fn hang_ups(&self) -> Diverted {
        self.hang_ups.clone()
    }

    /// Waits for the first signal.
    pub(crate) async fn first(&mut self) -> Signal {
        let heard = self.first.wait_for(Option::is_some).await;
        match heard.ok().and_then(|signal| *signal) {
            Some(signal) => signal,
            // The thread is gone, and nothing will be heard any more.
            None => std::future::pending().await,
        }
    }
}

#[cfg(test)]
impl Signals {
    /// Nothing will be heard.
    pub(crate) fn silent() -> Self {
        Self {
            first: watch::channel(None).1,
            interrupts: Diverted::never(),
            hang_ups: Diverted::never(),
        }
    }

    /// This was heard already.
    pub(crate) fn heard(signal: Signal) -> Self {
        Self {
            first: watch::channel(Some(signal)).1,
            interrupts: Diverted::never(),
            hang_ups: Diverted::never(),
        }
    }
}

#[cfg(test)]
impl Diverted {
    /// Nothing will be heard.
    pub(crate) fn never() -> Self {
        Self::by_hand().1
    }

    /// What is heard is up to the sender.
    pub(crate) fn by_hand() -> (watch::Sender<u64>, Self) {
        Self::new()
    }
}

/// The directory that is deleted even by whoever leaves at once.
static TEMPORARY: Mutex<Option<PathBuf>> = Mutex::new(None);

/// Has a directory deleted if we have to leave at once; none takes that back.
pub(crate) fn delete_when_leaving(directory: Option<&Path>) {
    let mut temporary = TEMPORARY.lock().unwrap_or_else(PoisonError::into_inner);
    *temporary = directory.map(Path::to_owned);
}

/// Leaves at once. The guardian ends what we started.
#[expect(
    clippy::exit,
    reason = "the rest of the program does not listen to whoever wants it to end"
)]
fn leave(signal: Signal) {
    terminal::restore();
    let mut temporary = TEMPORARY.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(directory) = temporary.take() {
        // There is nobody left to be told that it could not be.
        let _ = std::fs::remove_dir_all(directory);
    }
    std::process::exit(i32::from(signal.code()));
}

#[cfg(unix)]
mod platform {
    use std::io;

    use tokio::signal::unix::{Signal as Stream, SignalKind, signal};

    use crate::failure::Signal;

    pub(super) struct Source {
        hang_up: Option<Stream>,
        interrupt: Option<Stream>,
        terminate: Stream,
    }

    impl Source {
        pub(super) fn new() -> io::Result<Self> {
            // `nohup` and shells that start something in the background say so in this way: who
            // starts to listen would hear it after all.
            let listen = |kind: SignalKind| {
                let wanted = !is_ignored(kind.as_raw_value());
                wanted.then(|| signal(kind)).transpose()
            };
            Ok(Self {
                hang_up: listen(SignalKind::hangup())?,
                interrupt: listen(SignalKind::interrupt())?,
                terminate: signal(SignalKind::terminate())?,
            })
        }

        pub(super) async fn next(&mut self) -> Signal {
            tokio::select! {
                () = heard(self.hang_up.as_mut()) => Signal::HangUp,
                () = heard(self.interrupt.as_mut()) => Signal::Interrupt,
                _ = self.terminate.recv() => Signal::Terminate,
            }
        }
    }

    async fn heard(stream: Option<&mut Stream>) {
        match stream {
            Some(stream) => {
                stream.recv().await;
            }
            None => std::future::pending().await,
        }
    }

    /// Whether whoever started us wants us to ignore a signal. Only Linux tells.
    fn is_ignored(number: i32) -> bool {
        let ignored = || {
            let status = std::fs::read_to_string("/proc/self/status").ok()?;
            let mask = status
                .lines()
                .find_map(|line| line.strip_prefix("SigIgn:"))?;
            let mask = u64::from_str_radix(mask.trim(), 16).ok()?;
            Some(mask >> (number - 1) & 1 == 1)
        };
        cfg!(target_os = "linux") && ignored().unwrap_or(false)
    }
}

#[cfg(not(unix))]
mod platform {
    use std::io;

    use crate::failure::Signal;

    pub(super) struct Source;

    impl Source {
        #[expect(clippy::unnecessary_wraps, reason = "other systems can fail here")]
        pub(super) fn new() -> io::Result<Self> {
            Ok(Self)
        }

        pub(super) async fn next(&mut self) -> Signal {
            match tokio::signal::ctrl_c().await {
                Ok(()) => Signal::Interrupt,
                // Nothing can be heard.
                Err(_) => std::future::pending().await,
            }
        }
    }
}

#[cfg(target_os = "linux")]
#[cfg(test)]
mod tests {
    use std::io::{BufRead, BufReader, Write};
    use std::os::unix::process::ExitStatusExt;
    use std::process::{Child, ChildStderr, Command, Stdio};

    use rustix::process::{Pid, kill_process};

    use super::*;

    const MARK: &str = "OPENCLAW_TEST_HEARS_SIGNALS";

    /// The other side of the tests below, in a process of its own.
    #[test]
    #[ignore = "started by the tests of signals"]
    fn a_process_that_hears_signals() {
        if std::env::var_os(MARK).is_none() {
            return;
        }
        let mut signals = Signals::listen().unwrap();
        let say = |word: &str| writeln!(io::stderr(), "{word}").unwrap();
        say("listening");
        let runtime = tokio::runtime::Builder::new_current_thread().build();
        let signal = runtime.unwrap().block_on(signals.first());
        say(&format!("{signal:?}"));
        // Deaf and busy, as one that waits for the reader of its output.
        std::thread::sleep(Duration::from_mins(1));
    }

    fn start(shell: &str) -> (Child, BufReader<ChildStderr>) {
        let program = std::env::current_exe().unwrap();
        let mut child = Command::new("sh")
            .args(["-c", shell, "sh"])
            .arg(program)
            .args(["--exact", "signals::tests::a_process_that_hears_signals"])
            .args(["--ignored", "--nocapture"])
            .env(MARK, "1")
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap());
        assert_eq!(line(&mut lines), "listening");
        (child, lines)
    }

    fn line(lines: &mut impl BufRead) -> String {
        let mut line = String::new();
        lines.read_line(&mut line).unwrap();
        line.trim().to_owned()
    }

    fn send(child: &Child, signal: rustix::process::Signal) {
        kill_process(Pid::from_child(child), signal).unwrap();
    }

    #[test]
    fn the_second_signal_ends_a_process_that_does_not_listen() {
        let (mut child, mut lines) = start("exec \"$@\"");
        send(&child, rustix::process::Signal::TERM);
        assert_eq!(line(&mut lines), "Terminate");
        send(&child, rustix::process::Signal::INT);
        let status = child.wait().unwrap();
        assert_eq!((status.code(), status.signal()), (Some(130), None));
    }

    #[test]
    fn what_was_ignored_stays_ignored() {
        let (mut child, mut lines) = start("trap '' HUP INT; exec \"$@\"");
        send(&child, rustix::process::Signal::HUP);
        send(&child, rustix::process::Signal::INT);
        send(&child, rustix::process::Signal::TERM);
        assert_eq!(line(&mut lines), "Terminate");
        child.kill().unwrap();
        child.wait().unwrap();
    }
}
