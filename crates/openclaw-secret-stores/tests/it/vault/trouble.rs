//! Servers that do not answer as they should.

use std::time::{Duration, Instant};

use openclaw_secret_stores::SecretErrorKind;
use openclaw_testkit::fake_vault::Condition;
use openclaw_testkit::stand_in::{Answer, StandIn};
use serde_json::json;

use super::{TOKEN, assert_says, house, trusted, vault};
use crate::house::House;

#[tokio::test]
async fn a_sealed_server_is_not_asked_again() {
    let vault = vault();
    vault.world().condition = Condition::Sealed;
    let house = trusted(&vault);
    let error = house.get("secret://vault/secret/app").await.unwrap_err();
    let words = [&vault.origin(), "is sealed", "run `vault operator unseal`"];
    assert_says(&error, SecretErrorKind::Unavailable, &words);
    assert_eq!(vault.paths().len(), 2, "{:?}", vault.paths());
    vault.world().condition = Condition::Ready;
    house.get("secret://vault/secret/app").await.unwrap();
}

#[tokio::test]
async fn a_server_without_a_key_is_said_to_be_that() {
    let vault = vault();
    vault.world().condition = Condition::Uninitialised;
    let error = trusted(&vault).get("secret://vault/secret/app").await;
    let words = ["is not initialised", "run `vault operator init`"];
    assert_says(&error.unwrap_err(), SecretErrorKind::Unavailable, &words);
}

#[tokio::test]
async fn a_token_is_not_taken_to_another_server() {
    let active = StandIn::start(|_| Answer::json(200, &json!({}))).unwrap();
    let vault = vault();
    vault.world().condition = Condition::Standby(active.origin());
    vault
        .world()
        .role("role", "secret-id-of-role", 3600, &["*"]);
    let login = [
        ("VAULT_ROLE_ID", "role"),
        ("VAULT_SECRET_ID", "secret-id-of-role"),
    ];
    for house in [trusted(&vault), house(&vault, &login)] {
        let error = house.get("secret://vault/secret/app").await.unwrap_err();
        let there = active.origin();
        let words = ["sends us on to", &there, "`VAULT_ADDR`", "standby"];
        assert_says(&error, SecretErrorKind::Unavailable, &words);
    }
    assert_eq!(vault.paths().len(), 2);
    assert!(active.asked().is_empty());
}

#[tokio::test]
async fn the_same_server_may_send_us_on() {
    let vault = vault();
    let there = "/v1/sys/internal/ui/mounts/secret/app?again=1";
    let moved = Answer::bytes(307, "text/plain", "").header("location", there);
    vault.world().next.push_back(moved);
    let house = trusted(&vault);
    house.get("secret://vault/secret/app").await.unwrap();
    let asked = vault.asked();
    assert_eq!(asked.len(), 3);
    assert_eq!(asked[1].query, "again=1");
    assert_eq!(asked[1].header("x-vault-token"), Some(TOKEN));
    // But not in a circle.
    let again = Answer::bytes(307, "text/plain", "").header("location", there);
    vault.world().always = Some(("secret".to_owned(), again));
    let error = house.get("secret://vault/secret/app").await.unwrap_err();
    assert_says(&error, SecretErrorKind::Misconfigured, &["status 307"]);
    assert_eq!(vault.asked().len(), 5);
}

#[tokio::test]
async fn what_passes_is_waited_for() {
    for answer in [
        Answer::json(429, &json!({ "errors": ["rate limit quota exceeded"] })),
        Answer::json(
            412,
            &json!({ "errors": ["required index state not present"] }),
        ),
        Answer::json(473, &json!({ "errors": [] })),
        Answer::json(500, &json!({ "errors": ["internal error"] })),
        Answer::bytes(502, "text/html", "<html>bad gateway</html>"),
        Answer::json(
            503,
            &json!({ "errors": ["no active Vault instance found"] }),
        ),
        Answer::json(
            400,
            &json!({ "errors": ["Upgrading from non-versioned to versioned data."] }),
        ),
    ] {
        let vault = vault();
        vault.world().next.extend([answer.clone(), answer.clone()]);
        let found = trusted(&vault).get("secret://vault/secret/app").await;
        assert_eq!(found.unwrap(), "of version two", "{answer:?}");
        assert_eq!(vault.paths().len(), 4);
    }
}

#[tokio::test]
async fn a_server_says_when_to_come_back() {
    let vault = vault();
    let busy = Answer::json(429, &json!({ "errors": [] })).header("retry-after", "1");
    vault.world().next.push_back(busy);
    let begin = Instant::now();
    trusted(&vault)
        .get("secret://vault/secret/app")
        .await
        .unwrap();
    assert!(begin.elapsed() >= Duration::from_secs(1));
}

#[tokio::test]
async fn what_does_not_pass_in_time_is_the_answer() {
    let vault = vault();
    let busy = Answer::json(429, &json!({ "errors": [] })).header("retry-after", "60");
    vault.world().always = Some(("secret/".to_owned(), busy));
    let mut house = trusted(&vault);
    let begin = Instant::now();
    let error = house.get("secret://vault/secret/app").await.unwrap_err();
    let words = ["is asked too much (status 429)"];
    assert_says(&error, SecretErrorKind::Unavailable, &words);
    assert!(begin.elapsed() < Duration::from_secs(5));

    house.settings.timeout = Duration::from_secs(2);
    vault.world().always = None;
    vault.world().condition = Condition::StandbyAlone;
    let error = house.get("secret://vault/secret/app").await.unwrap_err();
    let words = ["is a standby, and there is no active server"];
    assert_says(&error, SecretErrorKind::Unavailable, &words);

    vault.world().condition = Condition::Ready;
    let broken = Answer::json(500, &json!({ "errors": ["\u{1b}[31mbroken\n storage"] }));
    vault.world().always = Some(("secret/".to_owned(), broken));
    let error = house.get("secret://vault/secret/app").await.unwrap_err();
    let words = ["answers with status 500: broken storage"];
    assert_says(&error, SecretErrorKind::Unavailable, &words);
    assert!(!error.to_string().contains('\u{1b}'));
}

#[tokio::test]
async fn who_is_not_there_is_named() {
    // The port was free a moment ago, and belongs to nobody now.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    let mut house = House::new(&[("VAULT_ADDR", &address), ("VAULT_TOKEN", TOKEN)]);
    house.settings.timeout = Duration::from_secs(2);
    let error = house.get("secret://vault/secret/app").await.unwrap_err();
    let words = [&address, "refused", "check `VAULT_ADDR`"];
    assert_says(&error, SecretErrorKind::Unavailable, &words);
}

#[tokio::test]
async fn a_server_that_says_nothing_is_left() {
    let vault = vault();
    let never = Answer::json(200, &json!({})).after(Duration::from_hours(1));
    vault.world().always = Some(("secret/data".to_owned(), never.clone()));
    let mut house = trusted(&vault);
    house.settings.timeout = Duration::from_millis(300);
    let begin = Instant::now();
    let error = house.get("secret://vault/secret/app").await.unwrap_err();
    let words = [&vault.origin(), "did not answer in time"];
    assert_says(&error, SecretErrorKind::Unavailable, &words);
    assert!(begin.elapsed() < Duration::from_secs(3));
    // Nobody waits for who has given up: neither for a turn, nor for a login.
    vault.world().always = Some(("login".to_owned(), never));
    vault
        .world()
        .role("role", "secret-id-of-role", 3600, &["*"]);
    let login = [
        ("VAULT_ROLE_ID", "role"),
        ("VAULT_SECRET_ID", "secret-id-of-role"),
    ];
    let mut waiting = self::house(&vault, &login);
    waiting.settings.timeout = Duration::from_millis(300);
    assert!(waiting.get("secret://vault/secret/app").await.is_err());
    vault.world().always = None;
    waiting.settings.timeout = Duration::from_secs(10);
    waiting.get("secret://vault/secret/app").await.unwrap();
    house.settings.timeout = Duration::from_secs(10);
    house.get("secret://vault/secret/app").await.unwrap();
}

#[tokio::test]
async fn who_is_not_vault_is_said_to_be_that() {
    let deep = "[".repeat(100_000);
    let page = "<html>welcome to the coffee machine, hunter2-hunter2</html>";
    for (status, body) in [
        (200, page),
        (404, page),
        (200, ""),
        (204, ""),
        (200, deep.as_str()),
    ] {
        let vault = vault();
        let answer = Answer::bytes(status, "text/html", body.to_owned());
        vault.world().always = Some((String::new(), answer));
        let error = trusted(&vault).get("secret://vault/secret/app").await;
        let error = error.unwrap_err();
        let words = ["does not answer as Vault does", "check `VAULT_ADDR`"];
        assert_says(&error, SecretErrorKind::Misconfigured, &words);
        assert!(!error.to_string().contains("hunter2"), "{error}");
    }
    let vault = vault();
    let plain = "Client sent an HTTP request to an HTTPS server.\n";
    vault.world().always = Some((String::new(), Answer::bytes(400, "text/plain", plain)));
    let error = trusted(&vault).get("secret://vault/secret/app").await;
    let words = ["write `https://` in `VAULT_ADDR`"];
    assert_says(&error.unwrap_err(), SecretErrorKind::Misconfigured, &words);
}

#[tokio::test]
async fn documents_of_any_shape_are_survived() {
    for document in [
        json!(null),
        json!([]),
        json!("text"),
        json!({ "data": null }),
        json!({ "data": [] }),
        json!({ "data": { "path": 1, "type": 2 } }),
        json!({ "data": { "path": "", "type": "kv", "options": { "version": 3 } } }),
        json!({ "data": { "path": "////", "type": "kv", "options": [] } }),
        json!({ "data": { "path": "äö/ü/", "type": "kv" } }),
        json!({ "data": { "data": null, "metadata": null } }),
        json!({ "data": { "data": null, "metadata": { "version": -1 } } }),
        json!({ "errors": "text" }),
        json!({ "errors": [1, null, {}] }),
    ] {
        for status in [200, 400, 403, 404, 405, 418] {
            let vault = vault();
            let answer = Answer::json(status, &document);
            vault.world().always = Some((String::new(), answer));
            // The last document has no text in its fields, so there is never a secret.
            let found = trusted(&vault).get("secret://vault/secret/app#field").await;
            assert!(found.is_err(), "{status} {document}");
        }
    }
}

#[tokio::test]
async fn an_answer_that_is_too_large_is_not_taken() {
    let vault = vault();
    let body = format!("{{\"data\":\"{}\"}}", "x".repeat(10 * 1024 * 1024));
    let answer = Answer::bytes(200, "application/json", body);
    vault.world().always = Some(("secret/data".to_owned(), answer));
    let error = trusted(&vault).get("secret://vault/secret/app").await;
    assert_says(
        &error.unwrap_err(),
        SecretErrorKind::Unusable,
        &["more than 2097152 bytes"],
    );
}

#[tokio::test]
async fn an_address_that_can_not_be_used_is_said_to_be_that() {
    for (address, words) in [
        ("vault.example.com", &["`VAULT_ADDR` is not an address"][..]),
        ("unix:///run/vault.sock", &["begins with `https://`"]),
        ("localhost:8200", &["begins with `https://`"]),
        (
            "http://vault.example.com:8200",
            &[
                "`VAULT_ADDR` is http://vault.example.com:8200",
                "everybody between could read the token",
                "use `https://`",
            ],
        ),
        (
            "http://169.254.169.254",
            &["`VAULT_ADDR` is http://169.254.169.254"],
        ),
        (
            "https://claw:hunter2-hunter2@127.0.0.1:8200",
            &["`VAULT_ADDR` has a user name in it"],
        ),
    ] {
        let house = House::new(&[("VAULT_ADDR", address), ("VAULT_TOKEN", TOKEN)]);
        let error = house.get("secret://vault/secret/app").await.unwrap_err();
        assert_says(&error, SecretErrorKind::Misconfigured, words);
        assert!(!error.to_string().contains("hunter2"), "{error}");
    }
}

#[tokio::test]
async fn a_server_may_be_below_a_path() {
    let server = StandIn::start(|asked| match asked.path.as_str() {
        "/proxy/v1/sys/internal/ui/mounts/kv/app" => {
            Answer::json(200, &json!({ "data": { "path": "kv/", "type": "kv" } }))
        }
        "/proxy/v1/kv/app" => Answer::json(200, &json!({ "data": { "value": "found" } })),
        _ => Answer::json(404, &json!({ "errors": [] })),
    });
    let server = server.unwrap();
    for end in ["", "/"] {
        let address = format!("{}/proxy{end}", server.origin());
        let house = House::new(&[("VAULT_ADDR", &address), ("VAULT_TOKEN", TOKEN)]);
        assert_eq!(house.get("secret://vault/kv/app").await.unwrap(), "found");
    }
}
