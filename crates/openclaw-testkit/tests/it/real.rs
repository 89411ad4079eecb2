//! Servers that nobody here wrote, and what is odd about them: whoever logs in to them relies on it.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use openclaw_testkit::LoginPartner;
use openclaw_testkit::leaks::wait_until;
use ring::digest::{SHA256, digest};
use serde_json::{Value, json};

use crate::conversation::{PATIENCE, introduction};
use crate::web::{Answered, ask, encoded, get, post_form, post_json};

/// Long enough for what has to happen meanwhile, and short enough to wait for its end.
const LIFETIME: Duration = Duration::from_secs(5);
const BACK: &str = "http://127.0.0.1:9/callback";
const VERIFIER: &str = "a-verifier-that-is-long-enough-to-be-a-proper-one";

/// A client that found out everything by itself and has registered.
struct Visitor {
    url: String,
    resource: Value,
    server: Value,
    client: String,
}

impl Visitor {
    fn of(partner: &LoginPartner) -> Self {
        let url = partner.url().to_owned();
        let refused = ask(&url, None, "initialize", &introduction("2025-11-25"));
        assert_eq!(refused.status, 401);
        let challenge = refused.header("www-authenticate").unwrap();
        let (_, rest) = challenge.split_once("resource_metadata=\"").unwrap();
        let (address, _) = rest.split_once('"').unwrap();
        let resource = get(address).json();
        assert_eq!(resource["resource"], json!(url));
        let issuer = resource["authorization_servers"][0].as_str().unwrap();
        let place = ".well-known/oauth-authorization-server";
        let server = get(&format!("{issuer}{place}")).json();
        assert_eq!(server["issuer"], json!(issuer));
        let metadata = json!({
            "redirect_uris": [BACK],
            "token_endpoint_auth_method": "none",
            "grant_types": ["authorization_code", "refresh_token"],
            "scope": resource["scopes_supported"][0],
        });
        let endpoint = server["registration_endpoint"].as_str().unwrap();
        let registered = post_json(endpoint, &metadata);
        assert_eq!(registered.status, 201, "{registered:?}");
        let client = registered.json()["client_id"].as_str().unwrap().to_owned();
        Self {
            url,
            resource,
            server,
            client,
        }
    }

    fn endpoint(&self, name: &str) -> &str {
        self.server[name].as_str().unwrap()
    }

    fn authorize(&self) -> Answered {
        let challenge = URL_SAFE_NO_PAD.encode(digest(&SHA256, VERIFIER.as_bytes()));
        let query = encoded(&[
            ("response_type", "code"),
            ("client_id", &self.client),
            ("redirect_uri", BACK),
            ("code_challenge", &challenge),
            ("code_challenge_method", "S256"),
            ("resource", &self.url),
            (
                "scope",
                self.resource["scopes_supported"][0].as_str().unwrap(),
            ),
            ("state", "a-state"),
        ]);
        let endpoint = self.endpoint("authorization_endpoint");
        get(&format!("{endpoint}?{query}"))
    }

    fn token(&self, form: &[(&str, &str)]) -> Answered {
        let mut all = vec![
            ("client_id", self.client.as_str()),
            ("resource", self.url.as_str()),
        ];
        all.extend(form);
        post_form(self.endpoint("token_endpoint"), &[], &all)
    }

    fn exchange(&self, code: &str) -> Answered {
        self.token(&[
            ("grant_type", "authorization_code"),
            ("code", code),
            ("code_verifier", VERIFIER),
            ("redirect_uri", BACK),
        ])
    }

    fn log_in(&self) -> Value {
        let back = self.authorize();
        assert_eq!(back.brought("state").as_deref(), Some("a-state"));
        let given = self.exchange(&back.brought("code").unwrap());
        assert_eq!(given.status, 200, "{given:?}");
        given.json()
    }

    fn refresh(&self, tokens: &Value) -> Answered {
        let token = tokens["refresh_token"].as_str().unwrap();
        self.token(&[("grant_type", "refresh_token"), ("refresh_token", token)])
    }

    /// The status of a request with this access token.
    fn status(&self, tokens: &Value) -> u16 {
        let token = tokens["access_token"].as_str();
        let params = introduction("2025-11-25");
        ask(&self.url, token, "initialize", &params).status
    }
}

#[test]
fn fastmcp_rotates_refresh_tokens_and_forgets_them_with_an_expired_access_token() {
    let partner = LoginPartner::fastmcp(LIFETIME).unwrap();
    let visitor = Visitor::of(&partner);
    let methods = "token_endpoint_auth_methods_supported";
    let supported = json!(["client_secret_post", "client_secret_basic"]);
    assert_eq!(visitor.server[methods], supported);
    assert_eq!(visitor.authorize().brought("iss"), None);
    let first = visitor.log_in();
    assert_eq!(
        (&first["expires_in"], visitor.status(&first)),
        (&json!(5), 200)
    );
    let second = visitor.refresh(&first).json();
    assert_eq!(visitor.refresh(&first).error(), "401: invalid_grant");
    assert_eq!(
        (visitor.status(&first), visitor.status(&second)),
        (401, 200)
    );
    let has_expired = || visitor.status(&second) == 401;
    assert!(wait_until(2 * PATIENCE, has_expired));
    assert_eq!(visitor.refresh(&second).error(), "401: invalid_grant");
    let third = visitor.log_in();
    let give_back = |secret: &[(&str, &str)]| {
        let token = third["refresh_token"].as_str().unwrap();
        let mut form = vec![("token", token), ("client_id", visitor.client.as_str())];
        form.extend(secret);
        post_form(visitor.endpoint("revocation_endpoint"), &[], &form).status
    };
    assert_eq!(give_back(&[]), 400);
    assert_eq!(give_back(&[("client_secret", "")]), 200);
    let counters = get(&partner.counters_url().unwrap()).json();
    let left = json!({ "clients": 1, "access_tokens": 0, "refresh_tokens": 0 });
    assert_eq!(counters, left);
}

#[test]
fn the_typescript_sdk_has_no_refresh_tokens_and_fails_where_a_token_is_no_good() {
    let partner = LoginPartner::typescript_sdk(LIFETIME).unwrap();
    let visitor = Visitor::of(&partner);
    assert_eq!(visitor.server.get("revocation_endpoint"), None);
    let back = visitor.authorize();
    assert_eq!(back.brought("iss"), None);
    let code = back.brought("code").unwrap();
    let tokens = visitor.exchange(&code).json();
    assert_eq!(
        (&tokens["expires_in"], &tokens["token_type"]),
        (&json!(5), &json!("bearer"))
    );
    assert_eq!(tokens.get("refresh_token"), None);
    assert_eq!(visitor.exchange(&code).error(), "500: server_error");
    assert_eq!(visitor.status(&tokens), 200);
    let has_expired = || visitor.status(&tokens) == 500;
    assert!(wait_until(2 * PATIENCE, has_expired));
    assert_eq!(partner.counters_url(), None);
}
