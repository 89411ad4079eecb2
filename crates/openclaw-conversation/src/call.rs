//! Calls of tools and their answers.

use openclaw_content::ModelText;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::media::Media;
use crate::message::Opaque;

/// A call that a model asks for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolCall {
    /// What its answer refers to; unique within a conversation.
    pub id: String,
    /// The tool, as the model names it.
    pub name: String,
    /// What it is to be called with.
    pub arguments: CallArguments,
    /// What the service wants to have back with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub opaque: Option<Opaque>,
}

/// What a model wants a tool to be called with.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum CallArguments {
    /// An object, as it should be.
    Object(Map<String, Value>),
    /// Something else: the call can't be made, and the model is told so.
    Broken {
        /// What the model wrote.
        text: String,
        /// What is wrong with it, in one sentence.
        reason: String,
    },
}

impl CallArguments {
    /// Reads what a model wrote. Nothing at all counts as an empty object.
    pub fn parse(text: &str) -> Self {
        if text.trim().is_empty() {
            return Self::Object(Map::new());
        }
        let reason = match serde_json::from_str(text) {
            Ok(Value::Object(object)) => return Self::Object(object),
            Ok(Value::Null) => return Self::Object(Map::new()),
            Ok(_) => "the arguments are no JSON object".to_owned(),
            Err(error) => format!("the arguments are not JSON: {error}"),
        };
        Self::Broken {
            text: text.to_owned(),
            reason,
        }
    }
}

/// How a call of a tool ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolAnswer {
    /// The call.
    pub call: String,
    /// The tool, as the model named it.
    pub name: String,
    /// Its server, where there is such a tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
    /// The tool that was called in truth, where it was called through another one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub called: Option<String>,
    /// The tools that were found, where it is a search for tools: from then on the model has them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub found: Vec<String>,
    /// What the model gets.
    pub parts: Vec<AnswerPart>,
    /// Whether it failed.
    pub is_error: bool,
    /// How long it took.
    pub duration_ms: u64,
}

/// A part of an answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "camelCase")]
pub enum AnswerPart {
    /// Text.
    Text {
        /// The text, framed as far as it is foreign.
        text: ModelText,
    },
    /// An image or something else, after a text that says what it is.
    Media(Media),
}
