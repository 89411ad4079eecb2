//! A new server: tried, then written to the configuration.

use openclaw_config::Config;
use openclaw_definitions::{
    Definitions, NOTHING_WRITTEN, NewServer, Prepared, Typed, Wanted, reached, wanted,
};
use openclaw_engine::{AddedServer, AuthKind, OneServer, ServerDetails, ShownState};
use serde_json::{Value as Json, json};

use crate::cli::{ConnectOptions, TransportWord};
use crate::commands::Session;
use crate::commands::configuration::usable_config;
use crate::commands::engine::{answered, awaited, with_engine, with_engine_of};
use crate::commands::gateway;
use crate::commands::mcp::waiting::Patience;
use crate::commands::mcp::{definitions, login, servers};
use crate::failure::{Exit, Failure};
use crate::render;

pub(super) fn run(
    session: &mut Session<'_>,
    agent: Option<String>,
    options: &ConnectOptions,
) -> Result<Exit, Failure> {
    match wanted(&Typed::from(options))? {
        Wanted::Configured(name) => {
            check_name(&usable_config(session)?, &name)?;
            servers::reconnect(session, agent, name, options.json.wanted)
        }
        Wanted::New(server) => add(session, server, options),
    }
}

/// Finds addresses that were given without their beginning. Other unknown names are for the engine
/// to answer, which knows what is like them.
fn check_name(config: &Config, name: &str) -> Result<(), Failure> {
    let is_known = config.servers().any(|server| server.name.as_str() == name);
    if is_known || !name.contains(['.', ':', '/']) {
        return Ok(());
    }
    let shown = render::name(name);
    Err(
        Failure::usage("unknown-server", format!("there is no server {shown:?}")).hint(
            "an address begins with `https://`, and a program stands behind `--`: \
             `openclaw mcp connect -- COMMAND`",
        ),
    )
}

fn add(
    session: &mut Session<'_>,
    server: NewServer,
    options: &ConnectOptions,
) -> Result<Exit, Failure> {
    let name = server.name.to_string();
    let config = usable_config(session)?;
    let definitions = session.definitions()?;
    let prepared = awaited(definitions.prepare(server, config, options.force))??;
    let details = if options.no_check {
        None
    } else {
        Some(tried(session, prepared.trial().clone(), &name)?)
    };
    let needs_login = |it: &ServerDetails| {
        it.report.state == ShownState::NeedsAuth && it.report.auth == AuthKind::Oauth
    };
    let is_asked = details.as_ref().is_some_and(needs_login);
    let added = AddedServer {
        name: name.clone(),
        server: details,
        ..AddedServer::default()
    };
    awaited(write(session, &definitions, prepared, added, options))??;
    gateway::tell_of_changes(session)?;
    // It may take its time, and everything else is done.
    if is_asked && !options.json.wanted {
        offer_login(session, &name)?;
    }
    Ok(Exit::Done)
}

/// Writes a server that was tried, and tells what was done.
async fn write(
    session: &mut Session<'_>,
    definitions: &Definitions,
    prepared: Prepared,
    mut added: AddedServer,
    options: &ConnectOptions,
) -> Result<(), Failure> {
    let json = options.json.wanted;
    let mut patience = Patience::default();
    let mut waiting = patience.with(session.output);
    let written = prepared.write(!options.no_keyring, &mut waiting).await;
    let written = written.map_err(|error| patience.failure(error))?;
    session.output.warn(&written.warnings)?;
    added.config = written.config;
    added.stored = written.stored;
    if !json {
        session.output.print(&render::added(&added))?;
    }
    // The keyring may take its time.
    let mut waiting = patience.with(session.output);
    let forgotten = definitions.forget(written.leftovers, &mut waiting).await?;
    if json {
        added.deleted.clone_from(&forgotten.deleted);
        session.output.print_report(&report(&added))?;
    }
    definitions::tell_forgotten(session, &forgotten, json)?;
    session.output.warn(&forgotten.warnings)?;
    patience.ended()
}

/// What was done, for programs.
fn report(added: &AddedServer) -> Json {
    json!({
        "name": added.name,
        "written": true,
        "config": added.config,
        "stored": added.stored,
        "deleted": added.deleted,
        "server": added.server,
    })
}

/// Connects the new server, to see whether that works.
fn tried(session: &mut Session<'_>, config: Config, name: &str) -> Result<ServerDetails, Failure> {
    let query = OneServer {
        agent: None,
        server: name.to_owned(),
    };
    let what = format!("connecting: {}", render::name(name));
    let details = with_engine_of(session, config, async |engine, session| {
        let details = answered(session.output, &what, engine.connect(query)).await?;
        Ok(reached(details)?)
    });
    match details {
        Err(Failure::Told(mut told)) => {
            told.hint.get_or_insert_with(|| NOTHING_WRITTEN.to_owned());
            Err(Failure::Told(told))
        }
        other => other,
    }
}

impl From<&ConnectOptions> for Typed {
    fn from(options: &ConnectOptions) -> Self {
        Self {
            target: options.target.clone(),
            program: options.program.clone(),
            name: options.name.clone(),
            headers: options.headers.clone(),
            variables: options.variables.clone(),
            transport: options.transport.map(|transport| match transport {
                TransportWord::Stdio => openclaw_definitions::TransportWord::Stdio,
                TransportWord::Http => openclaw_definitions::TransportWord::Http,
                TransportWord::Sse => openclaw_definitions::TransportWord::Sse,
            }),
            no_check: options.no_check,
            force: options.force,
            no_keyring: options.no_keyring,
            url: options.url.clone(),
            command: options.command.clone(),
            arguments: options.arguments.clone(),
        }
    }
}

/// Offers a login to a server that asks for one, or says how to log in.
fn offer_login(session: &mut Session<'_>, name: &str) -> Result<(), Failure> {
    let is_done = login::somebody_sits_here(session)
        && with_engine(session, async |engine, session| {
            let why = "The server asks for a login.";
            login::offered(engine, session, None, name, why).await
        })?;
    if !is_done {
        let name = render::word(name);
        let hint = format!("hint: log in with `openclaw mcp auth {name}`\n");
        session.output.explain(&hint)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
