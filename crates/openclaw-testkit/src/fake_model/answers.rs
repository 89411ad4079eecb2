//! A text as each protocol streams it.

use serde_json::{Value, json};

/// The type of a stream and the stream itself, in the protocol that has this path.
pub(super) fn stream(path: &str, text: &str) -> Option<(&'static str, String)> {
    const EVENTS: &str = "text/event-stream";
    Some(if path.ends_with("/messages") {
        (EVENTS, anthropic(text))
    } else if path.ends_with("/chat/completions") {
        (EVENTS, chat(text))
    } else if path.ends_with("/responses") {
        (EVENTS, responses(text))
    } else if path.ends_with(":streamGenerateContent") {
        (EVENTS, gemini(text))
    } else if path.ends_with("/api/chat") {
        ("application/x-ndjson", ollama(text))
    } else {
        return None;
    })
}

/// Events that have their names in themselves.
fn named(events: &[Value]) -> String {
    let events = events.iter().map(|event| {
        let name = event["type"].as_str().unwrap_or_default();
        format!("event: {name}\ndata: {event}\n\n")
    });
    events.collect()
}

/// Events without names.
fn bare(events: &[Value]) -> String {
    let events = events.iter().map(|event| format!("data: {event}\n\n"));
    events.collect()
}

fn anthropic(text: &str) -> String {
    named(&[
        json!({ "type": "message_start", "message": {
            "id": "msg_1", "role": "assistant", "content": [], "model": "m", "stop_reason": null,
            "usage": { "input_tokens": 1, "output_tokens": 1 } } }),
        json!({ "type": "content_block_start", "index": 0,
            "content_block": { "type": "text", "text": "" } }),
        json!({ "type": "content_block_delta", "index": 0,
            "delta": { "type": "text_delta", "text": text } }),
        json!({ "type": "content_block_stop", "index": 0 }),
        json!({ "type": "message_delta", "usage": { "output_tokens": 1 },
            "delta": { "stop_reason": "end_turn", "stop_sequence": null } }),
        json!({ "type": "message_stop" }),
    ])
}

fn chat(text: &str) -> String {
    let chunk = |delta: Value, reason: Option<&str>| {
        json!({ "id": "c1", "object": "chat.completion.chunk", "model": "m",
            "choices": [{ "index": 0, "delta": delta, "finish_reason": reason }] })
    };
    let events = [
        chunk(json!({ "role": "assistant", "content": text }), None),
        chunk(json!({}), Some("stop")),
    ];
    format!("{}data: [DONE]\n\n", bare(&events))
}

fn responses(text: &str) -> String {
    let item = json!({ "type": "message", "role": "assistant",
        "content": [{ "type": "output_text", "text": text }] });
    named(&[
        json!({ "type": "response.created", "response": { "id": "r1", "output": [] } }),
        json!({ "type": "response.output_item.added", "output_index": 0,
            "item": { "type": "message", "role": "assistant", "content": [] } }),
        json!({ "type": "response.output_text.delta", "output_index": 0, "content_index": 0,
            "delta": text }),
        json!({ "type": "response.output_item.done", "output_index": 0, "item": item }),
        json!({ "type": "response.completed", "response": { "id": "r1", "status": "completed",
            "output": [item], "usage": { "input_tokens": 1, "output_tokens": 1 } } }),
    ])
}

fn gemini(text: &str) -> String {
    bare(
        &[json!({ "candidates": [{ "index": 0, "finishReason": "STOP",
        "content": { "role": "model", "parts": [{ "text": text }] } }],
        "usageMetadata": { "promptTokenCount": 1, "candidatesTokenCount": 1 } })],
    )
}

fn ollama(text: &str) -> String {
    let said = json!({ "model": "m", "message": { "role": "assistant", "content": text },
        "done": false });
    let end = json!({ "model": "m", "message": { "role": "assistant", "content": "" },
        "done": true, "done_reason": "stop", "prompt_eval_count": 1, "eval_count": 1 });
    format!("{said}\n{end}\n")
}
