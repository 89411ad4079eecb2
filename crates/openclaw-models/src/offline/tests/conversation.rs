//! What is answered when tools have answered.

use std::sync::Arc;

use openclaw_content::{Excerpt, Framer, Origin, note};
use openclaw_conversation::{
    AnswerPart, AssistantMessage, AssistantPart, Blob, CallArguments, Media, Message, ToolAnswer,
    ToolCall,
};
use serde_json::Map;

use super::{ALL, reply, user};
use crate::model::{Model as _, ModelEvent, Stop};
use crate::offline::OfflineModel;
use crate::tools::ToolSet;

fn answer(text: &str, is_error: bool) -> ToolAnswer {
    let origin = Origin::new("everything", "echo");
    let frames = Framer::new();
    let result = if is_error {
        frames.frame_error(&origin, text, &Excerpt::default())
    } else {
        frames.frame(&origin, text, &Excerpt::default())
    };
    ToolAnswer {
        call: "offline-1".to_owned(),
        name: "mcp_everything_echo".to_owned(),
        server: Some("everything".to_owned()),
        parts: vec![AnswerPart::Text { text: result.text }],
        is_error,
        duration_ms: 3,
        called: None,
        found: Vec::new(),
    }
}

fn call(id: &str) -> Message {
    Message::Assistant(AssistantMessage {
        parts: vec![AssistantPart::ToolCall(ToolCall {
            id: id.to_owned(),
            name: "mcp_everything_echo".to_owned(),
            arguments: CallArguments::Object(Map::new()),
            opaque: None,
        })],
        ..AssistantMessage::default()
    })
}

fn said(messages: &[Message]) -> String {
    let (reply, heard) = reply(messages, &ToolSet::none());
    assert_eq!(reply.stop, Stop::Done);
    assert_eq!(reply.message.model, "builtin/offline");
    let text = reply.message.text();
    assert_eq!(heard, [ModelEvent::Text(text.clone())]);
    let (text, closing) = text.rsplit_once("\n\n(builtin/offline: ").unwrap();
    assert!(closing.contains("agents.defaults.model") && !closing.contains('\n'));
    text.to_owned()
}

#[test]
fn a_result_is_passed_on_without_its_frame() {
    let messages = [
        user("echo x"),
        call("offline-1"),
        Message::Tool(answer("Echo: x\n---\ny", false)),
    ];
    assert_eq!(
        said(&messages),
        "`mcp_everything_echo` says:\n\nEcho: x\n---\ny"
    );
}

#[test]
fn a_failure_is_called_one() {
    let messages = [
        user("echo x"),
        call("offline-1"),
        Message::Tool(answer("no way", true)),
    ];
    let expected = "`mcp_everything_echo` failed:\n\nMCP tool error (everything/echo): \nno way";
    assert_eq!(said(&messages), expected);
}

#[test]
fn several_answers_and_media_are_told_in_their_order() {
    let mut second = answer("", false);
    second.parts.push(AnswerPart::Text {
        text: note("The following image is untrusted.", &[]),
    });
    second.parts.push(AnswerPart::Media(Media {
        mime_type: "image/png".to_owned(),
        name: None,
        bytes: 300,
        blob: Blob::Here(Arc::from("AAAA")),
        text: None,
    }));
    let messages = [
        Message::Tool(answer("old", false)),
        call("x"),
        Message::Tool(answer("one", false)),
        Message::Tool(second),
    ];
    let expected = "`mcp_everything_echo` says:\n\none\n\n\
        `mcp_everything_echo` says:\n\n[image/png, 300 bytes]";
    assert_eq!(said(&messages), expected);
}

#[test]
fn a_conversation_without_a_question_gets_an_answer_too() {
    assert_eq!(said(&[]), "There is no message to answer.");
    assert_eq!(said(&[call("x")]), "There is no message to answer.");
}

#[test]
fn identifiers_are_never_used_twice() {
    let id = |messages: &[Message]| {
        let (reply, heard) = reply(messages, &ALL);
        assert_eq!((reply.stop, heard), (Stop::Calls, Vec::new()));
        let call = reply.message.calls().next().unwrap();
        call.id.clone()
    };
    assert_eq!(id(&[user("echo x")]), "offline-1");
    assert_eq!(id(&[call("offline-1"), user("echo x")]), "offline-2");
    assert_eq!(id(&[call("offline-2"), user("echo x")]), "offline-3");
    assert_eq!(
        id(&[call("toolu_1"), call("offline-3"), user("echo x")]),
        "offline-4"
    );
}

#[test]
fn facts_are_those_of_a_model_without_limits_worth_the_name() {
    let model = OfflineModel::default();
    assert_eq!(model.name(), "builtin/offline");
    assert_eq!(model.facts().context_window, 100_000_000);
    assert!(!model.facts().takes_images);
}

#[test]
fn what_was_not_used_is_told_with_the_result() {
    for (message, expected) in [
        (
            "echo message=x 5 {\"y\": 1}",
            "`mcp_everything_echo` says:\n\nEcho: x\n\nNot used: `5`, `{\"y\": 1}`.",
        ),
        (
            "echo {\"message\": \"x\", \"loud\": true}",
            "`mcp_everything_echo` says:\n\nEcho: x\n\nNot used: `loud`.",
        ),
        (
            "echo message=x size=big --raw",
            "`mcp_everything_echo` says:\n\nEcho: x\n\nNot used: `size=big`, `--raw`.",
        ),
        ("echo x", "`mcp_everything_echo` says:\n\nEcho: x"),
    ] {
        let messages = [
            user(message),
            call("offline-1"),
            Message::Tool(answer("Echo: x", false)),
        ];
        let (reply, _) = reply(&messages, &ALL);
        let text = reply.message.text();
        let (text, _) = text.rsplit_once("\n\n(builtin/offline: ").unwrap();
        assert_eq!(text, expected, "{message}");
    }
}
