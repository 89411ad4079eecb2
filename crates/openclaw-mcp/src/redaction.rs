//! Our own credentials, hidden in what servers say: a server that got one may send it back.

use std::borrow::Cow;
use std::sync::Arc;

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

/// Whether a text holds a credential of ours.
pub(crate) fn holds_credential(text: &str, redactor: &Redactor) -> bool {
    matches!(redactor.redact_learned(text), Cow::Owned(_))
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
    if fields.keys().any(|name| holds_credential(name, redactor)) {
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

/// What stands in the place of binary content that holds a credential: it can't be changed without
/// being spoilt.
const LEFT_OUT: &str = "binary content is left out: it holds a credential of the configuration";

/// Hides credentials in the contents of a resource.
pub fn hide_embedded(embedded: &mut Embedded, redactor: &Redactor) {
    if let Some(blob) = &embedded.blob
        && holds_credential(blob, redactor)
    {
        embedded.blob = None;
        embedded.text = Some(LEFT_OUT.to_owned());
        embedded.mime_type = None;
    }
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
        Content::Image { data, .. } | Content::Audio { data, .. }
            if holds_credential(data, redactor) =>
        {
            *content = Content::Text {
                text: LEFT_OUT.to_owned(),
                annotations: None,
            };
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

/// Hides credentials in what a server offers. What has one in its very name is left out: under
/// another name it could not be asked for.
pub(crate) fn hide(catalog: &mut Catalog, redactor: &Redactor) {
    let is_clean = |kind: &str, names: &[&str]| {
        let is_clean = names.iter().all(|name| !holds_credential(name, redactor));
        if !is_clean {
            tracing::warn!(
                kind,
                "what has a credential of ours in its name is left out"
            );
        }
        is_clean
    };
    catalog.tools.retain(|it| is_clean("tool", &[&it.name]));
    let resources = &mut catalog.resources;
    resources.retain(|it| is_clean("resource", &[&it.uri, &it.name]));
    let templates = &mut catalog.templates;
    templates.retain(|it| is_clean("template", &[&it.uri_template, &it.name]));
    catalog.prompts.retain(|it| {
        let arguments = it.arguments.iter().map(|argument| argument.name.as_str());
        let names: Vec<&str> = arguments.chain([it.name.as_str()]).collect();
        is_clean("prompt", &names)
    });
    for tool in &mut catalog.tools {
        let tool = Arc::make_mut(tool);
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

    #[test]
    fn binary_content_with_a_credential_in_it_is_left_out() {
        use base64::Engine as _;
        let redactor = Redactor::new();
        let _ = redactor.learn(&Secret::new("our-very-own-token"));
        let encode = |text: &str| base64::engine::general_purpose::STANDARD.encode(text);
        let image = |text: &str| Content::Image {
            data: encode(text),
            mime_type: "image/png".to_owned(),
            annotations: None,
        };
        // Whatever stands before it, which shifts the encoding.
        for before in ["", "a", "ab", "abc"] {
            let mut content = image(&format!("{before}our-very-own-token and more"));
            hide_content(&mut content, &redactor);
            assert!(
                matches!(&content, Content::Text { text, .. } if text == LEFT_OUT),
                "{content:?}"
            );
        }
        let mut content = image("nothing of ours");
        hide_content(&mut content, &redactor);
        assert_eq!(content, image("nothing of ours"));
        let mut embedded = Embedded {
            uri: "x://y".to_owned(),
            mime_type: None,
            text: None,
            blob: Some(encode("our-very-own-token")),
        };
        hide_embedded(&mut embedded, &redactor);
        assert_eq!(embedded.blob, None);
        assert_eq!(embedded.text.as_deref(), Some(LEFT_OUT));
    }

    #[test]
    fn what_has_a_credential_in_its_name_is_not_offered() {
        let redactor = Redactor::new();
        let _ = redactor.learn(&Secret::new("our-very-own-token"));
        let tool = |name: &str| {
            let tool = crate::pins::sample_tool(name, "", json!({"type": "object"}));
            Arc::new(tool)
        };
        let mut catalog = Catalog {
            tools: vec![tool("fine"), tool("get_our-very-own-token")],
            ..Catalog::default()
        };
        hide(&mut catalog, &redactor);
        let names: Vec<&str> = catalog.tools.iter().map(|it| it.name.as_str()).collect();
        assert_eq!(names, ["fine"]);
    }
}
