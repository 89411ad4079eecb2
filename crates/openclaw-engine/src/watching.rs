//! What happens to servers, told while it happens.

use serde::{Deserialize, Serialize};

use crate::definitions::ReloadReport;
use crate::servers::ShownState;

/// Whoever wants to know what happens.
pub trait Watcher: Send + Sync {
    /// Something happened. Must not wait for anything.
    fn hear(&self, event: EngineEvent);
}

/// Something that happened.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(
    tag = "type",
    rename_all = "camelCase",
    rename_all_fields = "camelCase"
)]
pub enum EngineEvent {
    /// A server is in another state than before, or offers something else.
    Server {
        /// Its name; one of them, if it has several.
        server: String,
        /// How it is.
        state: ShownState,
        /// What went wrong, or why it does not run.
        error: Option<String>,
    },
    /// A server was lost and is started again.
    Restarted {
        /// Its name; one of them, if it has several.
        server: String,
    },
    /// A tool was called.
    Call {
        /// The agent.
        agent: String,
        /// The server.
        server: String,
        /// The tool, by its name at the server.
        tool: String,
        /// How it ended, in the words of the audit log.
        outcome: String,
        /// How long it took.
        duration_ms: u64,
        /// What ties it to lines of the log.
        correlation: String,
    },
    /// The configuration was read anew and is in force.
    Reloaded {
        /// What changed.
        report: ReloadReport,
    },
    /// The configuration was read anew and can't be used; what runs is as it was.
    NotReloaded {
        /// Why.
        error: String,
    },
    /// So much happened that some of it was not told.
    Missed {
        /// How many events.
        count: u64,
    },
}
