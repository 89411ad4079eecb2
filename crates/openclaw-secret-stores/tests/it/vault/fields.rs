//! Which field is the secret.

use openclaw_secret_stores::SecretErrorKind;
use serde_json::{Map, Value, json};

use super::{assert_says, trusted, vault};

#[tokio::test]
async fn a_named_field_else_the_only_one_else_value() {
    let vault = vault();
    let fields = json!({ "name": "claw", "value": "usual", "port": 8080 });
    vault.world().put("secret", "several", fields);
    let house = trusted(&vault);
    for (reference, expected) in [
        ("secret://vault/secret/app", "of version two"),
        ("secret://vault/secret/app#password", "of version two"),
        ("secret://vault/secret/several", "usual"),
        ("secret://vault/secret/several#name", "claw"),
        ("secret://vault/secret/several#port", "8080"),
    ] {
        assert_eq!(house.get(reference).await.unwrap(), expected, "{reference}");
    }
}

#[tokio::test]
async fn fields_are_named_where_it_is_not_clear_which_is_meant() {
    let vault = vault();
    let fields = json!({ "password": "hunter2-hunter2", "user": "claw" });
    vault.world().put("secret", "pair", fields);
    vault.world().put("secret", "empty", json!({}));
    let house = trusted(&vault);

    let error = house.get("secret://vault/secret/pair").await.unwrap_err();
    let words = [
        "not clear which field",
        "it has 2: password, user",
        "behind `#`",
    ];
    assert_says(&error, SecretErrorKind::Missing, &words);
    assert!(!error.to_string().contains("hunter2"), "{error}");

    let error = house.get("secret://vault/secret/pair#pass").await;
    let words = ["it has no field `pass`; it has 2: password, user"];
    assert_says(&error.unwrap_err(), SecretErrorKind::Missing, &words);

    let error = house.get("secret://vault/secret/app#pass").await;
    let words = ["it has no field `pass`; it has one: password"];
    assert_says(&error.unwrap_err(), SecretErrorKind::Missing, &words);

    for reference in [
        "secret://vault/secret/empty",
        "secret://vault/secret/empty#a",
    ] {
        let error = house.get(reference).await.unwrap_err();
        assert_says(&error, SecretErrorKind::Missing, &["it has no field"]);
    }
}

#[tokio::test]
async fn names_of_fields_are_shown_cleaned_and_not_all() {
    let vault = vault();
    let long = "x".repeat(1000);
    let mut fields: Map<String, Value> = (10..1000)
        .map(|number| (format!("field {number}"), json!("text")))
        .collect();
    fields.insert(format!("\u{1b}[31m{long}"), json!("text"));
    vault.world().put("secret", "many", fields.into());
    let error = trusted(&vault).get("secret://vault/secret/many").await;
    let error = error.unwrap_err();
    let words = ["it has 991: field 10, field 11"];
    assert_says(&error, SecretErrorKind::Missing, &words);
    let said = error.to_string();
    assert!(said.chars().count() < 500, "{said}");
    assert!(!said.contains("field 40"), "{said}");

    let fields = json!({ format!("\u{1b}[31m{long}"): "one", "other": "two" });
    vault.world().put("secret", "many", fields);
    let error = trusted(&vault).get("secret://vault/secret/many").await;
    let said = error.unwrap_err().to_string();
    assert!(said.chars().count() < 500, "{said}");
    assert!(!said.contains('\u{1b}'), "{said}");
}

#[tokio::test]
async fn what_is_no_text_is_not_used() {
    let vault = vault();
    let fields = json!({
        "list": ["a"], "object": { "a": "b" }, "true": true, "empty": "", "float": 1.10,
        "nul": "a\0b", "large": "x".repeat(65 * 1024),
    });
    vault.world().put("secret", "odd", fields);
    let house = trusted(&vault);
    for field in ["list", "object", "true", "empty", "float", "nul", "large"] {
        let reference = format!("secret://vault/secret/odd#{field}");
        let error = house.get(&reference).await.unwrap_err();
        assert_eq!(error.kind(), SecretErrorKind::Unusable, "{field}: {error}");
    }
}

#[tokio::test]
async fn fields_of_one_path_are_of_one_version() {
    let vault = vault();
    let fields = json!({ "password": "hunter2-hunter2", "user": "claw" });
    vault.world().put("secret", "pair", fields);
    let house = trusted(&vault);
    let references = [
        "secret://vault/secret/pair#user",
        "secret://vault/secret/app",
        "secret://vault/secret/pair#password",
        "secret://vault/secret/pair#nothing",
    ];
    let found: Vec<_> = house.resolve(&references).await;
    let found: Vec<_> = found
        .iter()
        .map(|found| found.as_ref().map(|found| found.value.expose()).ok())
        .collect();
    let expected = [
        Some("claw"),
        Some("of version two"),
        Some("hunter2-hunter2"),
        None,
    ];
    assert_eq!(found, expected);
    let paths = vault.paths();
    let reads = paths.iter().filter(|path| *path == "/v1/secret/data/pair");
    assert_eq!(reads.count(), 1, "{paths:?}");
}
