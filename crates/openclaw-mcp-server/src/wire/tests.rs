use std::sync::{Arc, Mutex};

use rmcp::model::ClientNotification;
use serde_json::json;

use super::*;

/// What was written, for the test to look at.
#[derive(Clone, Default)]
struct Kept(Arc<Mutex<Vec<u8>>>);

impl Write for Kept {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A stream whose other end is gone.
struct Gone;

impl Write for Gone {
    fn write(&mut self, _bytes: &[u8]) -> io::Result<usize> {
        Err(io::Error::from(io::ErrorKind::BrokenPipe))
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

struct Client {
    sender: mpsc::Sender<Incoming>,
    wire: Wire,
    kept: Kept,
    ended: CancellationToken,
}

impl Client {
    fn new() -> Self {
        let (sender, incoming) = mpsc::channel(64);
        let (kept, ended) = (Kept::default(), CancellationToken::new());
        let output = Box::new(kept.clone());
        let deaf = CancellationToken::new();
        let wire = Wire::new(incoming, output, ended.clone(), deaf).unwrap();
        Self {
            sender,
            wire,
            kept,
            ended,
        }
    }

    fn say(&self, value: Value) {
        let spooled = Vec::new();
        let message = Incoming::Message { value, spooled };
        self.sender.try_send(message).unwrap();
    }

    /// What comes through, until nothing more does.
    async fn heard(mut self) -> (Vec<ClientJsonRpcMessage>, Vec<Value>) {
        drop(self.sender);
        let mut messages = Vec::new();
        while let Some(message) = self.wire.receive().await {
            messages.push(message);
        }
        assert!(self.ended.is_cancelled());
        // After everything before it.
        let last = self.wire.writer.write(error("last").into());
        last.await.unwrap();
        let kept = self.kept.0.lock().unwrap();
        let mut lines: Vec<Value> = std::str::from_utf8(&kept)
            .unwrap()
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        lines.pop();
        (messages, lines)
    }
}

fn error(message: &'static str) -> ServerJsonRpcMessage {
    ServerJsonRpcMessage::error(ErrorData::invalid_request(message, None), None)
}

fn answer(id: i64) -> ServerJsonRpcMessage {
    ServerJsonRpcMessage::response(ServerResult::empty(()), RequestId::Number(id))
}

fn ping(id: i64) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "method": "ping" })
}

#[tokio::test]
async fn nothing_but_requests_comes_through_before_the_client_has_begun() {
    let client = Client::new();
    client.say(json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
    client.say(json!({ "jsonrpc": "2.0", "id": 1, "result": {} }));
    client.say(ping(2));
    client.say(
        json!({ "jsonrpc": "2.0", "id": 3, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {},
        "clientInfo": { "name": "c", "version": "1" },
    } }),
    );
    client.say(json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
    let (messages, lines) = client.heard().await;
    assert_eq!(messages.len(), 3);
    assert!(matches!(
        &messages[2],
        JsonRpcMessage::Notification(it)
            if matches!(it.notification, ClientNotification::InitializedNotification(_))
    ));
    assert!(lines.is_empty(), "{lines:?}");
}

#[tokio::test]
async fn what_is_no_message_is_answered_with_what_is_wrong() {
    let client = Client::new();
    for value in [
        json!(5),
        json!({ "id": 1, "method": "ping" }),
        json!({ "jsonrpc": "2.0", "id": "a", "method": "ping", "result": {} }),
        json!({ "jsonrpc": "2.0", "id": 2, "method": "initialize", "params": {} }),
        json!({ "jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": { "arguments": {} } }),
        json!([ping(4)]),
    ] {
        client.say(value);
    }
    let problem = Problem::NotJson("why".to_owned());
    let id = Some(json!(9));
    let refused = Incoming::Refused { id, problem };
    client.sender.try_send(refused).unwrap();
    let (messages, lines) = client.heard().await;
    assert!(messages.is_empty(), "{messages:?}");
    // MCP wants no identifier where there is none, rather than null.
    assert!(lines[0].get("id").is_none(), "{lines:?}");
    let told: Vec<(Value, i64)> = lines
        .iter()
        .map(|line| {
            let code = line["error"]["code"].as_i64().unwrap();
            (line["id"].clone(), code)
        })
        .collect();
    let expected = [
        (Value::Null, -32600),
        (json!(1), -32600),
        (json!("a"), -32600),
        (json!(2), -32602),
        (json!(3), -32602),
        (Value::Null, -32600),
        (json!(9), -32700),
    ];
    assert_eq!(told, expected);
    let reason = lines[4]["error"]["message"].as_str().unwrap();
    assert!(reason.contains("missing field `name`"), "{reason}");
}

#[tokio::test]
async fn a_batch_is_answered_as_one_where_the_revision_has_batches() {
    let mut client = Client::new();
    client.wire.revision = Some(ProtocolVersion::V_2025_03_26);
    client.wire.has_begun = true;
    client.say(
        json!([ping(1), 7, ping(2), { "jsonrpc": "2.0", "method": "notifications/initialized" }]),
    );
    client.say(json!([]));
    client.say(json!([ping(3), ping(4)]));
    client.say(json!({
        "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 4 },
    }));
    for _ in 0..3 {
        client.wire.receive().await.unwrap();
    }
    client.wire.send(answer(2)).await.unwrap();
    client.wire.send(answer(1)).await.unwrap();
    for _ in 0..2 {
        client.wire.receive().await.unwrap();
    }
    client.wire.send(answer(3)).await.unwrap();
    let (messages, lines) = client.heard().await;
    assert_eq!(messages.len(), 1, "the cancellation");
    assert!(lines[1]["error"].is_object(), "an empty batch: {lines:?}");
    let ids = |line: &Value| -> Vec<Value> {
        let answers = line.as_array().unwrap().iter();
        answers.map(|answer| answer["id"].clone()).collect()
    };
    assert_eq!(ids(&lines[0]), [Value::Null, json!(2), json!(1)]);
    assert_eq!(
        ids(&lines[2]),
        [json!(3)],
        "nobody waits for what was cancelled"
    );
}

#[tokio::test]
async fn an_identifier_that_is_in_use_is_refused() {
    let mut client = Client::new();
    client.wire.revision = Some(ProtocolVersion::V_2025_03_26);
    client.wire.has_begun = true;
    client.say(ping(1));
    client.say(ping(1));
    client.say(json!([ping(2), ping(2)]));
    for _ in 0..2 {
        client.wire.receive().await.unwrap();
    }
    client.wire.send(answer(1)).await.unwrap();
    client.wire.send(answer(2)).await.unwrap();
    // It is free again.
    client.say(ping(1));
    let (messages, lines) = client.heard().await;
    assert_eq!(messages.len(), 1);
    assert_eq!(lines[0]["error"]["code"], -32600, "{lines:?}");
    assert!(lines[1]["result"].is_object(), "{lines:?}");
    let batch = lines[2].as_array().unwrap();
    assert_eq!(batch.len(), 2, "{lines:?}");
}

#[tokio::test]
async fn who_does_not_listen_is_not_heard() {
    let (sender, incoming) = mpsc::channel(8);
    let (ended, deaf) = (CancellationToken::new(), CancellationToken::new());
    let mut wire = Wire::new(incoming, Box::new(Gone), ended, deaf.clone()).unwrap();
    assert!(wire.send(answer(1)).await.is_err());
    deaf.cancelled().await;
    let value = ping(1);
    let spooled = Vec::new();
    sender
        .try_send(Incoming::Message { value, spooled })
        .unwrap();
    assert!(wire.receive().await.is_none());
}
