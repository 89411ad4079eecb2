//! Faults of the HTTP transports.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

/// Faults of the HTTP transports.
#[derive(Args, Debug)]
#[command(next_help_heading = "Faults of HTTP")]
pub(crate) struct HttpFaults {
    /// Answers POST with this status
    #[arg(long, value_name = "CODE")]
    pub(crate) status: Option<u16>,
    /// Only for this JSON-RPC method
    #[arg(long, value_name = "METHOD")]
    pub(crate) status_on: Option<String>,
    /// Only so many times
    #[arg(long, value_name = "N")]
    pub(crate) status_times: Option<u64>,
    /// What the body is then
    #[arg(long, value_enum, default_value_t = StatusBody::Empty)]
    pub(crate) status_body: StatusBody,
    /// Gives that answer a `Retry-After`
    #[arg(long, value_name = "VALUE")]
    pub(crate) retry_after: Option<String>,
    /// Gives every 401 and 403 this `WWW-Authenticate`
    #[arg(long, value_name = "VALUE")]
    pub(crate) www_authenticate: Option<String>,
    /// Redirects POST to this address; `self` is another path of this server, which works
    #[arg(long, value_name = "URL")]
    pub(crate) redirect: Option<String>,
    /// The status of the redirect
    #[arg(long, value_name = "CODE", default_value_t = 307)]
    pub(crate) redirect_status: u16,
    /// Answers 401 unless the request has this header
    #[arg(long, value_name = "NAME=VALUE")]
    pub(crate) require_header: Vec<String>,
    /// Answers 403 unless the `Host` is the address it listens on
    #[arg(long)]
    pub(crate) require_host: bool,
    /// Closes the connection instead of answering, so many times
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) hang_up: u64,
    /// Breaks off in the middle of the spoilt reply's event; it can be resumed
    #[arg(long)]
    pub(crate) drop_stream: bool,
    /// Breaks off in the middle of the spoilt reply's event, having given no event ids
    #[arg(long)]
    pub(crate) drop_stream_no_ids: bool,
    /// Gives an event id and `retry:`, ends the stream, and has the reply ready for the GET
    #[arg(long)]
    pub(crate) poll: bool,
    /// What `retry:` says
    #[arg(long, value_name = "MS", default_value_t = 50)]
    pub(crate) poll_retry: u64,
    /// Sends an event without end instead of the spoilt reply
    #[arg(long)]
    pub(crate) endless_event: bool,
    /// Answers requests of a session that it does not know with 400 and a JSON-RPC error
    #[arg(long)]
    pub(crate) session_400: bool,
    /// Answers GET with this status
    #[arg(long, value_name = "CODE")]
    pub(crate) get_status: Option<u16>,
    /// Only so many times
    #[arg(long, value_name = "N")]
    pub(crate) get_status_times: Option<u64>,
    /// Holds back the head of the answer to GET
    #[arg(long)]
    pub(crate) hold_get: bool,
    /// Ends every stream of GET at once, after `retry:` with this value
    #[arg(long, value_name = "MS")]
    pub(crate) get_retry: Option<u64>,
    /// Answers 404 after so many requests of a session; a new session works
    #[arg(long, value_name = "N")]
    pub(crate) expire_session_after: Option<u64>,
    /// Answers GET with 405
    #[arg(long)]
    pub(crate) no_get: bool,
    /// Breaks off the stream of GET as soon as it is open, so many times
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) drop_get_stream: u64,
    /// Answers with JSON bodies only
    #[arg(long, conflicts_with = "sse_only")]
    pub(crate) json_only: bool,
    /// Answers with event streams only
    #[arg(long)]
    pub(crate) sse_only: bool,
    /// Sends bodies in small pieces, so far apart
    #[arg(long, value_name = "MS")]
    pub(crate) slow_body: Option<u64>,
    /// Sends events in pieces of so many bytes, with CR LF and comments between them
    #[arg(long, value_name = "BYTES")]
    pub(crate) chunked_sse: Option<usize>,
    /// Closes the connection after every reply
    #[arg(long)]
    pub(crate) close_after_reply: bool,
    /// Answers with `Content-Type: text/plain`
    #[arg(long)]
    pub(crate) wrong_content_type: bool,
    /// Makes the body of the spoilt reply this long
    #[arg(long, value_name = "BYTES")]
    pub(crate) huge_body: Option<usize>,
    /// `sse`: gives the endpoint as an absolute address
    #[arg(long)]
    pub(crate) endpoint_absolute: bool,
    /// `sse`: gives an endpoint of another origin
    #[arg(long)]
    pub(crate) endpoint_foreign: bool,
    /// `sse`: gives no endpoint
    #[arg(long)]
    pub(crate) no_endpoint: bool,
    /// `sse`: breaks off the stream after so many events
    #[arg(long, value_name = "N")]
    pub(crate) sse_drop_after: Option<u64>,
    /// Serves https, with this certificate and its key (PEM)
    #[arg(long, num_args = 2, value_names = ["CERT", "KEY"])]
    pub(crate) tls: Vec<PathBuf>,
    /// Demands client certificates of this authority (PEM)
    #[arg(long, value_name = "CA", requires = "tls")]
    pub(crate) client_ca: Option<PathBuf>,
}

/// The body that goes with `--status`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum StatusBody {
    Html,
    Json,
    Empty,
    Huge,
}
