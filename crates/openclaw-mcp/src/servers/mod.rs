//! All servers of a configuration, shared by all agents.

mod instance;
mod loans;
mod logins;
mod plan;
mod secrets;
mod settings;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use openclaw_config::{AgentId, Config, Fingerprint, Launch, Restart, ServerScope};
use openclaw_content::Framer;
use openclaw_mcp_client::Connector;
use openclaw_oauth::LoginStore;
use openclaw_secret_stores::Keyring;
use openclaw_secrets::Redactor;
use openclaw_state::{StateDirectory, StateDirectoryError, StateKey, StateKeyError};
use thiserror::Error;
use tokio::task::JoinSet;

pub(crate) use self::instance::NotReady;
pub use self::loans::{LentServer, Taken, Unneeded};
pub use self::logins::LoginError;
use self::plan::Loans;
pub(crate) use self::plan::Plan;
pub use self::plan::{AgentPlan, PlannedServer};
pub use self::secrets::CheckedSecret;
use self::secrets::resolver;
use crate::approval::Approvals;
use crate::assembly::AgentTools;
use crate::audit::AuditLog;
use crate::call::Call;
use crate::launch::{ConfiguredTarget, CurrentResolver};
use crate::listening::{Named, Nobody, ServersListener};
use crate::logins::Logins;
use crate::pins::{PinError, Pins};
use crate::resources::KeptResources;
use crate::results::ResultStore;
use crate::supervise::{
    Catalog, ChangeCounter, Fleet, Pace, Reconciled, ServerSetup, ServerState, Status, Wanted,
};

/// When servers are started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StartMode {
    /// All at once, but for those that are lazy.
    Eager,
    /// Each when something needs it.
    OnDemand,
}

/// What servers are run with.
pub struct ServersSetup {
    /// The configuration.
    pub config: Arc<Config>,
    /// Where what is remembered lies.
    pub state: StateDirectory,
    /// What connects.
    pub connector: Arc<Connector>,
    /// What knows the credentials that must not be seen.
    pub redactor: Redactor,
    /// When servers are started.
    pub mode: StartMode,
    /// Whether servers that are lost are started again. For a command that is over soon, the first
    /// failure counts.
    pub restarts: bool,
}

/// Why servers can't be run.
#[derive(Debug, Error)]
pub enum ServersError {
    /// The state directory can't be used.
    #[error(transparent)]
    State(#[from] StateDirectoryError),
    /// Its key can't be used.
    #[error(transparent)]
    Key(#[from] StateKeyError),
}

/// There is no such agent.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("there is no agent {name:?}")]
pub struct UnknownAgent {
    /// Its name.
    pub name: String,
    /// Those that there are.
    pub known: Vec<String>,
}

/// What makes two running servers the same: the definition, and the session if it is not shared.
pub(crate) type InstanceKey = (Fingerprint, Option<Arc<str>>);

/// All servers of a configuration.
pub struct Servers {
    plan: RwLock<Arc<Plan>>,
    /// What is lent to sessions. Held while the plan changes, so that no change is lost.
    loans: Mutex<Loans>,
    fleet: Fleet<InstanceKey>,
    /// Those that a person stopped.
    held: Mutex<BTreeSet<Fingerprint>>,
    /// Taken while it is decided whether one more may run.
    admission: Mutex<()>,
    key: StateKey,
    connector: Arc<Connector>,
    secrets: CurrentResolver,
    mode: StartMode,
    restarts: bool,
    pub(crate) logins: Logins,
    pub(crate) pins: Pins,
    pub(crate) audit: AuditLog,
    pub(crate) results: Arc<ResultStore>,
    pub(crate) kept_resources: KeptResources,
    pub(crate) approvals: Approvals,
    pub(crate) redactor: Redactor,
    pub(crate) framer: Framer,
    pub(crate) listener: Arc<dyn ServersListener>,
}

impl Servers {
    /// Runs the servers of a configuration; nothing is waited for.
    pub fn new(setup: ServersSetup) -> Result<Self, ServersError> {
        Self::heard(setup, Arc::new(Nobody))
    }

    /// The same, with somebody who hears what they do.
    pub fn heard(
        setup: ServersSetup,
        listener: Arc<dyn ServersListener>,
    ) -> Result<Self, ServersError> {
        let key = StateKey::of(&setup.state)?;
        let servers = Self {
            secrets: Arc::new(RwLock::new(resolver(
                &setup.config,
                &setup.connector,
                &setup.redactor,
            ))),
            plan: RwLock::new(Arc::new(Plan::new(
                Arc::clone(&setup.config),
                &key,
                &Loans::new(),
            ))),
            loans: Mutex::default(),
            fleet: Fleet::default(),
            held: Mutex::default(),
            admission: Mutex::default(),
            connector: setup.connector,
            mode: setup.mode,
            restarts: setup.restarts,
            logins: Logins::new(
                LoginStore::new(setup.state.clone(), Keyring::new(&setup.config.environment)),
                setup.redactor.clone(),
                logins::published_by(&setup.config, setup.mode),
            ),
            pins: Pins::new(&setup.state)?,
            audit: AuditLog::new(&setup.state, &key)?,
            results: Arc::new(ResultStore::new(&setup.state)?),
            kept_resources: KeptResources::default(),
            approvals: Approvals::new(&setup.state)?,
            redactor: setup.redactor,
            framer: Framer::new(),
            listener,
            key,
        };
        servers.reconcile(Occasion::Beginning);
        Ok(servers)
    }

    /// Goes over to another configuration: what did not change is not touched, what is no longer
    /// wanted finishes its calls first.
    pub fn reload(&self, config: Arc<Config>) -> Reconciled {
        self.renew_secrets(&config);
        let loans = self.loans();
        let before = self.go_over(Plan::new(config, &self.key, &loans));
        let reconciled = self.reconcile(Occasion::Reload(&before));
        drop(loans);
        self.forget_resources();
        reconciled
    }

    /// Goes by another plan from now on; the one before.
    fn go_over(&self, plan: Plan) -> Arc<Plan> {
        let mut current = self.plan.write().unwrap_or_else(PoisonError::into_inner);
        std::mem::replace(&mut *current, Arc::new(plan))
    }

    fn reconcile(&self, occasion: Occasion<'_>) -> Reconciled {
        let _alone = self.admission();
        let plan = self.plan();
        let running = self.fleet.all();
        // Those that run already have their places.
        let mut taken = Counts::default();
        for planned in &plan.connections {
            let runs = planned.usable.as_ref().is_some_and(|usable| {
                let mut running = running.iter();
                running.any(|(key, it)| key.0 == usable.fingerprint && it.takes_a_place())
            });
            if runs {
                taken.take(&planned.configured.place, None);
            }
        }
        let replaced = match occasion {
            Occasion::Reload(before) => replaced(before, &plan),
            Occasion::Beginning | Occasion::Loan(_) => BTreeMap::new(),
        };
        let mut wanted = Vec::new();
        for planned in &plan.connections {
            let Some(usable) = &planned.usable else {
                continue;
            };
            let key = (usable.fingerprint, None);
            let is_lazy = self.mode == StartMode::OnDemand
                || plan.settings(usable).is_lazy
                || usable.server.scope == ServerScope::Session
                || self.held().contains(&usable.fingerprint);
            let present = self.fleet.get(&key);
            let runs = present.as_ref().is_some_and(|it| it.takes_a_place());
            let has_failed = present.is_some_and(|it| it.status() == Status::Failed);
            let place = &planned.configured.place;
            let begins = match occasion {
                // What is lent to one session changes nothing about the others.
                Occasion::Loan(lent) => {
                    lent.contains(&usable.fingerprint) && (has_failed || !is_lazy)
                }
                Occasion::Beginning | Occasion::Reload(_) => has_failed || !is_lazy,
            };
            let has_room = runs || (begins && taken.take(place, plan.limit(place)));
            wanted.push(Wanted {
                key,
                setup: self.setup(planned, usable, None),
                lazy: is_lazy,
                has_room,
                // Until the new one has said what it offers, the tools of the old one stay listed.
                catalog: replaced
                    .get(&usable.fingerprint)
                    .into_iter()
                    .flatten()
                    .filter_map(|old| Some(self.fleet.get(&(*old, None))?.state().catalog))
                    .find(|catalog| **catalog != Catalog::default())
                    .unwrap_or_default(),
            });
            // Those of sessions stay as long as their definition does.
            for (key, _) in &running {
                if key.0 == usable.fingerprint && key.1.is_some() {
                    wanted.push(Wanted {
                        key: key.clone(),
                        setup: self.setup(planned, usable, key.1.as_deref()),
                        lazy: true,
                        has_room: false,
                        catalog: Arc::default(),
                    });
                }
            }
        }
        let result = self.fleet.reconcile(wanted);
        let known: BTreeSet<_> = plan.fingerprints().collect();
        self.change_held(|held| held.retain(|held| known.contains(held)));
        self.logins.retain(&known);
        result
    }

    fn setup(
        &self,
        planned: &PlannedServer,
        usable: &plan::Usable,
        session: Option<&str>,
    ) -> ServerSetup {
        let server = &usable.server;
        let plan = self.plan();
        let settings = plan.settings(usable);
        ServerSetup {
            name: planned.name().to_owned(),
            source: Arc::new(ConfiguredTarget {
                server: Arc::clone(server),
                fingerprint: usable.fingerprint,
                login: self
                    .logins
                    .of(server, usable.fingerprint, &self.secret_source()),
                secrets: self.secret_source(),
            }),
            connector: Arc::clone(&self.connector),
            pace: match &server.launch {
                _ if !self.restarts => Pace::program(Restart::Never),
                Launch::Stdio(_) => Pace::program(settings.restart),
                Launch::Remote(_) => Pace::address(),
            },
            idle_timeout: settings.idle_timeout,
            discovery_interval: settings.discovery_interval,
            redactor: self.redactor.clone(),
            drain: settings.drain,
            listener: Some(Arc::new(Named {
                names: plan.names(&usable.fingerprint),
                is_of_session: session.is_some() || plan.is_lent(&usable.fingerprint),
                listener: Arc::clone(&self.listener),
            })),
        }
    }

    /// An agent, the default one if none is named.
    pub fn agent(&self, name: Option<&str>) -> Result<Arc<AgentPlan>, UnknownAgent> {
        let plan = self.plan();
        let name = name.unwrap_or(plan.config.default_agent.as_str());
        plan.agents.get(name).cloned().ok_or_else(|| UnknownAgent {
            name: name.to_owned(),
            known: plan.agents.keys().map(AgentId::to_string).collect(),
        })
    }

    /// The same as it is in a session: with what is lent to that.
    pub fn agent_in(&self, name: &str, session: &str) -> Result<Arc<AgentPlan>, UnknownAgent> {
        match self.plan().in_session(session) {
            Some(agent) if agent.agent.id.as_str() == name => Ok(Arc::clone(agent)),
            _ => self.agent(Some(name)),
        }
    }

    /// The agent of a call as it is by now.
    pub(crate) fn agent_now(&self, call: &Call<'_>) -> Option<Arc<AgentPlan>> {
        self.plan().now(call.agent).cloned()
    }

    /// The configuration in force.
    pub fn config(&self) -> Arc<Config> {
        Arc::clone(&self.plan().config)
    }

    /// The tools of an agent as of now, in a session if it has one.
    pub fn tools(&self, agent: &AgentPlan, session: Option<&str>) -> Arc<AgentTools> {
        agent.assembled.get(self, agent, session)
    }

    /// The same, put together anew although nothing changed: what a change costs.
    #[doc(hidden)]
    pub fn assembled_anew(&self, agent: &AgentPlan) -> Arc<AgentTools> {
        agent.assembled.clear();
        self.tools(agent, None)
    }

    /// Accepts the definition that a tool has now.
    pub fn approve(
        &self,
        server: &PlannedServer,
        tool: &openclaw_mcp_client::Tool,
    ) -> Result<(), PinError> {
        if !server.is_lent() {
            self.pins.approve(server.name(), tool)?;
        }
        if let Some(usable) = &server.usable {
            usable.forget();
            self.changes().note();
        }
        Ok(())
    }

    /// Ends the servers that a session has for itself.
    pub async fn end_session(&self, session: &str) {
        let mut stopping = JoinSet::new();
        for (key, server) in self.fleet.all() {
            if key.1.as_deref() == Some(session) {
                self.fleet.remove(&key);
                stopping.spawn(async move { server.stop("its session has ended").await });
            }
        }
        while stopping.join_next().await.is_some() {}
    }

    /// Stops all servers, whatever they do, and waits for it: within six seconds, but for logins that are
    /// being renewed, which have as long as whoever waits for this gives them.
    pub async fn shutdown(&self) {
        self.kept_resources.clear();
        tokio::join!(self.fleet.shutdown(), self.logins.settled());
    }

    pub(crate) fn plan(&self) -> Arc<Plan> {
        let plan = self.plan.read().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(&plan)
    }

    /// What changes about what servers offer.
    pub(crate) fn changes(&self) -> &ChangeCounter {
        self.fleet.changes()
    }

    fn loans(&self) -> MutexGuard<'_, Loans> {
        self.loans.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn held(&self) -> MutexGuard<'_, BTreeSet<Fingerprint>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes which servers a person stopped, and with it what is offered.
    fn change_held<T>(&self, change: impl FnOnce(&mut BTreeSet<Fingerprint>) -> T) {
        let mut held = self.held();
        change(&mut held);
        self.changes().note();
    }

    fn admission(&self) -> MutexGuard<'_, ()> {
        self.admission
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

/// Why it is looked which servers are to run.
#[derive(Clone, Copy)]
enum Occasion<'p> {
    /// Nothing runs yet.
    Beginning,
    /// Another configuration took the place of this one.
    Reload(&'p Plan),
    /// These are lent to a session, or others no longer.
    Loan(&'p BTreeSet<Fingerprint>),
}

/// What servers take the place of, in an earlier configuration: what an agent had under the same name.
/// Several names may have shared one process, or share one now.
fn replaced(before: &Plan, now: &Plan) -> BTreeMap<Fingerprint, BTreeSet<Fingerprint>> {
    let mut replaced: BTreeMap<_, BTreeSet<_>> = BTreeMap::new();
    for (id, agent) in &now.agents {
        let Some(old) = before.agents.get(id) else {
            continue;
        };
        for (name, server) in &agent.servers {
            let old = old.server(name).and_then(|old| old.fingerprint());
            if let (Some(old), Some(new)) = (old, server.fingerprint()) {
                replaced.entry(new).or_default().insert(old);
            }
        }
    }
    replaced
}

/// How many servers were started, by kind of place.
#[derive(Default)]
struct Counts {
    plugin: usize,
    others: usize,
}

impl Counts {
    /// Takes a place, if there is one.
    fn take(&mut self, place: &openclaw_config::Place, limit: Option<usize>) -> bool {
        let count = match place {
            openclaw_config::Place::Plugin => &mut self.plugin,
            _ => &mut self.others,
        };
        let has_room = limit.is_none_or(|limit| *count < limit);
        *count += usize::from(has_room);
        has_room
    }
}

/// How a server of an agent is.
pub struct ServerView {
    /// The server.
    pub server: Arc<PlannedServer>,
    /// How it is, unless it can't run at all.
    pub state: Option<ServerState>,
    /// Why it does not run, where the configuration is the reason.
    pub standing: Standing,
    /// Whether a login to it is kept.
    pub has_login: bool,
}

/// What the configuration says about whether a server runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Standing {
    /// It may.
    Usable,
    /// It is switched off.
    Disabled,
    /// Its definition can't be used.
    Broken(String),
    /// No tool of it may be used.
    Denied,
    /// As many servers run as may.
    OverLimit(usize),
    /// A person stopped it.
    Held,
}
