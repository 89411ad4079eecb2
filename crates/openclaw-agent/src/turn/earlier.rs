//! What was said before elsewhere, for a session that begins with it.

use openclaw_conversation::{AssistantMessage, AssistantPart, Message, UserPart};
use openclaw_engine::{EarlierMessage, EarlierSpeaker};

use crate::error::TurnError;

/// How many messages a session may begin with.
const MOST: usize = 1_000;
/// How many bytes they may have together: as many as a message.
const LIMIT: usize = 16 * 1024 * 1024;

/// The messages that a session begins with, as they are kept: complete, and without calls. What says
/// nothing is left out.
pub(super) fn messages(earlier: Vec<EarlierMessage>) -> Result<Vec<Message>, TurnError> {
    let bytes = earlier.iter().map(|message| message.text.len()).sum();
    if earlier.len() > MOST || bytes > LIMIT {
        return Err(TurnError::TooMuchBefore {
            messages: earlier.len(),
            most: MOST,
            bytes,
            limit: LIMIT,
        });
    }
    let earlier = earlier.into_iter();
    let earlier = earlier.filter(|message| !message.text.trim().is_empty());
    Ok(earlier.map(message).collect())
}

fn message(EarlierMessage { speaker, text }: EarlierMessage) -> Message {
    match speaker {
        EarlierSpeaker::User => Message::User {
            parts: vec![UserPart::Text { text }],
        },
        // Which model it was is not known, nor what it cost.
        EarlierSpeaker::Assistant => Message::Assistant(AssistantMessage {
            parts: vec![AssistantPart::Text { text }],
            ..AssistantMessage::default()
        }),
    }
}
