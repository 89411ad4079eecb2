//! All servers, each once however many use it.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, timeout};

use super::server::{ManagedServer, ServerSetup};

/// How many servers are started at once.
const STARTING: usize = 8;
/// How long calls in flight have before the server that nobody wants any longer is stopped.
const DRAIN: Duration = Duration::from_secs(30);
/// How often it is looked whether they have ended.
const LOOK: Duration = Duration::from_millis(50);
/// How long stopping all of them may take: five seconds for those that ignore being asked, and one
/// for everything else.
const SHUTDOWN: Duration = Duration::from_secs(6);

/// A server that is wanted.
pub struct Wanted<K> {
    /// What makes it the same as another.
    pub key: K,
    /// How it is looked after.
    pub setup: ServerSetup,
    /// Whether it starts only when it is used.
    pub lazy: bool,
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
    servers: Mutex<BTreeMap<K, Arc<ManagedServer>>>,
    starting: Arc<Semaphore>,
    /// Starts and stops that are under way.
    work: Mutex<JoinSet<()>>,
}

impl<K: Clone + Ord> Default for Fleet<K> {
    fn default() -> Self {
        Self {
            servers: Mutex::default(),
            starting: Arc::new(Semaphore::new(STARTING)),
            work: Mutex::default(),
        }
    }
}

impl<K: Clone + Ord> Fleet<K> {
    /// Has exactly the servers that are wanted. Those that are there already are not touched; what
    /// is no longer wanted finishes its calls and is stopped. Nothing is waited for.
    pub fn reconcile(&self, wanted: Vec<Wanted<K>>) -> Reconciled {
        let mut result = Reconciled::default();
        let mut servers = self.servers();
        let mut before = std::mem::take(&mut *servers);
        for Wanted { key, setup, lazy } in wanted {
            if servers.contains_key(&key) {
                continue;
            }
            if let Some(server) = before.remove(&key) {
                servers.insert(key, server);
                result.kept += 1;
                continue;
            }
            let server = Arc::new(ManagedServer::in_turn(setup, self.starting.clone()));
            if !lazy {
                let starting = server.clone();
                self.begin(async move { starting.begin().await });
            }
            servers.insert(key, server);
            result.added += 1;
        }
        drop(servers);
        for server in before.into_values() {
            self.begin(drain(server));
            result.removed += 1;
        }
        result
    }

    /// The server with this key.
    pub fn get(&self, key: &K) -> Option<Arc<ManagedServer>> {
        self.servers().get(key).cloned()
    }

    /// The server with this key, which is added if it is not there, and rests then.
    pub fn get_or_add(&self, key: K, setup: impl FnOnce() -> ServerSetup) -> Arc<ManagedServer> {
        let mut servers = self.servers();
        let server = servers
            .entry(key)
            .or_insert_with(|| Arc::new(ManagedServer::in_turn(setup(), self.starting.clone())));
        Arc::clone(server)
    }

    /// Lets go of the server with this key; whoever has it can still stop it.
    pub fn remove(&self, key: &K) {
        self.servers().remove(key);
    }

    /// All servers.
    pub fn all(&self) -> Vec<(K, Arc<ManagedServer>)> {
        let servers = self.servers();
        servers
            .iter()
            .map(|(key, server)| (key.clone(), server.clone()))
            .collect()
    }

    /// Stops all servers at once, whatever they do, and waits for it.
    pub async fn shutdown(&self) {
        let servers = std::mem::take(&mut *self.servers());
        let mut stopping = std::mem::take(&mut *self.work());
        // Nothing more is started, and nobody waits for calls any longer.
        stopping.abort_all();
        for server in servers.into_values() {
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

    fn servers(&self) -> MutexGuard<'_, BTreeMap<K, Arc<ManagedServer>>> {
        self.servers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn work(&self) -> MutexGuard<'_, JoinSet<()>> {
        self.work.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Stops a server once its calls have ended.
async fn drain(server: Arc<ManagedServer>) {
    let until = Instant::now() + DRAIN;
    let is_busy = || {
        let connection = server.state().connection;
        connection.is_some_and(|connection| connection.diagnostics().in_flight > 0)
    };
    while is_busy() && Instant::now() < until {
        sleep(LOOK).await;
    }
    server.stop("it is no longer wanted").await;
}
