//! Revisions, listings, and what is said that should not be.

use serde_json::{Value, json};

use crate::client::{Client, initialize, text};

fn modern(mut params: Value) -> Value {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
    });
    params
}

#[test]
fn every_revision_with_a_handshake_is_spoken() {
    for revision in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        let mut client = Client::of(revision);
        let listed = client.ask(1, "tools/list", json!({}));
        assert_eq!(listed["result"]["tools"].as_array().unwrap().len(), 1);
        assert!(listed["result"].get("resultType").is_none(), "{listed}");
        let result = client.ordered(2, json!({ "message": "hello" }));
        assert_eq!(
            result,
            json!({ "content": [{ "type": "text", "text": "hello" }], "isError": false })
        );
        assert!(client.ends().is_empty());
    }
}

#[test]
fn the_revision_without_a_handshake_is_spoken() {
    let mut client = Client::silent();
    let found = client.ask(1, "server/discover", modern(json!({})));
    let revisions = found["result"]["supportedVersions"].as_array().unwrap();
    assert!(revisions.contains(&json!("2026-07-28")), "{found}");
    let listed = client.ask(2, "tools/list", modern(json!({})));
    assert_eq!(listed["result"]["resultType"], "complete");
    let call = json!({ "name": "order_openclaw", "arguments": { "message": "hello" } });
    let called = client.ask(3, "tools/call", modern(call));
    assert_eq!(text(&called["result"]), "hello");
    assert!(client.ends().is_empty());
}

#[test]
fn a_revision_that_nobody_knows_gets_the_newest_with_a_handshake() {
    for revision in ["2031-01-01", "1.0", "2026-07-28"] {
        let mut client = Client::silent();
        let agreed = client.ask(1, "initialize", initialize(revision));
        assert_eq!(agreed["result"]["protocolVersion"], "2025-11-25");
        client.ends();
    }
}

#[test]
fn the_one_tool_is_the_documented_one() {
    let mut client = Client::of("2025-11-25");
    let listed = client.ask(1, "tools/list", json!({}));
    let mut tool = listed["result"]["tools"][0].clone();
    let documented: Value = serde_json::from_str(include_str!("tool.json")).unwrap();
    let tool = tool.as_object_mut().unwrap();
    assert!(tool.remove("title").is_some() && tool.remove("annotations").is_some());
    assert_eq!(Value::Object(tool.clone()), documented);
    client.ends();
}

#[test]
fn what_is_said_wrongly_is_answered_and_the_rest_goes_on() {
    let mut client = Client::silent();
    client.say(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
    client.write(b"\r\n\n{\"jsonrpc\": \n");
    assert_eq!(client.next().unwrap()["error"]["code"], -32700);
    client.write(b"\xff\xfe\n");
    assert_eq!(client.next().unwrap()["error"]["code"], -32700);
    let early = client.ask(1, "tools/list", json!({}));
    assert_eq!(early["error"]["code"], -32602);
    client.ask(2, "ping", json!({}));
    client.ask(3, "initialize", initialize("2025-06-18"));
    let unknown = client.ask(4, "no/such", json!({}));
    assert_eq!(unknown["error"]["code"], -32601);
    assert_eq!(unknown["error"]["message"], "there is no method `no/such`");
    let other = client.ask(5, "tools/call", json!({ "name": "other" }));
    assert_eq!(other["error"]["code"], -32602);
    client.say(&json!([{ "jsonrpc": "2.0", "id": 6, "method": "ping" }]));
    assert_eq!(client.next().unwrap()["error"]["code"], -32600);
    assert_eq!(
        text(&client.ordered(7, json!({ "message": "hello" }))),
        "hello"
    );
    client.ends();
}

#[test]
fn batches_are_answered_where_there_are_batches() {
    let mut client = Client::of("2025-03-26");
    let call = json!({ "name": "order_openclaw", "arguments": { "message": "hello" } });
    client.say(&json!([
        { "jsonrpc": "2.0", "id": 1, "method": "ping" },
        { "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call },
    ]));
    let answers = client.next().unwrap();
    let mut ids: Vec<u64> = answers
        .as_array()
        .unwrap()
        .iter()
        .map(|answer| answer["id"].as_u64().unwrap())
        .collect();
    ids.sort_unstable();
    assert_eq!(ids, [1, 2]);
    client.ends();
}

#[test]
fn a_client_that_never_said_anything_leaves_nothing() {
    assert!(Client::silent().ends().is_empty());
    Client::silent().dies();
}
