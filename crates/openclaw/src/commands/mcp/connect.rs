//! A new server: tried, then written to the configuration.

use openclaw_config::Config;
use openclaw_engine::{AuthKind, OneServer, ServerDetails, ShownState};
use serde_json::{Value as Json, json};

use crate::cli::ConnectOptions;
use crate::commands::Session;
use crate::commands::configuration::usable_config;
use crate::commands::engine::{answered, with_engine, with_engine_of};
use crate::commands::mcp::credentials::credentials;
use crate::commands::mcp::entry::{NewServer, Wanted, wanted};
use crate::commands::mcp::keeping::{Keeper, KeptServer};
use crate::commands::mcp::{definitions, keeping, login, servers, trial};
use crate::failure::{Exit, Failure};
use crate::render::{self, StoredCredential};

pub(super) fn run(
    session: &mut Session<'_>,
    agent: Option<String>,
    options: &ConnectOptions,
) -> Result<Exit, Failure> {
    match wanted(options)? {
        Wanted::Configured(name) => {
            check_name(&usable_config(session)?, &name)?;
            servers::reconnect(session, agent, name, options.json.wanted)
        }
        Wanted::New(server) => add(session, &server, options),
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
    server: &NewServer,
    options: &ConnectOptions,
) -> Result<Exit, Failure> {
    let name = server.name.as_str();
    let config = usable_config(session)?;
    let is_there = config.servers().any(|server| server.name.as_str() == name);
    if is_there && !options.force {
        return Err(definitions::exists(name));
    }
    // It is tried with its credentials as they were given: nothing is stored before it works.
    let trial = trial::judged(session, server, &config)?;
    let details = if options.no_check {
        None
    } else {
        Some(tried(session, trial.config, name)?)
    };
    let mut keeper = if options.no_keyring || credentials(&server.entry).is_empty() {
        None
    } else {
        Some(Keeper::new(session)?)
    };
    let absence = match &mut keeper {
        Some(keeper) => keeper.absence(session.output)?,
        None => None,
    };
    let kept = match &mut keeper {
        Some(keeper) if absence.is_none() => {
            keeper.write(session, server, &config, options.force)?
        }
        _ => {
            let entry = server.entry.clone();
            let edited = definitions::write(session, &server.name, entry, options.force)?;
            KeptServer {
                path: edited.path,
                stored: Vec::new(),
                had: edited.had,
                warnings: trial.warnings,
            }
        }
    };
    session.output.warn(&trial.remarks)?;
    session.output.warn(&kept.warnings)?;
    session.output.warn(absence.as_slice())?;
    let written = Written {
        name,
        path: &kept.path,
        details: details.as_ref(),
        stored: &kept.stored,
    };
    if !options.json.wanted {
        tell(session, &written)?;
    }
    // The keyring may take its time.
    let forgotten = keeping::forget(session, kept.had)?;
    if options.json.wanted {
        let report = written.json(&forgotten.deleted);
        session.output.print_report(&report)?;
    } else {
        let deleted = render::forgotten(&forgotten.deleted);
        session.output.print(&deleted)?;
    }
    session.output.warn(&forgotten.warnings)?;
    forgotten.ended()?;
    // It may take its time, and everything else is done.
    let needs_login = |it: &ServerDetails| {
        it.report.state == ShownState::NeedsAuth && it.report.auth == AuthKind::Oauth
    };
    if details.as_ref().is_some_and(needs_login) && !options.json.wanted {
        offer_login(session, name)?;
    }
    Ok(Exit::Done)
}

/// What was done.
struct Written<'w> {
    name: &'w str,
    /// The file.
    path: &'w str,
    /// The server, if it was tried.
    details: Option<&'w ServerDetails>,
    /// Its credentials that the keyring has now.
    stored: &'w [StoredCredential],
}

impl Written<'_> {
    /// For programs, with the credentials of the server in whose place it is, which nothing uses
    /// any more.
    fn json(&self, deleted: &[StoredCredential]) -> Json {
        json!({
            "name": self.name,
            "written": true,
            "config": self.path,
            "stored": self.stored,
            "deleted": deleted,
            "server": self.details,
        })
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

fn tell(session: &mut Session<'_>, written: &Written<'_>) -> Result<(), Failure> {
    let Written {
        name,
        path,
        details,
        stored,
    } = written;
    let state = match details {
        None => "not tried".to_owned(),
        Some(details) if details.report.state == ShownState::NeedsAuth => {
            if details.report.auth == AuthKind::Oauth {
                "needs a login".to_owned()
            } else {
                "the server does not take the credentials".to_owned()
            }
        }
        Some(details) => format!("connected, {}", render::count(details.report.tools, "tool")),
    };
    session
        .output
        .print(&format!("{name}: {state}; written to {path}\n"))?;
    session.output.print(&render::stored(stored))?;
    Ok(())
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
