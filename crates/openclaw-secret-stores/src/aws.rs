//! AWS Secrets Manager.
//!
//! | module | owns |
//! |---|---|
//! | `files` | AWS's own files: profiles and what they say |
//! | `place` | regions and addresses |
//! | `credentials` | where credentials come from, in which order, and for how long they are kept |
//! | `roles` | credentials of a profile that names a role |
//! | `metadata` | credentials that the machine gives to what runs on it |
//! | `process` | credentials that a program knows |
//! | `context` | what `reqsign` sees of the machine |
//! | `request` | one request: made, signed, sent |
//! | `answer` | from an answer to a secret, or to why there is none |
//! | `caller` | who we are to AWS, for another cloud that believes it |

mod answer;
mod caller;
mod context;
mod credentials;
mod files;
mod metadata;
mod place;
mod process;
mod request;
mod roles;

use std::sync::Arc;

use openclaw_secrets::SecretReference;
use tokio::sync::OnceCell;
use tokio::time::Instant;

pub(crate) use self::caller::{Caller, caller};
use self::credentials::{Credentials, Identity};
use self::files::Files;
use self::place::Place;
use self::request::Wanted;
use crate::error::SecretError;
use crate::http::{Attempt, Http, patiently};
use crate::provider::{Fetched, Fetching, Found, SecretProvider, Turns, all_failed};
use crate::surroundings::Surroundings;

/// AWS Secrets Manager.
pub(crate) struct Aws {
    surroundings: Surroundings,
    http: Arc<Http>,
    credentials: Credentials,
    turns: Turns,
}

/// What is the same for all secrets that are asked for together.
struct Batch {
    files: Files,
    identity: Identity,
    /// The region of those that name none.
    region: OnceCell<Result<String, SecretError>>,
    until: Instant,
}

impl Aws {
    pub(crate) fn new(surroundings: Surroundings) -> Self {
        let http = Arc::new(Http::default());
        Self {
            credentials: Credentials::new(surroundings.clone(), Arc::clone(&http)),
            surroundings,
            http,
            turns: Turns::default(),
        }
    }

    async fn all(&self, references: &[SecretReference], until: Instant) -> Vec<Fetched> {
        loop {
            let (files, identity) = match self.who().await {
                Ok(who) => who,
                Err(error) => return all_failed(references, &error),
            };
            let batch = Batch {
                files,
                identity,
                region: OnceCell::new(),
                until,
            };
            let tasks = references.iter();
            let tasks = tasks.map(|reference| self.one(&batch, reference));
            let answers = self.turns.all(tasks).await;
            // What was kept may have been taken back; what was just read is what there is.
            if !(batch.identity.was_kept && self.credentials.are_forgotten()) {
                return answers;
            }
        }
    }

    /// What AWS's files say, and who we are.
    async fn who(&self) -> Result<(Files, Identity), SecretError> {
        let files = Files::read(&self.surroundings).await;
        let identity = self.credentials.get(&files).await?;
        Ok((files, identity))
    }

    async fn one(&self, batch: &Batch, reference: &SecretReference) -> Fetched {
        let Batch {
            files, identity, ..
        } = batch;
        let wanted = Wanted::new(reference)?;
        let region = match place::region_of(wanted.name)? {
            Some(region) => region.to_owned(),
            None => {
                let usual = batch
                    .region
                    .get_or_init(|| self.credentials.region(files, identity));
                usual.await.clone()?
            }
        };
        let place = Place::new(&self.surroundings, files, &region)?;
        let asking = patiently(batch.until, || self.attempt(identity, &place, &wanted));
        asking.await
    }

    async fn attempt(
        &self,
        identity: &Identity,
        place: &Place,
        wanted: &Wanted<'_>,
    ) -> Attempt<Found> {
        let request = match request::signed(identity, place, wanted).await {
            Ok(request) => request,
            Err(error) => return Attempt::Done(Err(error)),
        };
        let answer = match self.http.send(request).await {
            Ok(answer) => answer,
            Err(error) => return request::unanswered(place, &error),
        };
        if answer.status().is_success() {
            let value = answer::value(&self.surroundings, wanted, answer.into_body());
            return Attempt::Done(value.map(Into::into));
        }
        let refusal = answer::Refusal::new(&self.surroundings, &answer);
        if refusal.is_about_credentials() {
            self.credentials.forget();
        }
        let error = refusal.error(identity, place, wanted);
        if refusal.is_passing() {
            Attempt::Again(error, refusal.retry_after())
        } else {
            Attempt::Done(Err(error))
        }
    }
}

impl SecretProvider for Aws {
    fn fetch<'p>(&'p self, references: &'p [SecretReference], until: Instant) -> Fetching<'p> {
        Box::pin(self.all(references, until))
    }
}
