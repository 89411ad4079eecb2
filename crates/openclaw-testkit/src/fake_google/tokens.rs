//! Giving access tokens, and checking them.

use std::collections::HashMap;
use std::time::Duration;

use serde_json::{Value as Json, json};

use super::assertion::{self, SCOPE};
use super::files::{AUDIENCE, CLIENT, CLIENT_SECRET, REFRESH_TOKEN, SUBJECT_TOKEN};
use super::{Fault, PROJECT, State};
use crate::stand_in::{Answer, Asked};

/// How long it is waited where nothing is answered.
pub(super) const FOR_EVER: Duration = Duration::from_mins(10);

impl State {
    pub(super) fn give_token(&mut self) -> String {
        self.given += 1;
        // Real ones look like this, too.
        let token = format!("ya29.test-token-number-{}", self.given);
        self.tokens.push(token.clone());
        token
    }

    /// Whether a request has a token that is good.
    pub(super) fn knows(&self, asked: &Asked) -> bool {
        let header = asked.header("authorization").unwrap_or_default();
        let Some(token) = header.strip_prefix("Bearer ") else {
            return false;
        };
        self.tokens.iter().any(|known| known == token) || assertion::check(token).is_ok()
    }

    /// The place where a user's long-lived token is made into one for an hour (RFC 6749 §6).
    pub(super) fn refreshed(&mut self, asked: &Asked) -> Answer {
        if let Some(answer) = self.token_fault() {
            return answer;
        }
        let form = fields(asked);
        let field = |name: &str| form.get(name).map(String::as_str);
        if field("grant_type") != Some("refresh_token") {
            return refused("unsupported_grant_type");
        }
        if field("client_id") != Some(CLIENT) || field("client_secret") != Some(CLIENT_SECRET) {
            return Answer::json(401, &json!({ "error": "invalid_client" }));
        }
        if field("refresh_token") != Some(REFRESH_TOKEN) {
            return refused("invalid_grant");
        }
        Answer::json(200, &self.token_answer())
    }

    /// The place where the word of another provider is exchanged for a token (RFC 8693 §2).
    pub(super) fn exchanged(&mut self, asked: &Asked) -> Answer {
        if let Some(answer) = self.token_fault() {
            return answer;
        }
        let form = fields(asked);
        let field = |name: &str| form.get(name).map(String::as_str);
        if field("grant_type") != Some("urn:ietf:params:oauth:grant-type:token-exchange")
            || field("requested_token_type")
                != Some("urn:ietf:params:oauth:token-type:access_token")
            || field("subject_token_type") != Some("urn:ietf:params:oauth:token-type:jwt")
        {
            return refused("invalid_request");
        }
        if field("audience") != Some(AUDIENCE) {
            return refused("invalid_target");
        }
        if field("scope") != Some(SCOPE) {
            return refused("invalid_scope");
        }
        if field("subject_token") != Some(SUBJECT_TOKEN) {
            return refused("invalid_grant");
        }
        let mut answer = self.token_answer();
        answer["issued_token_type"] = json!("urn:ietf:params:oauth:token-type:access_token");
        Answer::json(200, &answer)
    }

    /// The place where an account is borrowed.
    pub(super) fn borrowed(&mut self, asked: &Asked) -> Answer {
        if !self.knows(asked) {
            return super::error(401, "UNAUTHENTICATED", "who are you?", None);
        }
        let body: Json = serde_json::from_slice(&asked.body).unwrap_or_default();
        if body["scope"] != json!([SCOPE]) {
            return super::error(400, "INVALID_ARGUMENT", "the scope is wrong", None);
        }
        let token = self.give_token();
        let answer = json!({ "accessToken": token, "expireTime": "2099-01-01T00:00:00Z" });
        Answer::json(200, &answer)
    }

    /// The metadata service of a machine.
    pub(super) fn metadata(&mut self, path: &str, asked: &Asked) -> Answer {
        // What a browser can be led to send does not have it.
        if asked.header("metadata-flavor") != Some("Google") {
            return Answer::bytes(403, "text/html", "Forbidden");
        }
        let answer = match path {
            "project/project-id" => Answer::bytes(200, "application/text", PROJECT),
            "instance/service-accounts/default/token" => match self.token_fault() {
                Some(answer) => answer,
                None => Answer::json(200, &self.token_answer()),
            },
            _ => Answer::bytes(404, "text/html", "Not Found"),
        };
        answer.header("Metadata-Flavor", "Google")
    }

    fn token_answer(&mut self) -> Json {
        let life = match self.fault(|fault| fault == Fault::TokensForEver) {
            Some(_) => u64::MAX,
            None => self.life,
        };
        json!({ "access_token": self.give_token(), "expires_in": life, "token_type": "Bearer" })
    }

    fn token_fault(&mut self) -> Option<Answer> {
        let fault = self.fault(|fault| {
            matches!(
                fault,
                Fault::InvalidGrant | Fault::TokensDown | Fault::TokensHang
            )
        })?;
        Some(match fault {
            Fault::InvalidGrant => refused("invalid_grant"),
            Fault::TokensHang => Answer::json(200, &json!({})).after(FOR_EVER),
            _ => Answer::bytes(503, "text/plain", "down"),
        })
    }
}

/// An error as OAuth has them (RFC 6749 §5.2). The description is what must not be shown.
fn refused(error: &str) -> Answer {
    let description = "description-that-may-hold-a-secret";
    Answer::json(
        400,
        &json!({ "error": error, "error_description": description }),
    )
}

/// The fields of a form, or of a JSON document, which Google takes as well.
fn fields(asked: &Asked) -> HashMap<String, String> {
    if asked.header("content-type") == Some("application/json") {
        let json: Json = serde_json::from_slice(&asked.body).unwrap_or_default();
        let fields = json.as_object().cloned().unwrap_or_default();
        let fields = fields.into_iter();
        return fields
            .filter_map(|(name, value)| Some((name, value.as_str()?.to_owned())))
            .collect();
    }
    url::form_urlencoded::parse(&asked.body)
        .into_owned()
        .collect()
}
