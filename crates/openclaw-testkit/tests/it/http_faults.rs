//! Streamable HTTP, first era, one fault at a time.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::conversation::{PATIENCE, fake, introduction, text_of};
use crate::http_client::{BOTH, Client, Connection, JSON};

fn initialize() -> String {
    let params = introduction("2025-11-25");
    json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}).to_string()
}

#[test]
fn a_status_can_be_given_instead_of_an_answer() {
    let flags = "http --status 503 --status-times 2 --retry-after 7 --status-body html";
    let server = fake(flags).start().unwrap();
    let mut connection = Connection::to(&server);
    for _ in 0..2 {
        let mut reply = connection
            .send("POST", "/mcp", &[BOTH, JSON], &initialize())
            .unwrap();
        assert_eq!(reply.status, 503);
        assert_eq!(reply.header("retry-after"), Some("7"));
        assert!(reply.bytes().unwrap().starts_with(b"<!doctype html>"));
    }
    let reply = connection
        .send("POST", "/mcp", &[BOTH, JSON], &initialize())
        .unwrap();
    assert_eq!(reply.status, 200);

    let server = fake("http --status 500 --status-on tools/call --status-body json")
        .start()
        .unwrap();
    let mut client = Client::new(&server);
    client.ask("tools/list", &json!({}));
    let reply = client.call("echo", &json!({"message": "a"}));
    assert_eq!(reply.status, 500);
    assert_eq!(reply.json()["error"]["code"], -32000);

    let server = fake("http --status 400 --status-body huge")
        .start()
        .unwrap();
    let mut connection = Connection::to(&server);
    let mut reply = connection
        .send("POST", "/mcp", &[BOTH, JSON], &initialize())
        .unwrap();
    assert_eq!(reply.bytes().unwrap().len(), 64 << 20);
}

#[test]
fn headers_can_be_demanded() {
    let server = fake("http --require-header authorization=secret --www-authenticate Bearer")
        .start()
        .unwrap();
    let mut connection = Connection::to(&server);
    let reply = connection
        .send("POST", "/mcp", &[BOTH, JSON], &initialize())
        .unwrap();
    assert_eq!(reply.status, 401);
    assert_eq!(reply.header("www-authenticate"), Some("Bearer"));
    let headers = [BOTH, JSON, ("authorization", "secret")];
    let reply = connection
        .send("POST", "/mcp", &headers, &initialize())
        .unwrap();
    assert_eq!(reply.status, 200);

    let server = fake("http --require-host").start().unwrap();
    let mut connection = Connection::to(&server);
    let headers = [BOTH, JSON, ("host", "evil.example")];
    assert_eq!(
        connection
            .send("POST", "/mcp", &headers, "{}")
            .unwrap()
            .status,
        403
    );
    let mut connection = Connection::to(&server);
    let reply = connection
        .send("POST", "/mcp", &[BOTH, JSON], &initialize())
        .unwrap();
    assert_eq!(reply.status, 200);
}

#[test]
fn posts_can_be_redirected() {
    let server = fake("http --redirect self").start().unwrap();
    let mut connection = Connection::to(&server);
    let reply = connection
        .send("POST", "/mcp", &[BOTH, JSON], &initialize())
        .unwrap();
    assert_eq!(reply.status, 307);
    let location = reply.header("location").unwrap().to_owned();
    let reply = connection
        .send("POST", &location, &[BOTH, JSON], &initialize())
        .unwrap();
    assert_eq!(reply.status, 200);

    let flags = "http --redirect http://example.com/ --redirect-status 302";
    let server = fake(flags).start().unwrap();
    let mut connection = Connection::to(&server);
    let reply = connection
        .send("POST", "/mcp", &[BOTH, JSON], &initialize())
        .unwrap();
    assert_eq!(reply.status, 302);
    assert_eq!(reply.header("location"), Some("http://example.com/"));
}

#[test]
fn it_can_hang_up() {
    let server = fake("http --hang-up 1").start().unwrap();
    let mut connection = Connection::to(&server);
    assert!(
        connection
            .send("POST", "/mcp", &[BOTH, JSON], &initialize())
            .is_none()
    );
    Client::new(&server);
}

#[test]
fn a_stream_can_break_off_and_be_resumed() {
    for version in ["2025-11-25", "2025-06-18"] {
        let server = fake("http --drop-stream").start().unwrap();
        let mut client = Client::with_version(&server, version);
        let mut other = client.again(&server);
        let mut call = client.call("echo", &json!({"message": "after all"}));
        let first = call.event().unwrap().unwrap();
        assert!(call.event().is_err(), "{version}");
        let mut resumed = other.get(Some(&first.id));
        let event = resumed.event().unwrap().unwrap();
        let reply: Value = serde_json::from_str(&event.data).unwrap();
        assert_eq!(text_of(&reply), "after all");
        assert_eq!(resumed.event().unwrap(), None);
    }
    let server = fake("http --drop-stream-no-ids").start().unwrap();
    let mut client = Client::new(&server);
    let mut call = client.call("echo", &json!({"message": "lost"}));
    assert!(call.event().is_err());
}

#[test]
fn a_reply_can_be_left_to_polling() {
    let server = fake("http --poll --poll-retry 20").start().unwrap();
    let mut client = Client::new(&server);
    let mut call = client.call("sleep", &json!({"ms": 50}));
    let primer = call.event().unwrap().unwrap();
    assert_eq!((primer.retry.as_str(), primer.data.as_str()), ("20", ""));
    assert_eq!(call.event().unwrap(), None);
    let reply = client.get(Some(&primer.id)).json();
    assert_eq!(text_of(&reply), "slept 50 ms");
}

#[test]
fn bodies_can_be_endless_or_huge() {
    let server = fake("http --endless-event").start().unwrap();
    let mut client = Client::new(&server);
    let mut call = client.call("echo", &json!({"message": "a"}));
    call.event().unwrap();
    let mut bytes = vec![0; 1 << 20];
    call.read_exact(&mut bytes).unwrap();
    assert!(bytes.ends_with(b"xxxx"));

    let server = fake("http --huge-body 2000000 --json-only")
        .start()
        .unwrap();
    let mut client = Client::new(&server);
    let body = client
        .call("echo", &json!({"message": "a"}))
        .bytes()
        .unwrap();
    assert_eq!(body.len(), 2_000_000);
}

#[test]
fn a_session_can_expire() {
    let server = fake("http --expire-session-after 3").start().unwrap();
    let mut client = Client::new(&server);
    client.ask("tools/list", &json!({}));
    client.ask("tools/list", &json!({}));
    assert_eq!(client.begin("tools/list", &json!({})).status, 404);
    Client::new(&server).ask("tools/list", &json!({}));
}

#[test]
fn the_stream_of_get_can_fail() {
    let server = fake("http --no-get").start().unwrap();
    assert_eq!(Client::new(&server).get(None).status, 405);

    let server = fake("http --drop-get-stream 2").start().unwrap();
    let mut client = Client::new(&server);
    for _ in 0..2 {
        assert!(client.again(&server).get(None).event().is_err());
    }
    client.call("change_tools", &json!({})).json();
    let mut other = client.again(&server);
    assert!(other.get(None).event().unwrap().is_some());
}

#[test]
fn bodies_can_be_slow_and_in_pieces() {
    let server = fake("http --slow-body 2").start().unwrap();
    let begun = Instant::now();
    let mut client = Client::new(&server);
    client.ask("tools/list", &json!({}));
    assert!(begun.elapsed() > Duration::from_millis(100));

    let server = fake("http --chunked-sse 3").start().unwrap();
    let mut client = Client::new(&server);
    let mut call = client.call("echo", &json!({"message": "in pieces"}));
    let raw = String::from_utf8(call.bytes().unwrap()).unwrap();
    assert!(raw.contains(": a comment\r\n"));
    assert!(!raw.replace("\r\n", "").contains('\n'));
    let reply = client.call("echo", &json!({"message": "in pieces"})).json();
    assert_eq!(text_of(&reply), "in pieces");
}

#[test]
fn the_connection_can_be_closed_after_every_reply() {
    let server = fake("http --close-after-reply").start().unwrap();
    let mut connection = Connection::to(&server);
    let mut reply = connection
        .send("POST", "/mcp", &[BOTH, JSON], &initialize())
        .unwrap();
    assert_eq!(reply.header("connection"), Some("close"));
    reply.bytes().unwrap();
    assert!(
        connection
            .send("POST", "/mcp", &[BOTH, JSON], &initialize())
            .is_none()
    );
}

#[test]
fn the_content_type_can_be_wrong() {
    let server = fake("http --wrong-content-type").start().unwrap();
    let mut connection = Connection::to(&server);
    let reply = connection
        .send("POST", "/mcp", &[BOTH, JSON], &initialize())
        .unwrap();
    assert_eq!(reply.header("content-type"), Some("text/plain"));
}

#[test]
fn it_can_be_mute_over_http() {
    let server = fake("http --mute-calls").start().unwrap();
    let mut client = Client::new(&server);
    client.connection.be_impatient();
    let message = json!({
        "jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": {"name": "echo", "arguments": {"message": "a"}},
    });
    assert!(client.post(&message).is_none());
}

#[test]
fn it_can_exit_over_http() {
    let mut server = fake("http --exit-on-call").start().unwrap();
    let mut client = Client::new(&server);
    let message = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {}});
    // Whether the response has begun is a matter of luck; that there is no reply is not.
    if let Some(mut reply) = client.post(&message) {
        assert!(reply.bytes().is_err());
    }
    let ended = || server.has_ended();
    assert!(openclaw_testkit::leaks::wait_until(PATIENCE, ended));
}

#[test]
fn faults_of_what_is_said_are_there_over_http_too() {
    let server = fake("http --batch --json-only").start().unwrap();
    let mut connection = Connection::to(&server);
    let reply = connection
        .send("POST", "/mcp", &[BOTH, JSON], &initialize())
        .unwrap();
    assert_eq!(reply.json()[1]["id"], 1);

    let server = fake("http --string-ids --duplicate-replies")
        .start()
        .unwrap();
    let mut client = Client::new(&server);
    let mut call = client.call("echo", &json!({"message": "twice"}));
    call.event().unwrap();
    let first: Value = serde_json::from_str(&call.event().unwrap().unwrap().data).unwrap();
    assert_eq!(first["id"], "1");
    assert_eq!(call.json(), first);
}
