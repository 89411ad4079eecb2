//! Faults in what is said, and in how it is put on a line.

use clap::Args;

/// Faults in what is said, on every transport.
#[derive(Args, Debug)]
#[command(next_help_heading = "Faults in what is said")]
pub(crate) struct ProtocolFaults {
    /// Reads, but never answers anything
    #[arg(long)]
    pub(crate) mute: bool,
    /// Never answers `server/discover`, but answers the rest
    #[arg(long)]
    pub(crate) mute_discover: bool,
    /// Never answers `tools/call`
    #[arg(long)]
    pub(crate) mute_calls: bool,
    /// Answers `initialize` and `server/discover` only after so long
    #[arg(long, value_name = "MS", default_value_t = 0)]
    pub(crate) initialize_delay: u64,
    /// Answers `initialize` with the revision 1999-01-01
    #[arg(long)]
    pub(crate) wrong_version: bool,
    /// Answers everything with `{}`
    #[arg(long)]
    pub(crate) empty_result: bool,
    /// Answers with ids turned into strings
    #[arg(long)]
    pub(crate) string_ids: bool,
    /// Answers without ids
    #[arg(long)]
    pub(crate) no_ids: bool,
    /// Answers with ids that are null
    #[arg(long)]
    pub(crate) null_ids: bool,
    /// Sends every reply twice
    #[arg(long)]
    pub(crate) duplicate_replies: bool,
    /// Sends so many replies that nobody waits for, before the first one
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) replies_to_nobody: usize,
    /// Sends JSON that is no JSON-RPC before every reply
    #[arg(long)]
    pub(crate) not_rpc: bool,
    /// Sends replies as arrays, each together with a notification
    #[arg(long)]
    pub(crate) batch: bool,
    /// Nests the `structuredContent` of the spoilt reply, and a notification before it, so deeply
    #[arg(long, value_name = "N")]
    pub(crate) deep_nesting: Option<usize>,
    /// Puts bytes that are no UTF-8 into the text of results
    #[arg(long)]
    pub(crate) invalid_utf8: bool,
    /// Makes the spoilt reply this long
    #[arg(long, value_name = "BYTES")]
    pub(crate) huge_line: Option<usize>,
    /// Gives an empty cursor with the last page
    #[arg(long)]
    pub(crate) empty_cursor: bool,
    /// Answers every notification with an error that has no id
    #[arg(long)]
    pub(crate) answer_notifications: bool,
    /// Refuses `subscriptions/listen`
    #[arg(long)]
    pub(crate) refuse_listen: bool,
    /// Gives the same cursor with every page
    #[arg(long)]
    pub(crate) repeat_cursor: bool,
    /// Gives a new cursor with every page, for ever
    #[arg(long)]
    pub(crate) endless_pages: bool,
    /// Puts malformed tools, resources and prompts among the good ones
    #[arg(long)]
    pub(crate) bad_tool: bool,
    /// After the first `tools/list`, says so often a second that the tools changed
    #[arg(long, value_name = "N")]
    pub(crate) list_changed_storm: Option<u32>,
    /// After the first `tools/list`, sends so many requests with methods that nobody knows
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) request_storm: usize,
}

/// Faults in how messages are put on lines: stdio only.
#[derive(Args, Debug)]
#[command(next_help_heading = "Faults of stdio")]
pub(crate) struct FramingFaults {
    /// Writes so many lines that are no JSON before the first reply
    #[arg(long, value_name = "LINES", default_value_t = 0)]
    pub(crate) flood_stdout: usize,
    /// Writes a banner, blank lines and debug output before and between replies
    #[arg(long)]
    pub(crate) noise: bool,
    /// Writes a byte order mark before the first message
    #[arg(long)]
    pub(crate) bom: bool,
    /// Ends lines with CR LF
    #[arg(long)]
    pub(crate) crlf: bool,
    /// Writes bytes without a line end for ever instead of the spoilt reply
    #[arg(long)]
    pub(crate) endless_line: bool,
    /// Writes half of the spoilt reply, then exits
    #[arg(long)]
    pub(crate) exit_mid_line: bool,
    /// Stops reading after so many messages, but keeps running
    #[arg(long, value_name = "N")]
    pub(crate) stop_reading_after: Option<u64>,
    /// Keeps running when its input ends
    #[arg(long)]
    pub(crate) ignore_eof: bool,
}
