//! Credentials of servers in the keyring: stored before the configuration refers to them, deleted
//! after it has ceased to.

mod forgetting;

use std::time::Duration;

use openclaw_config::Config;
use openclaw_secret_stores::{Keyring, SecretError};
use openclaw_secrets::{Secret, SecretReference};
use serde_json::{Map, Value as Json};
use tokio::runtime::Runtime;

use crate::commands::Session;
use crate::commands::mcp::credentials::{
    self, Credential, Field, Referred, account, credentials, is_ours, put, reference, referred,
};
use crate::commands::mcp::entry::NewServer;
use crate::commands::mcp::{definitions, trial};
use crate::failure::Failure;
use crate::render::{self, StoredCredential};
use crate::signals::Signals;

pub(super) use forgetting::{Forgotten, forget};

/// How long a person has to unlock the keyring.
const PATIENCE: Duration = Duration::from_mins(1);
/// How long the keyring has to say that it is there.
const LOOK: Duration = Duration::from_secs(10);
/// How many names are tried for a credential.
const MOST_ATTEMPTS: usize = 100;
const NOT_WRITTEN: &str = "nothing was written; `--no-keyring` writes credentials as they are";

/// The keyring, for a command.
pub(super) struct Keeper {
    keyring: Keyring,
    runtime: Runtime,
    signals: Signals,
    service: String,
    /// What the configuration refers to as yet.
    present: Vec<Referred>,
}

/// A server that is written.
pub(super) struct KeptServer {
    /// The file.
    pub(super) path: String,
    /// Its credentials that the keyring has.
    pub(super) stored: Vec<StoredCredential>,
    /// What a person should know about what is left.
    pub(super) warnings: Vec<String>,
}

/// What became of the credentials of a definition.
struct Kept {
    /// The definition, with references in their place.
    entry: Map<String, Json>,
    stored: Vec<StoredCredential>,
    /// What was changed in the keyring: the account, and what was there before.
    changes: Vec<(String, Option<Secret>)>,
}

/// A place in a definition, and the reference that stands there.
fn described(field: &Field, reference: &SecretReference) -> StoredCredential {
    StoredCredential {
        field: field.to_string(),
        reference: reference.to_string(),
        label: field.label(),
    }
}

impl Keeper {
    /// Makes ready. The keyring is not asked for anything yet.
    pub(super) fn new(session: &Session<'_>, config: &Config) -> Result<Self, Failure> {
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
            service: credentials::service(session.location()?.profile.as_deref()),
            present: referred(config),
        })
    }

    /// Why there is no keyring, if there is none.
    pub(super) fn absence(&self) -> Result<Option<String>, Failure> {
        let keyring = self.keyring.clone().patience(LOOK);
        let looked = self.wait(keyring.check())?;
        Ok(looked.err().map(|error| match error.hint_text() {
            Some(hint) => format!("no keyring: {error}: {hint}"),
            None => format!("no keyring: {error}"),
        }))
    }

    /// The definition as it stands in the configuration, where that has the same credentials.
    pub(super) fn recognised(&self, server: &NewServer) -> Result<Map<String, Json>, Failure> {
        let mut entry = server.entry.clone();
        for credential in credentials(&server.entry) {
            let Some((account, reference)) = self.present_entry(server, &credential) else {
                continue;
            };
            // One that can't be read is not the same.
            let found = self.wait(self.keyring.get(&self.service, &account))?;
            if found.ok().flatten().as_ref() == Some(&credential.value) {
                put(&mut entry, &credential, &reference);
            }
        }
        Ok(entry)
    }

    /// What would be stored, as far as can be said without asking for a password.
    pub(super) fn rehearse(
        &self,
        server: &NewServer,
    ) -> (Map<String, Json>, Vec<StoredCredential>) {
        let mut entry = server.entry.clone();
        let mut stored = Vec::new();
        for credential in credentials(&server.entry) {
            let name = account(server.name.as_str(), &credential.field, 1);
            if let Some(reference) = reference(&self.service, &name) {
                put(&mut entry, &credential, &reference);
                stored.push(described(&credential.field, &reference));
            }
        }
        (entry, stored)
    }

    /// Writes a server to the configuration, its credentials to the keyring before.
    pub(super) fn write(
        &self,
        session: &Session<'_>,
        server: &NewServer,
        known: &Config,
        force: bool,
    ) -> Result<KeptServer, Failure> {
        let kept = self.keep(server)?;
        match definitions::write(session, &server.name, kept.entry.clone(), force) {
            Ok(path) => Ok(KeptServer {
                path,
                warnings: trial::left(session, server, kept.entry, known)?,
                stored: kept.stored,
            }),
            Err(failure) => {
                self.undo(kept);
                Err(failure)
            }
        }
    }

    /// Stores the credentials of a definition and reads them back. If one can't be, none is.
    fn keep(&self, server: &NewServer) -> Result<Kept, Failure> {
        let mut kept = Kept {
            entry: server.entry.clone(),
            stored: Vec::new(),
            changes: Vec::new(),
        };
        for credential in credentials(&server.entry) {
            if let Err(failure) = self.keep_one(server, &credential, &mut kept) {
                self.undo(kept);
                return Err(failure);
            }
        }
        Ok(kept)
    }

    fn keep_one(
        &self,
        server: &NewServer,
        credential: &Credential,
        kept: &mut Kept,
    ) -> Result<(), Failure> {
        let field = &credential.field;
        let refused = |error: &SecretError| {
            let reason = format!(
                "cannot keep {field} of {} in the keyring: {error}",
                render::name(server.name.as_str())
            );
            let hint = error
                .hint_text()
                .map(|hint| format!("{hint}; {NOT_WRITTEN}"));
            Failure::failed("keyring", reason).hint(hint.unwrap_or_else(|| NOT_WRITTEN.to_owned()))
        };
        let present = self.present_entry(server, credential);
        let present = present.map(|(account, _)| account);
        let names = (1..=MOST_ATTEMPTS).map(|number| account(server.name.as_str(), field, number));
        for account in present.iter().cloned().chain(names) {
            let Some(reference) = reference(&self.service, &account) else {
                continue;
            };
            let found = self.wait(self.keyring.get(&self.service, &account))?;
            let found = found.map_err(|error| refused(&error))?;
            let is_same = found.as_ref() == Some(&credential.value);
            let may_be_replaced = present.as_ref() == Some(&account)
                && self.is_referred_to_by_this_alone(server, &reference);
            if !is_same && found.is_some() && !may_be_replaced {
                continue;
            }
            if !is_same {
                kept.changes.push((account.clone(), found));
                let stored = self.store(&account, &credential.value)?;
                stored.map_err(|error| refused(&error))?;
            }
            put(&mut kept.entry, credential, &reference);
            kept.stored.push(described(field, &reference));
            return Ok(());
        }
        let reason = format!("all names for {field} are taken in the keyring");
        Err(Failure::failed("keyring", reason).hint(NOT_WRITTEN))
    }

    /// Stores a credential, and makes sure of it.
    fn store(&self, account: &str, value: &Secret) -> Result<Result<(), SecretError>, Failure> {
        let stored = self.wait(self.keyring.set(&self.service, account, value))?;
        if let Err(error) = stored {
            return Ok(Err(error));
        }
        let found = match self.wait(self.keyring.get(&self.service, account))? {
            Ok(found) => found,
            Err(error) => return Ok(Err(error)),
        };
        if found.as_ref() == Some(value) {
            return Ok(Ok(()));
        }
        let reason = format!("the keyring does not give back what was stored as {account:?}");
        Err(Failure::failed("keyring", reason).hint(NOT_WRITTEN))
    }

    /// Leaves the keyring as it was before: the configuration could not be written.
    fn undo(&self, kept: Kept) {
        for (account, before) in kept.changes.into_iter().rev() {
            let keyring = self.keyring.clone().patience(LOOK);
            let undone = match before {
                Some(value) => self.run(keyring.set(&self.service, &account, &value)),
                None => self.run(keyring.delete(&self.service, &account)).map(drop),
            };
            if let Err(error) = undone {
                tracing::warn!(
                    account,
                    "the keyring keeps an entry that nothing uses: {error}"
                );
            }
        }
    }

    /// The entry of ours that the present definition of a server has in the place of a credential.
    fn present_entry(
        &self,
        server: &NewServer,
        credential: &Credential,
    ) -> Option<(String, SecretReference)> {
        let found = self.present.iter().find(|it| {
            it.server == server.name.as_str()
                && it.field.is(&credential.field)
                && is_ours(&self.service, it)
        })?;
        match &found.reference {
            SecretReference::Keyring { account, .. } => {
                Some((account.clone(), found.reference.clone()))
            }
            _ => None,
        }
    }

    fn is_referred_to_by_this_alone(&self, server: &NewServer, to: &SecretReference) -> bool {
        let mut users = self.present.iter().filter(|it| it.reference == *to);
        users.all(|it| it.server == server.name.as_str())
    }

    /// Waits for the keyring, or for somebody who wants us to stop.
    fn wait<T>(
        &self,
        work: impl Future<Output = Result<T, SecretError>>,
    ) -> Result<Result<T, SecretError>, Failure> {
        let mut signals = self.signals.clone();
        self.run(async {
            tokio::select! {
                biased;
                signal = signals.first() => Err(Failure::Interrupted(signal)),
                result = work => Ok(result),
            }
        })
    }

    fn run<F: Future>(&self, work: F) -> F::Output {
        self.runtime.block_on(work)
    }
}
