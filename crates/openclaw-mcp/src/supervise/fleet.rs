//! All servers, each once however many use it.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, timeout};

use super::catalog::Catalog;
use super::change_counter::ChangeCounter;
use super::server::{ManagedServer, ServerSetup};
use super::state::Status;

/// How many servers are started at once.
const STARTING: usize = 8;
/// How often it is looked whether they have ended.
const LOOK: Duration = Duration::from_millis(50);
/// How long stopping all of them may take: five seconds for those that ignore being asked, and a
/// little for ending them. Whoever stops us gives six seconds for everything.
const SHUTDOWN: Duration = Duration::from_millis(5_300);

/// A server that is wanted.
pub struct Wanted<K> {
    /// What makes it the same as another.
    pub key: K,
    /// How it is looked after.
    pub setup: ServerSetup,
    /// Whether it starts only when it is used.
    pub lazy: bool,
    /// Whether one more may run.
    pub has_room: bool,
    /// What it offers until it has said so itself.
    pub catalog: Arc<Catalog>,
}

/// What became of a wish.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reconciled {
    /// How many servers are new.
    pub added: usize,
    /// How many were there, and were not touched.
    pub kept: usize,
    /// How many are stopped.
    pub removed: usize,
}

/// All servers, by what makes them the same.
pub struct Fleet<K> {
    members: Arc<Mutex<Members<K>>>,
    starting: Arc<Semaphore>,
    /// Those of which servers there are, and of what they offer.
    changes: ChangeCounter,
    /// What is under way: starts, new settings, calls that are waited for.
    work: Mutex<JoinSet<()>>,
}

struct Members<K> {
    servers: BTreeMap<K, Arc<ManagedServer>>,
    /// Those that are no longer wanted and finish their calls.
    leaving: Vec<Arc<ManagedServer>>,
    /// Whether everything was stopped, for good.
    is_closed: bool,
}

impl<K: Clone + Ord> Default for Fleet<K> {
    fn default() -> Self {
        Self {
            members: Arc::new(Mutex::new(Members {
                servers: BTreeMap::new(),
                leaving: Vec::new(),
                is_closed: false,
            })),
            starting: Arc::new(Semaphore::new(STARTING)),
            changes: ChangeCounter::default(),
            work: Mutex::default(),
        }
    }
}

impl<K: Clone + Ord + Send + 'static> Fleet<K> {
    /// Has exactly the servers that are wanted. Those that are there already keep running, with
    /// the settings that hold now; what is no longer wanted finishes its calls and is stopped.
    /// Nothing is waited for.
    pub fn reconcile(&self, wanted: Vec<Wanted<K>>) -> Reconciled {
        let mut result = Reconciled::default();
        let mut members = self.members();
        if members.is_closed {
            return result;
        }
        let mut before = std::mem::take(&mut members.servers);
        for wanted in wanted {
            let Wanted {
                key,
                setup,
                lazy,
                has_room,
                ..
            } = wanted;
            if members.servers.contains_key(&key) {
                continue;
            }
            if let Some(server) = before.remove(&key) {
                let kept = server.clone();
                let status = server.status();
                // What went wrong may have been mended.
                let is_wanted = status == Status::Failed || (status == Status::Stopped && !lazy);
                let begins = is_wanted && has_room;
                if begins {
                    server.reserve();
                }
                // The order is that of the reloads, whichever task comes first.
                let number = server.number_settings();
                self.begin(async move {
                    kept.settings(number, setup).await;
                    match kept.status() {
                        Status::Failed if begins => drop(kept.start().await),
                        Status::Stopped if begins => kept.begin().await,
                        _ => {}
                    }
                });
                members.servers.insert(key, server);
                result.kept += 1;
                continue;
            }
            let turns = self.starting.clone();
            let changes = self.changes.clone();
            let server = ManagedServer::in_turn(setup, turns, wanted.catalog, changes);
            let server = Arc::new(server);
            if !lazy && has_room {
                server.reserve();
                let starting = server.clone();
                self.begin(async move { starting.begin().await });
            }
            members.servers.insert(key, server);
            result.added += 1;
        }
        for server in before.into_values() {
            server.leave();
            members.leaving.push(server.clone());
            let members = Arc::downgrade(&self.members);
            self.begin(async move {
                drain(&server).await;
                if let Some(members) = members.upgrade() {
                    let mut members = members.lock().unwrap_or_else(PoisonError::into_inner);
                    members.leaving.retain(|it| !Arc::ptr_eq(it, &server));
                }
            });
            result.removed += 1;
        }
        self.changes.note();
        result
    }

    /// The server with this key.
    pub fn get(&self, key: &K) -> Option<Arc<ManagedServer>> {
        self.members().servers.get(key).cloned()
    }

    /// The server with this key, which is added if it is not there, and rests then; none once
    /// everything was stopped.
    pub fn get_or_add(
        &self,
        key: K,
        setup: impl FnOnce() -> ServerSetup,
    ) -> Option<Arc<ManagedServer>> {
        let mut members = self.members();
        if members.is_closed {
            return None;
        }
        if let Some(server) = members.servers.get(&key) {
            return Some(Arc::clone(server));
        }
        let turns = self.starting.clone();
        let changes = self.changes.clone();
        let server = ManagedServer::in_turn(setup(), turns, Arc::default(), changes);
        let server = Arc::new(server);
        members.servers.insert(key, Arc::clone(&server));
        self.changes.note();
        Some(server)
    }

    /// Lets go of the server with this key; whoever has it can still stop it.
    pub fn remove(&self, key: &K) {
        let mut members = self.members();
        members.servers.remove(key);
        self.changes.note();
    }

    /// What changes about the servers.
    pub(crate) fn changes(&self) -> &ChangeCounter {
        &self.changes
    }

    /// All servers.
    pub fn all(&self) -> Vec<(K, Arc<ManagedServer>)> {
        let members = self.members();
        let servers = members.servers.iter();
        servers
            .map(|(key, server)| (key.clone(), server.clone()))
            .collect()
    }

    /// Stops all servers at once, whatever they do, and waits for it. None is started after this.
    pub async fn shutdown(&self) {
        let servers: Vec<_> = {
            let mut members = self.members();
            members.is_closed = true;
            let leaving = std::mem::take(&mut members.leaving);
            let servers = std::mem::take(&mut members.servers);
            self.changes.note();
            servers.into_values().chain(leaving).collect()
        };
        let mut stopping = std::mem::take(&mut *self.work());
        // Nothing more is started, and nobody waits for calls any longer.
        stopping.abort_all();
        for server in servers {
            stopping.spawn(async move { server.stop("everything is being stopped").await });
        }
        let stopped = async { while stopping.join_next().await.is_some() {} };
        if timeout(SHUTDOWN, stopped).await.is_err() {
            // Whatever is left ends with us: it is dropped, and so killed.
            tracing::warn!("some servers did not stop in time");
        }
    }

    fn begin(&self, work: impl Future<Output = ()> + Send + 'static) {
        let mut all = self.work();
        while all.try_join_next().is_some() {}
        all.spawn(work);
    }

    fn members(&self) -> MutexGuard<'_, Members<K>> {
        self.members.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn work(&self) -> MutexGuard<'_, JoinSet<()>> {
        self.work.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Stops a server once its calls have ended. Nobody finds it any more: new calls are for the one in its
/// place, and wait for that.
async fn drain(server: &ManagedServer) {
    let until = Instant::now() + server.drain();
    let is_busy = || {
        let connection = server.state().connection;
        connection.is_some_and(|connection| connection.diagnostics().in_flight > 0)
    };
    if server.state().connection.is_some() {
        // Whoever took the connection just before may not have said anything on it yet.
        sleep(LOOK).await;
    }
    while is_busy() && Instant::now() < until {
        sleep(LOOK).await;
    }
    server.stop("it is no longer wanted").await;
}
