//! A new server, from its definition to the file.

use openclaw_config::Config;
use openclaw_content::shown_line;
use openclaw_engine::{EngineFailure, ServerDetails, ShownState};
use openclaw_render::{name, status_words};

use crate::attendant::Attendant;
use crate::credentials::credentials;
use crate::definitions::{Definitions, Written};
use crate::failure::{DefinitionError, exists};
use crate::trial::Trial;
use crate::typed::NewServer;

/// What to do about a server that can't be reached.
pub const NOTHING_WRITTEN: &str = "nothing was written; `--no-check` writes it without trying";
/// How many of its last lines are told.
const LAST_LINES: usize = 5;

/// A server that can be tried, and written.
#[derive(Debug)]
pub struct Prepared {
    definitions: Definitions,
    server: NewServer,
    known: Config,
    replace: bool,
    trial: Trial,
}

impl Definitions {
    /// Makes sure that a server can be added to the configuration, `known`: that its definition has
    /// no mistakes, and that there is none of its name unless it may be replaced.
    pub async fn prepare(
        &self,
        server: NewServer,
        known: Config,
        replace: bool,
    ) -> Result<Prepared, EngineFailure> {
        let name = server.name.as_str();
        let is_there = known.servers().any(|server| server.name.as_str() == name);
        if is_there && !replace {
            return Err(exists(name));
        }
        Ok(Prepared {
            trial: self.judged(&server, &known).await?,
            definitions: self.clone(),
            server,
            known,
            replace,
        })
    }
}

impl Prepared {
    /// A configuration that has nothing but this server, to try it: with its credentials as they were
    /// given, since nothing is stored before it works.
    pub fn trial(&self) -> &Config {
        &self.trial.config
    }

    /// Writes the server, its credentials to the keyring before, if they are to go there and there is
    /// one.
    pub async fn write(
        self,
        keyring: bool,
        attendant: &mut impl Attendant,
    ) -> Result<Written, DefinitionError> {
        let Self {
            definitions,
            server,
            known,
            replace,
            trial,
        } = self;
        let is_for_keyring = keyring && !credentials(&server.entry.0).is_empty();
        let mut keeper = is_for_keyring.then(|| definitions.keeper());
        let absence = match &mut keeper {
            Some(keeper) => keeper.absence(attendant).await?,
            None => None,
        };
        let written = match &mut keeper {
            Some(keeper) if absence.is_none() => {
                keeper.write(&server, &known, replace, attendant).await?
            }
            _ => Written {
                warnings: trial.warnings,
                ..definitions.write(&server, replace).await?
            },
        };
        let mut warnings = trial.remarks;
        warnings.extend(written.warnings);
        warnings.extend(absence);
        Ok(Written {
            warnings,
            ..written
        })
    }
}

/// A server that was tried, if it is there. One that wants to know who we are is; one that is not is a
/// failure with what it wrote last.
pub fn reached(details: ServerDetails) -> Result<ServerDetails, EngineFailure> {
    if matches!(
        details.report.state,
        ShownState::Ready | ShownState::NeedsAuth
    ) {
        return Ok(details);
    }
    let (words, _) = status_words(&details.report);
    let reason = details.report.error.as_deref().unwrap_or(&words);
    let reason = shown_line(reason, 500);
    let mut message = format!("cannot connect {}: {reason}", name(&details.report.name));
    let first = details.stderr.len().saturating_sub(LAST_LINES);
    for line in details.stderr.iter().skip(first) {
        let line = shown_line(line, 200);
        // The reason may end with it.
        if !message.contains(&line) {
            message.push_str(&format!("\n  {line}"));
        }
    }
    Err(EngineFailure::operation("unreachable", message).hint(NOTHING_WRITTEN))
}

#[cfg(test)]
mod tests;
