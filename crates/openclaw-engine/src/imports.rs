//! Servers of other MCP clients on the machine, taken over.

use serde::{Deserialize, Serialize};

use crate::definitions::StoredCredential;

/// Asks for servers of other clients to be written to the configuration.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ImportRequest {
    /// Which, by the names that they would have; all of them if none are named.
    pub servers: Option<Vec<String>>,
    /// Whether nothing is written, and it is only said what would be.
    pub rehearse: bool,
    /// Whether others of the same names may be replaced.
    pub replace: bool,
    /// Whether credentials go to the keyring, where there is one.
    pub keyring: bool,
}

/// What became of everything that was found.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ImportReport {
    /// By the files of other clients.
    pub files: Vec<ImportedFile>,
    /// What a person should know: a sentence each.
    pub warnings: Vec<String>,
}

/// What became of the servers of one file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ImportedFile {
    /// Whose file it is, as people call it.
    pub client: String,
    /// The file.
    pub path: String,
    /// Its servers, in its order.
    pub servers: Vec<ServerImport>,
    /// What could not be used, and why.
    pub problems: Vec<String>,
}

/// What became of a server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ServerImport {
    /// Its name.
    pub name: String,
    /// Whether it is taken over.
    #[serde(flatten)]
    pub outcome: ImportOutcome,
}

/// Whether a server is taken over.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(
    tag = "outcome",
    rename_all = "camelCase",
    rename_all_fields = "camelCase"
)]
pub enum ImportOutcome {
    /// It is, or would be.
    Taken {
        /// The program with its arguments, or the address; credentials hidden.
        target: String,
        /// What its definition does not say, or says differently.
        notes: Vec<String>,
        /// Its credentials that the keyring has now, or would have.
        stored: Vec<StoredCredential>,
        /// Whether it was there already, with the same definition.
        present: bool,
        /// Whether it was written; what is there already needs not be.
        written: bool,
    },
    /// It is not.
    Skipped {
        /// Why.
        reason: String,
    },
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_server_says_on_one_level_what_became_of_it() {
        let server = ServerImport {
            name: "mine".to_owned(),
            outcome: ImportOutcome::Skipped {
                reason: "why".to_owned(),
            },
        };
        let written = serde_json::to_value(&server).unwrap();
        let expected = json!({ "name": "mine", "outcome": "skipped", "reason": "why" });
        assert_eq!(written, expected);
        assert_eq!(
            serde_json::from_value::<ServerImport>(written).unwrap(),
            server
        );
    }
}
