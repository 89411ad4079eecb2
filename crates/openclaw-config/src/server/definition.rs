//! A server with all its settings.

use std::time::Duration;

use crate::place::Place;
use crate::server::{Launch, PinPolicy, ServerName, ServerScope, ToolNaming};

/// A server whose definition is sound, as one agent sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Server {
    /// Its name.
    pub name: ServerName,
    /// How it is started or reached.
    pub launch: Launch,
    /// The place that gave `command` or `url`.
    pub place: Place,
    /// How long things may take.
    pub timeouts: Timeouts,
    /// Whether calls may run at the same time.
    pub parallel_calls: bool,
    /// What happens when its program ends.
    pub restart: Restart,
    /// Whether it starts when it is first needed.
    pub lazy: bool,
    /// After how long without use it is stopped, if at all.
    pub idle_timeout: Option<Duration>,
    /// Who shares the connection.
    pub scope: ServerScope,
    /// How its tools are named.
    pub naming: ToolNaming,
    /// What stands for its name in the names of its tools.
    pub tool_prefix: Option<String>,
    /// Which of its tools are offered.
    pub tool_filter: ToolFilter,
    /// Whether models see the definitions of its tools without a search.
    pub always_load: bool,
    /// Whether its own word that a tool only reads is believed.
    pub trust_annotations: bool,
    /// What happens when a tool's definition changes.
    pub pin: PinPolicy,
    /// How many bytes of text of a result reach the model at once.
    pub max_result_bytes: u64,
    /// Which of its resources stand beside every message.
    pub resources: ServerResources,
    /// How often its tools are listed again, if at all.
    pub discovery_interval: Option<Duration>,
}

/// How long things may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timeouts {
    /// Connecting, the program's start included.
    pub connection: Duration,
    /// A call without a sign of life.
    pub request: Duration,
    /// A call in all.
    pub total: Duration,
}

/// How often a program that ends is started again before it counts as failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Restart {
    /// Its first end is a failure.
    Never,
    /// So many times in a row.
    AtMost(u32),
}

/// Which resources of a server stand beside every message, by patterns over their addresses.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServerResources {
    /// These.
    pub inject: Vec<String>,
    /// At most so many bytes of them, if there is a limit of its own.
    pub max_bytes: Option<u64>,
}

/// Which tools of a server are offered, by patterns over their own names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToolFilter {
    /// Only these, where there are any.
    pub include: Vec<String>,
    /// Not these.
    pub exclude: Vec<String>,
}
