//! The gateway's HTTP, with the real engine behind it.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::{Value as Json, json};

use super::Gateway;
use crate::lab::Lab;
use crate::program::Home;

/// What came back.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Answer {
    pub(crate) fn json(&self) -> Json {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {self:#?}"))
    }
}

impl Gateway {
    /// Host and port.
    pub(crate) fn authority(&self) -> &str {
        self.address.strip_prefix("http://").unwrap()
    }

    /// Asks with the token of the home directory.
    pub(crate) fn ask(&self, home: &Home, method: &str, path: &str, body: Option<&Json>) -> Answer {
        let token = std::fs::read_to_string(home.path().join(".openclaw/gateway.token")).unwrap();
        let header = format!("Authorization: Bearer {}\r\n", token.trim());
        self.ask_with(&header, method, path, body)
    }

    /// Asks with these headers.
    pub(super) fn ask_with(
        &self,
        headers: &str,
        method: &str,
        path: &str,
        body: Option<&Json>,
    ) -> Answer {
        let body = body.map(ToString::to_string).unwrap_or_default();
        let authority = self.authority();
        let request = format!(
            "{method} {path} HTTP/1.1\r\nHost: {authority}\r\nConnection: close\r\n\
             Content-Type: application/json\r\nContent-Length: {}\r\n{headers}\r\n{body}",
            body.len()
        );
        let mut stream = TcpStream::connect(authority).unwrap();
        stream
            .set_read_timeout(Some(Duration::from_secs(30)))
            .unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        let answer = String::from_utf8(answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        let body = if head
            .to_ascii_lowercase()
            .contains("transfer-encoding: chunked")
        {
            dechunked(body)
        } else {
            body.to_owned()
        };
        Answer {
            status,
            head: head.to_owned(),
            body,
        }
    }
}

/// A body that came in chunks, put together.
fn dechunked(mut text: &str) -> String {
    let mut whole = String::new();
    while let Some((size, rest)) = text.split_once("\r\n") {
        let size = usize::from_str_radix(size.trim(), 16).unwrap();
        if size == 0 {
            break;
        }
        whole.push_str(&rest[..size]);
        text = &rest[size + 2..];
    }
    whole
}

#[test]
fn tools_are_listed_and_called() {
    let lab = Lab::new("").alone();
    let gateway = Gateway::start(&lab.home, &[]);
    let tools = gateway.ask(&lab.home, "GET", "/api/mcp/tools", None).json();
    let listed = lab.home.run(&["mcp", "tools", "--json"]).json();
    assert_eq!(
        tools["tools"], listed["tools"],
        "the same as the command lists"
    );
    let call = json!({ "tool": "mcp_fake_echo", "arguments": { "message": "hello" } });
    let called = gateway.ask(&lab.home, "POST", "/api/mcp/call", Some(&call));
    assert_eq!(called.status, 200, "{called:?}");
    let called = called.json();
    assert_eq!(
        called["content"],
        json!([{ "type": "text", "text": "hello" }])
    );
    assert_eq!(called["isError"], false);
    for (call, status) in [
        (json!({ "tool": "fake/ecko" }), 404),
        (
            json!({ "tool": "fake/echo", "arguments": { "message": 5 } }),
            400,
        ),
        (json!({ "tool": "fake/echo", "agent": "nobody" }), 404),
        (json!({ "arguments": {} }), 400),
    ] {
        let refused = gateway.ask(&lab.home, "POST", "/api/mcp/call", Some(&call));
        assert_eq!(refused.status, status, "{refused:?}");
        assert!(
            refused.json()["error"]["message"].is_string(),
            "{refused:?}"
        );
    }
}

#[test]
fn a_denied_tool_is_a_result_that_says_so() {
    let lab = Lab::new("")
        .alone()
        .settings(json!({ "tools": { "deny": ["mcp_fake_echo"] } }));
    let gateway = Gateway::start(&lab.home, &[]);
    let call = json!({ "tool": "fake/echo", "arguments": { "message": "hello" } });
    let called = gateway.ask(&lab.home, "POST", "/api/mcp/call", Some(&call));
    assert_eq!(called.status, 200, "{called:?}");
    let called = called.json();
    assert_eq!(called["isError"], true, "{called:#}");
    assert_eq!(lab.calls(), 0);
}

#[test]
fn nothing_is_told_without_the_token() {
    let lab = Lab::new("").alone();
    let gateway = Gateway::start(&lab.home, &[]);
    for path in [
        "/api/status",
        "/api/mcp/servers",
        "/api/mcp/tools",
        "/metrics",
        "/v1/models",
    ] {
        let refused = gateway.ask_with("", "GET", path, None);
        assert_eq!(refused.status, 401, "{path}: {refused:?}");
        assert!(!refused.body.contains("fake"), "{refused:?}");
    }
    let health = gateway.ask_with("", "GET", "/health", None);
    assert_eq!(health.status, 200, "{health:?}");
    assert!(!health.body.contains("fake"), "{health:?}");
    let elsewhere = gateway.ask_with("Origin: https://evil.example\r\n", "GET", "/health", None);
    assert_eq!(elsewhere.status, 403, "{elsewhere:?}");
}

#[test]
fn health_tells_degraded_from_well() {
    let lab = Lab::new("").alone();
    let gateway = Gateway::start(&lab.home, &[]);
    lab.home.run(&["mcp", "servers"]);
    let health = || gateway.ask_with("", "GET", "/health", None).json()["status"].clone();
    assert_eq!(health(), "ok");
    std::fs::write(
        lab.home.path().join(".openclaw/openclaw.json"),
        "{ nonsense",
    )
    .unwrap();
    gateway.signal(rustix::process::Signal::HUP);
    assert!(openclaw_testkit::leaks::wait_until(
        crate::lab::SOON,
        || health() == "degraded"
    ));
}

#[test]
fn metrics_count_calls_by_server_and_outcome() {
    let lab = Lab::new("").alone();
    let gateway = Gateway::start(&lab.home, &[]);
    for _ in 0..3 {
        lab.home.run(&["mcp", "call", "fake/echo", "message=hello"]);
    }
    lab.home.run(&["mcp", "call", "fake/fail"]);
    let metrics = gateway.ask(&lab.home, "GET", "/metrics", None).body;
    let line = |start: &str| {
        let found = metrics.lines().find(|line| line.starts_with(start));
        found
            .unwrap_or_else(|| panic!("{start}: {metrics}"))
            .to_owned()
    };
    assert!(line("openclaw_mcp_calls_total{server=\"fake\",outcome=\"ok\"}").ends_with(" 3"));
    assert!(line("openclaw_mcp_server_state{server=\"fake\",state=\"ready\"}").ends_with(" 1"));
    assert!(line("openclaw_mcp_call_duration_seconds_count{server=\"fake\"}").ends_with(" 4"));
    assert!(line("openclaw_mcp_server_restarts_total{server=\"fake\"}").ends_with(" 0"));
}

#[test]
fn a_turn_answers_as_chat_completions() {
    let lab = Lab::new("").alone();
    let gateway = Gateway::start(&lab.home, &[]);
    let request = json!({
        "model": "openclaw",
        "messages": [{ "role": "user", "content": "echo hello" }],
    });
    let answer = gateway.ask(&lab.home, "POST", "/v1/chat/completions", Some(&request));
    assert_eq!(answer.status, 200, "{answer:?}");
    assert!(
        answer
            .head
            .contains("x-openclaw-session-key: agent:main:openai-"),
        "{answer:?}"
    );
    let reply = &answer.json()["choices"][0]["message"];
    assert!(
        reply["content"].as_str().unwrap().contains("hello"),
        "{reply:#}"
    );
    assert_eq!(lab.calls(), 1, "the agent called the tool");
}

/// RFC 9113 §6.7.
fn ping(flags: u8) -> Vec<u8> {
    [&[0, 0, 8, 6, flags, 0, 0, 0, 0], b"12345678".as_slice()].concat()
}

#[test]
fn whoever_says_odd_things_over_http_2_does_not_fill_the_log() {
    const ACKNOWLEDGED: u8 = 1;
    let lab = Lab::new("").alone();
    let mut gateway = Gateway::start(&lab.home, &[]);
    let mut stream = TcpStream::connect(gateway.authority()).unwrap();
    let patience = Some(Duration::from_secs(30));
    stream.set_read_timeout(patience).unwrap();
    let beginning = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0";
    stream.write_all(beginning).unwrap();
    // Answers to questions that nobody asked, and a question whose answer says that all of them were read.
    stream.write_all(&ping(ACKNOWLEDGED).repeat(1_000)).unwrap();
    stream.write_all(&ping(0)).unwrap();
    let mut heard = Vec::new();
    let answer = ping(ACKNOWLEDGED);
    while !heard.windows(answer.len()).any(|it| it == answer) {
        let mut part = [0; 1024];
        let length = stream.read(&mut part).unwrap();
        assert_ne!(length, 0, "the connection ended: {heard:?}");
        heard.extend_from_slice(&part[..length]);
    }
    gateway.signal(rustix::process::Signal::TERM);
    let (code, said) = gateway.ended();
    assert_eq!(code, Some(0), "{said}");
    let log = lab.home.path().join(".openclaw/logs/openclaw.log");
    let log = std::fs::read_to_string(log).unwrap();
    for text in [said, log] {
        assert!(!text.to_lowercase().contains("ping"), "{text}");
    }
}
