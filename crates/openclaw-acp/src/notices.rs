//! What a person should know outside of an answer.

use agent_client_protocol::Client;
use agent_client_protocol::v1::ConnectionTo;
use agent_client_protocol::v1::schema::{
    ContentBlock, ContentChunk, Notice, NoticeSeverity, SessionUpdate, TextContent,
};
use openclaw_content::shown_line;

use crate::office::Office;
use crate::sessions::Session;

/// How long a notice may be, in characters.
pub(crate) const LONGEST: usize = 2000;
/// What an update takes beside its text, about.
pub(crate) const BESIDE: usize = 200;

/// A piece of what an agent says.
pub(crate) fn chunk(text: impl Into<String>) -> ContentChunk {
    ContentChunk::new(ContentBlock::Text(TextContent::new(text)))
}

/// A sentence that looks the same where Markdown is read: in it are words of servers, which could put a link or a
/// picture there as if the agent had said it.
pub(crate) fn without_markup(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    for character in text.chars() {
        if matches!(character, '\\' | '[' | ']' | '<' | '>' | '*' | '_') {
            plain.push('\\');
        }
        plain.push(character);
    }
    plain
}

/// Warns a person, now.
pub(crate) async fn warn(
    office: &Office,
    session: &Session,
    connection: &ConnectionTo<Client>,
    text: &str,
) {
    let text = shown_line(text, LONGEST);
    tracing::warn!("{text}");
    let bytes = text.len() + BESIDE;
    let update = if office.shows_notices() {
        SessionUpdate::Notice(Notice::new(NoticeSeverity::Warning, text))
    } else {
        // A paragraph of its own, whatever is said before and after it.
        let text = without_markup(&text);
        SessionUpdate::AgentMessageChunk(chunk(format!("\n\n{text}\n\n")))
    };
    // Whoever is gone needs no warning.
    let _ = office
        .flow
        .send(connection, &session.name, update, bytes)
        .await;
}
