//! A server that is looked after.

use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use openclaw_mcp_client::{Connection, Connector, Target};
use tokio::sync::{Semaphore, mpsc, watch};
use tokio::task::JoinHandle;

use super::pace::Pace;
use super::state::{ServerState, Status};
use super::task::{Command, Task};

/// How many commands may wait.
const COMMANDS: usize = 16;

/// Why a definition can't be turned into something to connect to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unresolved(pub String);

/// A target that is still to come.
pub type PendingTarget<'a> = Pin<Box<dyn Future<Output = Result<Target, Unresolved>> + Send + 'a>>;

/// Makes what is connected to, anew for every start: secrets may have changed.
pub trait TargetSource: Send + Sync {
    /// The target as of now.
    fn target(&self) -> PendingTarget<'_>;
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
}

/// A server that is looked after. Dropping it ends the server.
pub struct ManagedServer {
    state: watch::Receiver<ServerState>,
    commands: mpsc::Sender<Command>,
    task: JoinHandle<()>,
}

impl ManagedServer {
    /// Looks after a server, which is not started yet.
    pub fn new(setup: ServerSetup) -> Self {
        Self::in_turn(setup, Arc::new(Semaphore::new(1)))
    }

    /// The same, connecting only when it is its turn.
    pub(super) fn in_turn(setup: ServerSetup, turns: Arc<Semaphore>) -> Self {
        let (commands, waiting) = mpsc::channel(COMMANDS);
        let (publish, state) = watch::channel(ServerState::default());
        let task = tokio::spawn(Task::new(setup, turns, publish, waiting).run());
        Self {
            state,
            commands,
            task,
        }
    }

    /// How it is.
    pub fn state(&self) -> ServerState {
        self.state.borrow().clone()
    }

    /// How it is, now and later.
    pub fn watch(&self) -> watch::Receiver<ServerState> {
        self.state.clone()
    }

    /// Starts it if it does not run, and waits until it is ready or will not be so soon.
    pub async fn start(&self) -> ServerState {
        self.ask(Command::Start).await;
        self.settled().await
    }

    /// Starts it if it does not run, and does not wait until it is ready.
    pub async fn begin(&self) {
        self.ask(Command::Start).await;
    }

    /// Does what [`ManagedServer::refresh`] does, and waits until that is done.
    pub async fn refresh_and_wait(&self) {
        let before = self.state.borrow().listings;
        self.refresh().await;
        let mut state = self.state.clone();
        let is_done = |state: &ServerState| match state.status {
            Status::Connecting => false,
            Status::Ready => state.listings > before,
            _ => true,
        };
        let _ = state.wait_for(is_done).await;
    }

    /// Starts it if it does not run; if it does, lists again what it offers.
    pub async fn refresh(&self) {
        self.ask(Command::Refresh).await;
    }

    /// Stops it until somebody asks for it, and waits until it is gone.
    pub async fn stop(&self, reason: &str) {
        self.ask(Command::Stop(reason.into())).await;
        let mut state = self.state.clone();
        let is_gone = |state: &ServerState| state.status == Status::Stopped;
        let _ = state.wait_for(is_gone).await;
    }

    /// The connection to make a call on, and word that it is used; none if it is not ready.
    pub fn connection(&self) -> Option<Arc<Connection>> {
        let connection = self.state.borrow().connection.clone();
        if connection.is_some() {
            // If there is no room, it is known to be used.
            let _ = self.commands.try_send(Command::Used);
        }
        connection
    }

    /// Waits until it is neither being started nor about to be.
    async fn settled(&self) -> ServerState {
        let mut state = self.state.clone();
        let is_settled = |state: &ServerState| state.status != Status::Connecting;
        match state.wait_for(is_settled).await {
            Ok(state) => state.clone(),
            Err(_) => self.state(),
        }
    }

    /// Asks the task to do something, and waits until it has taken note.
    async fn ask(&self, command: Command) {
        let (noted, taken) = tokio::sync::oneshot::channel();
        let command = Command::Noted(Box::new(command), noted);
        if self.commands.send(command).await.is_ok() {
            let _ = taken.await;
        }
    }
}

impl Drop for ManagedServer {
    fn drop(&mut self) {
        self.task.abort();
    }
}
