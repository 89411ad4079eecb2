//! Locks between processes that the kernel frees when their holder dies.

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use thiserror::Error;

/// How often a lock that somebody else holds is asked for again.
const RETRY: Duration = Duration::from_millis(10);

/// An exclusive lock, held until it is dropped or its process ends.
#[derive(Debug)]
pub struct FileLock {
    _file: File,
}

/// Why a lock was not obtained.
#[derive(Debug, Error)]
pub enum LockError {
    /// Another process held it for the whole time.
    #[error(
        "{} has been locked by another openclaw process for {} s",
        path.display(), waited.as_secs()
    )]
    Busy {
        /// The lock file.
        path: PathBuf,
        /// How long it was waited for.
        waited: Duration,
    },
    /// The lock file cannot be used.
    #[error("cannot lock {}: {source}", path.display())]
    Io {
        /// The lock file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

impl FileLock {
    /// Takes the lock, waiting at most `patience` for another holder.
    ///
    /// The lock file stays behind: removing it would let two processes hold "the" lock.
    pub fn acquire(path: &Path, patience: Duration) -> Result<Self, LockError> {
        let io_error = |source| LockError::Io {
            path: path.to_owned(),
            source,
        };
        let file = open(path).map_err(io_error)?;
        let deadline = Instant::now() + patience;
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(Self { _file: file }),
                Err(TryLockError::Error(source)) => return Err(io_error(source)),
                Err(TryLockError::WouldBlock) if Instant::now() >= deadline => {
                    return Err(LockError::Busy {
                        path: path.to_owned(),
                        waited: patience,
                    });
                }
                Err(TryLockError::WouldBlock) => thread::sleep(RETRY),
            }
        }
    }
}

fn open(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.create(true).truncate(false).write(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.mode(0o600);
    }
    options.open(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_holder_waits_its_time_and_is_told() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("lock");
        let held = FileLock::acquire(&path, Duration::ZERO).unwrap();
        let error = FileLock::acquire(&path, Duration::from_millis(30)).unwrap_err();
        assert!(matches!(error, LockError::Busy { .. }), "{error}");
        drop(held);
        FileLock::acquire(&path, Duration::ZERO).unwrap();
    }
}
