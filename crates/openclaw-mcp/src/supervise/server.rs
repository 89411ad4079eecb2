//! A server that is looked after.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use openclaw_mcp_client::{Connection, Connector, Target};
use openclaw_secrets::Redactor;
use tokio::sync::{Semaphore, mpsc, oneshot, watch};
use tokio::task::JoinHandle;
use tokio::time::{Instant, timeout};

use super::catalog::Catalog;
use super::change_counter::ChangeCounter;
use super::pace::Pace;
use super::state::{ServerState, Status};
use super::task::{Asked, Command, Task};

/// After how many losses in a row a server is not back within seconds.
const BACK_SOON: u32 = 2;
/// How long a server that was lost is waited for.
const BACK_WITHIN: Duration = Duration::from_secs(5);
/// How many commands may wait.
const COMMANDS: usize = 16;

/// Why a definition can't be turned into something to connect to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unresolved {
    /// The reason, in words.
    pub reason: String,
    /// What it takes for it to be gone.
    pub remedy: Remedy,
}

/// What it takes for something to be resolved after all; the more it takes, the later it stands here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Remedy {
    /// That this machine, or this process, has again what it has too little of.
    Room,
    /// That a store of secrets answers again.
    Answer,
    /// That whoever is asked for a secret gives it: a program, or a person at a window. They are not asked for ever.
    Consent,
    /// That somebody changes something.
    Change,
}

impl Unresolved {
    /// A reason that stays until somebody does something about it.
    pub fn lasting(reason: impl Into<String>) -> Self {
        Self {
            reason: reason.into(),
            remedy: Remedy::Change,
        }
    }
}

/// A target that is still to come.
pub type PendingTarget<'a> = Pin<Box<dyn Future<Output = Result<Target, Unresolved>> + Send + 'a>>;

/// Makes what is connected to, anew for every start: secrets may have changed.
pub trait TargetSource: Send + Sync {
    /// The target as of now.
    fn target(&self) -> PendingTarget<'_>;

    /// The login that the target shows, if it may need one.
    fn login(&self) -> Option<Arc<dyn LoginWatch>> {
        None
    }
}

/// Tells how a login is.
pub trait LoginWatch: Send + Sync {
    /// Waits until a person has to log in, and says why.
    fn needed(&self) -> Pin<Box<dyn Future<Output = String> + Send + '_>>;

    /// Waits until the login is another than when it was last used, by whomever it was changed.
    fn changed(&self) -> Pin<Box<dyn Future<Output = ()> + Send + '_>>;
}

/// Hears how a server is, and must not wait for anything.
pub trait StateListener: Send + Sync {
    /// It is in another state than before, or offers something else.
    fn changed(&self, state: &ServerState);

    /// It was lost and is started again.
    fn restarting(&self);
}

/// How a server is looked after.
pub struct ServerSetup {
    /// Its name, for the log.
    pub name: String,
    /// What is connected to.
    pub source: Arc<dyn TargetSource>,
    /// What connects.
    pub connector: Arc<Connector>,
    /// How fast it is started again.
    pub pace: Pace,
    /// After how long without use it is stopped, if at all.
    pub idle_timeout: Option<Duration>,
    /// How often what it offers is listed again, if at all.
    pub discovery_interval: Option<Duration>,
    /// What knows the credentials that must not come back in what it offers.
    pub redactor: Redactor,
    /// How long its calls have to end when it is no longer wanted.
    pub drain: Duration,
    /// Who hears how it is, if anybody does.
    pub listener: Option<Arc<dyn StateListener>>,
}

/// A server that is looked after. Dropping it ends the server.
pub struct ManagedServer {
    state: watch::Receiver<ServerState>,
    commands: mpsc::Sender<Asked>,
    shared: Arc<Shared>,
    drain: Duration,
    task: JoinHandle<()>,
}

/// What the task and those who use the server both see at any time.
pub(super) struct Shared {
    base: Instant,
    /// When it was last used, in milliseconds since `base`.
    used: AtomicU64,
    /// Until when somebody who is about to start it has a place for it, in the same way.
    reserved: AtomicU64,
    /// Whether it is no longer wanted, and only finishes its calls.
    leaving: AtomicBool,
    /// The number of the settings that were asked for last; those that it began with have none.
    settings: AtomicU64,
}

/// How long a place is kept for somebody who is about to start a server, in milliseconds.
const RESERVED: u64 = 10_000;

impl Shared {
    fn new() -> Arc<Self> {
        Arc::new(Self {
            base: Instant::now(),
            used: AtomicU64::new(0),
            reserved: AtomicU64::new(0),
            leaving: AtomicBool::new(false),
            settings: AtomicU64::new(0),
        })
    }

    /// How long it has been there, in milliseconds.
    fn age(&self) -> u64 {
        u64::try_from(self.base.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    fn use_now(&self) {
        self.used.store(self.age(), Ordering::Relaxed);
    }

    /// When the server was last used.
    pub(super) fn used_at(&self) -> Instant {
        self.base + Duration::from_millis(self.used.load(Ordering::Relaxed))
    }

    /// Whether somebody is about to start it.
    fn is_reserved(&self) -> bool {
        self.age() < self.reserved.load(Ordering::Acquire)
    }

    /// Whether it only finishes its calls.
    pub(super) fn is_leaving(&self) -> bool {
        self.leaving.load(Ordering::Acquire)
    }

    /// Notes that whoever was about to start it has asked for that.
    pub(super) fn asked(&self) {
        self.reserved.store(0, Ordering::Release);
    }
}

impl ManagedServer {
    /// Looks after a server, which is not started yet.
    pub fn new(setup: ServerSetup) -> Self {
        let turns = Arc::new(Semaphore::new(1));
        Self::in_turn(setup, turns, Arc::default(), ChangeCounter::default())
    }

    /// The same, connecting only when it is its turn. What it offers until it has said so itself
    /// is the catalog; when it offers something else, that is noted among the changes.
    pub(super) fn in_turn(
        setup: ServerSetup,
        turns: Arc<Semaphore>,
        catalog: Arc<Catalog>,
        changes: ChangeCounter,
    ) -> Self {
        let (commands, waiting) = mpsc::channel(COMMANDS);
        let (publish, state) = watch::channel(ServerState {
            catalog,
            ..ServerState::default()
        });
        let shared = Shared::new();
        let drain = setup.drain;
        let task = Task::new(setup, turns, publish, waiting, Arc::clone(&shared), changes);
        Self {
            state,
            commands,
            shared,
            drain,
            task: tokio::spawn(task.run()),
        }
    }

    /// How it is.
    pub fn state(&self) -> ServerState {
        self.state.borrow().clone()
    }

    /// How it is, in a word.
    pub fn status(&self) -> Status {
        self.state.borrow().status
    }

    /// How it is, now and later.
    pub fn watch(&self) -> watch::Receiver<ServerState> {
        self.state.clone()
    }

    /// Starts it if it rests although nothing is wrong with it, and waits until it is ready or
    /// will not be so soon: one that was ready and was lost comes back within seconds, unless it is
    /// lost again and again. One that has failed is left alone.
    pub async fn need(&self) -> ServerState {
        self.ask(Command::Need).await;
        let waiting = self.wait_for(|state| match state.status {
            Status::Connecting => false,
            Status::Restarting => !state.was_ready || state.setbacks() > BACK_SOON,
            _ => true,
        });
        let before = self.state();
        if before.was_ready && before.setbacks() > 0 {
            // It may hang now, and whoever needs it can do without: it is told so.
            let back = timeout(BACK_WITHIN, waiting).await;
            return back.unwrap_or_else(|_| self.state());
        }
        waiting.await
    }

    /// Does what [`ManagedServer::need`] does, and does not wait until it is ready.
    pub async fn begin(&self) {
        self.ask(Command::Need).await;
    }

    /// Starts it if it does not run, whatever went wrong before, and waits until it is ready or
    /// will not be so soon.
    pub async fn start(&self) -> ServerState {
        self.ask(Command::Start).await;
        self.settled().await
    }

    /// Starts it; if it runs, ends it first. Waits as [`ManagedServer::start`] does.
    pub async fn reconnect(&self) -> ServerState {
        self.ask(Command::Reconnect).await;
        self.settled().await
    }

    /// Starts it if it does not run; if it does, lists again what it offers. Waits until that is
    /// done.
    pub async fn refresh(&self) -> ServerState {
        self.ask(Command::Refresh).await;
        self.settled().await
    }

    /// Lists again what it offers, if it runs.
    pub async fn relist(&self) {
        self.ask(Command::Relist).await;
    }

    /// Stops it until somebody asks for it, and waits until it is gone.
    pub async fn stop(&self, reason: &str) {
        self.ask(Command::Stop(reason.into())).await;
    }

    /// Stops it until somebody asks for it by name, and waits until it is gone.
    pub async fn hold(&self, reason: &str) {
        self.ask(Command::Hold(reason.into())).await;
    }

    /// A number for settings that hold from now on, higher than all before it.
    pub(super) fn number_settings(&self) -> u64 {
        self.shared.settings.fetch_add(1, Ordering::AcqRel) + 1
    }

    /// Has it looked after in another way from now on, unless it has settings with a higher number; what
    /// is connected to stays until the next start.
    pub(super) async fn settings(&self, number: u64, setup: ServerSetup) {
        self.ask(Command::Settings(number, Box::new(setup))).await;
    }

    /// The connection to make a call on, and word that it is used; none if it is not ready.
    pub fn connection(&self) -> Option<Arc<Connection>> {
        let connection = self.state.borrow().connection.clone();
        if connection.is_some() {
            self.shared.use_now();
        }
        connection
    }

    /// Notes that it is no longer wanted: from now on nobody hears how it is.
    pub(super) fn leave(&self) {
        self.shared.leaving.store(true, Ordering::Release);
    }

    /// How long its calls have to end when it is no longer wanted.
    pub(super) fn drain(&self) -> Duration {
        self.drain
    }

    /// Counts it among those that run, until it is asked to.
    pub(crate) fn reserve(&self) {
        let until = self.shared.age().saturating_add(RESERVED);
        self.shared.reserved.store(until, Ordering::Release);
    }

    /// Whether it counts among those that run.
    pub(crate) fn takes_a_place(&self) -> bool {
        let runs = match self.status() {
            Status::Connecting | Status::Ready | Status::Restarting => true,
            Status::NeedsAuth | Status::Failed | Status::Stopped => false,
        };
        runs || self.shared.is_reserved()
    }

    /// Waits until it is neither being started nor about to be.
    async fn settled(&self) -> ServerState {
        self.wait_for(|state| state.status != Status::Connecting)
            .await
    }

    async fn wait_for(&self, is_so: impl Fn(&ServerState) -> bool) -> ServerState {
        let mut state = self.state.clone();
        match state.wait_for(is_so).await {
            Ok(state) => state.clone(),
            Err(_) => self.state(),
        }
    }

    /// Asks the task to do something, and waits until it has taken note; until it is done, if it
    /// is to stop.
    async fn ask(&self, command: Command) {
        let (done, is_done) = oneshot::channel();
        if self.commands.send(Asked { command, done }).await.is_ok() {
            let _ = is_done.await;
        }
    }
}

impl Drop for ManagedServer {
    fn drop(&mut self) {
        self.task.abort();
    }
}

#[cfg(test)]
mod tests;
