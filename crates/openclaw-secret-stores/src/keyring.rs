//! The keyring of the operating system: `secret://keyring/SERVICE/ACCOUNT`.
//!
//! | system | what it is | how an entry is found |
//! |---|---|---|
//! | Linux | the Secret Service on the session bus: GNOME Keyring, KDE Wallet, `KeePassXC` | the attributes `service` and `username` |
//! | macOS | the login keychain | a generic password with this service and account |
//! | Windows | the Credential Manager | a generic credential with the target `ACCOUNT.SERVICE` |
//!
//! On Linux, `secret-tool store --label x service SERVICE username ACCOUNT` stores what we find, and
//! `secret-tool lookup service SERVICE username ACCOUNT` finds what we store. Entries of ours have
//! libsecret's generic schema as well, so that storing one anew with `secret-tool` replaces it rather
//! than adds a second.

#[cfg(any(target_os = "macos", windows, test))]
mod native;
#[cfg(target_os = "linux")]
mod secret_service;
#[cfg(target_os = "linux")]
use self::secret_service as system;
#[cfg(any(target_os = "macos", windows))]
use native as system;
#[cfg(not(any(target_os = "linux", target_os = "macos", windows)))]
mod nothing;
#[cfg(not(any(target_os = "linux", target_os = "macos", windows)))]
use nothing as system;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use openclaw_config::Environment;
use openclaw_secrets::{Secret, SecretReference};
use tokio::sync::Semaphore;
use tokio::time::{Instant, timeout_at};

use crate::error::SecretError;
use crate::provider::{Fetched, Fetching, SecretProvider, all_failed};
use crate::surroundings::Surroundings;

/// How long the keyring may take: a person may have to type its password.
const PATIENCE: Duration = Duration::from_secs(10);
/// How much earlier than whoever asks we give up, so that our words are heard.
const MARGIN: Duration = Duration::from_millis(100);
/// How many callers the keyring is asked for at the same time.
const AT_ONCE: usize = 4;

/// The keyring of the operating system.
///
/// Nothing is opened before it is needed, and nothing is kept open: every call sees the keyring as it
/// is then, and no call outlasts its deadline.
#[derive(Clone)]
pub struct Keyring {
    place: system::Place,
    patience: Duration,
    is_silent: bool,
    turns: Arc<Semaphore>,
    /// Whether whoever has a turn waits for a person.
    waits: Arc<AtomicBool>,
}

impl Keyring {
    /// The keyring that a process with these variables has.
    pub fn new(environment: &Environment) -> Self {
        Self {
            place: system::Place::of(environment),
            patience: PATIENCE,
            is_silent: false,
            turns: Arc::new(Semaphore::new(AT_ONCE)),
            waits: Arc::default(),
        }
    }

    /// The same, with more or less time for every call than ten seconds.
    #[must_use]
    pub fn patience(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    /// The same, which nobody is asked to unlock. Only on Linux a keyring tells that it would ask.
    #[must_use]
    pub fn silent(mut self) -> Self {
        self.is_silent = true;
        self
    }

    /// Says why secrets can't be kept, if they can't. A locked keyring stays locked.
    pub async fn check(&self) -> Result<(), SecretError> {
        self.within(async |open| open.check().await).await
    }

    /// Gets a secret, if there is one.
    pub async fn get(&self, service: &str, account: &str) -> Result<Option<Secret>, SecretError> {
        self.within(async |open| open.get(service, account).await)
            .await
    }

    /// Gets a secret, if there is one, for whoever has to rely on it that there is none: a keyring that
    /// tells nothing of what it has before it is unlocked is unlocked for that.
    pub async fn get_unlocked(
        &self,
        service: &str,
        account: &str,
    ) -> Result<Option<Secret>, SecretError> {
        self.within(async |open| open.get_unlocked(service, account).await)
            .await
    }

    /// Stores a secret, in the place of the one that is there.
    pub async fn set(
        &self,
        service: &str,
        account: &str,
        secret: &Secret,
    ) -> Result<(), SecretError> {
        self.within(async |open| open.set(service, account, secret).await)
            .await
    }

    /// Deletes a secret, and says whether there was one.
    pub async fn delete(&self, service: &str, account: &str) -> Result<bool, SecretError> {
        self.within(async |open| open.delete(service, account).await)
            .await
    }

    /// Does something with the keyring before our patience is at an end.
    async fn within<T>(
        &self,
        action: impl AsyncFnOnce(&system::Open) -> Result<T, SecretError>,
    ) -> Result<T, SecretError> {
        let until = Instant::now() + self.patience;
        self.before(until, self.patience, action).await
    }

    /// Opens the keyring when it is our turn, and does something with it before time is up; a person
    /// is told how much time that was.
    async fn before<T>(
        &self,
        until: Instant,
        patience: Duration,
        action: impl AsyncFnOnce(&system::Open) -> Result<T, SecretError>,
    ) -> Result<T, SecretError> {
        let asking = Asking {
            is_forbidden: self.is_silent,
            others_wait: Arc::clone(&self.waits),
            ..Asking::default()
        };
        let work = async {
            // An error would mean that the semaphore is closed.
            let _turn = self.turns.acquire().await;
            asking.has_turn.store(true, Ordering::Relaxed);
            let done = match self.place.open(asking.clone()).await {
                Ok(open) => action(&open).await,
                Err(error) => Err(error),
            };
            asking.end();
            done
        };
        let result = timeout_at(until, work).await;
        result.unwrap_or_else(|_| Err(asking.too_late(patience)))
    }
}

/// Whether the keyring waits for a person.
#[derive(Clone, Default)]
struct Asking {
    is_begun: Arc<AtomicBool>,
    has_turn: Arc<AtomicBool>,
    /// Whether those wait for one who have the turns.
    others_wait: Arc<AtomicBool>,
    is_forbidden: bool,
}

impl Asking {
    /// Whether nobody may be asked.
    #[cfg_attr(
        not(target_os = "linux"),
        expect(dead_code, reason = "other systems do not say that they ask")
    )]
    fn is_forbidden(&self) -> bool {
        self.is_forbidden
    }

    /// Notes that a person is asked for something from here on.
    #[cfg_attr(
        not(target_os = "linux"),
        expect(dead_code, reason = "other systems do not say that they ask")
    )]
    fn begin(&self) {
        self.is_begun.store(true, Ordering::Relaxed);
        self.others_wait.store(true, Ordering::Relaxed);
    }

    /// Notes that nobody is asked any more.
    fn end(&self) {
        self.is_begun.store(false, Ordering::Relaxed);
        self.others_wait.store(false, Ordering::Relaxed);
    }

    /// Whether it is a person who was waited for.
    fn waited_for_a_person(&self) -> bool {
        let waiting = if self.has_turn.load(Ordering::Relaxed) {
            &self.is_begun
        } else {
            &self.others_wait
        };
        waiting.load(Ordering::Relaxed)
    }

    /// Why nothing came of it in time.
    fn too_late(&self, patience: Duration) -> SecretError {
        if self.waited_for_a_person() {
            let reason =
                format!("the keyring is locked, and nobody unlocked it within {patience:?}");
            // As where somebody says no: asking again and again would not bring anybody to the window.
            SecretError::refused(reason).hint(system::UNLOCKING)
        } else {
            SecretError::unavailable(format!("the keyring did not answer within {patience:?}"))
                .hint("a window may be asking for its password; else start the keyring anew")
        }
    }
}

/// A name that the keyring has no entry for.
fn missing(service: &str, account: &str) -> SecretError {
    SecretError::missing(format!(
        "the keyring has no entry for the service {service:?} and the account {account:?}"
    ))
    .hint(system::storing(service, account))
}

/// Entries of the keyring, for the resolver.
pub(crate) struct KeyringProvider {
    keyring: Keyring,
}

impl KeyringProvider {
    pub(crate) fn new(surroundings: &Surroundings) -> Self {
        Self {
            keyring: Keyring::new(&surroundings.environment),
        }
    }
}

impl SecretProvider for KeyringProvider {
    fn fetch<'p>(&'p self, references: &'p [SecretReference], until: Instant) -> Fetching<'p> {
        let patience = rounded(until.saturating_duration_since(Instant::now()));
        let until = until.checked_sub(MARGIN).unwrap_or(until);
        // All are read from one open keyring: its password is asked for once.
        let reading = async move |open: &system::Open| {
            let mut answers: Vec<Fetched> = Vec::with_capacity(references.len());
            for reference in references {
                answers.push(one(open, reference).await);
            }
            Ok(answers)
        };
        Box::pin(async move {
            let answers = self.keyring.before(until, patience, reading).await;
            answers.unwrap_or_else(|error| all_failed(references, &error))
        })
    }
}

/// The time that somebody set, of which a little has gone by.
fn rounded(left: Duration) -> Duration {
    let tenths = left.as_millis().div_ceil(100);
    Duration::from_millis(100).saturating_mul(u32::try_from(tenths).unwrap_or(u32::MAX))
}

async fn one(open: &system::Open, reference: &SecretReference) -> Fetched {
    let SecretReference::Keyring {
        service, account, ..
    } = reference
    else {
        return Err(SecretError::misconfigured(
            "it is not an entry of the keyring",
        ));
    };
    match open.get(service, account).await? {
        Some(secret) => Ok(secret.into()),
        None => Err(missing(service, account)),
    }
}

#[cfg(test)]
mod tests;
