//! A collector of traces: takes OTLP over HTTP, and reads it with the types of its specification.

use std::collections::BTreeMap;
use std::io;
use std::time::Duration;

use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::any_value::Value as Any;
use opentelemetry_proto::tonic::common::v1::{AnyValue, KeyValue};
use opentelemetry_proto::tonic::trace::v1::Span;
use prost::Message as _;
use serde_json::{Value, json};

use crate::leaks::wait_until;
use crate::stand_in::{Answer, Asked, StandIn};

/// A collector that runs until this is dropped.
pub struct Collector(StandIn);

/// A span that was collected.
#[derive(Clone, Debug)]
pub struct Collected {
    /// What it is called.
    pub name: String,
    /// Its kind: 1 is internal, 3 is a client.
    pub kind: i32,
    /// The number of its trace, in hexadecimal.
    pub trace: String,
    /// Its own number.
    pub id: String,
    /// That of its parent; empty if it has none.
    pub parent: String,
    /// What is said about it.
    pub attributes: BTreeMap<String, Value>,
    /// 2 if it failed.
    pub status: i32,
    /// What is said about the failure.
    pub message: String,
    /// What is said about the program that it is of.
    pub resource: BTreeMap<String, Value>,
}

impl Collector {
    /// Takes everything.
    pub fn start() -> io::Result<Self> {
        Self::answering(|_| Answer::bytes(200, "application/x-protobuf", ""))
    }

    /// Answers what a test says.
    pub fn answering(
        respond: impl Fn(&Asked) -> Answer + Send + Sync + 'static,
    ) -> io::Result<Self> {
        StandIn::start(respond).map(Self)
    }

    /// Its address, as people write it.
    pub fn endpoint(&self) -> String {
        self.0.origin()
    }

    /// What it was sent so far.
    pub fn asked(&self) -> Vec<Asked> {
        self.0.asked()
    }

    /// The spans that it was sent so far.
    pub fn spans(&self) -> Vec<Collected> {
        self.asked()
            .iter()
            .flat_map(|asked| read(&asked.body))
            .collect()
    }

    /// Waits, blocking the thread, until it has a span like that; none if it has none in time.
    pub fn wait_for(
        &self,
        patience: Duration,
        like: impl Fn(&Collected) -> bool,
    ) -> Option<Collected> {
        let mut found = None;
        wait_until(patience, || {
            found = self.spans().into_iter().find(|span| like(span));
            found.is_some()
        });
        found
    }

    /// Whether a text is anywhere in what it was sent.
    pub fn has_seen(&self, text: &str) -> bool {
        let asked = self.asked();
        let bodies = asked.iter().map(|asked| &asked.body[..]);
        let contains = |body: &[u8]| {
            let mut windows = body.windows(text.len().max(1));
            windows.any(|window| window == text.as_bytes())
        };
        bodies.into_iter().any(contains)
    }
}

/// The spans of an export; none if it is no export.
fn read(body: &[u8]) -> Vec<Collected> {
    let request = ExportTraceServiceRequest::decode(body).unwrap_or_default();
    let mut spans = Vec::new();
    for of_resource in request.resource_spans {
        let resource = of_resource.resource.unwrap_or_default();
        let resource = attributes(resource.attributes);
        let scopes = of_resource.scope_spans.into_iter();
        let read = scopes.flat_map(|scope| scope.spans);
        spans.extend(read.map(|span| collected(span, resource.clone())));
    }
    spans
}

fn collected(span: Span, resource: BTreeMap<String, Value>) -> Collected {
    let status = span.status.unwrap_or_default();
    Collected {
        name: span.name,
        kind: span.kind,
        trace: hexadecimal(&span.trace_id),
        id: hexadecimal(&span.span_id),
        parent: hexadecimal(&span.parent_span_id),
        attributes: attributes(span.attributes),
        status: status.code,
        message: status.message,
        resource,
    }
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn attributes(attributes: Vec<KeyValue>) -> BTreeMap<String, Value> {
    let pairs = attributes.into_iter();
    pairs.map(|pair| (pair.key, value(pair.value))).collect()
}

fn value(value: Option<AnyValue>) -> Value {
    match value.and_then(|value| value.value) {
        Some(Any::StringValue(text)) => json!(text),
        Some(Any::IntValue(number)) => json!(number),
        Some(Any::BoolValue(is)) => json!(is),
        Some(Any::DoubleValue(number)) => json!(number),
        Some(Any::ArrayValue(array)) => array
            .values
            .into_iter()
            .map(|it| self::value(Some(it)))
            .collect(),
        _ => Value::Null,
    }
}
