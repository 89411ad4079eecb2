//! What a configuration means for servers and agents.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use openclaw_config::{
    Agent, AgentId, Config, ConfiguredServer, Definition, Fingerprint, Fingerprints, Place,
    Problem, Server, ToolNaming,
};
use openclaw_state::StateKey;

use super::settings::SharedSettings;
use crate::approval::ApprovalRules;
use crate::assembly::AssemblyCache;
use crate::names::{fold, may_be_of};
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
    /// Every connection that somebody needs, with the definition that its settings come from, in
    /// the order of names.
    pub(crate) connections: Vec<Arc<PlannedServer>>,
    /// The names of each connection, in their order.
    names: BTreeMap<Fingerprint, Arc<[String]>>,
    /// How each connection that somebody needs is looked after, for all its names.
    settings: BTreeMap<Fingerprint, SharedSettings>,
}

/// An agent and what it may use.
pub struct AgentPlan {
    /// The agent as it is configured.
    pub agent: Agent,
    pub(crate) policy: Policy,
    pub(crate) approval: ApprovalRules,
    pub(crate) servers: BTreeMap<String, Arc<PlannedServer>>,
    /// Servers of which it may use no tool.
    pub(crate) denied: BTreeSet<String>,
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

    /// The names of the servers that a spelling of a tool can belong to.
    pub fn candidates(&self, spelling: &str) -> Vec<String> {
        let folded = fold(spelling);
        let may_be = |server: &&Arc<PlannedServer>| {
            server.usable.is_some() && may_be_of(server.name(), server.prefix(), &folded)
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

    /// What stands for it in the names of its tools.
    pub(crate) fn prefix(&self) -> &str {
        let prefix = self.server().and_then(|it| it.tool_prefix.as_deref());
        prefix.unwrap_or(self.name())
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
        let pins = (self.server.pin != openclaw_config::PinPolicy::Off).then_some(pins);
        let offering = Arc::new(Offering::new(name, Arc::clone(catalog), &self.filter, pins));
        // What could not be compared is compared the next time.
        if offering.is_compared {
            if kept.len() == OFFERINGS {
                kept.pop_front();
            }
            kept.push_back(Arc::clone(&offering));
        }
        offering
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

impl Plan {
    pub(crate) fn new(config: Arc<Config>, key: &StateKey) -> Self {
        let fingerprints = Fingerprints::new(&config, key);
        // Agents share most servers: each is planned once.
        let mut planned: BTreeMap<*const ConfiguredServer, Arc<PlannedServer>> = BTreeMap::new();
        let mut agents = BTreeMap::new();
        let mut connections: BTreeMap<(String, Fingerprint), Arc<PlannedServer>> = BTreeMap::new();
        let mut settings: BTreeMap<Fingerprint, SharedSettings> = BTreeMap::new();
        let mut names: BTreeMap<Fingerprint, BTreeSet<String>> = BTreeMap::new();
        for agent in config.agents.values() {
            let policy = Policy::new(&agent.policy);
            let (mut servers, mut denied) = (BTreeMap::new(), BTreeSet::new());
            for configured in agent.servers.iter() {
                let server = planned
                    .entry(Arc::as_ptr(configured))
                    .or_insert_with(|| Arc::new(plan(configured, &fingerprints)));
                let name = server.name().to_owned();
                if let Some(usable) = &server.usable {
                    let own = names.entry(usable.fingerprint).or_default();
                    own.insert(name.clone());
                    if policy.denies_all_of(&name, server.prefix())
                        || usable.filter.offers_nothing()
                    {
                        denied.insert(name.clone());
                    } else {
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
                servers.insert(name, server.clone());
            }
            let plan = AgentPlan {
                approval: ApprovalRules::new(agent.approval, &agent.read_only),
                agent: agent.clone(),
                policy,
                servers,
                denied,
                assembled: AssemblyCache::default(),
            };
            agents.insert(agent.id.clone(), Arc::new(plan));
        }
        Self {
            connections: connections.into_values().collect(),
            names: names
                .into_iter()
                .map(|(fingerprint, names)| (fingerprint, names.into_iter().collect()))
                .collect(),
            settings,
            agents,
            config,
        }
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

fn plan(configured: &Arc<ConfiguredServer>, fingerprints: &Fingerprints<'_>) -> PlannedServer {
    let server = configured.definition.sound().filter(|_| configured.enabled);
    PlannedServer {
        usable: server.map(|server| Usable {
            fingerprint: fingerprints.of(server),
            filter: ServerFilter::new(&server.tool_filter),
            server: Arc::clone(server),
            offerings: Mutex::default(),
        }),
        configured: Arc::clone(configured),
    }
}
