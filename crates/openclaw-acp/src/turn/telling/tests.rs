use openclaw_engine::{ToolCallReport, ToolEffect};
use serde_json::{Value, json};

use super::*;

fn partial(text: &str) -> ReplyEvent {
    let text = text.to_owned();
    ReplyEvent::Partial { text }
}

fn block(text: &str) -> ReplyEvent {
    let text = text.to_owned();
    ReplyEvent::Block { text }
}

fn last(text: &str) -> ReplyEvent {
    let text = text.to_owned();
    ReplyEvent::Final { text }
}

fn notice(text: &str) -> ReplyEvent {
    let text = text.to_owned();
    ReplyEvent::Notice { text }
}

fn started() -> ReplyEvent {
    ReplyEvent::ToolStarted {
        id: "1".to_owned(),
        name: "now".to_owned(),
        server: None,
        title: None,
        effect: ToolEffect::Unknown,
        arguments: serde_json::Map::new(),
    }
}

async fn told(events: Vec<ReplyEvent>, shows_notices: bool) -> Vec<Value> {
    let mut telling = Telling::new("3", Path::new("/"), shows_notices);
    let mut told = Vec::new();
    for event in events {
        if let Some(item) = telling.hear(event) {
            told.push(serde_json::to_value(item.told().await.0).unwrap());
        }
    }
    told
}

/// All that an agent says, in one piece.
async fn text(events: Vec<ReplyEvent>) -> String {
    let told = told(events, false).await;
    let texts = told.iter().map(|update| update["content"]["text"].as_str());
    texts.map(Option::unwrap_or_default).collect()
}

#[tokio::test]
async fn each_text_is_told_once() {
    let events = vec![
        partial(" "),
        partial("one"),
        partial(" two"),
        block(" one two three"),
        partial("four"),
        last("four"),
    ];
    assert_eq!(text(events).await, " one two three\n\nfour");
    assert_eq!(text(vec![block("one"), last("two")]).await, "one\n\ntwo");
    assert_eq!(text(vec![partial(" "), last(" ")]).await, "");
}

#[tokio::test]
async fn parts_of_a_text_are_parts_of_a_message() {
    let events = vec![
        partial("a"),
        block("ab"),
        started(),
        partial("c"),
        last("c"),
    ];
    let told = told(events, false).await;
    assert_eq!(told.len(), 4);
    assert_eq!(told[0]["messageId"], told[1]["messageId"]);
    assert_eq!(told[2]["sessionUpdate"], "tool_call");
    assert_ne!(told[0]["messageId"], told[3]["messageId"]);
    // The call stands between them.
    assert_eq!(told[3]["content"]["text"], "c");
}

#[tokio::test]
async fn what_was_retracted_is_marked() {
    let retracted = || ReplyEvent::Retracted {
        reason: "lost".to_owned(),
    };
    let events = vec![partial("hal"), retracted(), partial("whole"), last("whole")];
    assert_eq!(text(events).await, format!("hal{RETRACTED}whole"));
    assert_eq!(text(vec![partial(" "), retracted(), last("a")]).await, "a");
}

#[tokio::test]
async fn notices_are_paragraphs_where_they_are_not_shown() {
    let events = || {
        vec![
            notice("be\u{1b}[2J\nware"),
            partial("a"),
            notice("b"),
            last("ac"),
        ]
    };
    assert_eq!(text(events()).await, "be ware\n\na\n\nb\n\nc");
    let told = told(events(), true).await;
    assert_eq!(told[0]["sessionUpdate"], "notice");
    assert_eq!(told[0]["title"], "be ware");
    assert_eq!(told[1]["content"]["text"], "a");
    assert_eq!(told[3]["content"]["text"], "c");
}

#[tokio::test]
async fn thoughts_are_told_as_such() {
    let thought = |text: &str| ReplyEvent::Reasoning {
        text: text.to_owned(),
    };
    let told = told(
        vec![thought("a"), thought("b"), last("c"), thought("d")],
        true,
    )
    .await;
    assert_eq!(told[0]["sessionUpdate"], "agent_thought_chunk");
    assert_eq!(told[0]["messageId"], told[1]["messageId"]);
    assert_ne!(told[0]["messageId"], told[3]["messageId"]);
}

#[tokio::test]
async fn media_are_told_as_what_they_are() {
    let resource = ReplyPart::Resource {
        name: "a b.pdf".to_owned(),
        mime_type: "application/pdf".to_owned(),
        data: "AAAA".into(),
    };
    let image = ReplyPart::Image {
        mime_type: "image/png".to_owned(),
        data: "BBBB".into(),
    };
    let media = |part| ReplyEvent::Media { part };
    let told = told(vec![media(resource), media(image)], true).await;
    assert_eq!(
        told[0]["content"]["resource"],
        json!({
            "blob": "AAAA",
            "mimeType": "application/pdf",
            "uri": "attachment://a%20b%2Epdf"
        })
    );
    assert_eq!(told[1]["content"]["type"], "image");
    assert_eq!(told[1]["content"]["data"], "BBBB");
}

#[tokio::test]
async fn calls_are_told_from_beginning_to_end() {
    let id = || "1".to_owned();
    let progress = ReplyEvent::ToolProgress {
        id: id(),
        text: "half\u{1b}[2J way".to_owned(),
    };
    let result = ReplyEvent::ToolResult {
        id: id(),
        call: ToolCallReport {
            name: "now".to_owned(),
            server: None,
            is_error: false,
            duration_ms: 1,
        },
        text: "noon".to_owned(),
    };
    let told = told(vec![started(), progress, result], true).await;
    assert!(told.iter().all(|update| update["toolCallId"] == "3-1"));
    assert_eq!(told[1]["content"][0]["content"]["text"], "half way");
    assert_eq!(told[2]["status"], "completed");
}
