//! From what is found on the machine to an access token.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use openclaw_content::shown_line;
use openclaw_secrets::Secret;
use ring::digest::Digest;
use tokio::time::Instant;

use super::contained::{Contained, Failure};
use super::file::{CredentialFile, Identity, Kind};
use super::metadata::{Metadata, Silence};
use crate::error::SecretError;
use crate::http::{Attempt, Http, patiently};
use crate::surroundings::Surroundings;

/// What to try where there are no credentials, or none that are accepted.
pub(super) const LOG_IN: &str = "run `gcloud auth application-default login`";
/// How long a token must still be good to be used.
const SLACK: Duration = Duration::from_secs(30);
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
}

/// Why there is no token.
pub(super) struct NoToken {
    pub(super) error: SecretError,
    /// Whether nobody said who we are, or nobody is it any more: then `gcloud` may know better.
    pub(super) gcloud_may_help: bool,
}

impl NoToken {
    /// There is no token in this way, and there may be others.
    pub(super) fn other(error: SecretError) -> Self {
        Self {
            error,
            gcloud_may_help: true,
        }
    }
}

/// The credentials of the machine. Tokens are kept in memory until they expire, and nowhere else.
pub(super) struct Credentials {
    surroundings: Surroundings,
    metadata: Metadata,
    kept: Mutex<Option<Kept>>,
}

/// What tokens come from.
#[derive(Clone)]
enum Kept {
    /// A file, as long as it has this content.
    File {
        digest: Digest,
        identity: Arc<Identity>,
        contained: Arc<Contained>,
    },
    /// The machine's own account.
    Machine { token: Secret, good_until: Instant },
}

impl Credentials {
    pub(super) fn new(surroundings: Surroundings, http: Arc<Http>) -> Self {
        Self {
            metadata: Metadata::new(surroundings.clone(), http),
            surroundings,
            kept: Mutex::default(),
        }
    }

    /// A token that is good now.
    pub(super) async fn bearer(&self, until: Instant) -> Result<Bearer, NoToken> {
        let decided = patiently(until, || self.attempt()).await;
        decided.unwrap_or_else(|error| {
            Err(NoToken {
                error,
                gcloud_may_help: false,
            })
        })
    }

    /// Forgets a token that is not accepted.
    pub(super) fn forget(&self) {
        *self.kept() = None;
    }

    /// The project of the machine, if it is one of Google's.
    pub(super) async fn project_of_machine(&self) -> Option<String> {
        self.metadata.project().await
    }

    async fn attempt(&self) -> Attempt<Result<Bearer, NoToken>> {
        match self.once().await {
            Ok(bearer) => Attempt::Done(Ok(Ok(bearer))),
            Err(Trouble::Passing(error)) => Attempt::Again(error, None),
            Err(Trouble::Final(no_token)) => Attempt::Done(Ok(Err(no_token))),
        }
    }

    async fn once(&self) -> Result<Bearer, Trouble> {
        if let Some(file) = CredentialFile::find(&self.surroundings)
            && let Some(content) = file.read().await?
        {
            let known = match &*self.kept() {
                Some(Kept::File {
                    digest,
                    identity,
                    contained,
                }) if digest.as_ref() == content.digest.as_ref() => {
                    Some((Arc::clone(identity), Arc::clone(contained)))
                }
                _ => None,
            };
            let (identity, contained) = match known {
                Some(known) => known,
                None => self.take_over(&file, &content)?,
            };
            return self.token_of_file(&file, &identity, &contained).await;
        }
        self.token_of_machine().await
    }

    fn take_over(
        &self,
        file: &CredentialFile,
        content: &super::file::Content,
    ) -> Result<(Arc<Identity>, Arc<Contained>), Trouble> {
        let identity = Arc::new(file.understand(content, &self.surroundings)?);
        let contained = Contained::new(&identity);
        let contained = contained.map_err(|failure| self.trouble(file, &identity, failure))?;
        let contained = Arc::new(contained);
        *self.kept() = Some(Kept::File {
            digest: content.digest,
            identity: Arc::clone(&identity),
            contained: Arc::clone(&contained),
        });
        Ok((identity, contained))
    }

    async fn token_of_file(
        &self,
        file: &CredentialFile,
        identity: &Identity,
        contained: &Arc<Contained>,
    ) -> Result<Bearer, Trouble> {
        match contained.token().await {
            Ok(token) => Ok(Bearer {
                token: self.surroundings.credential(token.expose()),
                project: identity.project.clone(),
                quota_project: match identity.kind {
                    // It has a project of its own, which is charged.
                    Kind::ServiceAccount => None,
                    _ => identity.quota_project.clone(),
                },
                origin: identity.origin.clone(),
                member: identity.member.clone(),
            }),
            Err(failure) => {
                // An object that failed once fails for ever.
                self.forget();
                Err(self.trouble(file, identity, failure))
            }
        }
    }

    async fn token_of_machine(&self) -> Result<Bearer, Trouble> {
        let bearer = |token: Secret| Bearer {
            token,
            project: None,
            quota_project: None,
            origin: "the account of this machine".to_owned(),
            member: None,
        };
        if let Some(Kept::Machine { token, good_until }) = &*self.kept()
            && *good_until > Instant::now() + SLACK
        {
            return Ok(bearer(token.clone()));
        }
        match self.metadata.token().await {
            Ok(token) => {
                let good_until = token.good_until;
                let token = self.surroundings.credential(token.text);
                *self.kept() = Some(Kept::Machine {
                    token: token.clone(),
                    good_until,
                });
                Ok(bearer(token))
            }
            Err(silence) => Err(self.silence(silence)),
        }
    }

    fn silence(&self, silence: Silence) -> Trouble {
        let unavailable = |reason: String| {
            SecretError::unavailable(format!(
                "the metadata service of this machine gives no access token: {}",
                self.clean(&reason)
            ))
        };
        match silence {
            Silence::Absent => Trouble::Final(NoToken::other(
                SecretError::refused("there are no credentials for Google Cloud on this machine")
                    .hint(format!("{LOG_IN}, or set GOOGLE_APPLICATION_CREDENTIALS")),
            )),
            Silence::Unreachable(reason) => Trouble::Final(NoToken::other(unavailable(reason))),
            Silence::Passing(reason) => Trouble::Passing(unavailable(reason)),
        }
    }

    fn trouble(&self, file: &CredentialFile, identity: &Identity, failure: Failure) -> Trouble {
        let shown = file.path().display();
        match failure {
            Failure::Passing(reason) => Trouble::Passing(SecretError::unavailable(format!(
                "Google gives no access token for {} now: {}",
                identity.origin,
                self.clean(&reason)
            ))),
            Failure::Refused(word) => {
                let word = word.map(|word| format!(" ({word})")).unwrap_or_default();
                let reason = format!("Google does not accept the credentials in {shown}{word}");
                Trouble::Final(NoToken::other(SecretError::refused(reason).hint(LOG_IN)))
            }
            Failure::NoTls(reason) => Trouble::Final(NoToken {
                error: SecretError::unavailable(format!(
                    "Google can't be asked for an access token: {}",
                    self.clean(&reason)
                )),
                gcloud_may_help: false,
            }),
            Failure::Unusable => {
                let reason = format!(
                    "no access token can be made of the credentials in {shown}: something in them \
                     is missing or wrong"
                );
                let hint = match identity.kind {
                    Kind::ServiceAccount => "create a new key for the service account",
                    _ => LOG_IN,
                };
                let error = SecretError::misconfigured(reason).hint(hint);
                Trouble::Final(NoToken::other(error))
            }
        }
    }

    fn clean(&self, words: &str) -> String {
        shown_line(&self.surroundings.redactor.redact(words), SHOWN)
    }

    fn kept(&self) -> MutexGuard<'_, Option<Kept>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Why one attempt gave no token.
enum Trouble {
    Passing(SecretError),
    Final(NoToken),
}

impl From<NoToken> for Trouble {
    fn from(no_token: NoToken) -> Self {
        Self::Final(no_token)
    }
}
