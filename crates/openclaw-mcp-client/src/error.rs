//! What can go wrong, by what the caller can do about it.

use std::io::ErrorKind;
use std::time::Duration;

use openclaw_process::{ResolveError, SpawnError};
use thiserror::Error;

use crate::http::{HeaderError, HttpFailure, TlsError};
use crate::wire::RpcError;

/// Why there is no connection.
#[derive(Debug, Error)]
pub enum ConnectError {
    /// The program is not there.
    #[error(transparent)]
    NoProgram(#[from] ResolveError),
    /// The program can't be started.
    #[error(transparent)]
    NotStarted(#[from] SpawnError),
    /// A certificate or key can't be used.
    #[error(transparent)]
    Tls(#[from] TlsError),
    /// A header can't be sent.
    #[error(transparent)]
    Header(#[from] HeaderError),
    /// It took too long.
    #[error("no connection within {} s: {doing}{}", within.as_secs_f64(), last_words(last))]
    TimedOut {
        /// How long it was given.
        within: Duration,
        /// What was waited for last.
        doing: &'static str,
        /// The last lines of the program's standard error.
        last: Vec<String>,
    },
    /// The server wants to know who we are, or does not let us in.
    #[error("{0}")]
    Unauthorized(Unauthorized),
    /// There is no token to show, though nobody has to log in.
    #[error("{0}")]
    NoToken(String),
    /// It ended or went away.
    #[error("the server is gone: {reason}{}", last_words(last))]
    Gone {
        /// Why.
        reason: String,
        /// The last lines of the program's standard error.
        last: Vec<String>,
    },
    /// It can't be reached.
    #[error("cannot reach the server: {0}")]
    Unreachable(String),
    /// It refused.
    #[error("the server refused to connect: {0}")]
    Refused(String),
    /// It speaks only revisions that we don't.
    #[error("the server speaks other revisions of the protocol than we do: {}", offered.join(", "))]
    Revision {
        /// Those that it offers.
        offered: Vec<String>,
    },
}

fn last_words(lines: &[String]) -> String {
    lines
        .last()
        .map(|line| format!("; it last wrote: {line}"))
        .unwrap_or_default()
}

/// A server wants to know who we are, or does not let us in.
#[derive(Clone, Debug, Error)]
#[error("{reason}")]
pub struct Unauthorized {
    /// Why, and what to do about it.
    pub reason: String,
    /// What the server answered, if it was asked.
    pub failure: Option<Box<HttpFailure>>,
}

/// Whether a status says that nothing was done: 408 and most of 5xx may come after it was, from
/// whatever stands between us and the server.
fn is_refusal(failure: &HttpFailure) -> bool {
    match failure.status.as_u16() {
        408 => false,
        400..=499 => true,
        503 => failure.retry_after.is_some(),
        _ => false,
    }
}

impl ConnectError {
    /// What the program wrote last to its standard error.
    pub fn stderr(&self) -> &[String] {
        match self {
            Self::TimedOut { last, .. } | Self::Gone { last, .. } => last,
            _ => &[],
        }
    }

    /// Whether nothing was tried, since this machine has too little of something at the moment.
    pub fn is_shortage(&self) -> bool {
        match self {
            Self::NotStarted(error) => error.is_shortage(),
            Self::Tls(error) => error.is_shortage(),
            _ => false,
        }
    }

    /// Whether trying again with the same definition can't help.
    pub fn is_permanent(&self) -> bool {
        match self {
            Self::NoProgram(_) | Self::Header(_) | Self::NotStarted(SpawnError::NoDirectory(_)) => {
                true
            }
            Self::Tls(error) => !error.is_shortage(),
            // The system may have been short of something.
            Self::NotStarted(SpawnError::Refused { source, .. }) => matches!(
                source.kind(),
                ErrorKind::NotFound | ErrorKind::PermissionDenied | ErrorKind::InvalidInput
            ),
            _ => false,
        }
    }
}

/// Why a request has no result.
#[derive(Clone, Debug, Error)]
pub enum RequestError {
    /// The server answered that it did not do it.
    #[error("{0}")]
    Refused(RpcError),
    /// It was never sent.
    #[error("the request was not sent: {0}")]
    NotSent(String),
    /// It was sent, and nobody knows what became of it. It must not be repeated by itself.
    #[error("the outcome of the request is unknown: {0}")]
    OutcomeUnknown(UnknownOutcome),
    /// The server, or something before it, answered with an HTTP status.
    #[error("{0}")]
    Http(Box<HttpFailure>),
    /// It was not done, because a person has to log in.
    #[error("{0}")]
    Unauthorized(Unauthorized),
    /// It was not done, because there is no token to show, though nobody has to log in.
    #[error("{0}")]
    NoToken(String),
    /// What came back is no answer.
    #[error("the answer of the server can't be used: {0}")]
    BadAnswer(String),
    /// It was done, but its result can't be used.
    #[error("the result can't be used: {0}")]
    BadResult(String),
    /// The server does not offer this.
    #[error("the server does not offer {0}")]
    NotOffered(&'static str),
}

/// Why the outcome of a request is not known.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum UnknownOutcome {
    /// The connection was lost while it waited.
    #[error("{0}")]
    Lost(String),
    /// There was no sign of life for so long.
    #[error("the server gave no sign of life for {} s", .0.as_secs_f64())]
    Silent(Duration),
    /// It took longer than requests may.
    #[error("the server took longer than {:.1} s", .0.as_secs_f64())]
    Overdue(Duration),
}

/// What is known of a request that has no result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It was not done.
    NotDone,
    /// It may have been done.
    Unknown,
    /// It was done.
    Done,
}

impl RequestError {
    /// What is known of the request.
    pub fn outcome(&self) -> Outcome {
        match self {
            Self::NotSent(_) | Self::NotOffered(_) | Self::Unauthorized(_) | Self::NoToken(_) => {
                Outcome::NotDone
            }
            Self::Refused(error) if error.is_refusal() => Outcome::NotDone,
            Self::Http(failure) if is_refusal(failure) => Outcome::NotDone,
            Self::Refused(_) | Self::Http(_) | Self::OutcomeUnknown(_) | Self::BadAnswer(_) => {
                Outcome::Unknown
            }
            Self::BadResult(_) => Outcome::Done,
        }
    }

    /// Whether the server does not know the method.
    pub fn is_unknown_method(&self) -> bool {
        matches!(self, Self::Refused(error) if error.code == RpcError::METHOD_NOT_FOUND)
    }
}
