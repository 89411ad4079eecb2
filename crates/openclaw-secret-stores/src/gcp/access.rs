//! Asking Secret Manager for one secret, and what its answers mean.

use base64::Engine as _;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use bytes::Bytes;
use http::header::{ACCEPT, AUTHORIZATION, HeaderValue};
use http::{Response, StatusCode};
use openclaw_secrets::Secret;
use serde_json::Value as Json;
use tokio::time::Instant;

use super::checksum::crc32c;
use super::credentials::Bearer;
use super::place::Place;
use crate::error::SecretError;
use crate::http::{Attempt, Http, HttpError, Patience, retry_after};
use crate::value;

/// Base64 as JSON has it, whether padded or not.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &base64::alphabet::STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

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
}

impl Access<'_> {
    /// Gets a secret, asking again where that helps.
    pub(super) async fn get(
        &self,
        place: Result<&Place, &SecretError>,
        until: Instant,
    ) -> Result<Secret, Refusal> {
        let place = place.map_err(|error| Refusal::Final(error.clone()))?;
        let mut patience = Patience::new(until);
        let answer = loop {
            match self.attempt(place).await {
                Attempt::Done(answer) => break answer,
                Attempt::Again(error, asked) => {
                    let waited = patience.wait(error, asked).await;
                    waited.map_err(Refusal::Final)?;
                }
            }
        };
        match answer {
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
            HttpError::TooLarge => Attempt::Done(Err(SecretError::unusable(reason))),
            _ if error.is_passing() => Attempt::Again(SecretError::unavailable(reason), None),
            _ => Attempt::Done(Err(SecretError::misconfigured(reason))),
        }
    }

    async fn send(&self, place: &Place) -> Result<Response<Bytes>, HttpError> {
        let unmakeable = |error: &dyn std::error::Error| HttpError::Unmakeable(error.to_string());
        let token = format!("Bearer {}", self.bearer.token.expose());
        let mut token = HeaderValue::try_from(token).map_err(|error| unmakeable(&error))?;
        token.set_sensitive(true);
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
        SecretError::refused(reason).hint(super::credentials::LOG_IN)
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

/// The state of a version that can't be read.
#[derive(Clone, Copy)]
enum State {
    Disabled,
    Destroyed,
}

/// What an answer says is wrong: words of the protocol, and no others.
#[derive(Default)]
struct Problem {
    /// The name of the status, such as `PERMISSION_DENIED`.
    status: Option<String>,
    /// A more precise word, such as `SERVICE_DISABLED`.
    reason: Option<String>,
    state: Option<State>,
}

impl Problem {
    fn of(body: &[u8]) -> Self {
        let Ok(json) = serde_json::from_slice::<Json>(body) else {
            // A proxy between may answer in HTML.
            return Self::default();
        };
        let error = &json["error"];
        let details = error["details"].as_array();
        let mut details = details.into_iter().flatten();
        let message = error["message"].as_str().unwrap_or_default();
        let state = if message.contains("DESTROYED state") {
            Some(State::Destroyed)
        } else if message.contains("DISABLED state") {
            Some(State::Disabled)
        } else {
            None
        };
        Self {
            status: word(&error["status"]),
            reason: details.find_map(|detail| word(&detail["reason"])),
            state,
        }
    }

    /// The words as they stand behind a status.
    fn shown(&self) -> String {
        let word = self.reason.as_ref().or(self.status.as_ref());
        word.map(|word| format!(" {word}")).unwrap_or_default()
    }
}

/// A word of the protocol. Anything else might be somebody's secret.
fn word(value: &Json) -> Option<String> {
    let word = value.as_str()?;
    let allowed = |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_';
    let is_word = (1..=60).contains(&word.len()) && word.bytes().all(allowed);
    is_word.then(|| word.to_owned())
}

/// The secret in an answer.
fn payload(body: &[u8]) -> Result<Secret, SecretError> {
    let unreadable = || {
        SecretError::unusable("the answer of Google Secret Manager is not one: it has no payload")
    };
    let json: Json = serde_json::from_slice(body).map_err(|_| unreadable())?;
    let payload = json.get("payload").ok_or_else(unreadable)?;
    // An empty secret has no data.
    let data = match payload.get("data") {
        Some(data) => data.as_str().ok_or_else(unreadable)?,
        None => "",
    };
    let bytes = BASE64.decode(data).map_err(|_| unreadable())?;
    // JSON has no integers of 64 bits, so they are texts there.
    let stated = match payload.get("dataCrc32c") {
        Some(Json::String(text)) => text.parse().ok(),
        Some(number) => number.as_u64(),
        None => Some(u64::from(crc32c(&bytes))),
    };
    if stated != Some(u64::from(crc32c(&bytes))) {
        value::wipe(bytes);
        return Err(SecretError::unusable(
            "it was changed on the way: its checksum is another one",
        ));
    }
    value::from_bytes(bytes)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn text_of(payload_of: Json) -> Result<String, String> {
        let body = json!({ "name": "x", "payload": payload_of }).to_string();
        let secret = payload(body.as_bytes());
        secret
            .map(|secret| secret.expose().to_owned())
            .map_err(|error| error.to_string())
    }

    #[test]
    fn payloads_are_read_with_and_without_checksum_and_padding() {
        for given in [
            json!({ "data": "aHVudGVyMg==" }),
            json!({ "data": "aHVudGVyMg" }),
            json!({ "data": "aHVudGVyMg==", "dataCrc32c": crc32c(b"hunter2").to_string() }),
            json!({ "data": "aHVudGVyMg==", "dataCrc32c": crc32c(b"hunter2") }),
        ] {
            assert_eq!(text_of(given.clone()).unwrap(), "hunter2", "{given}");
        }
    }

    #[test]
    fn a_checksum_that_is_no_number_is_a_wrong_one() {
        for checksum in [json!("x"), json!(-1), json!(null), json!("1")] {
            let given = json!({ "data": "aHVudGVyMg==", "dataCrc32c": checksum });
            assert!(text_of(given).unwrap_err().contains("checksum"));
        }
    }

    #[test]
    fn words_that_are_not_of_the_protocol_are_not_taken_over() {
        assert_eq!(
            word(&json!("SERVICE_DISABLED")).unwrap(),
            "SERVICE_DISABLED"
        );
        for other in [json!("hunter2"), json!("A B"), json!(""), json!(7)] {
            assert_eq!(word(&other), None, "{other}");
        }
    }
}
