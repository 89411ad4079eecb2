//! Tools, and calls of them.

use openclaw_engine::{ApprovalRequest, CallArguments, CallReport, CallRequest, Engine, OfServer};

use crate::cli::CallOptions;
use crate::commands::Session;
use crate::commands::engine::{answered, with_engine};
use crate::commands::mcp::{login, print_listing, words};
use crate::failure::{Exit, Failure};
use crate::render;

/// How often somebody is asked to log in for one call.
const MOST_LOGINS: u32 = 2;

pub(super) fn list(
    session: &mut Session<'_>,
    agent: Option<String>,
    server: Option<String>,
    json: bool,
) -> Result<Exit, Failure> {
    let query = OfServer { agent, server };
    with_engine(session, async |engine, session| {
        ask_list(engine, session, query, json).await
    })
}

async fn ask_list(
    engine: &dyn Engine,
    session: &mut Session<'_>,
    query: OfServer,
    json: bool,
) -> Result<Exit, Failure> {
    let server = query.server.clone();
    let pending = engine.tools(query);
    let report = answered(session.output, "listing tools", pending).await?;
    let text = |page| render::tools(&report.tools, server.as_deref(), page);
    print_listing(session, &report, text, &report.problems, json)
}

pub(super) fn call(
    session: &mut Session<'_>,
    agent: Option<String>,
    options: CallOptions,
) -> Result<Exit, Failure> {
    // Read before anything is started: it may take as long as its writer likes.
    let arguments = CallArguments {
        object: match &options.object {
            Some(text) => words::object(text, "the value of --args")?,
            None => serde_json::Map::new(),
        },
        words: openclaw_definitions::pairs(&options.words)?,
    };
    let request = CallRequest {
        agent,
        tool: options.tool,
        arguments,
        approved: true,
        framed: options.framed,
        correlation: session.operation.to_string(),
    };
    with_engine(session, async |engine, session| {
        ask_call(engine, session, request, options.json.wanted).await
    })
}

async fn ask_call(
    engine: &dyn Engine,
    session: &mut Session<'_>,
    request: CallRequest,
    json: bool,
) -> Result<Exit, Failure> {
    let framed = request.framed;
    let report = ask_until_allowed(engine, session, request).await?;
    if json {
        session.output.print_report(&report)?;
    } else if framed {
        session.output.print(&render::framed(&report))?;
    } else {
        session.output.print(&render::call(&report))?;
    }
    Ok(if report.is_error {
        Exit::Failed
    } else {
        Exit::Done
    })
}

/// Calls a tool; where the server wants a login, or one that allows more, offers that first.
async fn ask_until_allowed(
    engine: &dyn Engine,
    session: &mut Session<'_>,
    request: CallRequest,
) -> Result<CallReport, Failure> {
    let what = format!("calling {}", render::name(&request.tool));
    let mut logins = 0;
    loop {
        let pending = engine.call(request.clone());
        match answered(session.output, &what, pending).await {
            Err(Failure::Told(told)) if logins < MOST_LOGINS && told.login.is_some() => {
                logins += 1;
                let server = told.login.clone().unwrap_or_default();
                let (agent, why) = (request.agent.clone(), told.message.clone());
                if !login::offered(engine, session, agent, &server, &why).await? {
                    return Err(Failure::Told(told));
                }
            }
            other => return other,
        }
    }
}

pub(super) fn approve(
    session: &mut Session<'_>,
    agent: Option<String>,
    tool: String,
    json: bool,
) -> Result<Exit, Failure> {
    let request = ApprovalRequest { agent, tool };
    with_engine(session, async |engine, session| {
        ask_approve(engine, session, request, json).await
    })
}

async fn ask_approve(
    engine: &dyn Engine,
    session: &mut Session<'_>,
    request: ApprovalRequest,
    json: bool,
) -> Result<Exit, Failure> {
    let report = answered(
        session.output,
        "looking at the tool",
        engine.approve(request),
    )
    .await?;
    if json {
        session.output.print_report(&report)?;
    } else {
        let tool = render::name(&report.tool);
        let text = if report.changed {
            format!("{tool}: the new definition is accepted\n")
        } else {
            format!("{tool}: its definition had not changed\n")
        };
        session.output.print(&text)?;
    }
    Ok(Exit::Done)
}

#[cfg(test)]
mod tests;
