//! What opens the server.

use openclaw_secret_stores::SecretErrorKind;

use super::{TOKEN, assert_says, house, vault};

#[tokio::test]
async fn every_request_says_what_the_vendors_command_says() {
    let vault = vault();
    let house = house(&vault, &[("VAULT_TOKEN", TOKEN)]);
    house.get("secret://vault/secret/app").await.unwrap();
    for asked in vault.asked() {
        assert_eq!(asked.header("x-vault-token"), Some(TOKEN));
        assert_eq!(asked.header("x-vault-request"), Some("true"));
        assert_eq!(asked.header("x-vault-namespace"), None);
    }
}

#[tokio::test]
async fn the_variable_wins_over_the_login_and_that_over_the_file() {
    let vault = vault();
    vault
        .world()
        .role("role", "secret-id-of-role", 3600, &["*"]);
    let login = [
        ("VAULT_ROLE_ID", "role"),
        ("VAULT_SECRET_ID", "secret-id-of-role"),
    ];
    let all = [login[0], login[1], ("VAULT_TOKEN", TOKEN)];
    for (variables, token) in [
        (&all[..], TOKEN),
        (&login[..], "hvs.of-login-number-1"),
        (&[][..], "hvs.token-of-the-file"),
    ] {
        vault.world().allow("hvs.token-of-the-file", &["*"]);
        let house = house(&vault, variables);
        std::fs::write(house.path().join(".vault-token"), "hvs.token-of-the-file").unwrap();
        house.get("secret://vault/secret/app").await.unwrap();
        let last = vault.asked().pop().unwrap();
        assert_eq!(last.header("x-vault-token"), Some(token));
    }
}

#[tokio::test]
async fn the_file_is_read_each_time() {
    let vault = vault();
    vault.world().allow("hvs.first-token", &["*"]);
    let house = house(&vault, &[]);
    let file = house.path().join(".vault-token");
    std::fs::write(&file, "hvs.first-token\n").unwrap();
    house.get("secret://vault/secret/app").await.unwrap();
    vault.world().revoke("hvs.first-token");
    vault.world().allow("hvs.second-token", &["*"]);
    let error = house.get("secret://vault/secret/app").await.unwrap_err();
    let words = [".vault-token is unknown", "vault login"];
    assert_says(&error, SecretErrorKind::Refused, &words);
    std::fs::write(&file, "hvs.second-token").unwrap();
    house.get("secret://vault/secret/app").await.unwrap();
}

#[tokio::test]
async fn without_a_token_all_places_for_one_are_named() {
    let vault = vault();
    let house = house(&vault, &[]);
    let words = [
        "`VAULT_TOKEN`",
        "`VAULT_ROLE_ID` with `VAULT_SECRET_ID`",
        "~/.vault-token",
    ];
    let error = house.get("secret://vault/secret/app").await.unwrap_err();
    assert_says(&error, SecretErrorKind::Misconfigured, &words);
    // A file with nothing in it is none.
    std::fs::write(house.path().join(".vault-token"), " \n").unwrap();
    let error = house.get("secret://vault/secret/app").await.unwrap_err();
    assert_says(&error, SecretErrorKind::Misconfigured, &words);
    assert!(vault.asked().is_empty());
}

#[tokio::test]
async fn a_file_that_holds_no_token_is_named() {
    let vault = vault();
    let house = house(&vault, &[]);
    let file = house.path().join(".vault-token");
    for content in [&b"\xff\xfe"[..], b"hvs.one\nhvs.two"] {
        std::fs::write(&file, content).unwrap();
        let error = house.get("secret://vault/secret/app").await.unwrap_err();
        assert_says(&error, SecretErrorKind::Misconfigured, &[".vault-token"]);
        assert!(!error.to_string().contains("hvs"), "{error}");
    }
    std::fs::remove_file(&file).unwrap();
    std::fs::create_dir(&file).unwrap();
    let error = house.get("secret://vault/secret/app").await.unwrap_err();
    let words = [".vault-token", "it is not a file"];
    assert_says(&error, SecretErrorKind::Misconfigured, &words);
}

#[tokio::test]
async fn a_token_that_can_not_be_one_is_not_sent() {
    let vault = vault();
    let house = house(&vault, &[("VAULT_TOKEN", "hvs.one\nhvs.two")]);
    let error = house.get("secret://vault/secret/app").await.unwrap_err();
    let words = ["the token of `VAULT_TOKEN` has characters that no token has"];
    assert_says(&error, SecretErrorKind::Misconfigured, &words);
    assert!(!error.to_string().contains("hvs"), "{error}");
    assert!(vault.asked().is_empty());
}

#[tokio::test]
async fn a_token_that_nobody_knows_is_said_to_be_that() {
    let vault = vault();
    let house = house(&vault, &[("VAULT_TOKEN", "hvs.token-of-yesterday")]);
    let error = house.get("secret://vault/secret/app").await.unwrap_err();
    let words = ["the token of `VAULT_TOKEN` is unknown", "vault login"];
    assert_says(&error, SecretErrorKind::Refused, &words);
    // One request is enough to know it.
    assert_eq!(vault.paths().len(), 1);
    // Old servers do not say it.
    vault.world().says_invalid_token = false;
    let error = house.get("secret://vault/secret/app").await.unwrap_err();
    assert_says(&error, SecretErrorKind::Refused, &["permission denied"]);
}

#[tokio::test]
async fn a_policy_that_is_not_enough_is_said_to_be_that() {
    let vault = vault();
    vault
        .world()
        .allow("hvs.token-for-little", &["secret/data/other", "kv/other"]);
    let house = house(&vault, &[("VAULT_TOKEN", "hvs.token-for-little")]);
    let error = house.get("secret://vault/secret/app").await.unwrap_err();
    let words = [
        "permission denied",
        "the token of `VAULT_TOKEN` does not have the capability `read` on `secret/data/app`",
        "run `vault token capabilities secret/data/app`",
    ];
    assert_says(&error, SecretErrorKind::Refused, &words);
    let error = house.get("secret://vault/kv/app").await.unwrap_err();
    assert_says(&error, SecretErrorKind::Refused, &["`read` on `kv/app`"]);
    // Nobody knows what kind of engine this would be.
    let error = house.get("secret://vault/hidden/app").await.unwrap_err();
    let words = [
        "`hidden/data/app`",
        "`hidden/app`",
        "there is no such mount",
    ];
    assert_says(&error, SecretErrorKind::Refused, &words);
    // One secret that is denied does not keep others from being read.
    vault.world().allow("hvs.token-for-little", &["kv/app"]);
    let found = house
        .resolve(&["secret://vault/secret/app", "secret://vault/kv/app"])
        .await;
    assert!(found[0].is_err());
    assert_eq!(found[1].as_ref().unwrap().value.expose(), "of version one");
}

#[tokio::test]
async fn what_opens_the_server_is_hidden_from_then_on() {
    let vault = vault();
    vault
        .world()
        .role("role", "secret-id-of-role", 3600, &["*"]);
    vault.world().allow("token-of-the-file", &["*"]);
    let login = [
        ("VAULT_ROLE_ID", "role"),
        ("VAULT_SECRET_ID", "secret-id-of-role"),
    ];
    let by_variable = house(&vault, &[("VAULT_TOKEN", TOKEN)]);
    let by_login = house(&vault, &login);
    let by_file = house(&vault, &[]);
    std::fs::write(by_file.path().join(".vault-token"), "token-of-the-file").unwrap();
    for (house, credentials) in [
        (by_variable, &[TOKEN][..]),
        (by_login, &["secret-id-of-role", "hvs.of-login-number-1"]),
        (by_file, &["token-of-the-file"]),
    ] {
        house.get("secret://vault/secret/app").await.unwrap();
        for credential in credentials {
            let text = format!("it is {credential} indeed");
            let shown = house.redactor.redact_learned(&text);
            assert_eq!(shown, "it is [REDACTED] indeed");
        }
    }
}
