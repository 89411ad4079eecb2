//! The life of a server: one loop, in which every state has its place.

use std::sync::Arc;
use std::time::Duration;

use openclaw_mcp_client::{ConnectError, Connection, RequestError};
use tokio::sync::{Semaphore, mpsc, oneshot, watch};
use tokio::time::{sleep, sleep_until};

use super::catalog::{self, Catalog};
use super::server::{ServerSetup, Unresolved};
use super::state::{ServerState, Status};
use super::watch::{Watch, everything, pending};

/// Something that is asked of a server's task.
pub(super) enum Command {
    /// Run, if you don't.
    Start,
    /// Run, or list again what you offer.
    Refresh,
    /// Don't run.
    Stop(Arc<str>),
    /// You were used.
    Used,
    /// The same, with word that it was noted.
    Noted(Box<Self>, oneshot::Sender<()>),
}

/// What comes next.
enum Next {
    /// Connect now.
    Connect,
    /// Connect after a while.
    Wait(Duration),
    /// Look after a connection.
    Hold(Arc<Connection>),
    /// Do nothing until somebody asks.
    Rest,
}

/// How a connection came to its end.
enum End {
    /// It was lost.
    Lost(String),
    /// Nobody wants it any longer.
    Unwanted(Arc<str>),
}

/// The task that looks after one server.
pub(super) struct Task {
    setup: ServerSetup,
    /// Taken while connecting, so that not all do at once.
    turns: Arc<Semaphore>,
    publish: watch::Sender<ServerState>,
    commands: mpsc::Receiver<Command>,
    /// How often in a row it failed.
    failures: u32,
}

impl Task {
    pub(super) fn new(
        setup: ServerSetup,
        turns: Arc<Semaphore>,
        publish: watch::Sender<ServerState>,
        commands: mpsc::Receiver<Command>,
    ) -> Self {
        Self {
            setup,
            turns,
            publish,
            commands,
            failures: 0,
        }
    }

    /// Looks after the server until nobody can ask for it any more.
    pub(super) async fn run(mut self) {
        let mut next = Next::Rest;
        loop {
            next = match next {
                Next::Rest => match self.commands.recv().await {
                    Some(command) => self.begin(command, Next::Rest),
                    None => return,
                },
                Next::Wait(pause) => tokio::select! {
                    () = sleep(pause) => {
                        tracing::info!(server = self.setup.name, "server connecting again");
                        Next::Connect
                    }
                    command = self.commands.recv() => match command {
                        Some(command) => self.begin(command, Next::Wait(pause)),
                        None => return,
                    },
                },
                Next::Connect => match self.connect().await {
                    Some(next) => next,
                    None => return,
                },
                Next::Hold(connection) => match self.hold(&connection).await {
                    Some(End::Lost(reason)) => {
                        let last_words = connection.diagnostics().stderr;
                        self.update(|state| state.stderr = last_words.into());
                        connection.close().await;
                        self.failed(&reason)
                    }
                    Some(End::Unwanted(reason)) => {
                        self.update(|state| state.connection = None);
                        connection.close().await;
                        self.rest(Status::Stopped, &reason)
                    }
                    None => {
                        connection.close().await;
                        return;
                    }
                },
            };
        }
    }

    /// Takes note of a command while there is no connection.
    fn begin(&mut self, command: Command, otherwise: Next) -> Next {
        match command {
            Command::Start | Command::Refresh => {
                // Whoever asks by name starts a new count.
                self.failures = 0;
                tracing::info!(server = self.setup.name, "server connecting");
                self.update(|state| {
                    state.status = Status::Connecting;
                    state.restarts = 0;
                    state.failures = 0;
                    state.reason = None;
                });
                Next::Connect
            }
            Command::Stop(reason) => self.rest(Status::Stopped, &reason),
            Command::Used => otherwise,
            Command::Noted(command, noted) => {
                let next = self.begin(*command, otherwise);
                let _ = noted.send(());
                next
            }
        }
    }

    /// Connects, unless somebody does not want that any longer; nothing if nobody is left.
    async fn connect(&mut self) -> Option<Next> {
        let setup = (
            self.setup.source.clone(),
            self.setup.connector.clone(),
            self.setup.name.clone(),
        );
        let turns = Arc::clone(&self.turns);
        let connecting = async move {
            let (source, connector, name) = setup;
            // An error would mean that the semaphore is closed, which it never is.
            let _turn = turns.acquire().await;
            let target = source.target().await.map_err(Trouble::Unresolved)?;
            let connection = connector.connect(&target).await.map_err(Trouble::Connect)?;
            match catalog::list(&name, &connection, &everything(), &Catalog::default()).await {
                Ok(catalog) => Ok((connection, catalog)),
                Err(error) => {
                    connection.close().await;
                    Err(Trouble::Lost(error))
                }
            }
        };
        tokio::pin!(connecting);
        let connected = loop {
            tokio::select! {
                biased;
                connected = &mut connecting => break connected,
                command = self.commands.recv() => match innermost(command?) {
                    (Command::Stop(reason), noted) => {
                        let next = self.rest(Status::Stopped, &reason);
                        drop(noted);
                        return Some(next);
                    }
                    // It is what is being done.
                    (_, noted) => drop(noted),
                },
            }
        };
        Some(match connected {
            Ok((connection, catalog)) => self.ready(connection, catalog),
            Err(trouble) => self.not_connected(trouble),
        })
    }

    fn ready(&mut self, connection: Connection, catalog: Catalog) -> Next {
        let connection = Arc::new(connection);
        tracing::info!(
            server = self.setup.name,
            tools = catalog.tools.len(),
            "server ready"
        );
        let failures = self.failures;
        self.update(|state| {
            state.status = Status::Ready;
            state.connection = Some(connection.clone());
            state.catalog = Arc::new(catalog);
            state.listings += 1;
            state.failures = failures;
            state.reason = None;
        });
        Next::Hold(connection)
    }

    fn not_connected(&mut self, trouble: Trouble) -> Next {
        match trouble {
            Trouble::Unresolved(Unresolved(reason)) => self.rest(Status::Failed, &reason),
            Trouble::Connect(error @ ConnectError::Unauthorized(_)) => {
                self.rest(Status::NeedsAuth, &error.to_string())
            }
            Trouble::Connect(error) if error.is_permanent() => {
                self.rest(Status::Failed, &error.to_string())
            }
            Trouble::Connect(error) => self.failed(&error.to_string()),
            Trouble::Lost(error) => self.failed(&error.to_string()),
        }
    }

    /// Notes a failure; the result says whether it is tried again.
    fn failed(&mut self, reason: &str) -> Next {
        self.failures = self.failures.saturating_add(1);
        let failures = self.failures;
        let Some(pause) = self.setup.pace.wait(failures) else {
            return self.rest(Status::Failed, reason);
        };
        tracing::warn!(
            server = self.setup.name,
            failures,
            "server lost, next start in {pause:?}: {reason}"
        );
        self.update(|state| {
            state.status = Status::Restarting;
            state.connection = None;
            state.restarts = state.restarts.saturating_add(1);
            state.failures = failures;
            state.reason = Some(reason.into());
        });
        Next::Wait(pause)
    }

    /// Stays as it is until somebody asks.
    fn rest(&mut self, status: Status, reason: &str) -> Next {
        tracing::info!(
            server = self.setup.name,
            "server {}: {reason}",
            status.as_str()
        );
        let failures = self.failures;
        self.update(|state| {
            state.status = status;
            state.connection = None;
            state.failures = failures;
            state.reason = Some(reason.into());
        });
        Next::Rest
    }

    /// Looks after a connection until it ends; nothing if nobody is left.
    async fn hold(&mut self, connection: &Arc<Connection>) -> Option<End> {
        let mut watch = Watch::new(&self.setup);
        loop {
            if let Some(wanted) = watch.next_list() {
                let before = self.publish.borrow().catalog.clone();
                let (name, connection) = (self.setup.name.clone(), connection.clone());
                watch.listing = Some(Box::pin(async move {
                    catalog::list(&name, &connection, &wanted, &before).await
                }));
            }
            let due = watch.due();
            tokio::select! {
                biased;
                reason = connection.closed() => return Some(End::Lost(reason.to_string())),
                command = self.commands.recv() => match innermost(command?) {
                    (Command::Stop(reason), _noted) => return Some(End::Unwanted(reason)),
                    (Command::Refresh, _noted) => watch.want(&everything()),
                    (Command::Used, _noted) => watch.used(),
                    _ => {}
                },
                listed = pending(&mut watch.listing) => {
                    watch.listing = None;
                    match listed {
                        Ok(catalog) => self.listed(catalog),
                        Err(error) => return Some(End::Lost(error.to_string())),
                    }
                }
                beat = pending(&mut watch.beating) => {
                    watch.beating = None;
                    if let Some(error) = watch.beaten(beat) {
                        let reason = format!("it gives no sign of life: {error}");
                        return Some(End::Lost(reason));
                    }
                }
                changes = connection.changes() => watch.want(&changes),
                () = sleep_until(due.discovery) => watch.want(&everything()),
                () = sleep_until(due.healthy), if self.failures > 0 => {
                    self.failures = 0;
                    self.update(|state| state.failures = 0);
                }
                () = sleep_until(due.beat) => {
                    let is_used = connection.diagnostics().in_flight > 0;
                    watch.beat(connection, is_used);
                }
                () = sleep_until(due.idle) => {
                    if connection.diagnostics().in_flight == 0 {
                        return Some(End::Unwanted("it was not used".into()));
                    }
                    watch.used();
                }
            }
        }
    }

    fn listed(&mut self, catalog: Catalog) {
        let is_new = catalog != *self.publish.borrow().catalog;
        self.update(|state| {
            state.listings += 1;
            if is_new {
                state.catalog = Arc::new(catalog);
            }
        });
    }

    fn update(&self, change: impl FnOnce(&mut ServerState)) {
        self.publish.send_modify(change);
    }
}

/// Why there is no connection.
enum Trouble {
    Unresolved(Unresolved),
    Connect(ConnectError),
    Lost(RequestError),
}

/// A command without its envelope, and what is to be told when it was noted.
fn innermost(command: Command) -> (Command, Option<oneshot::Sender<()>>) {
    match command {
        Command::Noted(command, noted) => (*command, Some(noted)),
        other => (other, None),
    }
}
