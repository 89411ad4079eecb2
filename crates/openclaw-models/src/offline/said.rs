//! What a tool said, for people: without the frames, which are for models that could be misled.

use std::borrow::Cow;

use openclaw_content::unframed;
use openclaw_conversation::{AnswerPart, Media, ToolAnswer};

/// What an answer says to a person: its texts, and which media came with them.
pub(super) fn said(answer: &ToolAnswer) -> String {
    let mut texts = Vec::new();
    for (at, part) in answer.parts.iter().enumerate() {
        match part {
            AnswerPart::Text { text } => {
                let follows = answer.parts.get(at + 1);
                let text = unframed(text.as_str());
                let is_framed = matches!(text, Cow::Owned(_));
                let is_note = matches!(follows, Some(AnswerPart::Media(_))) && !is_framed;
                // The note before a piece of media tells models to be careful with it.
                if !is_note {
                    texts.push(text.into_owned());
                }
            }
            AnswerPart::Media(media) => texts.push(named(media)),
        }
    }
    texts.retain(|text| !text.trim().is_empty());
    texts.join("\n\n")
}

fn named(media: &Media) -> String {
    let kind = openclaw_content::shown_line(&media.mime_type, 100);
    format!("[{kind}, {} bytes]", media.bytes)
}
