//! Traces of a gateway: those of its callers go on, and what is left is exported when it ends.

use std::time::{Duration, Instant};

use openclaw_testkit::collector::Collector;
use openclaw_testkit::stand_in::Answer;
use rustix::process::Signal;
use serde_json::json;

use super::{Gateway, STOPPING};
use crate::lab::{Lab, SOON};
use crate::traces::{PARENT, span, traced};

fn headers(lab: &Lab, more: &str) -> String {
    let token = lab.home.path().join(".openclaw/gateway.token");
    let token = std::fs::read_to_string(token).unwrap();
    format!("Authorization: Bearer {}\r\n{more}", token.trim())
}

#[test]
fn the_trace_of_a_program_that_asks_goes_on() {
    let collector = Collector::start().unwrap();
    let lab = traced(Lab::new(""), &collector);
    let mut gateway = Gateway::start(&lab.home, &[]);
    let parent = format!("traceparent: {PARENT}\r\n");
    let call = json!({ "tool": "fake/echo", "arguments": { "message": "x" } });
    let headers = headers(&lab, &parent);
    let answer = gateway.ask_with(&headers, "POST", "/api/mcp/call", Some(&call));
    assert_eq!(answer.status, 200, "{answer:?}");
    let said = |stream: bool| {
        json!({
            "model": "openclaw",
            "messages": [{ "role": "user", "content": "echo message=x" }],
            "stream": stream,
        })
    };
    for stream in [false, true] {
        let path = "/v1/chat/completions";
        let answer = gateway.ask_with(&headers, "POST", path, Some(&said(stream)));
        assert_eq!(answer.status, 200, "{answer:?}");
    }
    // What was not exported yet is when the gateway ends.
    gateway.signal(Signal::TERM);
    let (code, told) = gateway.ended();
    assert_eq!(code, Some(0), "{told}");
    let spans = collector.spans();
    let (_, rest) = PARENT.split_once('-').unwrap();
    let (trace, rest) = rest.split_once('-').unwrap();
    let (parent, _) = rest.split_once('-').unwrap();
    assert!(spans.iter().all(|span| span.trace == trace), "{spans:#?}");
    let begun = spans.iter().filter(|span| span.parent == parent);
    let mut names: Vec<&str> = begun.map(|span| span.name.as_str()).collect();
    names.sort_unstable();
    let expected = [
        "execute_tool mcp_fake_echo",
        "invoke_agent main",
        "invoke_agent main",
    ];
    assert_eq!(names, expected);
}

#[test]
fn what_is_not_recorded_there_is_not_recorded_here() {
    let collector = Collector::start().unwrap();
    let lab = traced(Lab::new(""), &collector);
    let gateway = Gateway::start(&lab.home, &[]);
    let headers = headers(&lab, &format!("traceparent: {}00\r\n", &PARENT[..53]));
    let call = json!({ "tool": "fake/echo", "arguments": { "message": "x" } });
    let answer = gateway.ask_with(&headers, "POST", "/api/mcp/call", Some(&call));
    assert_eq!(answer.status, 200, "{answer:?}");
    let messages = lab.journal().messages();
    let call = messages
        .iter()
        .find(|it| it["method"] == "tools/call")
        .unwrap();
    let told = call["params"]["_meta"]["traceparent"].as_str().unwrap();
    assert!(
        told.starts_with(&PARENT[..36]) && told.ends_with("-00"),
        "{told}"
    );
    drop(gateway);
    assert!(collector.spans().is_empty());
}

#[test]
fn spans_are_exported_while_the_gateway_runs() {
    let collector = Collector::start().unwrap();
    let lab = traced(Lab::new(""), &collector).settings(json!({
        "diagnostics": { "otel": { "flushIntervalMs": 100 } },
    }));
    let gateway = Gateway::start(&lab.home, &[]);
    let call = json!({ "tool": "fake/echo", "arguments": { "message": "x" } });
    gateway.ask(&lab.home, "POST", "/api/mcp/call", Some(&call));
    let found = collector.wait_for(SOON, |span| span.name == "tools/call echo");
    let exchange = found.expect("a span");
    assert_eq!(span(&collector.spans(), "execute_tool").id, exchange.parent);
}

#[test]
fn a_collector_that_hangs_does_not_keep_the_gateway_from_ending() {
    let long = Duration::from_secs(30);
    let hanging = Collector::answering(move |_| Answer::bytes(200, "x/y", "").after(long)).unwrap();
    let lab = traced(Lab::new(""), &hanging);
    let mut gateway = Gateway::start(&lab.home, &[]);
    let call = json!({ "tool": "fake/echo", "arguments": { "message": "x" } });
    gateway.ask(&lab.home, "POST", "/api/mcp/call", Some(&call));
    let began = Instant::now();
    gateway.signal(Signal::TERM);
    let (code, told) = gateway.ended();
    assert_eq!(code, Some(0), "{told}");
    assert!(began.elapsed() < STOPPING, "{:?}", began.elapsed());
}
