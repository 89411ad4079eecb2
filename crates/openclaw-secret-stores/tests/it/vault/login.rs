//! Tokens that we get ourselves, by `AppRole`.

use std::time::Duration;

use openclaw_secret_stores::SecretErrorKind;
use openclaw_testkit::fake_vault::{FakeVault, Kind};
use serde_json::{Value, json};

use super::{assert_says, house, vault};
use crate::house::House;

const LOGIN: [(&str, &str); 2] = [
    ("VAULT_ROLE_ID", "role-of-tests"),
    ("VAULT_SECRET_ID", "secret-id-of-tests"),
];

/// A server that lets us log in for so many seconds, and a machine that can.
fn open(lease: u64) -> (FakeVault, House) {
    let vault = vault();
    vault
        .world()
        .role("role-of-tests", "secret-id-of-tests", lease, &["*"]);
    let house = house(&vault, &LOGIN);
    (vault, house)
}

/// Lets time go by.
async fn later(seconds: u64) {
    tokio::time::pause();
    tokio::time::advance(Duration::from_secs(seconds)).await;
    tokio::time::resume();
}

#[tokio::test]
async fn a_login_is_kept() {
    let (vault, house) = open(3600);
    house.get("secret://vault/secret/app").await.unwrap();
    house.get("secret://vault/kv/app").await.unwrap();
    assert_eq!(vault.logins(), 1);
    let asked = vault.asked();
    assert_eq!(asked[0].path, "/v1/auth/approle/login");
    assert_eq!(asked[0].header("x-vault-token"), None);
    assert_eq!(asked[0].header("x-vault-request"), Some("true"));
    let body: Value = serde_json::from_slice(&asked[0].body).unwrap();
    let expected = json!({ "role_id": "role-of-tests", "secret_id": "secret-id-of-tests" });
    assert_eq!(body, expected);
}

#[tokio::test]
async fn a_login_is_done_again_a_little_before_its_end() {
    let (vault, house) = open(100);
    house.get("secret://vault/secret/app").await.unwrap();
    later(85).await;
    house.get("secret://vault/secret/app").await.unwrap();
    assert_eq!(vault.logins(), 1);
    later(6).await;
    house.get("secret://vault/secret/app").await.unwrap();
    assert_eq!(vault.logins(), 2);
    let last = vault.asked().pop().unwrap();
    assert_eq!(last.header("x-vault-token"), Some("hvs.of-login-number-2"));
}

#[tokio::test]
async fn a_login_without_an_end_is_kept() {
    let (vault, house) = open(0);
    house.get("secret://vault/secret/app").await.unwrap();
    later(10_000_000).await;
    house.get("secret://vault/secret/app").await.unwrap();
    assert_eq!(vault.logins(), 1);
}

#[tokio::test]
async fn a_lease_of_any_length_is_taken() {
    let (vault, house) = open(u64::MAX);
    house.get("secret://vault/secret/app").await.unwrap();
    house.get("secret://vault/secret/app").await.unwrap();
    assert_eq!(vault.logins(), 1);
}

#[tokio::test]
async fn a_token_that_ended_before_its_time_is_replaced_once() {
    for says_invalid_token in [true, false] {
        let (vault, house) = open(3600);
        vault.world().says_invalid_token = says_invalid_token;
        house.get("secret://vault/secret/app").await.unwrap();
        vault.world().revoke_all();
        let names: Vec<String> = (0..50).map(|number| format!("app-{number}")).collect();
        for name in &names {
            vault.world().put("secret", name, json!({ "value": name }));
        }
        let references: Vec<_> = names
            .iter()
            .map(|name| format!("secret://vault/secret/{name}"))
            .collect();
        let references: Vec<_> = references.iter().map(String::as_str).collect();
        for (found, name) in house.resolve(&references).await.into_iter().zip(&names) {
            assert_eq!(found.unwrap().value.expose(), name);
        }
        assert_eq!(vault.logins(), 2);
    }
}

#[tokio::test]
async fn what_a_fresh_token_does_not_allow_is_not_tried_with_another() {
    let vault = vault();
    vault
        .world()
        .role("role-of-tests", "secret-id-of-tests", 3600, &["kv/*"]);
    let house = house(&vault, &LOGIN);
    let error = house.get("secret://vault/secret/app").await.unwrap_err();
    let words = [
        "the token of the login with `VAULT_ROLE_ID`",
        "`read` on `secret/data/app`",
    ];
    assert_says(&error, SecretErrorKind::Refused, &words);
    assert_eq!(vault.logins(), 1);
    // One that is kept may have ended, so there is one more, and not one for each secret.
    let references = ["secret://vault/secret/app", "secret://vault/secret/other"];
    assert!(house.resolve(&references).await.iter().all(Result::is_err));
    assert_eq!(vault.logins(), 2);
}

#[tokio::test]
async fn a_secret_id_that_does_not_fit_is_tried_once_and_not_shown() {
    let vault = vault();
    vault
        .world()
        .role("role-of-tests", "another-secret-id", 3600, &["*"]);
    let house = house(&vault, &LOGIN);
    let get = || house.get("secret://vault/secret/app");
    // Together they knock once.
    let errors = futures_util::future::join_all((0..50).map(|_| get())).await;
    assert_eq!(vault.logins(), 1);
    for error in errors {
        let error = error.unwrap_err();
        let words = [
            "the login at `auth/approle` is refused: invalid role or secret ID",
            "`VAULT_ROLE_ID` and `VAULT_SECRET_ID`",
        ];
        assert_says(&error, SecretErrorKind::Refused, &words);
        // The server repeats it.
        assert!(!error.to_string().contains("secret-id-of-tests"), "{error}");
    }
    // Later, it may fit.
    vault
        .world()
        .role("role-of-tests", "secret-id-of-tests", 3600, &["*"]);
    assert_eq!(get().await.unwrap(), "of version two");
    assert_eq!(vault.logins(), 2);
}

#[tokio::test]
async fn half_of_what_a_login_needs_is_not_enough() {
    let vault = vault();
    for (half, words) in [
        (LOGIN[0], "`VAULT_ROLE_ID` is set without `VAULT_SECRET_ID`"),
        (LOGIN[1], "`VAULT_SECRET_ID` is set without `VAULT_ROLE_ID`"),
    ] {
        let house = house(&vault, &[half]);
        let error = house.get("secret://vault/secret/app").await.unwrap_err();
        assert_says(&error, SecretErrorKind::Misconfigured, &[words]);
    }
    assert!(vault.asked().is_empty());
}

#[tokio::test]
async fn a_login_may_be_elsewhere_and_in_a_namespace() {
    let vault = vault();
    vault.world().mount_in("blue", "secret", Kind::Two);
    vault
        .world()
        .put_in("blue", "secret", "app", json!({ "value": "blue" }));
    let [(_, id), (_, secret)] = LOGIN;
    vault
        .world()
        .role_in("blue", "teams/robots", id, secret, 3600, &["*"]);

    let mut variables = LOGIN.to_vec();
    variables.push(("VAULT_NAMESPACE", "blue"));
    let lost = house(&vault, &variables);
    let error = lost.get("secret://vault/secret/app").await;
    let words = ["has no login at `auth/approle`", "`VAULT_APPROLE_MOUNT`"];
    assert_says(&error.unwrap_err(), SecretErrorKind::Misconfigured, &words);

    variables.push(("VAULT_APPROLE_MOUNT", "/teams/robots/"));
    let found = house(&vault, &variables)
        .get("secret://vault/secret/app")
        .await;
    assert_eq!(found.unwrap(), "blue");
    let login = &vault.asked()[1];
    assert_eq!(login.path, "/v1/auth/teams/robots/login");
    assert_eq!(login.header("x-vault-namespace"), Some("blue"));
}

#[tokio::test]
async fn a_login_that_gives_no_token_is_none() {
    use openclaw_testkit::stand_in::Answer;
    let (vault, house) = open(3600);
    for answer in [
        json!({}),
        json!({ "auth": null }),
        json!({ "auth": { "client_token": "" } }),
        json!({ "auth": { "client_token": 7 } }),
    ] {
        vault.world().next.push_back(Answer::json(200, &answer));
        let error = house.get("secret://vault/secret/app").await.unwrap_err();
        let words = ["the login at `auth/approle` gives no token"];
        assert_says(&error, SecretErrorKind::Unusable, &words);
    }
}
