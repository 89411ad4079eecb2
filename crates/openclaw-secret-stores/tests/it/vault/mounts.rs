//! Which engine a path belongs to.

use openclaw_secret_stores::SecretErrorKind;
use openclaw_testkit::fake_vault::{Kind, Preflight};
use serde_json::json;

use super::{TOKEN, assert_says, house, trusted, vault};

#[tokio::test]
async fn secrets_of_both_versions_are_read() {
    let vault = vault();
    let house = trusted(&vault);
    let two = house.get("secret://vault/secret/app").await.unwrap();
    assert_eq!(two, "of version two");
    let one = house.get("secret://vault/kv/app").await.unwrap();
    assert_eq!(one, "of version one");
    let expected = [
        "/v1/sys/internal/ui/mounts/secret/app",
        "/v1/secret/data/app",
        "/v1/sys/internal/ui/mounts/kv/app",
        "/v1/kv/app",
    ];
    assert_eq!(vault.paths(), expected);
}

#[tokio::test]
async fn a_version_that_was_found_is_remembered() {
    for preflight in [Preflight::On, Preflight::Denied, Preflight::Absent] {
        let vault = vault();
        vault.world().preflight = preflight;
        vault
            .world()
            .put("secret", "other", json!({ "value": "two" }));
        vault.world().put("kv", "other", json!({ "value": "one" }));
        let house = trusted(&vault);
        house.get("secret://vault/secret/app").await.unwrap();
        house.get("secret://vault/kv/app").await.unwrap();
        let before = vault.paths().len();
        assert_eq!(
            house.get("secret://vault/secret/other").await.unwrap(),
            "two"
        );
        assert_eq!(house.get("secret://vault/kv/other").await.unwrap(), "one");
        let after = vault.paths().split_off(before);
        assert_eq!(
            after,
            ["/v1/secret/data/other", "/v1/kv/other"],
            "{preflight:?}"
        );
    }
}

#[tokio::test]
async fn a_secret_is_the_new_one_once_it_is_changed() {
    let vault = vault();
    let house = trusted(&vault);
    house.get("secret://vault/secret/app").await.unwrap();
    vault
        .world()
        .put("secret", "app", json!({ "password": "changed" }));
    let changed = house.get("secret://vault/secret/app").await.unwrap();
    assert_eq!(changed, "changed");
}

#[tokio::test]
async fn a_mount_may_have_several_segments() {
    let vault = vault();
    vault.world().mount("teams/blue/kv", Kind::Two);
    vault
        .world()
        .put("teams/blue/kv", "prod/db", json!({ "value": "blue" }));
    vault.world().mount("teams/red", Kind::One);
    vault
        .world()
        .put("teams/red", "prod/db", json!({ "value": "red" }));
    let house = trusted(&vault);
    let blue = house.get("secret://vault/teams/blue/kv/prod/db").await;
    assert_eq!(blue.unwrap(), "blue");
    let red = house.get("secret://vault/teams/red/prod/db").await;
    assert_eq!(red.unwrap(), "red");
    // Both are remembered apart.
    let before = vault.paths().len();
    house
        .get("secret://vault/teams/blue/kv/prod/db")
        .await
        .unwrap();
    house.get("secret://vault/teams/red/prod/db").await.unwrap();
    let expected = ["/v1/teams/blue/kv/data/prod/db", "/v1/teams/red/prod/db"];
    assert_eq!(vault.paths().split_off(before), expected);

    let error = house.get("secret://vault/teams/blue/kv").await.unwrap_err();
    let words = ["`teams/blue/kv` is a mount itself", "teams/blue/kv/PATH"];
    assert_says(&error, SecretErrorKind::Misconfigured, &words);
}

#[tokio::test]
async fn without_a_description_both_versions_are_tried() {
    for preflight in [Preflight::Denied, Preflight::Absent] {
        let vault = vault();
        vault.world().preflight = preflight;
        let house = trusted(&vault);
        let two = house.get("secret://vault/secret/app").await.unwrap();
        assert_eq!(two, "of version two");
        let one = house.get("secret://vault/kv/app").await.unwrap();
        assert_eq!(one, "of version one");
        let expected = [
            "/v1/sys/internal/ui/mounts/secret/app",
            "/v1/secret/data/app",
            "/v1/sys/internal/ui/mounts/kv/app",
            "/v1/kv/data/app",
            "/v1/kv/app",
        ];
        assert_eq!(vault.paths(), expected);
        let error = house.get("secret://vault/secret/nothing").await;
        assert_says(
            &error.unwrap_err(),
            SecretErrorKind::Missing,
            &["`nothing`"],
        );
        let error = house.get("secret://vault/nowhere/nothing").await;
        assert_says(
            &error.unwrap_err(),
            SecretErrorKind::Missing,
            &["`nowhere`"],
        );
    }
}

#[tokio::test]
async fn an_engine_without_versions_is_read_by_who_may_read_only_that_path() {
    let vault = vault();
    vault.world().preflight = Preflight::Denied;
    vault.world().allow("hvs.token-for-one-path", &["kv/app"]);
    let house = house(&vault, &[("VAULT_TOKEN", "hvs.token-for-one-path")]);
    let one = house.get("secret://vault/kv/app").await.unwrap();
    assert_eq!(one, "of version one");
}

#[tokio::test]
async fn a_secret_whose_name_begins_with_data_is_not_taken_for_a_version() {
    let vault = vault();
    vault.world().preflight = Preflight::Absent;
    let fields = json!({ "password": "wrong", "data": { "password": "wrong" } });
    vault.world().put("kv", "data/app", fields);
    let house = trusted(&vault);
    let one = house.get("secret://vault/kv/app").await.unwrap();
    assert_eq!(one, "of version one");
}

#[tokio::test]
async fn an_engine_may_be_given_versions_later() {
    let vault = vault();
    let house = trusted(&vault);
    house.get("secret://vault/kv/app").await.unwrap();
    vault.world().give_versions("kv");
    let one = house.get("secret://vault/kv/app").await.unwrap();
    assert_eq!(one, "of version one");
    assert_eq!(vault.paths().last().unwrap(), "/v1/kv/data/app");
}

#[tokio::test]
async fn segments_are_encoded() {
    let vault = vault();
    let path = "a b/50%/ü?x=1&y/%2e%2e/;+:@";
    vault
        .world()
        .put("secret", path, json!({ "value": "found" }));
    let house = trusted(&vault);
    let found = house.get(&format!("secret://vault/secret/{path}")).await;
    assert_eq!(found.unwrap(), "found");
    let expected = "/v1/secret/data/a%20b/50%25/%C3%BC%3Fx%3D1%26y/%252e%252e/%3B%2B%3A%40";
    assert_eq!(vault.paths().last().unwrap(), expected);
}

#[tokio::test]
async fn what_is_not_there_is_missing() {
    let vault = vault();
    let house = trusted(&vault);
    let error = house
        .get("secret://vault/secret/nothing")
        .await
        .unwrap_err();
    let words = ["no secret `nothing` in `secret`", "vault kv list secret"];
    assert_says(&error, SecretErrorKind::Missing, &words);
    let error = house.get("secret://vault/kv/nothing").await.unwrap_err();
    assert_says(
        &error,
        SecretErrorKind::Missing,
        &["no secret `nothing` in `kv`"],
    );
    // The path of the interface, which people copy.
    let error = house
        .get("secret://vault/secret/data/app")
        .await
        .unwrap_err();
    let words = ["no secret `data/app`", "write `secret://vault/secret/app`"];
    assert_says(&error, SecretErrorKind::Missing, &words);
}

#[tokio::test]
async fn a_version_that_is_no_more_is_not_merely_missing() {
    let vault = vault();
    for name in ["deleted", "destroyed"] {
        for version in 1..4 {
            let fields = json!({ "value": version });
            vault.world().put("secret", name, fields);
        }
    }
    vault.world().remove("secret", "deleted", false);
    vault.world().remove("secret", "destroyed", true);
    for preflight in [Preflight::On, Preflight::Absent] {
        vault.world().preflight = preflight;
        let house = trusted(&vault);
        let error = house.get("secret://vault/secret/deleted").await;
        let words = [
            "version 3 of `secret/deleted` is deleted",
            "vault kv undelete -mount=secret -versions=3 deleted",
        ];
        assert_says(&error.unwrap_err(), SecretErrorKind::Missing, &words);
        let error = house.get("secret://vault/secret/destroyed").await;
        let words = ["version 3 of `secret/destroyed` is destroyed"];
        assert_says(&error.unwrap_err(), SecretErrorKind::Missing, &words);
    }
}

#[tokio::test]
async fn other_engines_are_not_read() {
    let vault = vault();
    vault.world().mount("database", Kind::Database);
    let error = trusted(&vault)
        .get("secret://vault/database/creds/app")
        .await;
    let words = ["`database` is no key-value engine", "`database`"];
    assert_says(&error.unwrap_err(), SecretErrorKind::Misconfigured, &words);
    // Reading could make credentials that nobody uses.
    assert_eq!(vault.paths().len(), 1);
}

#[tokio::test]
async fn a_namespace_is_another_world() {
    let vault = vault();
    vault.world().mount_in("teams/blue", "secret", Kind::Two);
    vault
        .world()
        .put_in("teams/blue", "secret", "app", json!({ "value": "blue" }));
    let blue = house(
        &vault,
        &[("VAULT_TOKEN", TOKEN), ("VAULT_NAMESPACE", "teams/blue")],
    );
    assert_eq!(blue.get("secret://vault/secret/app").await.unwrap(), "blue");
    assert!(blue.get("secret://vault/kv/app").await.is_err());
    for asked in vault.asked() {
        assert_eq!(asked.header("x-vault-namespace"), Some("teams/blue"));
    }
}
