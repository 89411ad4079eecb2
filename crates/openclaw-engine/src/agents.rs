//! Agents.

use serde::{Deserialize, Serialize};

/// Which agent is meant.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AgentQuery {
    /// Its name; the default one if none is named.
    pub agent: Option<String>,
}

/// An agent that there is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct KnownAgent {
    /// Its name.
    pub id: String,
}
