//! Sessions: which there are, and what was said in them.

use serde::{Deserialize, Serialize};

use crate::replies::ToolCallReport;

/// Asks for sessions.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionsQuery {
    /// Those of this agent only.
    pub agent: Option<String>,
}

/// A session, in short.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionReport {
    /// Its name.
    pub key: String,
    /// Whose it is.
    pub agent: String,
    /// How many messages it has.
    pub messages: u64,
    /// When it began, as RFC 3339.
    pub created_at: String,
    /// When something was last said in it.
    pub updated_at: String,
}

/// Sessions, the one that was last used first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionsReport {
    /// The sessions.
    pub sessions: Vec<SessionReport>,
    /// What a person should know about the store: one sentence each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<String>,
    /// Stores that could not be read and were set aside, then or now: where they are.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub set_aside: Vec<String>,
}

/// Names a session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OneSession {
    /// Whose a bare name is; the default agent's if none is named.
    pub agent: Option<String>,
    /// Its name, bare or with its agent.
    pub key: String,
}

/// Who said something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Speaker {
    /// A person.
    User,
    /// A model.
    Assistant,
    /// A tool.
    Tool,
    /// We did: a summary of what was said before.
    Summary,
}

/// A message of a session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MessageReport {
    /// Who said it.
    pub role: Speaker,
    /// What was said; of a tool, what the model reads.
    pub text: String,
    /// The calls that the model asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tool_calls: Vec<AskedCall>,
    /// The call that a tool answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<String>,
    /// The tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_name: Option<String>,
    /// Whether the tool failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub is_error: Option<bool>,
    /// Images and other files: their types and names.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub media: Vec<MediaReport>,
    /// Whether the turn was cut; its calls may have had effects.
    #[serde(default, skip_serializing_if = "is_false")]
    pub interrupted: bool,
    /// Whether the turn ended with an error instead of an answer.
    #[serde(default, skip_serializing_if = "is_false")]
    pub failed: bool,
    /// Whether the turn is still going on.
    #[serde(default, skip_serializing_if = "is_false")]
    pub running: bool,
    /// Which model it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// When, as RFC 3339.
    pub time: String,
}

impl MessageReport {
    /// A text that was said, and no more.
    pub fn said(role: Speaker, text: impl Into<String>) -> Self {
        Self {
            role,
            text: text.into(),
            tool_calls: Vec::new(),
            call: None,
            tool_name: None,
            is_error: None,
            media: Vec::new(),
            interrupted: false,
            failed: false,
            running: false,
            model: None,
            time: String::new(),
        }
    }
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde hands over references"
)]
fn is_false(value: &bool) -> bool {
    !value
}

/// A call that a model asked for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AskedCall {
    /// What its answer refers to.
    pub id: String,
    /// The tool.
    pub name: String,
    /// What it was to be called with, as JSON.
    pub arguments: serde_json::Value,
    /// How it ended, unless the turn was cut before it did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<ToolCallReport>,
}

/// An image or another file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MediaReport {
    /// Its type.
    pub mime_type: String,
    /// Its name.
    pub name: Option<String>,
    /// How many bytes it has.
    pub bytes: u64,
}

/// A session and what was said in it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionTranscript {
    /// Its name.
    pub key: String,
    /// What was said, the first first.
    pub messages: Vec<MessageReport>,
}

/// What became of a session that was to be deleted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DeletedSession {
    /// Its name.
    pub key: String,
}
