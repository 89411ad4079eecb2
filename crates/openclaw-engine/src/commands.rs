//! Commands: what can be typed behind a slash, and how it goes on.

use serde::{Deserialize, Serialize};

/// Asks which commands an agent understands.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CommandsQuery {
    /// The agent; the default one if none is named.
    pub agent: Option<String>,
}

/// Where a command comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CommandOrigin {
    /// It is there always.
    Builtin,
    /// A skill.
    Skill,
    /// A prompt of a server.
    Prompt,
}

/// A command. Texts of skills and servers among it are cleaned.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CommandReport {
    /// What stands behind the slash.
    pub name: String,
    /// What it does, in one line.
    pub description: String,
    /// What can follow it, for people.
    pub usage: Option<String>,
    /// Where it comes from.
    pub origin: CommandOrigin,
}

/// Commands in the order of their names.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CommandsReport {
    /// The commands.
    pub commands: Vec<CommandReport>,
}

/// Asks how a message can go on that begins with a slash. Nothing is started for it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CompletionQuery {
    /// The agent; the default one if none is named.
    pub agent: Option<String>,
    /// The message up to where something is to be typed.
    pub text: String,
}

/// How a message can go on.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CompletionReport {
    /// The byte of the message from which on a candidate replaces it.
    pub start: usize,
    /// What can stand there.
    pub candidates: Vec<Candidate>,
}

/// What can stand at some place of a message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Candidate {
    /// What would be typed.
    pub text: String,
    /// What it is, in one line.
    pub description: Option<String>,
    /// Whether the word ends with it.
    pub is_whole: bool,
}
