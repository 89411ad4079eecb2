//! Answers as they should be, and as some services send them.

use openclaw_conversation::{AssistantPart, CallArguments, ToolCall, Usage};
use openclaw_models::{ModelEvent, Stop, ToolSet};
use serde_json::json;

use crate::house::{House, said};
use crate::server::{Answer, Server};
use crate::streams::{APIS, Say, stream};

fn calls(parts: &[AssistantPart]) -> Vec<&ToolCall> {
    let calls = parts.iter().filter_map(|part| match part {
        AssistantPart::ToolCall(call) => Some(call),
        _ => None,
    });
    calls.collect()
}

#[tokio::test]
async fn text_and_reasoning_are_heard_as_they_come_however_they_are_cut() {
    for api in APIS {
        let says = [Say::Thought("let me see"), Say::Text("Grüße, world")];
        for size in [1, 7, 100_000] {
            let answer = Answer::stream(&stream(api, &says)).in_pieces_of(size);
            let server = Server::start([answer]);
            let house = House::with_service(api, &server.origin());
            let (reply, heard) = house.ask(&[said("hello")], &ToolSet::none()).await;
            let reply = reply.unwrap();
            assert_eq!(reply.message.text(), "Grüße, world", "{api}");
            assert_eq!(reply.message.model, "test/m");
            assert_eq!(reply.stop, Stop::Done);
            let cached_tokens = if api == "ollama" { 0 } else { 90 };
            let usage = Usage {
                input_tokens: 105,
                output_tokens: 7,
                cached_tokens,
            };
            assert_eq!(reply.message.usage, Some(usage), "{api}");
            let (mut text, mut thought) = (String::new(), String::new());
            for event in heard {
                match event {
                    ModelEvent::Text(more) => text.push_str(&more),
                    ModelEvent::Reasoning(more) => thought.push_str(&more),
                    ModelEvent::Retracted { reason } => panic!("{reason}"),
                    ModelEvent::Notice { text } => panic!("{text}"),
                }
            }
            assert_eq!(
                (text.as_str(), thought.as_str()),
                ("Grüße, world", "let me see")
            );
        }
    }
}

#[tokio::test]
async fn calls_side_by_side_are_told_apart() {
    for api in APIS {
        let says = [
            Say::Text("both"),
            Say::Call(
                "call_a",
                "mcp_one",
                r#"{"path":"/tmp/ä","deep":{"n":[1,2]}}"#,
            ),
            Say::Call("call_b", "mcp_two", ""),
        ];
        let server = Server::start([Answer::stream(&stream(api, &says))]);
        let house = House::with_service(api, &server.origin());
        let reply = house.hello().await.unwrap();
        assert_eq!(reply.stop, Stop::Calls, "{api}");
        let calls = calls(&reply.message.parts);
        let names: Vec<&str> = calls.iter().map(|call| call.name.as_str()).collect();
        assert_eq!(names, ["mcp_one", "mcp_two"], "{api}");
        let arguments = json!({ "path": "/tmp/ä", "deep": { "n": [1, 2] } });
        let arguments = CallArguments::Object(arguments.as_object().unwrap().clone());
        assert_eq!(calls[0].arguments, arguments, "{api}");
        assert_eq!(calls[1].arguments, CallArguments::parse(""), "{api}");
        assert_ne!(calls[0].id, calls[1].id);
        assert!(calls.iter().all(|call| !call.id.is_empty()));
        if !matches!(api, "google-generative-ai" | "ollama") {
            assert_eq!(calls[0].id, "call_a", "{api}");
        }
    }
}

#[tokio::test]
async fn arguments_that_are_not_json_are_broken_and_nothing_else_is() {
    for api in APIS {
        if api == "google-generative-ai" {
            continue;
        }
        let says = [
            Say::Call("call_a", "mcp_one", r#"{"path": "/tm"#),
            Say::Call("call_b", "mcp_two", r#"{"n":1}"#),
        ];
        let server = Server::start([Answer::stream(&stream(api, &says))]);
        let house = House::with_service(api, &server.origin());
        let reply = house.hello().await.unwrap();
        let calls = calls(&reply.message.parts);
        match &calls[0].arguments {
            CallArguments::Broken { text, .. } => assert_eq!(text, r#"{"path": "/tm"#),
            CallArguments::Object(object) => panic!("{api}: {object:?}"),
        }
        assert_eq!(calls[1].arguments, CallArguments::parse(r#"{"n":1}"#));
    }
}

#[tokio::test]
async fn an_empty_answer_is_an_answer() {
    for api in APIS {
        let server = Server::start([Answer::stream(&stream(api, &[]))]);
        let house = House::with_service(api, &server.origin());
        let reply = house.hello().await.unwrap();
        assert!(reply.message.parts.is_empty(), "{api}");
        assert_eq!(reply.stop, Stop::Done);
    }
}

/// Answers a chat with these chunks.
async fn chat(chunks: &[serde_json::Value]) -> openclaw_models::ModelReply {
    let mut events: Vec<String> = chunks.iter().map(|it| format!("data: {it}\n\n")).collect();
    events.push("data: [DONE]\n\n".to_owned());
    let server = Server::start([Answer::stream(&events)]);
    let house = House::with_service("openai-completions", &server.origin());
    house.hello().await.unwrap()
}

#[tokio::test]
async fn calls_without_identifiers_and_with_a_plain_stop_count() {
    let call = |index: u64, name: &str| {
        json!({ "choices": [{ "delta": { "tool_calls": [{ "index": index, "id": "",
            "function": { "name": name, "arguments": "{}" } }] } }] })
    };
    let stop = json!({ "choices": [{ "delta": {}, "finish_reason": "stop" }] });
    let reply = chat(&[call(0, "a"), call(1, "b"), stop]).await;
    assert_eq!(reply.stop, Stop::Calls);
    let calls = calls(&reply.message.parts);
    assert_eq!(calls.len(), 2);
    assert_ne!(calls[0].id, calls[1].id);
}

#[tokio::test]
async fn names_and_identifiers_that_are_repeated_count_once() {
    let piece = |arguments: &str| {
        json!({ "choices": [{ "index": 0, "delta": { "tool_calls": [{ "index": 0, "id": "c1",
            "function": { "name": "a", "arguments": arguments } }] } }] })
    };
    let stop = json!({ "choices": [{ "delta": {}, "finish_reason": "tool_calls" }] });
    let reply = chat(&[piece("{\"x\""), piece(":1}"), stop]).await;
    let calls = calls(&reply.message.parts);
    assert_eq!(calls.len(), 1);
    assert_eq!((calls[0].id.as_str(), calls[0].name.as_str()), ("c1", "a"));
    assert_eq!(calls[0].arguments, CallArguments::parse("{\"x\":1}"));
}

#[tokio::test]
async fn calls_that_all_have_the_number_0_are_told_apart() {
    let call = |id: &str, index: Option<u64>| {
        json!({ "choices": [{ "delta": { "tool_calls": [{ "index": index, "id": id,
            "function": { "name": id, "arguments": "{\"a\":1}" } }] } }] })
    };
    let stop = json!({ "choices": [{ "delta": {}, "finish_reason": "tool_calls" }] });
    for index in [Some(0), None] {
        let reply = chat(&[call("one", index), call("two", index), stop.clone()]).await;
        let calls = calls(&reply.message.parts);
        let ids: Vec<&str> = calls.iter().map(|call| call.id.as_str()).collect();
        assert_eq!(ids, ["one", "two"]);
        assert_eq!(calls[1].arguments, CallArguments::parse("{\"a\":1}"));
    }
}

#[tokio::test]
async fn an_identifier_that_the_conversation_has_already_is_replaced() {
    let says = [Say::Call("call_0", "mcp_one", "{}")];
    let server = Server::start([Answer::stream(&stream("openai-completions", &says))]);
    let house = House::with_service("openai-completions", &server.origin());
    let first = house.hello().await.unwrap();
    let messages = [
        said("hello"),
        openclaw_conversation::Message::Assistant(first.message),
        said("again"),
    ];
    let (second, _) = house.ask(&messages, &ToolSet::none()).await;
    let second = second.unwrap();
    assert_ne!(calls(&second.message.parts)[0].id, "call_0");
}

#[tokio::test]
async fn services_say_in_many_ways_why_they_stopped() {
    for (reason, stop) in [("length", Stop::Length), ("content_filter", Stop::Refused)] {
        let text = json!({ "choices": [{ "delta": { "content": "x" } }] });
        let end = json!({ "choices": [{ "delta": {}, "finish_reason": reason }] });
        assert_eq!(chat(&[text, end]).await.stop, stop);
    }
    for (reason, stop) in [("MAX_TOKENS", Stop::Length), ("SAFETY", Stop::Refused)] {
        let chunk = json!({ "candidates": [{ "finishReason": reason }] });
        let server = Server::start([Answer::stream(&[format!("data: {chunk}\n\n")])]);
        let house = House::with_service("google-generative-ai", &server.origin());
        assert_eq!(house.hello().await.unwrap().stop, stop);
    }
    let blocked = json!({ "promptFeedback": { "blockReason": "SAFETY" } });
    let server = Server::start([Answer::stream(&[format!("data: {blocked}\n\n")])]);
    let house = House::with_service("google-generative-ai", &server.origin());
    assert_eq!(house.hello().await.unwrap().stop, Stop::Refused);
}

#[tokio::test]
async fn a_refusal_in_the_words_of_a_model_is_one() {
    let words = json!({ "choices": [{ "delta": { "refusal": "I won't." } }] });
    let end = json!({ "choices": [{ "delta": { "refusal": null }, "finish_reason": "stop" }] });
    let reply = chat(&[words, end]).await;
    assert_eq!(reply.stop, Stop::Refused);
    assert_eq!(reply.message.text(), "I won't.");
}
