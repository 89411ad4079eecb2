//! The fake authorization server, talked to by a client that does nothing by itself.

mod clients;
mod faults;
mod flow;
mod program;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use openclaw_testkit::fake_login::FakeLogin;
use ring::digest::{SHA256, digest};
use serde_json::json;

use crate::conversation::introduction;
use crate::web::{Answered, ask, encoded, get, post_form, post_json};

const BACK: &str = "http://127.0.0.1:9/callback";
const VERIFIER: &str = "a-verifier-that-is-long-enough-to-be-a-proper-one";
const STATE: &str = "a-state-that-nobody-can-guess";

/// Whether a token opens the MCP server.
fn opens(address: &str, token: &str) -> bool {
    let answered = ask(
        address,
        Some(token),
        "initialize",
        &introduction("2025-11-25"),
    );
    answered.status == 200
}

/// Somebody who logs in.
struct Visitor<'login> {
    login: &'login FakeLogin,
    client: String,
}

impl<'login> Visitor<'login> {
    /// A client that registers itself, without a secret.
    fn new(login: &'login FakeLogin) -> Self {
        let metadata = json!({
            "redirect_uris": [BACK],
            "token_endpoint_auth_method": "none",
            "grant_types": ["authorization_code", "refresh_token"],
        });
        let answered = post_json(&format!("{}/register", login.issuer()), &metadata);
        assert_eq!(answered.status, 201, "{answered:?}");
        let client = answered.json()["client_id"].as_str().unwrap().to_owned();
        Self { login, client }
    }

    fn endpoint(&self, name: &str) -> String {
        format!("{}/{name}", self.login.issuer())
    }

    /// Sends a browser; these parameters are instead of those that are right.
    fn authorize(&self, instead: &[(&str, &str)]) -> Answered {
        let url = self.login.url();
        let challenge = URL_SAFE_NO_PAD.encode(digest(&SHA256, VERIFIER.as_bytes()));
        let right = [
            ("response_type", "code"),
            ("client_id", self.client.as_str()),
            ("redirect_uri", BACK),
            ("code_challenge", &challenge),
            ("code_challenge_method", "S256"),
            ("resource", &url),
            ("state", STATE),
        ];
        let query = encoded(&changed(&right, instead));
        get(&format!("{}?{query}", self.endpoint("authorize")))
    }

    fn code(&self, instead: &[(&str, &str)]) -> String {
        let answered = self.authorize(instead);
        let brought = answered.brought("code");
        brought.unwrap_or_else(|| panic!("{answered:?}"))
    }

    fn exchange(&self, code: &str, instead: &[(&str, &str)]) -> Answered {
        let url = self.login.url();
        let right = [
            ("grant_type", "authorization_code"),
            ("client_id", self.client.as_str()),
            ("code", code),
            ("code_verifier", VERIFIER),
            ("redirect_uri", BACK),
            ("resource", &url),
        ];
        post_form(&self.endpoint("token"), &[], &changed(&right, instead))
    }

    fn refresh(&self, token: &str) -> Answered {
        let url = self.login.url();
        let form = [
            ("grant_type", "refresh_token"),
            ("client_id", self.client.as_str()),
            ("refresh_token", token),
            ("resource", &url),
        ];
        post_form(&self.endpoint("token"), &[], &form)
    }

    /// An access token and a refresh token.
    fn tokens(&self) -> (String, String) {
        both(&self.exchange(&self.code(&[]), &[]))
    }
}

/// Parameters with others in their place; an empty value leaves one out.
fn changed<'text>(
    right: &[(&'text str, &'text str)],
    instead: &[(&'text str, &'text str)],
) -> Vec<(&'text str, &'text str)> {
    let mut pairs: Vec<_> = right.to_vec();
    pairs.retain(|(name, _)| !instead.iter().any(|(other, _)| other == name));
    pairs.extend(instead.iter().filter(|(_, value)| !value.is_empty()));
    pairs
}

/// The access token and the refresh token of an answer.
fn both(answered: &Answered) -> (String, String) {
    assert_eq!(answered.status, 200, "{}", answered.json());
    let body = answered.json();
    let text = |name: &str| body[name].as_str().unwrap_or_default().to_owned();
    (text("access_token"), text("refresh_token"))
}
