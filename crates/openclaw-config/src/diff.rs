//! What a new configuration changes about the servers of an old one.

use std::collections::{BTreeMap, BTreeSet};

use openclaw_state::StateKey;

use crate::agent::AgentId;
use crate::config::{Config, ConfiguredServer, Definition};
use crate::fingerprint::Fingerprint;
use crate::server::ServerName;

/// Who uses a connection: an agent, under a name.
pub type User = (AgentId, ServerName);

/// Connections and who uses each.
pub type Connections = BTreeMap<Fingerprint, BTreeSet<User>>;

/// The differences between two configurations.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
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
    let mut connections = Connections::new();
    for agent in config.agents.values() {
        for (name, configured) in agent.servers.iter() {
            if let Some(fingerprint) = fingerprint(configured, key) {
                let users = connections.entry(fingerprint).or_default();
                users.insert((agent.id.clone(), name.clone()));
            }
        }
    }
    connections
}

/// Compares two configurations.
pub fn difference(old: &Config, new: &Config, key: &StateKey) -> Difference {
    let (before, after) = (connections(old, key), connections(new, key));
    let select = |left: &Connections, right: &Connections, shared: bool| {
        left.iter()
            .filter(|(fingerprint, _)| right.contains_key(*fingerprint) == shared)
            .map(|(fingerprint, users)| (*fingerprint, users.clone()))
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
    let all: BTreeSet<&User> = before.keys().chain(after.keys()).collect();
    all.into_iter()
        .filter_map(|user| {
            let change = match (before.get(user), after.get(user)) {
                (None, None) => return None,
                (None, Some(_)) => Change::Added,
                (Some(_), None) => Change::Removed,
                (Some(old), Some(new)) => change(old, new, key)?,
            };
            Some((user.clone(), change))
        })
        .collect()
}

fn change(old: &ConfiguredServer, new: &ConfiguredServer, key: &StateKey) -> Option<Change> {
    if old == new {
        return None;
    }
    match (fingerprint(old, key), fingerprint(new, key)) {
        (Some(before), Some(after)) if before == after => Some(Change::Reconfigured),
        (Some(_), Some(_)) => Some(Change::Relaunched),
        (None, None) => Some(Change::Reconfigured),
        (None, Some(_)) | (Some(_), None) => Some(Change::Switched),
    }
}

fn users(config: &Config) -> BTreeMap<User, &ConfiguredServer> {
    config
        .agents
        .values()
        .flat_map(|agent| {
            agent
                .servers
                .iter()
                .map(|(name, server)| ((agent.id.clone(), name.clone()), server.as_ref()))
        })
        .collect()
}

/// The fingerprint of a server that can be used.
fn fingerprint(configured: &ConfiguredServer, key: &StateKey) -> Option<Fingerprint> {
    match &configured.definition {
        Definition::Sound(server) if configured.enabled => Some(Fingerprint::of(server, key)),
        Definition::Sound(_) | Definition::Broken(_) => None,
    }
}
