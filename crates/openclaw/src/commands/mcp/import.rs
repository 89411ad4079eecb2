//! Servers of other MCP clients: found, checked as our own, written to the configuration.

mod standing;

use std::collections::BTreeMap;
use std::ffi::OsString;

use openclaw_config::Config;
use openclaw_definitions::{Definitions, Keeper, NewServer, Written, has_credentials, server_name};
use openclaw_engine::{EngineFailure, ServerEntry};
use openclaw_import::{Found, ImportedServer, Platform, Source, Surroundings, Variables, find};
use serde_json::Value as Json;

use crate::cli::ImportOptions;
use crate::commands::Session;
use crate::commands::configuration::{find_agent, usable_config};
use crate::commands::engine::awaited;
use crate::commands::gateway;
use crate::commands::mcp::waiting::Patience;
use crate::failure::{Exit, Failure, Told};
use crate::render::{self, ImportLine, ImportOutcome, ImportReport, ImportedFile};

use standing::Standing;

pub(super) fn run(session: &mut Session<'_>, options: &ImportOptions) -> Result<Exit, Failure> {
    let imported = awaited(import(session, options))?;
    if !options.dry_run {
        gateway::tell_of_changes(session)?;
    }
    imported
}

async fn import(session: &mut Session<'_>, options: &ImportOptions) -> Result<Exit, Failure> {
    let source = match &options.from {
        None => Source::All,
        Some(text) => text
            .parse()
            .map_err(|error| Failure::usage("usage", format!("`--from`: {error}")))?,
    };
    let found = find(&source, &surroundings(session)?);
    check_presence(&source, &found)?;
    let mut import = Import {
        definitions: session.definitions()?,
        known: usable_config(session)?,
        options,
        taken: BTreeMap::new(),
        warnings: Vec::new(),
        unwritten: 0,
        keyring: None,
    };
    let mut files = Vec::new();
    let mut ended = Ok(());
    for file in &found {
        let (imported, looked) = import.file(session, file).await;
        files.push(imported);
        if looked.is_err() {
            ended = looked;
            break;
        }
    }
    // Who stops it in the middle is told what was done by then.
    if !matches!(ended, Ok(()) | Err(Failure::Interrupted(_))) {
        return ended.map(|()| Exit::Failed);
    }
    let report = ImportReport {
        files,
        is_rehearsal: options.dry_run,
    };
    if options.json.wanted {
        session.output.print_json(&report.json())?;
    } else {
        let config = session.location()?.config.display().to_string();
        let text = render::import(&report, &config, session.output.page());
        session.output.print(&text)?;
    }
    session.output.warn(&import.warnings)?;
    ended?;
    let is_useless = source != Source::All && report.is_nothing_but_problems();
    Ok(if import.unwritten > 0 || is_useless {
        Exit::Failed
    } else {
        Exit::Done
    })
}

/// The machine, as far as the session knows it.
fn surroundings(session: &Session<'_>) -> Result<Surroundings, Failure> {
    let environment = session.environment.clone();
    let variables = Variables::new(move |name| environment.variable(name).map(OsString::from));
    let directory = session.environment.directory();
    let surroundings = Surroundings::from_variables(Platform::current(), directory, variables);
    let mut surroundings = surroundings.ok_or_else(|| {
        Failure::usage("location", "there is no home directory to look into").hint("set HOME")
    })?;
    if let Some(home) = session.environment.home() {
        surroundings.home = home;
    }
    Ok(surroundings)
}

/// A source that was named has to be there; whether it can be used is another question.
fn check_presence(source: &Source, found: &[Found]) -> Result<(), Failure> {
    let is_there = |file: &Found| !file.servers.is_empty() || file.path.exists();
    if *source == Source::All || found.iter().any(is_there) {
        return Ok(());
    }
    let problems = found.iter().flat_map(|file| &file.problems);
    let problems: Vec<&str> = problems.map(String::as_str).collect();
    Err(Failure::usage("unknown-source", problems.join("\n")))
}

/// An import on its way.
struct Import<'o> {
    definitions: Definitions,
    /// The configuration as it was before.
    known: Config,
    options: &'o ImportOptions,
    /// Where each name was taken from.
    taken: BTreeMap<String, String>,
    warnings: Vec<String>,
    /// How many servers could not be written.
    unwritten: usize,
    /// The keyring, once a server came that has something to do with it.
    keyring: Option<LookedFor>,
}

/// A keyring that was looked for.
struct LookedFor {
    keeper: Keeper,
    is_absent: bool,
    /// Hears whether somebody wants to stop the import.
    patience: Patience,
}

impl Import<'_> {
    /// What became of the servers of a file, as far as it went.
    async fn file(
        &mut self,
        session: &mut Session<'_>,
        file: &Found,
    ) -> (ImportedFile, Result<(), Failure>) {
        let mut imported = ImportedFile {
            client: file.client.clone(),
            path: file.path.display().to_string(),
            lines: Vec::new(),
            problems: told(session, &file.problems),
        };
        for server in &file.servers {
            let ended = match self.server(session, file, server).await {
                Ok(outcome) => {
                    imported.lines.push(ImportLine {
                        name: server.name.clone(),
                        outcome,
                    });
                    let keyring = self.keyring.as_ref();
                    keyring.and_then(|it| it.patience.ended().err())
                }
                Err(failure) => Some(failure),
            };
            if let Some(failure) = ended {
                return (imported, Err(failure));
            }
        }
        (imported, Ok(()))
    }

    async fn server(
        &mut self,
        session: &mut Session<'_>,
        file: &Found,
        server: &ImportedServer,
    ) -> Result<ImportOutcome, Failure> {
        if let Some(other) = self.taken.get(&server.name) {
            let reason = format!("a server of this name is taken from {other}");
            return Ok(ImportOutcome::Skipped(reason));
        }
        let new = match server_name(&server.name) {
            Ok(name) => NewServer {
                name,
                entry: ServerEntry(server.entry.clone()),
            },
            Err(failure) => return refused(session, failure),
        };
        let trial = match self.definitions.judged(&new, &self.known).await {
            Ok(trial) => trial,
            Err(failure) => return refused(session, failure),
        };
        let mut taken = ImportOutcome::Taken {
            target: target(session, &trial.config, &server.name)?,
            notes: told(session, &server.notes),
            stored: Vec::new(),
            is_written: false,
        };
        let place = format!("{} ({})", file.client, file.path.display());
        match self.standing(session, &trial.config, &new).await? {
            Standing::Same => {
                taken.note("it is there already, with the same definition");
                self.taken.insert(server.name.clone(), place);
                return Ok(taken);
            }
            Standing::Other if !self.options.force => {
                let reason = "there is another server of this name; `--force` replaces it";
                return Ok(ImportOutcome::Skipped(reason.to_owned()));
            }
            Standing::Unknown(reason) if !self.options.force => {
                self.unwritten += usize::from(!self.options.dry_run);
                let reason = format!(
                    "there is a server of this name, and whether it is the same can't be told: \
                     {reason}"
                );
                return Ok(ImportOutcome::Skipped(reason));
            }
            Standing::Other | Standing::Unknown(_) | Standing::New => {}
        }
        let leftovers = match self.write(session, &new, trial.warnings).await {
            Ok(written) => {
                taken.set_stored(written.stored, !self.options.dry_run);
                written.leftovers
            }
            Err(Failure::Told(told)) => {
                self.unwritten += 1;
                return Ok(skipped(session, &told));
            }
            Err(other) => return Err(other),
        };
        self.warnings.extend(trial.remarks);
        self.taken.insert(server.name.clone(), place);
        if !leftovers.is_empty() {
            let keyring = self.keyring(session).await?;
            let mut waiting = keyring.patience.with(session.output);
            let forgotten = keyring.keeper.forget(leftovers, &mut waiting).await?;
            for line in render::forgotten(&forgotten.deleted).lines() {
                taken.note(line);
            }
            self.warnings.extend(forgotten.warnings);
        }
        Ok(taken)
    }

    /// Writes a server, its credentials to the keyring where there is one.
    async fn write(
        &mut self,
        session: &mut Session<'_>,
        new: &NewServer,
        warnings: Vec<String>,
    ) -> Result<Written, Failure> {
        let (force, is_rehearsal) = (self.options.force, self.options.dry_run);
        let is_for_keyring = !self.options.no_keyring
            && has_credentials(&new.entry)
            && !self.keyring(session).await?.is_absent;
        let mut written = match &mut self.keyring {
            Some(LookedFor { keeper, .. }) if is_for_keyring && is_rehearsal => {
                let rehearsed = keeper.rehearse(new, &self.known).await?;
                Written {
                    warnings: rehearsed.warnings,
                    stored: rehearsed.stored,
                    ..Written::default()
                }
            }
            Some(LookedFor {
                keeper, patience, ..
            }) if is_for_keyring => {
                let mut waiting = patience.with(session.output);
                let written = keeper.write(new, &self.known, force, &mut waiting).await;
                written.map_err(|error| patience.failure(error))?
            }
            _ if is_rehearsal => Written {
                warnings,
                ..Written::default()
            },
            _ => Written {
                warnings,
                ..self.definitions.write(new, force).await?
            },
        };
        self.warnings.append(&mut written.warnings);
        Ok(written)
    }

    /// Looks for a keyring, once, when the first server comes that has something to do with it.
    async fn keyring(&mut self, session: &mut Session<'_>) -> Result<&mut LookedFor, Failure> {
        if let Some(found) = self.keyring.take() {
            return Ok(self.keyring.insert(found));
        }
        let mut keeper = self.definitions.keeper();
        if self.options.dry_run || self.options.no_keyring {
            keeper = keeper.silent();
        }
        let mut patience = Patience::default();
        let absence = keeper.absence(&mut patience.with(session.output)).await;
        let absence = absence.map_err(|error| patience.failure(error))?;
        let is_absent = absence.is_some();
        if !self.options.no_keyring {
            self.warnings.extend(absence);
        }
        Ok(self.keyring.insert(LookedFor {
            keeper,
            is_absent,
            patience,
        }))
    }
}

/// A server that can't be used is left out; that nothing can be checked at all is a failure.
fn refused(session: &Session<'_>, failure: EngineFailure) -> Result<ImportOutcome, Failure> {
    match Failure::from(failure) {
        Failure::Told(told) if told.exit == Exit::Usage => Ok(skipped(session, &told)),
        other => Err(other),
    }
}

/// A server that is left out for the reason of a failure.
fn skipped(session: &Session<'_>, told: &Told) -> ImportOutcome {
    let mut reason = told.message.replace('\n', "; ");
    if let Some(hint) = &told.hint {
        reason.push_str(&format!("; {hint}"));
    }
    ImportOutcome::Skipped(session.redactor.redact(&reason).into_owned())
}

/// Sentences without credentials.
fn told(session: &Session<'_>, sentences: &[String]) -> Vec<String> {
    let sentences = sentences.iter();
    sentences
        .map(|sentence| session.redactor.redact(sentence).into_owned())
        .collect()
}

/// The program with its arguments, or the address; credentials hidden.
fn target(session: &Session<'_>, trial: &Config, name: &str) -> Result<String, Failure> {
    let shown = trial.show(find_agent(trial, None)?, session.redactor);
    let server = &shown["mcp"]["servers"][name];
    if let Some(address) = server["url"].as_str() {
        return Ok(address.to_owned());
    }
    let arguments = server["args"].as_array();
    let words = arguments.into_iter().flatten().filter_map(Json::as_str);
    let words: Vec<&str> = server["command"]
        .as_str()
        .into_iter()
        .chain(words)
        .collect();
    Ok(words.join(" "))
}
