//! Shapes of requests, and what the engine is asked for them.

use openclaw_engine::EarlierSpeaker::{self, Assistant, User};
use openclaw_engine::{Attachment, AttachmentData, EarlierMessage, SessionChoice};
use serde_json::{Value, json};

use super::engine::{PNG, Scripted};

/// Name, type and data of what came with a message.
fn files(attachments: &[Attachment]) -> Vec<(Option<&str>, &str, &str)> {
    let files = attachments.iter().map(|it| {
        let AttachmentData::Base64(data) = &it.data else {
            panic!("files are here");
        };
        (it.name.as_deref(), it.mime_type.as_str(), data.as_str())
    });
    files.collect()
}

fn earlier(earlier: &[EarlierMessage]) -> Vec<(EarlierSpeaker, &str)> {
    let earlier = earlier.iter();
    earlier.map(|it| (it.speaker, it.text.as_str())).collect()
}

async fn asked(messages: Value) -> openclaw_engine::ReplyRequest {
    let engine = Scripted::default();
    let answer = engine
        .post(&json!({ "model": "openclaw", "messages": messages }))
        .await;
    assert_eq!(answer.status, 200, "{}", answer.body);
    engine.last()
}

#[tokio::test]
async fn what_stands_before_the_last_message_is_passed_on_as_it_was_said() {
    let request = asked(json!([
        { "role": "system", "content": "Be brief." },
        { "role": "developer", "content": [{ "type": "text", "text": "Be kind." }] },
        { "role": "user", "content": "I am Ann.", "name": "ann" },
        { "role": "assistant", "content": "Hello." },
        { "role": "assistant", "content": null, "tool_calls": [{ "id": "1" }] },
        { "role": "tool", "tool_call_id": "1", "content": "42" },
        { "role": "assistant", "content": [{ "type": "refusal", "refusal": "No." }] },
        { "role": "user", "content": [
            { "type": "text", "text": "Who" },
            { "type": "text", "text": "am I?" },
        ] },
        { "role": "system", "content": "At once." },
    ]))
    .await;
    assert_eq!(request.message, "Who\nam I?");
    let instructions = "Be brief.\n\nBe kind.\n\nAt once.";
    assert_eq!(request.instructions.as_deref(), Some(instructions));
    let expected = [
        (User, "I am Ann."),
        (Assistant, "Hello."),
        (Assistant, "No."),
    ];
    assert_eq!(earlier(&request.earlier), expected);
    assert_eq!(request.session, SessionChoice::Fresh("openai".to_owned()));
    assert!(!request.approved);
    assert_eq!((request.agent, request.model), (None, None));
}

#[tokio::test]
async fn images_sound_and_files_come_with_the_message() {
    let request = asked(json!([{ "role": "user", "content": [
        { "type": "image_url", "image_url": {
            "url": format!("data:image/PNG;base64,{PNG}"), "detail": "low",
        } },
        { "type": "image_url", "image_url": format!("DATA:image/png;x=y;base64,{PNG}") },
        { "type": "input_audio", "input_audio": { "data": "UklGRg==", "format": "wav" } },
        { "type": "file", "file": {
            "filename": "notes.md", "file_data": "data:text/markdown;base64,aGVsbG8=",
        } },
        { "type": "file", "file": { "file_data": "JVBERi0xLjcKJSVFT0YK" } },
        { "type": "file", "file": { "filename": "a.bin", "file_data": "AAECAw==" } },
        { "type": "file", "file": { "filename": "b.txt", "file_data": "aGVsbG8=" } },
    ] }]))
    .await;
    assert_eq!(request.message, "");
    let expected = [
        (None, "image/png", PNG),
        (None, "image/png", PNG),
        (None, "audio/wav", "UklGRg=="),
        (Some("notes.md"), "text/markdown", "aGVsbG8="),
        (None, "application/pdf", "JVBERi0xLjcKJSVFT0YK"),
        (Some("a.bin"), "application/octet-stream", "AAECAw=="),
        (Some("b.txt"), "text/plain", "aGVsbG8="),
    ];
    assert_eq!(files(&request.attachments), expected);
}

/// A conversation with one file in each of so many messages.
fn with_files(count: usize) -> Value {
    let messages = (0..count).map(|number| {
        let file = json!({ "filename": format!("{number}.txt"), "file_data": "aGVsbG8=" });
        json!({ "role": "user", "content": [{ "type": "file", "file": file }] })
    });
    messages.collect()
}

#[tokio::test]
async fn files_of_messages_before_come_with_the_last_one_as_far_as_there_is_room() {
    let request = asked(with_files(17)).await;
    let names: Vec<_> = files(&request.attachments)
        .iter()
        .map(|file| file.0.unwrap().to_owned())
        .collect();
    let expected: Vec<_> = (2..17).map(|number| format!("{number}.txt")).collect();
    assert_eq!(names, expected);
    let texts = earlier(&request.earlier);
    assert_eq!(texts[1].1, "[1.txt: it is no longer here]");
    assert_eq!(texts[2].1, "[2.txt: it comes with the last message]");
}

#[tokio::test]
async fn a_session_that_goes_on_gets_the_last_message_and_what_it_may_begin_with() {
    let engine = Scripted::default();
    let body = json!({ "messages": with_files(3) });
    let answer = engine
        .post_with(&[("x-openclaw-session-key", "work")], &body)
        .await;
    assert_eq!(
        answer.header("x-openclaw-session-key"),
        Some("agent:main:work")
    );
    let request = engine.last();
    assert_eq!(request.session, SessionChoice::Key("work".to_owned()));
    assert_eq!(request.earlier.len(), 2, "the agent decides");
    assert_eq!(request.attachments.len(), 1, "the others were sent before");
}

#[tokio::test]
async fn a_session_that_only_has_a_name_gets_the_files_of_all_messages() {
    let engine = Scripted::default();
    let body = json!({ "messages": with_files(3) });
    for key in ["new", "empty"] {
        let headers = [("x-openclaw-session-key", key)];
        engine.post_with(&headers, &body).await;
        let request = engine.last();
        assert_eq!(request.session, SessionChoice::Key(key.to_owned()));
        assert_eq!(request.attachments.len(), 3, "{key}");
    }
}

#[tokio::test]
async fn a_model_names_the_agent_or_a_model_for_it() {
    let engine = Scripted::default();
    for (model, header, agent, other) in [
        (json!("openclaw"), "", None, None),
        (json!(""), "", None, None),
        (json!(null), "", None, None),
        (json!("openclaw/coder"), "", Some("coder"), None),
        (json!("openclaw:coder"), "", Some("coder"), None),
        (json!("agent:coder"), "", Some("coder"), None),
        (json!("openclaw"), "coder", Some("coder"), None),
        (json!("agent:coder"), "coder", Some("coder"), None),
        (json!("ollama/llama3"), "", None, Some("ollama/llama3")),
        (json!("a/b/c"), "coder", Some("coder"), Some("a/b/c")),
    ] {
        let messages = json!([{ "role": "user", "content": "hello" }]);
        let body = json!({ "model": model, "messages": messages });
        let headers = [("x-openclaw-agent-id", header)];
        let answer = engine.post_with(&headers, &body).await;
        assert_eq!(answer.status, 200, "{model}: {}", answer.body);
        let request = engine.last();
        assert_eq!(request.agent.as_deref(), agent, "{model} {header}");
        assert_eq!(request.model.as_deref(), other, "{model} {header}");
    }
}

#[tokio::test]
async fn the_agents_are_listed_as_models() {
    let engine = Scripted::default();
    let list = engine.get("/v1/models").await.json();
    let models = list["data"].as_array().unwrap().iter();
    let ids: Vec<_> = models.map(|it| it["id"].as_str().unwrap()).collect();
    assert_eq!(ids, ["openclaw", "openclaw/main", "openclaw/coder"]);
    for path in ["openclaw", "openclaw/coder", "openclaw%2Fcoder"] {
        let model = engine.get(&format!("/v1/models/{path}")).await;
        assert_eq!(model.status, 200, "{path}");
        assert_eq!(model.json()["object"], "model");
        assert_eq!(model.json()["id"], path.replace("%2F", "/"));
    }
    let none = engine.get("/v1/models/openclaw/nobody").await;
    assert_eq!(none.status, 404);
    assert_eq!(none.json()["error"]["code"], "model_not_found");
}

#[tokio::test]
async fn what_only_tunes_a_model_and_what_nobody_knows_has_no_effect() {
    let engine = Scripted::default();
    let mut body = super::house::saying("hello", false);
    let tuning = json!({
        "temperature": 0.1, "max_tokens": 3, "max_completion_tokens": 3, "seed": 1, "stop": ["x"],
        "user": "u", "metadata": { "a": "b" }, "store": true, "top_p": 1, "n": 1, "tools": [],
        "functions": [], "tool_choice": "none", "response_format": { "type": "text" },
        "logprobs": false, "top_logprobs": 0, "modalities": ["text"], "stream_options": null,
        "whatever": { "it": ["is"] },
    });
    let fields = tuning.as_object().unwrap().clone();
    body.as_object_mut().unwrap().extend(fields);
    let answer = engine.post(&body).await;
    assert_eq!(answer.status, 200, "{}", answer.body);
    assert_eq!(engine.last().message, "hello");
}
