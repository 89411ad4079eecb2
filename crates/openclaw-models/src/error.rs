//! Why there is no answer, by what can be done about it.

use std::time::Duration;

use thiserror::Error;

/// No wait is longer, whatever a service says: it is given up instead.
pub(crate) const WAITED_FOR: Duration = Duration::from_mins(1);

/// Why a model did not answer. Texts of services in it are one line, short, and have no secrets.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum ModelError {
    /// The name is not one of a model, or names a provider that is not known.
    #[error("{message}")]
    UnknownModel {
        /// What is wrong.
        message: String,
        /// What to do.
        hint: String,
    },
    /// What the configuration says about a provider can't be used.
    #[error("the provider {provider} can't be used: {reason}")]
    Misconfigured {
        /// The provider.
        provider: String,
        /// Why not.
        reason: String,
        /// What to do.
        hint: String,
    },
    /// There is no key.
    #[error("there is no key for {provider}: {reason}")]
    NoKey {
        /// The provider.
        provider: String,
        /// Why not.
        reason: String,
        /// What to do.
        hint: String,
    },
    /// The service does not take the key.
    #[error("{provider} does not take the key: {reason}")]
    KeyRefused {
        /// The provider.
        provider: String,
        /// In its words.
        reason: String,
    },
    /// The conversation is longer than the model can hold.
    #[error("{model} can't hold a conversation of this length: {reason}")]
    TooLong {
        /// The model.
        model: String,
        /// Why.
        reason: String,
    },
    /// The service does not take the request.
    #[error("{model} does not take the request: {reason}")]
    Refused {
        /// The model.
        model: String,
        /// In the service's words.
        reason: String,
    },
    /// The service is asked too often.
    #[error("{model} is asked too often: {reason}{}", later(*retry_after))]
    Busy {
        /// The model.
        model: String,
        /// In the service's words.
        reason: String,
        /// When to come back, as it says.
        retry_after: Option<Duration>,
    },
    /// The service can't be reached or is out of order, this time.
    #[error("{model} can't answer now: {reason}")]
    Unavailable {
        /// The model.
        model: String,
        /// Why.
        reason: String,
        /// When to come back, as it says.
        retry_after: Option<Duration>,
    },
    /// The answer broke off.
    #[error("the answer of {model} broke off: {reason}")]
    Truncated {
        /// The model.
        model: String,
        /// What was missing.
        reason: String,
    },
    /// It took too long.
    #[error("{model} did not answer within {} s", within.as_secs())]
    TimedOut {
        /// The model.
        model: String,
        /// How long it had.
        within: Duration,
    },
    /// The answer can't be understood.
    #[error("the answer of {model} can't be understood: {reason}")]
    Unreadable {
        /// The model.
        model: String,
        /// What is wrong with it.
        reason: String,
    },
}

/// When to come back, where that is too long to wait for it.
fn later(retry_after: Option<Duration>) -> String {
    match retry_after {
        Some(wait) if wait > WAITED_FOR => {
            let minutes = wait.as_secs().div_ceil(60);
            format!("; it asks to come back in {minutes} minutes")
        }
        _ => String::new(),
    }
}

impl ModelError {
    /// Whether the same request may well succeed a little later.
    pub fn is_passing(&self) -> bool {
        matches!(
            self,
            Self::Busy { .. } | Self::Unavailable { .. } | Self::Truncated { .. }
        )
    }

    /// When to come back, where the service says so.
    pub fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::Busy { retry_after, .. } | Self::Unavailable { retry_after, .. } => *retry_after,
            _ => None,
        }
    }

    /// The same error with something added to its reason, where it has one.
    #[must_use]
    pub(crate) fn noting(mut self, addition: &str) -> Self {
        match &mut self {
            Self::UnknownModel { message: text, .. }
            | Self::Misconfigured { reason: text, .. }
            | Self::NoKey { reason: text, .. }
            | Self::KeyRefused { reason: text, .. }
            | Self::TooLong { reason: text, .. }
            | Self::Refused { reason: text, .. }
            | Self::Busy { reason: text, .. }
            | Self::Unavailable { reason: text, .. }
            | Self::Truncated { reason: text, .. }
            | Self::Unreadable { reason: text, .. } => {
                text.push_str("; ");
                text.push_str(addition);
            }
            Self::TimedOut { .. } => {}
        }
        self
    }

    /// What to do, where that is known.
    pub fn hint(&self) -> Option<&str> {
        match self {
            Self::UnknownModel { hint, .. }
            | Self::Misconfigured { hint, .. }
            | Self::NoKey { hint, .. } => Some(hint.as_str()).filter(|hint| !hint.is_empty()),
            _ => None,
        }
    }

    /// A word for programs that stays the same.
    pub fn code(&self) -> &'static str {
        match self {
            Self::UnknownModel { .. } => "unknown-model",
            Self::Misconfigured { .. } => "model-misconfigured",
            Self::NoKey { .. } => "no-model-key",
            Self::KeyRefused { .. } => "model-key-refused",
            Self::TooLong { .. } => "context-too-long",
            Self::Refused { .. } => "model-refused",
            Self::Busy { .. } => "model-busy",
            Self::Unavailable { .. } => "model-unavailable",
            Self::Truncated { .. } => "model-truncated",
            Self::TimedOut { .. } => "model-timed-out",
            Self::Unreadable { .. } => "model-unreadable",
        }
    }
}
