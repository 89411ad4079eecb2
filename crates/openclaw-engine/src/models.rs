//! Models: which an agent has, and whether they can be asked.

use serde::{Deserialize, Serialize};

use crate::overview::Credentials;

/// Asks how models are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ModelsQuery {
    /// Whether the services are asked, too: whether they take the key and have the model.
    pub ask: bool,
}

/// A model of an agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ModelReport {
    /// The agent.
    pub agent: String,
    /// The model, as `provider/model`.
    pub model: String,
    /// Whether it only stands in for another.
    pub is_fallback: bool,
    /// Whether its key is there.
    pub credentials: Credentials,
    /// Why it can't be asked, if that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// What to do about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

/// The models of all agents.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ModelsReport {
    /// The models.
    pub models: Vec<ModelReport>,
}
