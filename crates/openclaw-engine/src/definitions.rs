//! Definitions of servers in the configuration.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::servers::ServerDetails;

/// The definition of a server as somebody wrote it. It may hold credentials and is not shown.
#[derive(Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ServerEntry(pub Map<String, Value>);

impl fmt::Debug for ServerEntry {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("ServerEntry")
    }
}

/// Asks for a new server to be tried and written.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AddServer {
    /// Its name.
    pub name: String,
    /// What it is.
    pub entry: ServerEntry,
    /// Whether it is tried first, and written only if it is there.
    pub check: bool,
    /// Whether it may replace one of the same name.
    pub replace: bool,
    /// Whether its credentials go to the keyring, where there is one.
    pub keyring: bool,
}

/// A credential that the keyring has, or had. The value is not in it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StoredCredential {
    /// Where it stands in the definition.
    pub field: String,
    /// The reference that stands there.
    pub reference: String,
}

impl StoredCredential {
    /// The short name of the field that a person knows it by.
    pub fn label(&self) -> &str {
        let mut sections = ["env.", "headers."].iter();
        let name = sections.find_map(|it| self.field.strip_prefix(it));
        name.unwrap_or(&self.field)
    }
}

/// What became of a new server.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AddedServer {
    /// Its name.
    pub name: String,
    /// The file that it was written to.
    pub config: String,
    /// How it was when it was tried.
    pub server: Option<ServerDetails>,
    /// Its credentials that the keyring has.
    pub stored: Vec<StoredCredential>,
    /// Entries of the keyring that nothing refers to any longer, and that were deleted.
    pub deleted: Vec<StoredCredential>,
    /// What a person should know: a sentence each.
    pub warnings: Vec<String>,
}

/// Asks for a definition to be written without trying it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SetServer {
    /// The server; one of this name is replaced.
    pub name: String,
    /// What it is.
    pub entry: ServerEntry,
}

/// What became of a definition that was deleted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RemovedServer {
    /// The server.
    pub name: String,
    /// The file that had it.
    pub config: String,
    /// Entries of the keyring that nothing refers to any longer, and that were deleted.
    pub deleted: Vec<StoredCredential>,
    /// What became of logins to it: a sentence each, none if there were none.
    pub logged_out: Vec<String>,
    /// What a person should know: a sentence each.
    pub warnings: Vec<String>,
}

/// Definitions as they are in force, credentials hidden.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DefinitionsReport {
    /// By the names of the servers.
    pub servers: Map<String, Value>,
}

/// What reading the configuration anew changed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ReloadReport {
    /// Servers that are new.
    pub added: Vec<String>,
    /// Servers whose definitions are others, or that other agents have.
    pub changed: Vec<String>,
    /// Servers that are no longer there.
    pub removed: Vec<String>,
    /// What a person should know: a sentence each.
    pub warnings: Vec<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_person_knows_a_credential_by_the_name_of_its_field() {
        for (field, label) in [
            ("env.GITHUB_TOKEN", "GITHUB_TOKEN"),
            ("headers.Authorization", "Authorization"),
            ("auth.clientSecret", "auth.clientSecret"),
            ("apiKey", "apiKey"),
        ] {
            let stored = StoredCredential {
                field: field.to_owned(),
                reference: String::new(),
            };
            assert_eq!(stored.label(), label);
        }
    }

    #[test]
    fn what_may_hold_credentials_is_not_shown() {
        let entry = serde_json::json!({ "env": { "TOKEN": "hunter2hunter2" } });
        let entry = ServerEntry(entry.as_object().cloned().unwrap_or_default());
        let add = AddServer {
            name: "mine".to_owned(),
            entry: entry.clone(),
            check: true,
            replace: false,
            keyring: true,
        };
        let set = SetServer {
            name: "mine".to_owned(),
            entry,
        };
        let shown = format!("{add:?} {set:?}");
        assert!(!shown.contains("hunter2"), "{shown}");
        assert!(shown.contains("mine"), "{shown}");
    }
}
