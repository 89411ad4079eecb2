//! Prompts that servers offer.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Something that a prompt takes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PromptArgumentReport {
    /// Its name.
    pub name: String,
    /// What it is.
    pub description: Option<String>,
    /// Whether it must be given.
    pub required: bool,
}

/// A prompt of a server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PromptSummary {
    /// The server.
    pub server: String,
    /// Its name.
    pub name: String,
    /// A name for people.
    pub title: Option<String>,
    /// What it is for.
    pub description: Option<String>,
    /// What it takes.
    pub arguments: Vec<PromptArgumentReport>,
}

/// The prompts that servers offer, by server.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PromptsReport {
    /// The prompts.
    pub prompts: Vec<PromptSummary>,
    /// Servers that could not be asked: one sentence each.
    pub problems: Vec<String>,
}

/// Asks for a prompt to be filled in.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PromptRequest {
    /// The agent; the default one if none is named.
    pub agent: Option<String>,
    /// The server.
    pub server: String,
    /// The prompt.
    pub name: String,
    /// What it is filled in with.
    pub arguments: Map<String, Value>,
}

/// A message of a prompt.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PromptMessageReport {
    /// Who is to say it.
    pub role: String,
    /// What is said, as the server sent it.
    pub content: Value,
}

/// A prompt that was filled in.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PromptReport {
    /// The server.
    pub server: String,
    /// The prompt.
    pub name: String,
    /// What it is for.
    pub description: Option<String>,
    /// Its messages.
    pub messages: Vec<PromptMessageReport>,
}
