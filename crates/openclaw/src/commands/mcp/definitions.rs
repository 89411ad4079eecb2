//! Definitions of servers in the configuration: shown, written, deleted.

use std::collections::BTreeSet;

use openclaw_config::{Config, EditError, Editor, ServerEdit, ServerName, load};
use openclaw_engine::OneServer;
use serde_json::{Map, Value as Json, json};
use url::Url;

use crate::commands::Session;
use crate::commands::configuration::{errors, find_agent, unknown_server, usable_config};
use crate::commands::engine::{answered, with_engine, with_engine_of};
use crate::commands::mcp::credentials::{OwnEntry, Owner};
use crate::commands::mcp::keeping;
use crate::commands::mcp::{entry, login, trial, words};
use crate::failure::{Exit, Failure, Told};
use crate::render;

/// Prints definitions as JSON, credentials hidden.
pub(super) fn show(
    session: &mut Session<'_>,
    agent: Option<&str>,
    name: Option<&str>,
) -> Result<Exit, Failure> {
    let config = usable_config(session)?;
    let agent = find_agent(&config, agent)?;
    let shown = config.show(agent, session.redactor);
    let servers = &shown["mcp"]["servers"];
    match name {
        None => session.output.print_json(servers)?,
        Some(name) => {
            let server = servers.get(name).ok_or_else(|| {
                unknown_server(
                    name,
                    agent.servers.iter().map(|server| server.name.as_str()),
                )
            })?;
            session.output.print_json(server)?;
        }
    }
    Ok(Exit::Done)
}

/// Writes a definition without trying it.
pub(super) fn set(
    session: &mut Session<'_>,
    name: &str,
    definition: &str,
    json: bool,
) -> Result<Exit, Failure> {
    let name = entry::server_name(name)?;
    let definition = words::object(definition, "the definition")?;
    let Edited { path, had } = write(session, &name, definition, true)?;
    let loaded = load(&session.location()?, &session.environment);
    session.learn(&loaded);
    let warnings = loaded.report.warnings();
    let own = warnings.filter(|problem| problem.server() == Some(name.as_str()));
    trial::warn(session, own, name.as_str())?;
    if !json {
        session
            .output
            .print(&format!("{name}: written to {path}\n"))?;
    }
    let forgotten = keeping::forget(session, had)?;
    if json {
        let deleted = &forgotten.deleted;
        let written = json!({
            "name": name.as_str(), "written": true, "config": path, "deleted": deleted,
        });
        session.output.print_report(&written)?;
    } else {
        let deleted = render::forgotten(&forgotten.deleted);
        session.output.print(&deleted)?;
    }
    session.output.warn(&forgotten.warnings)?;
    forgotten.ended()?;
    Ok(Exit::Done)
}

/// The configuration after a change.
pub(super) struct Edited {
    /// The file.
    pub(super) path: String,
    /// The entries of the keyring that the server referred to before.
    pub(super) had: Vec<OwnEntry>,
}

/// Writes the definition of a server.
///
/// A server that is there already is an error unless it may be replaced.
pub(super) fn write(
    session: &Session<'_>,
    name: &ServerName,
    definition: Map<String, Json>,
    replace: bool,
) -> Result<Edited, Failure> {
    let add = ServerEdit::Add(name.clone(), definition.clone());
    match edit(session, &add) {
        Err(EditFailure::Edit(EditError::Exists(_))) if replace => {
            edit(session, &ServerEdit::Change(name.clone(), definition))
        }
        other => other,
    }
    .map_err(|failure| failure.told(&[]))
}

/// Stops a server and deletes its definition.
pub(super) fn remove(
    session: &mut Session<'_>,
    agent: Option<String>,
    name: &str,
    json: bool,
) -> Result<Exit, Failure> {
    let before = usable_config(session)?;
    let mut known: Vec<String> = before
        .servers()
        .map(|server| server.name.to_string())
        .collect();
    known.sort_unstable();
    known.dedup();
    let server = entry::server_name(name)?;
    if known.iter().any(|known| known == name) {
        stop(session, agent, name)?;
    }
    let edited = edit(session, &ServerEdit::Remove(server));
    let Edited { path, had } = edited.map_err(|failure| failure.told(&known))?;
    // The keyring may take its time.
    if !json {
        session
            .output
            .print(&format!("{name}: deleted from {path}\n"))?;
    }
    let logged_out = log_out(session, before, name)?;
    let forgotten = keeping::forget(session, had)?;
    if json {
        let deleted = &forgotten.deleted;
        let removed = json!({
            "name": name,
            "removed": true,
            "config": path,
            "deleted": deleted,
            "loggedOut": !logged_out.words.is_empty(),
        });
        session.output.print_report(&removed)?;
    } else {
        let deleted = render::forgotten(&forgotten.deleted);
        session.output.print(&deleted)?;
        session.output.print(&logged_out.words)?;
    }
    session.output.warn(&logged_out.warnings)?;
    session.output.warn(&forgotten.warnings)?;
    forgotten.ended()?;
    Ok(Exit::Done)
}

/// What became of the logins to a server that is no longer there.
#[derive(Default)]
struct LoggedOut {
    /// What was given up, in words.
    words: String,
    /// What was not, and why.
    warnings: Vec<String>,
}

/// Gives up the logins to a server that is no longer there, and says so; nobody else would.
fn log_out(session: &mut Session<'_>, before: Config, name: &str) -> Result<LoggedOut, Failure> {
    let mut logged_out = LoggedOut::default();
    let users = users_of_the_gone(session, &before, name)?;
    if users.is_empty() {
        return Ok(logged_out);
    }
    let outcome = with_engine_of(session, before, async |engine, session| {
        for agent in users {
            let query = OneServer {
                agent: Some(agent),
                server: name.to_owned(),
            };
            let pending = engine.logout(query);
            match answered(session.output, "giving up the login", pending).await {
                Ok(report) if report.was_logged_in => {
                    logged_out.words += &login::logout_words(&report);
                }
                Ok(_) => {}
                Err(Failure::Told(told)) => logged_out.warnings.push(not_logged_out(name, &told)),
                Err(other) => return Err(other),
            }
        }
        Ok(())
    });
    match outcome {
        // The definition is deleted, whatever becomes of the login.
        Err(Failure::Told(told)) => logged_out.warnings.push(not_logged_out(name, &told)),
        other => other?,
    }
    Ok(logged_out)
}

/// For each address that a server had and has no more, an agent that used it there.
fn users_of_the_gone(
    session: &mut Session<'_>,
    before: &Config,
    name: &str,
) -> Result<Vec<String>, Failure> {
    let after = load(&session.location()?, &session.environment);
    session.learn(&after);
    let after = after.config.iter();
    let after = after.flat_map(|config| addresses(config, name));
    let mut known: BTreeSet<Url> = after.map(|(address, _)| address.clone()).collect();
    let gone = addresses(before, name).filter(|(address, _)| known.insert((*address).clone()));
    Ok(gone.map(|(_, agent)| agent.to_owned()).collect())
}

/// The addresses of a server, each with an agent that uses it there.
fn addresses<'c>(config: &'c Config, name: &str) -> impl Iterator<Item = (&'c Url, &'c str)> {
    config.agents.values().filter_map(move |agent| {
        let address = agent.servers.get(name)?.address.as_ref()?;
        Some((address, agent.id.as_str()))
    })
}

fn not_logged_out(name: &str, told: &Told) -> String {
    let hint = told.hint.as_ref().map(|hint| format!(" ({hint})"));
    format!(
        "the login to {} was not given up: {}{}",
        render::name(name),
        told.message,
        hint.unwrap_or_default()
    )
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

/// Why a definition was not written.
#[derive(Debug)]
enum EditFailure {
    Edit(EditError),
    Other(Failure),
}

impl From<EditError> for EditFailure {
    fn from(error: EditError) -> Self {
        Self::Edit(error)
    }
}

/// Changes the configuration.
fn edit(session: &Session<'_>, edit: &ServerEdit) -> Result<Edited, EditFailure> {
    let location = session.location().map_err(EditFailure::Other)?;
    let state = session.state().map_err(EditFailure::Other)?;
    let editor = Editor::open(&location, &session.environment, &state)?;
    // What is replaced is what stands there now that nobody else can change it.
    let before = editor.server(edit.name()).unwrap_or_default();
    editor.apply(edit)?;
    Ok(Edited {
        path: location.config.display().to_string(),
        had: Owner::of(&location).entries_in(&before),
    })
}

impl EditFailure {
    /// The failure in words. `known` are the servers that there are.
    fn told(self, known: &[String]) -> Failure {
        let error = match self {
            Self::Other(failure) => return failure,
            Self::Edit(error) => error,
        };
        let message = error.to_string();
        match &error {
            EditError::Unknown(name) => {
                unknown_server(name.as_str(), known.iter().map(String::as_str))
            }
            EditError::Exists(name) => exists(name.as_str()),
            EditError::Unsound(_, report) => {
                let reasons = errors(report);
                Failure::usage("config", format!("{message}\n{}", reasons.join("\n")))
            }
            EditError::Rejected(name, report) => {
                // Lines of a file that was not written would lead nowhere.
                let reasons = report
                    .errors()
                    .filter(|problem| problem.server() == Some(name.as_str()))
                    .map(|problem| {
                        let help = problem.help_text().map(|help| format!(": {help}"));
                        let help = help.unwrap_or_default();
                        format!("\n{}: {}{help}", problem.path(), problem.message())
                    });
                Failure::usage(
                    "config",
                    format!("{message}{}", reasons.collect::<String>()),
                )
            }
            EditError::NotText(_) | EditError::Elsewhere { .. } | EditError::TooStrange(_) => {
                Failure::usage("config", message)
            }
            EditError::Read(_)
            | EditError::Concurrent(_)
            | EditError::Lock(_)
            | EditError::State(_)
            | EditError::Directory { .. }
            | EditError::Write(_) => Failure::failed("config-write", message),
        }
    }
}

/// The failure of adding a server that is there already.
pub(super) fn exists(name: &str) -> Failure {
    Failure::usage("exists", format!("there is a server {name:?} already"))
        .hint("replace it with `--force`, or give the new one another name with `--name`")
}
