//! What is kept of tokens: in memory, and until they expire.

use std::sync::Arc;

use ring::digest::Digest;
use tokio::time::Instant;

use super::credentials::{Bearer, NoToken};
use super::service_account::Way;
use super::token::is_good;

/// What tokens come from.
#[derive(Clone, Copy)]
pub(super) enum Origin {
    /// A file, as long as it has this content.
    File(Digest),
    /// The machine's own account.
    Machine,
}

/// What came of asking for a token the last time.
pub(super) struct Kept {
    origin: Origin,
    bearer: Option<(Arc<Bearer>, Instant)>,
    failure: Option<(NoToken, Instant)>,
    /// How tokens are made of these credentials.
    pub(super) way: Way,
}

impl Default for Kept {
    fn default() -> Self {
        Self::new(Origin::Machine)
    }
}

impl Kept {
    fn new(origin: Origin) -> Self {
        Self {
            origin,
            bearer: None,
            failure: None,
            way: Way::SelfSigned,
        }
    }

    /// What is kept for an origin. What is of another one is forgotten.
    pub(super) fn of(&mut self, origin: Origin) -> &mut Self {
        let is_same = match (&self.origin, &origin) {
            (Origin::File(one), Origin::File(other)) => one.as_ref() == other.as_ref(),
            (Origin::Machine, Origin::Machine) => true,
            (Origin::File(_), Origin::Machine) | (Origin::Machine, Origin::File(_)) => false,
        };
        if !is_same {
            *self = Self::new(origin);
        }
        self
    }

    /// What is known without asking: a token that is good, or what went wrong for another one since
    /// we wait.
    pub(super) fn known(&self, since: Instant) -> Option<Result<Arc<Bearer>, NoToken>> {
        if let Some((bearer, good_until)) = &self.bearer
            && is_good(*good_until)
        {
            return Some(Ok(Arc::clone(bearer)));
        }
        match &self.failure {
            Some((failure, at)) if *at >= since => Some(Err(failure.clone())),
            _ => None,
        }
    }

    /// Keeps what came of asking.
    pub(super) fn keep(
        &mut self,
        made: Result<(Bearer, Instant), NoToken>,
    ) -> Result<Arc<Bearer>, NoToken> {
        match made {
            Ok((bearer, good_until)) => {
                let bearer = Arc::new(bearer);
                self.bearer = Some((Arc::clone(&bearer), good_until));
                self.failure = None;
                Ok(bearer)
            }
            Err(no_token) => {
                self.bearer = None;
                self.failure = Some((no_token.clone(), Instant::now()));
                Err(no_token)
            }
        }
    }

    /// Forgets a token that is not accepted. A service account that signed it gets the next one from
    /// Google.
    pub(super) fn forget(&mut self, refused: &Bearer) {
        if let Some((bearer, _)) = &self.bearer
            && bearer.token == refused.token
        {
            if bearer.is_self_signed {
                self.way = Way::Granted;
            }
            self.bearer = None;
        }
    }
}
