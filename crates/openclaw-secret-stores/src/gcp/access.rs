//! Asking Secret Manager for one secret, and what its answers mean.

use bytes::Bytes;
use http::header::{ACCEPT, AUTHORIZATION};
use http::{Response, StatusCode};
use openclaw_secrets::Secret;
use tokio::time::Instant;

use super::answer::{Problem, State, payload};
use super::credentials::Bearer;
use super::place::Place;
use super::token::Token;
use crate::error::SecretError;
use crate::http::{Attempt, Http, HttpError, patiently, retry_after, silent};
use crate::provider::Turns;

/// Why there is no secret.
pub(super) enum Refusal {
    /// The token is not known, or no longer: another one may be.
    UnknownToken(SecretError),
    /// It is decided.
    Final(SecretError),
}

/// Who asks.
pub(super) struct Access<'a> {
    pub(super) http: &'a Http,
    pub(super) bearer: &'a Bearer,
    pub(super) turns: &'a Turns,
}

impl Access<'_> {
    /// Gets a secret, asking again where that helps.
    pub(super) async fn get(
        &self,
        place: Result<&Place, &SecretError>,
        until: Instant,
    ) -> Result<Secret, Refusal> {
        let place = place.map_err(|error| Refusal::Final(error.clone()))?;
        let silent = || silent("Google Secret Manager");
        let attempt = || self.turns.take(self.attempt(place));
        match patiently(until, silent, attempt).await {
            Ok(Answer::Secret(secret)) => Ok(secret),
            Ok(Answer::UnknownToken) => Err(Refusal::UnknownToken(self.unknown_token())),
            Err(error) => Err(Refusal::Final(error)),
        }
    }

    async fn attempt(&self, place: &Place) -> Attempt<Answer> {
        let error = match self.send(place).await {
            Ok(answer) => return self.judge(place, &answer),
            Err(error) => error,
        };
        let reason = format!("Google Secret Manager can't be asked: {error}");
        match error {
            HttpError::TooLarge(_) => Attempt::Done(Err(SecretError::unusable(reason))),
            _ if error.is_passing() => Attempt::Again(SecretError::unavailable(reason), None),
            _ => Attempt::Done(Err(SecretError::misconfigured(reason))),
        }
    }

    async fn send(&self, place: &Place) -> Result<Response<Bytes>, HttpError> {
        let unmakeable = |error: &dyn std::error::Error| HttpError::Unmakeable(error.to_string());
        let token = Token::header(&self.bearer.token)?;
        let mut request = http::Request::get(&place.address)
            .header(AUTHORIZATION, token)
            .header(ACCEPT, "application/json");
        if let Some(project) = &self.bearer.quota_project {
            request = request.header("x-goog-user-project", project);
        }
        let request = request.body(Bytes::new());
        self.http
            .send(request.map_err(|error| unmakeable(&error))?)
            .await
    }

    fn judge(&self, place: &Place, answer: &Response<Bytes>) -> Attempt<Answer> {
        let status = answer.status();
        if status.is_success() {
            return Attempt::Done(payload(answer.body()).map(Answer::Secret));
        }
        if status == StatusCode::UNAUTHORIZED {
            return Attempt::Done(Ok(Answer::UnknownToken));
        }
        let problem = Problem::of(answer.body());
        if status == StatusCode::TOO_MANY_REQUESTS
            || status == StatusCode::REQUEST_TIMEOUT
            || status.is_server_error()
        {
            let reason = format!(
                "Google Secret Manager does not answer now (status {}{})",
                status.as_u16(),
                problem.shown()
            );
            let error = SecretError::unavailable(reason);
            return Attempt::Again(error, retry_after(answer.headers()));
        }
        Attempt::Done(Err(match status {
            StatusCode::NOT_FOUND => missing(place),
            StatusCode::FORBIDDEN => self.forbidden(place, &problem),
            StatusCode::BAD_REQUEST => bad_request(place, &problem),
            _ => SecretError::unavailable(format!(
                "Google Secret Manager answers with the status {}{}",
                status.as_u16(),
                problem.shown()
            )),
        }))
    }

    fn unknown_token(&self) -> SecretError {
        let reason = format!(
            "Google Secret Manager does not accept the access token of {}",
            self.bearer.origin
        );
        SecretError::refused(reason).hint(&self.bearer.hint)
    }

    fn forbidden(&self, place: &Place, problem: &Problem) -> SecretError {
        let Place { project, name, .. } = place;
        match problem.reason.as_deref() {
            Some("SERVICE_DISABLED") => SecretError::refused(format!(
                "the Secret Manager API is not enabled in the project {project}"
            ))
            .hint(format!(
                "run `gcloud services enable secretmanager.googleapis.com --project={project}`"
            )),
            Some("ACCESS_TOKEN_SCOPE_INSUFFICIENT") => SecretError::refused(format!(
                "the access token of {} is not for the scope `cloud-platform`",
                self.bearer.origin
            ))
            .hint("give the machine the access scope `cloud-platform`, or log in anew with it"),
            Some("USER_PROJECT_DENIED") => SecretError::refused(format!(
                "the project {} can't be charged for the request: the permission \
                 serviceusage.services.use is missing there",
                self.bearer.quota_project.as_deref().unwrap_or(project)
            ))
            .hint("run `gcloud auth application-default set-quota-project PROJECT`"),
            _ => SecretError::refused(format!(
                "Google Secret Manager does not let {} read {place} (status 403{}): the permission \
                 secretmanager.versions.access is missing, or there is no such project",
                self.bearer.origin,
                problem.shown()
            ))
            .hint(format!(
                "run `gcloud secrets add-iam-policy-binding {name} --project={project} \
                 --role=roles/secretmanager.secretAccessor --member={}`",
                self.bearer.member.as_deref().unwrap_or("MEMBER")
            )),
        }
    }
}

/// What came of asking.
enum Answer {
    Secret(Secret),
    UnknownToken,
}

fn missing(place: &Place) -> SecretError {
    let Place { project, name, .. } = place;
    SecretError::missing(format!(
        "Google Secret Manager has no secret {name} in the project {project}, or not {} of it",
        place.shown_version()
    ))
    .hint(format!(
        "run `gcloud secrets versions list {name} --project={project}`"
    ))
}

fn bad_request(place: &Place, problem: &Problem) -> SecretError {
    let Place {
        project,
        name,
        version,
        ..
    } = place;
    match (problem.status.as_deref(), problem.state) {
        (Some("FAILED_PRECONDITION"), Some(State::Disabled)) => {
            SecretError::unusable(format!("{place} is disabled")).hint(format!(
                "run `gcloud secrets versions enable {version} --secret={name} --project={project}`"
            ))
        }
        (Some("FAILED_PRECONDITION"), Some(State::Destroyed)) => {
            SecretError::unusable(format!("{place} is destroyed")).hint(format!(
                "run `gcloud secrets versions add {name} --project={project} --data-file=FILE`"
            ))
        }
        _ => SecretError::unusable(format!(
            "Google Secret Manager can't give {place} (status 400{})",
            problem.shown()
        )),
    }
}
