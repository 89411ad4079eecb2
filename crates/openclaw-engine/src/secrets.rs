//! The secrets that a configuration refers to, without their values.

use serde::{Deserialize, Serialize};

/// Which secrets are asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SecretsQuery {
    /// Those of this server; all where none is named.
    pub server: Option<String>,
}

/// Whether each secret can be had.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SecretsReport {
    /// The references, each place that one stands in.
    pub secrets: Vec<SecretReport>,
}

/// Whether a secret can be had.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SecretReport {
    /// The server that needs it, if it is one that does.
    pub server: Option<String>,
    /// What needs it, in words: `the server github`.
    pub owner: String,
    /// The field that it stands in.
    pub field: String,
    /// What it refers to.
    pub reference: String,
    /// What a person has to look at, if it can't be had.
    pub kind: Option<SecretTrouble>,
    /// Why it can't be had, if it can't.
    pub error: Option<String>,
    /// What to do about that, where it is known.
    pub hint: Option<String>,
    /// What else a person should know about it.
    pub remarks: Vec<SecretRemark>,
}

/// What a person has to look at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SecretTrouble {
    /// It is not in its store.
    Missing,
    /// Its store does not let us.
    Refused,
    /// Its store does not answer now.
    Unavailable,
    /// It can't be used.
    Unusable,
    /// What says how its store is reached is wrong.
    Misconfigured,
}

/// What a person should know about a secret.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SecretRemark {
    /// What it is.
    pub message: String,
    /// What to do about it.
    pub fix: String,
}
