//! Definitions of servers in the configuration: shown, written, deleted.

use openclaw_config::Config;
use openclaw_definitions::{
    Definitions, Forgotten, LoggedOut, NewServer, log_out, not_logged_out, server_name, shown,
};
use openclaw_engine::{OneServer, ServerEntry};
use serde_json::{Value as Json, json};

use crate::commands::Session;
use crate::commands::configuration::{find_agent, usable_config};
use crate::commands::engine::{answered, awaited, with_engine, with_engine_of};
use crate::commands::gateway;
use crate::commands::mcp::waiting::Patience;
use crate::commands::mcp::words;
use crate::failure::{Exit, Failure};
use crate::render;

/// Prints definitions as JSON, credentials hidden.
pub(super) fn show(
    session: &mut Session<'_>,
    agent: Option<&str>,
    name: Option<&str>,
) -> Result<Exit, Failure> {
    let config = usable_config(session)?;
    let agent = find_agent(&config, agent)?;
    let report = shown(&config, agent, name, session.redactor)?;
    let servers = Json::Object(report.servers);
    session.output.print_json(match name {
        Some(name) => &servers[name],
        None => &servers,
    })?;
    Ok(Exit::Done)
}

/// Writes a definition without trying it.
pub(super) fn set(
    session: &mut Session<'_>,
    name: &str,
    definition: &str,
    json: bool,
) -> Result<Exit, Failure> {
    let name = server_name(name)?;
    let server = NewServer {
        entry: ServerEntry(words::object(definition, "the definition")?),
        name: name.clone(),
    };
    let definitions = session.definitions()?;
    let written = awaited(definitions.set(&server))??;
    gateway::tell_of_changes(session)?;
    awaited(async {
        session.output.warn(&written.warnings)?;
        let path = written.config;
        if !json {
            let line = format!("{name}: written to {path}\n");
            session.output.print(&line)?;
        }
        let mut patience = Patience::default();
        let forgetting = &mut patience.with(session.output);
        let forgotten = definitions.forget(written.leftovers, forgetting).await?;
        if json {
            let deleted = &forgotten.deleted;
            let written = json!({
                "name": name.as_str(), "written": true, "config": path, "deleted": deleted,
            });
            session.output.print_report(&written)?;
        }
        tell_forgotten(session, &forgotten, json)?;
        session.output.warn(&forgotten.warnings)?;
        patience.ended()?;
        Ok(Exit::Done)
    })?
}

/// Says what the keyring has no more, where that is not part of a report for programs.
pub(super) fn tell_forgotten(
    session: &mut Session<'_>,
    forgotten: &Forgotten,
    json: bool,
) -> Result<(), Failure> {
    if json {
        return Ok(());
    }
    let deleted = render::forgotten(&forgotten.deleted);
    session.output.print(&deleted)
}

/// Stops a server and deletes its definition.
pub(super) fn remove(
    session: &mut Session<'_>,
    agent: Option<String>,
    name: &str,
    json: bool,
) -> Result<Exit, Failure> {
    let before = usable_config(session)?;
    let server = server_name(name)?;
    if before.servers().any(|known| known.name == server) {
        stop(session, agent, name)?;
    }
    let definitions = session.definitions()?;
    let written = awaited(definitions.remove(&server, &before))??;
    gateway::tell_of_changes(session)?;
    let path = written.config;
    // The keyring may take its time.
    if !json {
        let line = format!("{name}: deleted from {path}\n");
        session.output.print(&line)?;
    }
    let logged_out = give_up_logins(session, &definitions, before, name)?;
    awaited(async {
        let mut patience = Patience::default();
        let forgetting = &mut patience.with(session.output);
        let forgotten = definitions.forget(written.leftovers, forgetting).await?;
        if json {
            let deleted = &forgotten.deleted;
            let removed = json!({
                "name": name,
                "removed": true,
                "config": path,
                "deleted": deleted,
                "loggedOut": !logged_out.lines.is_empty(),
            });
            session.output.print_report(&removed)?;
        }
        tell_forgotten(session, &forgotten, json)?;
        for line in logged_out.lines.iter().filter(|_| !json) {
            session.output.print(&format!("{line}\n"))?;
        }
        session.output.warn(&logged_out.warnings)?;
        session.output.warn(&forgotten.warnings)?;
        patience.ended()?;
        Ok(Exit::Done)
    })?
}

/// Gives up the logins to a server that is no longer there.
fn give_up_logins(
    session: &mut Session<'_>,
    definitions: &Definitions,
    before: Config,
    name: &str,
) -> Result<LoggedOut, Failure> {
    let users = awaited(definitions.users_of_the_gone(&before, name))??;
    if users.is_empty() {
        return Ok(LoggedOut::default());
    }
    let outcome = with_engine_of(session, before, async |engine, session| {
        let giving_up = Box::pin(async { Ok(log_out(engine, users, name).await) });
        answered(session.output, "giving up the login", giving_up).await
    });
    match outcome {
        // The definition is deleted, whatever becomes of the login.
        Err(Failure::Told(told)) => Ok(LoggedOut {
            warnings: vec![not_logged_out(name, &told.message, told.hint.as_deref())],
            ..LoggedOut::default()
        }),
        other => other,
    }
}

/// Stops a server where it runs. That it can't be stopped is no reason to keep its definition.
fn stop(session: &mut Session<'_>, agent: Option<String>, name: &str) -> Result<(), Failure> {
    let query = OneServer {
        agent,
        server: name.to_owned(),
    };
    let stopped = with_engine(session, async |engine, _| {
        engine.disconnect(query).await.map_err(Failure::from)
    });
    match stopped {
        Err(Failure::Told(told)) => {
            tracing::debug!(
                code = &*told.code,
                "the server was not stopped: {}",
                told.message
            );
            Ok(())
        }
        Err(other) => Err(other),
        Ok(_) => Ok(()),
    }
}
