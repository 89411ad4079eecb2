//! Entries of the keyring that nothing refers to any more.

use openclaw_config::{Kind, load};
use openclaw_secret_stores::{Keyring, SecretError};
use tokio::time::Instant;

use crate::commands::Session;
use crate::commands::mcp::credentials::OwnEntry;
use crate::commands::mcp::keeping::{Keeper, PATIENCE};
use crate::failure::Failure;
use crate::render::StoredCredential;

/// What was deleted, and warnings about what could not be.
#[derive(Default)]
pub(in crate::commands::mcp) struct Forgotten {
    pub(in crate::commands::mcp) deleted: Vec<StoredCredential>,
    pub(in crate::commands::mcp) warnings: Vec<String>,
    /// Somebody did not want to wait for the rest.
    pub(in crate::commands::mcp) interruption: Option<Failure>,
}

impl Forgotten {
    /// Ends the command if somebody wanted that.
    pub(in crate::commands::mcp) fn ended(self) -> Result<(), Failure> {
        self.interruption.map_or(Ok(()), Err)
    }
}

/// Deletes those entries that nothing of the configuration refers to any more.
pub(in crate::commands::mcp) fn forget(
    session: &mut Session<'_>,
    had: Vec<OwnEntry>,
) -> Result<Forgotten, Failure> {
    if had.is_empty() {
        return Ok(Forgotten::default());
    }
    Keeper::new(session)?.forget(session, had)
}

impl Keeper {
    /// The same with a keyring that was asked before. All entries together have the time of one.
    pub(in crate::commands::mcp) fn forget(
        &mut self,
        session: &mut Session<'_>,
        had: Vec<OwnEntry>,
    ) -> Result<Forgotten, Failure> {
        let until = Instant::now() + PATIENCE;
        let mut forgotten = Forgotten::default();
        let mut seen: Vec<String> = Vec::new();
        for entry in had {
            let account = &entry.account;
            if seen.contains(account) || is_referred_to(session, &entry)? {
                continue;
            }
            seen.push(account.clone());
            let delete = async |keyring: &Keyring, service: &str| {
                let left = until.saturating_duration_since(Instant::now());
                let keyring = keyring.clone().patience(left);
                keyring.delete(service, account).await
            };
            let deleted = match &forgotten.interruption {
                Some(_) => Ok(Err(None)),
                None => self
                    .ask(session.output, delete)
                    .map(|deleted| deleted.map_err(Some)),
            };
            match deleted {
                Ok(Ok(true)) => forgotten.deleted.push(StoredCredential {
                    field: entry.field.clone(),
                    reference: entry.reference.to_string(),
                    label: entry.label().to_owned(),
                }),
                Ok(Ok(false)) => {}
                Ok(Err(error)) => forgotten.warnings.push(self.left(&entry, error.as_ref())),
                Err(interruption) => {
                    forgotten.warnings.push(self.left(&entry, None));
                    forgotten.interruption = Some(interruption);
                }
            }
        }
        Ok(forgotten)
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

/// Whether something of the configuration refers to an entry, or may: a file that can't be read
/// could, and so could a part that has mistakes.
fn is_referred_to(session: &Session<'_>, entry: &OwnEntry) -> Result<bool, Failure> {
    let loaded = load(&session.location()?, &session.environment);
    let mut errors = loaded.report.errors();
    let is_in_doubt = errors.any(|it| matches!(it.kind(), Kind::File | Kind::Include));
    let config = loaded.config.iter();
    let mut references = config.flat_map(openclaw_config::Config::references);
    Ok(is_in_doubt
        || loaded.report.is_in_files(entry.ending())
        || references.any(|it| it.reference == entry.reference))
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
