//! The one tool, as it is offered.

use std::sync::Arc;

use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use serde_json::{Value, json};

/// Its name.
pub(crate) const NAME: &str = "order_openclaw";

const DESCRIPTION: &str = "Send a message to OpenClaw and receive a response. The message will be \
processed as if typed by a user. Supports sending images, files (PDF, text, markdown, CSV, JSON), \
audio, video, and archives (ZIP, TAR.GZ) via base64 encoding.";

/// The tool.
pub(crate) fn definition() -> Tool {
    let annotations = ToolAnnotations::from_raw(
        Some("Order OpenClaw".to_owned()),
        Some(false),
        Some(true),
        Some(false),
        Some(true),
    );
    Tool::new(NAME, DESCRIPTION, Arc::new(schema()))
        .with_title("Order OpenClaw")
        .with_annotations(annotations)
}

fn schema() -> JsonObject {
    let attachments = |description: &str, data: &str, mime_type: &str| {
        json!({
            "type": "array",
            "description": description,
            "items": {
                "type": "object",
                "properties": {
                    "data": { "type": "string", "description": data },
                    "mimeType": { "type": "string", "description": mime_type },
                    "filename": { "type": "string", "description": "Optional filename" },
                },
                "required": ["data", "mimeType"],
            },
        })
    };
    let schema = json!({
        "type": "object",
        "properties": {
            "message": {
                "type": "string",
                "description": "The message to send to OpenClaw",
            },
            "sessionKey": {
                "type": "string",
                "description": "Optional session key for conversation continuity",
            },
            "images": attachments(
                "Optional base64-encoded images (max 10, 15MB each)",
                "Base64-encoded image data",
                "MIME type (e.g., 'image/png')",
            ),
            "files": attachments(
                "Optional base64-encoded files (max 5, 15MB each)",
                "Base64-encoded file data",
                "MIME type (e.g., 'application/pdf')",
            ),
        },
        "required": ["message"],
    });
    match schema {
        Value::Object(schema) => schema,
        _ => JsonObject::new(),
    }
}
