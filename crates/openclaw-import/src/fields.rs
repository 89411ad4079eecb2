//! Taking fields off a server, so that what is left over is known.

use serde_json::{Map, Value};

/// The fields of a server that nobody has looked at yet.
#[derive(Clone, Debug)]
pub(crate) struct Fields(Map<String, Value>);

impl Fields {
    pub(crate) fn new(fields: &Map<String, Value>) -> Self {
        Self(fields.clone())
    }

    /// Takes a field; `null` is the same as none.
    pub(crate) fn take(&mut self, name: &str) -> Option<Value> {
        self.0.shift_remove(name).filter(|value| !value.is_null())
    }

    /// Takes the first spelling of a field that is there, with its name; others stay.
    pub(crate) fn take_any<'n>(&mut self, names: &[&'n str]) -> Option<(&'n str, Value)> {
        let mut found = None;
        for name in names {
            if found.is_none() {
                found = self.take(name).map(|value| (*name, value));
            }
        }
        found
    }

    /// The names of what is left.
    pub(crate) fn left(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }
}

/// What a value is, for messages.
pub(crate) fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}
