//! The types that a schema takes, through its references and unions.

use serde_json::Value;

use crate::schema::target;

/// How many schemas are looked at for one answer: references may lead round in circles.
const STEPS: usize = 256;
/// Keywords of which one or all of the schemas hold for the value itself.
const COMBINED: [&str; 3] = ["anyOf", "oneOf", "allOf"];

/// A type of values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Whatever it is.
    Any,
    /// One of the listed values.
    Choice,
    Null,
    Boolean,
    Integer,
    Number,
    Text,
    Array,
    Object,
}

/// One of the types that a value may have.
#[derive(Clone, Copy, Debug)]
pub(super) struct Alternative<'a> {
    pub(super) kind: Kind,
    /// The schema that says so, where there is one.
    pub(super) schema: Option<&'a Value>,
}

/// A schema with all that it refers to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Schemas<'a> {
    root: &'a Value,
}

impl<'a> Schemas<'a> {
    pub(super) fn new(root: &'a Value) -> Self {
        Self { root }
    }

    /// The types that a value may have, in the order of the schema; at least one.
    pub(super) fn alternatives(self, schema: Option<&'a Value>) -> Vec<Alternative<'a>> {
        let mut found = Vec::new();
        if let Some(schema) = schema {
            self.add(schema, &mut found, &mut STEPS.clone());
        }
        if found.is_empty() {
            found.push(Alternative {
                kind: Kind::Any,
                schema: None,
            });
        }
        found
    }

    fn add(self, schema: &'a Value, found: &mut Vec<Alternative<'a>>, steps: &mut usize) {
        let Some(left) = steps.checked_sub(1) else {
            return;
        };
        *steps = left;
        let mut add = |kind| {
            found.push(Alternative {
                kind,
                schema: Some(schema),
            });
        };
        if schema.get("enum").is_some_and(Value::is_array) || schema.get("const").is_some() {
            return add(Kind::Choice);
        }
        match schema.get("type") {
            Some(Value::String(name)) => return add(kind(name)),
            Some(Value::Array(names)) if !names.is_empty() => {
                let names = names.iter().filter_map(Value::as_str);
                return names.map(kind).for_each(add);
            }
            _ => {}
        }
        // What has no type but speaks of properties or items means objects or arrays.
        if schema.get("properties").is_some() {
            return add(Kind::Object);
        }
        if schema.get("items").is_some() || schema.get("prefixItems").is_some() {
            return add(Kind::Array);
        }
        let mut inner = self.inner(schema).peekable();
        if inner.peek().is_none() {
            return add(Kind::Any);
        }
        let before = found.len();
        for schema in inner {
            self.add(schema, found, steps);
        }
        // Where all must hold, one that takes anything only describes the others.
        let is_open = |it: &Alternative<'_>| it.kind == Kind::Any;
        let new = found.get(before..).unwrap_or_default();
        if schema.get("allOf").is_some() && !new.iter().all(is_open) {
            let new: Vec<_> = new.iter().copied().filter(|it| !is_open(it)).collect();
            found.truncate(before);
            found.extend(new);
        }
    }

    /// The schemas that hold for the same value.
    fn inner(self, schema: &'a Value) -> impl Iterator<Item = &'a Value> {
        let reference = schema.get("$ref").and_then(Value::as_str);
        let fragment = reference.and_then(|reference| reference.strip_prefix('#'));
        let referred = fragment.and_then(|fragment| target(self.root, fragment));
        let combined = COMBINED.iter();
        let combined = combined.filter_map(|keyword| schema.get(*keyword)?.as_array());
        referred.into_iter().chain(combined.flatten())
    }

    /// The schema of the property that bears this name in one of several objects.
    pub(super) fn named(self, objects: &[&'a Value], name: &str) -> Option<&'a Value> {
        self.search(objects, |schema| schema.get("properties")?.get(name))
    }

    /// The schema of a property, also where it is only one for all other names.
    pub(super) fn property(self, objects: &[&'a Value], name: &str) -> Option<&'a Value> {
        let others = |schema: &'a Value| {
            let others = schema.get("additionalProperties")?;
            others.is_object().then_some(others)
        };
        self.named(objects, name)
            .or_else(|| self.search(objects, others))
    }

    /// The first that is found in these schemas or in those that hold for the same values.
    fn search(
        self,
        objects: &[&'a Value],
        find: impl Fn(&'a Value) -> Option<&'a Value>,
    ) -> Option<&'a Value> {
        let mut waiting: Vec<_> = objects.iter().rev().copied().collect();
        for _ in 0..STEPS {
            let schema = waiting.pop()?;
            if let Some(found) = find(schema) {
                return Some(found);
            }
            let inner: Vec<_> = self.inner(schema).take(STEPS).collect();
            waiting.extend(inner.into_iter().rev());
        }
        None
    }
}

fn kind(name: &str) -> Kind {
    match name {
        "null" => Kind::Null,
        "boolean" => Kind::Boolean,
        "integer" => Kind::Integer,
        "number" => Kind::Number,
        "string" => Kind::Text,
        "array" => Kind::Array,
        "object" => Kind::Object,
        _ => Kind::Any,
    }
}
