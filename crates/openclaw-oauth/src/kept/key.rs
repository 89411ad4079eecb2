//! The key that logins are sealed with: in the keyring, or in a file where there is none.
//!
//! A state directory has one key, or two if a keyring came or went. What is sealed names its key, and
//! is sealed anew with the same; what is new is sealed with the one that the keyring has.
//!
//! | keyring | file | what is new is sealed with |
//! |---|---|---|
//! | has a key | – | that of the keyring |
//! | has none, is locked, silent or not there | has a key | that of the file |
//! | has none | none | a new one, in the keyring |
//! | is not there | none | a new one, in a file |
//! | is locked or silent | none | nothing: it may have one, and a second would do harm |

mod file;
mod ring;

use std::path::PathBuf;
use std::sync::{Mutex as PlainMutex, MutexGuard, PoisonError};
use std::time::Duration;

use openclaw_secret_stores::Keyring;
use openclaw_state::{FileLock, StateDirectory, layout};
use serde::{Deserialize, Serialize};
use tokio::sync::Mutex;
use tokio::time::Instant;

use self::ring::{Entry, Trouble};
use super::remark::Remark;
use super::seal::{KeyId, MasterKey};
use super::wait::{file_lock, on_thread};
use crate::error::OAuthError;

/// How long another process may take to make a key: it may wait for a person who unlocks the keyring.
const PATIENCE: Duration = Duration::from_secs(75);
/// How long nobody is asked again to unlock the keyring for what is kept, once they have not: whoever needs it tries
/// again and again. Whoever begins a login is asked at once.
const LEFT_ALONE: Duration = Duration::from_mins(5);

/// Where a key is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum KeyPlace {
    /// In the keyring of the operating system.
    Keyring,
    /// In a file of the state directory.
    File,
}

/// A key, and where it is kept.
#[derive(Clone, Debug)]
pub(super) struct Key {
    pub(super) master: MasterKey,
    pub(super) place: KeyPlace,
}

/// Why a key that something was sealed with is not to be had.
pub(super) enum NoKey {
    /// It is nowhere: what it sealed stays sealed, for this reason.
    Nowhere(String),
    /// It is in a keyring, and there is none here, for this reason: another session may have it.
    Elsewhere(String),
    /// It may be there.
    Trouble(OAuthError),
}

/// The keys of a state directory.
pub(super) struct Keys {
    state: StateDirectory,
    entry: Entry,
    /// What was got once is not asked for again, nor does it wait for what somebody else asks for.
    known: PlainMutex<Known>,
    /// Held by whoever looks for a key: one at a time.
    search: Mutex<Search>,
}

#[derive(Default)]
struct Known {
    in_keyring: Option<MasterKey>,
    in_file: Option<MasterKey>,
}

#[derive(Default)]
struct Search {
    /// Why the keyring gave no key when it was asked last, and when that was.
    trouble: Option<(Instant, Trouble)>,
    /// When somebody was asked to unlock it last, and did not.
    refused: Option<Instant>,
    is_warned: bool,
}

/// How the keyring is asked.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Manner {
    /// Somebody is asked to unlock it.
    ForCertain,
    /// Somebody is asked only where it is known to have what is wanted.
    IfOpen,
    /// Nobody is asked.
    Silently,
}

/// What there is before a key is made.
enum Standing {
    Key(Key),
    /// None, and a keyring that would take one.
    Keyring,
    /// None, and no keyring.
    NoKeyring,
}

impl Keys {
    pub(super) fn new(state: StateDirectory, keyring: Keyring) -> Self {
        Self {
            entry: Entry::new(&state, keyring),
            state,
            known: PlainMutex::default(),
            search: Mutex::default(),
        }
    }

    /// The key that something was sealed with.
    pub(super) async fn find(&self, id: &KeyId, place: KeyPlace) -> Result<Key, NoKey> {
        let asked = Instant::now();
        if let Some(key) = self.known(id) {
            return Ok(key);
        }
        let mut search = self.search.lock().await;
        if let Some(key) = self.known(id) {
            return Ok(key);
        }
        // The file first, whatever place is named: nobody has to be asked for a password.
        let in_file = self.read_file().await;
        let has_file = matches!(in_file, Ok(Some(_)));
        match in_file {
            Ok(Some(master)) if master.id() == *id => {
                return Ok(self.take_from_file(&mut search, master));
            }
            Err(error) if place == KeyPlace::File => return Err(NoKey::Trouble(error)),
            Ok(_) | Err(_) => {}
        }
        if place == KeyPlace::File {
            let path = self.path();
            return Err(NoKey::Nowhere(if has_file {
                format!(
                    "it was sealed with another key than {}, perhaps on another machine",
                    path.display()
                )
            } else {
                format!(
                    "the key that it was sealed with is gone: {}",
                    path.display()
                )
            }));
        }
        let manner = match search.refused {
            Some(at) if asked.saturating_duration_since(at) < LEFT_ALONE => Manner::Silently,
            _ => Manner::ForCertain,
        };
        match self.ask(&mut search, asked, manner).await {
            Ok(Some(master)) if master.id() == *id => Ok(self.take_from_keyring(master)),
            Ok(_) => Err(NoKey::Nowhere(
                "it was sealed with a key that the keyring does not have, perhaps on another machine"
                    .to_owned(),
            )),
            Err(Trouble::Absent(error)) => Err(NoKey::Elsewhere(error.to_string())),
            Err(Trouble::Locked(error) | Trouble::Failed(error)) => Err(NoKey::Trouble(error)),
        }
    }

    /// The key to seal something anew with that was sealed with `before`.
    pub(super) async fn again(&self, before: Key) -> Result<Key, OAuthError> {
        if before.place == KeyPlace::Keyring {
            return Ok(before);
        }
        // Somebody may have deleted the file while we knew what was in it: what is sealed with a key
        // that is nowhere is lost when we end.
        let mut search = self.search.lock().await;
        if let Some(master) = self.read_file().await? {
            return Ok(self.take_from_file(&mut search, master));
        }
        let _lock = self.lock().await?;
        let master = match self.read_file().await? {
            Some(master) => master,
            None => self.write_file(before.master).await?,
        };
        Ok(self.take_from_file(&mut search, master))
    }

    /// The key to seal something new with; made where there is none.
    pub(super) async fn get_or_make(&self) -> Result<Key, OAuthError> {
        let asked = Instant::now();
        let mut search = self.search.lock().await;
        if let Some(key) = self.known_in_keyring() {
            return Ok(key);
        }
        if let Standing::Key(key) = self.standing(&mut search, asked).await? {
            return Ok(key);
        }
        // Two processes that start at once must end up with the same key.
        let _lock = self.lock().await?;
        let standing = self.standing(&mut search, asked).await?;
        if let Standing::Key(key) = standing {
            return Ok(key);
        }
        let made = MasterKey::generate()
            .map_err(|_| OAuthError::lasting("the system gives no random numbers"))?;
        if matches!(standing, Standing::NoKeyring) {
            let master = self.write_file(made).await?;
            return Ok(self.take_from_file(&mut search, master));
        }
        match self.entry.set(&made).await {
            Ok(master) => Ok(self.take_from_keyring(master)),
            Err(Trouble::Locked(error) | Trouble::Failed(error)) => Err(error),
            Err(Trouble::Absent(error)) => Err(OAuthError::passing(format!(
                "the keyring went away while the key to saved logins was stored: {error}"
            ))),
        }
    }

    /// What a person should know about a key.
    pub(super) async fn remark(&self, key: &Key) -> Option<Remark> {
        let search = self.search.lock().await;
        (key.place == KeyPlace::File).then(|| self.file_remark(&search))
    }

    /// Which key there is, if there is one.
    async fn standing(&self, search: &mut Search, asked: Instant) -> Result<Standing, OAuthError> {
        let in_file = self.read_file().await;
        // Where there is another key, no keyring is unlocked only to hear that it has none.
        let manner = match in_file {
            Ok(None) => Manner::ForCertain,
            Ok(Some(_)) | Err(_) => Manner::IfOpen,
        };
        let in_keyring = self.ask(search, asked, manner).await;
        if let Ok(Some(master)) = in_keyring {
            return Ok(Standing::Key(self.take_from_keyring(master)));
        }
        if let Some(master) = in_file? {
            return Ok(Standing::Key(self.take_from_file(search, master)));
        }
        match in_keyring {
            Ok(_) => Ok(Standing::Keyring),
            Err(Trouble::Absent(_)) => Ok(Standing::NoKeyring),
            Err(Trouble::Locked(error) | Trouble::Failed(error)) => Err(error),
        }
    }

    /// Asks the keyring. Who began to wait before somebody else was refused is refused as well: a
    /// person does not have to send away the same question for each server.
    async fn ask(
        &self,
        search: &mut Search,
        asked: Instant,
        manner: Manner,
    ) -> Result<Option<MasterKey>, Trouble> {
        if let Some((at, trouble)) = &search.trouble
            && *at >= asked
        {
            return Err(trouble.clone());
        }
        let found = match manner {
            Manner::ForCertain => self.entry.get_for_certain().await,
            Manner::IfOpen => self.entry.get().await,
            Manner::Silently => self.entry.get_silently().await,
        };
        match &found {
            Err(Trouble::Locked(_)) if manner != Manner::Silently => {
                search.refused = Some(Instant::now());
            }
            Err(_) => {}
            Ok(_) => search.refused = None,
        }
        let trouble = found.as_ref().err();
        search.trouble = trouble.map(|it| (Instant::now(), it.clone()));
        found
    }

    fn take_from_file(&self, search: &mut Search, master: MasterKey) -> Key {
        self.knowing().in_file = Some(master.clone());
        if !search.is_warned {
            search.is_warned = true;
            tracing::debug!("{}", self.file_remark(search));
        }
        let place = KeyPlace::File;
        Key { master, place }
    }

    fn file_remark(&self, search: &Search) -> Remark {
        let absent = search.trouble.as_ref().and_then(|(_, it)| match it {
            Trouble::Absent(error) => Some(error.to_string()),
            Trouble::Locked(_) | Trouble::Failed(_) => None,
        });
        Remark::KeyInFile {
            path: self.path(),
            reason: absent,
        }
    }

    fn path(&self) -> PathBuf {
        file::path(&self.state)
    }

    async fn read_file(&self) -> Result<Option<MasterKey>, OAuthError> {
        let path = self.path();
        on_thread(move || file::read(&path)).await
    }

    async fn write_file(&self, master: MasterKey) -> Result<MasterKey, OAuthError> {
        let state = self.state.clone();
        on_thread(move || file::write(&state, &master).map(|()| master)).await
    }

    /// What whoever makes a key holds meanwhile.
    async fn lock(&self) -> Result<FileLock, OAuthError> {
        let path = self.state.file(layout::TOKENS_KEY_LOCK);
        let path = path.map_err(OAuthError::lasting)?;
        file_lock(&path, Instant::now() + PATIENCE).await
    }

    fn take_from_keyring(&self, master: MasterKey) -> Key {
        self.knowing().in_keyring = Some(master.clone());
        let place = KeyPlace::Keyring;
        Key { master, place }
    }

    /// A key that was got before.
    fn known(&self, id: &KeyId) -> Option<Key> {
        let in_file = self.knowing().in_file.clone();
        let in_file = in_file.map(|master| Key {
            master,
            place: KeyPlace::File,
        });
        let mut keys = [self.known_in_keyring(), in_file].into_iter().flatten();
        keys.find(|key| key.master.id() == *id)
    }

    fn known_in_keyring(&self) -> Option<Key> {
        let master = self.knowing().in_keyring.clone()?;
        let place = KeyPlace::Keyring;
        Some(Key { master, place })
    }

    fn knowing(&self) -> MutexGuard<'_, Known> {
        let known = self.known.lock();
        known.unwrap_or_else(PoisonError::into_inner)
    }
}
