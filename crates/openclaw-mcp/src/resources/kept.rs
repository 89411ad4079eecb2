//! Resources that were read before, usable for as long as their servers tell of changes.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use openclaw_mcp_client::{Connection, ResourceVersion};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout};

use super::contents::Contents;
use crate::servers::InstanceKey;

/// How many resources something is remembered of.
const ENTRIES: usize = 2_000;
/// How many bytes of contents are kept in all.
const BYTES: usize = 32 * 1024 * 1024;
/// How many are read at once, for all turns together: each may be large.
const AT_ONCE: usize = 8;
/// For how long nobody waits for a resource that took too long, or was too large.
const REST: Duration = Duration::from_mins(1);
/// How long a server has to note that we no longer want to hear of a resource.
const PARTING: Duration = Duration::from_secs(2);

/// A resource of a running server.
pub(super) type ResourceKey = (InstanceKey, String);

/// Resources that were read before.
pub(crate) struct KeptResources {
    /// Keeps them from being read all at once, whoever wants them.
    pub(super) turns: Semaphore,
    entries: Mutex<BTreeMap<ResourceKey, Entry>>,
    /// Servers that are being told that we no longer want to hear of something.
    parting: Mutex<JoinSet<()>>,
}

impl Default for KeptResources {
    fn default() -> Self {
        Self {
            turns: Semaphore::new(AT_ONCE),
            entries: Mutex::default(),
            parting: Mutex::default(),
        }
    }
}

/// Why nobody waits for a resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rest {
    /// It took too long.
    Slow,
    /// There was more of it than can be used.
    Large,
}

/// What is remembered of a resource.
struct Entry {
    /// The connection that the rest was learned on: another one is another server.
    connection: Weak<Connection>,
    watch: Watch,
    contents: Option<(ResourceVersion, Arc<Contents>)>,
    rests_until: Option<(Instant, Rest)>,
}

/// What a server said to telling of changes of a resource. Whether its word arrives only the
/// connection knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Watch {
    /// It was not asked to.
    Unasked,
    /// It agreed.
    Agreed,
    /// It did not.
    Refused,
}

/// What there is to be done for a resource.
pub(super) enum Look {
    /// Nothing: it is still as it was.
    Kept(Arc<Contents>),
    /// Nothing: for this reason, not long ago.
    Resting(Rest),
    /// It has to be read.
    Read(Watch),
}

impl KeptResources {
    /// Looks whether a resource has to be read.
    pub(super) fn look(&self, key: &ResourceKey, connection: &Arc<Connection>) -> Look {
        let mut entries = self.lock();
        if !entries.contains_key(key) {
            if entries.len() >= ENTRIES {
                entries.retain(|_, entry| entry.connection.strong_count() > 0);
            }
            if entries.len() >= ENTRIES {
                return Look::Read(Watch::Refused);
            }
            entries.insert(key.clone(), Entry::new(connection));
        }
        let Some(entry) = entries.get_mut(key) else {
            return Look::Read(Watch::Refused);
        };
        if let Some((until, rest)) = entry.rests_until
            && Instant::now() < until
        {
            return Look::Resting(rest);
        }
        if !entry.is_of(connection) {
            *entry = Entry::new(connection);
        }
        match &entry.contents {
            Some((version, contents)) if connection.watched_version(&key.1) == Some(*version) => {
                Look::Kept(Arc::clone(contents))
            }
            _ => Look::Read(entry.watch),
        }
    }

    /// Notes what a server said to telling of changes of a resource.
    pub(super) fn watched(&self, key: &ResourceKey, connection: &Arc<Connection>, watch: Watch) {
        if let Some(entry) = self.lock().get_mut(key)
            && entry.is_of(connection)
        {
            entry.watch = watch;
        }
    }

    /// Keeps what was read, if we are told when that is out of date. The version is the one from
    /// before it was read: it may have changed meanwhile.
    pub(super) fn keep(
        &self,
        key: &ResourceKey,
        connection: &Arc<Connection>,
        version: Option<ResourceVersion>,
        contents: &Arc<Contents>,
    ) {
        let mut entries = self.lock();
        if let Some(entry) = entries.get_mut(key) {
            entry.contents = None;
            entry.rests_until = None;
        }
        let kept = entries.values().filter_map(|it| it.contents.as_ref());
        let bytes: usize = kept.map(|(_, contents)| contents.bytes()).sum();
        let has_room = bytes.saturating_add(contents.bytes()) <= BYTES;
        if let Some(entry) = entries.get_mut(key)
            && entry.is_of(connection)
            && let Some(version) = version
            && has_room
        {
            entry.contents = Some((version, Arc::clone(contents)));
        }
    }

    /// Notes that nobody waits for a resource for a while.
    pub(super) fn rest(&self, key: &ResourceKey, reason: Rest) {
        if let Some(entry) = self.lock().get_mut(key) {
            entry.rests_until = Some((Instant::now() + REST, reason));
            entry.contents = None;
        }
    }

    /// Forgets what nobody wants any longer, and what came from servers that are gone. Servers that
    /// tell of changes are told that they need not.
    pub(crate) fn retain(&self, is_wanted: impl Fn(&InstanceKey, &str) -> bool) {
        let mut gone = Vec::new();
        self.lock().retain(|(instance, uri), entry| {
            let Some(connection) = entry.connection.upgrade() else {
                // That nobody waits for it may be all that is remembered.
                return entry
                    .rests_until
                    .is_some_and(|(until, _)| Instant::now() < until);
            };
            let is_wanted = is_wanted(instance, uri);
            if !is_wanted && entry.watch == Watch::Agreed {
                gone.push((connection, uri.clone()));
            }
            is_wanted
        });
        let mut parting = self.parting.lock().unwrap_or_else(PoisonError::into_inner);
        while parting.try_join_next().is_some() {}
        for (connection, uri) in gone {
            parting.spawn(async move {
                let _ = timeout(PARTING, connection.unsubscribe(&uri)).await;
            });
        }
    }

    /// Forgets everything; the servers are gone.
    pub(crate) fn clear(&self) {
        self.lock().clear();
        let mut parting = self.parting.lock().unwrap_or_else(PoisonError::into_inner);
        parting.abort_all();
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<ResourceKey, Entry>> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Entry {
    fn new(connection: &Arc<Connection>) -> Self {
        Self {
            connection: Arc::downgrade(connection),
            watch: Watch::Unasked,
            contents: None,
            rests_until: None,
        }
    }

    fn is_of(&self, connection: &Arc<Connection>) -> bool {
        std::ptr::eq(self.connection.as_ptr(), Arc::as_ptr(connection))
    }
}
