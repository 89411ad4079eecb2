//! The life of a server: one loop, in which every state has its place.

mod connect;
mod hold;

use std::sync::Arc;
use std::time::Duration;

use openclaw_mcp_client::{ConnectError, Connection};
use tokio::sync::{Semaphore, mpsc, oneshot, watch};
use tokio::time::{Instant, sleep, sleep_until};

use super::catalog::Catalog;
use super::change_counter::ChangeCounter;
use super::server::{LoginWatch, Remedy, ServerSetup, Shared, StateListener, Unresolved};
use super::state::{ServerState, Status};

/// How often in a row whoever is asked for a secret may give none.
const MOST_REFUSALS: u32 = 5;
/// How long a login that changed is left alone at most: a person may have just logged in.
const LONGEST_LOGIN_PAUSE: Duration = Duration::from_secs(15);

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
    /// List again what you offer, if you run.
    Relist,
    /// Don't run.
    Stop(Arc<str>),
    /// Don't run, whoever needs you, until somebody asks for you by name.
    Hold(Arc<str>),
    /// Be looked after like this, unless a higher number was asked for already.
    Settings(u64, Box<ServerSetup>),
}

impl Command {
    /// Whether it decides if the server runs.
    fn is_about_running(&self) -> bool {
        !matches!(self, Self::Relist | Self::Settings(..))
    }
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
    /// Connect when it is time.
    Wait(Instant),
    /// Look after a connection.
    Hold(Arc<Connection>),
    /// Do nothing until somebody asks.
    Rest,
}

/// How a connection came to its end.
enum End {
    /// It was lost.
    Lost(String),
    /// A person has to log in, for this reason.
    NeedsLogin(String),
    /// Nobody wants it any longer; whoever said so waits until it is gone.
    Unwanted(Arc<str>, Option<oneshot::Sender<()>>),
    /// Somebody wants another one, and waits until that is known.
    Again(oneshot::Sender<()>),
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
    changes: ChangeCounter,
    /// How often in a row it failed.
    failures: u32,
    /// How often in a row it could not be started for want of something that is not its own.
    hindrances: u32,
    /// How often in a row whoever is asked for a secret did not give it.
    refusals: u32,
    /// Whether a person stopped it.
    is_held: bool,
    /// The number of its settings.
    settings: u64,
    /// Whether its settings changed while it was being connected with older ones.
    has_new_settings: bool,
    /// How often in a row a login changed and the server did not take it.
    vain_logins: u32,
}

impl Task {
    pub(super) fn new(
        setup: ServerSetup,
        turns: Arc<Semaphore>,
        publish: watch::Sender<ServerState>,
        commands: mpsc::Receiver<Asked>,
        shared: Arc<Shared>,
        changes: ChangeCounter,
    ) -> Self {
        Self {
            setup,
            turns,
            publish,
            commands,
            shared,
            changes,
            failures: 0,
            hindrances: 0,
            refusals: 0,
            is_held: false,
            settings: 0,
            has_new_settings: false,
            vain_logins: 0,
        }
    }

    /// Looks after the server until nobody can ask for it any more.
    pub(super) async fn run(mut self) {
        let mut next = Next::Rest;
        loop {
            next = match next {
                Next::Rest => match self.resting().await {
                    Some(next) => next,
                    None => return,
                },
                Next::Wait(until) => tokio::select! {
                    () = sleep_until(until) => {
                        tracing::info!(server = self.setup.name, "server connecting again");
                        Next::Connect
                    }
                    asked = self.commands.recv() => match asked {
                        Some(asked) => self.begin(asked, Next::Wait(until)),
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
                        // Nobody shall use it while it is being closed.
                        let next = self.failed(&reason);
                        connection.close().await;
                        next
                    }
                    End::NeedsLogin(reason) => {
                        let next = self.rest(Status::NeedsAuth, &reason);
                        connection.close().await;
                        next
                    }
                    End::Unwanted(reason, done) => {
                        self.update(ServerState::let_go);
                        connection.close().await;
                        let next = self.rest(Status::Stopped, &reason);
                        let _ = done.map(|done| done.send(()));
                        next
                    }
                    End::Again(done) => {
                        let next = self.connecting();
                        let _ = done.send(());
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

    /// Rests until somebody asks, or until the login changes that it rests for; nothing comes next once
    /// nobody can ask any more.
    async fn resting(&mut self) -> Option<Next> {
        // One wait for all that is asked meanwhile: others use the same login, and what they have
        // seen of a change must not be missed here.
        let changed = changed(self.awaited_login(), self.login_pause());
        tokio::pin!(changed);
        loop {
            let asked = tokio::select! {
                asked = self.commands.recv() => asked?,
                () = &mut changed => {
                    self.vain_logins = self.vain_logins.saturating_add(1);
                    return Some(self.connecting());
                }
            };
            let rests_on = matches!(asked.command, Command::Need | Command::Relist);
            match self.begin(asked, Next::Rest) {
                Next::Rest if rests_on => {}
                next => return Some(next),
            }
        }
    }

    /// Takes note of a command while there is no connection.
    fn begin(&mut self, asked: Asked, otherwise: Next) -> Next {
        let is_about_running = asked.command.is_about_running();
        let next = match asked.command {
            Command::Need => {
                if self.publish.borrow().status == Status::Stopped && !self.is_held {
                    self.connecting()
                } else {
                    otherwise
                }
            }
            Command::Start | Command::Reconnect | Command::Refresh => {
                self.asked_by_name();
                self.connecting()
            }
            Command::Relist => otherwise,
            Command::Stop(reason) => self.rest(Status::Stopped, &reason),
            Command::Hold(reason) => {
                self.is_held = true;
                self.rest(Status::Stopped, &reason)
            }
            Command::Settings(number, setup) => {
                self.go_over(number, *setup);
                otherwise
            }
        };
        // Not before it is known what follows: until then it counts among those that run.
        if is_about_running {
            self.shared.asked();
        }
        let _ = asked.done.send(());
        next
    }

    /// Goes over to other settings; the result says whether they are newer than those that it has.
    fn go_over(&mut self, number: u64, setup: ServerSetup) -> bool {
        let is_newer = number > self.settings;
        if is_newer {
            self.settings = number;
            self.setup = setup;
        }
        is_newer
    }

    /// The login that it rests for, if it does.
    fn awaited_login(&self) -> Option<Arc<dyn LoginWatch>> {
        let rests = self.publish.borrow().status == Status::NeedsAuth && !self.is_held;
        rests.then(|| self.setup.source.login()).flatten()
    }

    /// How long a login that changed is left alone. Two programs that a server turns away would
    /// otherwise wake each other for ever, since each renews what the other has just renewed.
    fn login_pause(&self) -> Duration {
        match self.vain_logins {
            0 => Duration::ZERO,
            count => self.setup.pace.pause(count).min(LONGEST_LOGIN_PAUSE),
        }
    }

    /// Whoever asks by name starts a new count.
    fn asked_by_name(&mut self) {
        self.is_held = false;
        self.failures = 0;
        self.hindrances = 0;
        self.refusals = 0;
        self.vain_logins = 0;
        self.update(|state| {
            state.restarts = 0;
            state.failures = 0;
            state.hindrances = 0;
        });
    }

    fn connecting(&self) -> Next {
        tracing::info!(server = self.setup.name, "server connecting");
        self.update(|state| {
            state.status = Status::Connecting;
            state.let_go();
            state.reason = None;
        });
        Next::Connect
    }

    fn ready(&mut self, connection: Connection, catalog: Catalog) -> Next {
        let connection = Arc::new(connection);
        tracing::info!(
            server = self.setup.name,
            tools = catalog.tools.len(),
            "server ready"
        );
        self.vain_logins = 0;
        self.hindrances = 0;
        self.refusals = 0;
        let failures = self.failures;
        self.update(|state| {
            state.status = Status::Ready;
            state.was_ready = true;
            state.connection = Some(connection.clone());
            state.catalog = Arc::new(catalog);
            state.failures = failures;
            state.hindrances = 0;
            state.reason = None;
        });
        Next::Hold(connection)
    }

    fn not_connected(&mut self, trouble: Trouble) -> Next {
        if !matches!(trouble, Trouble::Unresolved(_)) {
            self.refusals = 0;
        }
        match trouble {
            // What was asked with is out of date: with what came meanwhile it may be different.
            Trouble::Unresolved(_) if std::mem::take(&mut self.has_new_settings) => Next::Connect,
            Trouble::Unresolved(unresolved) => self.unresolved(&unresolved),
            Trouble::Connect(error @ ConnectError::Unauthorized(_)) => {
                self.rest(Status::NeedsAuth, &error.to_string())
            }
            Trouble::Connect(error) if error.is_permanent() => {
                self.rest(Status::Failed, &error.to_string())
            }
            Trouble::Connect(error) if error.is_shortage() && self.setup.pace.tries_again() => {
                self.hindered(&error.to_string())
            }
            Trouble::Connect(error) => {
                self.update(|state| state.heard(error.stderr()));
                self.failed(&error.to_string())
            }
            Trouble::Lost(reason) => self.failed(&reason),
        }
    }

    fn unresolved(&mut self, Unresolved { reason, remedy }: &Unresolved) -> Next {
        // It has been here before, so what it needs is there, and only can't be had now.
        let was_ready = self.publish.borrow().was_ready;
        if *remedy == Remedy::Consent {
            self.refusals = self.refusals.saturating_add(1);
        }
        match remedy {
            Remedy::Room if self.setup.pace.tries_again() => self.hindered(reason),
            Remedy::Answer if was_ready && self.setup.pace.tries_again() => self.hindered(reason),
            // Also where nothing else ends the tries, as with servers at an address.
            Remedy::Consent if was_ready && self.refusals < MOST_REFUSALS => self.failed(reason),
            Remedy::Room | Remedy::Answer => {
                tracing::error!(server = self.setup.name, "{reason}");
                self.rest(Status::Failed, reason)
            }
            Remedy::Consent | Remedy::Change => self.rest(Status::Failed, reason),
        }
    }

    /// Waits for something that the server has nothing to do with, and is not given up on for.
    fn hindered(&mut self, reason: &str) -> Next {
        self.hindrances = self.hindrances.saturating_add(1);
        let hindrances = self.hindrances;
        self.update(|state| state.hindrances = hindrances);
        self.waits(reason, self.setup.pace.pause(hindrances))
    }

    /// Notes a failure; the result says whether it is tried again.
    fn failed(&mut self, reason: &str) -> Next {
        self.failures = self.failures.saturating_add(1);
        let failures = self.failures;
        let Some(pause) = self.setup.pace.wait(failures) else {
            return self.rest(Status::Failed, reason);
        };
        self.update(|state| {
            state.restarts = state.restarts.saturating_add(1);
            state.failures = failures;
        });
        if let Some(listener) = self.listener() {
            listener.restarting();
        }
        self.waits(reason, pause)
    }

    /// Waits until it is tried again.
    fn waits(&self, reason: &str, pause: Duration) -> Next {
        let is_known = self.publish.borrow().reason.as_deref() == Some(reason);
        let (server, failures, hindrances) = (&self.setup.name, self.failures, self.hindrances);
        if is_known && hindrances > 1 {
            // It may last for hours, and nothing about it is new.
            tracing::debug!(
                server,
                hindrances,
                "server still not there, next start in {pause:?}: {reason}"
            );
        } else {
            tracing::warn!(
                server,
                failures,
                hindrances,
                "server not there, next start in {pause:?}: {reason}"
            );
        }
        self.update(|state| {
            state.status = Status::Restarting;
            state.let_go();
            state.reason = Some(reason.into());
        });
        Next::Wait(Instant::now() + pause)
    }

    /// Stays as it is until somebody asks.
    fn rest(&mut self, status: Status, reason: &str) -> Next {
        tracing::info!(
            server = self.setup.name,
            "server {}: {reason}",
            status.as_str()
        );
        self.hindrances = 0;
        let failures = self.failures;
        self.update(|state| {
            state.status = status;
            state.let_go();
            state.failures = failures;
            state.hindrances = 0;
            state.reason = Some(reason.into());
        });
        Next::Rest
    }

    fn listed(&mut self, catalog: Catalog) {
        if catalog != *self.publish.borrow().catalog {
            self.update(|state| state.catalog = Arc::new(catalog));
        }
    }

    fn update(&self, change: impl FnOnce(&mut ServerState)) {
        let mut is_news = false;
        self.publish.send_modify(|state| {
            let (status, reason) = (state.status, state.reason.clone());
            let catalog = Arc::clone(&state.catalog);
            change(state);
            is_news = state.status != status
                || state.reason != reason
                || !Arc::ptr_eq(&state.catalog, &catalog);
            if is_news {
                self.changes.note();
            }
        });
        if is_news && let Some(listener) = self.listener() {
            let state = self.publish.borrow().clone();
            listener.changed(&state);
        }
    }

    /// Who hears how it is; nobody once it only finishes its calls.
    fn listener(&self) -> Option<&dyn StateListener> {
        let listener = self.setup.listener.as_deref();
        listener.filter(|_| !self.shared.is_leaving())
    }
}

/// Waits until a login changes, and so long after it; for ever, if there is none.
async fn changed(login: Option<Arc<dyn LoginWatch>>, pause: Duration) {
    match login {
        Some(login) => {
            login.changed().await;
            sleep(pause).await;
        }
        None => std::future::pending().await,
    }
}

/// Waits until somebody has to log in, and says why; for ever, if there is no login.
async fn needed(login: Option<Arc<dyn LoginWatch>>) -> String {
    match login {
        Some(login) => login.needed().await,
        None => std::future::pending().await,
    }
}

/// Why there is no connection.
enum Trouble {
    Unresolved(Unresolved),
    Connect(ConnectError),
    Lost(String),
}
