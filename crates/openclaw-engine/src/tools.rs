//! Tools, and calls of them.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Names an agent, and one of its servers or all of them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OfServer {
    /// The agent; the default one if none is named.
    pub agent: Option<String>,
    /// The server; all if none is named.
    pub server: Option<String>,
}

/// A tool as the model sees it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolReport {
    /// What the model calls it.
    pub name: String,
    /// Its server.
    pub server: String,
    /// Its name at the server.
    pub tool: String,
    /// A name for people.
    pub title: Option<String>,
    /// What it does, as the model reads it.
    pub description: String,
    /// What it takes, as the model reads it.
    pub input_schema: Map<String, Value>,
    /// What its server says about its effects.
    pub annotations: Map<String, Value>,
    /// Whether its definition differs from the one that was first seen.
    pub changed: bool,
}

/// Tools in the order of their names.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolsReport {
    /// The tools.
    pub tools: Vec<ToolReport>,
    /// Servers that could not be asked, and tools that can't be offered: one sentence each.
    pub problems: Vec<String>,
}

/// The arguments of a call: an object, and words that are typed by the tool's schema.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CallArguments {
    /// As JSON.
    pub object: Map<String, Value>,
    /// As names and texts; they win over the object.
    pub words: Vec<(String, String)>,
}

/// Asks for a call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CallRequest {
    /// The agent; the default one if none is named.
    pub agent: Option<String>,
    /// The tool, in any spelling.
    pub tool: String,
    /// What it is called with.
    pub arguments: CallArguments,
    /// Whether whoever asks is a person, who approves of the call by asking for it.
    pub approved: bool,
    /// Whether what the model would read is wanted, too.
    pub framed: bool,
    /// What ties it to lines of the log.
    pub correlation: String,
}

/// How a call ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CallReport {
    /// What the model calls the tool.
    pub tool: String,
    /// Its server.
    pub server: String,
    /// Whether it failed.
    pub is_error: bool,
    /// The parts of the result, as the server sent them, credentials hidden.
    pub content: Vec<Value>,
    /// The same as data, where the tool gives any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub structured_content: Option<Value>,
    /// How long it took.
    pub duration_ms: u64,
    /// What the model would read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub framed: Option<String>,
}

/// Asks to accept the definition that a tool has now.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ApprovalRequest {
    /// The agent; the default one if none is named.
    pub agent: Option<String>,
    /// The tool, in any spelling.
    pub tool: String,
}

/// What was accepted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ApprovalReport {
    /// What the model calls the tool.
    pub tool: String,
    /// Its server.
    pub server: String,
    /// Whether the definition was another one before.
    pub changed: bool,
}
