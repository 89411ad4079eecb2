//! Streamable HTTP, modern era.

use openclaw_testkit::RunningServer;
use serde_json::{Value, json};

use crate::conversation::{PATIENCE, fake, introduction, text_of};
use crate::http_client::{BOTH, Connection, JSON, Reply};
use crate::modern_stdio::with_meta;

const VERSION: (&str, &str) = ("mcp-protocol-version", "2026-07-28");

fn start(flags: &str) -> (RunningServer, Connection) {
    let server = fake(&format!("http {flags}")).start().unwrap();
    let connection = Connection::to(&server);
    (server, connection)
}

fn message(method: &str, params: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": 5, "method": method, "params": with_meta(params)})
}

/// Sends a request with the headers that go with it.
fn send<'connection>(
    connection: &'connection mut Connection,
    message: &Value,
) -> Reply<'connection> {
    let method = message["method"].as_str().unwrap();
    let mut headers = vec![BOTH, JSON, VERSION, ("mcp-method", method)];
    let key = if method == "resources/read" {
        "uri"
    } else {
        "name"
    };
    if let Some(name) = message["params"][key].as_str() {
        headers.push(("mcp-name", name));
    }
    connection
        .send("POST", "/mcp", &headers, &message.to_string())
        .unwrap()
}

#[test]
fn requests_are_answered_without_a_session() {
    let (_server, mut connection) = start("");
    let reply = send(&mut connection, &message("server/discover", json!({})));
    assert_eq!(reply.status, 200);
    assert_eq!(reply.header("mcp-session-id"), None);
    assert!(reply.json()["result"]["supportedVersions"].is_array());
    let reply = send(&mut connection, &message("tools/list", json!({})));
    assert_eq!(reply.json()["result"]["resultType"], "complete");
    let echo = json!({"name": "echo", "arguments": {"message": "modern"}});
    let mut reply = send(&mut connection, &message("tools/call", echo));
    assert_eq!(reply.header("content-type"), Some("text/event-stream"));
    let event = reply.event().unwrap().unwrap();
    assert_eq!(event.id, "");
    assert!(event.data.contains("modern"));
    assert_eq!(reply.event().unwrap(), None);
    let read = message("resources/read", json!({"uri": "test://text"}));
    assert_eq!(send(&mut connection, &read).status, 200);
}

#[test]
fn headers_that_differ_from_the_body_are_refused() {
    let (_server, mut connection) = start("");
    let echo = message(
        "tools/call",
        json!({"name": "echo", "arguments": {"message": "a"}}),
    );
    let method = ("mcp-method", "tools/call");
    let name = ("mcp-name", "echo");
    for (status, headers) in [
        (200, vec![BOTH, JSON, VERSION, method, name]),
        (
            200,
            vec![
                BOTH,
                JSON,
                VERSION,
                method,
                ("mcp-name", "=?base64?ZWNobw==?="),
            ],
        ),
        (400, vec![BOTH, JSON, VERSION, method]),
        (400, vec![BOTH, JSON, VERSION, name]),
        (400, vec![BOTH, JSON, method, name]),
        (400, vec![BOTH, JSON, VERSION, method, ("mcp-name", "add")]),
        (
            400,
            vec![BOTH, JSON, VERSION, method, ("mcp-name", "=?base64?!?=")],
        ),
        (400, vec![BOTH, JSON, VERSION, method, name, name]),
        (
            400,
            vec![BOTH, JSON, VERSION, ("mcp-method", "tools/list"), name],
        ),
        (
            400,
            vec![
                BOTH,
                JSON,
                ("mcp-protocol-version", "2025-11-25"),
                method,
                name,
            ],
        ),
    ] {
        let reply = connection
            .send("POST", "/mcp", &headers, &echo.to_string())
            .unwrap();
        assert_eq!(reply.status, status, "{headers:?}");
        let body = reply.json();
        if status == 400 {
            assert_eq!(body["error"]["code"], -32020, "{headers:?}");
        }
    }
}

#[test]
fn arguments_are_repeated_in_headers() {
    let (_server, mut connection) = start("");
    let arguments = json!({"region": " padded ", "count": 3, "urgent": null});
    let call = message(
        "tools/call",
        json!({"name": "region", "arguments": arguments}),
    );
    let head = [
        BOTH,
        JSON,
        VERSION,
        ("mcp-method", "tools/call"),
        ("mcp-name", "region"),
    ];
    let region = ("mcp-param-region", "=?base64?IHBhZGRlZCA=?=");
    let count = ("mcp-param-count", "3");
    for (status, parameters) in [
        (200, vec![region, count]),
        (400, vec![count]),
        (400, vec![region, ("mcp-param-count", "4")]),
        (400, vec![region, count, ("mcp-param-urgent", "null")]),
    ] {
        let headers = [&head[..], &parameters].concat();
        let reply = connection
            .send("POST", "/mcp", &headers, &call.to_string())
            .unwrap();
        assert_eq!(reply.status, status, "{parameters:?}");
        reply.json();
    }
}

#[test]
fn errors_have_their_status() {
    let (_server, mut connection) = start("");
    let mut call = message("tools/call", json!({"name": "elicit"}));
    call["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"] = json!({});
    let reply = send(&mut connection, &call);
    assert_eq!(reply.status, 400);
    assert_eq!(reply.json()["error"]["code"], -32021);
    let reply = send(&mut connection, &message("no/such/method", json!({})));
    assert_eq!(reply.status, 404);
    assert_eq!(reply.json()["error"]["code"], -32601);
    let mut list = message("tools/list", json!({}));
    list["params"]["_meta"] = json!({});
    let reply = send(&mut connection, &list);
    assert_eq!(reply.status, 400);
    assert_eq!(reply.json()["error"]["code"], -32602);
}

#[test]
fn each_era_refuses_the_other_over_http() {
    let (_server, mut connection) = start("--era legacy");
    let reply = send(&mut connection, &message("server/discover", json!({})));
    assert_eq!(reply.status, 400);
    assert_eq!(reply.json()["error"]["code"], -32000);

    let (_server, mut connection) = start("--era modern");
    let params = introduction("2025-11-25");
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params});
    let body = body.to_string();
    let reply = connection
        .send("POST", "/mcp", &[BOTH, JSON], &body)
        .unwrap();
    assert_eq!(reply.status, 400);
    assert_eq!(reply.json()["error"]["code"], -32022);
    for method in ["GET", "DELETE"] {
        assert_eq!(
            connection.send(method, "/mcp", &[BOTH], "").unwrap().status,
            405
        );
    }
}

#[test]
fn a_subscription_is_a_stream_of_its_own() {
    let (server, mut connection) = start("");
    let filter = json!({"notifications": {"toolsListChanged": true}});
    let mut stream = send(&mut connection, &message("subscriptions/listen", filter));
    let first = stream.event().unwrap().unwrap();
    assert!(
        first
            .data
            .contains("notifications/subscriptions/acknowledged")
    );
    let mut other = Connection::to(&server);
    let call = message("tools/call", json!({"name": "change_tools"}));
    assert_eq!(send(&mut other, &call).status, 200);
    let change = stream.event().unwrap().unwrap();
    let change: Value = serde_json::from_str(&change.data).unwrap();
    assert_eq!(change["method"], "notifications/tools/list_changed");
    let key = "io.modelcontextprotocol/subscriptionId";
    assert_eq!(change["params"]["_meta"][key], 5);
    drop(connection);
    let cancelled = server
        .journal()
        .wait_for_event(PATIENCE, "cancelled")
        .unwrap();
    assert_eq!(cancelled["method"], "subscriptions/listen");
}

#[test]
fn hanging_up_cancels() {
    let (server, mut connection) = start("");
    let call = message(
        "tools/call",
        json!({"name": "sleep", "arguments": {"ms": 60_000}}),
    );
    assert_eq!(send(&mut connection, &call).status, 200);
    drop(connection);
    let cancelled = server
        .journal()
        .wait_for_event(PATIENCE, "cancelled")
        .unwrap();
    assert_eq!(cancelled["method"], "tools/call");
}

#[test]
fn hanging_up_cancels_before_the_response_begins() {
    let (server, mut connection) = start("--json-only");
    connection.be_impatient();
    let call = message(
        "tools/call",
        json!({"name": "sleep", "arguments": {"ms": 60_000}}),
    );
    let headers = [
        BOTH,
        JSON,
        VERSION,
        ("mcp-method", "tools/call"),
        ("mcp-name", "sleep"),
    ];
    assert!(
        connection
            .send("POST", "/mcp", &headers, &call.to_string())
            .is_none()
    );
    drop(connection);
    assert!(
        server
            .journal()
            .wait_for_event(PATIENCE, "cancelled")
            .is_some()
    );
}

#[test]
fn input_is_asked_for_in_replies() {
    let (_server, mut connection) = start("");
    let call = message("tools/call", json!({"name": "elicit"}));
    let first = send(&mut connection, &call).json()["result"].clone();
    let mut again = call;
    again["id"] = json!(6);
    again["params"]["requestState"] = first["requestState"].clone();
    again["params"]["inputResponses"] = json!({"question-1": {"action": "cancel"}});
    let last = send(&mut connection, &again).json();
    assert_eq!(text_of(&last), "{\"action\":\"cancel\"}");
}
