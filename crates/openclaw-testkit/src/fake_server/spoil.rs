//! Replies that are wrong, on every transport.

use serde_json::{Value, json};

use super::call::Call;
use super::leak;
use super::message::{self, Outcome};
use super::outlet::Frame;

/// Stands for what can't be, or must not be, in a value: it is replaced in the finished text.
const PLACEHOLDER: &str = "\"@@placeholder@@\"";

/// The messages that answer a request, as the flags spoil them.
pub(crate) fn frames(call: &Call, outcome: &Outcome) -> Vec<Frame> {
    let options = &call.server.options;
    let faults = &options.protocol;
    let method = call.request.method.as_str();
    let spoilt = options.is_spoilt(method);
    let mut frames = Vec::new();
    if call.server.is_first_reply() {
        for index in 0..faults.replies_to_nobody {
            frames.push(Frame::message(&reply_to_nobody(index)));
        }
    }
    if faults.not_rpc {
        frames.extend(junk().iter().map(Frame::message));
    }
    if let (Some(depth), true) = (faults.deep_nesting, spoilt) {
        let params = json!({"level": "info", "data": "@@placeholder@@"});
        let message = message::notification("notifications/message", &params);
        frames.push(Frame {
            bytes: nest(&message, depth),
            ..Frame::default()
        });
    }
    let mut reply = message::reply(&call.request.id, outcome);
    if options.process.leak {
        let words = leak::words(call.headers.as_ref());
        let params = json!({"level": "error", "data": words});
        let said = message::notification("notifications/message", &params);
        frames.push(Frame::message(&said));
        leak::into(&mut reply, &words);
    }
    distort_id(call, &mut reply);
    let frame = Frame {
        bytes: finish(call, reply, spoilt),
        reply_to: Some(method.to_owned()),
        error: outcome.as_ref().err().map(|error| error.code),
    };
    frames.push(frame.clone());
    if faults.duplicate_replies {
        frames.push(frame);
    }
    frames
}

fn distort_id(call: &Call, reply: &mut Value) {
    let faults = &call.server.options.protocol;
    if faults.no_ids {
        if let Some(members) = reply.as_object_mut() {
            members.remove("id");
        }
    } else if faults.null_ids {
        reply["id"] = Value::Null;
    } else if faults.string_ids {
        let text = match &call.request.id {
            Value::String(id) => id.clone(),
            other => other.to_string(),
        };
        reply["id"] = json!(text);
    }
}

/// Turns a reply into text, with what no value could hold.
fn finish(call: &Call, mut reply: Value, spoilt: bool) -> Vec<u8> {
    let faults = &call.server.options.protocol;
    let deep = faults.deep_nesting.filter(|_| spoilt);
    if deep.is_some() && reply["result"].is_object() {
        reply["result"]["structuredContent"] = json!("@@placeholder@@");
    }
    if faults.batch {
        let params = json!({"level": "info", "data": "sent together with a reply"});
        let other = message::notification("notifications/message", &params);
        reply = json!([other, reply]);
    }
    let mut bytes = match deep {
        Some(depth) => nest(&reply, depth),
        None => reply.to_string().into_bytes(),
    };
    if faults.invalid_utf8 {
        insert(&mut bytes, b"\"text\":\"", b"\xff\xfe\xc3(");
    }
    let lengths = [faults.huge_line, call.server.options.http.huge_body];
    if let (Some(length), true) = (lengths.into_iter().flatten().max(), spoilt) {
        pad(&mut bytes, length);
    }
    bytes
}

/// Puts something behind every occurrence of a text.
fn insert(bytes: &mut Vec<u8>, after: &[u8], what: &[u8]) {
    let mut position = 0;
    while let Some(found) = find(&bytes[position..], after) {
        position += found + after.len();
        bytes.splice(position..position, what.iter().copied());
        position += what.len();
    }
}

fn find(bytes: &[u8], what: &[u8]) -> Option<usize> {
    bytes.windows(what.len()).position(|window| window == what)
}

/// Makes a message as long as it was asked to be, with a member that means nothing.
fn pad(bytes: &mut Vec<u8>, length: usize) {
    let Some(object) = bytes.iter().position(|byte| *byte == b'{') else {
        return;
    };
    let frame = "\"padding\":\"\",".len();
    let padding = length.saturating_sub(bytes.len() + frame);
    let mut member = Vec::with_capacity(padding + frame);
    member.extend_from_slice(b"\"padding\":\"");
    member.resize(member.len() + padding, b'p');
    member.extend_from_slice(b"\",");
    bytes.splice(object + 1..=object, member);
}

/// Writes a message with arrays in arrays where the placeholder is. Values that deep can be
/// neither written nor dropped without overflowing the stack.
fn nest(message: &Value, depth: usize) -> Vec<u8> {
    let nested = "[".repeat(depth) + &"]".repeat(depth);
    let text = message.to_string();
    text.replacen(PLACEHOLDER, &nested, 1).into_bytes()
}

fn reply_to_nobody(index: usize) -> Value {
    let number = 900_000 + index;
    let id = match index % 4 {
        0 => json!(number),
        1 => json!(format!("nobody-{number}")),
        2 => json!(-1),
        _ => json!(1.5),
    };
    if index.is_multiple_of(2) {
        json!({"jsonrpc": "2.0", "id": id, "result": {"content": []}})
    } else {
        json!({"jsonrpc": "2.0", "id": id, "error": {"code": -32603, "message": "for nobody"}})
    }
}

/// JSON that is no JSON-RPC.
fn junk() -> Vec<Value> {
    vec![
        json!(17),
        json!("a string"),
        json!(null),
        json!(true),
        json!([]),
        json!([1, "two", null, {"three": 3}]),
        json!({}),
        json!({"id": 1, "result": {}}),
        json!({"jsonrpc": "1.0", "id": 1, "result": {}}),
        json!({"jsonrpc": "2.0"}),
        json!({"jsonrpc": "2.0", "id": {"an": "object"}, "result": {}}),
        json!({"jsonrpc": "2.0", "id": 1, "result": {}, "error": {"code": 1, "message": "both"}}),
        json!({"jsonrpc": "2.0", "id": 1, "error": "no object"}),
        json!({"jsonrpc": "2.0", "method": 5}),
        json!({"level": "info", "message": "a line of a structured log"}),
    ]
}
