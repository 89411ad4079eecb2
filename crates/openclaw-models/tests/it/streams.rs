//! What services send, in each protocol.

use serde_json::{Value, json};

/// The protocols, by the names that the configuration has for them.
pub(crate) const APIS: [&str; 5] = [
    "anthropic-messages",
    "openai-completions",
    "openai-responses",
    "google-generative-ai",
    "ollama",
];

/// What a model says in a stream.
pub(crate) enum Say<'a> {
    Text(&'a str),
    Thought(&'a str),
    /// Identifier, name, and the text of the arguments.
    Call(&'a str, &'a str, &'a str),
}

/// A whole stream, event by event.
pub(crate) fn stream(api: &str, says: &[Say<'_>]) -> Vec<String> {
    match api {
        "anthropic-messages" => anthropic(says),
        "openai-completions" => chat(says),
        "openai-responses" => responses(says),
        "google-generative-ai" => gemini(says),
        "ollama" => ollama(says),
        other => panic!("{other}"),
    }
}

fn has_calls(says: &[Say<'_>]) -> bool {
    says.iter().any(|say| matches!(say, Say::Call(..)))
}

fn event(value: &Value) -> String {
    let name = value["type"].as_str().unwrap_or_default();
    if name.is_empty() {
        format!("data: {value}\n\n")
    } else {
        format!("event: {name}\ndata: {value}\n\n")
    }
}

/// A text in two halves, as it comes.
fn halves(text: &str) -> [&str; 2] {
    let (one, two) = text.split_at(text.floor_char_boundary(text.len() / 2));
    [one, two]
}

fn anthropic(says: &[Say<'_>]) -> Vec<String> {
    let mut events = vec![
        event(&json!({ "type": "message_start", "message": {
            "id": "msg_1", "role": "assistant", "content": [], "model": "m", "stop_reason": null,
            "usage": { "input_tokens": 10, "cache_read_input_tokens": 90,
                       "cache_creation_input_tokens": 5, "output_tokens": 1 },
        }})),
        event(&json!({ "type": "ping" })),
    ];
    for (index, say) in says.iter().enumerate() {
        let (block, deltas) = match say {
            Say::Text(text) => (
                json!({ "type": "text", "text": "" }),
                halves(text)
                    .map(|it| json!({ "type": "text_delta", "text": it }))
                    .to_vec(),
            ),
            Say::Thought(text) => {
                let mut deltas = halves(text)
                    .map(|it| json!({ "type": "thinking_delta", "thinking": it }))
                    .to_vec();
                deltas.push(json!({ "type": "signature_delta", "signature": "c2ln" }));
                (
                    json!({ "type": "thinking", "thinking": "", "signature": "" }),
                    deltas,
                )
            }
            Say::Call(id, name, arguments) => (
                json!({ "type": "tool_use", "id": id, "name": name, "input": {} }),
                halves(arguments)
                    .map(|it| json!({ "type": "input_json_delta", "partial_json": it }))
                    .to_vec(),
            ),
        };
        events.push(event(
            &json!({ "type": "content_block_start", "index": index, "content_block": block }),
        ));
        for delta in deltas {
            events.push(event(
                &json!({ "type": "content_block_delta", "index": index, "delta": delta }),
            ));
        }
        events.push(event(
            &json!({ "type": "content_block_stop", "index": index }),
        ));
    }
    let reason = if has_calls(says) {
        "tool_use"
    } else {
        "end_turn"
    };
    events.push(event(&json!({ "type": "message_delta",
        "delta": { "stop_reason": reason, "stop_sequence": null },
        "usage": { "output_tokens": 7 } })));
    events.push(event(&json!({ "type": "message_stop" })));
    events
}

fn chat(says: &[Say<'_>]) -> Vec<String> {
    let chunk = |delta: Value, reason: Option<&str>| {
        event(
            &json!({ "id": "c1", "object": "chat.completion.chunk", "model": "m",
            "choices": [{ "index": 0, "delta": delta, "finish_reason": reason }] }),
        )
    };
    let mut events = vec![chunk(json!({ "role": "assistant", "content": "" }), None)];
    let mut index = 0;
    for say in says {
        match say {
            Say::Text(text) => {
                events.extend(halves(text).map(|it| chunk(json!({ "content": it }), None)));
            }
            Say::Thought(text) => events
                .extend(halves(text).map(|it| chunk(json!({ "reasoning_content": it }), None))),
            Say::Call(id, name, arguments) => {
                events.push(chunk(
                    json!({ "tool_calls": [{ "index": index, "id": id, "type": "function",
                        "function": { "name": name, "arguments": "" } }] }),
                    None,
                ));
                for half in halves(arguments) {
                    events.push(chunk(
                        json!({ "tool_calls": [{ "index": index,
                            "function": { "arguments": half } }] }),
                        None,
                    ));
                }
                index += 1;
            }
        }
    }
    let reason = if has_calls(says) {
        "tool_calls"
    } else {
        "stop"
    };
    events.push(chunk(json!({}), Some(reason)));
    events.push(event(&json!({ "id": "c1", "choices": [], "usage": {
        "prompt_tokens": 105, "completion_tokens": 7,
        "prompt_tokens_details": { "cached_tokens": 90 } } })));
    events.push("data: [DONE]\n\n".to_owned());
    events
}

fn responses(says: &[Say<'_>]) -> Vec<String> {
    let mut events = vec![event(
        &json!({ "type": "response.created", "response": { "id": "r1", "output": [] } }),
    )];
    let mut output = Vec::new();
    for (index, say) in says.iter().enumerate() {
        let (begun, deltas, done) = match say {
            Say::Text(text) => (
                json!({ "type": "message", "role": "assistant", "content": [] }),
                halves(text)
                    .map(|it| {
                        json!({ "type": "response.output_text.delta",
                        "output_index": index, "content_index": 0, "delta": it })
                    })
                    .to_vec(),
                json!({ "type": "message", "role": "assistant",
                    "content": [{ "type": "output_text", "text": text }] }),
            ),
            Say::Thought(text) => (
                json!({ "type": "reasoning", "id": "rs_1", "summary": [] }),
                halves(text)
                    .map(|it| {
                        json!({ "type": "response.reasoning_summary_text.delta",
                        "output_index": index, "summary_index": 0, "delta": it })
                    })
                    .to_vec(),
                json!({ "type": "reasoning", "id": "rs_1", "encrypted_content": "c2ln",
                    "summary": [{ "type": "summary_text", "text": text }] }),
            ),
            Say::Call(id, name, arguments) => (
                json!({ "type": "function_call", "id": "fc_1", "call_id": id, "name": name,
                    "arguments": "" }),
                halves(arguments)
                    .map(|it| {
                        json!({ "type": "response.function_call_arguments.delta",
                        "output_index": index, "delta": it })
                    })
                    .to_vec(),
                json!({ "type": "function_call", "id": "fc_1", "call_id": id, "name": name,
                    "arguments": arguments }),
            ),
        };
        events.push(event(
            &json!({ "type": "response.output_item.added", "output_index": index, "item": begun }),
        ));
        events.extend(deltas.iter().map(event));
        events.push(event(
            &json!({ "type": "response.output_item.done", "output_index": index, "item": done }),
        ));
        output.push(done);
    }
    events.push(event(&json!({ "type": "response.completed", "response": {
        "id": "r1", "status": "completed", "output": output,
        "usage": { "input_tokens": 105, "output_tokens": 7,
            "input_tokens_details": { "cached_tokens": 90 } } } })));
    events
}

fn gemini(says: &[Say<'_>]) -> Vec<String> {
    let chunk = |parts: Value| {
        event(&json!({ "candidates": [{ "index": 0,
            "content": { "role": "model", "parts": parts } }] }))
    };
    let mut events = Vec::new();
    for say in says {
        match say {
            Say::Text(text) => {
                events.extend(halves(text).map(|it| chunk(json!([{ "text": it }]))));
            }
            Say::Thought(text) => {
                events.push(chunk(
                    json!([{ "text": text, "thought": true, "thoughtSignature": "c2ln" }]),
                ));
            }
            Say::Call(_, name, arguments) => {
                let arguments: Value = serde_json::from_str(arguments).unwrap_or_default();
                events.push(chunk(json!([{ "thoughtSignature": "c2ln",
                    "functionCall": { "name": name, "args": arguments } }])));
            }
        }
    }
    events.push(event(&json!({
        "candidates": [{ "index": 0, "content": { "role": "model", "parts": [] },
            "finishReason": "STOP" }],
        "usageMetadata": { "promptTokenCount": 105, "candidatesTokenCount": 5,
            "thoughtsTokenCount": 2, "cachedContentTokenCount": 90 } })));
    events
}

fn ollama(says: &[Say<'_>]) -> Vec<String> {
    let line = |message: Value| {
        format!(
            "{}\n",
            json!({ "model": "m", "message": message, "done": false })
        )
    };
    let mut lines = Vec::new();
    for say in says {
        match say {
            Say::Text(text) => lines
                .extend(halves(text).map(|it| line(json!({ "role": "assistant", "content": it })))),
            Say::Thought(text) => {
                lines.push(line(
                    json!({ "role": "assistant", "content": "", "thinking": text }),
                ));
            }
            Say::Call(_, name, arguments) => {
                let arguments =
                    serde_json::from_str(arguments).unwrap_or_else(|_| json!(arguments));
                lines.push(line(
                    json!({ "role": "assistant", "content": "", "tool_calls": [
                    { "function": { "name": name, "arguments": arguments } }] }),
                ));
            }
        }
    }
    lines.push(format!(
        "{}\n",
        json!({ "model": "m", "message": { "role": "assistant", "content": "" }, "done": true,
            "done_reason": "stop", "prompt_eval_count": 105, "eval_count": 7 })
    ));
    lines
}
