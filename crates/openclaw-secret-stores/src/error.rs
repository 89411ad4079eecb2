//! Why a secret can't be had.

use std::{fmt, io};

use openclaw_process::is_shortage;
use thiserror::Error;

/// Why a secret can't be had: in words that name places and never hold the secret.
///
/// What a store said stands in them only as far as it is a word of its protocol, or cleaned and
/// short; the redactor sees to the rest.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{reason}")]
pub struct SecretError {
    kind: SecretErrorKind,
    reason: String,
    hint: Option<String>,
    is_absence: bool,
    is_shortage: bool,
}

/// What a person has to look at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SecretErrorKind {
    /// The store has no such secret, version or field.
    Missing,
    /// The store does not know us, or does not let us.
    Refused,
    /// The store can't be reached, or does not answer now.
    Unavailable,
    /// There is a value, and it can't be used.
    Unusable,
    /// What says where the store is, or how to use it, is wrong or missing.
    Misconfigured,
}

impl SecretError {
    pub(crate) fn new(kind: SecretErrorKind, reason: impl fmt::Display) -> Self {
        Self {
            kind,
            reason: reason.to_string(),
            hint: None,
            is_absence: false,
            is_shortage: false,
        }
    }

    pub(crate) fn missing(reason: impl fmt::Display) -> Self {
        Self::new(SecretErrorKind::Missing, reason)
    }

    pub(crate) fn refused(reason: impl fmt::Display) -> Self {
        Self::new(SecretErrorKind::Refused, reason)
    }

    pub(crate) fn unavailable(reason: impl fmt::Display) -> Self {
        Self::new(SecretErrorKind::Unavailable, reason)
    }

    /// This machine, or this process, has too little of something to ask at the moment.
    pub(crate) fn shortage(reason: impl fmt::Display) -> Self {
        Self {
            is_shortage: true,
            ..Self::unavailable(reason)
        }
    }

    /// A file that is needed to ask can't be read: somebody has to mend that, unless it is for want of something that
    /// will be there again.
    pub(crate) fn unreadable(error: &io::Error, reason: impl fmt::Display) -> Self {
        if is_shortage(error) {
            Self::shortage(reason)
        } else {
            Self::misconfigured(reason)
        }
    }

    pub(crate) fn unusable(reason: impl fmt::Display) -> Self {
        Self::new(SecretErrorKind::Unusable, reason)
    }

    pub(crate) fn misconfigured(reason: impl fmt::Display) -> Self {
        Self::new(SecretErrorKind::Misconfigured, reason)
    }

    /// Adds what to try next.
    #[must_use]
    pub(crate) fn hint(mut self, hint: impl fmt::Display) -> Self {
        self.hint = Some(hint.to_string());
        self
    }

    /// Says that this machine has no such store at all.
    #[must_use]
    pub(crate) fn absence(mut self) -> Self {
        self.is_absence = true;
        self
    }

    /// Whether this machine has no such store at all, rather than one that does not work.
    pub fn is_absence(&self) -> bool {
        self.is_absence
    }

    /// Whether the store was not even asked, since this machine, or this process, has too little of something at
    /// the moment.
    pub fn is_shortage(&self) -> bool {
        self.is_shortage
    }

    /// What a person has to look at.
    pub fn kind(&self) -> SecretErrorKind {
        self.kind
    }

    /// What to try next, where that is known.
    pub fn hint_text(&self) -> Option<&str> {
        self.hint.as_deref()
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn what_is_needed_to_ask_is_waited_for_where_it_is_only_out_of_reach_for_now() {
        use SecretErrorKind::{Misconfigured, Unavailable};
        for (code, kind) in [
            (rustix::io::Errno::MFILE, Unavailable),
            (rustix::io::Errno::NFILE, Unavailable),
            (rustix::io::Errno::ACCESS, Misconfigured),
            (rustix::io::Errno::NOENT, Misconfigured),
        ] {
            let error = SecretError::unreadable(&code.into(), "it can't be read");
            assert_eq!(error.kind(), kind, "{code}");
            assert_eq!(error.is_shortage(), kind == Unavailable, "{code}");
        }
    }
}
