//! What makes two definitions of a tool the same.

use std::fmt;

use openclaw_mcp_client::Tool;
use ring::digest::{Context, SHA256};
use serde_json::{Map, Value, json};

/// A hash of all that a server says about a tool.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct DefinitionHash([u8; 16]);

impl DefinitionHash {
    /// The hash of a tool's definition. The order of keys makes no difference.
    pub fn of(tool: &Tool) -> Self {
        let mut hash = Hash(Context::new(&SHA256));
        hash.text("openclaw tool 1");
        hash.text(&tool.name);
        hash.option(tool.title.as_deref());
        hash.option(tool.description.as_deref());
        hash.object(&tool.input_schema);
        hash.value(tool.output_schema.as_ref().unwrap_or(&Value::Null));
        let annotations = &tool.annotations;
        hash.value(&json!({
            "title": annotations.title,
            "readOnly": annotations.read_only,
            "destructive": annotations.destructive,
            "idempotent": annotations.idempotent,
            "openWorld": annotations.open_world,
        }));
        hash.object(&tool.other);
        let digest = hash.0.finish();
        let mut bytes = [0; 16];
        bytes.copy_from_slice(&digest.as_ref()[..16]);
        Self(bytes)
    }

    /// The hash that this text shows.
    pub fn parse(text: &str) -> Option<Self> {
        if text.len() != 32 || !text.is_ascii() {
            return None;
        }
        let mut bytes = [0; 16];
        for (place, byte) in bytes.iter_mut().enumerate() {
            *byte = u8::from_str_radix(&text[place * 2..place * 2 + 2], 16).ok()?;
        }
        Some(Self(bytes))
    }
}

impl fmt::Display for DefinitionHash {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0
            .iter()
            .try_for_each(|byte| write!(formatter, "{byte:02x}"))
    }
}

impl fmt::Debug for DefinitionHash {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "DefinitionHash({self})")
    }
}

/// Hashes values such that no two different ones are written alike.
struct Hash(Context);

impl Hash {
    fn text(&mut self, text: &str) {
        self.0.update(&(text.len() as u64).to_le_bytes());
        self.0.update(text.as_bytes());
    }

    fn option(&mut self, text: Option<&str>) {
        self.0.update(&[u8::from(text.is_some())]);
        self.text(text.unwrap_or_default());
    }

    fn object(&mut self, object: &Map<String, Value>) {
        let mut entries: Vec<_> = object.iter().collect();
        entries.sort_by_key(|(name, _)| *name);
        self.0.update(b"o");
        self.0.update(&(entries.len() as u64).to_le_bytes());
        for (name, value) in entries {
            self.text(name);
            self.value(value);
        }
    }

    fn value(&mut self, value: &Value) {
        match value {
            Value::Object(object) => self.object(object),
            Value::Array(items) => {
                self.0.update(b"a");
                self.0.update(&(items.len() as u64).to_le_bytes());
                for item in items {
                    self.value(item);
                }
            }
            Value::String(text) => {
                self.0.update(b"s");
                self.text(text);
            }
            other => {
                self.0.update(b"v");
                self.text(&other.to_string());
            }
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use openclaw_mcp_client::ToolAnnotations;

    use super::*;

    pub(crate) fn tool(name: &str, description: &str, schema: Value) -> Tool {
        let Value::Object(input_schema) = schema else {
            panic!("not an object")
        };
        Tool {
            name: name.to_owned(),
            title: None,
            description: Some(description.to_owned()),
            input_schema,
            output_schema: None,
            annotations: ToolAnnotations::default(),
            meta: None,
            other: Map::new(),
        }
    }

    #[test]
    fn every_part_of_a_definition_counts_and_order_does_not() {
        let original = tool(
            "read",
            "Reads",
            json!({"type": "object", "properties": {"a": {}}}),
        );
        let hash = DefinitionHash::of(&original);
        let reordered = tool(
            "read",
            "Reads",
            json!({"properties": {"a": {}}, "type": "object"}),
        );
        assert_eq!(DefinitionHash::of(&reordered), hash);
        let others: [fn(&mut Tool); 7] = [
            |tool| tool.name = "reads".to_owned(),
            |tool| tool.title = Some(String::new()),
            |tool| tool.description = Some("Reads. Also sends.".to_owned()),
            |tool| tool.input_schema = Map::new(),
            |tool| tool.output_schema = Some(json!({})),
            |tool| tool.annotations.read_only = Some(true),
            |tool| tool.other = Map::from_iter([("icons".to_owned(), json!([]))]),
        ];
        for (number, alter) in others.into_iter().enumerate() {
            let mut other = original.clone();
            alter(&mut other);
            assert_ne!(DefinitionHash::of(&other), hash, "change {number}");
        }
        assert_eq!(DefinitionHash::parse(&hash.to_string()), Some(hash));
        for text in ["", "xyz", &"g".repeat(32), &"ä".repeat(16)] {
            assert_eq!(DefinitionHash::parse(text), None);
        }
    }
}
