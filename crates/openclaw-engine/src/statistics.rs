//! What servers did since they are looked after, in numbers.

use serde::{Deserialize, Serialize};

use crate::servers::ShownState;

/// The longest durations, in milliseconds, of the classes that calls are counted in. Those that took
/// longer than the last one are in a class of their own.
pub const LATENCY_BOUNDS: [u64; 14] = [
    1, 2, 5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 60_000,
];

/// How calls ended. There is one count for each word, and no other words.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CallCounts {
    /// With a result.
    pub ok: u64,
    /// With a result that says that it failed.
    pub tool_error: u64,
    /// With an error of the server or on the way to it; it was not done.
    pub not_done: u64,
    /// Nobody knows how.
    pub unknown: u64,
    /// It was not allowed.
    pub denied: u64,
    /// A person said no.
    pub rejected: u64,
    /// Its arguments do not fit.
    pub invalid_arguments: u64,
    /// Whoever wanted it gave up.
    pub cancelled: u64,
}

/// What a server did. The same server under two names is counted under each.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ServerStatistics {
    /// Its name in the configuration.
    pub server: String,
    /// How it is.
    pub state: ShownState,
    /// How calls of its tools ended.
    pub calls: CallCounts,
    /// How many calls took at most as long as each of [`LATENCY_BOUNDS`] and longer than the one before;
    /// the last count is of those that took longer than all.
    pub latency: Vec<u64>,
    /// How long all calls took together.
    pub latency_sum_ms: f64,
    /// How often it was started again, ever since.
    pub restarts: u64,
}

/// What all servers did, in the order of their names.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StatisticsReport {
    /// The servers that are configured now.
    pub servers: Vec<ServerStatistics>,
    /// How many turns agents have ended, with a reply or without.
    pub turns: u64,
    /// How many of those failed.
    pub failed_turns: u64,
    /// How many of those ended because whoever waited gave up.
    #[serde(default)]
    pub cancelled_turns: u64,
    /// How often the configuration was read anew and came into force.
    pub reloads: u64,
    /// How often it was read anew and could not be used.
    pub failed_reloads: u64,
}
