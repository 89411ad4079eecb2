//! What a new configuration changes about the servers of an old one.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use openclaw_state::StateKey;

use crate::agent::AgentId;
use crate::config::{Config, ConfiguredServer};
use crate::fingerprint::{Fingerprint, Fingerprints};
use crate::server::{Server, ServerName};

/// Who uses a connection: an agent, under a name.
pub type User = (AgentId, ServerName);

/// A connection that servers of a configuration need.
#[derive(Clone, Debug, PartialEq)]
pub struct Connection {
    /// The definition whose settings hold for the connection itself, such as how long connecting
    /// may take and how often it is restarted: that of the first user.
    pub server: Arc<Server>,
    /// Who uses it.
    pub users: BTreeSet<User>,
}

/// Connections by their fingerprints.
pub type Connections = BTreeMap<Fingerprint, Connection>;

/// The differences between two configurations.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Difference {
    /// Connections that only the new one has.
    pub start: Connections,
    /// Connections that only the old one had.
    pub stop: Connections,
    /// Connections that both have, with those who use them now; nothing about them is touched.
    pub keep: Connections,
    /// What happened to the servers of each agent; those that stayed as they were are left out.
    pub changes: BTreeMap<User, Change>,
}

/// What happened to a server of an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// It is there now.
    Added,
    /// It is gone.
    Removed,
    /// It is started or reached in another way: it needs a new connection.
    Relaunched,
    /// Its connection stays, other settings changed.
    Reconfigured,
    /// It was usable and is not, or the other way round.
    Switched,
}

/// The connections that the usable servers of a configuration need.
pub fn connections(config: &Config, key: &StateKey) -> Connections {
    let fingerprints = Fingerprints::new(config, key);
    let mut connections = Connections::new();
    for agent in config.agents.values() {
        for configured in agent.servers.iter() {
            if let Some(server) = usable(configured) {
                let connection = connections
                    .entry(fingerprints.of(server))
                    .or_insert_with(|| Connection {
                        server: Arc::clone(server),
                        users: BTreeSet::new(),
                    });
                connection
                    .users
                    .insert((agent.id.clone(), configured.name.clone()));
            }
        }
    }
    connections
}

/// Compares two configurations.
pub fn difference(old: &Config, new: &Config, key: &StateKey) -> Difference {
    let (before, after) = (connections(old, key), connections(new, key));
    let select = |left: &Connections, right: &Connections, shared: bool| -> Connections {
        left.iter()
            .filter(|(fingerprint, _)| right.contains_key(*fingerprint) == shared)
            .map(|(fingerprint, connection)| (*fingerprint, connection.clone()))
            .collect()
    };
    Difference {
        start: select(&after, &before, false),
        stop: select(&before, &after, false),
        keep: select(&after, &before, true),
        changes: changes(old, new, key),
    }
}

fn changes(old: &Config, new: &Config, key: &StateKey) -> BTreeMap<User, Change> {
    let (before, after) = (users(old), users(new));
    let (old, new) = (Fingerprints::new(old, key), Fingerprints::new(new, key));
    let all: BTreeSet<&User> = before.keys().chain(after.keys()).collect();
    all.into_iter()
        .filter_map(|user| {
            let change = match (before.get(user), after.get(user)) {
                (None, None) => return None,
                (None, Some(_)) => Change::Added,
                (Some(_), None) => Change::Removed,
                (Some(was), Some(is)) => {
                    let was_print = usable(was).map(|server| old.of(server));
                    let is_print = usable(is).map(|server| new.of(server));
                    match (was_print, is_print) {
                        (Some(before), Some(after)) if before != after => Change::Relaunched,
                        (None, Some(_)) | (Some(_), None) => Change::Switched,
                        _ if was == is => return None,
                        _ => Change::Reconfigured,
                    }
                }
            };
            Some((user.clone(), change))
        })
        .collect()
}

fn users(config: &Config) -> BTreeMap<User, &ConfiguredServer> {
    config
        .agents
        .values()
        .flat_map(|agent| {
            agent.servers.iter().map(|server| {
                let user = (agent.id.clone(), server.name.clone());
                (user, server.as_ref())
            })
        })
        .collect()
}

/// What a server is, if it can be used and is switched on.
fn usable(configured: &ConfiguredServer) -> Option<&Arc<Server>> {
    configured.definition.sound().filter(|_| configured.enabled)
}
