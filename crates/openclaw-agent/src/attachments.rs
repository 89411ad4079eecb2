//! What comes with a message.

use std::sync::Arc;

use openclaw_content::{Base64, Excerpt, Framer, Media as Content, shown_line};
use openclaw_conversation::{Blob, Media, UserPart};
use openclaw_engine::Attachment;

use crate::error::TurnError;

/// How large a message may be, in bytes.
const MESSAGE_LIMIT: usize = 16 * 1024 * 1024;
/// How large what comes with it may be, each of it and decoded.
const ATTACHMENT_LIMIT: usize = 15 * 1024 * 1024;
/// How many pieces may come with it.
const MOST: usize = 15;
/// How much of a file's text a model reads.
const TEXT_LIMIT: usize = 1024 * 1024;

/// The parts of what a person says.
pub(crate) fn user_parts(
    message: String,
    attachments: Vec<Attachment>,
    framer: &Framer,
    notice: &dyn Fn(String),
) -> Result<Vec<UserPart>, TurnError> {
    if message.len() > MESSAGE_LIMIT {
        return Err(TurnError::TooLarge {
            bytes: message.len(),
            limit: MESSAGE_LIMIT,
        });
    }
    if message.trim().is_empty() && attachments.is_empty() {
        return Err(TurnError::Empty);
    }
    if attachments.len() > MOST {
        return Err(TurnError::Attachment {
            name: "what comes with the message".to_owned(),
            reason: format!(
                "there are {} pieces, and {MOST} is the most",
                attachments.len()
            ),
        });
    }
    let mut parts = Vec::with_capacity(attachments.len() + 1);
    if !message.is_empty() {
        parts.push(UserPart::Text { text: message });
    }
    for (number, attachment) in attachments.into_iter().enumerate() {
        parts.push(part(attachment, number + 1, framer, notice)?);
    }
    Ok(parts)
}

fn part(
    attachment: Attachment,
    number: usize,
    framer: &Framer,
    notice: &dyn Fn(String),
) -> Result<UserPart, TurnError> {
    let name = attachment.name.clone();
    let name = name.unwrap_or_else(|| format!("attachment {number}"));
    let refused = |reason: String| TurnError::Attachment {
        name: shown_line(&name, 100),
        reason,
    };
    let content = Content::from_base64(&attachment.mime_type, &attachment.data)
        .map_err(|error| refused(error.to_string()))?;
    if content.bytes() > ATTACHMENT_LIMIT {
        let (bytes, limit) = (content.bytes(), ATTACHMENT_LIMIT);
        return Err(refused(format!(
            "it has {bytes} bytes, and {limit} is the most"
        )));
    }
    if content.kind().is_none() && is_text(content.media_type()) {
        let bytes = Base64::check(&attachment.data).map(|data| data.decode());
        let bytes = bytes.map_err(|error| refused(error.to_string()))?;
        let text = String::from_utf8_lossy(&bytes);
        let file = framer.frame_file(&name, &text, &Excerpt::new(TEXT_LIMIT));
        for pattern in file.detections.iter() {
            tracing::warn!(pattern = pattern.name(), "a file looks like an injection");
        }
        if let Some(cut) = file.cut {
            let (name, end, total) = (shown_line(&name, 100), cut.end, cut.total);
            notice(format!(
                "{name} is cut: the model reads {end} of its {total} bytes"
            ));
        }
        return Ok(UserPart::Foreign { text: file.text });
    }
    Ok(UserPart::Media(Media {
        mime_type: content.media_type().to_owned(),
        name: attachment.name.as_deref().map(openclaw_content::clean_name),
        bytes: u64::try_from(content.bytes()).unwrap_or(u64::MAX),
        blob: Blob::Here(Arc::from(attachment.data)),
    }))
}

/// Whether a type is one of text.
fn is_text(media_type: &str) -> bool {
    let texts = [
        "application/json",
        "application/ld+json",
        "application/xml",
        "application/yaml",
        "application/x-yaml",
        "application/toml",
        "application/javascript",
        "application/x-sh",
        "application/sql",
    ];
    media_type.starts_with("text/") || texts.contains(&media_type)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn attachment(mime_type: &str, data: &str) -> Attachment {
        Attachment {
            name: Some("notes.txt".to_owned()),
            mime_type: mime_type.to_owned(),
            data: data.to_owned(),
        }
    }

    fn parts(message: &str, attachments: Vec<Attachment>) -> Result<Vec<UserPart>, TurnError> {
        user_parts(message.to_owned(), attachments, &Framer::new(), &|_| {})
    }

    #[test]
    fn a_message_needs_words_or_something_else() {
        assert!(matches!(parts("  ", vec![]), Err(TurnError::Empty)));
        let made = parts("", vec![attachment("text/plain", "aGk=")]).unwrap();
        assert_eq!(made.len(), 1);
        let large = "x".repeat(MESSAGE_LIMIT + 1);
        assert!(matches!(
            parts(&large, vec![]),
            Err(TurnError::TooLarge { .. })
        ));
        assert_eq!(parts(&large[1..], vec![]).unwrap().len(), 1);
    }

    #[test]
    fn text_is_framed_and_the_rest_is_media() {
        let image = attachment("image/png", "iVBORw0KGgoAAAANSUhEUg==");
        let made = parts(
            "look",
            vec![attachment("text/plain; charset=utf-8", "aGk="), image],
        );
        let made = made.unwrap();
        let UserPart::Foreign { text } = &made[1] else {
            panic!("{made:?}");
        };
        assert!(text.as_str().contains("Source: File\nFrom: notes.txt\n"));
        assert!(text.as_str().contains("---\nhi\n"));
        assert!(matches!(&made[2], UserPart::Media(media) if media.mime_type == "image/png"));
    }

    #[test]
    fn what_can_not_be_used_is_named() {
        let error = parts("x", vec![attachment("image/png", "!!")]).unwrap_err();
        assert!(
            error.to_string().starts_with("notes.txt can't be used: "),
            "{error}"
        );
        let many = (0..=MOST)
            .map(|_| attachment("text/plain", "aGk="))
            .collect();
        assert!(matches!(
            parts("x", many),
            Err(TurnError::Attachment { .. })
        ));
    }
}
