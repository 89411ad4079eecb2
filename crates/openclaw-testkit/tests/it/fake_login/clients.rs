//! Who clients are, and how they prove it.

use std::time::{SystemTime, UNIX_EPOCH};

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use openclaw_testkit::fake_login::FakeLogin;
use ring::rand::SystemRandom;
use ring::signature::{
    ECDSA_P256_SHA256_FIXED_SIGNING, ECDSA_P384_SHA384_FIXED_SIGNING, EcdsaKeyPair,
    EcdsaSigningAlgorithm, Ed25519KeyPair,
};
use serde_json::{Value, json};

use super::{BACK, Visitor, opens};
use crate::web::{Answered, post_form, post_json};

const ASSERTION: &str = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";

fn on_its_own(login: &FakeLogin, headers: &[(&str, &str)], shown: &[(&str, &str)]) -> Answered {
    let url = login.url();
    let mut form = vec![
        ("grant_type", "client_credentials"),
        ("resource", url.as_str()),
    ];
    form.extend(shown);
    post_form(&format!("{}/token", login.issuer()), headers, &form)
}

fn basic(id: &str, secret: &str) -> String {
    let encoded =
        |text: &str| url::form_urlencoded::byte_serialize(text.as_bytes()).collect::<String>();
    let pair = format!("{}:{}", encoded(id), encoded(secret));
    format!("Basic {}", STANDARD.encode(pair))
}

#[test]
fn a_secret_proves_an_identity_in_the_header_or_in_the_form() {
    let login = FakeLogin::start("--client a/b:s%c:r+t --client public").unwrap();
    let header = basic("a/b", "s%c:r+t");
    let granted = on_its_own(&login, &[("authorization", &header)], &[]);
    assert_eq!(granted.status, 200, "{granted:?}");
    let body = granted.json();
    assert_eq!(body["refresh_token"], Value::Null);
    assert!(opens(&login.url(), body["access_token"].as_str().unwrap()));
    let shown = [("client_id", "a/b"), ("client_secret", "s%c:r+t")];
    assert_eq!(on_its_own(&login, &[], &shown).status, 200);
    assert_eq!(login.counters().client_credentials, 2);
    // What is not encoded is another secret.
    let plain = format!("Basic {}", STANDARD.encode("a/b:s%c:r+t"));
    for (header, shown, error) in [
        (Some(&plain), vec![], "401: invalid_client"),
        (Some(&basic("a/b", "wrong")), vec![], "401: invalid_client"),
        (Some(&header), shown.to_vec(), "400: invalid_request"),
        (
            None,
            vec![("client_id", "a/b"), ("client_secret", "wrong")],
            "401: invalid_client",
        ),
        (None, vec![("client_id", "a/b")], "401: invalid_client"),
        (
            None,
            vec![("client_id", "public")],
            "400: unauthorized_client",
        ),
    ] {
        let headers = header.map(|header| ("authorization", header.as_str()));
        let headers: Vec<_> = headers.into_iter().collect();
        let refused = on_its_own(&login, &headers, &shown);
        assert_eq!(refused.error(), error, "{header:?} {shown:?}");
    }
    login
        .set_flags("--client a/b:s%c:r+t --authentication client_secret_post")
        .unwrap();
    let refused = on_its_own(&login, &[("authorization", &header)], &[]);
    assert_eq!(refused.error(), "401: invalid_client");
}

/// Something signed by a key that was made for it, with its public half.
fn signed(algorithm: &'static EcdsaSigningAlgorithm, claims: &Value) -> (String, String) {
    let random = SystemRandom::new();
    let (kind, name) = if std::ptr::eq(algorithm, &raw const ECDSA_P256_SHA256_FIXED_SIGNING) {
        (&rcgen::PKCS_ECDSA_P256_SHA256, "ES256")
    } else {
        (&rcgen::PKCS_ECDSA_P384_SHA384, "ES384")
    };
    let made = rcgen::KeyPair::generate_for(kind).unwrap();
    let pair = EcdsaKeyPair::from_pkcs8(algorithm, &made.serialize_der(), &random).unwrap();
    let part = |json: &Value| URL_SAFE_NO_PAD.encode(json.to_string());
    let text = format!("{}.{}", part(&json!({ "alg": name })), part(claims));
    let signature = pair.sign(&random, text.as_bytes()).unwrap();
    let text = format!("{text}.{}", URL_SAFE_NO_PAD.encode(signature));
    (text, made.public_key_pem())
}

fn claims(audience: &str) -> Value {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    json!({
        "iss": "signer", "sub": "signer", "aud": audience, "jti": audience,
        "iat": now.as_secs(), "exp": now.as_secs() + 60,
    })
}

#[test]
fn a_signature_proves_an_identity_once() {
    let login = FakeLogin::start("").unwrap();
    let endpoint = format!("{}/token", login.issuer());
    let show = |text: &str| {
        let shown = [
            ("client_assertion_type", ASSERTION),
            ("client_assertion", text),
        ];
        on_its_own(&login, &[], &shown)
    };
    for (algorithm, audience) in [
        (&ECDSA_P256_SHA256_FIXED_SIGNING, login.issuer()),
        (&ECDSA_P384_SHA384_FIXED_SIGNING, endpoint),
    ] {
        let (text, public) = signed(algorithm, &claims(&audience));
        login.add_key("signer", &public).unwrap();
        assert_eq!(show(&text).status, 200);
        assert_eq!(show(&text).error(), "401: invalid_client");
    }
    let (text, _) = signed(
        &ECDSA_P256_SHA256_FIXED_SIGNING,
        &claims("https://somebody-else.example"),
    );
    assert_eq!(show(&text).error(), "401: invalid_client");
    assert_eq!(show("no.jwt.").error(), "401: invalid_client");
    // A key that is no key is not taken.
    assert!(login.add_key("signer", "no PEM").is_err());
    let random = SystemRandom::new();
    let private = Ed25519KeyPair::generate_pkcs8(&random).unwrap();
    let private = STANDARD.encode(private.as_ref());
    let pem = format!("-----BEGIN PUBLIC KEY-----\n{private}\n-----END PUBLIC KEY-----");
    assert!(login.add_key("signer", &pem).is_err());
}

#[test]
fn who_registers_gets_what_was_asked_for_and_can_be_had() {
    let login = FakeLogin::start("--secret-lifetime 60").unwrap();
    let register = |metadata: Value| post_json(&format!("{}/register", login.issuer()), &metadata);
    let registered = register(json!({ "redirect_uris": [BACK] })).json();
    // Without a word about it, this is meant (RFC 7591 §2).
    assert_eq!(
        registered["token_endpoint_auth_method"],
        "client_secret_basic"
    );
    assert!(registered["client_secret_expires_at"].as_u64().unwrap() > 1_700_000_000);
    let id = registered["client_id"].as_str().unwrap();
    let secret = registered["client_secret"].as_str().unwrap();
    let header = basic(id, secret);
    assert_eq!(
        on_its_own(&login, &[("authorization", &header)], &[]).status,
        200
    );
    let in_form = [("client_id", id), ("client_secret", secret)];
    let refused = on_its_own(&login, &[], &in_form);
    assert_eq!(refused.error(), "401: invalid_client");
    for metadata in [
        json!({}),
        json!([]),
        json!({ "redirect_uris": [] }),
        json!({ "redirect_uris": ["http://example.com/callback"] }),
        json!({ "redirect_uris": [BACK], "grant_types": ["implicit"] }),
        json!({ "redirect_uris": [BACK], "token_endpoint_auth_method": "tls_client_auth" }),
    ] {
        assert_eq!(register(metadata.clone()).status, 400, "{metadata}");
    }
    assert_eq!(login.counters().registrations, 1);
}

#[test]
fn an_address_of_a_document_is_a_client_where_documents_are_taken() {
    let login = FakeLogin::start("").unwrap();
    let mut visitor = Visitor::new(&login);
    "https://client.example/openclaw.json".clone_into(&mut visitor.client);
    assert_eq!(visitor.authorize(&[]).status, 400);
    login.set_flags("--documents").unwrap();
    let (access, _) = visitor.tokens();
    assert!(opens(&login.url(), &access));
    "https://client.example/".clone_into(&mut visitor.client);
    assert_eq!(visitor.authorize(&[]).status, 400);
}
