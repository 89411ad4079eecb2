//! Answers that are not whole, too large, or never come.

use std::time::Duration;

use openclaw_conversation::CallArguments;
use openclaw_models::{ModelError, Stop, ToolSet};
use serde_json::{Value, json};

use crate::house::{House, asking, said, service};
use crate::server::{Answer, Ending, Server};
use crate::streams::{APIS, Say, stream};

#[tokio::test]
async fn what_breaks_off_is_never_an_answer() {
    for api in APIS {
        let says = [
            Say::Thought("hm"),
            Say::Text("hello"),
            Say::Call("call_a", "mcp_one", r#"{"a":1}"#),
        ];
        let events = stream(api, &says);
        // After the last of these an answer is complete; chats add what it cost, and a farewell.
        let needed = events.len() - usize::from(api == "openai-completions") * 2;
        let server = Server::start([Answer::stream(&events)]);
        let house = House::with_service(api, &server.origin());
        assert!(house.hello().await.is_ok());
        for count in 0..needed {
            for ending in [Ending::Whole, Ending::Cut] {
                server.answer(Answer::stream(&events[..count]).ending(ending));
                let error = house.hello().await.unwrap_err();
                assert_eq!(error.code(), "model-truncated", "{api} {count}: {error}");
                assert!(error.is_passing());
            }
        }
        // In the middle of the event that ends it.
        let mut cut = events[..needed].concat();
        cut.truncate(cut.trim_end().len() - 3);
        server.answer(Answer::stream(&[cut]));
        let error = house.hello().await.unwrap_err();
        assert_eq!(error.code(), "model-truncated", "{api}: {error}");
    }
}

#[tokio::test]
async fn a_call_that_the_service_could_not_read_is_asked_for_again() {
    let chunk = json!({ "candidates": [{ "finishReason": "MALFORMED_FUNCTION_CALL" }] });
    let server = Server::start([Answer::stream(&[format!("data: {chunk}\n\n")])]);
    let house = House::with_service("google-generative-ai", &server.origin());
    let error = house.hello().await.unwrap_err();
    assert!(error.is_passing(), "{error}");
}

#[tokio::test]
async fn a_signature_that_is_missing_will_be_missing_again() {
    let chunk = json!({ "candidates": [{ "finishReason": "MISSING_THOUGHT_SIGNATURE" }] });
    let server = Server::start([Answer::stream(&[format!("data: {chunk}\n\n")])]);
    let house = House::with_service("google-generative-ai", &server.origin());
    let error = house.hello().await.unwrap_err();
    assert_eq!(error.code(), "model-refused", "{error}");
}

#[tokio::test]
async fn who_says_no_farewell_is_not_waited_for() {
    let chat = json!({ "choices": [{ "delta": { "content": "hello" }, "finish_reason": "stop" }] });
    let gemini = json!({ "candidates": [{ "content": { "parts": [{ "text": "hello" }] },
        "finishReason": "STOP" }] });
    for (api, event) in [
        ("openai-completions", chat),
        ("google-generative-ai", gemini),
    ] {
        let events = [format!("data: {event}\n\n")];
        let server = Server::start([Answer::stream(&events).ending(Ending::Silence)]);
        let house = House::with_service(api, &server.origin());
        let model = house.model().await.unwrap();
        let (messages, tools) = ([said("hello")], ToolSet::none());
        let mut since = None;
        let mut hear = |_| {
            tokio::time::pause();
            since = Some(tokio::time::Instant::now());
        };
        let reply = model.reply(asking(&messages, &tools), &mut hear).await;
        assert_eq!(reply.unwrap().message.text(), "hello", "{api}");
        let waited = since.unwrap().elapsed();
        assert!(waited <= Duration::from_secs(6), "{api}: {waited:?}");
        tokio::time::resume();
    }
}

#[tokio::test]
async fn the_last_call_of_an_answer_that_was_cut_off_is_broken() {
    for (api, whole, cut) in [
        (
            "anthropic-messages",
            r#"stop_reason":"tool_use"#,
            r#"stop_reason":"max_tokens"#,
        ),
        (
            "openai-completions",
            r#"finish_reason":"tool_calls"#,
            r#"finish_reason":"length"#,
        ),
        (
            "openai-responses",
            "response.completed",
            "response.incomplete",
        ),
        ("google-generative-ai", "\"STOP\"", "\"MAX_TOKENS\""),
        ("ollama", "\"stop\"", "\"length\""),
    ] {
        for arguments in ["", "{}", r#"{"path":"/"}"#] {
            let says = [
                Say::Call("call_a", "mcp_one", r#"{"a":1}"#),
                Say::Call("call_b", "mcp_two", arguments),
            ];
            let events = stream(api, &says).concat();
            assert!(events.contains(whole), "{api}: {events}");
            let server = Server::start([Answer::stream(&[events.replace(whole, cut)])]);
            let house = House::with_service(api, &server.origin());
            let reply = house.hello().await.unwrap();
            assert_eq!(reply.stop, Stop::Length, "{api}");
            let calls: Vec<_> = reply.message.calls().collect();
            assert_eq!(
                calls[0].arguments,
                CallArguments::parse(r#"{"a":1}"#),
                "{api}"
            );
            match &calls[1].arguments {
                CallArguments::Broken { reason, .. } => assert_eq!(
                    reason,
                    "the answer was cut off before the call was complete"
                ),
                CallArguments::Object(object) => panic!("{api}: {object:?}"),
            }
        }
    }
}

#[tokio::test]
async fn silence_ends() {
    let says = [Say::Text("hello")];
    let events = stream("openai-completions", &says);
    let answer = Answer::stream(&events[..2]).ending(Ending::Silence);
    let server = Server::start([answer]);
    let house = House::with_service("openai-completions", &server.origin());
    let model = house.model().await.unwrap();
    let (messages, tools) = ([said("hello")], ToolSet::none());
    // From the first word on nothing but the clock goes on.
    let mut hear = |_| tokio::time::pause();
    let reply = model.reply(asking(&messages, &tools), &mut hear);
    let error = reply.await.unwrap_err();
    assert_eq!(
        error,
        ModelError::TimedOut {
            model: "test/m".to_owned(),
            within: Duration::from_mins(5),
        }
    );
}

#[tokio::test]
async fn who_may_take_longer_may_be_silent_longer() {
    let events = stream("openai-completions", &[Say::Text("hello")]);
    let answer = Answer::stream(&events[..2]).ending(Ending::Silence);
    let server = Server::start([answer]);
    let more = json!({ "timeoutSeconds": 900 });
    let house = House::new(&service("openai-completions", &server.origin(), &more), &[]);
    let model = house.model().await.unwrap();
    let (messages, tools) = ([said("hello")], ToolSet::none());
    let mut hear = |_| tokio::time::pause();
    let reply = model.reply(asking(&messages, &tools), &mut hear);
    let error = reply.await.unwrap_err();
    assert_eq!(error.to_string(), "test/m did not answer within 900 s");
}

#[tokio::test]
async fn an_answer_has_a_limit_in_all() {
    let answer = Answer::stream(&[""]).ending(Ending::Silence);
    let server = Server::start([answer]);
    let config = service(
        "openai-completions",
        &server.origin(),
        &json!({ "timeoutSeconds": 1 }),
    );
    let house = House::new(&config, &[]);
    let error = house.hello().await.unwrap_err();
    assert_eq!(error.to_string(), "test/m did not answer within 1 s");
}

#[tokio::test]
async fn what_is_too_large_is_refused() {
    let big = "x".repeat(1 << 20);
    for api in APIS {
        let text = Say::Text(&big);
        let says: Vec<Say<'_>> = std::iter::repeat_with(|| Say::Text(&big))
            .take(17)
            .collect();
        let arguments = format!("{{\"a\":\"{big}\"}}");
        let huge = "x".repeat(9 << 20);
        let many: Vec<Say<'_>> = (0..257).map(|_| Say::Call("", "mcp_one", "{}")).collect();
        let cases = [
            (stream(api, &says), "more than 16 MiB"),
            (
                stream(api, &[text, Say::Call("c", "mcp_one", &arguments)]),
                "1 MiB of arguments",
            ),
            (stream(api, &[Say::Text(&huge)]), "more than 4 MiB"),
            (stream(api, &many), "more than 256 calls"),
        ];
        for (events, expected) in cases {
            let server = Server::start([Answer::stream(&events)]);
            let house = House::with_service(api, &server.origin());
            let error = house.hello().await.unwrap_err();
            assert_eq!(error.code(), "model-unreadable", "{api}: {error}");
            assert!(error.to_string().contains(expected), "{api}: {error}");
        }
    }
}

/// Asks for an answer of these events, which is too large.
async fn too_large(api: &str, events: &[String]) -> String {
    let server = Server::start([Answer::stream(events)]);
    let house = House::with_service(api, &server.origin());
    let error = house.hello().await.unwrap_err();
    assert_eq!(error.code(), "model-unreadable", "{api}: {error}");
    error.to_string()
}

#[tokio::test]
async fn values_count_as_what_they_take_and_not_as_what_is_written() {
    let data = |value: &Value| format!("data: {value}\n\n");
    let nested = |count: usize| json!({ "a": vec![json!([]); count] });
    let chat = |arguments: &Value| {
        let call =
            json!({ "index": 0, "id": "c", "function": { "name": "t", "arguments": arguments } });
        data(&json!({ "choices": [{ "delta": { "tool_calls": [call] } }] }))
    };
    let gemini = |arguments: &Value| {
        let call = json!({ "functionCall": { "name": "t", "args": arguments } });
        data(&json!({ "candidates": [{ "content": { "parts": [call] } }] }))
    };
    let ollama = |arguments: &Value| {
        let call = json!({ "function": { "name": "t", "arguments": arguments } });
        format!("{}\n", json!({ "message": { "tool_calls": [call] } }))
    };
    let (large, small) = (nested(1_300_000), nested(100_000));
    for (api, one, many) in [
        ("openai-completions", chat(&large), vec![chat(&small); 30]),
        (
            "google-generative-ai",
            gemini(&large),
            vec![gemini(&small); 30],
        ),
        ("ollama", ollama(&large), vec![ollama(&small); 30]),
    ] {
        assert!(too_large(api, &[one]).await.contains("1 MiB of arguments"));
        assert!(too_large(api, &many).await.contains("more than 16 MiB"));
    }
    let detail = json!({ "type": "x", "data": { "a": vec![json!([]); 300_000] } });
    let details = json!({ "choices": [{ "delta": { "reasoning_details": [detail] } }] });
    assert!(
        too_large("openai-completions", &[data(&details)])
            .await
            .contains("16 MiB")
    );
    let item = json!({ "type": "reasoning", "encrypted_content": "x", "summary": vec![json!([]); 300_000] });
    let done = json!({ "type": "response.output_item.done", "output_index": 0, "item": item });
    assert!(
        too_large("openai-responses", &[data(&done)])
            .await
            .contains("16 MiB")
    );
}

#[tokio::test]
async fn arguments_that_came_as_texts_stay_within_bounds_when_they_are_read() {
    let arguments = format!("{{\"a\":[{}[]]}}", "[],".repeat(300_000));
    let says: Vec<Say<'_>> = (0..3).map(|_| Say::Call("", "t", &arguments)).collect();
    let api = "openai-responses";
    let server = Server::start([Answer::stream(&stream(api, &says))]);
    let reply = House::with_service(api, &server.origin()).hello().await;
    let reply = reply.unwrap();
    for call in reply.message.calls() {
        match &call.arguments {
            CallArguments::Broken { reason, .. } => assert!(reason.contains("16 MiB")),
            CallArguments::Object(_) => panic!("it takes more than an answer may"),
        }
    }
}

#[tokio::test]
async fn a_line_or_event_without_an_end_is_refused_before_it_fills_the_memory() {
    for api in APIS {
        let mut endless = b"data: ".to_vec();
        endless.resize(5 << 20, b'x');
        let server = Server::start([Answer::stream(&[endless]).ending(Ending::Silence)]);
        let house = House::with_service(api, &server.origin());
        let error = house.hello().await.unwrap_err();
        assert_eq!(error.code(), "model-unreadable", "{api}: {error}");
    }
}
