//! The last calls of the log.

use openclaw_state::{ReadError, StateDirectory, layout, newest_lines};
use serde::Deserialize;

use super::moment;

/// How much of each file is looked at, in bytes: a line has a few hundred.
const WINDOW: u64 = 2 * 1024 * 1024;

/// A call as it stands in the log. Whoever shares the state directory may have written it.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AuditedCall {
    /// When it ended, as [`written_moment`](crate::written_moment) writes it.
    pub time: String,
    /// The agent.
    pub agent: String,
    /// The server.
    pub server: String,
    /// The tool, by its name at the server.
    pub tool: String,
    /// How it ended: the word for it. Another version may have others.
    pub outcome: String,
    /// How long it took.
    pub duration_ms: u64,
    /// What ties it to other lines of the log.
    pub correlation: String,
}

impl AuditedCall {
    fn read(line: &[u8]) -> Option<Self> {
        let call: Self = serde_json::from_slice(line).ok()?;
        moment::is_written(&call.time).then_some(call)
    }
}

/// The last calls of all processes that share a state directory, the oldest first. Lines that are none
/// are passed over. Files are read meanwhile: in asynchronous code this is for threads that may wait.
pub fn recent_calls(
    directory: &StateDirectory,
    most: usize,
) -> Result<Vec<AuditedCall>, ReadError> {
    let mut calls = Vec::new();
    if most == 0 {
        return Ok(calls);
    }
    // Looking at the log is no reason to make a directory for it.
    let path = directory.path().join(layout::AUDIT);
    newest_lines(&path, WINDOW, |line| {
        calls.extend(AuditedCall::read(line));
        calls.len() < most
    })?;
    calls.reverse();
    Ok(calls)
}

#[cfg(test)]
mod tests;
