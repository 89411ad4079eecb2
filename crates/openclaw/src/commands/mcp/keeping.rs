//! Credentials of servers in the keyring: stored before the configuration refers to them, deleted
//! after it has ceased to.
//!
//! | when it ends | the configuration | the keyring |
//! |---|---|---|
//! | before the file is written | as before | as before, or with an entry that nothing refers to |
//! | after that | refers to the new entries | with the new ones, perhaps the old ones as well |

mod asking;
mod copies;
mod forgetting;

use std::time::Duration;

use openclaw_config::Config;
use openclaw_secret_stores::{Keyring, SecretError, SecretErrorKind};
use openclaw_secrets::{Secret, SecretReference};
use ring::rand::{SecureRandom as _, SystemRandom};
use serde_json::{Map, Value as Json};
use tokio::runtime::Runtime;

use crate::commands::Session;
use crate::commands::mcp::credentials::{
    Credential, Field, OwnEntry, Owner, credentials, put, reference_in,
};
use crate::commands::mcp::entry::NewServer;
use crate::commands::mcp::{definitions, trial};
use crate::failure::Failure;
use crate::output::Output;
use crate::render::{self, StoredCredential};
use crate::signals::Signals;

use asking::is_trouble;

pub(super) use forgetting::forget;

/// How long a person has to unlock the keyring.
const PATIENCE: Duration = Duration::from_mins(1);
/// How long the keyring has to say that it is there.
const LOOK: Duration = Duration::from_secs(10);
/// How long it has to take back what was stored. Who has pressed Ctrl-C is not kept for longer.
const UNDOING: Duration = Duration::from_secs(5);
const NOT_WRITTEN: &str = "nothing was written; `--no-keyring` writes credentials as they are";

/// The keyring, for a command.
pub(super) struct Keeper {
    keyring: Keyring,
    runtime: Runtime,
    signals: Signals,
    owner: Owner,
    /// Why the keyring is not asked any more: a command waits for it once.
    trouble: Option<SecretError>,
    is_wait_told: bool,
}

/// A server that is written.
#[derive(Default)]
pub(super) struct KeptServer {
    /// The file.
    pub(super) path: String,
    /// Its credentials that the keyring has.
    pub(super) stored: Vec<StoredCredential>,
    /// The entries of the server in whose place it is.
    pub(super) had: Vec<OwnEntry>,
    /// What a person should know about what is left.
    pub(super) warnings: Vec<String>,
}

/// What became of the credentials of a definition.
struct Kept {
    /// The definition, with references in their place.
    entry: Map<String, Json>,
    stored: Vec<StoredCredential>,
    /// The accounts that were made.
    made: Vec<String>,
}

/// Whether a definition is the one that is written already.
pub(super) enum Recognised {
    /// The same as far as credentials go; references stand in their place.
    Entry(Map<String, Json>),
    /// It can't be told, for this reason.
    Unknown(String),
}

impl Keeper {
    /// Makes ready. The keyring is not asked for anything yet.
    pub(super) fn new(session: &Session<'_>) -> Result<Self, Failure> {
        let failed =
            |error: std::io::Error| Failure::failed("system", format!("cannot begin: {error}"));
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(failed)?;
        Ok(Self {
            keyring: Keyring::new(&session.environment).patience(PATIENCE),
            runtime,
            signals: Signals::listen().map_err(failed)?,
            owner: Owner::of(&session.location()?),
            trouble: None,
            is_wait_told: false,
        })
    }

    /// The same, which nobody is asked to unlock.
    pub(super) fn silent(mut self) -> Self {
        self.keyring = self.keyring.silent();
        self
    }

    /// Why there is no keyring, if there is none. One that does not work is not none: storing will
    /// say what is wrong with it.
    pub(super) fn absence(&mut self, output: &mut Output) -> Result<Option<String>, Failure> {
        let look = async |keyring: &Keyring, _: &str| keyring.clone().patience(LOOK).check().await;
        self.trouble = self.ask(output, look)?.err();
        let absent = self.trouble.as_ref().filter(|it| it.is_absence());
        Ok(absent.map(|error| match error.hint_text() {
            Some(hint) => format!("no keyring: {error}: {hint}"),
            None => format!("no keyring: {error}"),
        }))
    }

    /// The definition as it is written already, where that has the same credentials.
    pub(super) fn recognised(
        &mut self,
        output: &mut Output,
        server: &NewServer,
        written: &Json,
    ) -> Result<Recognised, Failure> {
        let mut entry = server.entry.clone();
        for credential in credentials(&server.entry) {
            let Some(reference) = reference_in(written, &credential) else {
                continue;
            };
            let SecretReference::Keyring {
                service, account, ..
            } = &reference
            else {
                continue;
            };
            let get = async |keyring: &Keyring, _: &str| keyring.get(service, account).await;
            match self.ask(output, get)? {
                Ok(found) if found.as_ref() == Some(&credential.value) => {
                    put(&mut entry, &credential, &reference);
                }
                Err(error) if is_trouble(&error) => {
                    let hint = error.hint_text().map(|hint| format!("; {hint}"));
                    let reason = format!("{error}{}", hint.unwrap_or_default());
                    return Ok(Recognised::Unknown(reason));
                }
                // It is another one, or none that can be used.
                Ok(_) | Err(_) => {}
            }
        }
        Ok(Recognised::Entry(entry))
    }

    /// What would be stored, as far as can be said without asking for a password.
    pub(super) fn rehearse(
        &self,
        server: &NewServer,
    ) -> Result<(Map<String, Json>, Vec<StoredCredential>), Failure> {
        let mut entry = server.entry.clone();
        let mut stored = Vec::new();
        for credential in credentials(&server.entry) {
            let field = &credential.field;
            // A locked one could be unlocked.
            let broken = self.trouble.as_ref();
            if let Some(error) = broken.filter(|it| it.kind() != SecretErrorKind::Refused) {
                return Err(refused(server, field, error));
            }
            let name = self.owner.account(server.name.as_str(), field, [0; 4]);
            if let Some(reference) = self.owner.reference(&name) {
                put(&mut entry, &credential, &reference);
            }
            let foreseen = self.owner.foreseen(server.name.as_str(), field);
            stored.push(described(field, foreseen));
        }
        Ok((entry, stored))
    }

    /// Writes a server to the configuration, its credentials to the keyring before.
    pub(super) fn write(
        &mut self,
        session: &mut Session<'_>,
        server: &NewServer,
        known: &Config,
        force: bool,
    ) -> Result<KeptServer, Failure> {
        let mut kept = Kept {
            entry: server.entry.clone(),
            stored: Vec::new(),
            made: Vec::new(),
        };
        let written = self.write_kept(session, server, known, force, &mut kept);
        if written.is_err() {
            self.undo(&kept.made);
        }
        written
    }

    fn write_kept(
        &mut self,
        session: &mut Session<'_>,
        server: &NewServer,
        known: &Config,
        force: bool,
        kept: &mut Kept,
    ) -> Result<KeptServer, Failure> {
        let given = credentials(&server.entry);
        for credential in &given {
            self.keep(session.output, server, credential, kept)?;
        }
        let mut warnings = trial::left(session, server, kept.entry.clone(), known)?;
        let edited = definitions::write(session, &server.name, kept.entry.clone(), force)?;
        warnings.extend(copies::warning(&session.location()?.state, &given));
        Ok(KeptServer {
            path: edited.path,
            stored: std::mem::take(&mut kept.stored),
            had: edited.had,
            warnings,
        })
    }

    /// Stores a credential in an entry of its own.
    fn keep(
        &mut self,
        output: &mut Output,
        server: &NewServer,
        credential: &Credential,
        kept: &mut Kept,
    ) -> Result<(), Failure> {
        let (field, name) = (&credential.field, server.name.as_str());
        if let Some(trouble) = &self.trouble {
            return Err(refused(server, field, trouble));
        }
        let mut random = [0; 4];
        let account = match SystemRandom::new().fill(&mut random) {
            Ok(()) => Some(self.owner.account(name, field, random)),
            Err(_) => None,
        };
        let reference = account.as_ref().and_then(|it| self.owner.reference(it));
        let (Some(account), Some(reference)) = (account, reference) else {
            let reason = format!("there is no name for {field} in the keyring");
            return Err(Failure::failed("keyring", reason).hint(NOT_WRITTEN));
        };
        // From here on it may be there, whatever is heard of it.
        kept.made.push(account.clone());
        let stored = self.ask(output, async |keyring: &Keyring, service: &str| {
            let value = lasting(&credential.value);
            keyring.set(service, &account, &value).await?;
            keyring.get(service, &account).await
        })?;
        let found = stored.map_err(|error| refused(server, field, &error))?;
        if found.as_ref() != Some(&credential.value) {
            let reason = format!("the keyring does not give back what was stored as {account:?}");
            return Err(Failure::failed("keyring", reason).hint(NOT_WRITTEN));
        }
        put(&mut kept.entry, credential, &reference);
        kept.stored.push(described(field, reference.to_string()));
        Ok(())
    }

    /// Takes back what was stored: the configuration could not be written.
    fn undo(&self, made: &[String]) {
        let keyring = self.keyring.clone().silent().patience(UNDOING);
        let undoing = async {
            for account in made {
                if let Err(error) = keyring.delete(&self.owner.service, account).await {
                    tracing::warn!(
                        account,
                        "the keyring keeps an entry that nothing uses: {error}"
                    );
                }
            }
        };
        let undone = async { tokio::time::timeout(UNDOING, undoing).await };
        if self.runtime.block_on(undone).is_err() {
            tracing::warn!("the keyring keeps entries that nothing uses: it does not answer");
        }
    }
}

/// What has to be stored so that a value comes back as it is: whoever reads it drops one line break
/// at its end.
fn lasting(value: &Secret) -> Secret {
    if value.expose().ends_with('\n') {
        Secret::new(format!("{}\n", value.expose()))
    } else {
        value.clone()
    }
}

/// A place in a definition, and the reference that stands there.
fn described(field: &Field, reference: String) -> StoredCredential {
    StoredCredential {
        field: field.to_string(),
        reference,
        label: field.label(),
    }
}

fn refused(server: &NewServer, field: &Field, error: &SecretError) -> Failure {
    let reason = format!(
        "cannot keep {field} of {} in the keyring: {error}",
        render::name(server.name.as_str())
    );
    let hint = match error.hint_text() {
        Some(hint) => format!("{hint}; {NOT_WRITTEN}"),
        None => NOT_WRITTEN.to_owned(),
    };
    Failure::failed("keyring", reason).hint(hint)
}

#[cfg(test)]
mod tests;
