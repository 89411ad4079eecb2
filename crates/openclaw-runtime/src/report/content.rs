//! The parts of a result, as the protocol writes them.

use openclaw_engine::ContentsReport;
use openclaw_mcp_client::{Content, Embedded};
use serde_json::{Map, Value};

/// A part of a result, as the protocol writes it. Its texts are moved: one may be a file of many megabytes.
pub(crate) fn content(content: Content) -> Value {
    match content {
        Content::Text { text, annotations } => object([
            ("type", Some("text".into())),
            ("text", Some(text.into())),
            ("annotations", annotations),
        ]),
        Content::Image {
            data,
            mime_type,
            annotations,
        } => media("image", data, mime_type, annotations),
        Content::Audio {
            data,
            mime_type,
            annotations,
        } => media("audio", data, mime_type, annotations),
        Content::Resource(embedded) => {
            let resource = object([
                ("uri", Some(embedded.uri.into())),
                ("mimeType", embedded.mime_type.map(Value::from)),
                ("text", embedded.text.map(Value::from)),
                ("blob", embedded.blob.map(Value::from)),
            ]);
            object([
                ("type", Some("resource".into())),
                ("resource", Some(resource)),
            ])
        }
        Content::Link {
            uri,
            name,
            title,
            description,
            mime_type,
            size,
        } => object([
            ("type", Some("resource_link".into())),
            ("uri", Some(uri.into())),
            ("name", Some(name.into())),
            ("title", title.map(Value::from)),
            ("description", description.map(Value::from)),
            ("mimeType", mime_type.map(Value::from)),
            ("size", size.map(Value::from)),
        ]),
        Content::Unknown(value) => value,
    }
}

/// A picture or a recording.
fn media(kind: &str, data: String, mime_type: String, annotations: Option<Value>) -> Value {
    object([
        ("type", Some(kind.into())),
        ("data", Some(data.into())),
        ("mimeType", Some(mime_type.into())),
        ("annotations", annotations),
    ])
}

/// A part of a resource.
pub(crate) fn embedded(embedded: Embedded) -> ContentsReport {
    ContentsReport {
        uri: embedded.uri,
        mime_type: embedded.mime_type,
        text: embedded.text,
        blob: embedded.blob,
    }
}

/// An object with those fields that there are.
fn object<const N: usize>(fields: [(&str, Option<Value>); N]) -> Value {
    let given = fields
        .into_iter()
        .filter_map(|(name, value)| Some((name.to_owned(), value?)));
    Value::Object(given.collect::<Map<_, _>>())
}
