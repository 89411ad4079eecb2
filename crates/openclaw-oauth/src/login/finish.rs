//! Ending a login with what the browser brought back, and giving one up.

use std::time::Duration;

use openclaw_secrets::Secret;
use tokio::time::timeout;

use super::{LOCK_PATIENCE, LoggedIn, LoggedOut, LoginDesk, Revoked};
use crate::asking::Asking;
use crate::authentication::Proof;
use crate::callback::Callback;
use crate::error::{OAuthError, Remedy};
use crate::kept::{KeptGrant, KeptLogins, PendingLogin, Taken};
use crate::revocation::{Revocation, revoke};
use crate::token::{TokenAnswer, TokenGrant, TokenRequest};

/// How long it may take to withdraw a login, with all its requests: others wait for it.
const REVOCATION_PATIENCE: Duration = Duration::from_mins(1);

/// Why a login did not end.
pub(super) enum Unfinished {
    /// What came belongs to another login, or to none: the one that is waited for goes on.
    Foreign(OAuthError),
    /// It did not work now: the same may end it later.
    Later(OAuthError),
    /// It failed, and is over.
    Failed(OAuthError),
}

impl From<Unfinished> for OAuthError {
    fn from(unfinished: Unfinished) -> Self {
        match unfinished {
            Unfinished::Foreign(error) | Unfinished::Later(error) | Unfinished::Failed(error) => {
                error
            }
        }
    }
}

/// How a change of what is kept ended.
enum Ended {
    LoggedIn(LoggedIn),
    Foreign(OAuthError),
    /// The login is over, which is to be remembered.
    Failed(OAuthError),
}

impl LoginDesk {
    /// Ends a login that was begun here or in another process, with a code or the whole address that
    /// the browser was sent to.
    pub async fn finish(&self, brought: &Secret) -> Result<LoggedIn, OAuthError> {
        let callback = Callback::read(brought.expose())?;
        Ok(self.finish_one(None, callback).await?)
    }

    /// Ends the login with this name. What does not name one is not for it: on this machine every
    /// program can send something to the listener.
    pub(super) async fn finish_running(
        &self,
        login: &str,
        callback: Callback,
    ) -> Result<LoggedIn, Unfinished> {
        self.finish_one(Some(login.to_owned()), callback).await
    }

    async fn finish_one(
        &self,
        login: Option<String>,
        callback: Callback,
    ) -> Result<LoggedIn, Unfinished> {
        let desk = self.clone();
        let change = self.logins.change(LOCK_PATIENCE, move |kept| {
            Box::pin(async move { desk.end(kept, login.as_deref(), &callback).await })
        });
        let unchanged = |error: OAuthError| match error.remedy() {
            Remedy::Wait => Unfinished::Later(error),
            Remedy::LogIn | Remedy::Register | Remedy::Change => Unfinished::Failed(error),
        };
        match change.await.map_err(unchanged)? {
            Ended::LoggedIn(logged_in) => Ok(logged_in),
            Ended::Foreign(error) => Err(Unfinished::Foreign(error)),
            Ended::Failed(error) => Err(Unfinished::Failed(error)),
        }
    }

    /// Exchanges the code and keeps what is granted. An error leaves everything as it was, so that the
    /// same can be tried again.
    async fn end(
        &self,
        kept: &mut KeptLogins,
        login: Option<&str>,
        callback: &Callback,
    ) -> Result<Ended, OAuthError> {
        let Some(pending) = find(kept, callback).cloned() else {
            return Ok(Ended::Foreign(unknown()));
        };
        if login.is_some_and(|login| login != pending.login) {
            return Ok(Ended::Foreign(unknown()));
        }
        let over = |kept: &mut KeptLogins| kept.pending.retain(|it| it.login != pending.login);
        // A stranger who does not know the state, or is not who was asked, must not end the login.
        if let Err(error) = callback.check_origin(&pending) {
            return Ok(Ended::Foreign(error));
        }
        let code = match callback.check(&pending, self.clock.now()) {
            Ok(code) => code,
            Err(error) => {
                over(kept);
                // What it does not know must not be asked for again.
                if callback.refuses_scopes() {
                    kept.wanted_scopes.clear();
                }
                return Ok(Ended::Failed(error));
            }
        };
        let keys = pending.client.keys(&*self.keys).await?;
        let asking = Asking::new(&self.resource)?;
        let request = TokenRequest {
            endpoint: &pending.token_endpoint,
            grant: TokenGrant::Code {
                code: &code,
                verifier: &pending.verifier,
                redirect_uri: &pending.redirect_uri,
            },
            proof: Proof {
                client: &pending.client,
                keys: &keys,
                key_id: self.resource.key_id.as_deref(),
                issuer: &pending.issuer,
                signing_algorithms: &pending.signing_algorithms,
                now: self.clock.now(),
            },
            resource: &pending.resource,
            scopes: &pending.scopes,
        };
        let answer = match request.send(&asking).await.map_err(OAuthError::from) {
            Ok(answer) => answer,
            Err(error) if error.remedy() == Remedy::Wait => return Err(error),
            // A person may have typed something else: the browser can still arrive.
            Err(error) if !callback.has_state() => {
                return Ok(Ended::Foreign(OAuthError::lasting(format!(
                    "the code was not accepted: {error}"
                ))));
            }
            Err(error) => {
                over(kept);
                if error.remedy() == Remedy::Register {
                    let id = &pending.client.id;
                    kept.clients.retain(|it| it.client.id != *id);
                }
                return Ok(Ended::Failed(OAuthError::lasting(format!(
                    "the login was not accepted: {error}"
                ))));
            }
        };
        over(kept);
        let _ = self.redactor.learn(&answer.access_token);
        let grant = granted(pending.clone(), answer, self.clock.now());
        let logged_in = LoggedIn::from(&grant);
        kept.doubt(&grant.client.id, false);
        kept.confide(&grant.client, &grant.issuer);
        kept.grant = Some(grant);
        kept.wanted_scopes.clear();
        tracing::info!(server = self.resource.server, "logged in");
        Ok(Ended::LoggedIn(logged_in))
    }

    /// Gives up the login, here and at the authorization server. What can't be opened is given up here,
    /// and everything else that is kept about the server goes as well.
    pub async fn log_out(&self) -> Result<LoggedOut, OAuthError> {
        let desk = self.clone();
        let taking = self.logins.take(LOCK_PATIENCE, move |kept| {
            Box::pin(async move {
                let grant = kept.grant?;
                let revoking = timeout(REVOCATION_PATIENCE, desk.revoke(&grant)).await;
                Some(revoking.unwrap_or_else(|_| {
                    let reason = format!("that took longer than {REVOCATION_PATIENCE:?}");
                    Revoked::Failed(reason)
                }))
            })
        });
        let revocation = match taking.await? {
            None => None,
            Some(Taken::Opened(revocation)) => revocation,
            Some(Taken::Sealed(reason)) => Some(Revoked::Failed(format!(
                "the saved login could not be opened: {reason}"
            ))),
        };
        Ok(LoggedOut {
            was_logged_in: revocation.is_some(),
            revocation: revocation.unwrap_or(Revoked::NotOffered),
        })
    }

    async fn revoke(&self, grant: &KeptGrant) -> Revoked {
        let revoking = async {
            let keys = grant.client.keys(&*self.keys).await?;
            let proof = Proof {
                client: &grant.client,
                keys: &keys,
                key_id: self.resource.key_id.as_deref(),
                issuer: &grant.issuer,
                signing_algorithms: &grant.signing_algorithms,
                now: self.clock.now(),
            };
            Ok(revoke(&Asking::new(&self.resource)?, grant, proof).await)
        };
        match revoking.await {
            Ok(Revocation::Revoked) => Revoked::Done,
            Ok(Revocation::NotOffered) => Revoked::NotOffered,
            Ok(Revocation::NotRevoked(error)) | Err(error) => Revoked::Failed(error.to_string()),
        }
    }
}

/// The login that something belongs to: the one with its state, or the newest where it has none.
fn find<'k>(kept: &'k KeptLogins, callback: &Callback) -> Option<&'k PendingLogin> {
    if callback.has_state() {
        kept.pending.iter().find(|it| callback.names(it))
    } else {
        kept.pending.last()
    }
}

pub(super) fn unknown() -> OAuthError {
    OAuthError::lasting(
        "it belongs to no login that is under way: that was ended already, was begun more than \
         10 minutes ago, or is for another server",
    )
}

fn granted(pending: PendingLogin, answer: TokenAnswer, now: u64) -> KeptGrant {
    KeptGrant {
        login: pending.login,
        issuer: pending.issuer,
        client: pending.client,
        resource: pending.resource,
        scopes: answer.scopes,
        signing_algorithms: pending.signing_algorithms,
        token_endpoint: pending.token_endpoint,
        revocation_endpoint: pending.revocation_endpoint,
        access_token: answer.access_token,
        refresh_token: answer.refresh_token,
        received_at: now,
        lifetime: answer.lifetime,
        ended: None,
    }
}
