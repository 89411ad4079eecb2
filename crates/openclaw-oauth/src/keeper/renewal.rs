//! Renewing a token: once for all who notice that it is time, in whatever process.

use std::sync::Arc;
use std::time::Duration;

use openclaw_secrets::Secret;

use super::{AccessToken, Keeper};
use crate::asking::Asking;
use crate::authentication::Proof;
use crate::challenge::Challenge;
use crate::discovery::discover;
use crate::error::{OAuthError, Remedy, quoted};
use crate::kept::{Changing, KeptGrant, KeptLogins, OWN_ACCOUNT};
use crate::registration::Choosing;
use crate::resource::Grant;
use crate::scopes::{self, scopes};
use crate::token::{TokenAnswer, TokenGrant, TokenRequest};

/// How long another process may take that does the same.
const PATIENCE: Duration = Duration::from_secs(45);
/// How long it is waited after a renewal that failed, in milliseconds; each further wait is twice as
/// long.
const FIRST_PAUSE: u64 = 1_000;
/// The longest wait.
const LONGEST_PAUSE: u64 = 60_000;

/// A renewal that failed.
pub(super) struct Setback {
    /// The token that it was about: the next one has nothing to do with it.
    about: Option<Secret>,
    error: OAuthError,
    /// Until when it is not tried again, in milliseconds since 1970.
    pub(super) until: u64,
    pause: u64,
}

impl Keeper {
    /// Renews the token, unless it is another one than `shown` by now: then somebody else has done so.
    ///
    /// The whole of it happens under the lock and goes on when nobody waits for it any longer: the
    /// authorization server may have replaced the old refresh token already, and only the answer holds
    /// the new one.
    pub(super) async fn renew(
        self: &Arc<Self>,
        shown: Option<&Secret>,
        challenge: &Challenge,
    ) -> Result<AccessToken, OAuthError> {
        // Where it was refused a moment ago, and nobody has written since, nothing has to be locked.
        if self.seen().stamp == Some(self.logins.stamp())
            && let Some(error) = self.still_set_back(shown)
        {
            return Err(error);
        }
        let (shown, challenge) = (shown.cloned(), challenge.clone());
        self.transact(move |keeper, kept| {
            Box::pin(async move { keeper.renewed(kept, shown.as_ref(), &challenge).await })
        })
        .await
    }

    /// Gets a token that allows more, if that needs no person; notes what is missing, if it does.
    pub(super) async fn widen(
        self: &Arc<Self>,
        shown: Option<&Secret>,
        challenge: &Challenge,
    ) -> Result<AccessToken, OAuthError> {
        let (shown, challenge) = (shown.cloned(), challenge.clone());
        self.transact(move |keeper, kept| {
            Box::pin(async move { keeper.widened(kept, shown.as_ref(), &challenge).await })
        })
        .await
    }

    async fn widened(
        &self,
        kept: &mut KeptLogins,
        shown: Option<&Secret>,
        challenge: &Challenge,
    ) -> Result<Outcome, OAuthError> {
        let granted = kept.grant.as_ref();
        // Somebody has logged in with more since.
        if granted.is_some_and(|grant| Some(&grant.access_token) != shown) {
            return Ok(Outcome::Done);
        }
        let has = granted.map(|grant| &grant.scopes[..]).unwrap_or_default();
        let missing: Vec<String> = challenge
            .scopes
            .iter()
            .filter(|scope| !has.contains(scope))
            .cloned()
            .collect();
        if missing.is_empty() {
            return Err(OAuthError::lasting(
                "the server says that the login does not allow enough, and not what is missing",
            ));
        }
        if self.resource.scopes.is_some() {
            return Err(OAuthError::lasting(format!(
                "the server asks for more than the configuration lets a login ask for: {}",
                quoted(&missing.join(" "))
            ))
            .hint("add it to `auth.scopes`, or leave that out"));
        }
        scopes::add(&mut kept.wanted_scopes, missing.iter().map(String::as_str));
        if self.resource.grant == Grant::ClientCredentials {
            return self
                .by_itself(kept, challenge)
                .await
                .map(|()| Outcome::Done);
        }
        Ok(Outcome::Refused(OAuthError::login_needed(format!(
            "the server asks for more than the login allows: {}",
            quoted(&missing.join(" "))
        ))))
    }

    async fn renewed(
        &self,
        kept: &mut KeptLogins,
        shown: Option<&Secret>,
        challenge: &Challenge,
    ) -> Result<Outcome, OAuthError> {
        let now = self.clock.now();
        let renewed_by_another = kept.grant.as_ref().is_some_and(|grant| {
            grant.ended.is_none()
                && Some(&grant.access_token) != shown
                && !grant.is_expired(now)
                && self.check(grant).is_ok()
        });
        if renewed_by_another {
            return Ok(Outcome::Done);
        }
        let about = kept.grant.as_ref().map(|grant| grant.access_token.clone());
        if let Some(error) = self.still_set_back(about.as_ref()) {
            return Err(error);
        }
        let outcome = match self.resource.grant {
            Grant::ClientCredentials => self
                .by_itself(kept, challenge)
                .await
                .map(|()| Outcome::Done),
            Grant::AuthorizationCode => self.refreshed(kept).await,
        };
        let setback = match &outcome {
            Ok(Outcome::Refused(error)) if error.remedy() == Remedy::Change => Some(error),
            Ok(_) => None,
            Err(error) => Some(error),
        };
        let setback = setback.map(|error| self.setback(about, error));
        self.seen().setback = setback;
        outcome
    }

    /// Renews what was granted to a person.
    async fn refreshed(&self, kept: &mut KeptLogins) -> Result<Outcome, OAuthError> {
        let Some(grant) = &mut kept.grant else {
            return Err(OAuthError::login_needed("the server asks for a login"));
        };
        self.check(grant)?;
        if let Some(reason) = &grant.ended {
            return Err(OAuthError::login_needed(reason));
        }
        let Some(refresh_token) = &grant.refresh_token else {
            return Err(OAuthError::login_needed(
                "the login has expired or was withdrawn, and can't be renewed",
            ));
        };
        let keys = grant.client.keys(&*self.keys).await?;
        let asking = Asking::new(&self.resource)?;
        let request = TokenRequest {
            endpoint: &grant.token_endpoint,
            grant: TokenGrant::Refresh {
                token: refresh_token,
            },
            proof: Proof {
                client: &grant.client,
                keys: &keys,
                key_id: self.resource.key_id.as_deref(),
                issuer: &grant.issuer,
                signing_algorithms: &grant.signing_algorithms,
                now: self.clock.now(),
            },
            resource: &grant.resource,
            scopes: &grant.scopes,
        };
        let error = match request.send(&asking).await {
            Ok(answer) => {
                renew(grant, answer, self.clock.now());
                tracing::info!(server = self.resource.server, "the login was renewed");
                return Ok(Outcome::Done);
            }
            Err(nothing) => {
                // The old one is of no use any longer, whatever else came with the new one.
                if let Some(token) = nothing.refresh_token {
                    grant.refresh_token = Some(token);
                    return Ok(Outcome::Refused(nothing.error));
                }
                nothing.error
            }
        };
        if !matches!(error.remedy(), Remedy::LogIn | Remedy::Register) {
            return Err(error);
        }
        // A client that nobody knows is of no use for the next login.
        if error.remedy() == Remedy::Register {
            let id = &grant.client.id;
            kept.clients.retain(|it| it.client.id != *id);
        }
        let reason = format!("the login has ended: {error}");
        grant.ended = Some(reason.clone());
        Ok(Outcome::Refused(OAuthError::login_needed(reason)))
    }

    /// Gets a token as the client itself, and keeps it for this process alone, since what is kept can't
    /// be opened now.
    pub(super) async fn for_this_process(
        &self,
        unopened: OAuthError,
    ) -> Result<AccessToken, OAuthError> {
        let keys = self.keys.keys().await?;
        // Whom a secret was shown to before is kept there, too.
        let shows_secret = keys.private_key.is_none() && keys.secret.is_some();
        if shows_secret && self.resource.authorization_server.is_none() {
            return Err(unopened);
        }
        if let Some(error) = self.still_set_back(None) {
            return Err(error);
        }
        let stamp = self.logins.stamp();
        let mut kept = KeptLogins::default();
        let got = self.by_itself(&mut kept, &Challenge::default()).await;
        let setback = got.as_ref().err();
        let setback = setback.map(|error| self.setback(None, error));
        self.seen().setback = setback;
        got?;
        let grant = kept.grant;
        let grant = grant.ok_or_else(|| OAuthError::lasting("nothing was granted"))?;
        Ok(self.keep(stamp, &grant))
    }

    /// Gets a token as the client itself.
    async fn by_itself(
        &self,
        kept: &mut KeptLogins,
        challenge: &Challenge,
    ) -> Result<(), OAuthError> {
        let asking = Asking::new(&self.resource)?;
        let found = Box::pin(discover(&asking, &self.resource, challenge)).await?;
        let keys = self.keys.keys().await?;
        let scopes = scopes(
            &self.resource,
            challenge,
            &found,
            &kept.asked_for(&found.issuer),
        );
        let now = self.clock.now();
        let choosing = Choosing {
            resource: &self.resource,
            keys: &keys,
            discovered: &found,
            kept: &[],
            redirect_uri: "",
            scopes: &scopes,
            now,
        };
        let client = Box::pin(choosing.client(&asking)).await?.client;
        kept.check_confidant(&self.resource, &client, &found)?;
        kept.confide(&client, &found.issuer);
        let request = TokenRequest {
            endpoint: &found.server.token_endpoint,
            grant: TokenGrant::ClientCredentials,
            proof: Proof {
                client: &client,
                keys: &keys,
                key_id: self.resource.key_id.as_deref(),
                issuer: &found.issuer,
                signing_algorithms: &found.server.signing_algorithms,
                now,
            },
            resource: &found.resource,
            scopes: &scopes,
        };
        let answer = request.send(&asking).await?;
        tracing::info!(
            server = self.resource.server,
            "logged in as the configured client"
        );
        let mut grant = KeptGrant {
            login: OWN_ACCOUNT.to_owned(),
            issuer: found.issuer,
            client,
            resource: found.resource,
            scopes: Vec::new(),
            signing_algorithms: found.server.signing_algorithms,
            token_endpoint: found.server.token_endpoint,
            revocation_endpoint: found.server.revocation_endpoint,
            access_token: answer.access_token.clone(),
            refresh_token: None,
            received_at: 0,
            lifetime: None,
            ended: None,
        };
        renew(&mut grant, answer, self.clock.now());
        // It needs none, and one that is not used is only a risk.
        grant.refresh_token = None;
        kept.grant = Some(grant);
        kept.wanted_scopes.clear();
        Ok(())
    }

    /// Why a token is not renewed now, if the last attempt was too short ago.
    fn still_set_back(&self, about: Option<&Secret>) -> Option<OAuthError> {
        let now = self.clock.now();
        let seen = self.seen();
        let setback = seen.setback.as_ref()?;
        let is_meant = setback.about.as_ref() == about
            && now < setback.until
            // A clock that was set back must not keep us waiting.
            && setback.until - now <= setback.pause;
        is_meant.then(|| setback.error.clone())
    }

    fn setback(&self, about: Option<Secret>, error: &OAuthError) -> Setback {
        let seen = self.seen();
        let before = seen.setback.as_ref().filter(|it| it.about == about);
        let pause = before.map_or(FIRST_PAUSE, |it| (it.pause * 2).min(LONGEST_PAUSE));
        Setback {
            about,
            error: error.clone(),
            until: self.clock.now().saturating_add(pause),
            pause,
        }
    }

    /// Changes what is kept in one piece, and has the token that is kept then at hand.
    async fn transact(
        self: &Arc<Self>,
        work: impl for<'k> FnOnce(Arc<Self>, &'k mut KeptLogins) -> Working<'k> + Send + 'static,
    ) -> Result<AccessToken, OAuthError> {
        let keeper = Arc::clone(self);
        let outcome = match self.resource.grant {
            // Where nobody has logged in there is nothing to renew, and nothing to save.
            Grant::AuthorizationCode => {
                let change = self.logins.amend(PATIENCE, move |kept| work(keeper, kept));
                change.await?
            }
            Grant::ClientCredentials => {
                let change = self.logins.change(PATIENCE, move |kept| work(keeper, kept));
                change.await?
            }
        };
        let (stamp, kept) = self.logins.read().await?;
        let is_ended = kept.grant.as_ref().is_none_or(|it| it.ended.is_some());
        // What we wrote ourselves is no news to us: who waits for a login would try again at once,
        // and write again. A login that came after a refusal is news.
        if is_ended || matches!(outcome, Outcome::Done) {
            self.seen().looked_at = Some(stamp);
        }
        match (outcome, kept.grant) {
            (Outcome::Refused(error), _) => Err(error),
            (Outcome::Done, Some(grant)) => {
                self.check(&grant)?;
                Ok(self.keep(stamp, &grant))
            }
            (Outcome::Done, None) => Err(OAuthError::login_needed("somebody logged out")),
        }
    }
}

type Working<'k> = Changing<'k, Outcome>;

/// How a change ended that is to be written.
enum Outcome {
    /// There is a token.
    Done,
    /// There is none, and that is to be remembered.
    Refused(OAuthError),
}

/// Takes over what an authorization server answered. A refresh token that it does not replace stays
/// (RFC 6749 §6).
fn renew(grant: &mut KeptGrant, answer: TokenAnswer, now: u64) {
    grant.access_token = answer.access_token;
    if let Some(token) = answer.refresh_token {
        grant.refresh_token = Some(token);
    }
    grant.scopes = answer.scopes;
    grant.received_at = now;
    grant.lifetime = answer.lifetime;
    grant.ended = None;
}
