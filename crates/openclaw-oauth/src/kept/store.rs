//! Where the logins of a state directory are kept.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex as PlainMutex, PoisonError};
use std::time::{Duration, SystemTime};

use openclaw_secret_stores::Keyring;
use openclaw_state::{StateDirectory, layout, rehearse};
use ring::digest::{Context, SHA256};
use tokio::sync::{Mutex, RwLock};
use tokio::time::timeout;
use url::Url;

use super::hexadecimal;
use super::key::Keys;
use super::remark::Remark;
use super::sealed_file::not_saved;
use super::server::ServerLogins;
use super::tidy;
use super::wait::{cut_short, on_thread};
use crate::error::OAuthError;

/// How many bytes of a hash tell one server from another.
const SERVER: usize = 16;
/// How much room a login takes, roughly, in bytes.
pub(super) const ROOM: usize = 16 * 1024;

/// How long a process that wants to end waits for changes: longer than a request for a token takes,
/// which is the only thing that could be lost.
const SETTLING: Duration = Duration::from_secs(35);

/// The name of a file that is tried to write, and never there.
pub(super) const PROBE: &str = "probe";

/// The logins of a state directory, sealed with one key.
///
/// It is cheap to clone. Several of them, in one process or in many, work on the same files without
/// losing anything.
#[derive(Clone)]
pub struct LoginStore {
    shared: Arc<Shared>,
}

pub(super) struct Shared {
    pub(super) state: StateDirectory,
    pub(super) keys: Keys,
    /// Held by each change that is under way.
    pub(super) changes: Arc<RwLock<()>>,
    /// Whose turn it is at each server, in this process.
    turns: PlainMutex<HashMap<String, Arc<Mutex<()>>>>,
}

impl LoginStore {
    /// The logins of a state directory. Nothing is read yet.
    pub fn new(state: StateDirectory, keyring: Keyring) -> Self {
        Self {
            shared: Arc::new(Shared {
                keys: Keys::new(state.clone(), keyring),
                state,
                changes: Arc::default(),
                turns: PlainMutex::default(),
            }),
        }
    }

    /// Makes sure that a login can be kept, and says what a person should know about how.
    ///
    /// It is for before a login: tokens that can't be kept are lost. The key is made if there is none.
    /// What processes left behind that were killed is deleted.
    pub async fn probe(&self) -> Result<Vec<Remark>, OAuthError> {
        let shared = Arc::clone(&self.shared);
        // Not given up half-way: a keyring may store a key that nobody waits for any more, in the
        // place of the one that somebody else has made meanwhile.
        let probing = tokio::spawn(async move {
            let state = shared.state.clone();
            on_thread(move || {
                let path = state.file(&format!("{}/{PROBE}", layout::TOKENS));
                let path = path.map_err(OAuthError::lasting)?;
                if let Some(directory) = path.parent() {
                    tidy::remove_left_behind(directory, SystemTime::now());
                }
                rehearse(&path, ROOM).map_err(|error| not_saved(&path, &error))
            })
            .await?;
            let key = shared.keys.get_or_make().await?;
            Ok(shared.keys.remark(&key).await.into_iter().collect())
        });
        let probed = probing.await;
        probed.unwrap_or_else(|error| Err(cut_short(&error)))
    }

    /// What a person should know about how logins are kept, as far as the disk tells.
    pub fn remark(&self) -> Option<Remark> {
        let path = self.shared.state.path().join(layout::TOKENS_KEY);
        path.exists()
            .then_some(Remark::KeyInFile { path, reason: None })
    }

    /// The logins to a server: to this name at this address.
    pub fn of(&self, server: &str, url: &Url) -> ServerLogins {
        let hash = hash(server, url);
        let turns = self.shared.turns.lock();
        let mut turns = turns.unwrap_or_else(PoisonError::into_inner);
        let turn = Arc::clone(turns.entry(hash.clone()).or_default());
        ServerLogins::new(Arc::clone(&self.shared), server, hash, turn)
    }

    /// Waits until no change is under way, as long as that is worth it. A process that ends before may
    /// lose what an authorization server has just granted.
    pub async fn settled(&self) {
        let _ = timeout(SETTLING, self.shared.changes.write()).await;
    }
}

impl Shared {
    /// The path of a file for logins.
    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.state.path().join(layout::TOKENS).join(name)
    }
}

/// What tells a server from others: another address may be another machine, and what one was granted
/// is none of the other's business.
fn hash(server: &str, url: &Url) -> String {
    let mut url = url.clone();
    url.set_fragment(None);
    let mut context = Context::new(&SHA256);
    context.update(server.as_bytes());
    context.update(b"\0");
    context.update(url.as_str().as_bytes());
    hexadecimal::encode(&context.finish().as_ref()[..SERVER])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_addresses_tell_servers_apart_and_spellings_do_not() {
        let of = |server: &str, url: &str| hash(server, &url.parse().unwrap());
        let one = of("docs", "https://example.com/mcp");
        assert_eq!(one.len(), 32);
        assert_eq!(one, of("docs", "HTTPS://Example.COM:443/a/../mcp#x"));
        for other in [
            of("Docs", "https://example.com/mcp"),
            of("docs", "https://example.com/mcp/"),
            of("docs", "https://example.com/mcp?a=b"),
            of("docs", "https://example.com:444/mcp"),
            of("docs", "http://example.com/mcp"),
        ] {
            assert_ne!(one, other);
        }
        // What is kept is found again by the next release.
        assert_eq!(one, "d2e4eb009c45c8dbd00275059dda7023");
    }
}
