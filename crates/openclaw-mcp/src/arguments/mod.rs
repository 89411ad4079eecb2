//! Arguments, checked against what a tool takes before they are sent, and results, checked
//! against what it promised.

mod effort;
mod nulls;
mod output;
mod recursion;
mod words;

use std::fmt;
use std::io::{self, Write};

use jsonschema::Validator;
use serde::Serialize;
use serde_json::{Map, Value};

pub use output::OutputCheck;
pub use words::typed_words;

/// How long arguments may be.
pub(crate) const LARGEST: usize = 8 * 1024 * 1024;
/// How long a schema may be that is checked against.
const LARGEST_SCHEMA: usize = 8 * 1024 * 1024;
/// How many problems are told.
const TOLD: usize = 5;
/// How much of each is told.
const SHOWN: usize = 200;

/// What a tool takes.
pub struct ArgumentCheck {
    validator: Validator,
    /// How deep arguments may be that are checked.
    deepest: Option<usize>,
    schema: Value,
}

/// Why nothing can be checked against a schema.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnusableSchema(pub String);

/// What is wrong with arguments, for the model that wrote them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidArguments {
    /// The problems, the first ones.
    pub problems: Vec<String>,
    /// How many more there are.
    pub more: usize,
}

impl fmt::Display for InvalidArguments {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("the arguments do not fit the tool's schema: ")?;
        formatter.write_str(&self.problems.join("; "))?;
        if self.more > 0 {
            write!(formatter, "; and {} more", self.more)?;
        }
        Ok(())
    }
}

impl std::error::Error for InvalidArguments {}

impl ArgumentCheck {
    /// Prepares a schema, once for all calls. References to elsewhere are never fetched: they make
    /// the schema unusable.
    pub fn new(schema: &Map<String, Value>) -> Result<Self, UnusableSchema> {
        let schema = Value::Object(schema.clone());
        let validator = prepared(&schema)?;
        Ok(Self {
            deepest: recursion::deepest(&schema),
            validator,
            schema,
        })
    }

    /// Checks arguments. What is `null` and need not be given is left out: models write it for
    /// everything that they have no value for.
    pub fn check(
        &self,
        arguments: Map<String, Value>,
    ) -> Result<Map<String, Value>, InvalidArguments> {
        let mut arguments = Value::Object(arguments);
        if written_length(&arguments) > LARGEST {
            return Err(InvalidArguments {
                problems: vec!["they are larger than 8 MiB".to_owned()],
                more: 0,
            });
        }
        let is_too_deep = |most| recursion::depth(&arguments) > most;
        if self.deepest.is_some_and(is_too_deep) {
            // The server has to check these itself.
            return Ok(into_object(arguments));
        }
        if !self.validator.is_valid(&arguments) {
            nulls::leave_out(&mut arguments, &self.schema);
            problems(&self.validator, &arguments)?;
        }
        Ok(into_object(arguments))
    }
}

/// How many bytes a value takes as JSON; as many as can be where it can't be written.
pub(crate) fn written_length(value: &impl Serialize) -> usize {
    let mut length = Length(0);
    serde_json::to_writer(&mut length, value).map_or(usize::MAX, |()| length.0)
}

/// Counts what is written to it.
struct Length(usize);

impl Write for Length {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 = self.0.saturating_add(bytes.len());
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn into_object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(object) => object,
        _ => Map::new(),
    }
}

/// Prepares a schema, and gives up on one that can't be used.
fn prepared(schema: &Value) -> Result<Validator, UnusableSchema> {
    if written_length(schema) > LARGEST_SCHEMA {
        return Err(UnusableSchema("its schema is too large".to_owned()));
    }
    if effort::takes_too_long(schema) {
        let reason = "its schema takes too long to check: too many references lead to each other";
        return Err(UnusableSchema(reason.to_owned()));
    }
    jsonschema::validator_for(schema).map_err(|error| {
        let reason = shown(&error.to_string());
        UnusableSchema(format!("its schema can't be used: {reason}"))
    })
}

/// Finds what is wrong with a value.
fn problems(validator: &Validator, value: &Value) -> Result<(), InvalidArguments> {
    let mut errors = validator.iter_errors(value);
    let problems: Vec<String> = errors
        .by_ref()
        .take(TOLD)
        .map(|error| {
            let place = error.instance_path().to_string();
            let place = if place.is_empty() { "/" } else { &place };
            format!("at `{}`: {}", shown(place), shown(&error.to_string()))
        })
        .collect();
    if problems.is_empty() {
        return Ok(());
    }
    // Counting goes on only so far.
    let more = errors.take(1_000).count();
    Err(InvalidArguments { problems, more })
}

fn shown(text: &str) -> String {
    let clean = text.chars().map(|character| {
        if character.is_control() {
            ' '
        } else {
            character
        }
    });
    clean.take(SHOWN).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn object(value: Value) -> Map<String, Value> {
        match value {
            Value::Object(object) => object,
            other => panic!("not an object: {other}"),
        }
    }

    fn check(schema: Value, arguments: Value) -> Result<Value, InvalidArguments> {
        let check = ArgumentCheck::new(&object(schema)).unwrap();
        check.check(object(arguments)).map(Value::Object)
    }

    fn schema() -> Value {
        json!({
            "type": "object",
            "properties": {
                "path": { "type": "string" },
                "depth": { "type": "integer", "minimum": 1 },
                "note": { "type": ["string", "null"] },
                "inner": {
                    "type": "object",
                    "properties": { "deep": { "type": "boolean" } },
                },
            },
            "required": ["path"],
            "additionalProperties": false,
        })
    }

    #[test]
    fn what_fits_is_left_alone() {
        let fitting = json!({"path": "a", "depth": 2, "note": null, "inner": {"deep": true}});
        assert_eq!(check(schema(), fitting.clone()).unwrap(), fitting);
    }

    #[test]
    fn what_need_not_be_given_may_be_null() {
        let written = json!({"path": "a", "depth": null, "note": null, "inner": {"deep": null}});
        let sent = json!({"path": "a", "note": null, "inner": {}});
        assert_eq!(check(schema(), written).unwrap(), sent);
        assert!(
            check(schema(), json!({"path": null})).is_err(),
            "it must be given"
        );
    }

    #[test]
    fn a_model_is_told_precisely_what_is_wrong() {
        let wrong = json!({"path": 7, "depth": 0, "other": 1});
        let error = check(schema(), wrong).unwrap_err();
        let text = error.to_string();
        assert_eq!(error.problems.len(), 3, "{text}");
        assert!(
            text.contains("at `/path`: 7 is not of type \"string\""),
            "{text}"
        );
        assert!(
            text.contains("at `/depth`: 0 is less than the minimum of 1"),
            "{text}"
        );
        assert!(text.contains("'other'"), "{text}");
        let many = json!({"type": "object", "additionalProperties": {"type": "string"}});
        let values: Map<String, Value> = (0..50).map(|n| (n.to_string(), n.into())).collect();
        let error = check(many, Value::Object(values)).unwrap_err();
        assert_eq!((error.problems.len(), error.more), (TOLD, 45));
    }

    #[test]
    fn schemas_that_can_not_be_used_say_why() {
        let reason = |schema: Value| match ArgumentCheck::new(&object(schema)) {
            Ok(_) => panic!("it can be used"),
            Err(UnusableSchema(reason)) => reason,
        };
        assert!(reason(json!({"type": "nonsense"})).contains("can't be used"));
        let elsewhere = json!({"$ref": "http://127.0.0.1:9/schema.json"});
        assert!(reason(elsewhere).contains("can't be used"));
        let long = json!({"description": "x".repeat(LARGEST_SCHEMA)});
        assert!(reason(long).contains("too large"));
    }

    #[test]
    fn a_schema_that_refers_to_itself_is_checked() {
        let tree = json!({
            "type": "object",
            "properties": { "children": { "type": "array", "items": { "$ref": "#" } } },
            "additionalProperties": false,
        });
        let good = json!({"children": [{"children": []}, {}]});
        assert!(check(tree.clone(), good).is_ok());
        assert!(check(tree, json!({"children": [{"leaf": 1}]})).is_err());
    }

    #[test]
    fn large_arguments_are_refused() {
        let error = check(json!({}), json!({"a": "x".repeat(LARGEST)})).unwrap_err();
        assert!(error.to_string().contains("8 MiB"));
    }
}
