//! The key of saved logins in a file, for machines without a keyring.

use std::path::{Path, PathBuf};

use openclaw_secrets::Secret;
use openclaw_state::{StateDirectory, Versioned, VersionedError, layout, load, store};
use serde::{Deserialize, Serialize};

use crate::error::OAuthError;
use crate::kept::seal::MasterKey;
use crate::kept::secret_text;

#[derive(Serialize, Deserialize)]
struct KeyFile {
    #[serde(with = "secret_text")]
    key: Secret,
}

impl Versioned for KeyFile {
    const FORMAT: &'static str = "openclaw key of logins";
    const VERSION: u32 = 1;
    const LIMIT: u64 = 4_096;
}

/// Where the key of a state directory is, or would be.
pub(super) fn path(state: &StateDirectory) -> PathBuf {
    state.path().join(layout::TOKENS_KEY)
}

/// Reads the key, if there is one.
pub(super) fn read(path: &Path) -> Result<Option<MasterKey>, OAuthError> {
    check_closed(path)?;
    match load::<KeyFile>(path) {
        Ok(None) => Ok(None),
        Ok(Some(file)) => match MasterKey::from_text(&file.key) {
            Some(key) => Ok(Some(key)),
            None => Err(damaged(path, "it holds no key")),
        },
        Err(VersionedError::Corrupt { reason, .. }) => Err(damaged(path, &reason)),
        Err(error) => Err(OAuthError::lasting(error)),
    }
}

/// Writes a key. Whoever calls this holds the lock and has seen that there is none.
pub(super) fn write(state: &StateDirectory, key: &MasterKey) -> Result<(), OAuthError> {
    let path = state
        .file(layout::TOKENS_KEY)
        .map_err(OAuthError::lasting)?;
    let file = KeyFile { key: key.to_text() };
    match store(&path, &file) {
        Ok(()) => Ok(()),
        Err(VersionedError::Write(error)) if error.is_replaced() => Ok(()),
        Err(error) => Err(OAuthError::lasting(format!(
            "the key to saved logins can't be written: {error}"
        ))),
    }
}

fn damaged(path: &Path, reason: &str) -> OAuthError {
    OAuthError::lasting(format!(
        "the key to saved logins, {}, can't be used: {reason}",
        path.display()
    ))
    .hint("put it back from a backup, or delete it and log in again")
}

/// Refuses a key that others could have read.
#[cfg(unix)]
fn check_closed(path: &Path) -> Result<(), OAuthError> {
    use std::os::unix::fs::MetadataExt as _;
    const OTHERS: u32 = 0o077;
    // Reading says what is wrong with a file that can't be looked at.
    let Ok(metadata) = std::fs::metadata(path) else {
        return Ok(());
    };
    let mode = metadata.mode() & 0o7777;
    if mode & OTHERS == 0 {
        return Ok(());
    }
    Err(OAuthError::lasting(format!(
        "other users may read the key to saved logins, {} (mode {mode:04o})",
        path.display()
    ))
    .hint(format!("close it with `chmod 600 '{}'`", path.display())))
}

#[cfg(not(unix))]
#[expect(
    clippy::unnecessary_wraps,
    reason = "other systems have modes that can be wrong"
)]
fn check_closed(_path: &Path) -> Result<(), OAuthError> {
    Ok(())
}
