//! What is refused, and what is told where a turn fails.

use axum::body::{Body, Bytes};
use futures_util::stream;
use http::Request;
use serde_json::{Value, json};

use super::engine::Scripted;
use super::house::saying;

fn content(part: &Value) -> Value {
    json!({ "messages": [{ "role": "user", "content": [part] }] })
}

/// Each is refused, with the place of what can't be understood.
async fn assert_refused(cases: impl IntoIterator<Item = (Value, &str)>) {
    let engine = Scripted::default();
    for (body, param) in cases {
        let answer = engine.post(&body).await;
        assert_eq!(answer.status, 400, "{body}: {}", answer.body);
        let error = answer.json()["error"].clone();
        assert_eq!(error["param"], param, "{body}: {error}");
        assert_eq!(error["type"], "invalid_request_error", "{body}");
        assert_eq!(error["code"], "invalid_value", "{body}");
        assert!(!error["message"].as_str().unwrap().is_empty());
        assert_eq!(answer.header("x-should-retry"), Some("false"));
    }
    assert_eq!(engine.asked(), 0);
}

#[tokio::test]
async fn messages_that_can_not_be_understood_are_refused() {
    let said = |messages: Value| json!({ "messages": messages });
    let user = json!({ "role": "user", "content": "hello" });
    assert_refused([
        (json!({}), "messages"),
        (said(json!("hello")), "messages"),
        (said(json!([])), "messages"),
        (said(json!(["hello"])), "messages[0]"),
        (said(json!([{ "content": "hello" }])), "messages[0].role"),
        (
            said(json!([user, { "role": "critic" }])),
            "messages[1].role",
        ),
        (
            said(json!([user, { "role": "assistant", "content": "x" }])),
            "messages",
        ),
        (
            said(json!([user, { "role": "tool", "content": "x" }])),
            "messages",
        ),
        (
            said(json!([{ "role": "system", "content": "x" }])),
            "messages",
        ),
        (said(json!([{ "role": "user" }])), "messages[0].content"),
        (
            said(json!([{ "role": "user", "content": " \n" }])),
            "messages[0].content",
        ),
        (
            said(json!([{ "role": "user", "content": [] }])),
            "messages[0].content",
        ),
        (
            said(json!([{ "role": "user", "content": 1 }])),
            "messages[0].content",
        ),
        (json!({ "model": 1, "messages": [user] }), "model"),
        (json!({ "stream": "yes", "messages": [user] }), "stream"),
        (
            json!({ "stream_options": { "include_usage": 1 }, "messages": [user] }),
            "stream_options.include_usage",
        ),
    ])
    .await;
}

#[tokio::test]
async fn parts_that_can_not_be_used_are_refused() {
    let cases = [
        (json!("hello"), ""),
        (json!({}), ".type"),
        (json!({ "type": "video" }), ".type"),
        (json!({ "type": "text", "text": 1 }), ".text"),
        (json!({ "type": "image_url" }), ".image_url"),
        (
            json!({ "type": "input_audio", "input_audio": { "data": "UklGRg==" } }),
            ".input_audio.format",
        ),
        (
            json!({ "type": "input_audio", "input_audio": { "data": "?", "format": "mp3" } }),
            ".input_audio.data",
        ),
        (
            json!({ "type": "file", "file": { "file_id": "file-1" } }),
            ".file.file_id",
        ),
        (
            json!({ "type": "file", "file": { "file_data": "?" } }),
            ".file.file_data",
        ),
        (
            json!({ "type": "file", "file": { "file_data": "" } }),
            ".file.file_data",
        ),
    ];
    let urls = [
        "https://example.com/a.png",
        "file:///etc/passwd",
        "data:image/png,abc",
        "data:image/png;base64",
        "data:image/png;base64,",
        "data:image/png;base64,a b",
        "data:text/html;base64,aGVsbG8=",
        "d\u{e4}t\u{e4}:",
    ];
    let urls = urls.map(|url| {
        let image = json!({ "type": "image_url", "image_url": { "url": url } });
        (image, ".image_url.url")
    });
    for (part, place) in cases.into_iter().chain(urls) {
        let place = format!("messages[0].content[0]{place}");
        assert_refused([(content(&part), &*place)]).await;
    }
}

#[tokio::test]
async fn what_would_change_the_meaning_of_an_answer_is_refused_by_name() {
    let engine = Scripted::default();
    for (param, value) in [
        ("n", json!(2)),
        ("n", json!("1")),
        ("tools", json!([{ "type": "function" }])),
        ("functions", json!([{ "name": "f" }])),
        ("response_format", json!({ "type": "json_object" })),
        ("response_format", json!("text")),
        ("logprobs", json!(true)),
        ("top_logprobs", json!(3)),
        ("modalities", json!(["text", "audio"])),
    ] {
        let mut body = saying("hello", false);
        body[param] = value;
        let answer = engine.post(&body).await;
        assert_eq!(answer.status, 400, "{body}");
        let error = answer.json()["error"].clone();
        assert_eq!(error["param"], param, "{error}");
        assert_eq!(error["code"], "unsupported_parameter", "{error}");
    }
    assert_eq!(engine.asked(), 0);
}

#[tokio::test]
async fn a_model_that_is_none_is_not_found() {
    let engine = Scripted::default();
    for model in ["gpt-4o", "openclaw/", "agent:", "x\u{1b}[2J"] {
        let mut body = saying("hello", false);
        body["model"] = json!(model);
        let answer = engine.post(&body).await;
        assert_eq!(answer.status, 404, "{model}");
        let error = answer.json()["error"].clone();
        assert_eq!(error["code"], "model_not_found", "{error}");
        assert_eq!(error["param"], "model", "{error}");
        assert!(!error["message"].as_str().unwrap().contains('\u{1b}'));
    }
    let mut body = saying("hello", false);
    body["model"] = json!("openclaw/main");
    let headers = [("x-openclaw-agent-id", "coder")];
    let answer = engine.post_with(&headers, &body).await;
    assert_eq!(answer.status, 400, "two different ones: {}", answer.body);
    assert_eq!(engine.asked(), 0);
}

#[tokio::test]
async fn bodies_that_are_none_are_refused() {
    let engine = Scripted::default();
    let deep = "[".repeat(5_000);
    let many = format!("{{\"messages\":[{}1]}}", "1,".repeat(200_000));
    for body in ["", "hello", "[]", "{\"messages\":", "\u{0}", &deep, &many] {
        let request = Request::post("/v1/chat/completions");
        let request = request.body(Body::from(body.to_owned())).unwrap();
        let answer = engine.answer(request).await;
        assert_eq!(answer.status, 400, "{}", answer.body);
        let error = answer.json()["error"].clone();
        assert_eq!(error["type"], "invalid_request_error", "{error}");
        assert_eq!(error["param"], Value::Null);
    }
    // More than may come, from somebody who does not say how much that is.
    let piece = Bytes::from(vec![b' '; 1 << 20]);
    let pieces = stream::iter((0..80).map(move |_| Ok::<_, std::io::Error>(piece.clone())));
    let request = Request::post("/v1/chat/completions");
    let answer = engine.answer(request.body(Body::from_stream(pieces)).unwrap());
    let answer = answer.await;
    assert_eq!(answer.status, 413, "{}", answer.body);
    assert!(answer.json()["error"]["message"].is_string());
    assert_eq!(engine.asked(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_body_that_does_not_come_is_not_waited_for_without_end() {
    let begun = stream::iter([Ok::<_, std::io::Error>(Bytes::from_static(b"{"))]);
    let body = futures_util::StreamExt::chain(begun, stream::pending());
    let request = Request::post("/v1/chat/completions");
    let request = request.body(Body::from_stream(body)).unwrap();
    let answer = Scripted::default().answer(request).await;
    assert_eq!(answer.status, 408, "{}", answer.body);
}

#[tokio::test]
async fn failures_of_a_turn_have_their_status() {
    let engine = Scripted::default();
    for (failure, status, code, kind) in [
        (
            "unknown-agent",
            404,
            "model_not_found",
            "invalid_request_error",
        ),
        (
            "unknown-model",
            404,
            "model_not_found",
            "invalid_request_error",
        ),
        ("session-key", 400, "session_key", "invalid_request_error"),
        (
            "context-too-long",
            400,
            "context_length_exceeded",
            "invalid_request_error",
        ),
        ("session-in-use", 429, "session_in_use", "rate_limit_error"),
        ("model-busy", 429, "model_busy", "rate_limit_error"),
        (
            "model-unavailable",
            502,
            "model_unavailable",
            "server_error",
        ),
        (
            "model-key-refused",
            502,
            "model_key_refused",
            "server_error",
        ),
        ("no-model-key", 502, "no_model_key", "server_error"),
        ("model-timed-out", 504, "model_timed_out", "server_error"),
        ("turn-timed-out", 504, "turn_timed_out", "server_error"),
        ("too-many-rounds", 500, "too_many_rounds", "server_error"),
    ] {
        for stream in [false, true] {
            let answer = engine.say(&format!("fail {failure}"), stream).await;
            assert_eq!(answer.status, status, "{failure}");
            let error = answer.json()["error"].clone();
            assert_eq!(error["code"], code, "{failure}");
            assert_eq!(error["type"], kind, "{failure}");
            assert_eq!(error["message"], "it can't be done (do something else)");
        }
    }
}

#[tokio::test]
async fn clients_repeat_only_what_did_nothing() {
    let engine = Scripted::default();
    let answer = engine.say("fail model-unavailable", false).await;
    assert_eq!(answer.header("x-should-retry"), None);
    let answer = engine.say("called", false).await;
    assert_eq!(answer.status, 502);
    assert_eq!(answer.header("x-should-retry"), Some("false"));
}

#[tokio::test]
async fn an_engine_that_fails_as_nothing_should_costs_only_its_turn() {
    let engine = Scripted::default();
    for stream in [false, true] {
        let answer = engine.say("panic", stream).await;
        assert_eq!(answer.status, 500);
        assert_eq!(answer.json()["error"]["code"], "internal");
    }
    assert_eq!(engine.say("hello", true).await.streamed(), "hello");
}
