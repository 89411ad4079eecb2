//! `openclaw sessions`

use std::time::SystemTime;

use openclaw_engine::{Engine, OneSession, SessionsQuery};

use crate::cli::{SessionsCommand, SessionsOptions, Store};
use crate::commands::Session;
use crate::commands::engine::{answered, with_engine};
use crate::failure::{Exit, Failure};
use crate::render;

/// Lists, shows, exports or deletes sessions.
pub(super) fn run(session: &mut Session<'_>, options: SessionsOptions) -> Result<Exit, Failure> {
    let Store::File = options.store;
    let (agent, json) = (options.agent, options.json);
    let one = |key: String, agent: Option<String>| OneSession { agent, key };
    with_engine(session, async |engine, session| match options.command {
        None | Some(SessionsCommand::List) => list(engine, session, agent, json).await,
        Some(SessionsCommand::Show { key }) => show(engine, session, one(key, agent), json).await,
        Some(SessionsCommand::Export { key }) => export(engine, session, one(key, agent)).await,
        Some(SessionsCommand::Delete { key }) => {
            delete(engine, session, one(key, agent), json).await
        }
    })
}

async fn list(
    engine: &dyn Engine,
    session: &mut Session<'_>,
    agent: Option<String>,
    json: bool,
) -> Result<Exit, Failure> {
    let pending = engine.sessions(SessionsQuery { agent });
    let report = answered(session.output, "looking for sessions", pending).await?;
    if json {
        session.output.print_report(&report)?;
    } else {
        let page = session.output.page();
        let text = render::sessions(&report.sessions, SystemTime::now(), page);
        session.output.print(&text)?;
        session.output.warn(&report.problems)?;
        let set_aside = report.set_aside.iter();
        let set_aside: Vec<String> = set_aside
            .map(|path| format!("sessions that could not be read were set aside in {path}"))
            .collect();
        session.output.warn(&set_aside)?;
    }
    Ok(Exit::Done)
}

async fn show(
    engine: &dyn Engine,
    session: &mut Session<'_>,
    query: OneSession,
    json: bool,
) -> Result<Exit, Failure> {
    let pending = engine.session(query);
    let transcript = answered(session.output, "reading the session", pending).await?;
    if json {
        session.output.print_report(&transcript)?;
    } else {
        let text = render::transcript(&transcript, session.output.page());
        session.output.print(&text)?;
    }
    Ok(Exit::Done)
}

async fn export(
    engine: &dyn Engine,
    session: &mut Session<'_>,
    query: OneSession,
) -> Result<Exit, Failure> {
    let pending = engine.session(query);
    let transcript = answered(session.output, "reading the session", pending).await?;
    for message in &transcript.messages {
        session.output.print_json_line(message)?;
    }
    Ok(Exit::Done)
}

async fn delete(
    engine: &dyn Engine,
    session: &mut Session<'_>,
    query: OneSession,
    json: bool,
) -> Result<Exit, Failure> {
    let pending = engine.delete_session(query);
    let deleted = answered(session.output, "deleting the session", pending).await?;
    if json {
        session.output.print_report(&deleted)?;
    } else {
        let text = format!("deleted: {}\n", render::session_key(&deleted.key));
        session.output.print(&text)?;
    }
    Ok(Exit::Done)
}

#[cfg(test)]
mod tests;
