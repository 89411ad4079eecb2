//! Waiting for the disk and for other processes, without holding up anybody else.

use std::path::Path;
use std::time::Duration;

use openclaw_state::{FileLock, LockError};
use tokio::task::{JoinError, spawn_blocking};
use tokio::time::{Instant, sleep};

use crate::error::OAuthError;

/// How long is waited before a lock that somebody holds is asked for again: at first, and at most.
const PAUSE: (Duration, Duration) = (Duration::from_millis(4), Duration::from_millis(32));

/// Does something that may wait for the disk.
pub(super) async fn on_thread<T: Send + 'static>(
    action: impl FnOnce() -> Result<T, OAuthError> + Send + 'static,
) -> Result<T, OAuthError> {
    let done = spawn_blocking(action).await;
    done.unwrap_or_else(|error| Err(cut_short(&error)))
}

/// What a task that came to no end leaves.
pub(super) fn cut_short(error: &JoinError) -> OAuthError {
    if error.is_panic() {
        OAuthError::lasting("work on the saved login broke off: this is a defect of openclaw")
    } else {
        OAuthError::passing("work on the saved login broke off because openclaw is ending")
    }
}

/// Takes a lock that other processes want as well.
///
/// It is asked for again and again rather than waited for on a thread: a process that ends would
/// wait for that thread.
pub(super) async fn file_lock(path: &Path, until: Instant) -> Result<FileLock, OAuthError> {
    let begun = Instant::now();
    let mut pause = PAUSE.0;
    loop {
        let lock = path.to_owned();
        let taken = on_thread(move || match FileLock::acquire(&lock, Duration::ZERO) {
            Ok(lock) => Ok(Some(lock)),
            Err(LockError::Busy { .. }) => Ok(None),
            Err(error) => Err(OAuthError::lasting(error)),
        });
        if let Some(lock) = taken.await? {
            return Ok(lock);
        }
        if Instant::now() >= until {
            return Err(busy(begun));
        }
        sleep(pause).await;
        pause = PAUSE.1.min(pause * 2);
    }
}

/// Somebody else holds it for too long.
pub(super) fn busy(begun: Instant) -> OAuthError {
    OAuthError::passing(format!(
        "another openclaw has been at work on the saved login for {:.0?}",
        begun.elapsed()
    ))
}
