//! Tools that give every kind of content.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::{number, text};
use crate::fake_server::call::Call;
use crate::fake_server::resources::PIXEL;
use crate::pictures::{pdf, png};

/// A sound of no length.
const SILENCE: &str = "UklGRiQAAABXQVZFZm10IBAAAAABAAEARKwAAIhYAQACABAAZGF0YQAAAAA=";

pub(super) fn call(call: &Call, name: &str) -> Value {
    let content = match name {
        "big" => {
            let bytes = usize::try_from(number(call, "bytes", 0)).unwrap_or(usize::MAX);
            return text("b".repeat(bytes));
        }
        "image" => match usize::try_from(number(call, "bytes", 0)) {
            Ok(bytes @ 1..) => vec![large_image(bytes)],
            _ => vec![image()],
        },
        "audio" => vec![audio()],
        "document" => vec![document()],
        "resource" => resources(),
        "link" => vec![link()],
        _ => mixed(),
    };
    json!({"content": content})
}

fn image() -> Value {
    json!({"type": "image", "data": PIXEL, "mimeType": "image/png"})
}

fn large_image(bytes: usize) -> Value {
    let data = STANDARD.encode(png(bytes));
    json!({"type": "image", "data": data, "mimeType": "image/png"})
}

fn audio() -> Value {
    json!({"type": "audio", "data": SILENCE, "mimeType": "audio/wav"})
}

fn document() -> Value {
    json!({"type": "resource", "resource": {
        "uri": "test://reports/report.pdf", "mimeType": "application/pdf",
        "blob": STANDARD.encode(pdf(1000)),
    }})
}

fn resources() -> Vec<Value> {
    vec![
        json!({"type": "resource", "resource": {
            "uri": "test://text", "mimeType": "text/plain", "text": "the text of a resource",
        }}),
        json!({"type": "resource", "resource": {
            "uri": "test://blob", "mimeType": "image/png", "blob": PIXEL,
        }}),
    ]
}

fn link() -> Value {
    json!({
        "type": "resource_link",
        "uri": "test://text",
        "name": "text",
        "description": "A short text",
        "mimeType": "text/plain",
    })
}

fn mixed() -> Vec<Value> {
    let mut content = vec![
        json!({"type": "text", "text": "first", "annotations": {"audience": ["user"]}}),
        image(),
        audio(),
    ];
    content.extend(resources());
    content.push(link());
    content.push(json!({"type": "hologram", "depth": 3, "nested": {"any": ["thing"]}}));
    content.push(json!({"type": "text", "text": "last"}));
    content
}
