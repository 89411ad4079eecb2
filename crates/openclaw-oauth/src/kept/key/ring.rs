//! The key of saved logins in the keyring of the operating system.

use openclaw_secret_stores::{Keyring, SecretError, SecretErrorKind};
use openclaw_secrets::Secret;
use openclaw_state::StateDirectory;
use ring::digest::{SHA256, digest};

use crate::error::OAuthError;
use crate::kept::hexadecimal;
use crate::kept::seal::MasterKey;

/// The service that everything of ours in the keyring belongs to.
const SERVICE: &str = "openclaw";
/// How many bytes of a hash tell one state directory from another.
const DIRECTORY: usize = 8;

/// An entry of the keyring, for the key of one state directory.
pub(super) struct Entry {
    keyring: Keyring,
    /// The same, which nobody is asked to unlock.
    silent: Keyring,
    account: String,
}

/// Why an entry gives no key.
#[derive(Clone)]
pub(super) enum Trouble {
    /// There is no keyring, for this reason.
    Absent(SecretError),
    /// There is one, and it stays locked.
    Locked(OAuthError),
    /// There is one, and it gives no answer now or for good.
    Failed(OAuthError),
}

impl Entry {
    /// The entry of a state directory. Nothing is asked for yet.
    pub(super) fn new(state: &StateDirectory, keyring: Keyring) -> Self {
        // The real path: the directory is the same whichever way somebody got there.
        let path = std::fs::canonicalize(state.path());
        let path = path.unwrap_or_else(|_| state.path().to_owned());
        let hash = digest(&SHA256, path.as_os_str().as_encoded_bytes());
        let mark = hexadecimal::encode(&hash.as_ref()[..DIRECTORY]);
        Self {
            silent: keyring.clone().silent(),
            keyring,
            account: format!("tokens:{mark}"),
        }
    }

    /// The key, if there is one that can be had without unlocking the keyring in vain.
    pub(super) async fn get(&self) -> Result<Option<MasterKey>, Trouble> {
        let found = self.keyring.get(SERVICE, &self.account).await;
        self.read(found)
    }

    /// The key, if there is one, for certain.
    pub(super) async fn get_for_certain(&self) -> Result<Option<MasterKey>, Trouble> {
        let found = self.keyring.get_unlocked(SERVICE, &self.account).await;
        self.read(found)
    }

    /// The key, if there is one, for certain, and without asking anybody where the system can do that.
    pub(super) async fn get_silently(&self) -> Result<Option<MasterKey>, Trouble> {
        let found = self.silent.get_unlocked(SERVICE, &self.account).await;
        self.read(found)
    }

    /// Stores a key, and gets what is there then. Whoever calls this holds the lock and has seen for
    /// certain that there is none.
    pub(super) async fn set(&self, key: &MasterKey) -> Result<MasterKey, Trouble> {
        let text = key.to_text();
        let stored = self.keyring.set(SERVICE, &self.account, &text);
        stored.await.map_err(|error| self.trouble(&error))?;
        // A keyring that forgets would cost a login: better to know it now.
        self.get().await?.ok_or_else(|| {
            Trouble::Failed(OAuthError::lasting(format!(
                "the keyring does not give back what was stored as {:?}",
                self.account
            )))
        })
    }

    fn read(
        &self,
        found: Result<Option<Secret>, SecretError>,
    ) -> Result<Option<MasterKey>, Trouble> {
        let Some(text) = found.map_err(|error| self.trouble(&error))? else {
            return Ok(None);
        };
        match MasterKey::from_text(&text) {
            Some(key) => Ok(Some(key)),
            None => Err(Trouble::Failed(self.no_key())),
        }
    }

    /// What is in the entry was not put there by us.
    fn no_key(&self) -> OAuthError {
        let account = &self.account;
        OAuthError::lasting(format!(
            "the entry of the keyring for the service {SERVICE:?} and the account {account:?} holds \
             no key"
        ))
        .hint("delete the entry, and log in again")
    }

    fn trouble(&self, error: &SecretError) -> Trouble {
        if error.is_absence() {
            return Trouble::Absent(error.clone());
        }
        let reason = format!("the key to saved logins is not to be had: {error}");
        let failed = match error.kind() {
            // It is locked, or silent.
            SecretErrorKind::Refused | SecretErrorKind::Unavailable => OAuthError::passing(reason),
            SecretErrorKind::Unusable => self.no_key(),
            _ => OAuthError::lasting(reason),
        };
        let failed = match error.hint_text() {
            Some(hint) => failed.hint(hint),
            None => failed,
        };
        if error.kind() == SecretErrorKind::Refused {
            Trouble::Locked(failed)
        } else {
            Trouble::Failed(failed)
        }
    }
}
