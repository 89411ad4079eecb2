//! Servers that somebody lends to a session: an editor, for the time that it is there.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::replies::SessionChoice;

/// Somebody who lends servers. Whatever was lent is taken back when they go.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Lender {
    /// What tells them from others: nobody else must be able to guess it.
    pub id: String,
}

/// Lends servers to a session, instead of those that were lent to it before.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LendServers {
    /// Who lends them.
    pub lender: Lender,
    /// The agent; the one of the session, or the default one, if none is named.
    pub agent: Option<String>,
    /// The session.
    pub session: SessionChoice,
    /// Where programs are started; where the engine runs, if nothing is said.
    pub directory: Option<String>,
    /// The servers; none ends what was lent.
    pub servers: Vec<LentServer>,
}

/// A server that is lent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LentServer {
    /// What the lender calls it.
    pub name: String,
    /// What it is.
    pub launch: LentLaunch,
}

/// How a server that is lent is started or reached. Values are taken as they stand, unless they are
/// references such as `secret://…`. Any of them may be a credential, and none is shown.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
#[serde(
    tag = "type",
    rename_all = "camelCase",
    rename_all_fields = "camelCase"
)]
pub enum LentLaunch {
    /// A program.
    Stdio {
        /// The program.
        command: String,
        /// Its arguments.
        args: Vec<String>,
        /// Variables for its environment.
        env: Vec<LentValue>,
    },
    /// An address that speaks Streamable HTTP.
    Http {
        /// The address.
        url: String,
        /// Headers for every request.
        headers: Vec<LentValue>,
    },
    /// An address that speaks HTTP with server-sent events.
    Sse {
        /// The address.
        url: String,
        /// Headers for every request.
        headers: Vec<LentValue>,
    },
}

impl fmt::Debug for LentLaunch {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("LentLaunch")
    }
}

/// A variable or a header.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LentValue {
    /// Its name.
    pub name: String,
    /// Its value.
    pub value: String,
}

/// What became of servers that were lent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LoanReport {
    /// The session, by its whole name.
    pub session_key: String,
    /// The servers, in the order in which they were given.
    pub servers: Vec<LentReport>,
}

/// What became of one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LentReport {
    /// What the lender calls it.
    pub asked: String,
    /// What it is called in the session; none if it can't be used.
    pub name: Option<String>,
    /// Why it can't be used.
    pub problem: Option<String>,
    /// The names of its variables that it does not get.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_hold_credentials_is_not_shown() {
        let server = LentServer {
            name: "mine".to_owned(),
            launch: LentLaunch::Stdio {
                command: "server".to_owned(),
                args: vec!["--token=hunter2hunter2".to_owned()],
                env: vec![LentValue {
                    name: "TOKEN".to_owned(),
                    value: "hunter2hunter2".to_owned(),
                }],
            },
        };
        let shown = format!("{server:?}");
        assert!(!shown.contains("hunter2"), "{shown}");
        assert!(shown.contains("mine"), "{shown}");
    }
}
