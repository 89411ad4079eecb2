//! What holds for all messages and all tools.

use openclaw_content::description;
use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::{ALL, asked};
use crate::tools::{ToolSet, ToolSpec};

/// A schema of a parameter, often of a kind that is understood.
fn property() -> impl Strategy<Value = Value> {
    prop_oneof![
        4 => prop::sample::select(vec!["string", "number", "integer", "boolean", "array", "object"])
            .prop_map(|kind| json!({"type": kind})),
        1 => vec("[a-z ]{0,6}", 0..4).prop_map(|choices| json!({"type": "string", "enum": choices})),
        1 => Just(json!({"type": "array", "items": {"type": "string"}})),
        1 => Just(json!({"anyOf": [{"type": "null"}, {"type": "string", "format": "uri"}]})),
        1 => Just(json!(["strange"])),
    ]
}

fn schema() -> impl Strategy<Value = Map<String, Value>> {
    let properties = vec(
        (
            "[a-z_]{1,8}|path|url|time|timezone|text",
            property(),
            any::<bool>(),
        ),
        0..5,
    );
    properties.prop_map(|properties| {
        let required: Vec<&String> = properties
            .iter()
            .filter(|(_, _, it)| *it)
            .map(|(name, ..)| name)
            .collect();
        let required = json!(required);
        let properties = properties.into_iter().map(|(name, value, _)| (name, value));
        let properties: Map<String, Value> = properties.collect();
        let schema = json!({"type": "object", "properties": properties, "required": required});
        schema.as_object().cloned().unwrap_or_default()
    })
}

fn message() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        "[a-z]{1,8}",
        "-?[0-9]{1,4}",
        "\"[a-z ]{0,8}\"",
        "/[a-z/]{1,6}",
        "[a-z]{1,4}=[a-z0-9]{1,4}",
        "[a-z]{1,4}: ",
        "--[a-z]{1,4}",
        "[0-9]{2}:[0-9]{2}",
        "\\PC{0,6}",
        Just("tool".to_owned()),
        Just("path=/x".to_owned()),
        Just("{\"text\": \"z\"}".to_owned()),
        Just("https://example.com".to_owned()),
        Just("Europe/Berlin".to_owned()),
        Just("yes".to_owned()),
        Just("true".to_owned()),
    ];
    vec(piece, 0..8).prop_map(|pieces| pieces.join(" "))
}

/// Whether a value is stated by a message.
fn is_stated(value: &Value, message: &str) -> bool {
    let lower = message.to_lowercase();
    match value {
        Value::String(text) => text
            .split_whitespace()
            .all(|word| lower.contains(&word.to_lowercase())),
        Value::Number(number) => {
            let digits: String = number
                .to_string()
                .chars()
                .filter(char::is_ascii_digit)
                .collect();
            let said: String = message.chars().filter(char::is_ascii_digit).collect();
            said.contains(digits.trim_end_matches('0').trim_start_matches('0'))
        }
        Value::Bool(true) => ["true", "yes", "on", "--"]
            .iter()
            .any(|it| lower.contains(it)),
        Value::Bool(false) => ["false", "no", "off"].iter().any(|it| lower.contains(it)),
        Value::Array(values) => values.iter().all(|value| is_stated(value, message)),
        Value::Object(object) => object
            .iter()
            .all(|(key, value)| message.contains(key.as_str()) && is_stated(value, message)),
        Value::Null => message.contains("null"),
    }
}

proptest! {
    #[test]
    fn arguments_always_come_from_the_message(message in message(), schema in schema()) {
        let tool = |name: &str| ToolSpec {
            name: name.to_owned(),
            description: description("s", "A tool for paths and texts").text,
            parameters: schema.clone(),
        };
        let tools = ToolSet::new(vec![tool("mcp_s_other"), tool("mcp_s_tool")], |it, _| Ok(it.clone()));
        if let Ok((_, arguments)) = asked(&message, &tools) {
            let required = schema["required"].as_array().unwrap();
            for name in required {
                prop_assert!(arguments.get(name.as_str().unwrap()).is_some());
            }
            for (name, value) in arguments.as_object().unwrap() {
                prop_assert!(schema["properties"].get(name).is_some());
                prop_assert!(is_stated(value, &message), "{} {}", name, value);
            }
        }
    }

    #[test]
    fn no_message_breaks_it(message in "\\PC{0,80}", tail in ".{0,20}") {
        let _ = asked(&message, &ALL);
        let _ = asked(&format!("write_file {message} {tail}"), &ALL);
    }
}
