//! What kinds of resources there are.

use clap::Args;

/// What kinds of resources there are, beside those that are always there.
#[derive(Args, Debug)]
#[command(next_help_heading = "Resources")]
pub(crate) struct ResourceChoices {
    /// Adds so many generated resources
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) resources: usize,
    /// Lists resources that nobody wants, too: one that forges frames, one that is never read to its
    /// end, one without a size that has so many bytes
    #[arg(long, value_name = "BYTES")]
    pub(crate) odd_resources: Option<usize>,
    /// Does not offer to tell of changes of resources
    #[arg(long)]
    pub(crate) no_subscriptions: bool,
    /// Refuses to tell of changes of resources although it offers to, after so many subscriptions
    #[arg(long, value_name = "AFTER", num_args = 0..=1, default_missing_value = "0")]
    pub(crate) refuse_subscriptions: Option<u64>,
}
