//! Parts of an agent's reply.

use openclaw_content::Media;
use openclaw_engine::ReplyPart;

use crate::{name, size};

/// One line about what is not text.
pub fn media_line(part: &ReplyPart) -> String {
    let (called, declared, data) = match part {
        ReplyPart::Text { .. } => return "[text]".to_owned(),
        ReplyPart::Image { mime_type, data } | ReplyPart::Audio { mime_type, data } => {
            (None, mime_type, data)
        }
        ReplyPart::Resource {
            name,
            mime_type,
            data,
        } => (Some(name), mime_type, data),
    };
    let what = match Media::from_base64(declared, data) {
        Ok(media) => {
            let bytes = u64::try_from(media.bytes()).unwrap_or(u64::MAX);
            format!("{}, {}", media.media_type(), size(bytes))
        }
        Err(_) => format!("{}, not valid base64", name(declared)),
    };
    match called {
        Some(called) => format!("[{}: {what}]", name(called)),
        None => format!("[{what}]"),
    }
}
