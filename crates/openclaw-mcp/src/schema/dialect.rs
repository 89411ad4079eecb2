//! What single providers of models ask for.

use std::collections::HashSet;

use serde_json::{Map, Value, json};

use super::SchemaError;
use super::repair::mend_required;

/// Keywords that Gemini refuses.
const REFUSED_BY_GEMINI: [&str; 26] = [
    "additionalProperties",
    "contains",
    "contentEncoding",
    "contentMediaType",
    "default",
    "dependencies",
    "dependentRequired",
    "dependentSchemas",
    "else",
    "examples",
    "exclusiveMaximum",
    "exclusiveMinimum",
    "format",
    "if",
    "maxItems",
    "maxLength",
    "maximum",
    "minItems",
    "minLength",
    "minimum",
    "multipleOf",
    "not",
    "pattern",
    "patternProperties",
    "propertyNames",
    "then",
];

/// Keywords that OpenAI's strict mode takes.
const TAKEN_STRICTLY: [&str; 9] = [
    "anyOf",
    "const",
    "description",
    "enum",
    "items",
    "properties",
    "required",
    "title",
    "type",
];

/// A schema as Gemini takes it.
pub(super) fn gemini(schema: Map<String, Value>) -> Map<String, Value> {
    let mut result = Map::new();
    for (keyword, value) in schema {
        match (keyword.as_str(), value) {
            (refused, _) if REFUSED_BY_GEMINI.contains(&refused) => {}
            (limit, _) if limit.starts_with("min") || limit.starts_with("max") => {}
            ("const", value) => {
                result.insert("enum".to_owned(), json!([value]));
            }
            ("oneOf" | "anyOf", Value::Array(schemas)) => {
                let schemas = schemas.into_iter().map(gemini_value).collect();
                result.insert("anyOf".to_owned(), Value::Array(schemas));
            }
            // There is no way to say that all hold, but to write them as one.
            ("allOf", Value::Array(schemas)) => {
                for schema in schemas {
                    if let Value::Object(schema) = gemini_value(schema) {
                        join(&mut result, schema);
                    }
                }
            }
            ("properties", Value::Object(properties)) => {
                let properties = properties
                    .into_iter()
                    .map(|(name, property)| (name, gemini_value(property)))
                    .collect();
                let own = Map::from_iter([(keyword, Value::Object(properties))]);
                join(&mut result, own);
            }
            ("required", Value::Array(names)) => {
                let own = Map::from_iter([(keyword, Value::Array(names))]);
                join(&mut result, own);
            }
            ("prefixItems", _) => {
                result.entry("items").or_insert_with(|| json!({}));
            }
            ("items", value @ Value::Object(_)) => {
                result.insert(keyword, gemini_value(value));
            }
            ("items", _) => {
                result.insert(keyword, json!({}));
            }
            ("type", Value::Array(kinds)) => {
                let is_null = |kind: &Value| kind == "null";
                if kinds.iter().any(is_null) {
                    result.insert("nullable".to_owned(), true.into());
                }
                if let Some(kind) = kinds.into_iter().find(|kind| !is_null(kind)) {
                    result.insert(keyword, kind);
                }
            }
            (_, value) => {
                result.insert(keyword, value);
            }
        }
    }
    // Only texts can be listed there.
    let is_text = result.get("type").is_none_or(|kind| kind == "string");
    let lists_texts = |values: &Value| {
        let values = values.as_array();
        values.is_some_and(|values| values.iter().all(Value::is_string))
    };
    mend_required(&mut result);
    if result
        .get("enum")
        .is_some_and(|values| !is_text || !lists_texts(values))
    {
        result.remove("enum");
    }
    result
}

/// Adds what another schema says, as far as it does not contradict.
fn join(schema: &mut Map<String, Value>, other: Map<String, Value>) {
    for (keyword, value) in other {
        match (schema.get_mut(&keyword), value) {
            (None, value) => {
                schema.insert(keyword, value);
            }
            (Some(Value::Object(known)), Value::Object(more)) if keyword == "properties" => {
                for (name, property) in more {
                    known.entry(name).or_insert(property);
                }
            }
            (Some(Value::Array(known)), Value::Array(more)) if keyword == "required" => {
                known.extend(more);
            }
            (Some(_), _) => {}
        }
    }
}

fn gemini_value(value: Value) -> Value {
    match value {
        Value::Object(schema) => Value::Object(gemini(schema)),
        _ => json!({}),
    }
}

/// A schema as OpenAI's strict mode takes it: all properties are required, those that need not be
/// given may be `null`.
pub(super) fn openai_strict(schema: Map<String, Value>) -> Result<Map<String, Value>, SchemaError> {
    if schema.contains_key("patternProperties") || schema.contains_key("prefixItems") {
        return Err(SchemaError::NotStrict);
    }
    let is_map = match schema.get("additionalProperties") {
        None | Some(Value::Bool(false)) => false,
        // `true` is the default; it only counts where nothing else is said.
        Some(Value::Bool(true)) => is_without_properties(&schema),
        Some(_) => true,
    };
    if is_map {
        return Err(SchemaError::NotStrict);
    }
    let required: HashSet<String> = schema
        .get("required")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(|name| name.as_str().map(str::to_owned))
        .collect();
    let mut result = Map::new();
    for (keyword, value) in schema {
        match (keyword.as_str(), value) {
            ("properties", Value::Object(properties)) => {
                let names: Vec<Value> = properties.keys().cloned().map(Value::from).collect();
                let mut strict = Map::new();
                for (name, property) in properties {
                    let is_required = required.contains(&name);
                    let property = strict_value(property)?;
                    let property = if is_required {
                        property
                    } else {
                        nullable(property)
                    };
                    strict.insert(name, property);
                }
                result.insert("properties".to_owned(), Value::Object(strict));
                result.insert("required".to_owned(), Value::Array(names));
                result.insert("additionalProperties".to_owned(), false.into());
            }
            ("items", value) => {
                result.insert(keyword, strict_value(value)?);
            }
            ("anyOf" | "oneOf", Value::Array(schemas)) => {
                let schemas: Result<Vec<_>, _> = schemas.into_iter().map(strict_value).collect();
                result.insert("anyOf".to_owned(), Value::Array(schemas?));
            }
            ("allOf", _) => return Err(SchemaError::NotStrict),
            ("required", _) => {}
            (taken, value) if TAKEN_STRICTLY.contains(&taken) => {
                result.insert(keyword, value);
            }
            _ => {}
        }
    }
    let is_object = result.get("type").is_some_and(|kind| kind == "object");
    if is_object && !result.contains_key("properties") {
        return Err(SchemaError::NotStrict);
    }
    Ok(result)
}

fn is_without_properties(schema: &Map<String, Value>) -> bool {
    let properties = schema.get("properties").and_then(Value::as_object);
    properties.is_none_or(Map::is_empty)
}

fn strict_value(value: Value) -> Result<Value, SchemaError> {
    match value {
        Value::Object(schema) if !schema.is_empty() => openai_strict(schema).map(Value::Object),
        // Anything at all can't be said strictly.
        _ => Err(SchemaError::NotStrict),
    }
}

/// The same, or nothing.
fn nullable(mut property: Value) -> Value {
    let kind = property.get("type").cloned();
    match (kind, property.get("enum").is_some()) {
        (Some(Value::String(kind)), false) => {
            property["type"] = json!([kind, "null"]);
            property
        }
        (Some(Value::Array(mut kinds)), false) => {
            if !kinds.iter().any(|kind| kind == "null") {
                kinds.push("null".into());
            }
            property["type"] = Value::Array(kinds);
            property
        }
        _ => json!({ "anyOf": [property, { "type": "null" }] }),
    }
}
