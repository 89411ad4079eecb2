//! Entries of the keyring that nothing refers to any more.

use openclaw_config::{Config, Kind};
use openclaw_engine::{EngineFailure, StoredCredential};
use openclaw_secret_stores::SecretError;
use tokio::time::Instant;

use crate::attendant::Attendant;
use crate::credentials::OwnEntry;
use crate::definitions::{Definitions, Leftovers};
use crate::failure::DefinitionError;
use crate::keeping::{Keeper, PATIENCE};

/// What was deleted, and warnings about what could not be.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Forgotten {
    /// What the keyring has no more.
    pub deleted: Vec<StoredCredential>,
    /// What it still has, and how that is deleted.
    pub warnings: Vec<String>,
    /// Whether somebody did not want to wait for the rest.
    pub is_stopped: bool,
}

impl Definitions {
    /// Deletes those entries of the keyring that nothing of the configuration refers to any more.
    pub async fn forget(
        &self,
        leftovers: Leftovers,
        attendant: &mut impl Attendant,
    ) -> Result<Forgotten, EngineFailure> {
        if leftovers.is_empty() {
            return Ok(Forgotten::default());
        }
        self.keeper().forget(leftovers, attendant).await
    }

    /// Whether something of the configuration refers to an entry, or may: a file that can't be read
    /// could, and so could a part that has mistakes.
    fn is_referred_to(&self, entry: &OwnEntry) -> bool {
        let loaded = self.load();
        let mut errors = loaded.report.errors();
        let is_in_doubt = errors.any(|it| matches!(it.kind(), Kind::File | Kind::Include));
        let config = loaded.config.iter();
        let mut references = config.flat_map(Config::references);
        is_in_doubt
            || loaded.report.is_in_files(entry.ending())
            || references.any(|it| it.reference == entry.reference)
    }
}

impl Keeper {
    /// The same with a keyring that was asked before. All entries together have the time of one.
    pub async fn forget(
        &mut self,
        leftovers: Leftovers,
        attendant: &mut impl Attendant,
    ) -> Result<Forgotten, EngineFailure> {
        let until = Instant::now() + PATIENCE;
        let mut forgotten = Forgotten::default();
        let mut seen: Vec<String> = Vec::new();
        for entry in leftovers.0 {
            if seen.contains(&entry.account) || self.is_referred_to(&entry).await? {
                continue;
            }
            seen.push(entry.account.clone());
            if forgotten.is_stopped {
                forgotten.warnings.push(self.left(&entry, None));
                continue;
            }
            let left = until.saturating_duration_since(Instant::now());
            let keyring = self.keyring.clone().patience(left);
            let (service, account) = (self.owner.service.clone(), entry.account.clone());
            let delete = Box::pin(async move { keyring.delete(&service, &account).await });
            match self.ask(attendant, delete).await {
                Ok(Ok(true)) => forgotten.deleted.push(StoredCredential {
                    field: entry.field.clone(),
                    reference: entry.reference.to_string(),
                }),
                Ok(Ok(false)) => {}
                Ok(Err(error)) => forgotten.warnings.push(self.left(&entry, Some(&error))),
                Err(DefinitionError::Stopped) => {
                    forgotten.warnings.push(self.left(&entry, None));
                    forgotten.is_stopped = true;
                }
                Err(DefinitionError::Failed(failure)) => return Err(failure),
            }
        }
        Ok(forgotten)
    }

    async fn is_referred_to(&self, entry: &OwnEntry) -> Result<bool, EngineFailure> {
        let entry = entry.clone();
        self.definitions
            .elsewhere(move |it| it.is_referred_to(&entry))
            .await
    }

    /// What a person should know about an entry that is left.
    fn left(&self, entry: &OwnEntry, error: Option<&SecretError>) -> String {
        let reason = error.map_or(String::new(), |error| format!(": {error}"));
        let command = deleting(&self.owner.service, &entry.account);
        format!(
            "the keyring still has {}, which nothing uses{reason}; delete it with `{command}`",
            entry.reference
        )
    }
}

/// The command that deletes an entry. Nothing in its names means anything to a shell.
fn deleting(service: &str, account: &str) -> String {
    if cfg!(windows) {
        format!("cmdkey /delete:{account}.{service}")
    } else if cfg!(target_os = "macos") {
        format!("security delete-generic-password -s {service} -a {account}")
    } else {
        format!("secret-tool clear service {service} username {account}")
    }
}
