//! The fields of an object that somebody else wrote.

use serde_json::{Map, Value};

/// An object whose fields are taken out one by one, so that nothing large is copied.
#[derive(Debug)]
pub(crate) struct Fields(pub(crate) Map<String, Value>);

impl Fields {
    /// The fields of a value, if it is an object.
    pub(crate) fn of(value: Value) -> Option<Self> {
        match value {
            Value::Object(fields) => Some(Self(fields)),
            _ => None,
        }
    }

    /// A text; `None` where there is something else or nothing.
    pub(crate) fn text(&mut self, name: &str) -> Option<String> {
        match self.0.remove(name) {
            Some(Value::String(text)) => Some(text),
            _ => None,
        }
    }

    pub(crate) fn flag(&mut self, name: &str) -> Option<bool> {
        self.0.remove(name).as_ref().and_then(Value::as_bool)
    }

    pub(crate) fn number(&mut self, name: &str) -> Option<u64> {
        let value = self.0.remove(name)?;
        value.as_u64()
    }

    pub(crate) fn object(&mut self, name: &str) -> Option<Map<String, Value>> {
        match self.0.remove(name) {
            Some(Value::Object(object)) => Some(object),
            _ => None,
        }
    }

    pub(crate) fn array(&mut self, name: &str) -> Option<Vec<Value>> {
        match self.0.remove(name) {
            Some(Value::Array(array)) => Some(array),
            _ => None,
        }
    }

    /// Anything but `null`.
    pub(crate) fn value(&mut self, name: &str) -> Option<Value> {
        self.0.remove(name).filter(|value| !value.is_null())
    }
}
