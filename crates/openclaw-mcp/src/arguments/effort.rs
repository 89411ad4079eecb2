//! Schemas that would keep us busy for ever.

use std::collections::HashMap;

use serde_json::{Map, Value};

use crate::schema::target;

/// How many schemas may have to be looked at for one value.
const MOST: u64 = 20_000;
/// How many references may lead from one to the next.
const DEPTH: usize = 512;
/// Keywords whose schemas hold for the value itself.
const SAME_VALUE: [&str; 8] = [
    "allOf",
    "anyOf",
    "oneOf",
    "not",
    "if",
    "then",
    "else",
    "dependentSchemas",
];

/// Whether checking a single value against a schema takes too long.
///
/// Thirty definitions that each refer to the next one twice are a short schema, and a thousand
/// million steps. What a value holds is not looked into: how much that costs depends on the value.
pub(super) fn takes_too_long(schema: &Value) -> bool {
    let mut efforts = Efforts {
        root: schema,
        anchors: HashMap::new(),
        known: HashMap::new(),
    };
    efforts.find_anchors(schema);
    efforts.any_is_too_much(schema)
}

struct Efforts<'a> {
    root: &'a Value,
    /// Schemas that bear names, found once: there may be as many references to them.
    anchors: HashMap<&'a str, &'a Value>,
    /// How many schemas each one leads to, by where it is in memory; none while it is counted.
    known: HashMap<*const Value, Option<u64>>,
}

impl<'a> Efforts<'a> {
    fn find_anchors(&mut self, schema: &'a Value) {
        if let Some(Value::String(name)) = schema.get("$anchor") {
            self.anchors.entry(name).or_insert(schema);
        }
        within(schema).for_each(|inner| self.find_anchors(inner));
    }

    /// Whether this schema or one within it is too much. Values that are no schemas do no harm.
    fn any_is_too_much(&mut self, schema: &'a Value) -> bool {
        self.of(schema, DEPTH) > MOST || within(schema).any(|inner| self.any_is_too_much(inner))
    }

    fn of(&mut self, schema: &'a Value, depth: usize) -> u64 {
        let Some(depth) = depth.checked_sub(1) else {
            return MOST + 1;
        };
        let place = std::ptr::from_ref(schema);
        match self.known.get(&place) {
            Some(Some(effort)) => return *effort,
            // It leads back to itself, and checking stops there.
            Some(None) => return 1,
            None => {}
        }
        self.known.insert(place, None);
        let mut effort = 1_u64;
        for inner in self.inner(schema) {
            effort = effort.saturating_add(self.of(inner, depth));
        }
        self.known.insert(place, Some(effort));
        effort
    }

    fn inner(&self, schema: &'a Value) -> Vec<&'a Value> {
        let reference = schema.get("$ref").and_then(Value::as_str);
        let fragment = reference.and_then(|reference| reference.strip_prefix('#'));
        let referred = fragment.and_then(|fragment| match self.anchors.get(fragment) {
            Some(schema) => Some(*schema),
            None if fragment.is_empty() || fragment.starts_with('/') => target(self.root, fragment),
            None => None,
        });
        let mut found: Vec<_> = referred.into_iter().collect();
        for keyword in SAME_VALUE {
            match schema.get(keyword) {
                Some(Value::Array(schemas)) => found.extend(schemas),
                Some(Value::Object(named)) if keyword == "dependentSchemas" => {
                    found.extend(named.values());
                }
                Some(schema) => found.push(schema),
                None => {}
            }
        }
        found
    }
}

/// Everything that stands directly within a value.
fn within(value: &Value) -> impl Iterator<Item = &Value> {
    let values = value.as_object().into_iter().flat_map(Map::values);
    values.chain(value.as_array().into_iter().flatten())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Definitions that each refer to the next one twice.
    fn doubling(levels: usize, keyword: &str) -> Value {
        let level = |number: usize| {
            let next = json!({"$ref": format!("#/$defs/{}", number + 1)});
            (number.to_string(), json!({keyword: [next, next]}))
        };
        let mut definitions: Map<_, _> = (0..levels).map(level).collect();
        definitions.insert(levels.to_string(), json!({"type": "object"}));
        json!({"properties": {"a": {"$ref": "#/$defs/0"}}, "$defs": definitions})
    }

    #[test]
    fn what_doubles_at_every_step_is_too_much() {
        for keyword in ["allOf", "anyOf", "oneOf"] {
            assert!(takes_too_long(&doubling(40, keyword)));
            assert!(takes_too_long(&doubling(400, keyword)));
            assert!(!takes_too_long(&doubling(8, keyword)));
        }
    }

    #[test]
    fn names_of_schemas_are_no_way_around() {
        let level = |number: usize| {
            let next = json!({"$ref": format!("#n{}", number + 1)});
            json!({"$anchor": format!("n{number}"), "allOf": [next, next]})
        };
        let levels: Vec<_> = (0..40).map(level).collect();
        assert!(takes_too_long(
            &json!({"$ref": "#n0", "$defs": {"a": levels}})
        ));
        assert!(!takes_too_long(
            &json!({"$ref": "#n0", "$defs": {"a": levels[30..]}})
        ));
    }

    #[test]
    fn a_long_way_is_refused_and_not_followed() {
        let level = |number: usize| {
            let next = json!({"$ref": format!("#/$defs/{}", number + 1)});
            (number.to_string(), next)
        };
        let definitions: Map<_, _> = (0..5_000).map(level).collect();
        assert!(takes_too_long(
            &json!({"$ref": "#/$defs/0", "$defs": definitions})
        ));
    }

    #[test]
    fn what_is_usual_is_not_too_much() {
        let variants: Vec<_> = (0..500)
            .map(|number| json!({"properties": {"kind": {"const": number}, "next": {"$ref": "#"}}}))
            .collect();
        assert!(!takes_too_long(&json!({"oneOf": variants})));
        assert!(!takes_too_long(&json!({"allOf": [{"$ref": "#"}]})));
        assert!(!takes_too_long(
            &json!({"$ref": "http://elsewhere/#/$defs/a"})
        ));
        assert!(!takes_too_long(&json!(true)));
    }
}
