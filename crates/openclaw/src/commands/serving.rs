//! `openclaw mcp-server` and `openclaw acp`: the agent for a program at the standard streams.
//!
//! | module | owns |
//! |---|---|
//! | `streams` | the standard streams, kept for the protocol alone |

mod streams;

use std::io::{IsTerminal as _, stdin};

use openclaw_acp::AcpSetup;
use openclaw_engine::{AgentQuery, Engine};
use openclaw_mcp_server::ServerSetup;

use crate::commands::Session;
use crate::commands::engine::{listen, with_lasting_engine, with_shared_engine};
use crate::failure::{Exit, Failure};

/// Serves the MCP client at the standard streams until it has gone.
pub(super) fn mcp(session: &mut Session<'_>, agent: Option<String>) -> Result<Exit, Failure> {
    let (input, output) = streams::take().map_err(|error| unserved(&error))?;
    explain(session, "an MCP server", "a client")?;
    let (spool, signals) = (session.state()?.path().to_owned(), listen()?);
    with_lasting_engine(session, signals, async move |engine, session| {
        let usual = known(engine, agent.as_deref()).await?;
        let setup = ServerSetup {
            input: Box::new(input),
            output: Box::new(output),
            spool,
            agent,
            default_agent: usual,
            version: env!("CARGO_PKG_VERSION"),
            correlation: session.operation.to_string(),
        };
        let served = Box::pin(openclaw_mcp_server::serve(engine, setup)).await;
        served.map_err(|error| unserved(&error))?;
        Ok(Exit::Done)
    })
}

/// Serves the editor at the standard streams until it has gone.
pub(super) fn acp(session: &mut Session<'_>, agent: Option<String>) -> Result<Exit, Failure> {
    let (input, output) = streams::take().map_err(|error| unserved(&error))?;
    explain(session, "an agent for editors", "an editor")?;
    let (state, signals) = (session.state()?, listen()?);
    with_shared_engine(session, signals, async move |engine, session| {
        known(&*engine, agent.as_deref()).await?;
        let setup = AcpSetup {
            input: Box::new(input),
            output: Box::new(output),
            state,
            agent,
            version: env!("CARGO_PKG_VERSION"),
            correlation: session.operation.to_string(),
        };
        let served = Box::pin(openclaw_acp::serve(engine, setup)).await;
        served.map_err(|error| unserved(&error))?;
        Ok(Exit::Done)
    })
}

/// The agent that answers where nothing else is said: there is one, or nothing is served.
async fn known(engine: &dyn Engine, agent: Option<&str>) -> Result<String, Failure> {
    let query = AgentQuery {
        agent: agent.map(str::to_owned),
    };
    Ok(engine.agent(query).await?.id)
}

/// Tells a person who started it by hand what it waits for.
fn explain(session: &mut Session<'_>, what: &str, whom: &str) -> Result<(), Failure> {
    if stdin().is_terminal() {
        session.output.explain(&format!(
            "This is {what}: it waits for {whom} on its standard input, and is usually started by one. \
             Ctrl-C stops it.\n"
        ))?;
    }
    Ok(())
}

fn unserved(error: &std::io::Error) -> Failure {
    Failure::failed("system", format!("cannot serve: {error}"))
}
