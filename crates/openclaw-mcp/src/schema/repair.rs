//! Mending what many servers leave out.

use std::collections::HashSet;

use serde_json::{Map, Value, json};

use super::SchemaError;

/// Keywords that combine schemas.
const COMBINING: [&str; 6] = ["anyOf", "oneOf", "allOf", "not", "if", "$ref"];

/// The schema of an object, with what models expect to be there.
pub(super) fn repair(mut schema: Map<String, Value>) -> Result<Map<String, Value>, SchemaError> {
    if let Some(Value::Array(kinds)) = schema.get("type") {
        // Arguments are always an object; that they may be left out is not for the model to know.
        if kinds.iter().any(|kind| kind == "object") {
            schema.insert("type".to_owned(), "object".into());
        }
    }
    for keyword in ["allOf", "anyOf", "oneOf"] {
        merge_alternatives(&mut schema, keyword);
    }
    match schema.get("type") {
        None => {
            schema.insert("type".to_owned(), "object".into());
        }
        Some(kind) if kind == "object" => {}
        Some(_) => return Err(SchemaError::NotAnObject),
    }
    if !matches!(schema.get("properties"), Some(Value::Object(_))) {
        schema.insert("properties".to_owned(), json!({}));
    }
    mend(&mut schema);
    Ok(schema)
}

/// Makes one object of those that the root combines: models don't take a choice there.
fn merge_alternatives(schema: &mut Map<String, Value>, keyword: &str) {
    let Some(Value::Array(alternatives)) = schema.get(keyword) else {
        return;
    };
    let is_object = |value: &Value| {
        let kind = value.get("type");
        value.is_object() && kind.is_none_or(|kind| kind == "object")
    };
    if alternatives.is_empty() || !alternatives.iter().all(is_object) {
        return;
    }
    let alternatives = alternatives.clone();
    schema.remove(keyword);
    let mut properties = take_object(schema, "properties");
    let mut required: Option<Vec<String>> = None;
    for alternative in &alternatives {
        for (name, property) in alternative
            .get("properties")
            .and_then(Value::as_object)
            .into_iter()
            .flatten()
        {
            match properties.get_mut(name) {
                None => {
                    properties.insert(name.clone(), property.clone());
                }
                Some(known) if known == property => {}
                Some(known) => widen(known, property),
            }
        }
        let own = names(alternative.get("required"));
        required = Some(match (required, keyword) {
            (None, _) => own,
            // All of them hold.
            (Some(before), "allOf") => before.into_iter().chain(own).collect(),
            // Only one of them does, and only what all require is sure.
            (Some(before), _) => {
                let own: HashSet<String> = own.into_iter().collect();
                before
                    .into_iter()
                    .filter(|name| own.contains(name))
                    .collect()
            }
        });
    }
    let mut all = names(schema.get("required"));
    all.extend(required.unwrap_or_default());
    schema.insert("properties".to_owned(), Value::Object(properties));
    // What stands there twice is mended with the rest.
    schema.insert("required".to_owned(), json!(all));
}

/// The names in a list of names.
fn names(list: Option<&Value>) -> Vec<String> {
    let list = list.and_then(Value::as_array).into_iter().flatten();
    list.filter_map(|name| name.as_str().map(str::to_owned))
        .collect()
}

/// Lets a property be what it is in another alternative as well.
fn widen(known: &mut Value, other: &Value) {
    if let Some(Value::Array(kinds)) = known.get_mut("anyOf") {
        if !kinds.contains(other) {
            kinds.push(other.clone());
        }
    } else {
        *known = json!({ "anyOf": [known.clone(), other] });
    }
}

fn take_object(schema: &mut Map<String, Value>, name: &str) -> Map<String, Value> {
    match schema.remove(name) {
        Some(Value::Object(object)) => object,
        _ => Map::new(),
    }
}

/// Mends a schema and all that are in it.
fn mend(schema: &mut Map<String, Value>) {
    infer_type(schema);
    if let Some(Value::Object(properties)) = schema.get_mut("properties") {
        // `false` is a property that must not be there.
        properties.retain(|_, property| *property != Value::Bool(false));
        for property in properties.values_mut() {
            mend_value(property);
        }
    }
    mend_required(schema);
    let is_array = match schema.get("type") {
        Some(Value::String(kind)) => kind == "array",
        Some(Value::Array(kinds)) => kinds.iter().any(|kind| kind == "array"),
        _ => false,
    };
    if is_array && !schema.contains_key("items") && !schema.contains_key("prefixItems") {
        schema.insert("items".to_owned(), json!({}));
    }
    for keyword in [
        "items",
        "additionalProperties",
        "not",
        "contains",
        "propertyNames",
    ] {
        if let Some(value @ Value::Object(_)) = schema.get_mut(keyword) {
            mend_value(value);
        }
    }
    for keyword in ["anyOf", "oneOf", "allOf", "prefixItems"] {
        if let Some(Value::Array(schemas)) = schema.get_mut(keyword) {
            schemas.iter_mut().for_each(mend_value);
        }
    }
    if let Some(Value::Object(patterns)) = schema.get_mut("patternProperties") {
        patterns.values_mut().for_each(mend_value);
    }
}

fn mend_value(value: &mut Value) {
    match value {
        Value::Object(schema) => mend(schema),
        // `true`, or something that is no schema at all.
        other => *other = json!({}),
    }
}

/// Says what a schema is where it only shows.
fn infer_type(schema: &mut Map<String, Value>) {
    if schema.contains_key("type") || COMBINING.iter().any(|it| schema.contains_key(*it)) {
        return;
    }
    let values = match (schema.get("enum"), schema.get("const")) {
        (Some(Value::Array(values)), _) => values.clone(),
        (_, Some(value)) => vec![value.clone()],
        _ => Vec::new(),
    };
    let kind = if schema.contains_key("properties") || schema.contains_key("required") {
        Some("object")
    } else if schema.contains_key("items") || schema.contains_key("prefixItems") {
        Some("array")
    } else if !values.is_empty() && values.iter().all(Value::is_string) {
        Some("string")
    } else {
        None
    };
    if let Some(kind) = kind {
        schema.insert("type".to_owned(), kind.into());
    }
}

/// Requires only what is there, and that once.
pub(super) fn mend_required(schema: &mut Map<String, Value>) {
    let Some(required) = schema.remove("required") else {
        return;
    };
    let properties = schema.get("properties").and_then(Value::as_object);
    let mut seen = HashSet::new();
    let required: Vec<String> = names(Some(&required))
        .into_iter()
        .filter(|name| properties.is_some_and(|properties| properties.contains_key(name)))
        .filter(|name| seen.insert(name.clone()))
        .collect();
    if !required.is_empty() {
        schema.insert("required".to_owned(), json!(required));
    }
}
