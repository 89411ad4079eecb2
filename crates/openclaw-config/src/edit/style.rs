//! The manner in which a file is written, for what is added to it.

use jsonc_parser::cst::{CstInputValue, CstNode, CstObjectProp, ObjectPropName};
use serde_json::Value as Json;

/// How keys and strings are quoted in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Style {
    bare_keys: bool,
    single_quotes: bool,
}

impl Style {
    /// Finds the manner of a file: that of most of its keys and strings.
    pub(super) fn of(text: &str) -> Self {
        let root = jsonc_parser::cst::CstRootNode::parse(text, &crate::parse::options());
        let mut count = Count::default();
        if let Ok(root) = root
            && let Some(value) = root.value()
        {
            count.node(&value);
        }
        Self {
            bare_keys: count.bare_keys > count.quoted_keys,
            single_quotes: count.single > count.double,
        }
    }

    /// Writes the key and the value of a new property in this manner.
    pub(super) fn apply(self, property: &CstObjectProp) {
        self.apply_key(property);
        self.apply_value(property);
    }

    /// Writes a new value in this manner.
    pub(super) fn apply_value(self, property: &CstObjectProp) {
        if let Some(value) = property.value() {
            self.node(&value);
        }
    }

    fn apply_key(self, property: &CstObjectProp) {
        if let Some(ObjectPropName::String(literal)) = property.name()
            && let Ok(name) = literal.decoded_value()
        {
            if self.bare_keys && is_identifier(&name) {
                literal.set_raw_value(name);
            } else {
                self.quote(&literal, &name);
            }
        }
    }

    fn quote(self, literal: &jsonc_parser::cst::CstStringLit, text: &str) {
        if self.single_quotes
            && !text.contains(['\'', '\\', '"'])
            && !text.contains(char::is_control)
        {
            literal.set_raw_value(format!("'{text}'"));
        }
    }

    fn node(self, node: &CstNode) {
        if let Some(object) = node.as_object() {
            for property in object.properties() {
                self.apply(&property);
            }
        } else if let Some(array) = node.as_array() {
            for element in array.elements() {
                self.node(&element);
            }
        } else if let Some(literal) = node.as_string_lit()
            && let Ok(text) = literal.decoded_value()
        {
            self.quote(&literal, &text);
        }
    }
}

#[derive(Default)]
struct Count {
    bare_keys: usize,
    quoted_keys: usize,
    single: usize,
    double: usize,
}

impl Count {
    fn node(&mut self, node: &CstNode) {
        if let Some(object) = node.as_object() {
            for property in object.properties() {
                match property.name() {
                    Some(ObjectPropName::Word(_)) => self.bare_keys += 1,
                    Some(ObjectPropName::String(literal)) => {
                        self.quoted_keys += 1;
                        self.string(&literal.raw_value());
                    }
                    None => {}
                }
                if let Some(value) = property.value() {
                    self.node(&value);
                }
            }
        } else if let Some(array) = node.as_array() {
            for element in array.elements() {
                self.node(&element);
            }
        } else if let Some(literal) = node.as_string_lit() {
            self.string(&literal.raw_value());
        }
    }

    fn string(&mut self, raw: &str) {
        if raw.starts_with('\'') {
            self.single += 1;
        } else {
            self.double += 1;
        }
    }
}

/// Whether a key can stand without quotes in JSON5.
fn is_identifier(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic() || matches!(c, '_' | '$'))
        && name
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '$'))
}

/// A JSON value as the parser takes it.
pub(super) fn input(value: Json) -> CstInputValue {
    match value {
        Json::Null => CstInputValue::Null,
        Json::Bool(value) => CstInputValue::Bool(value),
        Json::Number(number) => CstInputValue::Number(number.to_string()),
        Json::String(text) => CstInputValue::String(text),
        Json::Array(elements) => CstInputValue::Array(elements.into_iter().map(input).collect()),
        Json::Object(members) => CstInputValue::Object(
            members
                .into_iter()
                .map(|(key, value)| (key, input(value)))
                .collect(),
        ),
    }
}
