//! Tools that are not there, although somebody thought so.

use std::time::Instant;

use openclaw_mcp_client::{Content, RequestError, ToolResult};

use super::{Call, ToolOutcome};
use crate::assembly::AgentTool;
use crate::audit::AuditEntry;
use crate::servers::Servers;

/// With which servers refuse a call of a tool that is not there.
const INVALID_PARAMS: i64 = -32602;

impl Servers {
    /// There is no such tool, or more than one.
    pub(super) fn unknown(
        &self,
        call: &Call<'_>,
        told: &'static str,
        names: &str,
        started: Instant,
    ) -> ToolOutcome {
        let outcome = ToolOutcome::unknown(call.tool.text(), told, names, started);
        let entry = AuditEntry {
            agent: call.agent.agent.id.as_str(),
            session: call.session,
            server: "",
            tool: call.tool.text(),
            arguments: &call.arguments,
            outcome: outcome.end.audited(),
            duration: outcome.duration,
            correlation: call.correlation,
        };
        self.note(&entry, false);
        outcome
    }

    /// Takes a tool off the list that the server says it does not have, and lists anew.
    pub(super) async fn forget_tool(&self, call: &Call<'_>, tool: &AgentTool) {
        tool.offering.remove(&tool.prepared.definition.name);
        if let Some(usable) = &tool.server.usable {
            usable.keep(&tool.offering);
        }
        self.changes().note();
        tracing::warn!(
            server = tool.server.name(),
            tool = tool.prepared.definition.name,
            "the server does not know a tool that it listed"
        );
        if let Some(instance) = self.instance(&tool.server, call.session) {
            instance.relist().await;
        }
    }
}

/// Whether a server refuses a call because it does not know the tool.
pub(super) fn is_about_unknown(error: &RequestError, tool: &str) -> bool {
    matches!(error, RequestError::Refused(refusal)
        if refusal.code == INVALID_PARAMS && mentions_unknown(&refusal.message, tool))
}

/// Whether a result says that the tool is not there: the official libraries put it so.
pub(super) fn says_unknown(result: &ToolResult, tool: &str) -> bool {
    result.content.iter().any(|content| match content {
        Content::Text { text, .. } => {
            text.starts_with("MCP error -32602") && mentions_unknown(text, tool)
        }
        _ => false,
    })
}

/// Whether a text says of this tool, and not of something else, that it is not there.
fn mentions_unknown(text: &str, tool: &str) -> bool {
    let plain = |text: &str| {
        let words = text.to_lowercase().replace(['\'', '"', '`', ':'], " ");
        words.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let (text, tool) = (plain(text), plain(tool));
    [
        format!("unknown tool {tool}"),
        format!("tool {tool} not found"),
        format!("tool not found {tool}"),
    ]
    .iter()
    .any(|said| holds(&text, said))
}

/// Whether a text holds these words, and not only as the beginning of longer ones.
fn holds(text: &str, words: &str) -> bool {
    let goes_on = |character: char| character.is_alphanumeric() || "_-".contains(character);
    let mut found = text.match_indices(words);
    found.any(|(at, words)| !text[at + words.len()..].starts_with(goes_on))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_said_of_the_tool_counts() {
        for text in [
            "Unknown tool: echo",
            "unknown tool 'echo'",
            "MCP error -32602: Tool echo not found",
            "Tool \"echo\" not found",
            "tool not found: echo",
        ] {
            assert!(mentions_unknown(text, "echo"), "{text}");
        }
        for text in [
            "echo failed: issue 7 not found",
            "Unknown tool: echoes of the past",
            "the tool echo says: file not found",
            "",
        ] {
            assert!(!mentions_unknown(text, "echo"), "{text}");
        }
    }
}
