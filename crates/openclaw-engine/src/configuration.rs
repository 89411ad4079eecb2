//! The configuration: what is in force, and what is wrong with its files.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Asks for the configuration.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ConfigurationQuery {
    /// The agent whose servers are shown; the default one if none is named.
    pub agent: Option<String>,
}

/// Whether a problem keeps something from working.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ProblemSeverity {
    /// What has the problem can't be used.
    Error,
    /// It works, but probably not as it was meant.
    Warning,
}

/// Something that is wrong with a configuration. No text in it shows a credential.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ConfigurationProblem {
    /// Whether something does not work because of it.
    pub severity: ProblemSeverity,
    /// The file that it is in.
    pub file: Option<String>,
    /// Where in the configuration it is, as in `mcp.servers.github`.
    pub path: String,
    /// What is wrong.
    pub message: String,
    /// The line in the file, from 1.
    pub line: Option<usize>,
    /// The column, from 1, in characters.
    pub column: Option<usize>,
    /// The text that was probably meant.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suggestion: Option<String>,
    /// What to do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub help: Option<String>,
    /// The text of the line, where it can be shown: with asterisks in the place of credentials.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
}

/// The configuration that is in force, and what is wrong with its files as they are now.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ConfigurationReport {
    /// The file that it stands in.
    pub file: String,
    /// Whether that is there; defaults hold without it.
    pub exists: bool,
    /// What is in force, in the shape of the file, defaults filled in, credentials hidden.
    pub configuration: Value,
    /// What is wrong with the files now, in their order.
    pub problems: Vec<ConfigurationProblem>,
    /// How many problems there are that are not listed.
    pub omitted: usize,
    /// Why the files did not come into force when they were read last.
    pub error: Option<String>,
}
