//! How we prove to a server who we are, request by request.

use std::fmt;
use std::pin::Pin;

use http::HeaderValue;
use openclaw_secrets::Secret;

use crate::http::{HeaderError, HttpFailure, sensitive_authorization};

/// How often a request is sent again because the server did not take the token: a new one may do.
const MOST_UNAUTHORIZED: u32 = 1;
/// How often because the token did not allow enough.
const MOST_INSUFFICIENT: u32 = 2;

/// A token as it is shown to a server. It can't be printed.
#[derive(Clone, PartialEq, Eq)]
pub struct Bearer(HeaderValue);

impl Bearer {
    /// Makes one of a token.
    pub fn new(token: &Secret) -> Result<Self, HeaderError> {
        let value = Secret::new(format!("Bearer {}", token.expose()));
        sensitive_authorization(&value).map(Self)
    }

    pub(crate) fn header(&self) -> &HeaderValue {
        &self.0
    }
}

impl fmt::Debug for Bearer {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Bearer")
    }
}

/// Why there is nothing to show to a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoBearer {
    /// Somebody has to log in; the words say how.
    LogIn(String),
    /// It may be different later, or once somebody has changed something else than the login.
    Later(String),
}

/// What is to be done about a refusal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// There is something better to show: the request is sent again.
    Again,
    /// Nothing: the refusal is the answer.
    Final,
    /// Nothing without a person or time.
    Without(NoBearer),
}

/// What comes later.
pub type PendingBearer<'a> =
    Pin<Box<dyn Future<Output = Result<Option<Bearer>, NoBearer>> + Send + 'a>>;
/// What comes later.
pub type PendingVerdict<'a> = Pin<Box<dyn Future<Output = Verdict> + Send + 'a>>;

/// Has what proves to one server who we are. It is asked before every request, so that a running
/// connection goes over to a new token at once.
pub trait Authorizer: Send + Sync {
    /// What to show, if it is at hand and good for a while.
    fn at_hand(&self) -> Option<Bearer>;

    /// Gets what to show; nothing, where there is no login and perhaps none is needed. It has a
    /// deadline of its own.
    fn obtain(&self) -> PendingBearer<'_>;

    /// Hears that the server did not take what was shown (401), or that it does not allow enough
    /// (403). It has a deadline of its own.
    fn refused<'a>(
        &'a self,
        shown: Option<&'a Bearer>,
        failure: &'a HttpFailure,
    ) -> PendingVerdict<'a>;

    /// Hears that the server does not take what is new either, and says what to do.
    fn in_vain(&self, shown: &Bearer, failure: &HttpFailure) -> String;
}

/// How often one request was refused.
#[derive(Default)]
pub(crate) struct Refusals {
    unauthorized: u32,
    insufficient: u32,
}

impl Refusals {
    /// Counts a refusal, and says whether it is worth asking for something better to show. A 403 that
    /// names nothing that could be shown is about something else.
    pub(crate) fn is_worth_asking(&mut self, failure: &HttpFailure) -> bool {
        let (count, most) = match failure.status.as_u16() {
            401 => (&mut self.unauthorized, MOST_UNAUTHORIZED),
            403 if !failure.challenges.is_empty() => (&mut self.insufficient, MOST_INSUFFICIENT),
            _ => return false,
        };
        *count += 1;
        *count <= most
    }
}
