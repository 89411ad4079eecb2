//! Streamable HTTP, first era, no faults.

use serde_json::{Value, json};

use crate::conversation::{PATIENCE, fake, text_of};
use crate::http_client::{BOTH, Client, Connection, JSON};

#[test]
fn replies_come_as_json_and_as_streams() {
    let server = fake("http").start().unwrap();
    let mut client = Client::new(&server);
    let list = client.begin("tools/list", &json!({}));
    assert_eq!(list.header("content-type"), Some("application/json"));
    assert!(list.json()["result"]["tools"].is_array());
    let mut call = client.call("echo", &json!({"message": "over HTTP"}));
    assert_eq!(call.header("content-type"), Some("text/event-stream"));
    let primer = call.event().unwrap().unwrap();
    assert_eq!(primer.data, "");
    assert!(!primer.id.is_empty());
    let event = call.event().unwrap().unwrap();
    let reply: Value = serde_json::from_str(&event.data).unwrap();
    assert_eq!(text_of(&reply), "over HTTP");
    assert_eq!(call.event().unwrap(), None);
}

#[test]
fn bodies_can_be_of_one_kind_only() {
    let server = fake("http --json-only").start().unwrap();
    let mut client = Client::new(&server);
    let call = client.call("echo", &json!({"message": "a"}));
    assert_eq!(call.header("content-type"), Some("application/json"));
    let server = fake("http --sse-only").start().unwrap();
    let mut client = Client::new(&server);
    let list = client.begin("tools/list", &json!({}));
    assert_eq!(list.header("content-type"), Some("text/event-stream"));
    assert!(list.json()["result"]["tools"].is_array());
}

#[test]
fn the_headers_of_the_session_are_demanded() {
    let server = fake("http").start().unwrap();
    let mut client = Client::new(&server);
    let session = client.session.clone().unwrap();
    let version = ("mcp-protocol-version", "2025-11-25");
    let session = ("mcp-session-id", session.as_str());
    let body = json!({"jsonrpc": "2.0", "id": 9, "method": "tools/list"}).to_string();
    for (status, headers) in [
        (200, vec![BOTH, JSON, version, session]),
        (400, vec![BOTH, JSON, version]),
        (400, vec![BOTH, JSON, session]),
        (
            400,
            vec![BOTH, JSON, session, ("mcp-protocol-version", "2025-06-18")],
        ),
        (
            400,
            vec![BOTH, JSON, session, ("mcp-protocol-version", "1999-01-01")],
        ),
        (404, vec![BOTH, JSON, version, ("mcp-session-id", "nobody")]),
        (406, vec![JSON, version, session]),
        (
            406,
            vec![("accept", "application/json"), JSON, version, session],
        ),
        (415, vec![BOTH, version, session]),
    ] {
        let mut reply = client
            .connection
            .send("POST", "/mcp", &headers, &body)
            .unwrap();
        assert_eq!(reply.status, status, "{headers:?}");
        reply.bytes().unwrap();
    }
    let old = ("mcp-protocol-version", "2025-03-26");
    let mut client = Client::with_version(&server, "2025-03-26");
    let session = client.session.clone().unwrap();
    let session = ("mcp-session-id", session.as_str());
    for headers in [vec![BOTH, JSON, session], vec![BOTH, JSON, session, old]] {
        let mut reply = client
            .connection
            .send("POST", "/mcp", &headers, &body)
            .unwrap();
        assert_eq!(reply.status, 200);
        reply.bytes().unwrap();
    }
}

#[test]
fn what_is_no_message_is_a_bad_request() {
    let server = fake("http").start().unwrap();
    let mut connection = Connection::to(&server);
    for (body, code) in [("{", -32700), ("[]", -32600), ("{}", -32600)] {
        let reply = connection
            .send("POST", "/mcp", &[BOTH, JSON], body)
            .unwrap();
        assert_eq!(reply.status, 400);
        assert_eq!(reply.json()["error"]["code"], code);
    }
    for (method, path, status) in [
        ("PUT", "/mcp", 405),
        ("POST", "/elsewhere/still", 404),
        ("GET", "/sse", 404),
    ] {
        let reply = connection.send(method, path, &[BOTH, JSON], "").unwrap();
        assert_eq!(reply.status, status);
    }
}

#[test]
fn a_session_ends_when_it_is_deleted() {
    let server = fake("http").start().unwrap();
    let mut client = Client::new(&server);
    assert_eq!(client.send("DELETE", &[], "").unwrap().status, 200);
    assert_eq!(client.begin("tools/list", &json!({})).status, 404);
    assert_eq!(server.journal().events("session closed").len(), 1);
}

#[test]
fn the_stream_of_get_carries_what_belongs_to_no_request() {
    let server = fake("http").start().unwrap();
    let mut client = Client::new(&server);
    let mut listener = client.again(&server);
    // One change before there is a stream and one after.
    client.call("change_tools", &json!({})).json();
    let mut stream = listener.get(None);
    assert_eq!(stream.status, 200);
    let first = stream.event().unwrap().unwrap();
    assert!(first.data.contains("notifications/tools/list_changed"));
    client.call("change_tools", &json!({})).json();
    let second = stream.event().unwrap().unwrap();
    assert!(second.data.contains("notifications/tools/list_changed"));
    assert_ne!(first.id, second.id);

    // A newer reader displaces the older one, and an id says where to go on.
    let mut other = client.again(&server);
    let mut resumed = other.get(Some(&first.id));
    assert_eq!(resumed.event().unwrap().unwrap(), second);
    assert_eq!(stream.event().unwrap(), None);
}

#[test]
fn the_client_is_asked_on_the_stream_of_the_call() {
    let server = fake("http").start().unwrap();
    let mut client = Client::new(&server);
    let mut other = client.again(&server);
    let mut call = client.call("elicit", &json!({}));
    let question = loop {
        let event = call.event().unwrap().unwrap();
        if !event.data.is_empty() {
            break serde_json::from_str::<Value>(&event.data).unwrap();
        }
    };
    assert_eq!(question["method"], "elicitation/create");
    let answer = json!({"jsonrpc": "2.0", "id": question["id"], "result": {"action": "decline"}});
    assert_eq!(other.post(&answer).unwrap().status, 202);
    assert_eq!(text_of(&call.json()), "{\"action\":\"decline\"}");
}

#[test]
fn a_call_is_cancelled_by_a_notification_and_not_by_hanging_up() {
    let server = fake("http").start().unwrap();
    let mut client = Client::new(&server);
    let mut other = client.again(&server);
    let call = client.call("sleep", &json!({"ms": 60_000}));
    assert_eq!(call.status, 200);
    drop(client);
    let closed = server
        .journal()
        .wait_for_event(PATIENCE, "connection closed");
    assert!(closed.is_some());
    assert!(server.journal().events("cancelled").is_empty());
    let message = json!({
        "jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1},
    });
    assert_eq!(other.post(&message).unwrap().status, 202);
    assert!(
        server
            .journal()
            .wait_for_event(PATIENCE, "cancelled")
            .is_some()
    );
}

#[test]
fn without_state_there_are_no_sessions() {
    let server = fake("http --stateless").start().unwrap();
    let mut client = Client::new(&server);
    assert_eq!(client.session, None);
    assert!(client.ask("tools/list", &json!({}))["result"]["tools"].is_array());
    assert_eq!(client.get(None).status, 405);
    assert_eq!(client.send("DELETE", &[], "").unwrap().status, 405);
    let unanswerable = client.call("ping_client", &json!({})).json();
    assert_eq!(unanswerable["error"]["code"], -32603);
}

#[test]
fn the_journal_has_every_request_with_its_headers() {
    let server = fake("http").start().unwrap();
    let mut client = Client::new(&server);
    client.ask("tools/list", &json!({}));
    let methods = server.journal().methods();
    assert_eq!(
        methods,
        ["initialize", "notifications/initialized", "tools/list"]
    );
    let entries = server.journal().events("http");
    let last = entries.last().unwrap();
    assert_eq!(last["method"], "POST");
    assert_eq!(last["path"], "/mcp");
    assert_eq!(last["headers"]["mcp-session-id"], client.session.unwrap());
    assert_eq!(last["connection"], 1);
}

#[test]
fn the_server_ends_with_its_starter() {
    let mut server = fake("http").start().unwrap();
    let pid = server.pid();
    assert!(!server.has_ended());
    let marker = server.marker().to_owned();
    assert_eq!(
        openclaw_testkit::leaks::processes_with_argument(&marker),
        [pid]
    );
    drop(server);
    assert!(openclaw_testkit::leaks::processes_with_argument(&marker).is_empty());

    // Closing its input is enough, for a starter that is killed closes it, too.
    let fake = fake("http");
    let mut child = std::process::Command::new(fake.program())
        .args(fake.arguments())
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::null())
        .spawn()
        .unwrap();
    drop(child.stdin.take());
    let ended = || child.try_wait().unwrap().is_some();
    assert!(openclaw_testkit::leaks::wait_until(PATIENCE, ended));
}
