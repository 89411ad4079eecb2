//! Google Cloud's Secret Manager.
//!
//! | module | owns | never contains |
//! |---|---|---|
//! | `place` | which version of which secret, and the address of it | who may read it |
//! | `access` | asking for one secret, and what the answers mean | where tokens come from |
//! | `answer` | what stands in an answer | what is said about it |
//! | `credentials` | from what is found on the machine to an access token | secrets |
//! | `kept` | the token that is in use | keys and logins |
//! | `file` | files with credentials: where they are | what is in them |
//! | `document` | what is in them: read, hidden, overwritten | what it means |
//! | `identity` | who they say that we are | tokens |
//! | `source` | the kinds of credentials that tokens are made of | how each is |
//! | `service_account`, `user`, `external` | these kinds | each other |
//! | `lending` | accounts that are borrowed with a token | where it is from |
//! | `asking` | asking for a token, and what the answers mean | for whom |
//! | `refusal` | why there is none, in words of the protocol | |
//! | `token` | how long a token is good | |
//! | `metadata` | the metadata service of Google's own machines | files |
//! | `gcloud` | asking the program `gcloud` instead | all of the above |
//! | `checksum` | CRC32C | |

mod access;
mod answer;
mod asking;
mod checksum;
mod credentials;
mod document;
mod external;
mod file;
mod gcloud;
mod identity;
mod kept;
mod lending;
mod metadata;
mod place;
mod refusal;
mod service_account;
mod source;
mod token;
mod user;

use std::sync::Arc;

use futures_util::future::join_all;
use openclaw_secrets::{Secret, SecretReference};
use tokio::time::Instant;

use crate::error::SecretError;
use crate::http::{Http, Trust, store_client};
use crate::provider::{Fetched, Fetching, SecretProvider, Turns, all_failed};
use crate::surroundings::Surroundings;
use access::{Access, Refusal};
use credentials::{Bearer, Credentials, NoToken};
use gcloud::Gcloud;
use place::{Place, Wanted};

/// The Secret Manager of Google Cloud.
pub(crate) struct Gcp {
    surroundings: Surroundings,
    http: Arc<Http>,
    credentials: Credentials,
    gcloud: Gcloud,
    turns: Turns,
}

impl Gcp {
    pub(crate) fn new(surroundings: Surroundings) -> Self {
        let http = Arc::new(store_client(Trust::default()));
        Self {
            credentials: Credentials::new(surroundings.clone(), Arc::clone(&http)),
            gcloud: Gcloud::new(surroundings.clone()),
            turns: Turns::default(),
            surroundings,
            http,
        }
    }

    async fn ask(&self, references: &[SecretReference], until: Instant) -> Vec<Fetched> {
        let wanted = references
            .iter()
            .map(|it| Wanted::new(it, &self.surroundings));
        let wanted: Vec<_> = wanted.collect();
        match self.credentials.bearer(until).await {
            Ok(bearer) => self.with_token(&wanted, &bearer, until).await,
            Err(NoToken {
                error,
                gcloud_may_help: true,
            }) => match self.gcloud.find() {
                Some(program) => {
                    tracing::debug!("asking gcloud for secrets: {error}");
                    let asking = wanted
                        .iter()
                        .map(|wanted| self.gcloud.access(&program, wanted.as_ref(), &error));
                    join_all(asking).await
                }
                None => all_failed(references, &error),
            },
            Err(NoToken { error, .. }) => all_failed(references, &error),
        }
    }

    /// Asks Secret Manager itself.
    async fn with_token(
        &self,
        wanted: &[Result<Wanted, SecretError>],
        bearer: &Bearer,
        until: Instant,
    ) -> Vec<Fetched> {
        let places = self.places(wanted, bearer).await;
        let mut answers = self.round(&places, bearer, until).await;
        let unknown = |answer: &Answered| matches!(answer, Err(Refusal::UnknownToken(_)));
        if answers.iter().any(unknown) {
            // The token was good when we got it. It was revoked since, or its time went by while
            // the machine slept.
            self.credentials.forget(bearer);
            match self.credentials.bearer(until).await {
                Ok(bearer) => {
                    let again = places.iter().zip(&answers);
                    let again = again.map(|(place, answer)| match answer {
                        Err(Refusal::UnknownToken(_)) => place.clone(),
                        // It has an answer, and is not asked for again.
                        _ => Err(SecretError::unavailable("it was answered before")),
                    });
                    let again: Vec<_> = again.collect();
                    let second = self.round(&again, &bearer, until).await;
                    for (answer, second) in answers.iter_mut().zip(second) {
                        if unknown(answer) {
                            *answer = second;
                        }
                    }
                }
                Err(no_token) => {
                    for answer in answers.iter_mut().filter(|answer| unknown(answer)) {
                        *answer = Err(Refusal::Final(no_token.error.clone()));
                    }
                }
            }
        }
        let answers = answers.into_iter();
        answers
            .map(|answer| match answer {
                Ok(secret) => Ok(secret.into()),
                Err(Refusal::Final(error) | Refusal::UnknownToken(error)) => Err(error),
            })
            .collect()
    }

    /// Asks for each secret once, side by side.
    async fn round(
        &self,
        places: &[Result<Place, SecretError>],
        bearer: &Bearer,
        until: Instant,
    ) -> Vec<Answered> {
        let access = Access {
            http: &self.http,
            bearer,
            turns: &self.turns,
        };
        join_all(places.iter().map(|place| access.get(place.as_ref(), until))).await
    }

    /// Where the secrets are, with the projects that are meant.
    async fn places(
        &self,
        wanted: &[Result<Wanted, SecretError>],
        bearer: &Bearer,
    ) -> Vec<Result<Place, SecretError>> {
        let base = match place::base(&self.surroundings) {
            Ok(base) => base,
            Err(error) => return wanted.iter().map(|_| Err(error.clone())).collect(),
        };
        let is_open = |wanted: &Result<Wanted, _>| matches!(wanted, Ok(it) if it.project.is_none());
        let mut usual = bearer.project.clone();
        if usual.is_none() && wanted.iter().any(is_open) {
            usual = self.credentials.project_of_machine().await;
        }
        let place = |wanted: &Result<Wanted, SecretError>| {
            let wanted = wanted.as_ref().map_err(Clone::clone)?;
            let project = wanted.project.as_ref().or(usual.as_ref());
            let project = project.ok_or_else(|| unknown_project(&wanted.name))?;
            Ok(Place::new(&base, project, wanted))
        };
        wanted.iter().map(place).collect()
    }
}

fn unknown_project(name: &str) -> SecretError {
    SecretError::misconfigured(format!(
        "it is not known in which project of Google Cloud the secret {name} is"
    ))
    .hint(format!(
        "set GOOGLE_CLOUD_PROJECT, or write `secret://gcp/projects/PROJECT/secrets/{name}`"
    ))
}

/// A secret, or why Secret Manager does not give it.
type Answered = Result<Secret, Refusal>;

impl SecretProvider for Gcp {
    fn fetch<'p>(&'p self, references: &'p [SecretReference], until: Instant) -> Fetching<'p> {
        Box::pin(self.ask(references, until))
    }
}
