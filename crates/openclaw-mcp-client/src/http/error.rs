//! Why a request has no answer, by what the caller can do about it.

use std::error::Error as StdError;

use thiserror::Error;

use super::failure::HttpFailure;
use super::reason::plain_reason;
use crate::error::Unauthorized;

/// Why a request has no answer.
///
/// Reasons are texts rather than sources: the errors underneath are a chain of wrappers that say
/// "client error" and "error trying to connect", and only what lies at its end helps anybody.
/// No text holds a header's value, or an address beyond its host and path.
#[derive(Debug, Error)]
pub(crate) enum HttpError {
    /// There was no connection: the request was surely not sent.
    #[error("{0}")]
    Unreachable(String),
    /// The request was sent, at least in part, and then the connection broke: nobody knows whether
    /// it was processed.
    #[error("the connection broke: {0}")]
    Interrupted(String),
    /// It took too long.
    #[error("{}", timed_out(*connected))]
    TimedOut {
        /// Whether there was a connection, so that the request may have been processed.
        connected: bool,
    },
    /// The server answered with a status other than success.
    #[error("{0}")]
    Status(Box<HttpFailure>),
    /// Nothing was sent, or what was sent was refused, because a person has to log in.
    #[error("{0}")]
    Unauthorized(Unauthorized),
    /// There is no token to show, and no person can do anything about it now: the request was not sent,
    /// or was refused.
    #[error("{0}")]
    NoToken(String),
    /// The server sends us somewhere else, and we don't go there.
    #[error("the server redirects to {to}, {}", refused(*why))]
    Redirected {
        /// Where to, without what may be secret.
        to: String,
        /// Why we don't go there.
        why: Refusal,
    },
    /// The answer is larger than allowed.
    #[error("the answer is larger than {limit} bytes")]
    TooLarge {
        /// The most that is allowed.
        limit: usize,
    },
    /// The answer is of a kind that was not asked for.
    #[error("the answer is {content_type}{}", shown(excerpt))]
    ContentType {
        /// What it says it is.
        content_type: String,
        /// How its text begins.
        excerpt: String,
    },
}

/// Why a redirect is not followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// It leads to another origin, which must not see our headers.
    OtherOrigin,
    /// It is one too many.
    TooMany,
}

impl HttpError {
    /// Says why no connection was made.
    pub(super) fn unreachable(origin: &str, error: &(dyn StdError + 'static)) -> Self {
        Self::Unreachable(format!("cannot reach {origin}: {}", plain_reason(error)))
    }

    /// Says why a connection broke.
    pub(super) fn broken(error: &(dyn StdError + 'static)) -> Self {
        Self::Interrupted(plain_reason(error))
    }
}

fn timed_out(connected: bool) -> &'static str {
    if connected {
        "the server did not answer in time"
    } else {
        "no connection to the server in time"
    }
}

fn refused(why: Refusal) -> &'static str {
    match why {
        Refusal::OtherOrigin => "which is another server; use that address if it is the right one",
        Refusal::TooMany => "after too many redirects",
    }
}

fn shown(excerpt: &str) -> String {
    if excerpt.is_empty() {
        String::new()
    } else {
        format!(": {excerpt}")
    }
}

#[cfg(test)]
mod tests {
    use std::io;

    use rustls::{AlertDescription, Error as RustlsError};

    use super::*;

    #[test]
    fn what_broke_was_never_surely_not_sent() {
        let alert = RustlsError::AlertReceived(AlertDescription::AccessDenied);
        let error = HttpError::broken(&io::Error::other(alert));
        assert!(matches!(error, HttpError::Interrupted(_)), "{error:?}");
    }
}
