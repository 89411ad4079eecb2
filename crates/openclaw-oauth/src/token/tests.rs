use openclaw_testkit::stand_in::{Answer, Asked, StandIn};
use serde_json::{Value as Json, json};

use super::*;
use crate::client::{Authentication, Client};
use crate::error::Remedy;
use crate::resource::ConfiguredKeys;
use crate::testing::{asking, fields, public_client, url};

const RESOURCE: &str = "https://mcp.example.com/mcp";

fn code<'a>(code: &'a Secret, verifier: &'a Secret) -> TokenGrant<'a> {
    TokenGrant::Code {
        code,
        verifier,
        redirect_uri: "http://127.0.0.1:7/callback",
    }
}

/// Asks for a token with a grant, and says what was asked and what came of it.
async fn ask_with(
    answer: Answer,
    client: &Client,
    grant: TokenGrant<'_>,
) -> (Asked, Result<TokenAnswer, OAuthError>) {
    let server = StandIn::start(move |_| answer.clone()).unwrap();
    let endpoint = url(&format!("{}/token?tenant=1", server.origin()));
    let keys = ConfiguredKeys {
        secret: Some(Secret::new("client-s3cr3t")),
        private_key: None,
    };
    let request = TokenRequest {
        endpoint: &endpoint,
        grant,
        proof: Proof {
            client,
            keys: &keys,
            key_id: None,
            issuer: "https://auth.example.com",
            signing_algorithms: &[],
            now: 0,
        },
        resource: RESOURCE,
        scopes: &["a".to_owned(), "b".to_owned()],
    };
    let result = request.send(&asking(&server.origin())).await;
    let result = result.map_err(|nothing| {
        let error = nothing.error;
        // So that a test can say what is expected.
        let text = error.to_string().replace(&server.origin(), "SERVER");
        let same = match error.remedy() {
            Remedy::Wait => OAuthError::passing(text),
            Remedy::LogIn => OAuthError::login_needed(text),
            Remedy::Register => OAuthError::client_unknown(text),
            Remedy::Change => OAuthError::lasting(text),
        };
        match error.hint_text() {
            Some(hint) => same.hint(hint),
            None => same,
        }
    });
    let mut asked = server.asked();
    assert_eq!(asked.len(), 1);
    (asked.remove(0), result)
}

async fn refresh(answer: Answer) -> Result<TokenAnswer, OAuthError> {
    let token = Secret::new("r3fresh-token");
    let client = public_client(Registration::Dynamic);
    let grant = TokenGrant::Refresh { token: &token };
    ask_with(answer, &client, grant).await.1
}

fn granted(fields: &Json) -> Answer {
    let mut answer = json!({ "access_token": "t0ken", "token_type": "Bearer" });
    let fields = fields.as_object().unwrap().clone();
    answer.as_object_mut().unwrap().extend(fields);
    Answer::json(200, &answer)
}

fn pairs(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    let pairs = pairs.iter();
    pairs
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
        .collect()
}

#[tokio::test]
async fn each_grant_is_asked_for_in_its_own_way() {
    let client = public_client(Registration::Configured);
    let (one, two) = (Secret::new("c0de"), Secret::new("verifier"));
    let (asked, _) = ask_with(granted(&json!({})), &client, code(&one, &two)).await;
    assert_eq!(
        (asked.path.as_str(), asked.query.as_str()),
        ("/token", "tenant=1")
    );
    assert_eq!(
        fields(&asked),
        pairs(&[
            ("grant_type", "authorization_code"),
            ("code", "c0de"),
            ("code_verifier", "verifier"),
            ("redirect_uri", "http://127.0.0.1:7/callback"),
            ("resource", RESOURCE),
            ("client_id", "client-1"),
        ])
    );
    let grant = TokenGrant::Refresh { token: &one };
    let (asked, _) = ask_with(granted(&json!({})), &client, grant).await;
    assert_eq!(
        fields(&asked),
        pairs(&[
            ("grant_type", "refresh_token"),
            ("refresh_token", "c0de"),
            ("resource", RESOURCE),
            ("client_id", "client-1"),
        ])
    );
    let client = Client {
        authentication: Authentication::ClientSecretBasic,
        ..client
    };
    let grant = TokenGrant::ClientCredentials;
    let (asked, _) = ask_with(granted(&json!({})), &client, grant).await;
    assert_eq!(
        fields(&asked),
        pairs(&[
            ("grant_type", "client_credentials"),
            ("scope", "a b"),
            ("resource", RESOURCE),
            ("client_id", "client-1"),
        ])
    );
    assert_eq!(
        asked.header("authorization"),
        Some("Basic Y2xpZW50LTE6Y2xpZW50LXMzY3IzdA==")
    );
}

#[tokio::test]
async fn what_is_granted_is_taken() {
    let scopes = vec!["a".to_owned(), "b".to_owned()];
    let lean = TokenAnswer {
        access_token: Secret::new("t0ken"),
        refresh_token: None,
        lifetime: None,
        scopes,
    };
    let full = TokenAnswer {
        refresh_token: Some(Secret::new("next")),
        lifetime: Some(60),
        scopes: vec!["a".to_owned()],
        ..lean.clone()
    };
    let form = "access_token=t0ken&token_type=bearer&refresh_token=next&expires_in=60&scope=a";
    for (answer, expected) in [
        (granted(&json!({})), &lean),
        (granted(&json!({ "token_type": "bEARER" })), &lean),
        (granted(&json!({ "token_type": null })), &lean),
        (granted(&json!({ "refresh_token": "", "scope": "" })), &lean),
        (
            granted(&json!({ "refresh_token": "next", "expires_in": "60", "scope": "a" })),
            &full,
        ),
        (
            Answer::bytes(200, "application/x-www-form-urlencoded", form),
            &full,
        ),
    ] {
        let body = answer.body.clone();
        assert_eq!(refresh(answer).await.as_ref(), Ok(expected), "{body:?}");
    }
}

#[tokio::test]
async fn what_can_not_be_used_is_not_taken() {
    for (answer, expected) in [
        (
            granted(&json!({ "token_type": "DPoP" })),
            "it is of the type `DPoP`, not `Bearer`",
        ),
        (
            granted(&json!({ "access_token": "" })),
            "there is none in the answer",
        ),
        (
            granted(&json!({ "access_token": 7 })),
            "there is none in the answer",
        ),
        (
            granted(&json!({ "access_token": "a\r\nb" })),
            "it has characters that can't be sent",
        ),
    ] {
        let error = refresh(answer).await.unwrap_err();
        assert_eq!(error.remedy(), Remedy::Change);
        assert_eq!(
            error.to_string(),
            format!("SERVER/token gives no usable token: {expected}")
        );
    }
}

#[tokio::test]
async fn a_page_of_somebody_in_between_is_waited_out() {
    for answer in [
        Answer::bytes(200, "text/html", "<html>"),
        Answer::json(200, &json!(["t0ken"])),
    ] {
        let error = refresh(answer).await.unwrap_err();
        assert_eq!(error.remedy(), Remedy::Wait);
        assert_eq!(
            error.to_string(),
            "SERVER/token gives no usable token: its answer is not a JSON object"
        );
    }
}

#[tokio::test]
async fn refusals_are_told_apart_by_what_helps() {
    let said = |status, code: &str| Answer::json(status, &json!({ "error": code }));
    for (answer, remedy, words) in [
        (said(400, "invalid_grant"), Remedy::LogIn, "`invalid_grant`"),
        // Some say that all is well, and that it is not.
        (
            said(200, "bad_refresh_token"),
            Remedy::LogIn,
            "`bad_refresh_token`",
        ),
        (
            said(400, "interaction_required"),
            Remedy::LogIn,
            "`interaction_required`",
        ),
        (
            said(401, "invalid_client"),
            Remedy::Register,
            "`invalid_client`",
        ),
        (
            said(400, "unauthorized_client"),
            Remedy::Register,
            "`unauthorized_client`",
        ),
        (
            said(400, "invalid_scope"),
            Remedy::Change,
            "`invalid_scope`",
        ),
        (
            said(400, "invalid_target"),
            Remedy::Change,
            "`invalid_target`",
        ),
        (
            said(400, "temporarily_unavailable"),
            Remedy::Wait,
            "`temporarily_unavailable`",
        ),
        // It failed: what it says about the token may be wrong, and the token may be good.
        (said(500, "invalid_grant"), Remedy::Wait, "`invalid_grant`"),
        (said(429, "x"), Remedy::Wait, "`x`"),
        (
            Answer::bytes(502, "text/html", "<html>"),
            Remedy::Wait,
            "status 502, without a reason",
        ),
        (
            Answer::bytes(408, "text/html", ""),
            Remedy::Wait,
            "status 408, without a reason",
        ),
        (
            Answer::bytes(425, "text/html", ""),
            Remedy::Wait,
            "status 425, without a reason",
        ),
        (
            Answer::bytes(403, "text/html", "<html>"),
            Remedy::Change,
            "status 403, without a reason",
        ),
        (
            Answer::bytes(401, "text/plain", "no"),
            Remedy::Change,
            "status 401, without a reason",
        ),
        (
            Answer::bytes(307, "", "").header("location", "https://evil.example.com/"),
            Remedy::Change,
            "status 307: it leads elsewhere, and that is not followed",
        ),
        (
            Answer::bytes(
                200,
                "application/x-www-form-urlencoded",
                "error=invalid_grant&error_description=too+old",
            ),
            Remedy::LogIn,
            "`invalid_grant`: too old",
        ),
    ] {
        let error = refresh(answer).await.unwrap_err();
        assert_eq!(
            error.to_string(),
            format!("SERVER/token gives no token: {words}")
        );
        assert_eq!(error.remedy(), remedy, "{words}");
    }
}

#[tokio::test]
async fn a_client_that_somebody_registered_is_not_registered_anew() {
    for (registration, hint) in [
        (Registration::Configured, "check `auth.clientId`"),
        (Registration::MetadataDocument, "check the document"),
    ] {
        let answer = Answer::json(401, &json!({ "error": "invalid_client" }));
        let grant = TokenGrant::ClientCredentials;
        let (_, result) = ask_with(answer, &public_client(registration), grant).await;
        let error = result.unwrap_err();
        assert_eq!(error.remedy(), Remedy::Change);
        assert!(error.hint_text().unwrap().starts_with(hint), "{error:?}");
    }
}

#[tokio::test]
async fn nothing_that_was_sent_is_in_what_is_told() {
    let secrets = ["very-secret-code", "very-secret-verifier", "client-s3cr3t"];
    let answer = json!({
        "error": format!("wrong_{}", secrets[0]),
        "error_description": format!("the client sent {}", secrets.join(" and ")),
    });
    let client = Client {
        authentication: Authentication::ClientSecretPost,
        ..public_client(Registration::Configured)
    };
    for status in [400, 200, 503] {
        let (one, two) = (Secret::new(secrets[0]), Secret::new(secrets[1]));
        let answer = Answer::json(status, &answer);
        let (asked, result) = ask_with(answer, &client, code(&one, &two)).await;
        for secret in secrets {
            assert!(String::from_utf8_lossy(&asked.body).contains(secret));
        }
        let error = format!("{:?}", result.unwrap_err());
        assert!(error.contains("[REDACTED]"), "{error}");
        for secret in secrets {
            assert!(!error.contains(secret), "{error}");
        }
    }
}
