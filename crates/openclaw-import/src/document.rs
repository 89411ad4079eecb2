//! Files into values: JSON with comments, and TOML.

use std::io::ErrorKind;
use std::path::Path;

use jsonc_parser::ast;
use jsonc_parser::{CollectOptions, CommentCollectionStrategy, ParseOptions, parse_to_ast};
use openclaw_state::{ReadError, read_bounded};
use serde_json::{Map, Number, Value};

/// How large a file may be. Claude Code keeps much more than servers in its file, so this is
/// generous.
const LARGEST: u64 = 16 << 20;

/// Why there is no document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum DocumentError {
    /// There is no such file.
    Missing,
    /// There is one that cannot be used.
    Unusable(String),
}

/// What a text is written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Notation {
    Json,
    Toml,
}

impl Notation {
    /// What the name of a file says.
    pub(crate) fn of(path: &Path) -> Self {
        match path.extension() {
            Some(extension) if extension.eq_ignore_ascii_case("toml") => Self::Toml,
            _ => Self::Json,
        }
    }
}

/// Reads a file.
pub(crate) fn read(path: &Path) -> Result<Value, DocumentError> {
    let bytes = read_bounded(path, LARGEST).map_err(|error| match error {
        ReadError::Missing(_) => DocumentError::Missing,
        // Something else stands where a directory would be.
        ReadError::Io { source, .. } if source.kind() == ErrorKind::NotADirectory => {
            DocumentError::Missing
        }
        error => DocumentError::Unusable(error.to_string()),
    })?;
    let unusable = |reason: String| {
        DocumentError::Unusable(format!("cannot use {}: {reason}", path.display()))
    };
    let text = std::str::from_utf8(&bytes).map_err(|_| unusable("it is not UTF-8 text".into()))?;
    parse(text, Notation::of(path)).map_err(unusable)
}

/// Parses a text; the message never repeats any of it, since it may be full of credentials.
pub(crate) fn parse(text: &str, notation: Notation) -> Result<Value, String> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    match notation {
        Notation::Json => parse_json(text),
        Notation::Toml => parse_toml(text),
    }
}

fn parse_json(text: &str) -> Result<Value, String> {
    let collect = CollectOptions {
        comments: CommentCollectionStrategy::Off,
        tokens: false,
    };
    let options = ParseOptions {
        allow_missing_commas: false,
        ..ParseOptions::default()
    };
    match parse_to_ast(text, &collect, &options) {
        Ok(result) => result.value.map_or_else(
            // What an editor leaves behind where nothing was configured.
            || Ok(Value::Object(Map::new())),
            |value| Ok(from_json(value)),
        ),
        Err(error) => Err(format!(
            "line {}, column {}: this is not JSON",
            error.line_display(),
            error.column_display()
        )),
    }
}

// The parser has bounded the nesting, so this recursion is bounded too.
fn from_json(value: ast::Value<'_>) -> Value {
    match value {
        ast::Value::NullKeyword(_) => Value::Null,
        ast::Value::BooleanLit(literal) => Value::Bool(literal.value),
        ast::Value::StringLit(literal) => Value::String(literal.value.into_owned()),
        // Notations that only JSON5 has mean nothing in these files.
        ast::Value::NumberLit(literal) => {
            serde_json::from_str::<Number>(literal.value).map_or(Value::Null, Value::Number)
        }
        ast::Value::Array(array) => array.elements.into_iter().map(from_json).collect(),
        // As the clients themselves do, the last of several equal keys counts.
        ast::Value::Object(object) => object
            .properties
            .into_iter()
            .map(|property| (property.name.into_string(), from_json(property.value)))
            .collect(),
    }
}

fn parse_toml(text: &str) -> Result<Value, String> {
    let table: toml::Table = text.parse().map_err(|error: toml::de::Error| {
        let start = error.span().map_or(0, |span| span.start);
        let before = text.get(..start).unwrap_or_default();
        let line = before.matches('\n').count() + 1;
        format!("line {line}: this is not TOML")
    })?;
    Ok(from_toml(toml::Value::Table(table)))
}

// Bounded in the same way.
fn from_toml(value: toml::Value) -> Value {
    match value {
        toml::Value::String(text) => Value::String(text),
        toml::Value::Integer(number) => Value::from(number),
        toml::Value::Float(number) => Number::from_f64(number).map_or(Value::Null, Value::Number),
        toml::Value::Boolean(value) => Value::Bool(value),
        toml::Value::Datetime(time) => Value::String(time.to_string()),
        toml::Value::Array(elements) => elements.into_iter().map(from_toml).collect(),
        toml::Value::Table(table) => table
            .into_iter()
            .map(|(key, value)| (key, from_toml(value)))
            .collect(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn comments_commas_and_a_byte_order_mark_do_no_harm() {
        let text = "\u{feff}// mine\n{ \"a\": [1, 2.5, true, null,], /* b */ \"b\": 'x', }";
        let value = parse(text, Notation::Json).unwrap();
        assert_eq!(value, json!({ "a": [1, 2.5, true, null], "b": "x" }));
        assert_eq!(parse(" \n", Notation::Json), Ok(json!({})));
    }

    #[test]
    fn toml_keeps_its_order_and_becomes_the_same_kind_of_value() {
        let text = "[z.b]\nx = 1\nwhen = 2026-01-02\n[z.a]\ny = [1.5, nan]\n";
        let value = parse(text, Notation::Toml).unwrap();
        let expected = r#"{"z":{"b":{"x":1,"when":"2026-01-02"},"a":{"y":[1.5,null]}}}"#;
        assert_eq!(value.to_string(), expected);
    }

    #[test]
    fn a_syntax_error_names_its_line_and_repeats_nothing() {
        let json = parse("{\n  \"key\": sk-secret\n}", Notation::Json).unwrap_err();
        assert_eq!(json, "line 2, column 10: this is not JSON");
        let toml = parse("a = 1\nkey = sk-secret\n", Notation::Toml).unwrap_err();
        assert_eq!(toml, "line 2: this is not TOML");
    }
}
