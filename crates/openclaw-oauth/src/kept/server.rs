//! What is kept about the logins to one server.

use std::io;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use openclaw_config::shell_word;
use openclaw_state::{FileLock, layout, rehearse};
use tokio::sync::{Mutex, OwnedMutexGuard, OwnedRwLockReadGuard};
use tokio::time::{Instant, timeout, timeout_at};

use super::key::{Key, NoKey};
use super::record::KeptLogins;
use super::sealed_file::{self, Found, SealedLogins, not_saved};
use super::stamp::Stamp;
use super::store::{PROBE, ROOM, Shared};
use super::wait::{busy, cut_short, file_lock, on_thread};
use crate::error::OAuthError;

/// How long a change may take, with all its requests: others wait for it.
const LONGEST: Duration = Duration::from_mins(2);

/// A change of what is kept that is still being made.
pub(crate) type Changing<'a, T> = Pin<Box<dyn Future<Output = Result<T, OAuthError>> + Send + 'a>>;

/// What is still done with logins that are taken out.
pub(crate) type Parting<T> = Pin<Box<dyn Future<Output = T> + Send>>;

/// What became of logins that were taken out.
pub enum Taken<T> {
    /// They were opened, and this was made of them.
    Opened(T),
    /// They could not be opened, for this reason.
    Sealed(String),
}

/// What is kept about the logins to one server, in one sealed file.
#[derive(Clone)]
pub struct ServerLogins {
    shared: Arc<Shared>,
    server: String,
    hash: String,
    path: PathBuf,
    turn: Arc<Mutex<()>>,
}

/// What whoever changes the logins to a server holds.
struct Held {
    _turn: OwnedMutexGuard<()>,
    _lock: FileLock,
    _change: OwnedRwLockReadGuard<()>,
}

/// What was found.
enum Standing {
    /// Nothing.
    Nothing,
    /// Logins, and the key that they were sealed with.
    Opened(Box<KeptLogins>, Key),
    /// What can't be opened, for this reason.
    Unusable(String),
}

/// When it is made sure that a change can be saved.
#[derive(Clone, Copy)]
enum Readiness {
    /// Before it begins.
    Before,
    /// Where nothing is kept, once there is something to save.
    OnceNeeded,
}

impl ServerLogins {
    pub(super) fn new(
        shared: Arc<Shared>,
        server: &str,
        hash: String,
        turn: Arc<Mutex<()>>,
    ) -> Self {
        let path = shared.path(&format!("{hash}.json"));
        Self {
            shared,
            server: server.to_owned(),
            hash,
            path,
            turn,
        }
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What changes whenever somebody, in whatever process, writes.
    pub fn stamp(&self) -> Stamp {
        Stamp::of(&self.path)
    }

    /// Reads what is kept, with a stamp that is at least as old.
    ///
    /// What can't be opened and never will needs a login; what may be opened later is left alone.
    pub async fn read(&self) -> Result<(Stamp, KeptLogins), OAuthError> {
        // The stamp first: if somebody writes in between, the next look shows that it is too old.
        let stamp = self.stamp();
        match self.standing().await? {
            Standing::Nothing => Ok((stamp, KeptLogins::default())),
            Standing::Opened(logins, _) => Ok((stamp, *logins)),
            Standing::Unusable(reason) => Err(OAuthError::login_needed(format!(
                "the saved login can't be opened: {reason}"
            ))),
        }
    }

    /// Changes what is kept, as the only one to do so, and waits at most `patience` for others.
    ///
    /// `change` sees what is kept at that moment, and nothing where that can't be opened. What it leaves
    /// is written if it differs and if `change` succeeds; nothing is written if it fails. That it
    /// can be written is tried before `change` begins.
    ///
    /// Whoever drops this while it waits for others has changed nothing. Once `change` has begun it
    /// comes to its end: an authorization server that has answered a request with a new refresh token
    /// has made the old one worthless, and who does not write down the answer is logged out.
    pub async fn change<T, F>(&self, patience: Duration, change: F) -> Result<T, OAuthError>
    where
        T: Send + 'static,
        F: for<'a> FnOnce(&'a mut KeptLogins) -> Changing<'a, T> + Send + 'static,
    {
        self.change_with(patience, Readiness::Before, change).await
    }

    /// The same for a change that gets nothing from anybody where nothing is kept: there it may well
    /// leave nothing to write, and only if it does is a key asked for, or made.
    pub async fn amend<T, F>(&self, patience: Duration, change: F) -> Result<T, OAuthError>
    where
        T: Send + 'static,
        F: for<'a> FnOnce(&'a mut KeptLogins) -> Changing<'a, T> + Send + 'static,
    {
        let readiness = Readiness::OnceNeeded;
        self.change_with(patience, readiness, change).await
    }

    async fn change_with<T, F>(
        &self,
        patience: Duration,
        readiness: Readiness,
        change: F,
    ) -> Result<T, OAuthError>
    where
        T: Send + 'static,
        F: for<'a> FnOnce(&'a mut KeptLogins) -> Changing<'a, T> + Send + 'static,
    {
        let held = self.hold(patience).await?;
        let logins = self.clone();
        let changing = async move { logins.changed(held, readiness, change).await };
        let changed = tokio::spawn(changing).await;
        changed.unwrap_or_else(|error| Err(cut_short(&error)))
    }

    /// Takes out what is kept, as the only one at work on it, and waits at most `patience` for others:
    /// it is deleted, whatever it is and whatever `parting` makes of it. Nothing, where there is
    /// nothing.
    ///
    /// `parting` sees what is kept, if that can be opened, and has to come to an end by itself.
    pub async fn take<T, F>(
        &self,
        patience: Duration,
        parting: F,
    ) -> Result<Option<Taken<T>>, OAuthError>
    where
        T: Send + 'static,
        F: FnOnce(KeptLogins) -> Parting<T> + Send + 'static,
    {
        if !self.is_there().await? {
            return Ok(None);
        }
        let held = self.hold(patience).await?;
        let logins = self.clone();
        let taking = tokio::spawn(async move { logins.taken(held, parting).await });
        let taken = taking.await;
        taken.unwrap_or_else(|error| Err(cut_short(&error)))
    }

    async fn taken<T, F>(&self, held: Held, parting: F) -> Result<Option<Taken<T>>, OAuthError>
    where
        F: FnOnce(KeptLogins) -> Parting<T>,
    {
        let taken = match self.standing().await {
            Ok(Standing::Nothing) => return Ok(None),
            Ok(Standing::Opened(logins, _)) => Taken::Opened(parting(*logins).await),
            Ok(Standing::Unusable(reason)) => Taken::Sealed(reason),
            // It may be opened another time or by another program, and is to go all the same.
            Err(error) => Taken::Sealed(error.to_string()),
        };
        let path = self.path.clone();
        on_thread(move || {
            let deleted = sealed_file::delete(&path);
            drop(held);
            deleted
        })
        .await?;
        Ok(Some(taken))
    }

    /// Whether there is a file, or anything else in its place.
    async fn is_there(&self) -> Result<bool, OAuthError> {
        let path = self.path.clone();
        on_thread(move || match path.symlink_metadata() {
            Ok(_) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(OAuthError::lasting(format!(
                "cannot look at the saved login {}: {error}",
                path.display()
            ))),
        })
        .await
    }

    async fn changed<T, F>(
        &self,
        held: Held,
        readiness: Readiness,
        change: F,
    ) -> Result<T, OAuthError>
    where
        F: for<'a> FnOnce(&'a mut KeptLogins) -> Changing<'a, T>,
    {
        let (before, known, is_unusable) = match self.standing().await? {
            Standing::Opened(logins, key) => (logins, Some(key), false),
            Standing::Nothing => (Box::default(), None, false),
            Standing::Unusable(_) => (Box::default(), None, true),
        };
        let ready = match (known, readiness) {
            (None, Readiness::OnceNeeded) => None,
            (known, _) => Some(self.ready(known, is_unusable).await?),
        };
        let mut after = before.clone();
        let changing = timeout(LONGEST, change(&mut after)).await;
        let answer = changing.unwrap_or_else(|_| {
            let reason = format!("the change of the saved login took longer than {LONGEST:?}");
            Err(OAuthError::passing(reason))
        })?;
        if after != before {
            let key = match ready {
                Some(key) => key,
                None => self.ready(None, is_unusable).await?,
            };
            let (path, hash) = (self.path.clone(), self.hash.clone());
            // The lock goes along, so that nobody else writes before us, whatever becomes of whoever
            // waits here. A program that ends waits until all changes have settled.
            on_thread(move || {
                let saved = save(&path, &hash, &key, &after, is_unusable);
                drop(held);
                saved
            })
            .await?;
        }
        Ok(answer)
    }

    /// Makes sure that something can be saved, and gets the key for it.
    async fn ready(&self, known: Option<Key>, is_unusable: bool) -> Result<Key, OAuthError> {
        let keys = &self.shared.keys;
        let key = match known {
            Some(key) => keys.again(key).await?,
            None => keys.get_or_make().await?,
        };
        self.rehearse(is_unusable).await?;
        Ok(key)
    }

    /// Waits until nobody else changes these logins.
    async fn hold(&self, patience: Duration) -> Result<Held, OAuthError> {
        let begun = Instant::now();
        let until = begun + patience;
        let turn = timeout_at(until, Arc::clone(&self.turn).lock_owned()).await;
        let turn = turn.map_err(|_| busy(begun))?;
        let state = self.shared.state.clone();
        let name = format!("{}/{}.lock", layout::TOKENS, self.hash);
        let path = on_thread(move || state.file(&name).map_err(OAuthError::lasting)).await?;
        let lock = file_lock(&path, until).await?;
        let change = Arc::clone(&self.shared.changes).read_owned();
        let change = timeout_at(until, change).await.map_err(|_| busy(begun))?;
        Ok(Held {
            _turn: turn,
            _lock: lock,
            _change: change,
        })
    }

    async fn standing(&self) -> Result<Standing, OAuthError> {
        let path = self.path.clone();
        let sealed = match on_thread(move || sealed_file::load(&path)).await? {
            Found::Nothing => return Ok(Standing::Nothing),
            Found::Unusable(reason) => return Ok(Standing::Unusable(reason)),
            Found::Sealed(sealed) => sealed,
        };
        let key = match self.shared.keys.find(&sealed.key, sealed.key_place).await {
            Ok(key) => key,
            Err(NoKey::Nowhere(reason)) => return Ok(Standing::Unusable(reason)),
            Err(NoKey::Elsewhere(reason)) => return Err(self.elsewhere(&reason)),
            Err(NoKey::Trouble(error)) => return Err(error),
        };
        Ok(match sealed.open(&key.master, &self.hash) {
            Ok(logins) => Standing::Opened(Box::new(logins), key),
            Err(reason) => Standing::Unusable(reason.to_owned()),
        })
    }

    /// A session that does not reach the keyring, such as one over ssh, must not cost a login that
    /// others use.
    fn elsewhere(&self, reason: &str) -> OAuthError {
        let server = shell_word(&self.server);
        OAuthError::passing(format!(
            "the saved login is sealed with a key in a keyring, and {reason}"
        ))
        .hint(format!(
            "use it where the keyring is, or run `openclaw mcp logout {server}` and log in here"
        ))
    }

    /// Makes sure that the file can be written.
    async fn rehearse(&self, is_unusable: bool) -> Result<(), OAuthError> {
        // What can't be used gives way, whatever it is.
        let path = if is_unusable {
            self.shared.path(PROBE)
        } else {
            self.path.clone()
        };
        on_thread(move || rehearse(&path, ROOM).map_err(|error| not_saved(&path, &error))).await
    }
}

fn save(
    path: &Path,
    hash: &str,
    key: &Key,
    logins: &KeptLogins,
    is_unusable: bool,
) -> Result<(), OAuthError> {
    // Nothing is kept where there is nothing to keep.
    if *logins == KeptLogins::default() {
        return sealed_file::delete(path);
    }
    let sealed = SealedLogins::seal(key, hash, logins)?;
    sealed_file::save(path, &sealed, is_unusable)
}
