//! What a configuration means for servers and agents.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use openclaw_config::{
    Agent, AgentId, Config, ConfiguredServer, Definition, Fingerprint, Fingerprints, Place,
    Problem, Server, ServerScope, ToolNaming,
};
use openclaw_state::StateKey;

use super::loans::{LentServer, Taken, joining};
use super::settings::SharedSettings;
use crate::approval::ApprovalRules;
use crate::assembly::AgentTool;
use crate::assembly::AssemblyCache;
use crate::names::{ServerForms, fold};
use crate::offering::Offering;
use crate::pins::Pins;
use crate::policy::{Policy, ServerFilter};
use crate::supervise::Catalog;

/// For how many servers of one definition it is remembered what they offer.
const OFFERINGS: usize = 8;

/// What a configuration means.
pub(crate) struct Plan {
    pub(crate) config: Arc<Config>,
    pub(crate) agents: BTreeMap<AgentId, Arc<AgentPlan>>,
    /// Agents as they are in sessions that servers are lent to.
    lent: BTreeMap<Arc<str>, LentPlan>,
    /// Every connection that somebody needs, with the definition that its settings come from, in
    /// the order of names.
    pub(crate) connections: Vec<Arc<PlannedServer>>,
    /// The names of each connection, in their order.
    names: BTreeMap<Fingerprint, Arc<[String]>>,
    /// How each connection that somebody needs is looked after, for all its names.
    settings: BTreeMap<Fingerprint, SharedSettings>,
}

/// What is lent to sessions, by their whole names.
pub(crate) type Loans = BTreeMap<Arc<str>, Arc<Loan>>;

/// Servers that are lent to a session.
pub(crate) struct Loan {
    /// Who lends them.
    pub(crate) lender: String,
    /// Whose session it is.
    pub(crate) agent: AgentId,
    /// The servers, as they were given.
    pub(crate) servers: Vec<LentServer>,
}

/// An agent as it is in a session.
#[derive(Clone)]
struct LentPlan {
    loan: Arc<Loan>,
    plan: Arc<AgentPlan>,
    /// What became of each server.
    taken: Vec<Taken>,
}

/// An agent and what it may use.
pub struct AgentPlan {
    /// The agent as it is configured.
    pub agent: Agent,
    /// The session in which it is so; none where it is so everywhere else.
    session: Option<Arc<str>>,
    pub(crate) policy: Policy,
    pub(crate) approval: ApprovalRules,
    pub(crate) servers: BTreeMap<String, Arc<PlannedServer>>,
    /// Servers of which it may use no tool.
    pub(crate) denied: BTreeSet<String>,
    /// Whether some of its servers are started for each session.
    pub(crate) has_servers_of_sessions: bool,
    pub(crate) assembled: AssemblyCache,
}

/// A server under a name.
pub struct PlannedServer {
    /// The server as it is configured.
    pub configured: Arc<ConfiguredServer>,
    /// What there is to connect to, if there is anything.
    pub(crate) usable: Option<Usable>,
}

/// A server that can be connected to.
pub(crate) struct Usable {
    pub(crate) server: Arc<Server>,
    pub(crate) fingerprint: Fingerprint,
    remembered_as: String,
    forms: ServerForms,
    filter: ServerFilter,
    /// What it offers, made ready the last times: sessions may each have a server of their own.
    offerings: Mutex<VecDeque<Arc<Offering>>>,
}

impl AgentPlan {
    /// Its servers, in the order of their names.
    pub fn servers(&self) -> impl Iterator<Item = &Arc<PlannedServer>> {
        self.servers.values()
    }

    /// Its server of this name.
    pub fn server(&self, name: &str) -> Option<&Arc<PlannedServer>> {
        self.servers.get(name)
    }

    /// The names of its servers.
    pub fn server_names(&self) -> impl Iterator<Item = &str> {
        self.servers.keys().map(String::as_str)
    }

    /// Whether it may use no tool of a server.
    pub fn denies(&self, server: &str) -> bool {
        self.denied.contains(server)
    }

    /// Whether it may use this tool of ours.
    pub fn allows_own(&self, tool: &str) -> bool {
        self.policy.decide_own(tool).is_allowed()
    }

    /// Whether a tool changes nothing, as far as that is known: by the configuration, or by the word of a
    /// server whose word counts.
    pub fn is_read_only(&self, tool: &AgentTool) -> bool {
        let annotations = &tool.prepared.definition.annotations;
        self.approval
            .is_read_only(&tool.named, annotations, tool.server.is_trusted())
    }

    /// The names of the servers that a spelling of a tool can belong to.
    pub fn candidates(&self, spelling: &str) -> Vec<String> {
        let folded = fold(spelling);
        let may_be = |server: &&Arc<PlannedServer>| {
            let usable = server.usable.as_ref();
            usable.is_some_and(|usable| usable.forms.may_begin(&folded))
        };
        let found = self.servers.values().filter(may_be);
        found.map(|server| server.name().to_owned()).collect()
    }
}

impl PlannedServer {
    /// Its name.
    pub fn name(&self) -> &str {
        self.configured.name.as_str()
    }

    /// The definition, if it can be used.
    pub fn server(&self) -> Option<&Arc<Server>> {
        self.configured.definition.sound()
    }

    /// Whether what it says of its tools counts.
    pub(crate) fn is_trusted(&self) -> bool {
        self.server().is_some_and(|server| server.trust_annotations)
    }

    /// What makes its connection the same as another, if it can be connected to.
    pub(crate) fn fingerprint(&self) -> Option<Fingerprint> {
        self.usable.as_ref().map(|usable| usable.fingerprint)
    }

    /// What is wrong with its definition, if anything.
    pub fn broken(&self) -> Option<String> {
        match &self.configured.definition {
            Definition::Sound(_) => None,
            Definition::Broken(reasons) => {
                let reasons: Vec<&str> = reasons.iter().map(Problem::message).collect();
                Some(reasons.join("; "))
            }
        }
    }

    /// How its tools are named.
    pub fn naming(&self) -> ToolNaming {
        self.server()
            .map_or(ToolNaming::Prefixed, |server| server.naming)
    }

    /// Whether somebody lends it to a session.
    pub fn is_lent(&self) -> bool {
        self.configured.place == Place::Session
    }

    /// Under what it is remembered what people allowed it: another session may lend another server under the
    /// same name, and names have no `/`.
    pub(crate) fn remembered_as(&self) -> &str {
        let usable = self.usable.as_ref();
        usable.map_or(self.name(), |usable| &usable.remembered_as)
    }

    /// What stands for it in the names of its tools.
    pub(crate) fn prefix(&self) -> &str {
        self.server().map_or(self.name(), |server| prefix(server))
    }
}

impl Usable {
    /// What the server offers, made ready once for each list that it gave.
    pub(crate) fn offering(&self, catalog: &Arc<Catalog>, pins: &Pins) -> Arc<Offering> {
        let mut kept = self.offerings();
        let known = kept.iter().find(|it| Arc::ptr_eq(&it.catalog, catalog));
        if let Some(offering) = known {
            return Arc::clone(offering);
        }
        let name = self.server.name.as_str();
        // Definitions of what is lent are not remembered: each project, and each new token, is another server.
        let is_pinned = self.server.pin != openclaw_config::PinPolicy::Off
            && self.server.place != Place::Session;
        let pins = is_pinned.then_some(pins);
        let offering = Arc::new(Offering::new(name, Arc::clone(catalog), &self.filter, pins));
        // What could not be compared is compared the next time.
        if offering.is_compared {
            remember(&mut kept, &offering);
        }
        offering
    }

    /// Remembers what the server offers, if it is not remembered by now: something about it is known that a
    /// new one would not know.
    pub(crate) fn keep(&self, offering: &Arc<Offering>) {
        let mut kept = self.offerings();
        if !kept.iter().any(|it| Arc::ptr_eq(it, offering)) {
            remember(&mut kept, offering);
        }
    }

    /// Makes what it offers ready anew the next time.
    pub(crate) fn forget(&self) {
        self.offerings().clear();
    }

    fn offerings(&self) -> MutexGuard<'_, VecDeque<Arc<Offering>>> {
        self.offerings
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

fn remember(kept: &mut VecDeque<Arc<Offering>>, offering: &Arc<Offering>) {
    if kept.len() == OFFERINGS {
        kept.pop_front();
    }
    kept.push_back(Arc::clone(offering));
}

impl Plan {
    pub(crate) fn new(config: Arc<Config>, key: &StateKey, loans: &Loans) -> Self {
        let fingerprints = Fingerprints::new(&config, key);
        // Agents share most servers: each is planned once.
        let mut planned: BTreeMap<*const ConfiguredServer, Arc<PlannedServer>> = BTreeMap::new();
        let mut planned = |configured: &Arc<ConfiguredServer>| {
            let known = planned.entry(Arc::as_ptr(configured));
            Arc::clone(known.or_insert_with(|| Arc::new(plan(configured, &fingerprints))))
        };
        let agents = config.agents.values();
        let agents = agents.map(|agent| (agent.id.clone(), agent_plan(agent, None, &mut planned)));
        let agents = agents.collect();
        Self::gathered(config, agents, BTreeMap::new()).lending(key, loans)
    }

    /// The same configuration with these loans. What did not change is taken over, and with it what was made
    /// ready.
    pub(crate) fn lending(&self, key: &StateKey, loans: &Loans) -> Self {
        let fingerprints = Fingerprints::new(&self.config, key);
        let mut lent = BTreeMap::new();
        for (session, loan) in loans {
            let known = self.lent.get(session);
            if let Some(known) = known.filter(|known| Arc::ptr_eq(&known.loan, loan)) {
                lent.insert(Arc::clone(session), known.clone());
                continue;
            }
            // Its agent may be gone; what is lent waits until it is there again.
            let Some(agent) = self.agents.get(&loan.agent) else {
                continue;
            };
            let (taken, servers) = joining(agent, &loan.servers, &fingerprints);
            let with_loan = Agent {
                servers: agent.agent.servers.with(servers),
                ..agent.agent.clone()
            };
            let session = Some(Arc::clone(session));
            let plan = agent_plan(&with_loan, session.clone(), &mut |configured| {
                let own = agent.server(configured.name.as_str());
                let own = own.filter(|own| Arc::ptr_eq(&own.configured, configured));
                own.map_or_else(|| Arc::new(plan(configured, &fingerprints)), Arc::clone)
            });
            let loan = Arc::clone(loan);
            let with_loan = LentPlan { loan, plan, taken };
            lent.extend(session.map(|session| (session, with_loan)));
        }
        Self::gathered(Arc::clone(&self.config), self.agents.clone(), lent)
    }

    /// All connections that agents need, in general and in sessions.
    fn gathered(
        config: Arc<Config>,
        agents: BTreeMap<AgentId, Arc<AgentPlan>>,
        lent: BTreeMap<Arc<str>, LentPlan>,
    ) -> Self {
        let mut connections: BTreeMap<(String, Fingerprint), Arc<PlannedServer>> = BTreeMap::new();
        let mut settings: BTreeMap<Fingerprint, SharedSettings> = BTreeMap::new();
        let mut names: BTreeMap<Fingerprint, BTreeSet<String>> = BTreeMap::new();
        let in_sessions = lent.values().map(|lent| &lent.plan);
        for agent in agents.values().chain(in_sessions) {
            for (name, server) in &agent.servers {
                let Some(usable) = &server.usable else {
                    continue;
                };
                // What others call a server that is lent to them is nobody else's business.
                if !server.is_lent() {
                    let own = names.entry(usable.fingerprint).or_default();
                    own.insert(name.clone());
                }
                if agent.denies(name) {
                    continue;
                }
                let own = SharedSettings::of(&usable.server);
                match settings.entry(usable.fingerprint) {
                    Entry::Occupied(mut all) => drop(all.insert(all.get().with(own))),
                    Entry::Vacant(first) => {
                        first.insert(own);
                        let key = (name.clone(), usable.fingerprint);
                        connections.insert(key, server.clone());
                    }
                }
            }
        }
        Self {
            connections: connections.into_values().collect(),
            names: names
                .into_iter()
                .map(|(fingerprint, names)| (fingerprint, names.into_iter().collect()))
                .collect(),
            settings,
            agents,
            lent,
            config,
        }
    }

    /// An agent as it is in a session.
    pub(crate) fn in_session(&self, session: &str) -> Option<&Arc<AgentPlan>> {
        self.lent.get(session).map(|lent| &lent.plan)
    }

    /// What became of the servers that are lent to a session.
    pub(crate) fn taken(&self, session: &str) -> Vec<Taken> {
        let lent = self.lent.get(session);
        lent.map(|lent| lent.taken.clone()).unwrap_or_default()
    }

    /// What an agent of an earlier plan is in this one.
    pub(crate) fn now(&self, agent: &AgentPlan) -> Option<&Arc<AgentPlan>> {
        let session = agent.session.as_deref();
        let in_session = session.and_then(|session| self.in_session(session));
        in_session.or_else(|| self.agents.get(&agent.agent.id))
    }

    /// Whether a connection is there only for sessions that it is lent to.
    pub(crate) fn is_lent(&self, fingerprint: &Fingerprint) -> bool {
        !self.names.contains_key(fingerprint)
    }

    /// How a connection is looked after, for all its names that somebody needs.
    pub(super) fn settings(&self, usable: &Usable) -> SharedSettings {
        let shared = self.settings.get(&usable.fingerprint).copied();
        shared.unwrap_or_else(|| SharedSettings::of(&usable.server))
    }

    /// The fingerprints of all connections that somebody needs.
    pub(crate) fn fingerprints(&self) -> impl Iterator<Item = Fingerprint> {
        let usable = self.connections.iter().filter_map(|it| it.usable.as_ref());
        usable.map(|usable| usable.fingerprint)
    }

    /// The names that a connection has.
    pub(crate) fn names(&self, fingerprint: &Fingerprint) -> Arc<[String]> {
        self.names.get(fingerprint).cloned().unwrap_or_default()
    }

    /// How many servers of this kind of place may be connected at once.
    pub(crate) fn limit(&self, place: &Place) -> Option<usize> {
        let limits = self.config.server_limits;
        match place {
            Place::Plugin => Some(limits.plugin),
            _ => limits.others,
        }
    }
}

fn agent_plan(
    agent: &Agent,
    session: Option<Arc<str>>,
    planned: &mut dyn FnMut(&Arc<ConfiguredServer>) -> Arc<PlannedServer>,
) -> Arc<AgentPlan> {
    let policy = Policy::new(&agent.policy);
    let (mut servers, mut denied) = (BTreeMap::new(), BTreeSet::new());
    for configured in agent.servers.iter() {
        let server = planned(configured);
        let name = server.name().to_owned();
        if let Some(usable) = &server.usable
            && (policy.denies_all_of(&name, server.prefix()) || usable.filter.offers_nothing())
        {
            denied.insert(name.clone());
        }
        servers.insert(name, server);
    }
    let is_of_session = |server: &Arc<PlannedServer>| {
        let server = server.server();
        server.is_some_and(|server| server.scope == ServerScope::Session)
    };
    Arc::new(AgentPlan {
        has_servers_of_sessions: servers.values().any(is_of_session),
        approval: ApprovalRules::new(agent.approval, &agent.read_only),
        agent: agent.clone(),
        session,
        policy,
        servers,
        denied,
        assembled: AssemblyCache::default(),
    })
}

/// What stands for a server in the names of its tools.
fn prefix(server: &Server) -> &str {
    let name = server.name.as_str();
    server.tool_prefix.as_deref().unwrap_or(name)
}

fn plan(configured: &Arc<ConfiguredServer>, fingerprints: &Fingerprints<'_>) -> PlannedServer {
    let server = configured.definition.sound().filter(|_| configured.enabled);
    PlannedServer {
        usable: server.map(|server| {
            let fingerprint = fingerprints.of(server);
            Usable {
                fingerprint,
                remembered_as: match server.place {
                    Place::Session => format!("{}/{fingerprint}", server.name.as_str()),
                    _ => server.name.as_str().to_owned(),
                },
                forms: ServerForms::new(server.name.as_str(), prefix(server)),
                filter: ServerFilter::new(&server.tool_filter),
                server: Arc::clone(server),
                offerings: Mutex::default(),
            }
        }),
        configured: Arc::clone(configured),
    }
}
