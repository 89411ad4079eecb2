//! The file that logins are kept in, sealed.

use std::io;
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use openclaw_state::{
    ReadError, Versioned, VersionedError, WriteError, layout, load as load_versioned, set_aside,
    store,
};
use secrecy::zeroize::Zeroizing;
use serde::{Deserialize, Serialize};

use super::key::{Key, KeyPlace};
use super::record::KeptLogins;
use super::seal::{self, KeyId, Label, MasterKey, SALT};
use super::tidy;
use crate::error::OAuthError;

/// How much room what stands around the seal takes at most, in bytes.
const AROUND: u64 = 1_000;

/// Logins as they stand in their file.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SealedLogins {
    /// The key that they were sealed with.
    pub(super) key: KeyId,
    /// Where that was.
    pub(super) key_place: KeyPlace,
    salt: String,
    sealed: String,
}

impl Versioned for SealedLogins {
    const FORMAT: &'static str = "openclaw logins";
    const VERSION: u32 = 1;
    const LIMIT: u64 = layout::TOKENS_LIMIT;
}

/// What is in the place of a file.
pub(super) enum Found {
    /// Nothing.
    Nothing,
    /// Logins that somebody sealed.
    Sealed(SealedLogins),
    /// Something that can't be used, for this reason.
    Unusable(String),
}

impl SealedLogins {
    /// Seals logins for their owner.
    pub(super) fn seal(key: &Key, owner: &str, logins: &KeptLogins) -> Result<Self, OAuthError> {
        let mut plain = Wiped::default();
        serde_json::to_writer(&mut plain, logins)
            .map_err(|_| OAuthError::lasting("the login can't be written down"))?;
        let no_random = |_| OAuthError::lasting("the login can't be sealed");
        let salt = seal::salt().map_err(no_random)?;
        let sealed = seal::seal(&key.master, &label(owner), &salt, plain.0).map_err(no_random)?;
        let sealed = Self {
            key: key.master.id(),
            key_place: key.place,
            salt: STANDARD.encode(salt),
            sealed: STANDARD.encode(sealed),
        };
        // What is larger could not be read again.
        if sealed.sealed.len() as u64 + AROUND > Self::LIMIT {
            let reason = "the login is too large to be kept: the authorization server gave \
                          hundreds of kilobytes";
            return Err(OAuthError::lasting(reason));
        }
        Ok(sealed)
    }

    /// Opens logins, or says why they can't be opened.
    pub(super) fn open(&self, key: &MasterKey, owner: &str) -> Result<KeptLogins, &'static str> {
        const CHANGED: &str = "it was damaged, or it belongs to another server";
        let mut salt = [0; SALT];
        match STANDARD.decode(&self.salt) {
            Ok(bytes) if bytes.len() == SALT => salt.copy_from_slice(&bytes),
            _ => return Err(CHANGED),
        }
        let sealed = STANDARD.decode(&self.sealed).map_err(|_| CHANGED)?;
        let plain = seal::open(key, &label(owner), &salt, sealed).map_err(|_| CHANGED)?;
        serde_json::from_slice(&plain).map_err(|_| "what is in it has a wrong shape")
    }
}

fn label(owner: &str) -> Label<'_> {
    Label {
        format: SealedLogins::FORMAT,
        version: SealedLogins::VERSION,
        owner,
    }
}

/// Looks at a file. What a newer program wrote, and what the system does not let us read, is an
/// error: it may well be good.
pub(super) fn load(path: &Path) -> Result<Found, OAuthError> {
    match load_versioned(path) {
        Ok(Some(sealed)) => Ok(Found::Sealed(sealed)),
        Ok(None) => Ok(Found::Nothing),
        Err(
            error @ (VersionedError::Corrupt { .. }
            | VersionedError::Read(ReadError::TooLarge { .. } | ReadError::NotAFile { .. })),
        ) => Ok(Found::Unusable(error.to_string())),
        Err(error) => Err(OAuthError::lasting(error)),
    }
}

/// Writes a file, whole or not at all. What is in its place and can't be used is put aside.
pub(super) fn save(
    path: &Path,
    sealed: &SealedLogins,
    is_unusable: bool,
) -> Result<(), OAuthError> {
    if is_unusable {
        let aside = set_aside(path).map_err(|error| not_saved(path, &error))?;
        tracing::warn!(
            path = %path.display(),
            aside = %aside.display(),
            "a saved login that can't be opened was put aside"
        );
        tidy::remove_surplus(path, &aside);
    }
    match store(path, sealed) {
        Ok(()) => Ok(()),
        Err(VersionedError::Write(error)) if error.is_replaced() => {
            tracing::warn!("{error}");
            Ok(())
        }
        Err(VersionedError::Write(error)) => Err(not_saved(path, &error)),
        Err(error) => Err(OAuthError::lasting(error)),
    }
}

/// Deletes a file, if it is there.
pub(super) fn delete(path: &Path) -> Result<(), OAuthError> {
    match std::fs::remove_file(path) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => {
            let directory = path.parent().unwrap_or(path);
            Err(OAuthError::lasting(format!(
                "cannot delete the saved login {}: {error}",
                path.display()
            ))
            .hint(format!(
                "make sure that {} is writable, or delete the file yourself",
                directory.display()
            )))
        }
    }
}

/// A login that can't be saved.
pub(super) fn not_saved(path: &Path, error: &WriteError) -> OAuthError {
    let directory = path.parent().unwrap_or(path);
    OAuthError::lasting(format!("the login can't be saved: {error}")).hint(format!(
        "make sure that {} is writable and that the disk is not full",
        directory.display()
    ))
}

/// A buffer that overwrites what it leaves behind when it grows, and when it is dropped.
#[derive(Default)]
struct Wiped(Zeroizing<Vec<u8>>);

impl io::Write for Wiped {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let needed = self.0.len() + bytes.len();
        if needed > self.0.capacity() {
            let room = needed.max(self.0.capacity() * 2).max(4_096);
            let mut larger = Zeroizing::new(Vec::with_capacity(room));
            larger.extend_from_slice(&self.0);
            self.0 = larger;
        }
        self.0.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
