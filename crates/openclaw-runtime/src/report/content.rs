//! The parts of a result, as the protocol writes them.

use openclaw_engine::ContentsReport;
use openclaw_mcp_client::{Content, Embedded};
use serde_json::{Map, Value, json};

/// A part of a result, as the protocol writes it.
pub(crate) fn content(content: &Content) -> Value {
    let (mut object, annotations) = match content {
        Content::Text { text, annotations } => (
            json!({ "type": "text", "text": text }),
            annotations.as_ref(),
        ),
        Content::Image {
            data,
            mime_type,
            annotations,
        } => (
            json!({ "type": "image", "data": data, "mimeType": mime_type }),
            annotations.as_ref(),
        ),
        Content::Audio {
            data,
            mime_type,
            annotations,
        } => (
            json!({ "type": "audio", "data": data, "mimeType": mime_type }),
            annotations.as_ref(),
        ),
        Content::Resource(embedded) => {
            let resource = with_given(
                json!({ "uri": embedded.uri }),
                [
                    ("mimeType", embedded.mime_type.as_deref()),
                    ("text", embedded.text.as_deref()),
                    ("blob", embedded.blob.as_deref()),
                ],
            );
            (json!({ "type": "resource", "resource": resource }), None)
        }
        Content::Link {
            uri,
            name,
            title,
            description,
            mime_type,
            size,
        } => {
            let mut link = with_given(
                json!({ "type": "resource_link", "uri": uri, "name": name }),
                [
                    ("title", title.as_deref()),
                    ("description", description.as_deref()),
                    ("mimeType", mime_type.as_deref()),
                ],
            );
            if let Some(size) = size {
                link["size"] = json!(size);
            }
            (link, None)
        }
        Content::Unknown(value) => (value.clone(), None),
    };
    if let Some(annotations) = annotations {
        object["annotations"] = annotations.clone();
    }
    object
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

/// The object with those fields that there are.
fn with_given<const N: usize>(object: Value, fields: [(&str, Option<&str>); N]) -> Value {
    let mut object = match object {
        Value::Object(object) => object,
        _ => Map::new(),
    };
    for (name, value) in fields {
        if let Some(value) = value {
            object.insert(name.to_owned(), value.into());
        }
    }
    Value::Object(object)
}
