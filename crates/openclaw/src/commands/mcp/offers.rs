//! What else servers offer: resources and prompts.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use openclaw_engine::{Engine, OfServer, PromptRequest, ReadReport, ReadRequest};
use serde_json::Value as Json;

use crate::cli::ReadOptions;
use crate::commands::Session;
use crate::commands::engine::{answered, with_engine};
use crate::commands::mcp::print_listing;
use crate::failure::{Exit, Failure};
use crate::render;

pub(super) fn resources(
    session: &mut Session<'_>,
    agent: Option<String>,
    server: Option<String>,
    json: bool,
) -> Result<Exit, Failure> {
    let query = OfServer { agent, server };
    with_engine(session, async |engine, session| {
        ask_resources(engine, session, query, json).await
    })
}

async fn ask_resources(
    engine: &dyn Engine,
    session: &mut Session<'_>,
    query: OfServer,
    json: bool,
) -> Result<Exit, Failure> {
    let server = query.server.clone();
    let pending = engine.resources(query);
    let report = answered(session.output, "listing resources", pending).await?;
    let text = |page| render::resources(&report, server.as_deref(), page);
    print_listing(session, &report, text, &report.problems, json)
}

pub(super) fn read(
    session: &mut Session<'_>,
    agent: Option<String>,
    options: ReadOptions,
) -> Result<Exit, Failure> {
    let request = ReadRequest {
        agent,
        server: options.server,
        uri: options.uri,
    };
    with_engine(session, async |engine, session| {
        ask_read(engine, session, request, options.json.wanted).await
    })
}

async fn ask_read(
    engine: &dyn Engine,
    session: &mut Session<'_>,
    request: ReadRequest,
    json: bool,
) -> Result<Exit, Failure> {
    let report = answered(session.output, "reading", engine.read(request)).await?;
    if json {
        session.output.print_report(&report)?;
    } else if let Some(blob) = single_blob(&report)
        && !session.output.is_terminal()
    {
        let bytes = STANDARD.decode(blob).map_err(|error| {
            Failure::failed(
                "bad-contents",
                format!("the server sent contents that are not valid base64: {error}"),
            )
        })?;
        session.output.print_bytes(&bytes)?;
    } else {
        session.output.print(&render::read(&report))?;
        if single_blob(&report).is_some() {
            let hint = "hint: redirect the output to a file to get the contents\n";
            session.output.explain(hint)?;
        }
    }
    Ok(Exit::Done)
}

/// The contents in base64, if they are one piece that is not text.
fn single_blob(report: &ReadReport) -> Option<&str> {
    match &report.contents[..] {
        [part] if part.text.is_none() => part.blob.as_deref(),
        _ => None,
    }
}

pub(super) fn prompts(
    session: &mut Session<'_>,
    agent: Option<String>,
    server: Option<String>,
    json: bool,
) -> Result<Exit, Failure> {
    let query = OfServer { agent, server };
    with_engine(session, async |engine, session| {
        ask_prompts(engine, session, query, json).await
    })
}

async fn ask_prompts(
    engine: &dyn Engine,
    session: &mut Session<'_>,
    query: OfServer,
    json: bool,
) -> Result<Exit, Failure> {
    let server = query.server.clone();
    let pending = engine.prompts(query);
    let report = answered(session.output, "listing prompts", pending).await?;
    let text = |page| render::prompts(&report.prompts, server.as_deref(), page);
    print_listing(session, &report, text, &report.problems, json)
}

pub(super) fn prompt(
    session: &mut Session<'_>,
    agent: Option<String>,
    (server, name): (String, String),
    arguments: &[String],
    json: bool,
) -> Result<Exit, Failure> {
    let arguments = openclaw_definitions::pairs(arguments)?
        .into_iter()
        .map(|(name, value)| (name, Json::String(value)))
        .collect();
    let request = PromptRequest {
        agent,
        server,
        name,
        arguments,
    };
    with_engine(session, async |engine, session| {
        ask_prompt(engine, session, request, json).await
    })
}

async fn ask_prompt(
    engine: &dyn Engine,
    session: &mut Session<'_>,
    request: PromptRequest,
    json: bool,
) -> Result<Exit, Failure> {
    let pending = engine.prompt(request);
    let report = answered(session.output, "filling in the prompt", pending).await?;
    if json {
        session.output.print_report(&report)?;
    } else {
        let text = render::prompt(&report, session.output.page());
        session.output.print(&text)?;
    }
    Ok(Exit::Done)
}

#[cfg(test)]
mod tests;
