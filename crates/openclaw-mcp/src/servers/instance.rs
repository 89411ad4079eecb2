//! Servers that run: found, started, stopped.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use openclaw_config::{Place, ServerScope};
use openclaw_mcp_client::Connection;
use tokio::task::JoinSet;
use tokio::time::timeout;

use super::plan::{AgentPlan, PlannedServer, Usable};
use super::{InstanceKey, ServerView, Servers, Standing, StartMode};
use crate::launch::SecretSource;
use crate::logins::a_person_logs_in;
use crate::supervise::{Catalog, ManagedServer, ServerState, Status};

/// How much longer than connecting may take it is waited for a server to be ready: for its turn,
/// and for what it offers to be listed.
const GRACE: Duration = Duration::from_secs(30);

/// Why there is no connection to call a tool on, in words for a model.
pub(crate) struct NotReady {
    pub(crate) told: &'static str,
    /// What the system or the server says about it, if anything.
    pub(crate) reason: String,
    /// Whether a person has to log in.
    pub(crate) needs_login: bool,
}

impl Servers {
    /// How the servers of an agent are.
    pub fn view(&self, agent: &AgentPlan) -> Vec<ServerView> {
        let servers = agent.servers.values();
        servers.map(|server| self.view_one(agent, server)).collect()
    }

    /// How a server of an agent is.
    pub fn view_one(&self, agent: &AgentPlan, server: &Arc<PlannedServer>) -> ServerView {
        let instance = self.instance(server, None);
        ServerView {
            server: Arc::clone(server),
            state: instance.as_ref().map(|it| it.state()),
            standing: self.standing(agent, server, instance.as_deref()),
            has_login: self.login(server).is_some_and(|login| login.is_kept()),
        }
    }

    fn standing(
        &self,
        agent: &AgentPlan,
        server: &PlannedServer,
        instance: Option<&ManagedServer>,
    ) -> Standing {
        if !server.configured.enabled {
            return Standing::Disabled;
        }
        if let Some(reason) = server.broken() {
            return Standing::Broken(reason);
        }
        if agent.denied.contains(server.name()) {
            return Standing::Denied;
        }
        let Some(usable) = &server.usable else {
            return Standing::Disabled;
        };
        if self.held().contains(&usable.fingerprint) {
            return Standing::Held;
        }
        let runs = instance.is_some_and(ManagedServer::takes_a_place);
        let rests = instance.is_none_or(|it| it.status() == Status::Stopped);
        match self.limit_reached(&server.configured.place) {
            Some(limit) if !runs && rests => Standing::OverLimit(limit),
            _ => Standing::Usable,
        }
    }

    /// Starts servers of an agent and waits until each is ready, or will not be so soon.
    pub async fn start(&self, agent: &AgentPlan, names: Option<&[String]>) {
        let resting = self.resting(agent, names);
        if resting.is_empty() {
            return;
        }
        let mut starting = JoinSet::new();
        for server in resting {
            if let Some((instance, within)) = self.startable(agent, server) {
                starting.spawn(async move {
                    let _ = timeout(within, instance.need()).await;
                });
            }
        }
        while starting.join_next().await.is_some() {}
    }

    /// Those that are not ready. Most are, and whoever calls should not have to ask for that.
    fn resting<'a>(
        &self,
        agent: &'a AgentPlan,
        names: Option<&'a [String]>,
    ) -> Vec<&'a Arc<PlannedServer>> {
        let is_ready = |server: &PlannedServer| {
            let instance = self.instance(server, None);
            instance.is_some_and(|it| it.status() == Status::Ready)
        };
        let all = wanted(agent, names);
        all.filter(|server| !is_ready(server)).collect()
    }

    /// Starts the servers that a session has for itself, and waits for them.
    pub async fn start_for(&self, agent: &AgentPlan, session: &str) {
        let mut starting = JoinSet::new();
        for server in agent.servers.values() {
            let Some(usable) = &server.usable else {
                continue;
            };
            let is_wanted = usable.server.scope == ServerScope::Session
                && !agent.denied.contains(server.name())
                && !self.held().contains(&usable.fingerprint);
            if is_wanted && let Ok(instance) = self.admit(server, usable, Some(session)) {
                let within = patience(usable, &self.secret_source());
                starting.spawn(async move {
                    let _ = timeout(within, instance.need()).await;
                });
            }
        }
        while starting.join_next().await.is_some() {}
    }

    /// Starts servers of an agent that rest, and does not wait until they are ready.
    pub async fn begin(&self, agent: &AgentPlan, names: Option<&[String]>) {
        for server in wanted(agent, names) {
            if let Some((instance, _)) = self.startable(agent, server) {
                instance.begin().await;
            }
        }
    }

    /// A server that may be started for an agent, and how long that may take.
    fn startable(
        &self,
        agent: &AgentPlan,
        server: &PlannedServer,
    ) -> Option<(Arc<ManagedServer>, Duration)> {
        let usable = server.usable.as_ref()?;
        let is_held = self.held().contains(&usable.fingerprint);
        // Those of sessions are started for them; a command is a session of its own.
        let is_of_session =
            usable.server.scope == ServerScope::Session && self.mode == StartMode::Eager;
        if is_held || is_of_session || agent.denied.contains(server.name()) {
            return None;
        }
        let instance = self.admit(server, usable, None).ok()?;
        Some((instance, patience(usable, &self.secret_source())))
    }

    /// Starts a server although a person stopped it or it failed.
    pub async fn connect(&self, server: &PlannedServer) -> Option<ServerState> {
        let usable = server.usable.as_ref()?;
        self.change_held(|held| held.remove(&usable.fingerprint));
        let instance = self.admit(server, usable, None).ok()?;
        let _ = timeout(
            patience(usable, &self.secret_source()),
            instance.reconnect(),
        )
        .await;
        Some(instance.state())
    }

    /// Connects a server that rests until somebody logs in, and waits for it: whoever has just done so
    /// goes on at once.
    pub(super) async fn wake(&self, usable: &Usable) {
        let within = patience(usable, &self.secret_source());
        let mut waking = JoinSet::new();
        for (key, instance) in self.fleet.all() {
            if key.0 == usable.fingerprint && instance.status() == Status::NeedsAuth {
                waking.spawn(async move {
                    let _ = timeout(within, instance.reconnect()).await;
                });
            }
        }
        while waking.join_next().await.is_some() {}
    }

    /// Stops a server until somebody asks for it.
    pub async fn disconnect(&self, server: &PlannedServer) {
        let Some(usable) = &server.usable else {
            return;
        };
        self.change_held(|held| held.insert(usable.fingerprint));
        let mut stopping = JoinSet::new();
        for (key, instance) in self.fleet.all() {
            if key.0 == usable.fingerprint {
                stopping.spawn(async move { instance.hold("it was disconnected").await });
            }
        }
        while stopping.join_next().await.is_some() {}
    }

    /// Lists again what servers offer, and starts those that do not run.
    pub async fn refresh_all(&self, agent: &AgentPlan, servers: &[Arc<PlannedServer>]) {
        let mut refreshing = JoinSet::new();
        for server in servers {
            let Some(usable) = &server.usable else {
                continue;
            };
            self.change_held(|held| held.remove(&usable.fingerprint));
            if let Some((instance, within)) = self.startable(agent, server) {
                refreshing.spawn(async move {
                    let _ = timeout(within, instance.refresh()).await;
                });
            }
        }
        while refreshing.join_next().await.is_some() {}
    }

    /// What a server offers to an agent now: nothing if it does not run and nobody should wait
    /// for it.
    pub(crate) fn catalog(
        &self,
        server: &PlannedServer,
        session: Option<&str>,
    ) -> Option<Arc<Catalog>> {
        let usable = server.usable.as_ref()?;
        if self.held().contains(&usable.fingerprint) {
            return None;
        }
        let state = self.fleet.get(&key(usable, session))?.state();
        match state.status {
            Status::Ready | Status::Restarting | Status::Stopped | Status::Connecting => {
                Some(state.catalog)
            }
            // Whoever calls a tool that was there is told that somebody has to log in.
            Status::NeedsAuth => Some(state.catalog),
            Status::Failed => None,
        }
    }

    /// The connection to call a tool of a server on. A server that rests is started.
    pub(crate) async fn ready(
        &self,
        server: &PlannedServer,
        session: Option<&str>,
    ) -> Result<Arc<Connection>, NotReady> {
        let not_ready = |told, reason: &str| NotReady {
            told,
            reason: reason.to_owned(),
            needs_login: false,
        };
        let Some(usable) = &server.usable else {
            return Err(not_ready("the server can't be used", ""));
        };
        if self.held().contains(&usable.fingerprint) {
            return Err(not_ready("the server was disconnected", ""));
        }
        let running = self.fleet.get(&key(usable, session));
        if let Some(connection) = running.as_ref().and_then(|it| it.connection()) {
            return Ok(connection);
        }
        let state = match running.as_ref().map(|it| it.state()) {
            // One that is ready and has no connection is being closed.
            Some(state)
                if !matches!(
                    state.status,
                    Status::Stopped | Status::Connecting | Status::Ready
                ) =>
            {
                state
            }
            _ => {
                let instance = self.admit(server, usable, session);
                let instance = instance.map_err(|refusal| match refusal {
                    Refusal::Gone => not_ready("the server is no longer configured", ""),
                    Refusal::OverLimit => not_ready("as many servers run as may", ""),
                })?;
                let needed =
                    timeout(patience(usable, &self.secret_source()), instance.need()).await;
                if let Some(connection) = instance.connection() {
                    return Ok(connection);
                }
                needed.unwrap_or_else(|_| instance.state())
            }
        };
        let reason = state.reason.as_deref().unwrap_or_default();
        Err(match state.status {
            Status::Restarting => not_ready(
                "the server is being restarted, the call was not made; try again later",
                reason,
            ),
            Status::NeedsAuth if a_person_logs_in(&usable.server) => NotReady {
                needs_login: true,
                ..not_ready("the server needs a login, the call was not made", reason)
            },
            Status::NeedsAuth => not_ready(
                "the server does not take the credentials of the configuration, the call was not \
                 made",
                reason,
            ),
            Status::Failed => not_ready("the server has failed, the call was not made", reason),
            Status::Connecting => not_ready(
                "the server is still starting, the call was not made; try again later",
                "",
            ),
            Status::Ready | Status::Stopped => {
                not_ready("the server is stopped, the call was not made", reason)
            }
        })
    }

    pub(crate) fn instance(
        &self,
        server: &PlannedServer,
        session: Option<&str>,
    ) -> Option<Arc<ManagedServer>> {
        let usable = server.usable.as_ref()?;
        self.fleet.get(&key(usable, session))
    }

    /// The server, with a place among those that run. Whoever gets it asks it to run.
    fn admit(
        &self,
        server: &PlannedServer,
        usable: &Usable,
        session: Option<&str>,
    ) -> Result<Arc<ManagedServer>, Refusal> {
        let _alone = self.admission();
        // Whoever asks may have an older configuration in mind.
        if !self
            .plan()
            .fingerprints()
            .any(|it| it == usable.fingerprint)
        {
            return Err(Refusal::Gone);
        }
        let key = key(usable, session);
        let added = self.fleet.get_or_add(key, || {
            self.setup(server, usable, session_of(usable, session))
        });
        let instance = added.ok_or(Refusal::Gone)?;
        if !instance.takes_a_place() {
            if self.limit_reached(&server.configured.place).is_some() {
                return Err(Refusal::OverLimit);
            }
            instance.reserve();
        }
        Ok(instance)
    }

    /// The limit of servers of a kind of place, if as many run.
    fn limit_reached(&self, place: &Place) -> Option<usize> {
        let plan = self.plan();
        let limit = plan.limit(place)?;
        let is_plugin = *place == Place::Plugin;
        let of_kind: BTreeSet<_> = plan
            .connections
            .iter()
            .filter(|planned| (planned.configured.place == Place::Plugin) == is_plugin)
            .filter_map(|planned| Some(planned.usable.as_ref()?.fingerprint))
            .collect();
        let running = self.fleet.all();
        let running = running
            .iter()
            .filter(|(key, server)| of_kind.contains(&key.0) && server.takes_a_place());
        (running.count() >= limit).then_some(limit)
    }
}

/// The servers of an agent that are meant: those of these names, or all.
fn wanted<'a>(
    agent: &'a AgentPlan,
    names: Option<&'a [String]>,
) -> impl Iterator<Item = &'a Arc<PlannedServer>> {
    let is_meant = move |server: &&Arc<PlannedServer>| {
        names.is_none_or(|names| names.iter().any(|name| name == server.name()))
    };
    agent.servers.values().filter(is_meant)
}

/// Why a server may not run.
enum Refusal {
    /// It is not in the configuration.
    Gone,
    /// There are as many as may be.
    OverLimit,
}

/// How long a server may take to be ready.
fn patience(usable: &Usable, secrets: &SecretSource) -> Duration {
    let connecting = usable.server.timeouts.connection.saturating_add(GRACE);
    connecting.saturating_add(secrets.patience(&usable.server))
}

impl PlannedServer {
    /// What makes the server that runs for a session the same as another.
    pub(crate) fn instance_key(&self, session: Option<&str>) -> Option<InstanceKey> {
        self.usable.as_ref().map(|usable| key(usable, session))
    }
}

fn key(usable: &Usable, session: Option<&str>) -> InstanceKey {
    let session = session_of(usable, session);
    (usable.fingerprint, session.map(Arc::from))
}

/// The session that a server is for, where each has its own.
fn session_of<'s>(usable: &Usable, session: Option<&'s str>) -> Option<&'s str> {
    session.filter(|_| usable.server.scope == ServerScope::Session)
}
