//! Leaving out what was written only because it had to be written.

use serde_json::{Map, Value};

/// How deep it is looked for.
const DEPTH: usize = 16;

/// Leaves out properties that are `null`, need not be given, and must not be `null`.
pub(super) fn leave_out(arguments: &mut Value, schema: &Value) {
    look(arguments, schema, DEPTH);
}

fn look(value: &mut Value, schema: &Value, depth: usize) {
    let (Value::Object(object), Some(depth)) = (value, depth.checked_sub(1)) else {
        return;
    };
    let Some(properties) = schema.get("properties").and_then(Value::as_object) else {
        return;
    };
    let required = schema.get("required").and_then(Value::as_array);
    let is_required = |name: &str| required.is_some_and(|names| names.iter().any(|it| it == name));
    object.retain(|name, value| {
        let takes_null = properties.get(name).is_none_or(takes_null);
        !value.is_null() || is_required(name) || takes_null
    });
    for (name, value) in object {
        if let Some(schema) = properties.get(name) {
            look(value, schema, depth);
        }
    }
}

/// Whether a property may be `null`, as far as its schema shows at first sight.
fn takes_null(schema: &Value) -> bool {
    let Value::Object(schema) = schema else {
        return true;
    };
    match schema.get("type") {
        Some(Value::String(kind)) => kind == "null",
        Some(Value::Array(kinds)) => kinds.iter().any(|kind| kind == "null"),
        _ => match schema.get("enum") {
            Some(Value::Array(values)) => values.iter().any(Value::is_null),
            _ => !is_combined(schema),
        },
    }
}

/// Whether other schemas decide.
fn is_combined(schema: &Map<String, Value>) -> bool {
    let alternatives = ["anyOf", "oneOf"]
        .iter()
        .filter_map(|keyword| schema.get(*keyword)?.as_array());
    let mut alternatives = alternatives.flatten().peekable();
    alternatives.peek().is_some() && !alternatives.any(takes_null)
}
