//! Clients that log in on their own account, without a person.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use openclaw_testkit::leaks::wait_until;
use ring::rand::SystemRandom;
use ring::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair, KeyPair};
use serde_json::{Value as Json, json};

use super::{CALL, LoginLab};
use crate::lab::SOON;

const SECRET: &str = "a-secret%of+some/length";

/// What stands before the bytes of a public key (RFC 5280 §4.1.2.7).
const P256: &[u8] = &[
    0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01, 0x06, 0x08, 0x2a,
    0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00,
];
const ED25519: &[u8] = &[
    0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00,
];

fn pem(kind: &str, bytes: &[u8]) -> String {
    let text = STANDARD.encode(bytes);
    let lines: Vec<&str> = text
        .as_bytes()
        .chunks(64)
        .map(|line| std::str::from_utf8(line).unwrap())
        .collect();
    let lines = lines.join("\n");
    format!("-----BEGIN {kind}-----\n{lines}\n-----END {kind}-----\n")
}

/// Two private keys, each with its public half.
pub(super) fn keys() -> [(String, String); 2] {
    let random = SystemRandom::new();
    let both = |private: &[u8], kind: &[u8], public: &[u8]| {
        let public = [kind, public].concat();
        (pem("PRIVATE KEY", private), pem("PUBLIC KEY", &public))
    };
    let kind = &ECDSA_P256_SHA256_FIXED_SIGNING;
    let first = EcdsaKeyPair::generate_pkcs8(kind, &random).unwrap();
    let pair = EcdsaKeyPair::from_pkcs8(kind, first.as_ref(), &random).unwrap();
    let first = both(first.as_ref(), P256, pair.public_key().as_ref());
    let second = Ed25519KeyPair::generate_pkcs8(&random).unwrap();
    let pair = Ed25519KeyPair::from_pkcs8(second.as_ref()).unwrap();
    let second = both(second.as_ref(), ED25519, pair.public_key().as_ref());
    [first, second]
}

/// A client with a secret in a file.
fn with_secret(flags: &str) -> LoginLab {
    let auth = json!({
        "grantType": "client_credentials",
        "clientId": "mine",
        "clientSecret": "secret://file/~/secret",
    });
    let flags = format!("--client mine:{SECRET} {flags}");
    let lab = LoginLab::with(&flags, &json!({ "auth": auth }));
    lab.lab.home.write("secret", &format!("{SECRET}\n"));
    lab
}

/// Whether the secret came in the header or in the form.
fn came_in_header(lab: &LoginLab) -> bool {
    let asked = lab.server.asked();
    let asked = asked.iter().rfind(|it| it.path.ends_with("/token"));
    asked.unwrap().header("authorization").is_some()
}

#[test]
fn a_client_with_a_secret_needs_nobody_to_log_in() {
    for (method, is_header) in [("client_secret_basic", true), ("client_secret_post", false)] {
        let lab = with_secret(&format!("--authentication {method}"));
        lab.calls();
        assert_eq!(came_in_header(&lab), is_header, "{method}");
        let status = lab.status();
        assert_eq!(status["state"], "ready", "{status:#}");
        assert_eq!(status["scopes"], json!(["tools"]));
        let counters = lab.counters();
        assert_eq!(counters.client_credentials, 1, "what was granted is kept");
        assert_eq!((counters.registrations, counters.authorizations), (0, 0));
    }
}

#[test]
fn a_client_with_a_private_key_needs_nobody_to_log_in() {
    for (private, public) in keys() {
        let auth: Json = json!({
            "grantType": "client_credentials",
            "clientId": "signer",
            "privateKey": "secret://file/~/key.pem",
            "keyId": "first",
        });
        let lab = LoginLab::with("--authentication private_key_jwt", &json!({ "auth": auth }));
        lab.lab.home.write("key.pem", &private);
        lab.server.add_key("signer", &public).unwrap();
        lab.calls();
        lab.server.revoke_access();
        lab.calls();
        assert_eq!(lab.counters().client_credentials, 2);
    }
}

#[test]
fn more_scopes_are_got_without_a_person() {
    let lab = with_secret("");
    lab.calls();
    lab.done(&["mcp", "call", "fake/admin"]);
    assert_eq!(lab.counters().forbidden, 1);
    let scopes = lab.status()["scopes"].clone();
    assert_eq!(scopes.as_array().unwrap().len(), 2, "{scopes}");
    // Also after what was granted has ended.
    lab.server.revoke_access();
    lab.done(&["mcp", "call", "fake/admin"]);
    assert_eq!(lab.counters().client_credentials, 3);
    assert_eq!(lab.counters().forbidden, 1);
}

#[test]
fn what_expires_is_got_anew() {
    let lab = with_secret("--lifetime 2");
    assert!(wait_until(SOON, || {
        lab.calls();
        lab.counters().client_credentials >= 3
    }));
}

#[test]
fn a_secret_that_is_wrong_is_told_and_a_right_one_works_at_once() {
    let lab = with_secret("");
    lab.lab.home.write("secret", "another secret");
    let run = lab.run(&CALL);
    assert_eq!(run.code, Some(1), "{run}");
    assert!(run.stderr.contains("`invalid_client`"), "{run}");
    assert!(run.stderr.contains("auth.clientId"), "{run}");
    assert!(!run.stderr.contains("mcp auth"), "nobody can log in: {run}");
    assert!(!run.to_string().contains("another secret"), "{run}");
    lab.lab.home.write("secret", SECRET);
    lab.calls();
}

#[test]
fn nobody_logs_in_where_the_client_does() {
    let lab = with_secret("");
    let run = lab.run(&["mcp", "auth", "fake"]);
    assert_eq!(run.code, Some(1), "{run}");
    assert!(run.stderr.contains("client_credentials"), "{run}");
    assert_eq!(lab.counters().token_requests, 0);
}

#[test]
fn a_client_gives_back_what_it_was_granted() {
    let lab = with_secret("");
    lab.calls();
    let run = lab.done(&["mcp", "logout", "fake"]);
    assert!(
        run.stdout.contains("also at the authorization server"),
        "{run}"
    );
    assert_eq!(lab.counters().revocations, 1);
}
