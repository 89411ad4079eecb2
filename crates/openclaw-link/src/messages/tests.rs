use openclaw_engine::EngineEvent;
use serde_json::{Map, json};

use super::*;

type AskingBare<'a> = Asking<'a, ()>;

fn text(message: &impl Serialize) -> serde_json::Value {
    serde_json::to_value(message).unwrap()
}

fn read(text: &str) -> Message {
    Message::read(&Bytes::from(text.to_owned())).unwrap()
}

#[test]
fn messages_of_whoever_asks_have_this_form() {
    let with = json!({ "agent": null });
    let ask = Asking::Ask {
        id: 1,
        question: "servers",
        with: &with,
        files: 0,
        traceparent: None,
        tracestate: None,
    };
    let expected = json!({"type": "ask", "id": 1, "question": "servers", "with": {"agent": null}});
    assert_eq!(text(&ask), expected);
    let cancel = AskingBare::Cancel { id: 1 };
    assert_eq!(text(&cancel), json!({"type": "cancel", "id": 1}));
    let answer = AskingBare::Answer {
        id: 1,
        question: 2,
        said: Said::Approve(ToolConsent::Once),
    };
    let expected = json!({"type": "answer", "id": 1, "question": 2, "approve": "once"});
    assert_eq!(text(&answer), expected);
    let answer = AskingBare::Answer {
        id: 1,
        question: 2,
        said: Said::Answer(ServerAnswer::Accept(Map::new())),
    };
    let accepted = json!({"type": "accept", "fields": {}});
    let expected = json!({"type": "answer", "id": 1, "question": 2, "answer": accepted});
    assert_eq!(text(&answer), expected);
}

#[test]
fn a_question_can_belong_to_a_trace() {
    let parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    let ask = Asking::Ask {
        id: 1,
        question: "overview",
        with: &(),
        files: 0,
        traceparent: Some(parent),
        tracestate: Some("a=b"),
    };
    let trace = read(&text(&ask).to_string()).trace.unwrap();
    assert_eq!(
        (trace.traceparent(), trace.tracestate()),
        (parent.to_owned(), Some("a=b"))
    );
    // One that is none is no reason to refuse the question.
    let odd = r#"{"type":"ask","id":1,"question":"overview","traceparent":"00-zz"}"#;
    assert_eq!(read(odd).trace, None);
}

#[test]
fn messages_of_the_engine_have_this_form() {
    let event = EngineEvent::Missed { count: 3 };
    let message = Answering::Event {
        id: 1,
        event: &event,
    };
    let expected = json!({"type": "event", "id": 1, "event": {"type": "missed", "count": 3}});
    assert_eq!(text(&message), expected);
    let asked = json!({"tool": "x"});
    let message = Answering::Question {
        id: 1,
        question: 2,
        asks: AsksPerson::Approve(&asked),
    };
    let expected = json!({"type": "question", "id": 1, "question": 2, "approve": {"tool": "x"}});
    assert_eq!(text(&message), expected);
    let message = Notice::Withdrawn { id: 1, question: 2 };
    let expected = json!({"type": "withdrawn", "id": 1, "question": 2});
    assert_eq!(text(&message), expected);
    let message = Answering::Done { id: 1, report: &() };
    assert_eq!(
        text(&message),
        json!({"type": "done", "id": 1, "report": null})
    );
    let failure = EngineFailure::asker("no", "it is not there");
    let message = Notice::Error {
        id: None,
        failure: &failure,
    };
    let failure = json!({"blame": "asker", "code": "no", "message": "it is not there"});
    assert_eq!(text(&message), json!({"type": "error", "failure": failure}));
}

#[test]
fn fields_are_read_in_any_order_and_unknown_ones_are_passed_over() {
    let message = read(r#"{"with":{"a":[1]},"later":{},"question":"tools","id":7,"type":"ask"}"#);
    assert_eq!((message.kind.as_str(), message.id), ("ask", Some(7)));
    assert_eq!(message.question_name().as_deref(), Some("tools"));
    assert_eq!(&message.body[..], br#"{"a":[1]}"#);
}

#[test]
fn what_is_in_a_message_stays_where_it_lies() {
    let text = Bytes::from(format!(
        r#"{{"type":"done","id":1,"report":"{}"}}"#,
        "x".repeat(99)
    ));
    let message = Message::read(&text).unwrap();
    let offset = message.body.as_ptr() as usize - text.as_ptr() as usize;
    assert_eq!(offset, r#"{"type":"done","id":1,"report":"#.len());
}

#[test]
fn an_answer_that_says_two_things_or_nothing_says_nothing() {
    let both =
        r#"{"type":"answer","id":1,"question":2,"approve":"no","answer":{"type":"decline"}}"#;
    assert_eq!(read(both).said(), None);
    assert_eq!(
        read(r#"{"type":"answer","id":1,"question":2}"#).said(),
        None
    );
    let unknown = r#"{"type":"answer","id":1,"question":2,"approve":"perhaps"}"#;
    assert_eq!(read(unknown).said(), None);
}

#[test]
fn what_is_no_message_is_an_error_however_deep_it_is() {
    let deep = "[".repeat(100_000);
    let nested = format!(r#"{{"type":"ask","id":1,"question":"x","with":{deep}"#);
    let texts = [
        "",
        "null",
        "[]",
        "{}",
        r#"{"type":1}"#,
        r#"{"type":"ask","id":-1}"#,
        &deep,
        &nested,
    ];
    for text in texts {
        assert!(Message::read(&Bytes::from(text.to_owned())).is_err());
    }
    assert!(Message::read(&Bytes::from_static(b"\xff\xfe{}")).is_err());
}
