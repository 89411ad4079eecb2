//! Why there is no token.

use std::fmt;

use openclaw_content::shown_line;
use thiserror::Error;

/// How much of what somebody else said is shown.
const SHOWN: usize = 300;

/// Why there is no token, in words that hold none.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{reason}")]
pub struct OAuthError {
    remedy: Remedy,
    reason: String,
    hint: Option<String>,
    is_unoffered: bool,
}

/// What can be done about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Remedy {
    /// Nothing but waiting: the same may work later. What is kept stays.
    Wait,
    /// A person has to log in.
    LogIn,
    /// A person has to log in, and to be registered anew: the authorization server no longer knows
    /// the client.
    Register,
    /// Somebody has to change something: the configuration, the server, this machine.
    Change,
}

impl OAuthError {
    /// It may work later.
    pub fn passing(reason: impl fmt::Display) -> Self {
        Self::new(Remedy::Wait, reason)
    }

    /// A person has to log in.
    pub fn login_needed(reason: impl fmt::Display) -> Self {
        Self::new(Remedy::LogIn, reason)
    }

    /// The authorization server does not know the client.
    pub fn client_unknown(reason: impl fmt::Display) -> Self {
        Self::new(Remedy::Register, reason)
    }

    /// Somebody has to change something.
    pub fn lasting(reason: impl fmt::Display) -> Self {
        Self::new(Remedy::Change, reason)
    }

    /// There is nowhere to log in.
    pub fn unoffered(reason: impl fmt::Display) -> Self {
        Self {
            is_unoffered: true,
            ..Self::lasting(reason)
        }
    }

    fn new(remedy: Remedy, reason: impl fmt::Display) -> Self {
        Self {
            remedy,
            reason: reason.to_string(),
            hint: None,
            is_unoffered: false,
        }
    }

    /// Adds what to try next.
    #[must_use]
    pub fn hint(mut self, hint: impl fmt::Display) -> Self {
        self.hint = Some(hint.to_string());
        self
    }

    /// What can be done about it.
    pub fn remedy(&self) -> Remedy {
        self.remedy
    }

    /// Whether there is nowhere to log in.
    pub fn is_unoffered(&self) -> bool {
        self.is_unoffered
    }

    /// What to try next, where that is known.
    pub fn hint_text(&self) -> Option<&str> {
        self.hint.as_deref()
    }
}

/// What somebody else said, fit to stand in a message: one line, short, nothing that a terminal
/// would obey.
pub(crate) fn quoted(text: &str) -> String {
    shown_line(text, SHOWN)
}
