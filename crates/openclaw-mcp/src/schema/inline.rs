//! Putting what a schema refers to in the place of the references.

use serde_json::{Map, Value};

use super::SchemaError;

/// How many values a schema may have once everything is in its place.
const VALUES: usize = 20_000;
/// How long all its texts may be together.
const BYTES: usize = 256 * 1024;
/// How deep references may lead.
const DEPTH: usize = 64;

/// Keywords that only serve references and tools.
const DROPPED: [&str; 10] = [
    "$schema",
    "$id",
    "$anchor",
    "$comment",
    "$defs",
    "definitions",
    "$dynamicAnchor",
    "$dynamicRef",
    "$recursiveRef",
    "$vocabulary",
];

/// Keywords whose values are data, not schemas.
const DATA: [&str; 4] = ["default", "const", "enum", "examples"];

/// Keywords whose values are schemas by name.
const NAMED: [&str; 4] = [
    "properties",
    "patternProperties",
    "dependentSchemas",
    "dependencies",
];

/// The schema without references. One that leads back to where it stands becomes a schema that
/// takes anything.
pub(super) fn inline(schema: &Map<String, Value>) -> Result<Map<String, Value>, SchemaError> {
    let root = Value::Object(schema.clone());
    let mut inliner = Inliner {
        root: &root,
        values: VALUES,
        bytes: BYTES,
        open: Vec::new(),
    };
    inliner.object(schema)
}

struct Inliner<'a> {
    root: &'a Value,
    values: usize,
    bytes: usize,
    /// The references that are being followed.
    open: Vec<String>,
}

impl Inliner<'_> {
    fn object(&mut self, schema: &Map<String, Value>) -> Result<Map<String, Value>, SchemaError> {
        let Some(Value::String(reference)) = schema.get("$ref") else {
            return self.keywords(schema);
        };
        // What stands beside a reference holds as well, and is nearer.
        let mut target = self.follow(reference)?;
        for (keyword, value) in self.keywords(schema)? {
            target.insert(keyword, value);
        }
        Ok(target)
    }

    fn keywords(&mut self, schema: &Map<String, Value>) -> Result<Map<String, Value>, SchemaError> {
        let mut result = Map::new();
        for (keyword, value) in schema {
            let name = keyword.as_str();
            if name == "$ref" || DROPPED.contains(&name) {
                continue;
            }
            self.count(keyword.len())?;
            let value = match value {
                Value::Object(named) if NAMED.contains(&name) => {
                    let mut schemas = Map::new();
                    for (name, schema) in named {
                        self.count(name.len())?;
                        schemas.insert(name.clone(), self.schema(schema)?);
                    }
                    Value::Object(schemas)
                }
                value if DATA.contains(&name) => self.data(value)?,
                value => self.schema(value)?,
            };
            result.insert(keyword.clone(), value);
        }
        Ok(result)
    }

    fn schema(&mut self, value: &Value) -> Result<Value, SchemaError> {
        match value {
            Value::Object(schema) => self.object(schema).map(Value::Object),
            Value::Array(schemas) => {
                let schemas = schemas.iter().map(|schema| self.schema(schema));
                schemas.collect::<Result<_, _>>().map(Value::Array)
            }
            other => self.data(other),
        }
    }

    fn data(&mut self, value: &Value) -> Result<Value, SchemaError> {
        match value {
            Value::String(text) => self.count(text.len())?,
            Value::Array(items) => {
                for item in items {
                    self.data(item)?;
                }
            }
            Value::Object(entries) => {
                for (name, value) in entries {
                    self.count(name.len())?;
                    self.data(value)?;
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => self.count(0)?,
        }
        Ok(value.clone())
    }

    fn follow(&mut self, reference: &str) -> Result<Map<String, Value>, SchemaError> {
        let shown: String = reference.chars().take(100).collect();
        let Some(fragment) = reference.strip_prefix('#') else {
            return Err(SchemaError::ForeignReference(shown));
        };
        if self.open.iter().any(|open| open == reference) || self.open.len() >= DEPTH {
            return Ok(Map::new());
        }
        let missing = || SchemaError::MissingReference(shown);
        let target = target(self.root, fragment);
        let root: Value = target.ok_or_else(missing)?.clone();
        self.open.push(reference.to_owned());
        let result = match &root {
            Value::Object(schema) => self.object(schema),
            // A schema that takes anything, or nothing.
            _ => Ok(Map::new()),
        };
        self.open.pop();
        result
    }

    fn count(&mut self, bytes: usize) -> Result<(), SchemaError> {
        let values = self.values.checked_sub(1);
        let bytes = self.bytes.checked_sub(bytes);
        match (values, bytes) {
            (Some(values), Some(bytes)) => {
                (self.values, self.bytes) = (values, bytes);
                Ok(())
            }
            _ => Err(SchemaError::TooLarge),
        }
    }
}

/// What a reference within a schema leads to, by what stands behind its `#`.
pub(crate) fn target<'a>(root: &'a Value, fragment: &str) -> Option<&'a Value> {
    if fragment.is_empty() || fragment.starts_with('/') {
        root.pointer(&decoded(fragment))
    } else {
        anchored(root, fragment)
    }
}

/// A pointer as it is meant: fragments of addresses are percent-encoded.
fn decoded(fragment: &str) -> String {
    let bytes = fragment.as_bytes();
    let mut result = Vec::with_capacity(bytes.len());
    let mut place = 0;
    while place < bytes.len() {
        let digits = fragment.get(place + 1..place + 3);
        let byte = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok());
        match byte {
            Some(byte) if bytes[place] == b'%' => {
                result.push(byte);
                place += 3;
            }
            _ => {
                result.push(bytes[place]);
                place += 1;
            }
        }
    }
    String::from_utf8_lossy(&result).into_owned()
}

/// The schema with this anchor.
fn anchored<'a>(value: &'a Value, anchor: &str) -> Option<&'a Value> {
    match value {
        Value::Object(schema) => {
            if schema.get("$anchor").and_then(Value::as_str) == Some(anchor) {
                return Some(value);
            }
            schema.values().find_map(|value| anchored(value, anchor))
        }
        Value::Array(values) => values.iter().find_map(|value| anchored(value, anchor)),
        _ => None,
    }
}
