//! Everything at one glance.

use serde::{Deserialize, Serialize};

use crate::servers::ServerReport;

/// The gateway.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct GatewayReport {
    /// Whether there is one.
    pub running: bool,
    /// The number of its process.
    pub pid: Option<u32>,
    /// How long it has been running.
    pub uptime_ms: Option<u64>,
    /// Where it listens.
    pub address: Option<String>,
}

/// Whether the key of a model is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Credentials {
    /// It is.
    Ok,
    /// It is not.
    Missing,
    /// None is needed.
    Builtin,
}

/// An agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AgentReport {
    /// Its name.
    pub id: String,
    /// Its model, where one is chosen.
    pub model: Option<String>,
    /// Whether its model's key is there.
    pub credentials: Credentials,
    /// The names of its servers.
    pub servers: Vec<String>,
}

/// Everything at one glance.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Overview {
    /// The version of the program that has the servers.
    pub version: String,
    /// The gateway.
    pub gateway: GatewayReport,
    /// The servers of the default agent.
    pub servers: Vec<ServerReport>,
    /// The agents.
    pub agents: Vec<AgentReport>,
    /// How many sessions there are.
    pub sessions: u64,
    /// Why they can't be counted, if they can't.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sessions_error: Option<String>,
    /// What is wrong with the configuration, if anything.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub config_error: Option<String>,
    /// Where settings stand that have changed and count once the gateway is started anew.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub awaits_restart: Vec<String>,
}

impl Overview {
    /// What is wrong besides servers.
    pub fn errors(&self) -> impl Iterator<Item = &str> {
        let errors = [&self.config_error, &self.sessions_error];
        errors.into_iter().filter_map(|error| error.as_deref())
    }
}
