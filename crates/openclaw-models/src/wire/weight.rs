//! How much memory a value takes: far more than the text that it was read from.

use std::io;

use serde::Serialize;
use serde_json::{Map, Value};

/// What a list or an object makes room for with its first item.
const ROOM: usize = 4;
/// What a value takes in a list, without what it holds.
const VALUE: usize = size_of::<Value>();
/// What one takes in an object: with its name and the place that is found by it.
const FIELD: usize = VALUE + size_of::<String>() + 2 * size_of::<usize>();

/// About how many bytes a value takes.
pub(crate) fn weight(value: &Value) -> usize {
    VALUE
        + match value {
            Value::Null | Value::Bool(_) | Value::Number(_) => 0,
            Value::String(text) => text.len(),
            Value::Array(items) => {
                let spare = ROOM.saturating_sub(items.len());
                let room = if items.is_empty() { 0 } else { spare * VALUE };
                room + items.iter().map(weight).sum::<usize>()
            }
            Value::Object(fields) => fields_weight(fields),
        }
}

/// About how many bytes the fields of an object take.
pub(crate) fn fields_weight(fields: &Map<String, Value>) -> usize {
    let spare = ROOM.saturating_sub(fields.len());
    let room = if fields.is_empty() { 0 } else { spare * FIELD };
    let each = fields.iter().map(|(name, value)| {
        // The value itself is in the field.
        FIELD - VALUE + name.len() + weight(value)
    });
    room + each.sum::<usize>()
}

/// How many bytes something has when it is written.
pub(crate) fn written_length(value: &impl Serialize) -> usize {
    struct Counter(usize);
    impl io::Write for Counter {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0 = self.0.saturating_add(bytes.len());
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let mut counter = Counter(0);
    // What was parsed from JSON can be written as JSON.
    match serde_json::to_writer(&mut counter, value) {
        Ok(()) => counter.0,
        Err(_) => usize::MAX,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_empty_weighs_as_well() {
        let empty = Value::Array(vec![json!([]); 1000]);
        assert!(weight(&empty) >= 32_000);
        let objects = Value::Array(vec![json!({ "a": {} }); 1000]);
        assert!(weight(&objects) >= 200_000);
        assert!(weight(&json!("x".repeat(1000))) >= 1000);
    }

    #[test]
    fn what_would_be_written_is_counted() {
        let value = json!({ "a": [1, "ü", null], "b": {} });
        assert_eq!(written_length(&value), value.to_string().len());
    }
}
