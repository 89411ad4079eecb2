//! Messages as they are kept: a text in JSON, and the bytes of media apart from it.

use std::sync::Arc;

use openclaw_content::{Base64, ModelText, note};
use openclaw_conversation::{AnswerPart, Blob, BlobId, Media, Message, UserPart};
use ring::digest;
use serde::Deserialize;

use super::place::hexadecimal;
use crate::error::SessionError;

/// How large a message may be without its media, in bytes.
const BODY_BYTES: usize = 64 * 1024 * 1024;
/// How large a piece of media may be: more can't come in.
const BLOB_BYTES: usize = 320 * 1024 * 1024;

/// A message as it is kept.
pub(super) struct Body {
    pub(super) json: String,
    pub(super) media: Vec<KeptMedia>,
}

/// A piece of media.
pub(super) struct KeptMedia {
    pub(super) id: BlobId,
    /// Its bytes in base64; none where they are kept already. They are decoded as they are written: all
    /// of them at once would be more than what came in.
    pub(super) data: Option<Arc<str>>,
}

impl Body {
    pub(super) fn of(mut message: Message) -> Result<Self, SessionError> {
        let mut media = Vec::new();
        for piece in media_of(&mut message) {
            media.extend(take_out(piece)?);
        }
        let json =
            serde_json::to_string(&message).map_err(|_| too_large(usize::MAX, BODY_BYTES))?;
        if json.len() > BODY_BYTES {
            return Err(too_large(json.len(), BODY_BYTES));
        }
        Ok(Self { json, media })
    }
}

/// Roughly how many bytes there are to be worked through.
pub(super) fn weight(message: &Message) -> usize {
    let blob = |media: &Media| {
        let words = media.text.as_ref().map_or(0, ModelText::len);
        match &media.blob {
            Blob::Here(text) => words + text.len(),
            Blob::Kept(_) => words,
        }
    };
    match message {
        Message::User { parts } => parts
            .iter()
            .map(|part| match part {
                UserPart::Text { text } => text.len(),
                UserPart::Foreign { text } => text.len(),
                UserPart::Media(media) => blob(media),
            })
            .sum(),
        Message::Assistant(said) => said.text().len(),
        Message::Tool(answer) => answer
            .parts
            .iter()
            .map(|part| match part {
                AnswerPart::Text { text } => text.len(),
                AnswerPart::Media(media) => blob(media),
            })
            .sum(),
        Message::Summary { text, .. } => text.len(),
    }
}

/// Reads a message; a note stands for what can't be read. Says whether it could.
pub(super) fn message_of(body: &[u8]) -> (Message, bool) {
    match read(body) {
        Ok(message) => (message, true),
        Err(_) => (unreadable(), false),
    }
}

/// Reads a message.
///
/// Its role stands first, as it was written; who knows it need not read everything else into a
/// general form before it is clear what it is, which takes twice as long.
fn read(body: &[u8]) -> serde_json::Result<Message> {
    const ROLE: &[u8] = b"{\"role\":\"";
    match body.strip_prefix(ROLE).and_then(|rest| rest.first()) {
        Some(b'u') => {
            serde_json::from_slice(body).map(|UserBody { parts }| Message::User { parts })
        }
        Some(b'a') => serde_json::from_slice(body).map(Message::Assistant),
        Some(b't') => serde_json::from_slice(body).map(Message::Tool),
        _ => serde_json::from_slice(body),
    }
}

#[derive(Deserialize)]
struct UserBody {
    parts: Vec<UserPart>,
}

/// What stands for a message that can't be read. One of them must not cost all others, nor keep the
/// session from going on.
fn unreadable() -> Message {
    let text = note(
        "[A message of this session is damaged and can't be read.]",
        &[],
    );
    Message::User {
        parts: vec![UserPart::Foreign { text }],
    }
}

fn media_of(message: &mut Message) -> Vec<&mut Media> {
    match message {
        Message::User { parts } => parts
            .iter_mut()
            .filter_map(|part| match part {
                UserPart::Media(media) => Some(media),
                UserPart::Text { .. } | UserPart::Foreign { .. } => None,
            })
            .collect(),
        Message::Tool(answer) => answer
            .parts
            .iter_mut()
            .filter_map(|part| match part {
                AnswerPart::Media(media) => Some(media),
                AnswerPart::Text { .. } => None,
            })
            .collect(),
        Message::Assistant(_) | Message::Summary { .. } => Vec::new(),
    }
}

/// Takes the bytes out of a piece of media and leaves their name.
fn take_out(media: &mut Media) -> Result<Option<KeptMedia>, SessionError> {
    let text = match &media.blob {
        Blob::Kept(id) => {
            return Ok(Some(KeptMedia {
                id: id.clone(),
                data: None,
            }));
        }
        Blob::Here(text) => Arc::clone(text),
    };
    if text.len() / 4 * 3 > BLOB_BYTES {
        return Err(too_large(text.len() / 4 * 3, BLOB_BYTES));
    }
    // What is no base64 stays as it is: nothing is lost, and whoever uses it says so.
    let mut hash = digest::Context::new(&digest::SHA256);
    if Base64::check_pouring(&text, |bytes| hash.update(bytes)).is_err() {
        return Ok(None);
    }
    let hash = hash.finish();
    let id = BlobId(hexadecimal(hash.as_ref()).into());
    media.blob = Blob::Kept(id.clone());
    Ok(Some(KeptMedia {
        id,
        data: Some(text),
    }))
}

fn too_large(bytes: usize, limit: usize) -> SessionError {
    let number = |size: usize| u64::try_from(size).unwrap_or(u64::MAX);
    SessionError::TooLarge {
        bytes: number(bytes),
        limit: number(limit),
    }
}
