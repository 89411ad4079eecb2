//! Entries of the keyring that a configuration has made for itself.
//!
//! An entry is made once, under a name that nothing else has, and never changed. Its name ends with
//! digits that stand for the configuration and digits that stand for nothing: several processes and
//! several configurations never meet at one entry, and what somebody else made is never deleted, not
//! even by a copy of the file that refers to it.

use std::fs;
use std::path::{Path, PathBuf};

use openclaw_config::Location;
use openclaw_secrets::SecretReference;
use ring::digest::{SHA256, digest};
use serde_json::Value as Json;

use crate::credentials::Field;

/// The service under which credentials are kept; a profile has its own.
const SERVICE: &str = "openclaw";
/// How long the readable part of a name may be. Windows takes 513 characters for service and
/// account together.
const LONGEST: usize = 180;
/// How many digits stand for the configuration.
const MARK: usize = 6;
/// How many digits a name ends with.
const ENDING: usize = MARK + 8;

/// A configuration, as far as the keyring is concerned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Owner {
    /// The service of all its entries.
    pub(crate) service: String,
    mark: String,
}

/// An entry of a configuration that one of its servers refers to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct OwnEntry {
    /// Where in the definition.
    pub(crate) field: String,
    pub(crate) account: String,
    pub(crate) reference: SecretReference,
}

impl OwnEntry {
    /// What no other entry has in its name, and what stands wherever somebody refers to it.
    pub(crate) fn ending(&self) -> &str {
        let all = self.account.len();
        self.account
            .get(all.saturating_sub(ENDING)..)
            .unwrap_or(&self.account)
    }
}

impl Owner {
    /// The owner of what the configuration at a location refers to.
    pub(crate) fn of(location: &Location) -> Self {
        let path = real(&location.config);
        let digest = digest(&SHA256, path.as_os_str().as_encoded_bytes());
        Self {
            service: match location.profile.as_deref() {
                Some(profile) => format!("{SERVICE}-{profile}"),
                None => SERVICE.to_owned(),
            },
            mark: hexadecimal(&digest.as_ref()[..MARK / 2]),
        }
    }

    /// The name of a new entry.
    pub(crate) fn account(&self, server: &str, field: &Field, random: [u8; 4]) -> String {
        let (mark, random) = (&self.mark, hexadecimal(&random));
        format!("{}-{mark}{random}", readable(server, field))
    }

    /// A reference to an entry of ours.
    pub(crate) fn reference(&self, account: &str) -> Option<SecretReference> {
        let service = &self.service;
        format!("secret://keyring/{service}/{account}").parse().ok()
    }

    /// What a reference to a new entry would look like, as far as that is known before it is made.
    pub(crate) fn foreseen(&self, server: &str, field: &Field) -> String {
        let service = &self.service;
        format!("secret://keyring/{service}/{}-…", readable(server, field))
    }

    /// The entries of ours that a definition refers to.
    pub(crate) fn entries_in(&self, definition: &Json) -> Vec<OwnEntry> {
        let mut found = Vec::new();
        self.look(definition, "", &mut found);
        found
    }

    fn look(&self, value: &Json, path: &str, found: &mut Vec<OwnEntry>) {
        match value {
            Json::String(text) => {
                let Ok(reference) = text.parse() else { return };
                if let Some(account) = self.own_account(&reference) {
                    let field = path.strip_suffix(".secret").unwrap_or(path).to_owned();
                    found.push(OwnEntry {
                        field,
                        account,
                        reference,
                    });
                }
            }
            Json::Object(members) => {
                for (key, value) in members {
                    let path = match path {
                        "" => key.clone(),
                        path => format!("{path}.{key}"),
                    };
                    self.look(value, &path, found);
                }
            }
            _ => {}
        }
    }

    /// The account of an entry that this configuration has made.
    fn own_account(&self, reference: &SecretReference) -> Option<String> {
        let SecretReference::Keyring {
            service, account, ..
        } = reference
        else {
            return None;
        };
        let (_, ending) = account.rsplit_once('-')?;
        let is_digits = ending.bytes().all(|byte| byte.is_ascii_hexdigit());
        let is_ours = *service == self.service
            && ending.len() == ENDING
            && is_digits
            && ending.starts_with(&self.mark);
        is_ours.then(|| account.clone())
    }
}

/// The part of a name that says what an entry is for. It has nothing in it that means something to
/// a configuration, to a reference or to a shell.
fn readable(server: &str, field: &Field) -> String {
    let name = format!("{server}.{field}");
    let plain = |character: char| {
        if character.is_alphanumeric() || matches!(character, '.' | '_' | '-') {
            character
        } else {
            '_'
        }
    };
    name.chars().map(plain).take(LONGEST).collect()
}

/// The real path of a file that need not be there yet: the same before and after it is made.
fn real(path: &Path) -> PathBuf {
    for above in path.ancestors() {
        let Ok(real) = fs::canonicalize(above) else {
            continue;
        };
        return match path.strip_prefix(above) {
            Ok(rest) if rest.as_os_str().is_empty() => real,
            Ok(rest) => real.join(rest),
            Err(_) => path.to_owned(),
        };
    }
    path.to_owned()
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests;
