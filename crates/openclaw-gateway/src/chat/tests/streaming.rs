//! Answers that come as they are made.

use axum::body::Body;
use http_body_util::BodyExt as _;
use serde_json::{Value, json};

use super::engine::{PNG, Scripted};
use super::house::{request, saying};

/// What a chunk says, in short.
fn short(event: &Value) -> String {
    if event == "[DONE]" || event.get("error").is_some() {
        return event.to_string();
    }
    let choice = &event["choices"][0];
    if choice.is_null() {
        return format!("usage {}", event["usage"]["total_tokens"]);
    }
    if choice["finish_reason"] == "stop" {
        return "stop".to_owned();
    }
    choice["delta"].to_string()
}

async fn frame(body: &mut Body) -> String {
    let frame = body.frame().await.unwrap().unwrap();
    let data = frame.into_data().unwrap();
    String::from_utf8(data.to_vec()).unwrap()
}

#[tokio::test]
async fn a_stream_has_the_role_the_texts_the_media_the_end_and_the_cost() {
    let mut body = saying("tools", true);
    body["stream_options"] = json!({ "include_usage": true });
    let answer = Scripted::default().post(&body).await;
    assert_eq!(answer.status, 200);
    let key = "agent:main:openai-1";
    assert_eq!(answer.header("x-openclaw-session-key"), Some(key));
    let events = answer.events();
    let url = format!("data:image/png;base64,{PNG}");
    let image = |index| {
        let image = json!({ "index": index, "type": "image_url", "image_url": { "url": url } });
        json!({ "images": [image] }).to_string()
    };
    let file = json!({ "filename": "notes.txt", "file_data": "data:text/plain;base64,aGVsbG8=" });
    let file = json!({ "files": [{ "index": 0, "type": "file", "file": file }] });
    let role = json!({ "role": "assistant", "content": "", "refusal": null });
    // Everything was said before anybody could read it.
    let text = json!({ "content": "I look.\n\n \nA pixel." });
    let expected = [
        role.to_string(),
        text.to_string(),
        image(0),
        image(1),
        file.to_string(),
        "stop".to_owned(),
        "usage 12".to_owned(),
        "\"[DONE]\"".to_owned(),
    ];
    let all: Vec<String> = events.iter().map(short).collect();
    assert_eq!(all, expected);
    for chunk in &events[..events.len() - 1] {
        assert_eq!(chunk["object"], "chat.completion.chunk");
        assert_eq!(chunk["model"], "openclaw");
        assert_eq!(chunk["id"], events[0]["id"]);
        let is_last = chunk["choices"] == json!([]);
        assert_eq!(chunk["usage"].is_null(), !is_last, "{chunk}");
        assert!(chunk.get("usage").is_some(), "{chunk}");
    }
}

#[tokio::test]
async fn without_being_asked_for_it_a_stream_says_nothing_of_the_cost() {
    let answer = Scripted::default().say("hello", true).await;
    assert!(!answer.body.contains("usage"), "{}", answer.body);
    assert!(answer.body.ends_with("data: [DONE]\n\n"));
}

#[tokio::test]
async fn a_stream_and_a_whole_answer_say_the_same() {
    let engine = Scripted::default();
    for message in ["hello there", "tools", "whole", "/answer", "flood"] {
        let streamed = engine.say(message, true).await.streamed();
        let whole = engine.say(message, false).await.json();
        let whole = &whole["choices"][0]["message"]["content"];
        assert_eq!(streamed, whole.as_str().unwrap(), "{message}");
    }
}

#[tokio::test]
async fn what_was_sent_and_does_not_count_stays_and_the_rest_follows_apart() {
    let answer = Scripted::default().say("retract", true).await;
    assert_eq!(answer.streamed(), "Wro\n\nRight.");
}

#[tokio::test]
async fn text_is_sent_as_it_comes() {
    let engine = Scripted::default();
    let response = engine.send(request(&[], &saying("wait", true))).await;
    let mut body = response.into_body();
    assert!(frame(&mut body).await.contains("\"role\""));
    assert!(frame(&mut body).await.contains("\"one \""));
    engine.gate.add_permits(1);
    assert!(frame(&mut body).await.contains("\"two\""));
    let rest = body.collect().await.unwrap().to_bytes();
    assert!(rest.ends_with(b"data: [DONE]\n\n"));
}

#[tokio::test]
async fn a_failure_after_the_first_words_ends_the_stream_with_an_error() {
    let answer = Scripted::default().say("break", true).await;
    assert_eq!(answer.status, 200);
    let events = answer.events();
    assert_eq!(answer.streamed(), "half a ");
    let error = &events.last().unwrap()["error"];
    assert_eq!(error["code"], "model_truncated", "{error}");
    assert_eq!(error["message"], "it can't be done (do something else)");
    assert!(!answer.body.contains("[DONE]"));
    assert!(!answer.body.contains("stop"));

    // Whatever a call did must not be done again by a client that repeats what has a bad status.
    let answer = Scripted::default().say("called", true).await;
    assert_eq!(answer.status, 200);
    assert_eq!(answer.events().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_turn_that_says_nothing_is_begun_and_kept_alive() {
    let engine = Scripted::default();
    let begun = tokio::time::Instant::now();
    let key = [("x-openclaw-session-key", "work")];
    let response = engine.send(request(&key, &saying("silent", true))).await;
    assert_eq!(
        begun.elapsed().as_secs(),
        5,
        "the head is not held back for ever"
    );
    assert_eq!(response.status(), 200);
    assert_eq!(
        response.headers()["x-openclaw-session-key"],
        "agent:main:work"
    );
    let mut body = response.into_body();
    assert!(frame(&mut body).await.contains("\"role\""));
    for number in 1..4 {
        assert_eq!(frame(&mut body).await, ":\n\n");
        assert_eq!(begun.elapsed().as_secs(), 5 + 15 * number);
    }
}

#[tokio::test]
async fn a_slow_reader_gets_more_at_once_and_does_not_hold_up_the_turn() {
    let engine = Scripted::default();
    let response = engine.send(request(&[], &saying("flood", true))).await;
    let mut body = response.into_body();
    let is_over = || engine.running() == 0;
    assert!(openclaw_testkit::leaks::eventually(super::leaving::SOON, is_over).await);
    assert!(frame(&mut body).await.contains("\"role\""));
    assert!(frame(&mut body).await.len() > 1 << 20, "all of it at once");
    let rest = body.collect().await.unwrap().to_bytes();
    assert!(rest.ends_with(b"data: [DONE]\n\n"));
}

#[tokio::test]
async fn what_nobody_reads_does_not_pile_up_without_end() {
    use crate::chat::outbox::{Next, Outbox};
    use openclaw_engine::{Audience as _, ReplyEvent};
    let outbox = Outbox::default();
    let text = "x".repeat(1 << 20);
    for _ in 0..100 {
        let text = text.clone();
        outbox.hear(ReplyEvent::Partial { text });
    }
    let Next::Text(taken) = outbox.next().await else {
        panic!("there is text");
    };
    assert_eq!(taken.len(), 16 << 20);
    let Next::End(end) = outbox.next().await else {
        panic!("there is no more");
    };
    assert_eq!(end.unwrap_err().code, "not-read");
}
