//! What can be seen of servers without starting any, for those who look all the time.

use serde::{Deserialize, Serialize};

use crate::servers::{LogsReport, ServerDetails, ServerReport};
use crate::tools::ToolsReport;

/// Asks what can be seen right now. Nothing is started or waited for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct LookQuery {
    /// The agent; the default one if none is named.
    pub agent: Option<String>,
    /// One server, which is looked at closely; all of them if none is named.
    pub server: Option<String>,
    /// The number of the last line of its standard error that is known: then what it wrote since is told, and
    /// nothing else of it.
    pub after: Option<u64>,
    /// Whether the tools are told as well.
    pub tools: bool,
}

/// What can be seen right now.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LookReport {
    /// The servers, in the order of their names; the one that was named, if one was.
    pub servers: Vec<ServerReport>,
    /// That one closely.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<ServerDetails>,
    /// What it wrote to its standard error since.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log: Option<LogsReport>,
    /// The tools that the agent may use as far as they are known, those that wait to be accepted included.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tools: Option<ToolsReport>,
}
