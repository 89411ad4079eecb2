//! What was said earlier, told again.

use std::collections::VecDeque;

use agent_client_protocol::v1::ConnectionTo;
use agent_client_protocol::v1::schema::{
    Content, ContentBlock, MessageId, SessionUpdate, TextContent, ToolCall, ToolCallContent,
    ToolCallStatus,
};
use agent_client_protocol::{Client, Error};
use openclaw_content::shown_line;
use openclaw_engine::{AskedCall, MediaReport, MessageReport, OneSession, Speaker};

use super::session::Session;
use crate::notices::{BESIDE, chunk};
use crate::office::Office;
use crate::problems::{of_failure, refused, soon};

/// How long the name of a tool or of a file may be, in characters.
const NAME: usize = 200;

/// Tells what was said in a session.
pub(super) async fn replay(
    office: &Office,
    session: &Session,
    connection: &ConnectionTo<Client>,
) -> Result<(), Error> {
    let Some(key) = session.record().key else {
        // Nothing was ever asked.
        return Ok(());
    };
    let query = OneSession { agent: None, key };
    let messages = match soon(office.engine.session(query)).await {
        Ok(transcript) => transcript.messages,
        // Servers were lent to it, and nothing was said.
        Err(failure) if failure.code == "unknown-session" => Vec::new(),
        Err(failure) => return Err(of_failure(&failure)),
    };
    for (update, bytes) in updates(messages) {
        let sent = office.flow.send(connection, &session.name, update, bytes);
        let unread = |_| refused("the editor does not read the session");
        sent.await.map_err(unread)?;
    }
    Ok(())
}

/// What an editor is told of messages, and about how many bytes that is.
fn updates(messages: Vec<MessageReport>) -> Vec<(SessionUpdate, usize)> {
    let mut updates = Vec::new();
    let mut messages: VecDeque<(usize, MessageReport)> = messages.into_iter().enumerate().collect();
    while let Some((number, message)) = messages.pop_front() {
        let id = MessageId::new(format!("past-{number}"));
        let text = with_media(message.text, &message.media);
        let bytes = text.len() + BESIDE;
        let said = (!text.is_empty()).then(|| chunk(text).message_id(id));
        let said = said.map(|said| match message.role {
            Speaker::User => SessionUpdate::UserMessageChunk(said),
            Speaker::Assistant | Speaker::Tool => SessionUpdate::AgentMessageChunk(said),
            // Nobody said it to anybody.
            Speaker::Summary => SessionUpdate::AgentThoughtChunk(said),
        });
        updates.extend(said.map(|said| (said, bytes)));
        let results = messages
            .iter()
            .take_while(|(_, next)| next.role == Speaker::Tool);
        let results = results.count();
        let mut results: Vec<MessageReport> = messages
            .drain(..results)
            .map(|(_, message)| message)
            .collect();
        for call in message.tool_calls {
            let result = result_of(&call, &mut results);
            updates.push(told_call(number, call, result));
        }
    }
    updates
}

/// Takes the result of a call out of those that came, which is the order in which calls ended. Where it is not
/// known which call a result is of, the name of the tool tells.
fn result_of(call: &AskedCall, results: &mut Vec<MessageReport>) -> Option<MessageReport> {
    let is_its = |result: &MessageReport| result.call.as_ref() == Some(&call.id);
    let may_be = |result: &MessageReport| {
        let name = result.tool_name.as_ref();
        result.call.is_none() && name.is_none_or(|name| *name == call.name)
    };
    let place = results.iter().position(is_its);
    let place = place.or_else(|| results.iter().position(may_be));
    place.map(|place| results.remove(place))
}

fn told_call(
    number: usize,
    call: AskedCall,
    result: Option<MessageReport>,
) -> (SessionUpdate, usize) {
    let failed = match (&call.outcome, &result) {
        (Some(outcome), _) => outcome.is_error,
        (None, Some(result)) => result.is_error.unwrap_or_default(),
        // The turn was cut before it ended.
        (None, None) => true,
    };
    let outcome = call.outcome.as_ref();
    let server = outcome.and_then(|outcome| outcome.server.as_deref());
    let title = match server {
        Some(server) => format!("{server}: {}", call.name),
        None => call.name,
    };
    let text = result.map(|result| with_media(result.text, &result.media));
    let bytes = BESIDE + call.arguments.to_string().len() + text.as_ref().map_or(0, String::len);
    let content = text.map(|text| {
        ToolCallContent::Content(Content::new(ContentBlock::Text(TextContent::new(text))))
    });
    let status = if failed {
        ToolCallStatus::Failed
    } else {
        ToolCallStatus::Completed
    };
    let id = format!("past-{number}-{}", call.id);
    let told = ToolCall::new(id, shown_line(&title, NAME))
        .status(status)
        .content(content.into_iter().collect())
        .raw_input(call.arguments);
    (SessionUpdate::ToolCall(told), bytes)
}

/// A text and the names of what came with it.
fn with_media(mut text: String, media: &[MediaReport]) -> String {
    for piece in media {
        let kind = shown_line(&piece.mime_type, NAME);
        let what = match &piece.name {
            Some(name) => format!("{}, {kind}", shown_line(name, NAME)),
            None => kind,
        };
        let between = if text.is_empty() { "" } else { "\n\n" };
        text.push_str(&format!("{between}[{what}, {} bytes]", piece.bytes));
    }
    text
}

#[cfg(test)]
mod tests {
    use openclaw_engine::ToolCallReport;
    use serde_json::json;

    use super::*;

    fn call(id: &str, name: &str, is_error: Option<bool>) -> AskedCall {
        AskedCall {
            id: id.to_owned(),
            name: name.to_owned(),
            arguments: json!({ "zone": "utc" }),
            outcome: is_error.map(|is_error| ToolCallReport {
                name: name.to_owned(),
                server: Some("clock".to_owned()),
                is_error,
                duration_ms: 1,
            }),
        }
    }

    #[test]
    fn calls_are_told_with_their_results() {
        let mut asking = MessageReport::said(Speaker::Assistant, "");
        asking.tool_calls = vec![call("a", "now", Some(false)), call("b", "then", None)];
        let mut result = MessageReport::said(Speaker::Tool, "noon");
        result.tool_name = Some("now".to_owned());
        let told = updates(vec![
            MessageReport::said(Speaker::User, "hi"),
            asking,
            result,
        ]);
        let told: Vec<_> = told
            .into_iter()
            .map(|(update, _)| serde_json::to_value(update).unwrap())
            .collect();
        assert_eq!(told.len(), 3);
        assert_eq!(told[0]["sessionUpdate"], "user_message_chunk");
        assert_eq!(told[1]["title"], "clock: now");
        assert_eq!(told[1]["status"], "completed");
        assert_eq!(told[1]["rawInput"], json!({ "zone": "utc" }));
        assert_eq!(told[1]["content"][0]["content"]["text"], "noon");
        assert_eq!(told[2]["status"], "failed");
        assert_ne!(told[1]["toolCallId"], told[2]["toolCallId"]);
    }

    #[test]
    fn results_belong_to_their_calls_in_whichever_order_they_came() {
        let mut asking = MessageReport::said(Speaker::Assistant, "");
        asking.tool_calls = vec![call("a", "now", None), call("b", "now", None)];
        let result = |id: &str, text: &str| MessageReport {
            tool_name: Some("now".to_owned()),
            call: Some(id.to_owned()),
            ..MessageReport::said(Speaker::Tool, text)
        };
        let told = updates(vec![asking, result("b", "late"), result("a", "early")]);
        let told: Vec<_> = told
            .into_iter()
            .map(|(update, _)| serde_json::to_value(update).unwrap())
            .collect();
        assert_eq!(told[0]["content"][0]["content"]["text"], "early");
        assert_eq!(told[1]["content"][0]["content"]["text"], "late");
    }

    #[test]
    fn files_are_named() {
        let mut asking = MessageReport::said(Speaker::User, "look");
        asking.media = vec![MediaReport {
            mime_type: "image/png".to_owned(),
            name: Some("a.png".to_owned()),
            bytes: 12,
        }];
        let told = updates(vec![asking]);
        let told = serde_json::to_value(&told[0].0).unwrap();
        let text = "look\n\n[a.png, image/png, 12 bytes]";
        assert_eq!(told["content"]["text"], text);
    }
}
