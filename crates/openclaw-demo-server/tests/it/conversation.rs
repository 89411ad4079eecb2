//! Talking to the server over buffers.

use serde_json::{Value, json};

/// What the server answers to these lines.
pub(crate) fn answers(input: &str) -> Vec<Value> {
    let mut output = Vec::new();
    let mut next = 0;
    openclaw_demo_server::serve_with(input.as_bytes(), &mut output, || {
        next += 1;
        next
    })
    .unwrap();
    let lines = String::from_utf8(output).unwrap();
    let parsed = lines
        .lines()
        .map(|line| serde_json::from_str(line).unwrap());
    parsed.collect()
}

/// The one answer to one request.
pub(crate) fn answer(method: &str, params: &Value) -> Value {
    let request = json!({"jsonrpc": "2.0", "id": 7, "method": method, "params": params});
    let mut answers = answers(&format!("{request}\n"));
    assert_eq!(answers.len(), 1);
    let answer = answers.remove(0);
    assert_eq!(answer["jsonrpc"], "2.0");
    assert_eq!(answer["id"], 7);
    answer
}

/// What a modern request says about itself.
pub(crate) fn modern(mut params: Value, version: &str) -> Value {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": version,
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    params
}
