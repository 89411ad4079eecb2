//! The lock of one session between processes, which the kernel frees when its holder dies.
//!
//! There are two files for each session: who has locked `next` is the one who gets `lock` when it is
//! free. Without it a process whose turns follow each other at once would never let another one in.

use std::fs::{self, File, Metadata, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio::time::{Instant, sleep};

/// How often a lock that somebody else holds is asked for again.
const RETRY: Duration = Duration::from_millis(10);
/// How often a lock is asked for at least: somebody who only looks whether it is held has it for a
/// moment.
const LEAST_TRIES: u32 = 3;
/// How often a file may be deleted under our hands before something else must be wrong.
const MOST_DELETIONS: u32 = 100;

/// The files of the lock of one session.
#[derive(Clone, Debug)]
pub(crate) struct LockPaths {
    lock: PathBuf,
    next: PathBuf,
}

/// The lock of a session, held until it is dropped or its process ends.
#[derive(Debug)]
pub(crate) struct SessionLock {
    file: File,
    paths: LockPaths,
}

impl LockPaths {
    /// The files by this name in a directory.
    pub(crate) fn new(directory: &Path, name: &str) -> Self {
        Self {
            lock: directory.join(format!("{name}.lock")),
            next: directory.join(format!("{name}.next")),
        }
    }

    /// Takes the lock, waiting for others at most so long; `None` if that was not enough.
    pub(crate) async fn take(&self, patience: Duration) -> io::Result<Option<SessionLock>> {
        let deadline = Instant::now() + patience;
        let Some(_next) = poll(&self.next, deadline).await? else {
            return Ok(None);
        };
        let lock = poll(&self.lock, deadline).await?;
        Ok(lock.map(|file| self.held(file)))
    }

    /// Takes the lock if nobody holds it or waits for it.
    pub(crate) fn try_take(&self) -> io::Result<Option<SessionLock>> {
        let Some(_next) = try_file(&self.next)? else {
            return Ok(None);
        };
        Ok(try_file(&self.lock)?.map(|file| self.held(file)))
    }

    /// Whether somebody holds the lock, in this process or another.
    pub(crate) fn is_held(&self) -> bool {
        // Without a file there is no holder, and looking makes none.
        File::open(&self.lock)
            .is_ok_and(|file| matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)))
    }

    /// Whether there has ever been a holder.
    pub(crate) fn exists(&self) -> bool {
        self.lock.exists()
    }

    fn held(&self, file: File) -> SessionLock {
        SessionLock {
            file,
            paths: self.clone(),
        }
    }
}

impl SessionLock {
    /// Frees the lock for good: its files go, too, for the session is no more.
    ///
    /// Whoever waits with such a file open notices that it is not the one at its path any longer.
    pub(crate) fn discard(self) {
        // A file that is open can't be deleted everywhere; one that stays does no harm.
        if cfg!(unix) {
            if let Ok(Some(_next)) = try_file(&self.paths.next) {
                let _ = fs::remove_file(&self.paths.next);
            }
            let _ = fs::remove_file(&self.paths.lock);
        }
        drop(self.file);
    }
}

async fn poll(path: &Path, deadline: Instant) -> io::Result<Option<File>> {
    let mut tries = 0;
    loop {
        if let Some(file) = try_file(path)? {
            return Ok(Some(file));
        }
        tries += 1;
        if tries >= LEAST_TRIES && Instant::now() >= deadline {
            return Ok(None);
        }
        sleep(RETRY).await;
    }
}

/// Locks the file that is at a path, which is made where there is none.
fn try_file(path: &Path) -> io::Result<Option<File>> {
    for _ in 0..MOST_DELETIONS {
        match lock(path, open(path)?)? {
            Attempt::Taken(file) => return Ok(Some(file)),
            Attempt::Busy => return Ok(None),
            Attempt::Deleted => {}
        }
    }
    Err(io::Error::other("the lock file does not stay where it is"))
}

#[derive(Debug)]
enum Attempt {
    Taken(File),
    Busy,
    /// It is not the file at its path any longer.
    Deleted,
}

fn lock(path: &Path, file: File) -> io::Result<Attempt> {
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => return Ok(Attempt::Busy),
        Err(TryLockError::Error(error)) => return Err(error),
    }
    // Its last holder may have deleted it between our opening and our locking: then others lock
    // another file, and ours is worth nothing.
    match fs::metadata(path) {
        Ok(there) if is_same(&file.metadata()?, &there) => Ok(Attempt::Taken(file)),
        Ok(_) => Ok(Attempt::Deleted),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Attempt::Deleted),
        Err(error) => Err(error),
    }
}

#[cfg(unix)]
fn is_same(one: &Metadata, other: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    (one.dev(), one.ino()) == (other.dev(), other.ino())
}

#[cfg(not(unix))]
fn is_same(_one: &Metadata, _other: &Metadata) -> bool {
    // Nothing is ever deleted here.
    true
}

fn open(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.create(true).truncate(false).read(true).write(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.mode(0o600);
    }
    options.open(path)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::thread;

    use super::*;

    #[test]
    fn one_holder_at_a_time_even_where_each_deletes_the_files() {
        let directory = tempfile::tempdir().unwrap();
        let paths = LockPaths::new(directory.path(), "session");
        let is_taken = AtomicBool::new(false);
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    let mut taken = 0;
                    while taken < 300 {
                        let Some(lock) = paths.try_take().unwrap() else {
                            thread::yield_now();
                            continue;
                        };
                        assert!(!is_taken.swap(true, Ordering::SeqCst));
                        thread::yield_now();
                        is_taken.store(false, Ordering::SeqCst);
                        lock.discard();
                        taken += 1;
                    }
                });
            }
        });
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0);
    }

    #[cfg(unix)]
    #[test]
    fn a_file_that_was_deleted_before_it_was_locked_is_worth_nothing() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("session.lock");
        let [early, late] = [(); 2].map(|()| open(&path).unwrap());
        fs::remove_file(&path).unwrap();
        assert!(matches!(lock(&path, early).unwrap(), Attempt::Deleted));
        let _held = try_file(&path).unwrap().unwrap();
        assert!(matches!(lock(&path, late).unwrap(), Attempt::Deleted));
        assert!(matches!(
            lock(&path, open(&path).unwrap()).unwrap(),
            Attempt::Busy
        ));
    }

    #[test]
    fn looking_makes_no_files() {
        let directory = tempfile::tempdir().unwrap();
        let paths = LockPaths::new(directory.path(), "session");
        assert!(!paths.is_held());
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0);
        let held = paths.try_take().unwrap().unwrap();
        assert!(paths.is_held());
        assert!(paths.try_take().unwrap().is_none());
        drop(held);
        assert!(!paths.is_held());
    }
}
