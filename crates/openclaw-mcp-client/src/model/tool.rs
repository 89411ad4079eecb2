//! Tools, and what they give.

use openclaw_json::read_value;
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::{Content, Fields};
use crate::wire::{Listed, RawJson};

/// A tool of a server, in the server's words.
#[derive(Clone, Debug, PartialEq)]
pub struct Tool {
    /// Its name.
    pub name: String,
    /// A name for people.
    pub title: Option<String>,
    /// What it does.
    pub description: Option<String>,
    /// What it takes, as a JSON Schema of an object.
    pub input_schema: Map<String, Value>,
    /// What it gives, as a JSON Schema.
    pub output_schema: Option<Value>,
    /// What the server says about its effects.
    pub annotations: ToolAnnotations,
    /// What else the server says about it.
    pub meta: Option<Map<String, Value>>,
    /// All the rest of its definition.
    pub other: Map<String, Value>,
}

/// What a server says about the effects of a tool. Only its word.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToolAnnotations {
    /// A name for people.
    pub title: Option<String>,
    /// It changes nothing.
    pub read_only: Option<bool>,
    /// It may destroy something.
    pub destructive: Option<bool>,
    /// Doing it twice is like doing it once.
    pub idempotent: Option<bool>,
    /// It reaches beyond what the server knows.
    pub open_world: Option<bool>,
}

/// How many parts of a result are read.
const BLOCK_LIMIT: usize = 10_000;

/// The parts of a result, not read yet.
#[derive(Deserialize)]
struct Parts<'a> {
    #[serde(borrow, default, deserialize_with = "blocks")]
    content: Listed<'a>,
    #[serde(borrow, default, rename = "structuredContent")]
    structured: Option<&'a RawValue>,
    #[serde(borrow, default, rename = "toolResult")]
    old: Option<&'a RawValue>,
    #[serde(borrow, default, rename = "isError")]
    is_error: Option<&'a RawValue>,
    #[serde(borrow, default, rename = "_meta")]
    meta: Option<&'a RawValue>,
}

fn blocks<'de, D: Deserializer<'de>>(source: D) -> Result<Listed<'de>, D::Error> {
    Listed::read(source, BLOCK_LIMIT)
}

/// What a tool gave.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ToolResult {
    /// Its parts, in order.
    pub content: Vec<Content>,
    /// The same as data, where the tool gives any.
    pub structured: Option<Value>,
    /// Whether it says that it failed.
    pub is_error: bool,
    /// What else the server says about it.
    pub meta: Option<Map<String, Value>>,
    /// What could not be read and is missing, one sentence each.
    pub missing: Vec<String>,
}

impl Tool {
    pub(crate) fn read(mut fields: Fields) -> Result<Self, String> {
        let name = fields.text("name").filter(|name| !name.is_empty());
        let name = name.ok_or("it has no name")?;
        let input_schema = match fields.0.remove("inputSchema") {
            Some(Value::Object(schema)) => schema,
            Some(_) => return Err(format!("the input schema of `{name}` is not an object")),
            None => return Err(format!("`{name}` has no input schema")),
        };
        let execution = fields.object("execution").unwrap_or_default();
        if execution.get("taskSupport").and_then(Value::as_str) == Some("required") {
            return Err(format!(
                "`{name}` runs only as a task, which is not offered here"
            ));
        }
        Ok(Self {
            name,
            title: fields.text("title"),
            description: fields.text("description"),
            input_schema,
            output_schema: fields.value("outputSchema"),
            annotations: fields
                .object("annotations")
                .map(|object| ToolAnnotations::read(Fields(object)))
                .unwrap_or_default(),
            meta: fields.object("_meta"),
            other: fields.0,
        })
    }
}

impl ToolAnnotations {
    fn read(mut fields: Fields) -> Self {
        Self {
            title: fields.text("title"),
            read_only: fields.flag("readOnlyHint"),
            destructive: fields.flag("destructiveHint"),
            idempotent: fields.flag("idempotentHint"),
            open_world: fields.flag("openWorldHint"),
        }
    }
}

impl ToolResult {
    /// Reads a result part by part, so that what can't be read in one part costs only that part.
    pub(crate) fn read(raw: &RawJson) -> Result<Self, String> {
        let parts: Parts<'_> = serde_json::from_str(raw.text())
            .map_err(|_| "the result of the tool is not an object".to_owned())?;
        let mut result = Self {
            is_error: parts.is_error.is_some_and(|flag| flag.get() == "true"),
            meta: parts
                .meta
                .and_then(|meta| read_value(meta.get().as_bytes()).ok())
                .and_then(Fields::of)
                .map(|fields| fields.0),
            ..Self::default()
        };
        result.read_content(&parts.content);
        // The last one is how the first drafts of the protocol had it.
        if let Some(data) = parts.structured.or(parts.old) {
            result.read_structured(data);
        }
        Ok(result)
    }

    fn read_content(&mut self, content: &Listed<'_>) {
        let blocks = match content {
            Listed::Absent => return,
            Listed::Other => {
                self.missing.push("the content is not a list".to_owned());
                return;
            }
            Listed::Items(blocks) => blocks,
        };
        self.content.reserve_exact(blocks.items.len());
        for (number, block) in blocks.items.iter().enumerate() {
            if let Some(text) = Content::read_text(block) {
                self.content.push(text);
                continue;
            }
            match read_value(block.get().as_bytes()) {
                Ok(block) => self.content.push(Content::read(block)),
                Err(error) => {
                    let number = number + 1;
                    self.missing
                        .push(format!("part {number} can't be read: {error}"));
                }
            }
        }
        if blocks.more > 0 {
            self.missing.push(format!("{} more parts", blocks.more));
        }
    }

    fn read_structured(&mut self, data: &RawValue) {
        let what = "the structured content";
        match read_value(data.get().as_bytes()) {
            Ok(Value::Null) => {}
            Ok(value) => self.structured = Some(value),
            Err(error) => self.missing.push(format!("{what} can't be read: {error}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;

    fn result(text: &str) -> ToolResult {
        let bytes = Bytes::copy_from_slice(text.as_bytes());
        let raw: &RawValue = serde_json::from_slice(&bytes).unwrap();
        ToolResult::read(&RawJson::within(&bytes, raw)).unwrap()
    }

    #[test]
    fn one_bad_part_costs_only_itself() {
        let deep = format!("{}{}", "[".repeat(500), "]".repeat(500));
        let result = result(&format!(
            r#"{{"content":[{{"type":"text","text":"a"}},{deep},{{"type":"hologram","x":1}}],
                "structuredContent":{deep},"isError":true}}"#
        ));
        assert_eq!(result.content.len(), 2);
        assert!(matches!(&result.content[0], Content::Text { text, .. } if text == "a"));
        assert!(matches!(&result.content[1], Content::Unknown(_)));
        assert_eq!(result.missing.len(), 2);
        assert!(result.structured.is_none() && result.is_error);
    }

    #[test]
    fn a_result_with_nothing_in_it_is_empty() {
        assert_eq!(result("{}"), ToolResult::default());
        assert_eq!(result(r#"{"content":null}"#), ToolResult::default());
        for other in ["\"text\"", "{\"a\":[1]}", "1", "-1", "1.5", "true"] {
            let result = result(&format!("{{\"content\":{other}}}"));
            assert_eq!(result.missing.len(), 1, "{other}");
        }
        assert_eq!(
            result(r#"{"structuredContent":[1]}"#).structured,
            Some(serde_json::json!([1]))
        );
    }
}
