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

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use futures_util::future::join_all;
use openclaw_secrets::SecretReference;
use tokio::sync::OnceCell;
use tokio::time::Instant;

use self::answer::{Content, Refusal};
pub(crate) use self::caller::{Caller, caller};
use self::credentials::{Credentials, Identity};
use self::files::Files;
use self::place::Place;
use self::request::Wanted;
use crate::error::SecretError;
use crate::http::{Attempt, Http, Trust, patiently, silent, store_client};
use crate::provider::{Fetched, Fetching, SecretProvider, Turns, all_failed};
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

/// What AWS said.
enum Answer {
    /// What is kept under the name.
    Content(Content),
    /// We are not given it.
    Refused(Refusal),
}

impl Aws {
    pub(crate) fn new(surroundings: Surroundings) -> Self {
        let http = Arc::new(store_client(Trust::default()));
        Self {
            credentials: Credentials::new(surroundings.clone(), Arc::clone(&http)),
            surroundings,
            http,
            turns: Turns::default(),
        }
    }

    /// Asks for every secret once, so that a name and its password are of the same version.
    async fn all(
        &self,
        references: &[SecretReference],
        until: Instant,
    ) -> Result<Vec<Fetched>, SecretError> {
        let files = Files::read(&self.surroundings).await;
        let batch = Batch {
            identity: self.credentials.get(&files, until).await?,
            files,
            region: OnceCell::new(),
            until,
        };
        let wanted: BTreeSet<Wanted<'_>> = references
            .iter()
            .filter_map(|reference| Some(Wanted::of(reference)?.0))
            .collect();
        let asking = wanted
            .into_iter()
            .map(async |wanted| (wanted, self.one(&batch, &wanted).await));
        let answers: BTreeMap<_, _> = join_all(asking).await.into_iter().collect();
        let answer = |reference: &SecretReference| {
            let foreign = || SecretError::misconfigured("it is not a secret of AWS");
            let (wanted, key) = Wanted::of(reference).ok_or_else(foreign)?;
            let content = answers.get(&wanted).ok_or_else(foreign)?;
            let content = content.as_ref().map_err(Clone::clone)?;
            Ok(answer::secret(&self.surroundings, content, key)?.into())
        };
        Ok(references.iter().map(answer).collect())
    }

    /// Asks for a secret. Credentials from an earlier time may have been taken back or be given other
    /// rights since: then there may be others.
    async fn one(&self, batch: &Batch, wanted: &Wanted<'_>) -> Result<Content, SecretError> {
        let place = self.place(batch, wanted).await?;
        let (files, identity, until) = (&batch.files, &batch.identity, batch.until);
        let refusal = match self.ask(identity, &place, wanted, until).await? {
            Answer::Content(content) => return Ok(content),
            Answer::Refused(refusal) => refusal,
        };
        match self.credentials.instead(files, identity, until).await {
            Ok(Some(other)) => match self.ask(&other, &place, wanted, until).await? {
                Answer::Content(content) => Ok(content),
                Answer::Refused(refusal) => Err(refusal.error(&other, &place, wanted)),
            },
            // Without credentials, that is what is wrong.
            Err(error) if refusal.is_about_credentials() => Err(error),
            Ok(None) | Err(_) => Err(refusal.error(identity, &place, wanted)),
        }
    }

    /// Where a secret is.
    async fn place(&self, batch: &Batch, wanted: &Wanted<'_>) -> Result<Place, SecretError> {
        let (files, identity) = (&batch.files, &batch.identity);
        let region = match place::region_of(wanted.name)? {
            Some(region) => region.to_owned(),
            None => {
                let usual = || self.credentials.region(files, identity, batch.until);
                batch.region.get_or_init(usual).await.clone()?
            }
        };
        Place::new(&self.surroundings, files, &region)
    }

    async fn ask(
        &self,
        identity: &Identity,
        place: &Place,
        wanted: &Wanted<'_>,
        until: Instant,
    ) -> Result<Answer, SecretError> {
        let silent = || silent(&place.service());
        let attempt = || self.turns.take(self.attempt(identity, place, wanted));
        let answer = patiently(until, silent, attempt).await?;
        if let Answer::Refused(refusal) = &answer
            && refusal.is_about_credentials()
        {
            self.credentials.forget(identity).await;
        }
        Ok(answer)
    }

    async fn attempt(
        &self,
        identity: &Identity,
        place: &Place,
        wanted: &Wanted<'_>,
    ) -> Attempt<Answer> {
        let request = match request::signed(identity, place, wanted).await {
            Ok(request) => request,
            Err(error) => return Attempt::Done(Err(error)),
        };
        let answer = match self.http.send(request).await {
            Ok(answer) => answer,
            Err(error) => return request::unanswered(place, &error),
        };
        if answer.status().is_success() {
            let content = answer::content(answer.body());
            return Attempt::Done(content.map(Answer::Content));
        }
        let refusal = Refusal::new(&self.surroundings, &answer);
        if refusal.is_passing() {
            let error = refusal.error(identity, place, wanted);
            Attempt::Again(error, refusal.retry_after())
        } else if refusal.is_about_us() {
            Attempt::Done(Ok(Answer::Refused(refusal)))
        } else {
            Attempt::Done(Err(refusal.error(identity, place, wanted)))
        }
    }
}

impl SecretProvider for Aws {
    fn fetch<'p>(&'p self, references: &'p [SecretReference], until: Instant) -> Fetching<'p> {
        Box::pin(async move {
            let answers = self.all(references, until).await;
            answers.unwrap_or_else(|error| all_failed(references, &error))
        })
    }
}
