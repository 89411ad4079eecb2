//! Giving access tokens, and checking them.

use std::collections::HashMap;
use std::time::Duration;

use serde_json::{Value as Json, json};

use super::assertion::{self, SCOPE};
use super::files::{
    AUDIENCE, AWS_REQUEST, CLIENT, CLIENT_SECRET, JWT, REFRESH_TOKEN, SUBJECT_HEADER, SUBJECT_TOKEN,
};
use super::secrets::HUGE;
use super::{Fault, PROJECT, State, caller};
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
        let is_signed = || assertion::check(token, None, self.now()).is_ok();
        self.tokens.iter().any(|known| known == token) || (!self.only_given && is_signed())
    }

    /// The place that gives tokens.
    pub(super) fn granted(&mut self, asked: &Asked) -> Answer {
        if let Some(answer) = self.token_fault() {
            return answer;
        }
        let form = fields(asked);
        match form.get("grant_type").map(String::as_str) {
            Some("refresh_token") => self.refreshed(&form),
            Some("urn:ietf:params:oauth:grant-type:jwt-bearer") => self.signed(&form),
            _ => refused("unsupported_grant_type"),
        }
    }

    /// A user's long-lived token is made into one for an hour (RFC 6749 §6).
    fn refreshed(&mut self, form: &HashMap<String, String>) -> Answer {
        let field = |name: &str| form.get(name).map(String::as_str);
        if field("client_id") != Some(CLIENT) || field("client_secret") != Some(CLIENT_SECRET) {
            return Answer::json(401, &json!({ "error": "invalid_client" }));
        }
        if field("refresh_token") != Some(REFRESH_TOKEN) {
            return refused("invalid_grant");
        }
        Answer::json(200, &self.token_answer())
    }

    /// What a service account signed is made into a token (RFC 7523 §2.1).
    fn signed(&mut self, form: &HashMap<String, String>) -> Answer {
        let assertion = form.get("assertion").map(String::as_str);
        let audience = format!("{}/token", self.origin);
        let audience = Some(audience.as_str());
        match assertion::check(assertion.unwrap_or_default(), audience, self.now()) {
            Ok(()) => Answer::json(200, &self.token_answer()),
            Err(wrong) => {
                let body = json!({ "error": "invalid_grant", "error_description": wrong });
                Answer::json(400, &body)
            }
        }
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
        {
            return refused("invalid_request");
        }
        if field("audience") != Some(AUDIENCE) {
            return refused("invalid_target");
        }
        if field("scope") != Some(SCOPE) {
            return refused("invalid_scope");
        }
        let subject = field("subject_token").unwrap_or_default();
        let is_believed = match field("subject_token_type") {
            Some(JWT) => subject == SUBJECT_TOKEN,
            Some(AWS_REQUEST) => caller::is_known(subject, self.now()),
            _ => return refused("invalid_request"),
        };
        if !is_believed {
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
        if self.fault(|fault| fault == Fault::MayNotBorrow).is_some() {
            let words = "words-that-may-hold-a-secret";
            return super::error(
                403,
                "PERMISSION_DENIED",
                words,
                Some("IAM_PERMISSION_DENIED"),
            );
        }
        let body: Json = serde_json::from_slice(&asked.body).unwrap_or_default();
        if body["scope"] != json!([SCOPE]) {
            return super::error(400, "INVALID_ARGUMENT", "the scope is wrong", None);
        }
        let token = self.give_token();
        let answer = json!({ "accessToken": token, "expireTime": self.borrowed_until });
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
        let mut answer = json!({ "access_token": self.give_token(), "token_type": "Bearer" });
        if !self.life.is_null() {
            answer["expires_in"] = self.life.clone();
        }
        answer
    }

    fn token_fault(&mut self) -> Option<Answer> {
        let fault = self.fault(|fault| fault.is_about_tokens() && fault != Fault::MayNotBorrow)?;
        Some(match fault {
            Fault::InvalidGrant => refused("invalid_grant"),
            Fault::TokensHang => Answer::json(200, &json!({})).after(FOR_EVER),
            Fault::TokensThrottled(seconds) => Answer::bytes(429, "text/plain", "slower")
                .header("Retry-After", seconds.to_string()),
            Fault::NoToken => Answer::json(200, &json!({ "access_token": ["x"] })),
            Fault::TokensHuge => Answer::bytes(200, "application/json", vec![b' '; HUGE]),
            Fault::TokensRedirect => {
                let elsewhere = format!("{}/elsewhere", self.origin);
                Answer::bytes(307, "text/plain", "").header("Location", elsewhere)
            }
            _ => Answer::bytes(503, "text/plain", "down"),
        })
    }
}

/// Another provider of identities, which says who its machine is.
pub(super) fn subject(asked: &Asked) -> Answer {
    if asked.header(SUBJECT_HEADER.0) != Some(SUBJECT_HEADER.1) {
        return Answer::bytes(400, "text/plain", "the header is missing");
    }
    match asked.path.as_str() {
        "/subject" => Answer::bytes(200, "text/plain", format!("{SUBJECT_TOKEN}\n")),
        "/subject/json" => Answer::json(200, &json!({ "id_token": SUBJECT_TOKEN, "other": 1 })),
        _ => Answer::bytes(404, "text/plain", "there is nothing here"),
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
