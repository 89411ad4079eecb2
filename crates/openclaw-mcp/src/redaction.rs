//! Our own credentials, hidden in what servers say: a server that got one may send it back.

use std::borrow::Cow;

use openclaw_mcp_client::{Content, Embedded, ToolResult};
use openclaw_secrets::Redactor;
use serde_json::{Map, Value};

use crate::supervise::Catalog;

/// Hides credentials in a text.
pub fn hide_text(text: &mut String, redactor: &Redactor) {
    if let Cow::Owned(redacted) = redactor.redact_learned(text) {
        *text = redacted;
    }
}

fn hide_optional_text(text: &mut Option<String>, redactor: &Redactor) {
    if let Some(text) = text {
        hide_text(text, redactor);
    }
}

/// Hides credentials in all texts of a value, names of fields included.
pub fn hide_value(value: &mut Value, redactor: &Redactor) {
    match value {
        Value::String(text) => hide_text(text, redactor),
        Value::Array(items) => items.iter_mut().for_each(|item| hide_value(item, redactor)),
        Value::Object(fields) => hide_fields(fields, redactor),
        _ => {}
    }
}

fn hide_fields(fields: &mut Map<String, Value>, redactor: &Redactor) {
    let is_shown = |name: &String| matches!(redactor.redact_learned(name), Cow::Borrowed(_));
    if !fields.keys().all(is_shown) {
        let hidden = std::mem::take(fields).into_iter().map(|(mut name, value)| {
            hide_text(&mut name, redactor);
            (name, value)
        });
        *fields = hidden.collect();
    }
    fields
        .values_mut()
        .for_each(|value| hide_value(value, redactor));
}

fn hide_optional_value(value: &mut Option<Value>, redactor: &Redactor) {
    if let Some(value) = value {
        hide_value(value, redactor);
    }
}

/// Hides credentials in the contents of a resource. Binary content is not read by anybody.
pub fn hide_embedded(embedded: &mut Embedded, redactor: &Redactor) {
    hide_text(&mut embedded.uri, redactor);
    hide_optional_text(&mut embedded.mime_type, redactor);
    hide_optional_text(&mut embedded.text, redactor);
}

/// Hides credentials in a part of a result.
pub fn hide_content(content: &mut Content, redactor: &Redactor) {
    match content {
        Content::Text { text, annotations } => {
            hide_text(text, redactor);
            hide_optional_value(annotations, redactor);
        }
        Content::Image {
            mime_type,
            annotations,
            ..
        }
        | Content::Audio {
            mime_type,
            annotations,
            ..
        } => {
            hide_text(mime_type, redactor);
            hide_optional_value(annotations, redactor);
        }
        Content::Resource(embedded) => hide_embedded(embedded, redactor),
        Content::Link {
            uri,
            name,
            title,
            description,
            mime_type,
            ..
        } => {
            hide_text(uri, redactor);
            hide_text(name, redactor);
            for text in [title, description, mime_type] {
                hide_optional_text(text, redactor);
            }
        }
        Content::Unknown(value) => hide_value(value, redactor),
    }
}

/// Hides credentials in a result.
pub(crate) fn hide_result(result: &mut ToolResult, redactor: &Redactor) {
    for content in &mut result.content {
        hide_content(content, redactor);
    }
    hide_optional_value(&mut result.structured, redactor);
    for text in &mut result.missing {
        hide_text(text, redactor);
    }
}

/// Hides credentials in what a server offers.
pub(crate) fn hide(catalog: &mut Catalog, redactor: &Redactor) {
    for tool in &mut catalog.tools {
        for text in [
            &mut tool.title,
            &mut tool.description,
            &mut tool.annotations.title,
        ] {
            hide_optional_text(text, redactor);
        }
        hide_fields(&mut tool.input_schema, redactor);
        hide_optional_value(&mut tool.output_schema, redactor);
    }
    for resource in &mut catalog.resources {
        for text in [
            &mut resource.title,
            &mut resource.description,
            &mut resource.mime_type,
        ] {
            hide_optional_text(text, redactor);
        }
    }
    for template in &mut catalog.templates {
        for text in [
            &mut template.title,
            &mut template.description,
            &mut template.mime_type,
        ] {
            hide_optional_text(text, redactor);
        }
    }
    for prompt in &mut catalog.prompts {
        for text in [&mut prompt.title, &mut prompt.description] {
            hide_optional_text(text, redactor);
        }
        for argument in &mut prompt.arguments {
            for text in [&mut argument.title, &mut argument.description] {
                hide_optional_text(text, redactor);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use openclaw_secrets::Secret;
    use serde_json::json;

    use super::*;

    #[test]
    fn credentials_are_hidden_wherever_they_stand() {
        let redactor = Redactor::new();
        let _ = redactor.learn(&Secret::new("our-very-own-token"));
        let mut value = json!({"our-very-own-token": ["x our-very-own-token y", {"a": 1}]});
        hide_value(&mut value, &redactor);
        assert_eq!(value, json!({"[REDACTED]": ["x [REDACTED] y", {"a": 1}]}));
        let mut content = Content::Resource(Embedded {
            uri: "x://our-very-own-token".to_owned(),
            mime_type: None,
            text: Some("our-very-own-token".to_owned()),
            blob: None,
        });
        hide_content(&mut content, &redactor);
        assert!(!format!("{content:?}").contains("our-very-own-token"));
    }
}
