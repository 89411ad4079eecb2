//! Being told to stop: once to stop well, twice to stop at once.

use std::io;
use std::time::Duration;

use tokio::sync::watch;

use crate::failure::Signal;

/// How long a command may take to stop well.
const GRACE: Duration = Duration::from_secs(7);

/// Hears signals from now on, whatever the rest of the program is doing.
///
/// They are heard on a thread of their own: one that waits for a slow reader of its output could
/// not hear them.
#[derive(Clone, Debug)]
pub(crate) struct Signals {
    first: watch::Receiver<Option<Signal>>,
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
        std::thread::Builder::new()
            .name("signals".to_owned())
            .spawn(move || {
                runtime.block_on(async {
                    let signal = source.next().await;
                    // Whoever no longer waits for it is about to leave.
                    let _ = sender.send(Some(signal));
                    let again = tokio::time::timeout(GRACE, source.next()).await;
                    leave(again.unwrap_or(signal));
                });
            })?;
        Ok(Self { first })
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
        }
    }

    /// This was heard already.
    pub(crate) fn heard(signal: Signal) -> Self {
        Self {
            first: watch::channel(Some(signal)).1,
        }
    }
}

/// Leaves at once. The guardian ends what we started.
#[expect(
    clippy::exit,
    reason = "the rest of the program does not listen to whoever wants it to end"
)]
fn leave(signal: Signal) {
    std::process::exit(i32::from(signal.code()));
}

#[cfg(unix)]
mod platform {
    use std::io;

    use tokio::signal::unix::{Signal as Stream, SignalKind, signal};

    use crate::failure::Signal;

    pub(super) struct Source {
        hang_up: Stream,
        interrupt: Stream,
        terminate: Stream,
    }

    impl Source {
        pub(super) fn new() -> io::Result<Self> {
            Ok(Self {
                hang_up: signal(SignalKind::hangup())?,
                interrupt: signal(SignalKind::interrupt())?,
                terminate: signal(SignalKind::terminate())?,
            })
        }

        pub(super) async fn next(&mut self) -> Signal {
            tokio::select! {
                _ = self.hang_up.recv() => Signal::HangUp,
                _ = self.interrupt.recv() => Signal::Interrupt,
                _ = self.terminate.recv() => Signal::Terminate,
            }
        }
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
