//! Faults of the process itself.

use clap::Args;

/// Faults of the process itself.
#[derive(Args, Debug)]
#[command(next_help_heading = "Faults of the process")]
pub(crate) struct ProcessFaults {
    /// Exits with 1 when the first message is not `initialize`
    #[arg(long)]
    pub(crate) exit_on_unknown: bool,
    /// Exits once it has answered `initialize` or `server/discover`
    #[arg(long)]
    pub(crate) exit_after_initialize: bool,
    /// Exits when a tool is called
    #[arg(long)]
    pub(crate) exit_on_call: bool,
    /// Exits when it has received so many messages
    #[arg(long, value_name = "N")]
    pub(crate) exit_after: Option<u64>,
    /// Keeps running when it is asked to end with SIGTERM
    #[arg(long)]
    pub(crate) ignore_term: bool,
    /// Starts a process that ignores SIGTERM and holds the same standard streams
    #[arg(long)]
    pub(crate) grandchild: bool,
    /// That process leaves the process group and the session
    #[arg(long)]
    pub(crate) grandchild_setsid: bool,
    /// That process does not hold the standard streams
    #[arg(long)]
    pub(crate) grandchild_silent: bool,
    /// Writes so much to its standard error before it reads anything
    #[arg(long, value_name = "BYTES", default_value_t = 0)]
    pub(crate) flood_stderr: usize,
    /// Tells the variables and headers whose names begin with `secret`, in every reply and on its
    /// standard error
    #[arg(long)]
    pub(crate) leak: bool,
}
