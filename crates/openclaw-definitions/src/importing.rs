//! Servers of other MCP clients: found, judged as our own, written to the configuration.

mod standing;

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;

use openclaw_config::Config;
use openclaw_engine::{
    Blame, EngineFailure, ImportOutcome, ImportReport, ImportRequest, ImportedFile, ServerEntry,
    ServerImport, StoredCredential,
};
use openclaw_import::{Found, ImportedServer, Platform, Source, Surroundings, Variables, find};
use serde_json::Value as Json;

use crate::attendant::Attendant;
use crate::credentials::has_credentials;
use crate::definitions::{Definitions, Written};
use crate::failure::DefinitionError;
use crate::keeping::Keeper;
use crate::trial::Trial;
use crate::typed::{NewServer, server_name};

use standing::Standing;

/// What became of an import.
#[derive(Debug, Default)]
pub struct Imports {
    /// What was taken over, and what was not.
    pub report: ImportReport,
    /// How many servers were to be written, and could not be.
    pub unwritten: usize,
    /// Whether somebody did not want to wait for the rest.
    pub is_stopped: bool,
}

impl Definitions {
    /// Reads the servers of other clients on this machine.
    pub async fn found(&self, source: Source) -> Result<Vec<Found>, EngineFailure> {
        let surroundings = self.surroundings()?;
        self.elsewhere(move |_| find(&source, &surroundings)).await
    }

    /// The machine, as far as the environment tells.
    fn surroundings(&self) -> Result<Surroundings, EngineFailure> {
        let environment = self.environment().clone();
        let variables = Variables::new(move |name| environment.variable(name).map(OsString::from));
        let directory = self.environment().directory();
        let home = self.environment().home().ok_or_else(|| {
            EngineFailure::asker("location", "there is no home directory to look into")
                .hint("set HOME")
        })?;
        let platform = Platform::current();
        Ok(Surroundings::new(platform, home, directory, variables))
    }

    /// Takes over what was found, as far as it is asked for. `known` is the configuration as it is now.
    pub async fn import(
        &self,
        found: &[Found],
        known: Config,
        request: &ImportRequest,
        attendant: &mut impl Attendant,
    ) -> Result<Imports, EngineFailure> {
        let names = request.servers.as_ref();
        let mut import = Import {
            definitions: self.clone(),
            known,
            request,
            wanted: names.map(|it| it.iter().map(String::as_str).collect()),
            taken: BTreeMap::new(),
            warnings: Vec::new(),
            unwritten: 0,
            keyring: None,
        };
        let mut imports = Imports::default();
        for file in found {
            let (imported, looked) = import.file(file, attendant).await;
            imports.report.files.push(imported);
            match looked {
                Ok(()) => {}
                // Who stops it in the middle is told what was done by then.
                Err(DefinitionError::Stopped) => {
                    imports.is_stopped = true;
                    break;
                }
                Err(DefinitionError::Failed(failure)) => return Err(failure),
            }
        }
        imports.report.warnings = import.warnings;
        imports.unwritten = import.unwritten;
        Ok(imports)
    }
}

/// An import on its way.
struct Import<'r> {
    definitions: Definitions,
    /// The configuration as it was before.
    known: Config,
    request: &'r ImportRequest,
    /// The names of the servers that are meant; all if there are none.
    wanted: Option<BTreeSet<&'r str>>,
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
}

/// A server that is taken over, before it is told.
struct Taken {
    target: String,
    notes: Vec<String>,
    stored: Vec<StoredCredential>,
    is_present: bool,
    is_written: bool,
}

impl From<Taken> for ImportOutcome {
    fn from(taken: Taken) -> Self {
        Self::Taken {
            target: taken.target,
            notes: taken.notes,
            stored: taken.stored,
            present: taken.is_present,
            written: taken.is_written,
        }
    }
}

impl Import<'_> {
    /// What became of the servers of a file, as far as it went.
    async fn file(
        &mut self,
        file: &Found,
        attendant: &mut impl Attendant,
    ) -> (ImportedFile, Result<(), DefinitionError>) {
        let mut imported = ImportedFile {
            client: file.client.clone(),
            path: file.path.display().to_string(),
            servers: Vec::new(),
            problems: self.told(&file.problems),
        };
        for server in &file.servers {
            let name = server.name.as_str();
            if self.wanted.as_ref().is_some_and(|it| !it.contains(name)) {
                continue;
            }
            let (outcome, ended) = match self.server(file, server, attendant).await {
                Ok((outcome, ended)) => (outcome, ended),
                Err(error) => return (imported, Err(error)),
            };
            imported.servers.push(ServerImport {
                name: server.name.clone(),
                outcome,
            });
            if ended.is_err() {
                return (imported, ended);
            }
        }
        (imported, Ok(()))
    }

    /// What became of a server, and whether somebody wants no more.
    async fn server(
        &mut self,
        file: &Found,
        server: &ImportedServer,
        attendant: &mut impl Attendant,
    ) -> Result<(ImportOutcome, Result<(), DefinitionError>), DefinitionError> {
        if let Some(other) = self.taken.get(&server.name) {
            let reason = format!("a server of this name is taken from {other}");
            return Ok((ImportOutcome::Skipped { reason }, Ok(())));
        }
        let (new, trial) = match self.judged(server).await {
            Ok(judged) => judged,
            // A server that can't be used is left out; that nothing can be checked at all is a failure.
            Err(failure) if failure.blame == Blame::Asker => {
                return Ok((self.skipped(&failure), Ok(())));
            }
            Err(failure) => return Err(failure.into()),
        };
        let mut taken = Taken {
            target: self.target(&trial.config, &server.name)?,
            notes: self.told(&server.notes),
            stored: Vec::new(),
            is_present: false,
            is_written: false,
        };
        let place = format!("{} ({})", file.client, file.path.display());
        let standing = self.standing(&trial.config, &new, attendant).await?;
        let is_in_the_way = !self.request.replace;
        match standing {
            Standing::Same => {
                let note = "it is there already, with the same definition";
                taken.notes.push(note.to_owned());
                taken.is_present = true;
                self.taken.insert(server.name.clone(), place);
                return Ok((taken.into(), Ok(())));
            }
            Standing::Other if is_in_the_way => {
                let reason = "there is another server of this name; `--force` replaces it";
                let reason = reason.to_owned();
                return Ok((ImportOutcome::Skipped { reason }, Ok(())));
            }
            Standing::Unknown(reason) if is_in_the_way => {
                self.unwritten += usize::from(!self.request.rehearse);
                let reason = format!(
                    "there is a server of this name, and whether it is the same can't be told: \
                     {reason}"
                );
                return Ok((ImportOutcome::Skipped { reason }, Ok(())));
            }
            Standing::Other | Standing::Unknown(_) | Standing::New => {}
        }
        let written = match self.write(&new, trial.warnings, attendant).await {
            Ok(written) => written,
            Err(DefinitionError::Failed(failure)) => {
                self.unwritten += 1;
                return Ok((self.skipped(&failure), Ok(())));
            }
            Err(DefinitionError::Stopped) => return Err(DefinitionError::Stopped),
        };
        taken.stored = written.stored;
        taken.is_written = !self.request.rehearse;
        self.warnings.extend(trial.remarks);
        self.taken.insert(server.name.clone(), place);
        if written.leftovers.is_empty() {
            return Ok((taken.into(), Ok(())));
        }
        let keyring = self.keyring(attendant).await?;
        let forgotten = keyring.keeper.forget(written.leftovers, attendant).await?;
        let lines = openclaw_render::forgotten(&forgotten.deleted);
        taken.notes.extend(lines.lines().map(str::to_owned));
        self.warnings.extend(forgotten.warnings);
        let ended = if forgotten.is_stopped {
            Err(DefinitionError::Stopped)
        } else {
            Ok(())
        };
        Ok((taken.into(), ended))
    }

    /// A server by itself, as one of ours.
    async fn judged(&self, server: &ImportedServer) -> Result<(NewServer, Trial), EngineFailure> {
        let new = NewServer {
            name: server_name(&server.name)?,
            entry: ServerEntry(server.entry.clone()),
        };
        let trial = self.definitions.judged(&new, &self.known).await?;
        Ok((new, trial))
    }

    /// Writes a server, its credentials to the keyring where there is one.
    async fn write(
        &mut self,
        new: &NewServer,
        warnings: Vec<String>,
        attendant: &mut impl Attendant,
    ) -> Result<Written, DefinitionError> {
        let (replace, is_rehearsal) = (self.request.replace, self.request.rehearse);
        let is_for_keyring = self.request.keyring
            && has_credentials(&new.entry)
            && !self.keyring(attendant).await?.is_absent;
        let mut written = match &mut self.keyring {
            Some(LookedFor { keeper, .. }) if is_for_keyring && is_rehearsal => {
                let rehearsed = keeper.rehearse(new, &self.known).await?;
                Written {
                    warnings: rehearsed.warnings,
                    stored: rehearsed.stored,
                    ..Written::default()
                }
            }
            Some(LookedFor { keeper, .. }) if is_for_keyring => {
                keeper.write(new, &self.known, replace, attendant).await?
            }
            _ if is_rehearsal => Written {
                warnings,
                ..Written::default()
            },
            _ => Written {
                warnings,
                ..self.definitions.write(new, replace).await?
            },
        };
        self.warnings.append(&mut written.warnings);
        Ok(written)
    }

    /// Looks for a keyring, once, when the first server comes that has something to do with it.
    async fn keyring(
        &mut self,
        attendant: &mut impl Attendant,
    ) -> Result<&mut LookedFor, DefinitionError> {
        if let Some(found) = self.keyring.take() {
            return Ok(self.keyring.insert(found));
        }
        let mut keeper = self.definitions.keeper();
        if self.request.rehearse || !self.request.keyring {
            keeper = keeper.silent();
        }
        let absence = keeper.absence(attendant).await?;
        let is_absent = absence.is_some();
        if self.request.keyring {
            self.warnings.extend(absence);
        }
        Ok(self.keyring.insert(LookedFor { keeper, is_absent }))
    }

    /// A server that is left out for the reason of a failure.
    fn skipped(&self, failure: &EngineFailure) -> ImportOutcome {
        let mut reason = failure.message.replace('\n', "; ");
        if let Some(hint) = &failure.hint {
            reason.push_str(&format!("; {hint}"));
        }
        ImportOutcome::Skipped {
            reason: self.definitions.redactor().redact(&reason).into_owned(),
        }
    }

    /// Sentences without credentials.
    fn told(&self, sentences: &[String]) -> Vec<String> {
        let redactor = self.definitions.redactor();
        let sentences = sentences.iter();
        sentences
            .map(|sentence| redactor.redact(sentence).into_owned())
            .collect()
    }

    /// The program with its arguments, or the address; credentials hidden.
    fn target(&self, trial: &Config, name: &str) -> Result<String, EngineFailure> {
        let agent = trial.agents.values().next().ok_or_else(|| {
            EngineFailure::operation("system", "there is no agent to show a server for")
        })?;
        let shown = trial.show(agent, self.definitions.redactor());
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
}

#[cfg(test)]
mod tests;
