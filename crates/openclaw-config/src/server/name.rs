//! The names of servers.

use std::fmt;
use std::sync::Arc;

use serde_json::{Value as Json, json};
use thiserror::Error;

/// The name of a server: 1 to 64 characters without control characters or `/`.
///
/// What does not fit into the name of a tool is cleaned there, not refused here.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ServerName(Arc<str>);

/// Why a text cannot name a server.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum NameError {
    /// There is nothing.
    #[error("cannot name a server: a name has at least one character")]
    Empty,
    /// There is too much.
    #[error("cannot name a server: a name has at most 64 characters")]
    TooLong,
    /// A character that would confuse terminals or paths.
    #[error("cannot name a server: a name has no control characters and no `/`")]
    Character,
    /// A name that is not a name in JavaScript.
    #[error("cannot name a server, because it is not a name in JavaScript")]
    Prototype,
}

const LONGEST: usize = 64;

impl ServerName {
    /// Takes a text as a name.
    pub fn new(text: &str) -> Result<Self, NameError> {
        if text.is_empty() {
            Err(NameError::Empty)
        } else if text.chars().count() > LONGEST {
            Err(NameError::TooLong)
        } else if text.chars().any(|c| c.is_control() || c == '/') {
            Err(NameError::Character)
        } else if text == "__proto__" {
            Err(NameError::Prototype)
        } else {
            Ok(Self(text.into()))
        }
    }

    /// A name made of what somebody else calls a server, whatever that is.
    pub fn cleaned(text: &str) -> Self {
        let kept = text.chars().filter(|c| !c.is_control());
        let kept = kept.map(|c| if c == '/' { '-' } else { c });
        let kept: String = kept.take(LONGEST).collect();
        Self::new(kept.trim()).unwrap_or_else(|_| Self("server".into()))
    }

    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub(crate) fn schema() -> Json {
        json!({
            "pattern": "^[^/\\u0000-\\u001f\\u007f-\\u009f]{1,64}$",
            "not": { "const": "__proto__" },
        })
    }
}

impl fmt::Display for ServerName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl std::borrow::Borrow<str> for ServerName {
    fn borrow(&self) -> &str {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_refused_for_what_they_would_break() {
        let long = "é".repeat(64);
        for good in ["a", "my server", "Ünï-cødé", "a.b:c@d", long.as_str()] {
            assert_eq!(ServerName::new(good).unwrap().as_str(), good);
        }
        assert_eq!(ServerName::new(""), Err(NameError::Empty));
        assert_eq!(ServerName::new(&"x".repeat(65)), Err(NameError::TooLong));
        for bad in ["a/b", "a\nb", "a\u{1b}[0m", "\u{85}"] {
            assert_eq!(ServerName::new(bad), Err(NameError::Character));
        }
        assert_eq!(ServerName::new("__proto__"), Err(NameError::Prototype));
    }
}
