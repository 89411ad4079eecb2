use std::collections::BTreeMap;
use std::time::Instant;

use openclaw_secrets::{Learned, Secret};
use openclaw_testkit::collector::{Collected, Collector};
use openclaw_testkit::stand_in::Answer;
use url::Url;

use super::*;
use crate::{Exchange, ExchangeError, ModelAnswer, ModelSpan, Tokens, ToolSpan, TurnSpan, Wire};

const SOON: Duration = Duration::from_secs(10);

fn telemetry(endpoint: &str, sampler: Sampler, redactor: &Redactor) -> Telemetry {
    let settings = Settings {
        endpoint: Url::parse(&format!("{endpoint}/v1/traces")).unwrap(),
        headers: Vec::new(),
        with_configured_headers: false,
        service: "tests".to_owned(),
        resource: vec![("a".to_owned(), "b".to_owned())],
        sampler,
        timeout: Duration::from_secs(10),
        interval: Duration::from_millis(20),
    };
    let headers: HeaderSource = Arc::new(|| {
        let key = ("x-key".to_owned(), Secret::new("of-tests"));
        Box::pin(async move { Ok(vec![key]) })
    });
    Telemetry::start(settings, headers, redactor.clone())
}

fn all() -> Sampler {
    Sampler::All {
        follows_parent: true,
    }
}

/// A turn with a request to a model and a call; the trace that the server was told of.
async fn turn() -> Option<TraceContext> {
    let turn = TurnSpan::begin("main", || "hashed".to_owned());
    let told = turn.around(async {
        let model = ModelSpan::begin("openai/gpt-x");
        tokio::task::yield_now().await;
        model.replied(ModelAnswer {
            model: "openai/gpt-x-2",
            tokens: Some(Tokens {
                input: 10,
                output: 2,
                cached: 3,
            }),
            stop: &["tool_call"],
        });
        let tool = ToolSpan::begin(Some("call-1"));
        let told = tool.around(async {
            let exchange = Exchange::begin("tools/call");
            exchange.describe(|about| {
                about.tool("tools/call", "echo");
                about.server("fake");
                about.request(7);
                about.version("2025-11-25");
                about.wire(Wire::Http {
                    host: "host.example",
                    port: Some(443),
                });
            });
            let told = exchange.context();
            tokio::task::yield_now().await;
            exchange.ended(|| Some(ExchangeError::Code(-32602)));
            told
        });
        let told = told.await;
        tool.ended("mcp_fake_echo", Some("fake"), Some("tool-error"));
        told
    });
    let told = told.await;
    turn.replied("openai/gpt-x-2", None);
    told
}

fn named<'s>(spans: &'s [Collected], name: &str) -> &'s Collected {
    let found = spans.iter().find(|span| span.name == name);
    found.unwrap_or_else(|| panic!("{name}: {spans:#?}"))
}

fn texts(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
    let pairs = pairs.iter();
    pairs
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
        .collect()
}

/// The attributes, numbers as texts.
fn said(span: &Collected) -> BTreeMap<String, String> {
    let attributes = span.attributes.iter();
    attributes
        .map(|(name, value)| {
            let text = value
                .as_str()
                .map_or_else(|| value.to_string(), str::to_owned);
            (name.clone(), text)
        })
        .collect()
}

#[tokio::test]
async fn a_turn_is_one_trace_down_to_the_wire() {
    let collector = Collector::start().unwrap();
    let telemetry = telemetry(&collector.endpoint(), all(), &Redactor::new());
    let told = telemetry.around(turn()).await.unwrap();
    telemetry.close().await;
    let spans = collector.spans();
    let turn = named(&spans, "invoke_agent main");
    let model = named(&spans, "chat gpt-x");
    let tool = named(&spans, "execute_tool mcp_fake_echo");
    let exchange = named(&spans, "tools/call echo");
    assert_eq!(spans.len(), 4);
    assert!(spans.iter().all(|span| span.trace == turn.trace));
    assert_eq!(turn.parent, "");
    assert_eq!((&model.parent, &tool.parent), (&turn.id, &turn.id));
    assert_eq!(exchange.parent, tool.id);
    let kinds = [turn.kind, model.kind, tool.kind, exchange.kind];
    assert_eq!(kinds, [1, 3, 1, 3]);
    let expected = format!("00-{}-{}-01", exchange.trace, exchange.id);
    assert_eq!(told.traceparent(), expected);
    let asked = &collector.asked()[0];
    assert_eq!(asked.path, "/v1/traces");
    assert_eq!(asked.header("content-type"), Some("application/x-protobuf"));
    assert_eq!(asked.header("x-key"), Some("of-tests"));
    assert_eq!(turn.resource["service.name"], "tests");
    assert_eq!(turn.resource["a"], "b");
}

#[tokio::test]
async fn spans_say_what_the_conventions_want() {
    let collector = Collector::start().unwrap();
    let telemetry = telemetry(&collector.endpoint(), all(), &Redactor::new());
    telemetry.around(turn()).await;
    telemetry.close().await;
    let spans = collector.spans();
    let turn = named(&spans, "invoke_agent main");
    let expected = texts(&[
        ("gen_ai.operation.name", "invoke_agent"),
        ("gen_ai.agent.id", "main"),
        ("gen_ai.agent.name", "main"),
        ("gen_ai.conversation.id", "hashed"),
        ("gen_ai.response.model", "gpt-x-2"),
    ]);
    assert_eq!(said(turn), expected);
    let expected = texts(&[
        ("gen_ai.operation.name", "chat"),
        ("gen_ai.provider.name", "openai"),
        ("gen_ai.request.model", "gpt-x"),
        ("gen_ai.response.model", "gpt-x-2"),
        ("gen_ai.response.finish_reasons", "[\"tool_call\"]"),
        ("gen_ai.usage.input_tokens", "10"),
        ("gen_ai.usage.output_tokens", "2"),
        ("gen_ai.usage.cache_read.input_tokens", "3"),
    ]);
    assert_eq!(said(named(&spans, "chat gpt-x")), expected);
    let tool = named(&spans, "execute_tool mcp_fake_echo");
    let expected = texts(&[
        ("gen_ai.operation.name", "execute_tool"),
        ("gen_ai.tool.name", "mcp_fake_echo"),
        ("gen_ai.tool.type", "extension"),
        ("gen_ai.tool.call.id", "call-1"),
        ("openclaw.mcp.server", "fake"),
        ("error.type", "tool-error"),
    ]);
    assert_eq!(said(tool), expected);
    let exchange = named(&spans, "tools/call echo");
    let expected = texts(&[
        ("mcp.method.name", "tools/call"),
        ("mcp.protocol.version", "2025-11-25"),
        ("gen_ai.operation.name", "execute_tool"),
        ("gen_ai.tool.name", "echo"),
        ("jsonrpc.request.id", "7"),
        ("network.transport", "tcp"),
        ("network.protocol.name", "http"),
        ("server.address", "host.example"),
        ("server.port", "443"),
        ("rpc.response.status_code", "-32602"),
        ("error.type", "-32602"),
        ("openclaw.mcp.server", "fake"),
    ]);
    assert_eq!(said(exchange), expected);
    assert_eq!((turn.status, tool.status, exchange.status), (0, 2, 2));
    assert!(spans.iter().all(|span| span.message.is_empty()));
}

#[tokio::test]
async fn the_trace_of_another_program_goes_on() {
    let collector = Collector::start().unwrap();
    let telemetry = telemetry(&collector.endpoint(), all(), &Redactor::new());
    let parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    let parent = TraceContext::read(parent, Some("vendor=1"));
    // As a question is asked of an engine: made before anybody says which trace it belongs to.
    let told = within(parent, telemetry.around(turn())).await.unwrap();
    assert_eq!(told.tracestate(), Some("vendor=1"));
    telemetry.close().await;
    let spans = collector.spans();
    let turn = named(&spans, "invoke_agent main");
    assert_eq!(turn.trace, "0af7651916cd43dd8448eb211c80319c");
    assert_eq!(turn.parent, "b7ad6b7169203331");
}

#[tokio::test]
async fn a_trace_that_is_not_recorded_is_passed_on_nevertheless() {
    let collector = Collector::start().unwrap();
    let none = Sampler::None {
        follows_parent: true,
    };
    for sampler in [none, all()] {
        let telemetry = telemetry(&collector.endpoint(), sampler, &Redactor::new());
        let parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00";
        let parent = TraceContext::read(parent, None);
        let told = within(parent, async { telemetry.around(turn()).await }).await;
        let told = told.unwrap().traceparent();
        assert!(
            told.starts_with("00-0af7651916cd43dd8448eb211c80319c-"),
            "{told}"
        );
        assert!(told.ends_with("-00"), "{told}");
        telemetry.close().await;
    }
    assert!(collector.spans().is_empty());
}

#[tokio::test]
async fn who_makes_no_spans_says_nothing_and_tells_nothing() {
    assert_eq!(turn().await, None);
    assert_eq!(Telemetry::off().around(turn()).await, None);
    assert_eq!(TraceContext::current(), None);
    // What another program says is handed on, but no span is made.
    let parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    let seen = within(TraceContext::read(parent, None), async {
        assert_eq!(turn().await, None);
        TraceContext::current()
    });
    assert_eq!(seen.await.unwrap().traceparent(), parent);
}

#[tokio::test]
async fn what_is_given_up_is_told_as_such() {
    let collector = Collector::start().unwrap();
    let telemetry = telemetry(&collector.endpoint(), all(), &Redactor::new());
    let given_up = telemetry.around(async {
        let tool = ToolSpan::begin(None);
        tool.around(std::future::pending::<()>()).await;
    });
    assert!(
        tokio::time::timeout(Duration::from_millis(5), given_up)
            .await
            .is_err()
    );
    telemetry.close().await;
    let span = named(&collector.spans(), "execute_tool").clone();
    assert_eq!(span.attributes["error.type"], "cancelled");
}

#[tokio::test]
async fn a_secret_is_in_no_span() {
    let collector = Collector::start().unwrap();
    let redactor = Redactor::new();
    assert_eq!(
        redactor.learn(&Secret::new("sesame-open-4711")),
        Learned::Added
    );
    let telemetry = telemetry(&collector.endpoint(), all(), &redactor);
    telemetry
        .around(async {
            let tool = ToolSpan::begin(Some("sesame-open-4711"));
            tool.ended("do-sesame-open-4711", Some("sesame-open-4711"), None);
            let exchange = Exchange::begin("resources/read");
            exchange.describe(|about| about.resource("file:///sesame-open-4711/x"));
            exchange.ended(|| None);
        })
        .await;
    telemetry.close().await;
    assert_eq!(collector.spans().len(), 2);
    assert!(!collector.has_seen("sesame"));
}

#[tokio::test]
async fn a_collector_that_hangs_or_is_not_there_holds_up_nobody() {
    let hanging =
        Collector::answering(|_| Answer::bytes(200, "text/plain", "").after(SOON)).unwrap();
    let refused = "http://127.0.0.1:1".to_owned();
    for endpoint in [hanging.endpoint(), refused] {
        let telemetry = telemetry(&endpoint, all(), &Redactor::new());
        let began = Instant::now();
        for _ in 0..2_000 {
            telemetry.around(turn()).await;
        }
        let worked = began.elapsed();
        let closing = Instant::now();
        telemetry.close().await;
        let closed = closing.elapsed();
        assert!(worked < Duration::from_secs(5), "{worked:?}");
        assert!(closed < Duration::from_secs(2), "{closed:?}");
    }
}

#[tokio::test]
async fn what_can_not_be_taken_now_is_sent_again() {
    let count = Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let seen = Arc::clone(&count);
    let collector = Collector::answering(move |_| {
        let is_first = seen.fetch_add(1, std::sync::atomic::Ordering::SeqCst) == 0;
        Answer::bytes(
            if is_first { 503 } else { 200 },
            "text/plain",
            "no protobuf",
        )
    });
    let collector = collector.unwrap();
    let telemetry = telemetry(&collector.endpoint(), all(), &Redactor::new());
    telemetry.around(turn()).await;
    let sent_twice = || async {
        while count.load(std::sync::atomic::Ordering::SeqCst) < 2 {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(SOON, sent_twice()).await.unwrap();
    telemetry.close().await;
    let asked = collector.asked();
    assert_eq!(asked[0].body, asked[1].body);
}
