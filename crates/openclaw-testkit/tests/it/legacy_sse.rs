//! The older HTTP+SSE.

use serde_json::{Value, json};

use crate::conversation::{fake, introduction, text_of};
use crate::http_client::{Connection, JSON, Reply};

const EVENTS: (&str, &str) = ("accept", "text/event-stream");

fn post(server: &openclaw_testkit::RunningServer, path: &str, message: &Value) -> u16 {
    let mut connection = Connection::to(server);
    let reply = connection.send("POST", path, &[JSON], &message.to_string());
    reply.unwrap().status
}

fn next(stream: &mut Reply<'_>) -> Value {
    let event = stream.event().unwrap().unwrap();
    assert_eq!(event.kind, "message");
    serde_json::from_str(&event.data).unwrap()
}

fn initialize() -> Value {
    let params = introduction("2024-11-05");
    json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params})
}

#[test]
fn replies_come_on_the_one_stream() {
    for flags in ["sse", "http --both"] {
        let server = fake(flags).start().unwrap();
        let mut connection = Connection::to(&server);
        let mut stream = connection.send("GET", "/sse", &[EVENTS], "").unwrap();
        assert_eq!(stream.header("content-type"), Some("text/event-stream"));
        let endpoint = stream.event().unwrap().unwrap();
        assert_eq!(endpoint.kind, "endpoint");
        let path = endpoint.data;
        assert!(path.starts_with("/message?sessionId="));
        assert_eq!(post(&server, &path, &initialize()), 202);
        assert_eq!(next(&mut stream)["result"]["protocolVersion"], "2024-11-05");
        let initialized = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        assert_eq!(post(&server, &path, &initialized), 202);
        let discover = json!({"jsonrpc": "2.0", "id": 2, "method": "server/discover"});
        assert_eq!(post(&server, &path, &discover), 202);
        assert_eq!(next(&mut stream)["error"]["code"], -32601);

        let params = json!({"name": "elicit"});
        let call = json!({"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": params});
        post(&server, &path, &call);
        let question = next(&mut stream);
        assert_eq!(question["method"], "elicitation/create");
        let answer =
            json!({"jsonrpc": "2.0", "id": question["id"], "result": {"action": "cancel"}});
        post(&server, &path, &answer);
        assert_eq!(text_of(&next(&mut stream)), "{\"action\":\"cancel\"}");

        assert_eq!(
            post(&server, "/message?sessionId=nobody", &initialize()),
            404
        );
        assert_eq!(post(&server, "/sse", &initialize()), 405);
    }
}

#[test]
fn the_session_ends_with_its_stream() {
    let server = fake("sse").start().unwrap();
    let mut connection = Connection::to(&server);
    let mut stream = connection.send("GET", "/sse", &[EVENTS], "").unwrap();
    let path = stream.event().unwrap().unwrap().data;
    drop(connection);
    let patience = crate::conversation::PATIENCE;
    server
        .journal()
        .wait_for_event(patience, "session closed")
        .unwrap();
    assert_eq!(post(&server, &path, &initialize()), 404);
}

#[test]
fn the_endpoint_can_be_odd() {
    let server = fake("sse --endpoint-absolute").start().unwrap();
    let mut connection = Connection::to(&server);
    let mut stream = connection.send("GET", "/sse", &[EVENTS], "").unwrap();
    let endpoint = stream.event().unwrap().unwrap().data;
    assert!(endpoint.starts_with(&format!("{}/message?", server.origin())));

    let server = fake("sse --endpoint-foreign").start().unwrap();
    let mut connection = Connection::to(&server);
    let mut stream = connection.send("GET", "/sse", &[EVENTS], "").unwrap();
    let endpoint = stream.event().unwrap().unwrap().data;
    assert!(endpoint.starts_with(&format!("http://localhost:{}/", server.port())));

    let server = fake("sse --no-endpoint").start().unwrap();
    let mut connection = Connection::to(&server);
    connection.be_impatient();
    let mut stream = connection.send("GET", "/sse", &[EVENTS], "").unwrap();
    assert!(stream.event().is_err());
}

#[test]
fn the_stream_can_break_off() {
    let server = fake("sse --sse-drop-after 2").start().unwrap();
    let mut connection = Connection::to(&server);
    let mut stream = connection.send("GET", "/sse", &[EVENTS], "").unwrap();
    let path = stream.event().unwrap().unwrap().data;
    post(&server, &path, &initialize());
    next(&mut stream);
    assert!(stream.event().is_err());
}
