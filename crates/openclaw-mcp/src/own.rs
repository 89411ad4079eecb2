//! Tools of our own, as models see them.

use openclaw_mcp_client::{Tool, ToolAnnotations};
use serde_json::{Map, Value, json};

/// A tool of our own, as models see it.
#[derive(Clone, Debug, PartialEq)]
pub struct OwnTool {
    /// Its name.
    pub name: &'static str,
    /// What it does.
    pub description: &'static str,
    /// What it takes, as a JSON Schema of an object.
    pub input_schema: Map<String, Value>,
}

impl OwnTool {
    /// A tool that takes an object with these properties, and no others.
    pub fn new(
        name: &'static str,
        description: &'static str,
        properties: Value,
        required: &[&str],
    ) -> Self {
        let schema = [
            ("type", json!("object")),
            ("properties", properties),
            ("required", json!(required)),
            ("additionalProperties", json!(false)),
        ];
        let schema = schema.map(|(keyword, value)| (keyword.to_owned(), value));
        Self {
            name,
            description,
            input_schema: Map::from_iter(schema),
        }
    }

    /// The same as a server would define it: what a person allows is remembered by that.
    pub(crate) fn definition(&self) -> Tool {
        Tool {
            name: self.name.to_owned(),
            title: None,
            description: Some(self.description.to_owned()),
            input_schema: self.input_schema.clone(),
            output_schema: None,
            annotations: ToolAnnotations::default(),
            meta: None,
            other: Map::new(),
        }
    }
}
