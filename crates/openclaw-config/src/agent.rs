//! The names of agents.

use std::fmt;
use std::sync::Arc;

use thiserror::Error;

/// The name of an agent: lower-case letters, digits, `-` and `_`, at most 64.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct AgentId(Arc<str>);

/// A text that cannot name an agent.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
#[error(
    "an agent's name has 1 to 64 lower-case letters, digits, `-` and `_`, beginning with a letter \
     or digit"
)]
pub struct AgentIdError;

impl AgentId {
    /// Takes a text as a name.
    pub fn new(text: &str) -> Result<Self, AgentIdError> {
        let is_letter = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
        let fits = text.len() <= 64
            && text.starts_with(is_letter)
            && text.chars().all(|c| is_letter(c) || matches!(c, '-' | '_'));
        fits.then(|| Self(text.into())).ok_or(AgentIdError)
    }

    pub(crate) fn schema() -> serde_json::Value {
        serde_json::json!({ "pattern": "^[a-z0-9][a-z0-9_-]{0,63}$" })
    }

    /// The agent that is there without being configured.
    pub fn main() -> Self {
        Self("main".into())
    }

    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for AgentId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl std::borrow::Borrow<str> for AgentId {
    fn borrow(&self) -> &str {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_follow_the_rule() {
        for good in ["main", "a", "0-x_y"] {
            assert_eq!(AgentId::new(good).unwrap().as_str(), good);
        }
        for bad in ["", "Main", "-a", "a b", "a:b", "ä", &"x".repeat(65)] {
            assert_eq!(AgentId::new(bad), Err(AgentIdError), "{bad:?}");
        }
    }
}
