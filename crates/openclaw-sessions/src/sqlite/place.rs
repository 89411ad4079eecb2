//! Where the store is, and what goes for it.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use openclaw_config::SessionRetention;
use openclaw_state::{FileLock, LockError, StateDirectory, layout};
use ring::digest;

use super::failure::Failure;
use super::opening::Migration;
use crate::error::SessionError;
use crate::key::SessionKey;
use crate::lock::LockPaths;

/// How long a process may make, migrate or set aside the store while others wait.
const PATIENCE: Duration = Duration::from_secs(30);

/// Says what time it is.
pub type SessionClock = Arc<dyn Fn() -> SystemTime + Send + Sync>;

/// What a store of sessions needs.
pub struct SessionsSetup {
    /// Where it lies.
    pub state: StateDirectory,
    /// How long sessions are kept.
    pub retention: SessionRetention,
    /// What time it is.
    pub clock: SessionClock,
}

/// Where the store is, and what goes for it.
pub(super) struct StorePlace {
    pub(super) path: PathBuf,
    pub(super) retention: SessionRetention,
    /// What brings older formats up to date.
    pub(super) migrations: &'static [Migration],
    state: StateDirectory,
    clock: SessionClock,
    remarks: Mutex<Vec<String>>,
}

/// Which file lies at a path: another one by the same name has another identity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FileIdentity(u64, u64);

impl StorePlace {
    pub(super) fn new(setup: SessionsSetup) -> Self {
        Self {
            path: setup.state.path().join(layout::SESSIONS),
            retention: setup.retention,
            migrations: super::opening::MIGRATIONS,
            state: setup.state,
            clock: setup.clock,
            remarks: Mutex::default(),
        }
    }

    /// What time it is, in milliseconds.
    pub(super) fn now(&self) -> i64 {
        milliseconds((self.clock)())
    }

    /// Which file the store is, if there is one.
    pub(super) fn identity(&self) -> io::Result<Option<FileIdentity>> {
        match fs::metadata(&self.path) {
            Ok(metadata) => Ok(Some(identity(&metadata))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Takes the lock under which the store is made, migrated and set aside.
    pub(super) fn lock_store(&self) -> Result<FileLock, Failure> {
        let path = self.state.file(layout::SESSIONS_STORE_LOCK);
        let path = path.map_err(|error| self.unwritable(error.reason))?;
        FileLock::acquire(&path, PATIENCE).map_err(|error| {
            let reason = match &error {
                LockError::Busy { .. } => error.to_string(),
                LockError::Io { source, .. } => reason_of(source),
            };
            self.unwritable(reason).into()
        })
    }

    /// The lock of a session; its directory is not made for that.
    pub(super) fn locks_of(&self, key: &str) -> LockPaths {
        LockPaths::new(&self.locks(), &lock_name(key))
    }

    /// The lock of a session, in a directory that is there.
    pub(super) fn locks_made_for(&self, key: &SessionKey) -> Result<LockPaths, SessionError> {
        let name = lock_name(key.as_str());
        let within = format!("{}/{name}", layout::SESSIONS_LOCKS);
        match self.state.file(&within) {
            Ok(_) => Ok(LockPaths::new(&self.locks(), &name)),
            Err(error) => Err(self.unwritable(error.reason)),
        }
    }

    /// The directory of all locks.
    pub(super) fn locks(&self) -> PathBuf {
        self.state.path().join(layout::SESSIONS_LOCKS)
    }

    /// Notes what a person should know.
    pub(super) fn remark(&self, remark: String) {
        let mut remarks = self.remarks.lock().unwrap_or_else(PoisonError::into_inner);
        // The same damage is met again and again.
        if !remarks.contains(&remark) {
            remarks.push(remark);
        }
    }

    /// What was noted.
    pub(super) fn remarks(&self) -> Vec<String> {
        let remarks = self.remarks.lock().unwrap_or_else(PoisonError::into_inner);
        remarks.clone()
    }

    pub(super) fn unwritable(&self, reason: impl Into<String>) -> SessionError {
        SessionError::Unwritable {
            path: self.path.clone(),
            reason: reason.into(),
        }
    }

    pub(super) fn unusable(&self, reason: impl Into<String>) -> SessionError {
        SessionError::Unusable {
            path: self.path.clone(),
            reason: reason.into(),
        }
    }
}

/// What the system says, in our words where many meet it.
pub(super) fn reason_of(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::StorageFull => "the disk is full".to_owned(),
        io::ErrorKind::QuotaExceeded => "your share of the disk is full".to_owned(),
        io::ErrorKind::ReadOnlyFilesystem => "the file system is read-only".to_owned(),
        io::ErrorKind::PermissionDenied => "you may not write there".to_owned(),
        _ => error.to_string(),
    }
}

/// What the files of a session's lock are called: its key is nobody's business.
pub(super) fn lock_name(key: &str) -> String {
    let mut name = hexadecimal(digest::digest(&digest::SHA256, key.as_bytes()).as_ref());
    name.truncate(32);
    name
}

/// The stores that were set aside in a state directory because they could not be read, for whoever
/// tells people about them.
pub fn stores_set_aside(state: &Path) -> Vec<PathBuf> {
    let store = state.join(layout::SESSIONS);
    let (Some(directory), Some(name)) = (store.parent(), store.file_name()) else {
        return Vec::new();
    };
    let prefix = format!("{}.corrupt-", name.to_string_lossy());
    let mut found: Vec<PathBuf> = fs::read_dir(directory)
        .into_iter()
        .flatten()
        .flatten()
        .filter(|entry| {
            let name = entry.file_name();
            let time = name.to_str().and_then(|name| name.strip_prefix(&prefix));
            time.is_some_and(|time| time.bytes().all(|byte| byte.is_ascii_digit()))
        })
        .map(|entry| entry.path())
        .collect();
    found.sort();
    found
}

pub(super) fn hexadecimal(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes.iter().fold(String::new(), |mut text, byte| {
        // Writing to a string can't fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

pub(super) fn milliseconds(time: SystemTime) -> i64 {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

pub(super) fn time_of(milliseconds: i64) -> SystemTime {
    let since = Duration::from_millis(u64::try_from(milliseconds).unwrap_or_default());
    UNIX_EPOCH.checked_add(since).unwrap_or(UNIX_EPOCH)
}

#[cfg(unix)]
fn identity(metadata: &fs::Metadata) -> FileIdentity {
    use std::os::unix::fs::MetadataExt;
    FileIdentity(metadata.dev(), metadata.ino())
}

/// Elsewhere a file can't be renamed while somebody has it open, so the one at the path stays.
#[cfg(not(unix))]
fn identity(_metadata: &fs::Metadata) -> FileIdentity {
    FileIdentity(0, 0)
}
