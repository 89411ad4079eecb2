//! Traces of commands, sent to a collector that runs here.

use std::time::{Duration, Instant};

use openclaw_testkit::collector::{Collected, Collector};
use openclaw_testkit::stand_in::Answer;
use serde_json::{Value as Json, json};

use crate::lab::Lab;

/// A trace of somebody else, and a span in it.
pub(crate) const PARENT: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

/// A lab whose commands work by themselves and export traces.
pub(crate) fn traced(lab: Lab, collector: &Collector) -> Lab {
    with(
        lab,
        vec![("OTEL_EXPORTER_OTLP_ENDPOINT", collector.endpoint())],
    )
}

fn with(lab: Lab, variables: Vec<(&'static str, String)>) -> Lab {
    let mut lab = lab.alone();
    lab.home.set(variables);
    lab
}

/// The only span that begins so.
pub(crate) fn span(spans: &[Collected], start: &str) -> Collected {
    let mut found = spans.iter().filter(|span| span.name.starts_with(start));
    match (found.next(), found.next()) {
        (Some(span), None) => span.clone(),
        _ => panic!("{start}: {spans:#?}"),
    }
}

/// What the server that was added last was told with its calls.
fn metas(lab: &Lab) -> Vec<Json> {
    let messages = lab.journal().messages().into_iter();
    let calls = messages.filter(|message| message["method"] == "tools/call");
    calls
        .map(|message| message["params"]["_meta"].clone())
        .collect()
}

#[test]
fn a_turn_is_one_trace_down_to_the_wire() {
    let collector = Collector::start().unwrap();
    let lab = traced(Lab::new(""), &collector);
    lab.json(&[
        "agent",
        "-m",
        "echo message=unmistakable",
        "--session-key",
        "quite-private",
    ]);
    let spans = collector.spans();
    let turn = span(&spans, "invoke_agent main");
    let tool = span(&spans, "execute_tool mcp_fake_echo");
    let exchange = span(&spans, "tools/call echo");
    assert!(
        spans.iter().all(|span| span.trace == turn.trace),
        "{spans:#?}"
    );
    assert_eq!(turn.parent, "");
    assert_eq!(
        (tool.parent, exchange.parent),
        (turn.id.clone(), tool.id.clone())
    );
    assert_eq!((turn.kind, tool.kind, exchange.kind), (1, 1, 3));
    let asked: Vec<_> = spans
        .iter()
        .filter(|it| it.name == "chat offline")
        .collect();
    assert_eq!(asked.len(), 2, "{spans:#?}");
    assert!(asked.iter().all(|it| it.parent == turn.id));
    assert_eq!(exchange.attributes["mcp.method.name"], "tools/call");
    assert_eq!(exchange.attributes["network.transport"], "pipe");
    assert_eq!(exchange.attributes["openclaw.mcp.server"], "fake");
    assert_eq!(turn.resource["service.name"], "openclaw");
    // What the server is told is the span of what it was sent, beside everything else.
    let [meta] = &metas(&lab)[..] else {
        panic!("one call");
    };
    let told = format!("00-{}-{}-01", exchange.trace, exchange.id);
    assert_eq!(meta["traceparent"], told);
    assert!(meta["progressToken"].is_string(), "{meta}");
    // The session is what the audit log calls it, and nothing of what was said is told.
    let log = std::fs::read_to_string(lab.home.path().join(".openclaw/logs/audit.jsonl")).unwrap();
    let line: Json = serde_json::from_str(log.lines().next().unwrap()).unwrap();
    assert_eq!(turn.attributes["gen_ai.conversation.id"], line["session"]);
    assert!(!collector.has_seen("unmistakable") && !collector.has_seen("quite-private"));
}

/// The last request of that name that the collector was told of.
fn last(collector: &Collector, name: &str) -> Collected {
    let mut spans = collector.spans().into_iter();
    spans.rfind(|span| span.name == name).expect("a span")
}

#[test]
fn programs_of_both_eras_hear_of_the_trace() {
    let collector = Collector::start().unwrap();
    for protocol in ["legacy", "modern"] {
        let lab = Lab::empty().server("fake", "", json!({ "protocol": protocol }));
        let lab = traced(lab, &collector);
        lab.done(&["mcp", "call", "fake/echo", "message=1"]);
        let [meta] = &metas(&lab)[..] else {
            panic!("one call");
        };
        let exchange = last(&collector, "tools/call echo");
        let told = format!("00-{}-{}-01", exchange.trace, exchange.id);
        assert_eq!(meta["traceparent"], told);
        let version = meta.get("io.modelcontextprotocol/protocolVersion");
        assert_eq!(version.is_some(), protocol == "modern", "{meta}");
    }
}

#[test]
fn servers_over_http_hear_of_the_trace() {
    let collector = Collector::start().unwrap();
    for (mode, settings, version) in [
        ("http", json!({ "protocol": "legacy" }), "2025-11-25"),
        ("http", json!({ "protocol": "modern" }), "2026-07-28"),
        ("sse", json!({ "transport": "sse" }), "2025-11-25"),
    ] {
        let lab = traced(Lab::empty().address("far", mode, settings), &collector);
        lab.done(&["mcp", "call", "far/echo", "message=1"]);
        let exchange = last(&collector, "tools/call echo");
        let told = format!("00-{}-{}-01", exchange.trace, exchange.id);
        assert!(lab.heard_at_address().contains(&told), "{mode}");
        let said = &exchange.attributes;
        assert_eq!(said["network.transport"], "tcp");
        assert_eq!(said["server.address"], "127.0.0.1");
        assert!(said["server.port"].is_u64());
        assert_eq!(said["mcp.protocol.version"], version);
        // Not all of it: whoever has it can take part.
        let session = said.get("mcp.session.id").and_then(Json::as_str);
        assert_eq!(session.is_some(), (mode, version) == ("http", "2025-11-25"));
        assert!(session.is_none_or(|it| it.ends_with('…')), "{session:?}");
    }
}

#[test]
fn reading_and_prompts_are_traced_and_failures_say_how() {
    let collector = Collector::start().unwrap();
    let lab = traced(Lab::new(""), &collector);
    let listed = lab.json(&["mcp", "resources", "fake"]);
    let uri = listed["resources"][0]["uri"].as_str().unwrap();
    lab.done(&["mcp", "read", "fake", uri]);
    let read = span(&collector.spans(), "resources/read");
    assert_eq!(read.name, "resources/read");
    assert_eq!(read.attributes["mcp.resource.uri"], uri);
    let listed = lab.json(&["mcp", "prompts", "fake"]);
    let prompt = listed["prompts"][0]["name"].as_str().unwrap();
    lab.run(&["mcp", "prompt", "fake", prompt]);
    let filled = span(&collector.spans(), "prompts/get");
    assert_eq!(filled.name, format!("prompts/get {prompt}"));
    assert_eq!(filled.attributes["gen_ai.prompt.name"], prompt);
    lab.run(&["mcp", "call", "fake/fail"]);
    lab.run(&["mcp", "call", "fake/protocol_error"]);
    let spans = collector.spans();
    let failed = span(&spans, "tools/call fail");
    assert_eq!(failed.attributes["error.type"], "tool_error");
    assert_eq!((failed.status, &*failed.message), (2, ""));
    let tool = span(&spans, "execute_tool mcp_fake_fail");
    assert_eq!(tool.attributes["error.type"], "tool-error");
    let refused = span(&spans, "tools/call protocol_error");
    let code = &refused.attributes["rpc.response.status_code"];
    assert_eq!(&refused.attributes["error.type"], code);
}

#[test]
fn nobody_hears_of_traces_unless_somebody_says_where_they_go() {
    let lab = Lab::new("").alone();
    lab.done(&["mcp", "call", "fake/echo", "message=1"]);
    let collector = Collector::start().unwrap();
    let endpoint = ("OTEL_EXPORTER_OTLP_ENDPOINT", collector.endpoint());
    let off = ("OTEL_SDK_DISABLED", "true".to_owned());
    let lab = with(lab, vec![endpoint, off]);
    lab.done(&["mcp", "call", "fake/echo", "message=1"]);
    let metas = metas(&lab);
    assert_eq!(metas.len(), 2);
    assert!(
        metas.iter().all(|it| it.get("traceparent").is_none()),
        "{metas:?}"
    );
    assert!(collector.asked().is_empty());
}

#[test]
fn a_trace_that_is_not_recorded_is_passed_on() {
    let collector = Collector::start().unwrap();
    let endpoint = ("OTEL_EXPORTER_OTLP_ENDPOINT", collector.endpoint());
    let sampler = ("OTEL_TRACES_SAMPLER", "always_off".to_owned());
    let lab = with(Lab::new(""), vec![endpoint, sampler]);
    lab.done(&["mcp", "call", "fake/echo", "message=1"]);
    let told = metas(&lab)[0]["traceparent"].as_str().unwrap().to_owned();
    assert!(told.ends_with("-00"), "{told}");
    assert!(collector.asked().is_empty());
}

#[test]
fn a_secret_that_a_server_repeats_is_in_no_span() {
    let secret = "sesame-4711-open-wide";
    let collector = Collector::start().unwrap();
    let lab = Lab::empty().server(
        "fake",
        "",
        json!({ "env": { "KEY": "secret://env/THE_KEY" } }),
    );
    let endpoint = ("OTEL_EXPORTER_OTLP_ENDPOINT", collector.endpoint());
    let lab = with(lab, vec![endpoint, ("THE_KEY", secret.to_owned())]);
    lab.done(&["agent", "-m", &format!("echo message={secret}")]);
    lab.done(&["mcp", "call", "fake/echo", &format!("message={secret}")]);
    // There is none, and the server says so with its name.
    lab.run(&["mcp", "read", "fake", &format!("file:///{secret}/x")]);
    let spans = collector.spans();
    let asked = |name: &str| spans.iter().filter(|span| span.name == name).count();
    assert_eq!(asked("tools/call echo"), 2, "{spans:#?}");
    let read = span(&spans, "resources/read");
    assert_eq!(read.attributes["mcp.resource.uri"], "file:///[REDACTED]/x");
    assert!(!collector.has_seen("sesame"), "{spans:#?}");
}

#[test]
fn the_file_says_where_traces_go_and_how_we_prove_who_we_are() {
    let collector = Collector::start().unwrap();
    let lab = Lab::new("").settings(json!({ "diagnostics": { "otel": {
        "enabled": true,
        "endpoint": collector.endpoint(),
        "headers": { "X-Key": "secret://env/COLLECTOR_KEY" },
        "serviceName": "mine",
    } } }));
    let key = "key-of-the-collector-0815";
    let lab = with(lab, vec![("COLLECTOR_KEY", key.to_owned())]);
    lab.done(&["mcp", "call", "fake/echo", "message=1"]);
    let asked = collector.asked();
    assert_eq!(asked[0].path, "/v1/traces");
    assert_eq!(asked[0].header("x-key"), Some(key));
    let spans = collector.spans();
    assert_eq!(spans[0].resource["service.name"], "mine");
    // Where a variable says otherwise, the key of the file stays here.
    let other = Collector::start().unwrap();
    let endpoint = ("OTEL_EXPORTER_OTLP_ENDPOINT", other.endpoint());
    let headers = ("OTEL_EXPORTER_OTLP_HEADERS", "x-other=1".to_owned());
    let lab = with(
        lab,
        vec![("COLLECTOR_KEY", key.to_owned()), endpoint, headers],
    );
    lab.done(&["mcp", "call", "fake/echo", "message=1"]);
    let asked = other.asked();
    assert_eq!(asked[0].header("x-key"), None);
    assert_eq!(asked[0].header("x-other"), Some("1"));
    assert_eq!(collector.spans().len(), spans.len());
}

#[test]
fn a_collector_that_does_what_it_should_not_holds_up_no_command() {
    let long = Duration::from_secs(30);
    let hanging = Collector::answering(move |_| Answer::bytes(200, "x/y", "").after(long)).unwrap();
    let raving = Collector::answering(|_| Answer::bytes(200, "text/html", vec![7; 1 << 20]));
    let refusing = Collector::answering(|_| {
        Answer::bytes(302, "x/y", "").header("location", "http://127.0.0.1:1/")
    });
    let endpoints = [
        hanging.endpoint(),
        raving.as_ref().unwrap().endpoint(),
        refusing.as_ref().unwrap().endpoint(),
        "http://127.0.0.1:1".to_owned(),
    ];
    for endpoint in endpoints {
        let variable = ("OTEL_EXPORTER_OTLP_ENDPOINT", endpoint.clone());
        let lab = with(Lab::new(""), vec![variable]);
        let began = Instant::now();
        let run = lab.done(&["mcp", "call", "fake/echo", "message=hello"]);
        assert_eq!(run.stdout, "hello\n");
        assert!(
            began.elapsed() < Duration::from_secs(5),
            "{endpoint}: {run}"
        );
        // That is said at most once.
        let told = run.stderr.matches("traces can't be exported").count();
        assert!(told <= 1, "{endpoint}: {run}");
    }
}
