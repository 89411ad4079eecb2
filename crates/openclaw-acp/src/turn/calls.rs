//! Calls of tools, as an editor is told of them.

use std::collections::HashMap;
use std::path::Path;

use agent_client_protocol::v1::schema::{
    Content, ContentBlock, SessionUpdate, TextContent, ToolCall, ToolCallContent, ToolCallId,
    ToolCallStatus, ToolCallUpdate, ToolCallUpdateFields, ToolKind,
};
use openclaw_content::{shown_line, shown_text};
use openclaw_engine::{ToolCallReport, ToolEffect, ToolQuestion};
use serde_json::{Map, Value};

use super::outbox::Item;
use super::places::Places;
use crate::notices::BESIDE;

/// How long a title may be, in characters.
const TITLE: usize = 200;

/// The calls of a turn.
#[derive(Debug)]
pub(super) struct Calls {
    /// The name of the turn: the engine's names of calls may be used again in the next one.
    turn: String,
    /// Those that run, with what they are called with.
    running: HashMap<String, Value>,
}

/// A call that begins.
pub(super) struct Begun<'a> {
    pub(super) id: String,
    pub(super) name: &'a str,
    pub(super) server: Option<&'a str>,
    pub(super) title: Option<&'a str>,
    pub(super) effect: ToolEffect,
    pub(super) arguments: Map<String, Value>,
}

impl Calls {
    pub(super) fn new(turn: &str) -> Self {
        Self {
            turn: turn.to_owned(),
            running: HashMap::new(),
        }
    }

    /// A call begins, in a project.
    pub(super) fn begin(&mut self, begun: Begun<'_>, project: &Path) -> Item {
        let places = Places::of(&begun.arguments, project);
        let arguments = Value::Object(begun.arguments);
        let bytes = arguments.to_string().len() + BESIDE;
        let title = title(begun.server, begun.title.unwrap_or(begun.name));
        let kind = match begun.effect {
            ToolEffect::Reads => ToolKind::Read,
            ToolEffect::Searches => ToolKind::Search,
            ToolEffect::Unknown => ToolKind::Other,
        };
        let call = ToolCall::new(self.told_id(&begun.id), title)
            .kind(kind)
            .status(ToolCallStatus::InProgress)
            .raw_input(arguments.clone());
        self.running.insert(begun.id, arguments);
        Item::call(call, places, bytes)
    }

    /// A call goes on.
    pub(super) fn go_on(&self, id: &str, text: &str) -> Item {
        let text = shown_text(text);
        let fields = ToolCallUpdateFields::new().content(vec![content(&text)]);
        self.update(id, fields, text.len())
    }

    /// A call has ended; the model reads this of it.
    pub(super) fn end(&mut self, id: &str, call: &ToolCallReport, text: &str) -> Item {
        self.running.remove(id);
        let status = if call.is_error {
            ToolCallStatus::Failed
        } else {
            ToolCallStatus::Completed
        };
        let fields = ToolCallUpdateFields::new()
            .status(status)
            .content(vec![content(text)]);
        self.update(id, fields, text.len())
    }

    /// The call that a question is about, which waits for the answer.
    pub(super) fn asked(&self, question: &ToolQuestion) -> ToolCallUpdate {
        // Its own name as well: a title says whatever the server likes.
        let name = match &question.title {
            Some(title) if *title != question.tool => format!("{title} ({})", question.tool),
            _ => question.tool.clone(),
        };
        let mut fields = ToolCallUpdateFields::new()
            .title(title(Some(&question.server), &name))
            // Editors that are told of no kind guess one, and may allow what looks like reading.
            .kind(ToolKind::Other)
            .status(ToolCallStatus::Pending)
            .raw_input(self.running.get(&question.id).cloned());
        if let Some(description) = &question.description {
            let words = format!("The server says: {}", shown_text(description));
            fields = fields.content(vec![content(&words)]);
        }
        ToolCallUpdate::new(self.told_id(&question.id), fields)
    }

    /// A call goes on that was asked about.
    pub(super) fn allowed(&self, id: &str) -> Item {
        let fields = ToolCallUpdateFields::new().status(ToolCallStatus::InProgress);
        self.update(id, fields, 0)
    }

    fn update(&self, id: &str, fields: ToolCallUpdateFields, bytes: usize) -> Item {
        let update = ToolCallUpdate::new(self.told_id(id), fields);
        Item::new(SessionUpdate::ToolCallUpdate(update), bytes + BESIDE)
    }

    fn told_id(&self, id: &str) -> ToolCallId {
        ToolCallId::new(format!("{}-{id}", self.turn))
    }
}

/// A title. Some editors read Markdown in it, in which a server could put a link or a picture.
fn title(server: Option<&str>, name: &str) -> String {
    let title = match server {
        Some(server) => shown_line(&format!("{server}: {name}"), TITLE),
        None => shown_line(name, TITLE),
    };
    let plain = |character| match character {
        '[' => '(',
        ']' => ')',
        '<' => '‹',
        '>' => '›',
        '`' => '\'',
        other => other,
    };
    title.chars().map(plain).collect()
}

fn content(text: &str) -> ToolCallContent {
    ToolCallContent::Content(Content::new(ContentBlock::Text(TextContent::new(text))))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[tokio::test]
    async fn a_call_is_told_with_a_name_that_no_other_turn_uses() {
        let begun = || Begun {
            id: "call\u{1}".to_owned(),
            name: "mcp_clock_now",
            server: Some("clock"),
            title: Some("The\ntime"),
            effect: ToolEffect::Reads,
            arguments: json!({ "zone": "utc" }).as_object().unwrap().clone(),
        };
        let told = async |item: Item| serde_json::to_value(item.told().await.0).unwrap();
        let mut calls = Calls::new("7");
        let first = told(calls.begin(begun(), Path::new("/"))).await;
        assert_eq!(first["title"], "clock: The time");
        assert_eq!(first["kind"], "read");
        assert_eq!(first["status"], "in_progress");
        assert_eq!(first["rawInput"], json!({ "zone": "utc" }));
        let second = told(Calls::new("8").begin(begun(), Path::new("/"))).await;
        assert_ne!(first["toolCallId"], second["toolCallId"]);
        let report = ToolCallReport {
            name: "mcp_clock_now".to_owned(),
            server: Some("clock".to_owned()),
            is_error: true,
            duration_ms: 1,
        };
        let last = told(calls.end("call\u{1}", &report, "broken")).await;
        assert_eq!(last["toolCallId"], first["toolCallId"]);
        assert_eq!(last["status"], "failed");
        assert_eq!(last["content"][0]["content"]["text"], "broken");
        assert!(calls.running.is_empty());
    }
}
