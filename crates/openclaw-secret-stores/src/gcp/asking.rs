//! Asking for a token, and what the answers mean.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderValue};
use http::{Request, Response, StatusCode};
use openclaw_content::shown_line;
use secrecy::zeroize::Zeroizing;
use serde_json::Value as Json;
use tokio::time::Instant;
use url::form_urlencoded::Serializer;

use super::document::wipe;
use super::refusal::Refusal;
use super::token::{Token, life};
use crate::error::SecretError;
use crate::http::{Http, HttpError, retry_after};
use crate::surroundings::Surroundings;

/// What tokens are good for: what is allowed to whom is said elsewhere.
pub(super) const SCOPE: &str = "https://www.googleapis.com/auth/cloud-platform";
/// Who is asked most of the time.
pub(super) const GOOGLE: &str = "Google";
/// How much of a reason is shown.
const SHOWN: usize = 200;

/// Who asks for a token.
pub(super) struct Asking<'a> {
    pub(super) surroundings: &'a Surroundings,
    pub(super) http: &'a Arc<Http>,
    /// When nobody waits for the token any longer.
    pub(super) until: Instant,
    /// Where the credentials are.
    pub(super) shown: &'a str,
    /// Whose the token will be, in words.
    pub(super) origin: &'a str,
    /// The service account that it will be of, if it is known.
    pub(super) account: Option<&'a str>,
    /// What to try where the credentials are not accepted.
    pub(super) hint: &'a str,
}

/// Why there is no token.
pub(super) enum Trouble {
    /// It may be different the next time, after as long as was asked for.
    Passing(SecretError, Option<Duration>),
    /// A token that we made is not known: one of another making may be.
    UnknownToken(SecretError),
    /// It is decided.
    Final(SecretError),
}

impl From<SecretError> for Trouble {
    fn from(error: SecretError) -> Self {
        Self::Final(error)
    }
}

impl Asking<'_> {
    /// Asks the place that makes a token of something else (RFC 6749 §4.5 and §6, RFC 8693).
    pub(super) async fn grant(
        &self,
        address: &str,
        fields: &[(&str, &str)],
        client: Option<HeaderValue>,
    ) -> Result<Token, Trouble> {
        let asked = Instant::now();
        let form = Serializer::new(String::new()).extend_pairs(fields).finish();
        let mut request = Request::post(address)
            .header(CONTENT_TYPE, "application/x-www-form-urlencoded")
            .header(ACCEPT, "application/json");
        if let Some(client) = client {
            request = request.header(AUTHORIZATION, client);
        }
        let answer = self.send(GOOGLE, request, form.into()).await?;
        if !answer.status().is_success() {
            return Err(Trouble::Final(Refusal::new(&answer).error(self)));
        }
        self.token(answer, "access_token", asked, |json| {
            life(&json["expires_in"])
        })
    }

    /// The token in an answer.
    pub(super) fn token(
        &self,
        answer: Response<Bytes>,
        name: &str,
        asked: Instant,
        life: impl FnOnce(&Json) -> Duration,
    ) -> Result<Token, Trouble> {
        let body = Zeroizing::new(Vec::from(answer.into_body()));
        let mut json: Json = serde_json::from_slice(&body).unwrap_or_default();
        let text = json.get(name).and_then(Json::as_str);
        let text = text.filter(|text| !text.is_empty());
        let token = text.map(|text| {
            let text = self.surroundings.credential(text);
            Token::new(text, asked, life(&json))
        });
        wipe(&mut json);
        token.ok_or_else(|| {
            let reason = format!(
                "Google gives no access token for {}: there is none in the answer",
                self.origin
            );
            Trouble::Final(SecretError::unusable(reason))
        })
    }

    /// Sends a request to `who`. An answer that is for now only is none.
    pub(super) async fn send(
        &self,
        who: &str,
        request: http::request::Builder,
        body: Bytes,
    ) -> Result<Response<Bytes>, Trouble> {
        let sent = match request.body(body) {
            Ok(request) => self.http.send(request).await,
            Err(error) => Err(HttpError::Unmakeable(error.to_string())),
        };
        let answer = sent.map_err(|error| self.unanswered(who, &error))?;
        let status = answer.status();
        if status == StatusCode::TOO_MANY_REQUESTS
            || status == StatusCode::REQUEST_TIMEOUT
            || status.is_server_error()
        {
            let error = SecretError::unavailable(format!(
                "{who} gives no access token for {} now: status {}",
                self.origin,
                status.as_u16()
            ));
            return Err(Trouble::Passing(error, retry_after(answer.headers())));
        }
        Ok(answer)
    }

    /// What it means that there is no answer.
    fn unanswered(&self, who: &str, error: &HttpError) -> Trouble {
        let reason = shown_line(
            &self.surroundings.redactor.redact(&error.to_string()),
            SHOWN,
        );
        let reason = format!("{who} can't be asked for an access token: {reason}");
        match error {
            HttpError::Unreachable(_) => Trouble::Passing(SecretError::unavailable(reason), None),
            HttpError::TooLarge(_) => Trouble::Final(SecretError::unusable(reason)),
            HttpError::Readable | HttpError::Forbidden => {
                Trouble::Final(SecretError::misconfigured(reason))
            }
            HttpError::Unmakeable(_) | HttpError::Insecure(_) => {
                Trouble::Final(SecretError::unavailable(reason))
            }
        }
    }

    /// The credentials in words.
    pub(super) fn credentials(&self) -> String {
        let credentials = format!("the credentials in {}", self.shown);
        if self.origin == credentials {
            credentials
        } else {
            format!("{credentials} for {}", self.origin)
        }
    }
}
