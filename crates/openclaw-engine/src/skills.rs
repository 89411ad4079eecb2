//! Skills: what agents were taught.

use serde::{Deserialize, Serialize};

/// Asks for the skills of an agent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SkillsQuery {
    /// The agent; the default one if none is named.
    pub agent: Option<String>,
}

/// A skill. Its texts are fit for a terminal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SkillReport {
    /// Its name.
    pub name: String,
    /// When it is of use.
    pub description: String,
    /// What stands behind the slash to call it, where it has a command of its own.
    pub command: Option<String>,
    /// Whether people may call it.
    pub user_invocable: bool,
    /// Whether models may read it on their own.
    pub model_invocable: bool,
    /// Why it does not apply, a reason each; none if it does.
    pub obstacles: Vec<String>,
}

/// Skills in the order of their names.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SkillsReport {
    /// The skills, those that do not apply included.
    pub skills: Vec<SkillReport>,
    /// What is wrong with files of skills: a sentence each.
    pub problems: Vec<String>,
}
