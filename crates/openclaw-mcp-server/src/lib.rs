//! Offers the agent to other MCP clients as the tool `order_openclaw`, over standard input and output.
//!
//! ```text
//! stdin → intake → wire → handler → order → desk → ReplyEngine::reply
//! stdout ← wire ←──────── reply ←────────── desk ←─┘
//! ```
//!
//! | module | owns | never contains |
//! |---|---|---|
//! | `intake` | lines that come in, within limits; the bytes of attachments, spooled to files | what a message means |
//! | `wire` | the transport below rmcp: order, batches, what rmcp can't take | what is asked |
//! | `handler` | what the protocol asks of us | how an order is carried out |
//! | `tool` | the tool's definition | |
//! | `order` | the arguments of a call, checked | how they came in |
//! | `admission` | how much may be under way | waiting |
//! | `desk` | orders under way, their end | what agents do |
//! | `lanes` | the order of orders in a session | |
//! | `progress` | what is told while an agent works | what it says in the end |
//! | `reply` | what the agent said, put together; media that go back | how it goes back |

mod admission;
mod desk;
mod handler;
mod intake;
mod lanes;
mod order;
mod progress;
mod reply;
mod tool;
mod wire;

use std::io::{self, Read, Write};
use std::path::PathBuf;
use std::time::Duration;

use openclaw_engine::ReplyEngine;
use rmcp::service::serve_server;
use tokio::sync::mpsc;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use desk::Desk;
use handler::Handler;
use wire::Wire;

/// The client, and what else a server is made of.
pub struct ServerSetup {
    /// What the client says.
    pub input: Box<dyn Read + Send>,
    /// What it is told. Nothing else may be written there.
    pub output: Box<dyn Write + Send>,
    /// Where the bytes of attachments lie while they are needed, in files without names.
    pub spool: PathBuf,
    /// The agent that answers, and no other; without it the one of the session, or the default one.
    pub agent: Option<String>,
    /// The default one.
    pub default_agent: String,
    /// Our version.
    pub version: &'static str,
    /// What ties orders to lines of the log.
    pub correlation: String,
}

/// How long a client may take to read what is left when everything is over.
const FAREWELL: Duration = Duration::from_secs(2);

/// Serves a client until it has gone, on a runtime of one thread: orders are carried out as they came in.
/// Dropping this stops everything that was begun for it.
pub async fn serve(engine: &dyn ReplyEngine, setup: ServerSetup) -> io::Result<()> {
    let (ended, deaf) = (CancellationToken::new(), CancellationToken::new());
    let incoming = intake::start(setup.input, setup.spool, ended.clone())?;
    let wire = Wire::new(incoming, setup.output, ended.clone(), deaf.clone())?;
    let output = wire.output();
    let (jobs, queue) = mpsc::unbounded_channel();
    let handler = Handler::new(setup.version, jobs);
    let protocol = async move {
        match serve_server(handler, wire).await {
            Ok(running) => {
                if let Err(error) = running.waiting().await {
                    tracing::warn!(%error, "the protocol has ended");
                }
            }
            // A client that has gone before it said anything is none.
            Err(error) => tracing::debug!(%error, "the protocol has not begun"),
        }
    };
    let desk = Desk::new(engine, setup.agent, setup.default_agent, setup.correlation);
    tokio::select! {
        () = desk.run(queue, protocol, &ended) => {}
        // Nobody can be told anything.
        () = deaf.cancelled() => return Ok(()),
    }
    // What was answered below the protocol may wait there still.
    let _ = timeout(FAREWELL, output.drained()).await;
    Ok(())
}
