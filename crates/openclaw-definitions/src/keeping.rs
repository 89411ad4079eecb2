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
use openclaw_engine::{EngineFailure, ServerEntry, StoredCredential};
use openclaw_secret_stores::{Keyring, SecretError, SecretErrorKind};
use openclaw_secrets::{Secret, SecretReference};
use ring::rand::{SecureRandom as _, SystemRandom};
use serde_json::{Map, Value as Json};

use crate::attendant::Attendant;
use crate::credentials::{Credential, Field, Owner, credentials, put, reference_in};
use crate::definitions::{Definitions, Written};
use crate::failure::DefinitionError;
use crate::typed::NewServer;

use asking::is_trouble;

pub use forgetting::Forgotten;

/// How long a person has to unlock the keyring.
const PATIENCE: Duration = Duration::from_mins(1);
/// How long the keyring has to say that it is there.
const LOOK: Duration = Duration::from_secs(10);
/// How long it has to take back what was stored. Who has pressed Ctrl-C is not kept for longer.
const UNDOING: Duration = Duration::from_secs(5);
const NOT_WRITTEN: &str = "nothing was written; `--no-keyring` writes credentials as they are";

/// The keyring, for credentials of a configuration. Whoever drops what it does leaves everything as
/// the table above says.
pub struct Keeper {
    definitions: Definitions,
    keyring: Keyring,
    owner: Owner,
    /// Why the keyring is not asked any more: it is waited for once.
    trouble: Option<SecretError>,
    is_wait_told: bool,
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
#[derive(Debug)]
pub enum Recognised {
    /// The same as far as credentials go; references stand in their place.
    Entry(ServerEntry),
    /// It can't be told, for this reason.
    Unknown(String),
}

/// What would be written.
#[derive(Debug)]
pub struct Rehearsed {
    /// The credentials that the keyring would have.
    pub stored: Vec<StoredCredential>,
    /// What a person should know about what would be left.
    pub warnings: Vec<String>,
}

impl Keeper {
    /// Makes ready. The keyring is not asked for anything yet.
    pub(crate) fn new(definitions: Definitions) -> Self {
        Self {
            keyring: Keyring::new(definitions.environment()).patience(PATIENCE),
            owner: Owner::of(definitions.location()),
            trouble: None,
            is_wait_told: false,
            definitions,
        }
    }

    /// The same, which nobody is asked to unlock.
    #[must_use]
    pub fn silent(mut self) -> Self {
        self.keyring = self.keyring.silent();
        self
    }

    /// Why there is no keyring, if there is none. One that does not work is not none: storing will
    /// say what is wrong with it.
    pub async fn absence(
        &mut self,
        attendant: &mut impl Attendant,
    ) -> Result<Option<String>, DefinitionError> {
        let keyring = self.keyring.clone().patience(LOOK);
        let look = Box::pin(async move { keyring.check().await });
        self.trouble = self.ask(attendant, look).await?.err();
        let absent = self.trouble.as_ref().filter(|it| it.is_absence());
        Ok(absent.map(|error| match error.hint_text() {
            Some(hint) => format!("no keyring: {error}: {hint}"),
            None => format!("no keyring: {error}"),
        }))
    }

    /// The definition as it is written already, where that has the same credentials.
    pub async fn recognised(
        &mut self,
        server: &NewServer,
        written: &Json,
        attendant: &mut impl Attendant,
    ) -> Result<Recognised, DefinitionError> {
        let mut entry = server.entry.0.clone();
        for credential in credentials(&server.entry.0) {
            let Some(reference) = reference_in(written, &credential) else {
                continue;
            };
            let SecretReference::Keyring {
                service, account, ..
            } = &reference
            else {
                continue;
            };
            let keyring = self.keyring.clone();
            let (service, account) = (service.clone(), account.clone());
            let get = Box::pin(async move { keyring.get(&service, &account).await });
            match self.ask(attendant, get).await? {
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
        Ok(Recognised::Entry(ServerEntry(entry)))
    }

    /// What would be stored, as far as can be said without asking for a password, and what a person
    /// should know about what is left.
    pub async fn rehearse(
        &self,
        server: &NewServer,
        known: &Config,
    ) -> Result<Rehearsed, EngineFailure> {
        let mut entry = server.entry.0.clone();
        let mut stored = Vec::new();
        for credential in credentials(&server.entry.0) {
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
        Ok(Rehearsed {
            warnings: self.left_of(server, entry, known).await?,
            stored,
        })
    }

    /// Writes a server to the configuration, its credentials to the keyring before.
    pub async fn write(
        &mut self,
        server: &NewServer,
        known: &Config,
        replace: bool,
        attendant: &mut impl Attendant,
    ) -> Result<Written, DefinitionError> {
        let mut kept = Kept {
            entry: server.entry.0.clone(),
            stored: Vec::new(),
            made: Vec::new(),
        };
        let written = self.write_kept(server, known, replace, &mut kept, attendant);
        let written = written.await;
        if written.is_err() {
            self.undo(&kept.made).await;
        }
        written
    }

    async fn write_kept(
        &mut self,
        server: &NewServer,
        known: &Config,
        replace: bool,
        kept: &mut Kept,
        attendant: &mut impl Attendant,
    ) -> Result<Written, DefinitionError> {
        let given = credentials(&server.entry.0);
        for credential in &given {
            self.keep(server, credential, kept, attendant).await?;
        }
        let mut warnings = self.left_of(server, kept.entry.clone(), known).await?;
        let referring = NewServer {
            name: server.name.clone(),
            entry: ServerEntry(kept.entry.clone()),
        };
        let written = self.definitions.write(&referring, replace).await?;
        let copies = self
            .definitions
            .elsewhere(move |it| copies::warning(&it.location().state, &given));
        // It is written, whatever is known of copies.
        warnings.extend(copies.await.ok().flatten());
        Ok(Written {
            stored: std::mem::take(&mut kept.stored),
            warnings,
            ..written
        })
    }

    /// The warnings that are left for a server with this definition in the place of its own.
    async fn left_of(
        &self,
        server: &NewServer,
        entry: Map<String, Json>,
        known: &Config,
    ) -> Result<Vec<String>, EngineFailure> {
        let server = NewServer {
            name: server.name.clone(),
            entry: ServerEntry(entry),
        };
        Ok(self.definitions.judged(&server, known).await?.warnings)
    }

    /// Stores a credential in an entry of its own.
    async fn keep(
        &mut self,
        server: &NewServer,
        credential: &Credential,
        kept: &mut Kept,
        attendant: &mut impl Attendant,
    ) -> Result<(), DefinitionError> {
        let (field, name) = (&credential.field, server.name.as_str());
        if let Some(trouble) = &self.trouble {
            return Err(refused(server, field, trouble).into());
        }
        let mut random = [0; 4];
        let account = match SystemRandom::new().fill(&mut random) {
            Ok(()) => Some(self.owner.account(name, field, random)),
            Err(_) => None,
        };
        let reference = account.as_ref().and_then(|it| self.owner.reference(it));
        let (Some(account), Some(reference)) = (account, reference) else {
            let reason = format!("there is no name for {field} in the keyring");
            return Err(unkept(reason).into());
        };
        // From here on it may be there, whatever is heard of it.
        kept.made.push(account.clone());
        let (keyring, service) = (self.keyring.clone(), self.owner.service.clone());
        let (value, place) = (lasting(&credential.value), account.clone());
        let store = Box::pin(async move {
            keyring.set(&service, &place, &value).await?;
            keyring.get(&service, &place).await
        });
        let stored = self.ask(attendant, store).await?;
        let found = stored.map_err(|error| refused(server, field, &error))?;
        if found.as_ref() != Some(&credential.value) {
            let reason = format!("the keyring does not give back what was stored as {account:?}");
            return Err(unkept(reason).into());
        }
        put(&mut kept.entry, credential, &reference);
        kept.stored.push(described(field, reference.to_string()));
        Ok(())
    }

    /// Takes back what was stored: the configuration could not be written.
    async fn undo(&self, made: &[String]) {
        let keyring = self.keyring.clone().silent().patience(UNDOING);
        let undoing = Box::pin(async {
            for account in made {
                if let Err(error) = keyring.delete(&self.owner.service, account).await {
                    tracing::warn!(
                        account,
                        "the keyring keeps an entry that nothing uses: {error}"
                    );
                }
            }
        });
        if tokio::time::timeout(UNDOING, undoing).await.is_err() {
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
    }
}

fn refused(server: &NewServer, field: &Field, error: &SecretError) -> EngineFailure {
    let name = openclaw_render::name(server.name.as_str());
    let reason = format!("cannot keep {field} of {name} in the keyring: {error}");
    let failure = unkept(reason);
    match error.hint_text() {
        Some(hint) => failure.hint(format!("{hint}; {NOT_WRITTEN}")),
        None => failure,
    }
}

fn unkept(reason: String) -> EngineFailure {
    EngineFailure::operation("keyring", reason).hint(NOT_WRITTEN)
}

#[cfg(test)]
mod tests;
