//! The keychain of macOS and the Credential Manager of Windows. Their calls block.

use std::sync::Arc;

use keyring_core::{CredentialStore, Entry, Error};
use openclaw_config::Environment;
use openclaw_content::shown_line;
use openclaw_secrets::Secret;
use tokio::sync::{Semaphore, oneshot};

use crate::error::SecretError;
use crate::keyring::Asking;
use crate::value;

/// How a keyring is unlocked.
pub(super) const UNLOCKING: &str = "unlock the keychain, and allow openclaw to use it";
/// How much of what the system says is shown.
const SHOWN: usize = 200;
/// For how many questions there is a thread at a time. One that waits for a person keeps its place also when nobody
/// waits for the answer any more, so that asking again makes neither a thread nor a window more.
static THREADS: Semaphore = Semaphore::const_new(super::AT_ONCE);

/// How an entry is stored by hand.
pub(super) fn storing(service: &str, account: &str) -> String {
    if cfg!(windows) {
        format!("store it with `cmdkey /generic:{account}.{service} /user:{account} /pass`")
    } else {
        format!("store it with `security add-generic-password -s {service:?} -a {account:?} -w`")
    }
}

/// The keyring of the person who is logged in: there is one.
#[derive(Clone)]
pub(super) struct Place;

impl Place {
    pub(super) fn of(_environment: &Environment) -> Self {
        Self
    }

    #[expect(clippy::unused_async, reason = "opening takes its time on Linux")]
    pub(super) async fn open(&self, _asking: Asking) -> Result<Open, SecretError> {
        let store = system_store().map_err(told)?;
        Ok(Open { store })
    }
}

#[cfg(all(target_os = "macos", not(test)))]
fn system_store() -> Result<Arc<CredentialStore>, Error> {
    Ok(apple_native_keyring_store::keychain::Store::new()?)
}

#[cfg(all(windows, not(test)))]
fn system_store() -> Result<Arc<CredentialStore>, Error> {
    Ok(windows_native_keyring_store::Store::new()?)
}

/// Tests leave the keyring of the person who runs them alone.
#[cfg(test)]
fn system_store() -> Result<Arc<CredentialStore>, Error> {
    Ok(keyring_core::mock::Store::new()?)
}

/// The keyring.
pub(super) struct Open {
    store: Arc<CredentialStore>,
}

impl Open {
    #[expect(clippy::unused_async, reason = "asking takes its time on Linux")]
    pub(super) async fn check(&self) -> Result<(), SecretError> {
        Ok(())
    }

    pub(super) async fn get(
        &self,
        service: &str,
        account: &str,
    ) -> Result<Option<Secret>, SecretError> {
        // As a text, whatever it is written in: what `cmdkey` stores is UTF-16.
        match self
            .on_thread(service, account, Entry::get_password)
            .await?
        {
            Ok(text) => value::from_text(text).map(Some),
            Err(Error::NoEntry) => Ok(None),
            Err(error) => Err(told(error)),
        }
    }

    /// The same: these unlock themselves for every question.
    pub(super) async fn get_unlocked(
        &self,
        service: &str,
        account: &str,
    ) -> Result<Option<Secret>, SecretError> {
        self.get(service, account).await
    }

    pub(super) async fn set(
        &self,
        service: &str,
        account: &str,
        secret: &Secret,
    ) -> Result<(), SecretError> {
        let secret = secret.clone();
        let set = move |entry: &Entry| entry.set_password(secret.expose());
        let stored = self.on_thread(service, account, set).await?;
        stored.map_err(told)
    }

    pub(super) async fn delete(&self, service: &str, account: &str) -> Result<bool, SecretError> {
        let deleted = self.on_thread(service, account, Entry::delete_credential);
        match deleted.await? {
            Ok(()) => Ok(true),
            Err(Error::NoEntry) => Ok(false),
            Err(error) => Err(told(error)),
        }
    }

    /// Does something that may wait for a person, on a thread of its own: neither the end of a
    /// runtime nor that of the process waits for it.
    async fn on_thread<T: Send + 'static>(
        &self,
        service: &str,
        account: &str,
        action: impl FnOnce(&Entry) -> Result<T, Error> + Send + 'static,
    ) -> Result<Result<T, Error>, SecretError> {
        let entry = self.store.build(service, account, None).map_err(told)?;
        let gone = || SecretError::unavailable("the keyring did not answer");
        let place = THREADS.acquire().await.map_err(|_| gone())?;
        let (sender, receiver) = oneshot::channel();
        let thread = std::thread::Builder::new().name("keyring".to_owned());
        let started = thread.spawn(move || {
            let _place = place;
            // Nobody may be waiting any more.
            let _ = sender.send(action(&entry));
        });
        if let Err(error) = started {
            let reason = format!("no thread can be started to ask the keyring: {error}");
            return Err(SecretError::shortage(reason));
        }
        receiver.await.map_err(|_| gone())
    }
}

/// What is wrong, in words. What was found is never among them.
fn told(error: Error) -> SecretError {
    match error {
        Error::NoStorageAccess(reason) => {
            let reason = shown_line(&reason.to_string(), SHOWN);
            SecretError::refused(format!("the keyring can't be opened: {reason}")).hint(UNLOCKING)
        }
        Error::Ambiguous(entries) => SecretError::misconfigured(format!(
            "the keyring has {} entries of this name",
            entries.len()
        ))
        .hint("keep one of them"),
        Error::BadEncoding(bytes) | Error::BadDataFormat(bytes, _) => {
            value::wipe(bytes);
            SecretError::unusable("it is not text")
        }
        Error::TooLong(what, most) => SecretError::misconfigured(format!(
            "the {what} is longer than the {most} characters that the keyring takes"
        )),
        Error::Invalid(what, reason) => {
            let reason = shown_line(&format!("{what}: {reason}"), SHOWN);
            SecretError::misconfigured(format!("the keyring does not take such a name: {reason}"))
        }
        Error::PlatformFailure(reason) => {
            let reason = shown_line(&reason.to_string(), SHOWN);
            SecretError::unavailable(format!("the keyring answers with an error: {reason}"))
        }
        other => {
            let reason = shown_line(&other.to_string(), SHOWN);
            SecretError::unavailable(format!("the keyring can't be used: {reason}"))
        }
    }
}

#[cfg(test)]
mod tests {
    use std::any::Any;
    use std::collections::HashMap;
    use std::sync::Mutex;

    use keyring_core::api::{Credential, CredentialApi, CredentialStoreApi};

    use super::*;

    async fn open() -> Open {
        let place = Place::of(&Environment::default());
        place.open(Asking::default()).await.unwrap()
    }

    #[tokio::test]
    async fn what_is_stored_is_found_until_it_is_deleted() {
        let open = open().await;
        open.check().await.unwrap();
        assert_eq!(open.get("s", "a").await.unwrap(), None);
        open.set("s", "a", &Secret::new("hunter2")).await.unwrap();
        let found = open.get("s", "a").await.unwrap().unwrap();
        assert_eq!(found.expose(), "hunter2");
        assert_eq!(open.get_unlocked("s", "a").await.unwrap(), Some(found));
        assert!(open.delete("s", "a").await.unwrap());
        assert!(!open.delete("s", "a").await.unwrap());
        assert_eq!(open.get("s", "a").await.unwrap(), None);
    }

    /// The only entry of a Credential Manager: its texts are UTF-16.
    #[derive(Clone, Debug, Default)]
    struct Windows(Arc<Mutex<Vec<u8>>>);

    impl CredentialApi for Windows {
        fn set_password(&self, password: &str) -> Result<(), Error> {
            let bytes: Vec<u8> = password.encode_utf16().flat_map(u16::to_le_bytes).collect();
            self.set_secret(&bytes)
        }

        fn set_secret(&self, secret: &[u8]) -> Result<(), Error> {
            *self.0.lock().unwrap() = secret.to_vec();
            Ok(())
        }

        fn get_password(&self) -> Result<String, Error> {
            let bytes = self.get_secret()?;
            let units: Vec<u16> = bytes
                .chunks(2)
                .map(|pair| u16::from_le_bytes([pair[0], pair[1]]))
                .collect();
            String::from_utf16(&units).map_err(|_| Error::BadEncoding(bytes))
        }

        fn get_secret(&self) -> Result<Vec<u8>, Error> {
            Ok(self.0.lock().unwrap().clone())
        }

        fn delete_credential(&self) -> Result<(), Error> {
            Err(Error::NoEntry)
        }

        fn get_credential(&self) -> Result<Option<Arc<Credential>>, Error> {
            Ok(None)
        }

        fn get_specifiers(&self) -> Option<(String, String)> {
            None
        }

        fn as_any(&self) -> &dyn Any {
            self
        }
    }

    impl CredentialStoreApi for Windows {
        fn vendor(&self) -> String {
            String::new()
        }

        fn id(&self) -> String {
            String::new()
        }

        fn build(&self, _: &str, _: &str, _: Option<&HashMap<&str, &str>>) -> Result<Entry, Error> {
            Ok(Entry::new_with_credential(Arc::new(self.clone())))
        }

        fn as_any(&self) -> &dyn Any {
            self
        }
    }

    #[tokio::test]
    async fn texts_are_those_of_the_system() {
        let windows = Windows::default();
        let open = Open {
            store: Arc::new(windows.clone()),
        };
        // What `cmdkey` stores.
        windows.set_secret(b"h\0u\0n\0t\0\xe9\0").unwrap();
        let found = open.get("s", "a").await.unwrap().unwrap();
        assert_eq!(found.expose(), "hunt\u{e9}");
        open.set("s", "a", &Secret::new("k\u{20ac}y"))
            .await
            .unwrap();
        assert_eq!(windows.get_secret().unwrap(), b"k\0\xac\x20y\0");
        // Half of a pair.
        windows.set_secret(b"\x00\xd8").unwrap();
        let error = open.get("s", "a").await.unwrap_err();
        assert_eq!(error.to_string(), "it is not text");
    }

    #[test]
    fn a_missing_entry_can_be_stored_by_hand() {
        let hint = storing("service-1", "account-1");
        assert!(
            hint.contains("service-1") && hint.contains("account-1"),
            "{hint}"
        );
        assert!(hint.contains("security ") || hint.contains("cmdkey "));
    }

    #[test]
    fn what_was_found_is_not_in_the_words() {
        let broken = Error::BadEncoding(b"hunter2\xff".to_vec());
        assert_eq!(told(broken).to_string(), "it is not text");
        let broken = Error::BadDataFormat(b"hunter2".to_vec(), "hunter2 is odd".into());
        assert_eq!(told(broken).to_string(), "it is not text");
    }

    #[tokio::test]
    async fn a_keyring_that_never_answers_is_not_waited_for_at_the_end() {
        let open = open().await;
        let hangs = |_: &Entry| loop {
            std::thread::park();
        };
        let asked = open.on_thread::<()>("s", "a", hangs);
        let patience = std::time::Duration::from_millis(20);
        assert!(tokio::time::timeout(patience, asked).await.is_err());
        // The runtime of this test ends now, with the thread still parked.
    }
}
