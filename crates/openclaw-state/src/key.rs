//! A random key of one state directory, for hashes that mean nothing outside it.

use std::path::Path;
use std::time::Duration;

use ring::rand::{SecureRandom, SystemRandom};
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::directory::{StateDirectory, StateDirectoryError};
use crate::layout;
use crate::lock::{FileLock, LockError};
use crate::versioned::{Versioned, VersionedError, load, store};

const PATIENCE: Duration = Duration::from_secs(5);

/// The key that fingerprints are hashed with.
///
/// Without it, a fingerprint that was made from a password in the environment could be guessed
/// by trying passwords.
#[derive(Clone)]
pub struct StateKey([u8; 32]);

/// Why there is no key.
#[derive(Debug, Error)]
pub enum StateKeyError {
    /// The file cannot be used.
    #[error(transparent)]
    File(#[from] VersionedError),
    /// The directory cannot be used.
    #[error(transparent)]
    Directory(#[from] StateDirectoryError),
    /// Another process is making the key and does not end.
    #[error(transparent)]
    Lock(#[from] LockError),
    /// The system has no random numbers.
    #[error("the system gives no random numbers")]
    Random,
}

#[derive(Serialize, Deserialize)]
struct KeyFile {
    key: String,
}

impl Versioned for KeyFile {
    const FORMAT: &'static str = "openclaw state key";
    const VERSION: u32 = 1;
    const LIMIT: u64 = 4_096;
}

impl StateKey {
    /// Reads the key of a state directory, and makes one where there is none.
    pub fn of(state: &StateDirectory) -> Result<Self, StateKeyError> {
        let path = state.file(layout::STATE_KEY)?;
        if let Some(key) = read(&path)? {
            return Ok(key);
        }
        // Two processes that start at once must end up with the same key.
        let _lock = FileLock::acquire(&state.file(layout::STATE_KEY_LOCK)?, PATIENCE)?;
        if let Some(key) = read(&path)? {
            return Ok(key);
        }
        let mut bytes = [0; 32];
        SystemRandom::new()
            .fill(&mut bytes)
            .map_err(|_| StateKeyError::Random)?;
        store(
            &path,
            &KeyFile {
                key: encode(&bytes),
            },
        )?;
        Ok(Self(bytes))
    }

    /// A key from given bytes, for fingerprints that are compared within one process only.
    pub fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// The bytes of the key.
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl std::fmt::Debug for StateKey {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("StateKey")
    }
}

fn read(path: &Path) -> Result<Option<StateKey>, VersionedError> {
    let Some(file) = load::<KeyFile>(path)? else {
        return Ok(None);
    };
    let key = decode(&file.key).ok_or_else(|| VersionedError::Corrupt {
        path: path.to_owned(),
        format: KeyFile::FORMAT,
        reason: "the key is not 64 hexadecimal digits; delete the file to get a new one".to_owned(),
    })?;
    Ok(Some(StateKey(key)))
}

fn encode(bytes: &[u8]) -> String {
    use std::fmt::Write;
    bytes.iter().fold(String::new(), |mut text, byte| {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

fn decode(text: &str) -> Option<[u8; 32]> {
    let mut bytes = [0; 32];
    if text.len() != 64 || !text.is_ascii() {
        return None;
    }
    for (index, byte) in bytes.iter_mut().enumerate() {
        *byte = u8::from_str_radix(text.get(index * 2..index * 2 + 2)?, 16).ok()?;
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn the_key_is_made_once_even_by_many_at_a_time() {
        let directory = tempfile::tempdir().unwrap();
        let state = StateDirectory::open(directory.path()).unwrap();
        let keys: Vec<[u8; 32]> = std::thread::scope(|scope| {
            let makers: Vec<_> = (0..8)
                .map(|_| scope.spawn(|| *StateKey::of(&state).unwrap().as_bytes()))
                .collect();
            makers
                .into_iter()
                .map(|maker| maker.join().unwrap())
                .collect()
        });
        assert!(keys.iter().all(|key| *key == keys[0]));
        assert_ne!(keys[0], [0; 32]);
    }

    #[test]
    fn a_damaged_key_is_reported_and_kept() {
        let directory = tempfile::tempdir().unwrap();
        let state = StateDirectory::open(directory.path()).unwrap();
        StateKey::of(&state).unwrap();
        let path = directory.path().join(layout::STATE_KEY);
        let text = fs::read_to_string(&path)
            .unwrap()
            .replace("\"key\": \"", "\"key\": \"zz");
        fs::write(&path, &text).unwrap();
        let error = StateKey::of(&state).unwrap_err().to_string();
        assert!(error.contains("delete the file"), "{error}");
        assert_eq!(fs::read_to_string(&path).unwrap(), text);
    }
}
