//! Structured results, checked against what their tool promised.

use std::fmt;

use jsonschema::Validator;
use serde_json::Value;

use super::{UnusableSchema, prepared, recursion, shown};

/// What a tool gives.
pub struct OutputCheck {
    validator: Validator,
    /// How deep results may be that are checked.
    deepest: Option<usize>,
}

impl fmt::Debug for OutputCheck {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("OutputCheck")
            .finish_non_exhaustive()
    }
}

impl OutputCheck {
    /// Prepares a schema, once for all results. References to elsewhere are never fetched: they
    /// make the schema unusable.
    pub fn new(schema: &Value) -> Result<Self, UnusableSchema> {
        let validator = prepared(schema)?;
        Ok(Self {
            validator,
            deepest: recursion::deepest(schema),
        })
    }

    /// Checks a result, and says in one sentence what is wrong first. The sentence quotes the
    /// server: it is foreign text, on one line and short.
    pub fn check(&self, result: &Value) -> Result<(), String> {
        if self
            .deepest
            .is_some_and(|most| recursion::depth(result) > most)
        {
            return Ok(());
        }
        // Looking for no more than the first: a result may be large, and wrong all over.
        let Err(error) = self.validator.validate(result) else {
            return Ok(());
        };
        let place = error.instance_path().to_string();
        let place = if place.is_empty() { "/" } else { &place };
        Err(format!(
            "the structured result does not fit the tool's output schema: at `{}`: {}",
            shown(place),
            shown(&error.to_string())
        ))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn check(schema: &Value, result: &Value) -> Result<(), String> {
        OutputCheck::new(schema).unwrap().check(result)
    }

    #[test]
    fn what_was_promised_passes_and_the_first_mistake_is_named() {
        let schema = json!({
            "type": "object",
            "properties": { "degrees": { "type": "number" }, "sky": { "enum": ["clear"] } },
            "required": ["degrees"],
        });
        assert_eq!(
            check(&schema, &json!({"degrees": 7.5, "sky": "clear", "more": 1})),
            Ok(())
        );
        let error = check(&schema, &json!({"degrees": "warm"})).unwrap_err();
        let expected = "the structured result does not fit the tool's output schema: \
                        at `/degrees`: \"warm\" is not of type \"number\"";
        assert_eq!(error, expected);
        let error = check(&schema, &json!({})).unwrap_err();
        assert!(
            error.contains("at `/`: \"degrees\" is a required property"),
            "{error}"
        );
        assert!(check(&schema, &json!([])).is_err());
        assert!(check(&json!(true), &json!([])).is_ok());
    }

    #[test]
    fn the_sentence_is_short_and_on_one_line() {
        let text = "\u{1b}[31m\n".repeat(100_000);
        let error = check(&json!({"type": "number"}), &json!(text)).unwrap_err();
        assert!(error.len() < 1_000, "{}", error.len());
        assert!(!error.contains(char::is_control), "{error:?}");
        let name = "x".repeat(100_000);
        let error = check(&json!({"additionalProperties": false}), &json!({name: 1})).unwrap_err();
        assert!(error.len() < 1_000, "{}", error.len());
    }

    #[test]
    fn schemas_that_can_not_be_used_say_why() {
        for schema in [
            json!({"type": "nonsense"}),
            json!({"$ref": "http://127.0.0.1:9/schema.json"}),
            json!({"$ref": "file:///etc/passwd"}),
            json!({"$ref": "#/$defs/missing"}),
            json!({"pattern": "("}),
            json!("text"),
            json!(7),
        ] {
            let UnusableSchema(reason) = OutputCheck::new(&schema).unwrap_err();
            assert!(reason.contains("can't be used"), "{schema}: {reason}");
            assert!(reason.len() < 1_000, "{}", reason.len());
        }
    }

    #[test]
    fn schemas_that_lead_back_to_themselves_end() {
        let turning = [
            json!({"$ref": "#"}),
            json!({"allOf": [{"$ref": "#"}]}),
            json!({"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}}),
        ];
        for schema in turning {
            if let Ok(check) = OutputCheck::new(&schema) {
                let _ = check.check(&json!({"a": 1}));
            }
        }
        let tree = json!({"properties": {"inner": {"$ref": "#"}}, "required": ["leaf"]});
        assert!(check(&tree, &json!({"leaf": 1, "inner": {"leaf": 2}})).is_ok());
        assert!(check(&tree, &json!({"leaf": 1, "inner": {}})).is_err());
    }

    proptest! {
        #[test]
        fn it_agrees_with_the_check_of_arguments(key in "[ab]", number in -3_i64..3) {
            let schema = json!({"properties": {"a": {"minimum": 0}}, "required": ["a"]});
            let Value::Object(object) = schema.clone() else { unreachable!() };
            let result = json!({key: number});
            let Value::Object(arguments) = result.clone() else { unreachable!() };
            let other = crate::ArgumentCheck::new(&object).unwrap().check(arguments);
            prop_assert_eq!(check(&schema, &result).is_ok(), other.is_ok());
        }
    }
}
