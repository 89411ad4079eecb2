//! The token for the requests to one server: at hand while it is good, renewed before it is not.

mod renewal;
#[cfg(target_os = "linux")]
#[cfg(test)]
mod tests;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use openclaw_secrets::{Redactor, Secret};
use tokio::sync::watch;
use tokio::time::{sleep, timeout};

use crate::challenge::Challenge;
use crate::clock::Clock;
use crate::error::{OAuthError, Remedy};
use crate::kept::{KeptGrant, ServerLogins, Stamp};
use crate::resource::{Grant, KeysSource, Resource};
use renewal::Setback;

/// How often it is looked whether somebody has logged in.
const LOOKING: Duration = Duration::from_millis(300);
/// How long a request waits for a renewal that is not needed yet.
const EARLY: Duration = Duration::from_secs(2);
/// When such a renewal is tried again, in milliseconds.
const AGAIN: u64 = 5_000;
/// How long a token that was refused though it was new is not replaced, in milliseconds.
const IN_VAIN: u64 = 60_000;
/// How many tokens are hidden in texts at once. One that was replaced may still be in a request that
/// is under way, or in what is said about it.
const MOST_HIDDEN: usize = 4;

/// A token for a server. A clone is the same token.
#[derive(Clone, Debug)]
pub struct AccessToken(Arc<Secret>);

impl AccessToken {
    /// The token itself.
    pub fn secret(&self) -> &Secret {
        &self.0
    }

    /// Whether both are the same one, not only equal.
    pub fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

/// What is known about a login, without what it consists of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoginState {
    /// Who issued it.
    pub issuer: String,
    /// What it allows.
    pub scopes: Vec<String>,
    /// When the access token expires, in milliseconds since 1970.
    pub expires_at: Option<u64>,
    /// Whether it can be renewed without a person.
    pub is_renewable: bool,
    /// Why it is of no use any longer, if it is not.
    pub ended: Option<String>,
}

/// What a server wants beyond what it was shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// It does not take the token.
    Unauthorized(Challenge),
    /// The token does not allow enough.
    Insufficient(Challenge),
}

/// Keeps the token for one server.
pub struct Keeper {
    resource: Resource,
    logins: ServerLogins,
    keys: Arc<dyn KeysSource>,
    redactor: Redactor,
    clock: Clock,
    seen: Mutex<Seen>,
    /// Why a person has to log in, while that is so.
    needs_login: watch::Sender<Option<Arc<str>>>,
}

/// What was last seen of what is kept.
#[derive(Default)]
struct Seen {
    /// The file, when it was last read.
    looked_at: Option<Stamp>,
    /// The file that the token is from.
    stamp: Option<Stamp>,
    token: Option<AccessToken>,
    /// Whether there was a token once.
    was_logged_in: bool,
    /// When the token is to be renewed, in milliseconds since 1970.
    renewal_at: Option<u64>,
    /// Tokens that are hidden in texts, the newest at the end.
    hidden: Vec<Secret>,
    /// The file in which nothing is granted.
    nothing_at: Option<Stamp>,
    /// Why what is kept can't be opened, if it can't.
    unopened: Option<OAuthError>,
    /// A token that had replaced a refused one and was refused, and when, in milliseconds since 1970.
    vain: Option<(Secret, u64)>,
    /// What went wrong with the last renewal.
    setback: Option<Setback>,
}

impl Keeper {
    /// A keeper for a server.
    pub fn new(
        resource: Resource,
        logins: ServerLogins,
        keys: Arc<dyn KeysSource>,
        redactor: Redactor,
        clock: Clock,
    ) -> Arc<Self> {
        Arc::new(Self {
            resource,
            logins,
            keys,
            redactor,
            clock,
            seen: Mutex::default(),
            needs_login: watch::Sender::new(None),
        })
    }

    /// The token, if it is at hand and good for more than a moment. It costs a look at the file: what
    /// another process has renewed counts at once.
    pub fn at_hand(&self) -> Option<AccessToken> {
        let seen = self.seen();
        let token = seen.token.as_ref()?;
        let is_fresh = seen.renewal_at.is_none_or(|at| self.clock.now() < at);
        (is_fresh && seen.stamp == Some(self.logins.stamp())).then(|| token.clone())
    }

    /// Gets the token: as it is kept, or renewed if it is time. There is none where nobody has logged
    /// in.
    pub async fn token(self: &Arc<Self>) -> Result<Option<AccessToken>, OAuthError> {
        // Most servers need no login: that nothing is kept is as good to know as a token.
        if self.seen().nothing_at == Some(self.logins.stamp()) {
            return Ok(None);
        }
        let outcome = Box::pin(self.look()).await;
        self.note(&outcome);
        outcome
    }

    async fn look(self: &Arc<Self>) -> Result<Option<AccessToken>, OAuthError> {
        self.seen().looked_at = Some(self.logins.stamp());
        let (stamp, kept) = match self.logins.read().await {
            Ok(read) => read,
            Err(error) => return self.without_store(error).await,
        };
        let now = self.clock.now();
        let grant = match kept.grant {
            Some(grant) => grant,
            None if self.resource.grant == Grant::ClientCredentials => {
                return self.renew(None, &Challenge::default()).await.map(Some);
            }
            None => {
                self.forget(Some(stamp));
                return Ok(None);
            }
        };
        let is_usable = match self.check(&grant) {
            Ok(()) => true,
            // Who logs in by itself does so again.
            Err(_) if self.resource.grant == Grant::ClientCredentials => false,
            Err(error) => return Err(error),
        };
        if is_usable && self.good_until(&grant).is_none_or(|until| now < until) {
            return Ok(Some(self.keep(stamp, &grant)));
        }
        let no_challenge = Challenge::default();
        let renewing = self.renew(Some(&grant.access_token), &no_challenge);
        if !is_usable || grant.is_expired(now) {
            return renewing.await.map(Some);
        }
        // It is early: nobody has to wait long while the old one does. What was begun goes on.
        let error = match timeout(EARLY, renewing).await {
            Ok(Ok(token)) => return Ok(Some(token)),
            Ok(Err(error)) => error,
            Err(_) => OAuthError::passing("the authorization server takes its time"),
        };
        tracing::debug!(server = self.resource.server, "not renewed yet: {error}");
        let token = self.keep(stamp, &grant);
        let mut seen = self.seen();
        let next = seen.setback.as_ref().map(|setback| setback.until);
        let next = next.filter(|until| *until > now).unwrap_or(now + AGAIN);
        seen.renewal_at = [Some(next), grant.expires_at()].into_iter().flatten().min();
        Ok(Some(token))
    }

    /// What is shown where what is kept can't be opened.
    async fn without_store(
        self: &Arc<Self>,
        error: OAuthError,
    ) -> Result<Option<AccessToken>, OAuthError> {
        if self.resource.grant == Grant::ClientCredentials {
            let token = match error.remedy() {
                // It will never be opened: a new one takes its place.
                Remedy::LogIn => self.renew(None, &Challenge::default()).await,
                // It may be opened later, and is left alone.
                _ => self.for_this_process(error).await,
            };
            return token.map(Some);
        }
        // It may be a server that lets everybody in. If not, the reason is remembered.
        if error.remedy() == Remedy::LogIn {
            self.forget(None);
            self.seen().unopened = Some(error);
            return Ok(None);
        }
        Err(error)
    }

    /// Whether what was granted can be renewed without a person.
    fn is_renewable(&self, grant: &KeptGrant) -> bool {
        match self.resource.grant {
            Grant::ClientCredentials => true,
            Grant::AuthorizationCode => grant.ended.is_none() && grant.refresh_token.is_some(),
        }
    }

    /// Until when a token is shown without more ado: until it is time to renew it, or to its very end
    /// where nobody can.
    fn good_until(&self, grant: &KeptGrant) -> Option<u64> {
        if self.is_renewable(grant) {
            grant.renewal_at()
        } else {
            grant.expires_at()
        }
    }

    /// Does something about a refusal; the request is worth repeating if there is no error.
    pub async fn refused(
        self: &Arc<Self>,
        shown: Option<&AccessToken>,
        refusal: Refusal,
    ) -> Result<(), OAuthError> {
        let shown = shown.map(AccessToken::secret);
        match &refusal {
            Refusal::Unauthorized(challenge) => {
                let outcome = self.unauthorized(shown, challenge).await;
                let was_logged_in = shown.is_some() || self.seen().was_logged_in;
                // A server that nobody has logged in to does something for everybody, and may go on.
                if was_logged_in || outcome.is_ok() {
                    self.note(&outcome);
                }
                outcome.map(drop)
            }
            // For everything else the login is good enough.
            Refusal::Insufficient(challenge) => self.widen(shown, challenge).await.map(drop),
        }
    }

    async fn unauthorized(
        self: &Arc<Self>,
        shown: Option<&Secret>,
        challenge: &Challenge,
    ) -> Result<AccessToken, OAuthError> {
        if shown.is_none() && self.resource.grant == Grant::AuthorizationCode {
            if let Some(error) = self.seen().unopened.clone() {
                return Err(error);
            }
            // Nothing is kept: there is no reason to ask for a key.
            if self.logins.stamp().is_absence() {
                return Err(OAuthError::login_needed("the server asks for a login"));
            }
        }
        // A server that refuses what has just replaced a refused one will refuse the next one, too.
        // Each would cost a request, and with some authorization servers the login.
        let now = self.clock.now();
        let is_vain = |(token, at): &(Secret, u64)| {
            Some(token) == shown && now.checked_sub(*at).is_some_and(|since| since < IN_VAIN)
        };
        if self.seen().vain.as_ref().is_some_and(is_vain) {
            return Err(not_taken());
        }
        self.renew(shown, challenge).await
    }

    /// Hears that a server refused a token that had just replaced a refused one. It is not replaced
    /// again for a while.
    pub fn in_vain(&self, shown: &AccessToken) {
        self.seen().vain = Some((shown.secret().clone(), self.clock.now()));
        self.note::<()>(&Err(not_taken()));
    }

    /// Whether anything is kept about logins to the server.
    pub fn is_kept(&self) -> bool {
        !self.logins.stamp().is_absence()
    }

    /// What is known about the login, if there is one.
    pub async fn state(&self) -> Result<Option<LoginState>, OAuthError> {
        let (_, kept) = self.logins.read().await?;
        Ok(kept.grant.map(|grant| LoginState {
            expires_at: grant.expires_at(),
            is_renewable: self.is_renewable(&grant),
            issuer: grant.issuer,
            scopes: grant.scopes,
            ended: grant.ended,
        }))
    }

    /// Waits until a person has to log in, and says why.
    pub async fn login_needed(&self) -> Arc<str> {
        let mut needs = self.needs_login.subscribe();
        loop {
            if let Some(reason) = needs.borrow_and_update().clone() {
                return reason;
            }
            if needs.changed().await.is_err() {
                // The sender is ours, so this never is.
                std::future::pending::<()>().await;
            }
        }
    }

    /// Waits until what is kept is not what was last seen of it, by whomever it was changed: another
    /// attempt may succeed.
    pub async fn changed(&self) {
        let before = self.seen().looked_at.unwrap_or_else(|| self.logins.stamp());
        while self.logins.stamp() == before {
            sleep(LOOKING).await;
        }
        self.needs_login.send_replace(None);
    }

    /// Says why what was granted is not for the server as it is configured now.
    fn check(&self, grant: &KeptGrant) -> Result<(), OAuthError> {
        if grant.is_own_account() != (self.resource.grant == Grant::ClientCredentials) {
            return Err(OAuthError::login_needed(
                "the saved token was granted in another way than the configuration says \
                 (`grantType`)",
            ));
        }
        if let Some(configured) = &self.resource.client_id
            && *configured != grant.client.id
        {
            return Err(OAuthError::login_needed(
                "the login was made by another client than the one that the configuration names",
            ));
        }
        if let Some(configured) = &self.resource.authorization_server
            && !crate::discovery::is_same_issuer(configured.as_str(), &grant.issuer)
        {
            return Err(OAuthError::login_needed(
                "the login is from another authorization server than the one that the \
                 configuration names",
            ));
        }
        Ok(())
    }

    /// Has a token at hand from now on.
    fn keep(&self, stamp: Stamp, grant: &KeptGrant) -> AccessToken {
        let mut seen = self.seen();
        seen.hide(&grant.access_token, &self.redactor);
        let token = match seen.token.take() {
            Some(token) if *token.0 == grant.access_token => token,
            _ => AccessToken(Arc::new(grant.access_token.clone())),
        };
        seen.stamp = Some(stamp);
        seen.nothing_at = None;
        seen.unopened = None;
        seen.token = Some(token.clone());
        seen.was_logged_in = true;
        seen.renewal_at = self.good_until(grant);
        token
    }

    /// Has no token at hand from now on; none is there while the file is the one with this stamp.
    fn forget(&self, nothing_at: Option<Stamp>) {
        let mut seen = self.seen();
        seen.token = None;
        seen.stamp = None;
        seen.nothing_at = nothing_at;
        seen.unopened = None;
    }

    /// Notes whether a person has to log in.
    fn note<T>(&self, outcome: &Result<T, OAuthError>) {
        let reason = match outcome {
            Ok(_) => None,
            Err(error) => match error.remedy() {
                Remedy::LogIn | Remedy::Register => Some(Arc::from(error.to_string())),
                // Nobody knows yet.
                Remedy::Wait | Remedy::Change => return,
            },
        };
        self.needs_login.send_if_modified(|before| {
            let is_other = *before != reason;
            *before = reason;
            is_other
        });
    }

    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn not_taken() -> OAuthError {
    OAuthError::login_needed("the server does not take the login, though its token is new")
}

impl Seen {
    /// Hides a token in every text, in place of one that was replaced long ago.
    fn hide(&mut self, token: &Secret, redactor: &Redactor) {
        if self.hidden.contains(token) {
            return;
        }
        // One that is too short to be hidden is no token worth hiding.
        let _ = redactor.learn(token);
        self.hidden.push(token.clone());
        while self.hidden.len() > MOST_HIDDEN {
            redactor.forget(&self.hidden.remove(0));
        }
    }
}
