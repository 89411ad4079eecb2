//! Traces, read by classes that OpenTelemetry generates for Python.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};

use openclaw_testkit::partners;
use serde_json::Value as Json;

use crate::lab::Lab;

/// The collector, which ends with this.
struct Collector {
    child: Child,
    output: BufReader<ChildStdout>,
    endpoint: String,
}

impl Collector {
    fn start() -> Self {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/real/collector.py");
        let mut child = Command::new(partners().join("python/bin/python"))
            .arg(script)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        let mut endpoint = String::new();
        output.read_line(&mut endpoint).unwrap();
        Self {
            child,
            output,
            endpoint: endpoint.trim().to_owned(),
        }
    }

    /// The spans of all exports, once it has ended.
    fn spans(mut self) -> Vec<Json> {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        let lines = self.output.lines().map_while(Result::ok);
        let mut spans = Vec::new();
        for line in lines {
            let export: Json = serde_json::from_str(&line).unwrap();
            for resource in export["resourceSpans"].as_array().unwrap() {
                for scope in resource["scopeSpans"].as_array().unwrap() {
                    assert_eq!(scope["scope"]["name"], "openclaw");
                    spans.extend(scope["spans"].as_array().unwrap().iter().cloned());
                }
            }
        }
        spans
    }
}

fn named<'s>(spans: &'s [Json], name: &str) -> &'s Json {
    let found = spans.iter().find(|span| span["name"] == name);
    found.unwrap_or_else(|| panic!("{name}: {spans:#?}"))
}

fn attribute<'s>(span: &'s Json, key: &str) -> &'s Json {
    let attributes = span["attributes"].as_array().unwrap();
    let found = attributes.iter().find(|it| it["key"] == key);
    &found.unwrap_or_else(|| panic!("{key}: {span:#}"))["value"]
}

#[test]
fn what_is_exported_is_what_others_read() {
    let collector = Collector::start();
    let mut lab = Lab::new("").alone();
    let endpoint = collector.endpoint.clone();
    lab.home
        .set(vec![("OTEL_EXPORTER_OTLP_ENDPOINT", endpoint)]);
    let run = lab.done(&["agent", "-m", "echo message=unmistakable"]);
    let spans = collector.spans();
    let turn = named(&spans, "invoke_agent main");
    let model = named(&spans, "chat offline");
    let tool = named(&spans, "execute_tool mcp_fake_echo");
    let exchange = named(&spans, "tools/call echo");
    assert_eq!(spans.len(), 5, "{run}");
    assert!(spans.iter().all(|span| span["traceId"] == turn["traceId"]));
    assert!(turn.get("parentSpanId").is_none(), "{turn:#}");
    assert_eq!(model["parentSpanId"], turn["spanId"]);
    assert_eq!(tool["parentSpanId"], turn["spanId"]);
    assert_eq!(exchange["parentSpanId"], tool["spanId"]);
    assert_eq!(tool["kind"], "SPAN_KIND_INTERNAL");
    assert_eq!(exchange["kind"], "SPAN_KIND_CLIENT");
    let method = attribute(exchange, "mcp.method.name");
    assert_eq!(method["stringValue"], "tools/call");
    let reasons = attribute(model, "gen_ai.response.finish_reasons");
    let reasons = reasons["arrayValue"]["values"].as_array().unwrap();
    assert_eq!(reasons.len(), 1, "{model:#}");
    for span in &spans {
        let moment = |key: &str| span[key].as_str().unwrap().parse::<u64>().unwrap();
        assert!(moment("startTimeUnixNano") <= moment("endTimeUnixNano"));
    }
    let all = serde_json::to_string(&spans).unwrap();
    assert!(!all.contains("unmistakable"), "{all}");
}
