//! The life of a server: one loop, in which every state has its place.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use openclaw_mcp_client::{ConnectError, Connection};
use tokio::sync::{Semaphore, mpsc, oneshot, watch};
use tokio::time::{sleep, sleep_until, timeout};

use super::catalog::{self, Catalog};
use super::server::{ServerSetup, Shared, Unresolved};
use super::state::{ServerState, Status};
use super::watch::{Watch, everything, pending};

/// Something that is asked of a server's task.
pub(super) enum Command {
    /// Run, if you rest and nothing is wrong.
    Need,
    /// Run, if you don't.
    Start,
    /// Run anew.
    Reconnect,
    /// Run, or list again what you offer.
    Refresh,
    /// Don't run.
    Stop(Arc<str>),
    /// Be looked after like this.
    Settings(Box<ServerSetup>),
}

/// A command, and whom to tell when it was noted; when it is done, if it is to stop.
pub(super) struct Asked {
    pub(super) command: Command,
    pub(super) done: oneshot::Sender<()>,
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
    /// Nobody wants it any longer; whoever said so waits until it is gone.
    Unwanted(Arc<str>, Option<oneshot::Sender<()>>),
    /// Somebody wants another one.
    Again,
    /// Nobody is left who could want anything.
    Alone,
}

/// How connecting came to its end.
enum Connected {
    Done(Result<(Connection, Catalog), Trouble>),
    Unwanted(Arc<str>, oneshot::Sender<()>),
    Alone,
}

/// The task that looks after one server.
pub(super) struct Task {
    setup: ServerSetup,
    /// Taken while connecting, so that not all do at once.
    turns: Arc<Semaphore>,
    publish: watch::Sender<ServerState>,
    commands: mpsc::Receiver<Asked>,
    shared: Arc<Shared>,
    /// How often in a row it failed.
    failures: u32,
}

impl Task {
    pub(super) fn new(
        setup: ServerSetup,
        turns: Arc<Semaphore>,
        publish: watch::Sender<ServerState>,
        commands: mpsc::Receiver<Asked>,
        shared: Arc<Shared>,
    ) -> Self {
        Self {
            setup,
            turns,
            publish,
            commands,
            shared,
            failures: 0,
        }
    }

    /// Looks after the server until nobody can ask for it any more.
    pub(super) async fn run(mut self) {
        let mut next = Next::Rest;
        loop {
            next = match next {
                Next::Rest => match self.commands.recv().await {
                    Some(asked) => self.begin(asked, Next::Rest),
                    None => return,
                },
                Next::Wait(pause) => tokio::select! {
                    () = sleep(pause) => {
                        tracing::info!(server = self.setup.name, "server connecting again");
                        Next::Connect
                    }
                    asked = self.commands.recv() => match asked {
                        Some(asked) => self.begin(asked, Next::Wait(pause)),
                        None => return,
                    },
                },
                Next::Connect => match self.connect().await {
                    Connected::Done(Ok((connection, catalog))) => self.ready(connection, catalog),
                    Connected::Done(Err(trouble)) => self.not_connected(trouble),
                    Connected::Unwanted(reason, done) => {
                        let next = self.rest(Status::Stopped, &reason);
                        let _ = done.send(());
                        next
                    }
                    Connected::Alone => return,
                },
                Next::Hold(connection) => match self.hold(&connection).await {
                    End::Lost(reason) => {
                        let last_words = connection.diagnostics().stderr;
                        self.update(|state| state.stderr = last_words.into());
                        // Nobody shall use it while it is being closed.
                        let next = self.failed(&reason);
                        connection.close().await;
                        next
                    }
                    End::Unwanted(reason, done) => {
                        self.update(|state| state.connection = None);
                        connection.close().await;
                        let next = self.rest(Status::Stopped, &reason);
                        let _ = done.map(|done| done.send(()));
                        next
                    }
                    End::Again => {
                        let next = self.connecting();
                        connection.close().await;
                        next
                    }
                    End::Alone => {
                        connection.close().await;
                        return;
                    }
                },
            };
        }
    }

    /// Takes note of a command while there is no connection.
    fn begin(&mut self, asked: Asked, otherwise: Next) -> Next {
        let next = match asked.command {
            Command::Need => {
                self.shared.asked();
                if self.publish.borrow().status == Status::Stopped {
                    self.connecting()
                } else {
                    otherwise
                }
            }
            Command::Start | Command::Reconnect | Command::Refresh => {
                self.shared.asked();
                // Whoever asks by name starts a new count.
                self.failures = 0;
                self.update(|state| {
                    state.restarts = 0;
                    state.failures = 0;
                });
                self.connecting()
            }
            Command::Stop(reason) => self.rest(Status::Stopped, &reason),
            Command::Settings(setup) => {
                self.setup = *setup;
                otherwise
            }
        };
        let _ = asked.done.send(());
        next
    }

    fn connecting(&self) -> Next {
        tracing::info!(server = self.setup.name, "server connecting");
        self.update(|state| {
            state.status = Status::Connecting;
            state.connection = None;
            state.reason = None;
        });
        Next::Connect
    }

    /// Connects, unless somebody does not want that any longer.
    async fn connect(&mut self) -> Connected {
        let setup = (
            self.setup.source.clone(),
            self.setup.connector.clone(),
            self.setup.name.clone(),
        );
        let turns = Arc::clone(&self.turns);
        let connecting = async move {
            let (source, connector, name) = setup;
            // An error would mean that the semaphore is closed, which it never is.
            let turn = turns.acquire().await;
            let target = source.target().await.map_err(Trouble::Unresolved)?;
            let connection = connector.connect(&target).await.map_err(Trouble::Connect)?;
            // Who lists slowly must not keep others from starting.
            drop(turn);
            let (all, none) = (everything(), Catalog::default());
            let listing = catalog::list(&name, &connection, &all, &none);
            let reason = match timeout(target.timeouts.connection, listing).await {
                Ok(Ok(catalog)) => return Ok((connection, catalog)),
                Ok(Err(error)) => error.to_string(),
                Err(_) => "it does not say in time what it offers".to_owned(),
            };
            connection.close().await;
            Err(Trouble::Lost(reason))
        };
        tokio::pin!(connecting);
        loop {
            tokio::select! {
                biased;
                connected = &mut connecting => return Connected::Done(connected),
                asked = self.commands.recv() => {
                    let Some(Asked { command, done }) = asked else {
                        return Connected::Alone;
                    };
                    match command {
                        Command::Stop(reason) => return Connected::Unwanted(reason, done),
                        Command::Settings(setup) => self.setup = *setup,
                        // It is what is being done.
                        Command::Need
                        | Command::Start
                        | Command::Reconnect
                        | Command::Refresh => self.shared.asked(),
                    }
                    let _ = done.send(());
                }
            }
        }
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
            Trouble::Lost(reason) => self.failed(&reason),
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

    /// Looks after a connection until it ends.
    async fn hold(&mut self, connection: &Arc<Connection>) -> End {
        let mut watch = Watch::new(&self.setup);
        loop {
            watch.listen(connection);
            if let Some(wanted) = watch.next_list() {
                let before = self.publish.borrow().catalog.clone();
                let (name, connection) = (self.setup.name.clone(), connection.clone());
                watch.listing = Some(Box::pin(async move {
                    catalog::list(&name, &connection, &wanted, &before).await
                }));
            }
            let due = watch.due(self.shared.used_at());
            tokio::select! {
                biased;
                reason = connection.closed() => return End::Lost(reason.to_string()),
                asked = self.commands.recv() => {
                    let Some(Asked { command, done }) = asked else {
                        return End::Alone;
                    };
                    self.shared.asked();
                    match command {
                        Command::Need | Command::Start => {}
                        Command::Stop(reason) => return End::Unwanted(reason, Some(done)),
                        Command::Reconnect => {
                            let _ = done.send(());
                            return End::Again;
                        }
                        Command::Refresh => watch.want(&everything()),
                        Command::Settings(setup) => {
                            self.setup = *setup;
                            watch.adjust(&self.setup);
                        }
                    }
                    let _ = done.send(());
                }
                listed = pending(&mut watch.listing) => {
                    watch.listing = None;
                    match listed {
                        Ok(catalog) => self.listed(catalog),
                        // A server that is busy with a call may have no time for lists; one that
                        // is gone is noticed otherwise.
                        Err(error) => {
                            let server = &self.setup.name;
                            tracing::warn!(server, "what it offers was not listed again: {error}");
                            self.update(|state| state.listings += 1);
                        }
                    }
                }
                beat = pending(&mut watch.beating) => {
                    watch.beating = None;
                    if let Some(error) = watch.beaten(beat) {
                        let reason = format!("it gives no sign of life: {error}");
                        return End::Lost(reason);
                    }
                    let now = SystemTime::now();
                    self.update(|state| state.alive_at = Some(now));
                }
                changes = pending(&mut watch.changing) => {
                    watch.changing = None;
                    if let Ok(changes) = changes {
                        watch.want(&changes);
                    }
                }
                () = sleep_until(due.discovery) => {
                    if connection.diagnostics().in_flight == 0 {
                        watch.want(&everything());
                    } else {
                        watch.postpone();
                    }
                }
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
                        return End::Unwanted("it was not used".into(), None);
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
    Lost(String),
}
