//! From what is found on the machine to an access token.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use openclaw_content::shown_line;
use openclaw_secrets::Secret;
use tokio::sync::Semaphore;
use tokio::time::Instant;

use super::asking::{Asking, Trouble};
use super::file::{Content, CredentialFile};
use super::identity::Identity;
use super::kept::{Kept, Origin};
use super::metadata::{Metadata, Silence};
use super::service_account::Way;
use super::token::Token;
use crate::error::{SecretError, SecretErrorKind};
use crate::http::{Attempt, Http, patiently, silent};
use crate::surroundings::Surroundings;

/// What to try where there are no credentials, or none that are accepted.
pub(super) const LOG_IN: &str = "run `gcloud auth application-default login`";
/// How much of a reason is shown.
const SHOWN: usize = 200;

/// A token, and whose it is.
pub(super) struct Bearer {
    pub(super) token: Secret,
    /// The project of the credentials.
    pub(super) project: Option<String>,
    /// The project that is charged for requests.
    pub(super) quota_project: Option<String>,
    /// Whose it is, in words.
    pub(super) origin: String,
    /// Whose it is, as permissions are given to it.
    pub(super) member: Option<String>,
    /// What to try where the token is not accepted.
    pub(super) hint: String,
    /// Whether a service account signed it itself.
    pub(super) is_self_signed: bool,
}

/// Why there is no token.
#[derive(Clone)]
pub(super) struct NoToken {
    pub(super) error: SecretError,
    /// Whether nobody said who we are, or nobody is it any more: then `gcloud` may know better.
    pub(super) gcloud_may_help: bool,
}

/// The credentials of the machine. Tokens are kept in memory until they expire, and nowhere else;
/// keys and logins are kept only while a token is made of them.
pub(super) struct Credentials {
    surroundings: Surroundings,
    http: Arc<Http>,
    metadata: Metadata,
    kept: Mutex<Kept>,
    /// However many want a token, one asks for it.
    turn: Semaphore,
}

impl Credentials {
    pub(super) fn new(surroundings: Surroundings, http: Arc<Http>) -> Self {
        Self {
            metadata: Metadata::new(surroundings.clone(), Arc::clone(&http)),
            surroundings,
            http,
            kept: Mutex::default(),
            turn: Semaphore::new(1),
        }
    }

    /// A token that is good now.
    pub(super) async fn bearer(&self, until: Instant) -> Result<Arc<Bearer>, NoToken> {
        let since = Instant::now();
        let found = match CredentialFile::find(&self.surroundings) {
            Some(file) => file.read().await?.map(|content| (file, content)),
            None => None,
        };
        let origin = match &found {
            Some((_, content)) => Origin::File(content.digest),
            None => Origin::Machine,
        };
        // An error would mean that the semaphore is closed.
        let _turn = self.turn.acquire().await;
        if let Some(known) = self.kept().of(origin).known(since) {
            return known;
        }
        let made = match &found {
            Some((file, content)) => self.of_file(file, content, until).await,
            None => self.of_machine(until).await,
        };
        self.kept().of(origin).keep(made)
    }

    /// Forgets a token that is not accepted. Another one may have been put in its place since.
    pub(super) fn forget(&self, refused: &Bearer) {
        self.kept().forget(refused);
    }

    /// The project of the machine, if it is one of Google's.
    pub(super) async fn project_of_machine(&self) -> Option<String> {
        self.metadata.project().await
    }

    async fn of_file(
        &self,
        file: &CredentialFile,
        content: &Content,
        until: Instant,
    ) -> Result<(Bearer, Instant), NoToken> {
        let shown = file.path().display().to_string();
        let identity = Identity::new(&shown, content, &self.surroundings);
        let identity = identity.map_err(|error| file.wrong(error))?;
        let asking = Asking {
            surroundings: &self.surroundings,
            http: &self.http,
            until,
            shown: &shown,
            origin: &identity.origin,
            account: identity.account.as_deref(),
            hint: &identity.hint,
        };
        let token = self.token_of_file(&identity, &asking, until).await;
        let token = token.map_err(|error| match error.kind() {
            SecretErrorKind::Refused | SecretErrorKind::Misconfigured => file.wrong(error),
            // It may be different the next time, or for somebody else to look at.
            _ => NoToken {
                error,
                gcloud_may_help: false,
            },
        })?;
        let bearer = Bearer {
            token: token.text,
            project: identity.project,
            quota_project: identity.quota_project,
            origin: identity.origin,
            member: identity.account.map(|it| format!("serviceAccount:{it}")),
            hint: identity.hint,
            is_self_signed: identity.source.is_service_account()
                && self.kept().way == Way::SelfSigned,
        };
        Ok((bearer, token.good_until))
    }

    async fn token_of_file(
        &self,
        identity: &Identity,
        asking: &Asking<'_>,
        until: Instant,
    ) -> Result<Token, SecretError> {
        let source = &identity.source;
        let way = self.kept().way;
        let made = patiently(until, mute, || attempt(identity, asking, way)).await?;
        match made {
            Err(_) if way == Way::SelfSigned && source.signs_itself() => {
                self.kept().way = Way::Granted;
                patiently(until, mute, || attempt(identity, asking, Way::Granted)).await?
            }
            made => made,
        }
    }

    async fn of_machine(&self, until: Instant) -> Result<(Bearer, Instant), NoToken> {
        let asked = patiently(until, mute, async || match self.metadata.token().await {
            Err(Silence::Passing(reason)) => Attempt::Again(self.unavailable(&reason), None),
            decided => Attempt::Done(Ok(decided)),
        });
        let token = match asked.await {
            Ok(Ok(token)) => token,
            Ok(Err(silence)) => return Err(self.silence(silence)),
            Err(error) => {
                return Err(NoToken {
                    error,
                    gcloud_may_help: false,
                });
            }
        };
        let bearer = Bearer {
            token: token.text,
            project: None,
            quota_project: None,
            origin: "the account of this machine".to_owned(),
            member: None,
            hint: LOG_IN.to_owned(),
            is_self_signed: false,
        };
        Ok((bearer, token.good_until))
    }

    fn silence(&self, silence: Silence) -> NoToken {
        let error = match silence {
            Silence::Absent => {
                SecretError::refused("there are no credentials for Google Cloud on this machine")
                    .hint(format!("{LOG_IN}, or set GOOGLE_APPLICATION_CREDENTIALS"))
            }
            Silence::Unreachable(reason) | Silence::Passing(reason) => self.unavailable(&reason),
        };
        NoToken {
            error,
            gcloud_may_help: true,
        }
    }

    fn unavailable(&self, reason: &str) -> SecretError {
        let reason = shown_line(&self.surroundings.redactor.redact(reason), SHOWN);
        SecretError::unavailable(format!(
            "the metadata service of this machine gives no access token: {reason}"
        ))
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One attempt. That a token which we made is not known is an answer, too.
async fn attempt(
    identity: &Identity,
    asking: &Asking<'_>,
    way: Way,
) -> Attempt<Result<Token, SecretError>> {
    match identity.source.token(asking, way).await {
        Ok(token) => Attempt::Done(Ok(Ok(token))),
        Err(Trouble::Passing(error, wait)) => Attempt::Again(error, wait),
        Err(Trouble::UnknownToken(error)) => Attempt::Done(Ok(Err(error))),
        Err(Trouble::Final(error)) => Attempt::Done(Err(error)),
    }
}

/// What is said where nobody answers who could give us a token.
fn mute() -> SecretError {
    silent("the service that gives access tokens for Google Cloud")
}
