//! The parts of a reply as MCP has them.

use rmcp::model::{ContentBlock, ResourceContents};

use super::OutPart;

/// The blocks of a result. Bytes are copied: rmcp has texts of its own.
pub(crate) fn blocks(parts: Vec<OutPart>) -> Vec<ContentBlock> {
    let block = |part| match part {
        OutPart::Text(text) => ContentBlock::text(text),
        OutPart::Image { mime_type, data } => ContentBlock::image(&*data, mime_type),
        OutPart::Audio { mime_type, data } => ContentBlock::audio(&*data, mime_type),
        OutPart::Resource {
            uri,
            mime_type,
            data,
        } => ContentBlock::resource(ResourceContents::blob(&*data, uri).with_mime_type(mime_type)),
    };
    parts.into_iter().map(block).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn blocks_are_those_of_the_guide() {
        let parts = vec![
            OutPart::Text("The response text...".to_owned()),
            OutPart::Image {
                mime_type: "image/png".to_owned(),
                data: "iVBORw0KGgo=".into(),
            },
            OutPart::Audio {
                mime_type: "audio/mpeg".to_owned(),
                data: "SUQz".into(),
            },
            OutPart::Resource {
                uri: "attachment://filename.pdf".to_owned(),
                mime_type: "application/pdf".to_owned(),
                data: "JVBERi0=".into(),
            },
        ];
        let blocks = serde_json::to_value(blocks(parts)).unwrap();
        assert_eq!(
            blocks,
            json!([
                { "type": "text", "text": "The response text..." },
                { "type": "image", "data": "iVBORw0KGgo=", "mimeType": "image/png" },
                { "type": "audio", "data": "SUQz", "mimeType": "audio/mpeg" },
                {
                    "type": "resource",
                    "resource": {
                        "uri": "attachment://filename.pdf",
                        "mimeType": "application/pdf",
                        "blob": "JVBERi0="
                    }
                }
            ])
        );
    }
}
