//! Why something was not done.

use std::borrow::Cow;
use std::fmt;

use serde::{Deserialize, Serialize};

/// Whose fault a failure is: what the exit code of a command tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Blame {
    /// What was asked for failed.
    Operation,
    /// It was asked in a wrong way, or the configuration is wrong.
    Asker,
}

/// Why something was not done. Its texts are fit for a terminal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EngineFailure {
    /// Whose fault it is.
    pub blame: Blame,
    /// A word for programs that stays the same.
    pub code: Cow<'static, str>,
    /// What happened.
    pub message: String,
    /// What to do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// The server that it is about, where whoever asks can do something about that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
}

impl EngineFailure {
    /// What was asked for failed.
    pub fn operation(code: &'static str, message: impl Into<String>) -> Self {
        Self::new(Blame::Operation, code, message)
    }

    /// It was asked in a wrong way.
    pub fn asker(code: &'static str, message: impl Into<String>) -> Self {
        Self::new(Blame::Asker, code, message)
    }

    fn new(blame: Blame, code: &'static str, message: impl Into<String>) -> Self {
        Self {
            blame,
            code: Cow::Borrowed(code),
            message: message.into(),
            hint: None,
            server: None,
        }
    }

    /// Says which server it is about.
    #[must_use]
    pub fn about(mut self, server: impl Into<String>) -> Self {
        self.server = Some(server.into());
        self
    }

    /// Says what to do.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

impl fmt::Display for EngineFailure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.message)
    }
}

impl std::error::Error for EngineFailure {}
