//! The description of the interface, and whether answers are as it says.

use std::sync::LazyLock;

use serde_json::{Value, json};

use crate::client::Answer;

/// The description.
pub(crate) static DOCUMENT: LazyLock<Value> =
    LazyLock::new(|| serde_json::from_str(include_str!("../../src/openapi.json")).unwrap());

/// Whether an answer is as the description says: its status, its type and its body.
pub(crate) fn check(method: &str, path: &str, answer: &Answer) {
    let responses = &DOCUMENT["paths"][path][method]["responses"];
    let mut response = &responses[answer.status.to_string()];
    assert!(
        !response.is_null(),
        "{method} {path}: {} is not described: {}",
        answer.status,
        answer.body
    );
    if let Some(reference) = response["$ref"].as_str() {
        response = DOCUMENT.pointer(&reference[1..]).unwrap();
    }
    let kind = answer.header("content-type").unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default();
    let content = &response["content"][kind];
    assert!(
        !content.is_null(),
        "{method} {path}: `{kind}` is not described"
    );
    if kind != "application/json" {
        return;
    }
    check_against(
        content["schema"].clone(),
        &answer.json(),
        &format!("{method} {path}"),
    );
}

/// Whether a value is as one of the schemas of the description says.
pub(crate) fn check_value(name: &str, value: &Value) {
    let schema = json!({ "$ref": format!("#/components/schemas/{name}") });
    check_against(schema, value, name);
}

fn check_against(mut schema: Value, value: &Value, what: &str) {
    schema["components"] = DOCUMENT["components"].clone();
    schema["$schema"] = json!("https://json-schema.org/draft/2020-12/schema");
    let validator = jsonschema::validator_for(&schema).unwrap();
    let errors = validator.iter_errors(value).map(|error| error.to_string());
    let errors: Vec<String> = errors.collect();
    assert!(errors.is_empty(), "{what}: {errors:?} in {value}");
}
