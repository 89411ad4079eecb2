//! A new server: tried, then written to the configuration.

use std::io::Write as _;

use openclaw_config::{Config, Location, load};
use openclaw_engine::{OneServer, ServerDetails, ShownState};
use openclaw_secrets::{Secret, looks_like_credential};
use serde_json::{Map, Value as Json, json};

use crate::cli::ConnectOptions;
use crate::commands::Session;
use crate::commands::configuration::usable_config;
use crate::commands::engine::{answered, with_engine_of};
use crate::commands::mcp::definitions;
use crate::commands::mcp::entry::{NewServer, Wanted, wanted};
use crate::commands::mcp::servers;
use crate::failure::{Exit, Failure};
use crate::render;

pub(super) fn run(
    session: &mut Session<'_>,
    agent: Option<String>,
    options: &ConnectOptions,
) -> Result<Exit, Failure> {
    match wanted(options)? {
        Wanted::Configured(name) => servers::reconnect(session, agent, name, options.json.wanted),
        Wanted::New(server) => add(session, &server, options),
    }
}

fn add(
    session: &mut Session<'_>,
    server: &NewServer,
    options: &ConnectOptions,
) -> Result<Exit, Failure> {
    learn(session, &server.entry);
    let name = server.name.as_str();
    let is_there = usable_config(session)?
        .servers()
        .any(|server| server.name.as_str() == name);
    if is_there && !options.force {
        return Err(definitions::exists(name));
    }
    let trial = trial_config(session, server)?;
    let details = if options.no_check {
        None
    } else {
        Some(tried(session, trial, name)?)
    };
    let path = definitions::write(session, &server.name, server.entry.clone(), options.force)?;
    tell(session, name, &path, details.as_ref(), options.json.wanted)?;
    Ok(Exit::Done)
}

/// Keeps the credentials of a definition out of every output.
fn learn(session: &Session<'_>, entry: &Map<String, Json>) {
    let values = ["headers", "env"]
        .into_iter()
        .filter_map(|key| entry.get(key).and_then(Json::as_object))
        .flatten();
    for (name, value) in values {
        if let Some(value) = value.as_str()
            && looks_like_credential(name, value)
        {
            // What is too short or too common to be told apart stays readable.
            let _ = session.redactor.learn(&Secret::new(value));
        }
    }
}

/// A configuration of nothing but the new server. What is wrong with it is told: errors as a
/// failure, the rest as warnings, that of FR-5 about credentials in plain text among them.
fn trial_config(session: &mut Session<'_>, server: &NewServer) -> Result<Config, Failure> {
    let failed = |error: std::io::Error| {
        let message = format!("cannot write a temporary file: {error}");
        Failure::failed("state", message)
    };
    let servers = json!({ server.name.as_str(): server.entry });
    let text = json!({ "mcp": { "servers": servers } }).to_string();
    let state = session.state()?;
    // Its owner alone can read it, and it is gone before anything else is done.
    let mut file = tempfile::Builder::new()
        .prefix(".openclaw-")
        .suffix(".json")
        .tempfile_in(state.path())
        .map_err(failed)?;
    file.write_all(text.as_bytes()).map_err(failed)?;
    let location = Location {
        config: file.path().to_owned(),
        ..session.location()?
    };
    let loaded = load(&location, &session.environment);
    drop(file);
    session.learn(&loaded);
    let own = |path: String| {
        let prefix = format!("mcp.servers.{}", server.name);
        match path.strip_prefix(&prefix) {
            Some(rest) => rest.trim_start_matches('.').to_owned(),
            None => path,
        }
    };
    let errors: Vec<String> = loaded
        .report
        .errors()
        .map(|problem| match own(problem.path().to_string()).as_str() {
            "" => problem.message().to_owned(),
            path => format!("{path}: {}", problem.message()),
        })
        .collect();
    let warnings: Vec<String> = loaded
        .report
        .warnings()
        .filter(|problem| problem.server().is_some())
        .map(|problem| match problem.help_text() {
            Some(help) => format!("{}: {help}", problem.message()),
            None => problem.message().to_owned(),
        })
        .collect();
    match loaded.config {
        Some(config) if errors.is_empty() => {
            session.output.warn(&warnings)?;
            Ok(config)
        }
        _ => Err(Failure::usage("config", errors.join("\n"))),
    }
}

/// Connects the new server, to see whether that works.
fn tried(session: &mut Session<'_>, config: Config, name: &str) -> Result<ServerDetails, Failure> {
    let query = OneServer {
        agent: None,
        server: name.to_owned(),
    };
    let what = format!("connecting: {}", render::name(name));
    let details = with_engine_of(session, config, async |engine, session| {
        answered(session.output, &what, engine.connect(query)).await
    });
    match details {
        Ok(details) if is_reached(&details) => Ok(details),
        Ok(details) => Err(unreached(&details)),
        Err(Failure::Told(mut told)) => {
            told.hint.get_or_insert_with(|| NOTHING_WRITTEN.to_owned());
            Err(Failure::Told(told))
        }
        Err(other) => Err(other),
    }
}

const NOTHING_WRITTEN: &str = "nothing was written; `--no-check` writes it without trying";

/// Whether a server is there: one that wants to know who we are is.
fn is_reached(details: &ServerDetails) -> bool {
    matches!(
        details.report.state,
        ShownState::Ready | ShownState::NeedsAuth
    )
}

/// The failure of a server that is not there, with what it wrote last.
fn unreached(details: &ServerDetails) -> Failure {
    let name = render::name(&details.report.name);
    let (words, _) = render::status_words(&details.report);
    let reason = details.report.error.as_deref().unwrap_or(&words);
    let reason = openclaw_content::shown_line(reason, 500);
    let mut message = format!("cannot connect {name}: {reason}");
    let first = details.stderr.len().saturating_sub(5);
    for line in details.stderr.iter().skip(first) {
        message.push_str(&format!("\n  {}", openclaw_content::shown_line(line, 200)));
    }
    Failure::failed("unreachable", message).hint(NOTHING_WRITTEN)
}

fn tell(
    session: &mut Session<'_>,
    name: &str,
    path: &str,
    details: Option<&ServerDetails>,
    json: bool,
) -> Result<(), Failure> {
    if json {
        let written = json!({
            "name": name,
            "written": true,
            "config": path,
            "server": details,
        });
        return session.output.print_report(&written);
    }
    let state = match details {
        None => "not tried".to_owned(),
        Some(details) if details.report.state == ShownState::NeedsAuth => {
            "needs a login".to_owned()
        }
        Some(details) => format!("connected, {}", render::count(details.report.tools, "tool")),
    };
    session
        .output
        .print(&format!("{name}: {state}; written to {path}\n"))?;
    if details.is_some_and(|details| details.report.state == ShownState::NeedsAuth) {
        let hint = format!("hint: log in with `openclaw mcp auth {name}`\n");
        session.output.explain(&hint)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
