//! What was told of a turn so far.

use std::sync::Arc;

use openclaw_conversation::{AnswerPart, Blob, Media, ToolAnswer, Usage};
use openclaw_engine::{ReplyPart, ReplyReport, ToolCallReport, UsageReport};

/// How many bytes of media the answer of a turn holds, in base64.
const MEDIA_LIMIT: usize = 100 * 1024 * 1024;

/// What was told so far.
#[derive(Default)]
pub(super) struct Told {
    pub(super) parts: Vec<ReplyPart>,
    pub(super) calls: Vec<ToolCallReport>,
    pub(super) model: String,
    pub(super) reply: String,
    /// Whether the model would have gone on with it.
    pub(super) cut_off: bool,
    usage: Option<Usage>,
    media_bytes: usize,
}

impl Told {
    pub(super) fn report(self, session_key: &str) -> ReplyReport {
        ReplyReport {
            session_key: session_key.to_owned(),
            model: self.model,
            reply: self.reply,
            parts: self.parts,
            tool_calls: self.calls,
            cut_off: self.cut_off,
            usage: self.usage.map(|usage| UsageReport {
                input_tokens: usage.input_tokens,
                output_tokens: usage.output_tokens,
                cached_tokens: usage.cached_tokens,
            }),
        }
    }

    pub(super) fn add_usage(&mut self, usage: Option<Usage>) {
        if let Some(usage) = usage {
            *self.usage.get_or_insert_default() += usage;
        }
    }

    pub(super) fn add_text(&mut self, text: &str) {
        if !text.trim().is_empty() {
            let text = text.to_owned();
            self.parts.push(ReplyPart::Text { text });
        }
    }

    /// Adds a call and what it brought beside text.
    pub(super) fn add_answer(&mut self, answer: &ToolAnswer) {
        self.calls.push(call_report(answer));
        for part in media_parts(answer) {
            let bytes = data(&part).map_or(0, |data| data.len());
            // What is left out here is in the session.
            if self.media_bytes + bytes <= MEDIA_LIMIT {
                self.media_bytes += bytes;
                self.parts.push(part);
            }
        }
    }
}

fn data(part: &ReplyPart) -> Option<&Arc<str>> {
    match part {
        ReplyPart::Text { .. } => None,
        ReplyPart::Image { data, .. }
        | ReplyPart::Audio { data, .. }
        | ReplyPart::Resource { data, .. } => Some(data),
    }
}

/// How a call ended, in short.
pub(super) fn call_report(answer: &ToolAnswer) -> ToolCallReport {
    ToolCallReport {
        name: answer.called.as_ref().unwrap_or(&answer.name).clone(),
        server: answer.server.clone(),
        is_error: answer.is_error,
        duration_ms: answer.duration_ms,
    }
}

/// The media of an answer.
pub(super) fn media_parts(answer: &ToolAnswer) -> impl Iterator<Item = ReplyPart> {
    answer.parts.iter().filter_map(|part| match part {
        AnswerPart::Media(media) => reply_part(media),
        AnswerPart::Text { .. } => None,
    })
}

/// Media as a part of an answer.
fn reply_part(media: &Media) -> Option<ReplyPart> {
    let Blob::Here(data) = &media.blob else {
        return None;
    };
    let (mime_type, data) = (media.mime_type.clone(), Arc::clone(data));
    Some(if media.is_image() {
        ReplyPart::Image { mime_type, data }
    } else if mime_type.starts_with("audio/") {
        ReplyPart::Audio { mime_type, data }
    } else {
        let name = media.name.clone();
        ReplyPart::Resource {
            name: name.unwrap_or_else(|| "attachment".to_owned()),
            mime_type,
            data,
        }
    })
}
