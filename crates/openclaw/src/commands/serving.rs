//! `openclaw mcp-server`
//!
//! | module | owns |
//! |---|---|
//! | `streams` | the standard streams, kept for the protocol alone |

mod streams;

use std::io::{IsTerminal as _, stdin};

use openclaw_mcp_server::{ServerSetup, serve};

use crate::commands::Session;
use crate::commands::configuration::{find_agent, usable_config};
use crate::commands::engine::{listen, with_lasting_engine};
use crate::failure::{Exit, Failure};

/// Serves the MCP client at the standard streams until it has gone.
pub(super) fn run(session: &mut Session<'_>, agent: Option<String>) -> Result<Exit, Failure> {
    let (input, output) = streams::take().map_err(|error| unserved(&error))?;
    if stdin().is_terminal() {
        session.output.explain(
            "This is an MCP server: it waits for a client on its standard input, and is usually \
             started by one. Ctrl-C stops it.\n",
        )?;
    }
    let config = usable_config(session)?;
    find_agent(&config, agent.as_deref())?;
    let default_agent = config.default_agent.to_string();
    let (spool, signals) = (session.state()?.path().to_owned(), listen()?);
    with_lasting_engine(session, config, signals, async move |engine, session| {
        let setup = ServerSetup {
            input: Box::new(input),
            output: Box::new(output),
            spool,
            agent,
            default_agent,
            version: env!("CARGO_PKG_VERSION"),
            correlation: session.operation.to_string(),
        };
        let served = Box::pin(serve(engine, setup)).await;
        served.map_err(|error| unserved(&error))?;
        Ok(Exit::Done)
    })
}

fn unserved(error: &std::io::Error) -> Failure {
    Failure::failed("system", format!("cannot serve: {error}"))
}
