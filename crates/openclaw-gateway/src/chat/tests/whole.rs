//! Answers that come at once.

use serde_json::json;

use super::engine::{PNG, Scripted};
use super::house::saying;

#[tokio::test]
async fn an_answer_has_the_shape_of_a_chat_completion() {
    let engine = Scripted::default();
    let answer = engine.say("Hello there", false).await;
    assert_eq!(answer.status, 200);
    assert_eq!(answer.header("content-type"), Some("application/json"));
    let key = "agent:main:openai-1";
    assert_eq!(answer.header("x-openclaw-session-key"), Some(key));
    let mut body = answer.json();
    let id = body["id"].take();
    assert!(id.as_str().unwrap().starts_with("chatcmpl-"), "{id}");
    assert!(body["created"].take().as_u64().unwrap() > 1_700_000_000);
    let message = json!({ "role": "assistant", "content": "Hello there", "refusal": null });
    let expected = json!({
        "id": null, "object": "chat.completion", "created": null, "model": "openclaw",
        "choices": [{
            "index": 0, "message": message, "logprobs": null, "finish_reason": "stop",
        }],
        "usage": {
            "prompt_tokens": 10, "completion_tokens": 2, "total_tokens": 12,
            "prompt_tokens_details": { "cached_tokens": 4 },
        },
    });
    assert_eq!(body, expected);
}

#[tokio::test]
async fn all_texts_of_a_turn_and_its_media_are_in_the_answer() {
    let answer = Scripted::default().say("tools", false).await.json();
    let message = &answer["choices"][0]["message"];
    assert_eq!(message["content"], "I look.\n\n \nA pixel.");
    let url = format!("data:image/png;base64,{PNG}");
    let image = |index| json!({ "index": index, "type": "image_url", "image_url": { "url": url } });
    assert_eq!(message["images"], json!([image(0), image(1)]));
    let file = json!({ "filename": "notes.txt", "file_data": "data:text/plain;base64,aGVsbG8=" });
    assert_eq!(
        message["files"],
        json!([{ "index": 0, "type": "file", "file": file }])
    );
}

#[tokio::test]
async fn what_a_command_answers_is_the_content() {
    let answer = Scripted::default().say("/answer", false).await;
    let content = &answer.json()["choices"][0]["message"]["content"];
    assert_eq!(content, "the answer");
}

#[tokio::test]
async fn a_request_has_an_identifier_that_is_in_the_log() {
    let engine = Scripted::default();
    for (given, is_taken) in [
        ("c0ffee_1-A", true),
        (&*"x".repeat(64), true),
        (&*"x".repeat(65), false),
        ("two words", false),
        ("", false),
    ] {
        for is_streamed in [false, true] {
            let headers = [("x-request-id", given)];
            let body = saying("hello", is_streamed);
            assert_eq!(engine.post_with(&headers, &body).await.status, 200);
            let id = engine.last().correlation;
            assert_eq!(id == given, is_taken, "{given}: {id}");
            assert!(!id.is_empty());
        }
    }
}

#[tokio::test]
async fn an_answer_that_the_model_could_not_finish_says_so() {
    let engine = Scripted::default();
    for (message, reason) in [("cut off", "length"), ("all of it", "stop")] {
        let whole = engine.say(message, false).await.json();
        assert_eq!(whole["choices"][0]["finish_reason"], reason);
        let events = engine.say(message, true).await.events();
        let reasons = events.iter().map(|it| &it["choices"][0]["finish_reason"]);
        let reasons: Vec<_> = reasons.filter(|it| !it.is_null()).collect();
        assert_eq!(reasons, [reason]);
    }
}
