//! The agent inside editors: speaks the Agent Client Protocol over standard input and output.
//!
//! ```text
//! stdin → wire → front → sessions → turn → Engine::reply
//! stdout ← wire ← flow ←─────────── turn ←─┘
//! ```
//!
//! | module | owns | never contains |
//! |---|---|---|
//! | `wire` | lines in and out, within limits, on threads of their own | what a message means |
//! | `flow` | how much may be on its way to an editor | what it is told |
//! | `front` | what the protocol asks of us | how it is answered |
//! | `office` | what all sessions share | one session |
//! | `admission` | how much may be under way at once | what it is |
//! | `crew` | tasks, and their end | what they do |
//! | `sessions` | sessions: opened, lent servers, listed, replayed, closed | turns |
//! | `turn` | a prompt and what is told of its answer | sessions |
//! | `questions` | what a person is asked: whether tools may run, what servers want to know | who asks |
//! | `notices` | what a person should know outside of an answer | |
//! | `identifier` | names that nobody can guess | |
//! | `problems` | why a request was not answered, in the words of the protocol | |

mod admission;
mod crew;
mod flow;
mod front;
mod identifier;
mod notices;
mod office;
mod problems;
mod questions;
mod sessions;
mod turn;
mod wire;

use std::io::{self, Read, Write};
use std::sync::Arc;
use std::time::Duration;

use openclaw_engine::Engine;
use openclaw_state::StateDirectory;
use tokio::time::{sleep, timeout};

use flow::Flow;
use office::Office;
use wire::Ends;

/// The editor, and what else an agent for it is made of.
pub struct AcpSetup {
    /// What the editor says.
    pub input: Box<dyn Read + Send>,
    /// What it is told. Nothing else may be written there.
    pub output: Box<dyn Write + Send>,
    /// Where it is kept which session belongs to which project.
    pub state: StateDirectory,
    /// The agent of new sessions; the default one if none is named.
    pub agent: Option<String>,
    /// Our version.
    pub version: &'static str,
    /// What ties turns to lines of the log.
    pub correlation: String,
}

/// How long an editor may take to read what is left when everything is over.
const FAREWELL: Duration = Duration::from_secs(2);

/// Serves an editor until it has gone. Turns that still run are stopped then. Dropping this stops everything
/// that was begun for it.
pub async fn serve(engine: Arc<dyn Engine>, setup: AcpSetup) -> io::Result<()> {
    let flow = Arc::new(Flow::default());
    let ends = Ends::default();
    let lines = wire::start(setup.input, setup.output, Arc::clone(&flow), &ends)?;
    let mut office = Office::new(engine, flow, setup.state)?;
    office.agent = setup.agent;
    office.correlation = setup.correlation;
    let office = Arc::new(office);
    // Whoever drops this ends the tasks, which have the office, too.
    let _guard = office.crew.ends_with_this();
    let connection = Box::pin(front::connect(Arc::clone(&office), setup.version, lines));
    tokio::select! {
        ended = connection => {
            if let Err(error) = ended {
                tracing::debug!(%error, "the protocol has ended");
            }
        }
        // Nobody can be told anything.
        () = ends.broken.cancelled() => {}
        // What waits for an editor that neither reads nor writes waits for nobody.
        () = async {
            ends.hung_up.cancelled().await;
            sleep(FAREWELL).await;
        } => {}
    }
    office.crew.end().await;
    let _ = timeout(FAREWELL, ends.written.cancelled()).await;
    Ok(())
}
