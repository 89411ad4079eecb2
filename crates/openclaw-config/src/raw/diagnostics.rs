//! What is told to those who watch over many programs.

use serde_json::{Value as Json, json};

use crate::raw::address::Address;
use crate::raw::variables::HeaderMap;
use crate::report::Kind;
use crate::shape::{Context, Definitions, Milliseconds, NonEmpty, Shape, choices, object};
use crate::tree::{Node, Number, Value};

choices! {
    /// How a collector is spoken to.
    pub(crate) enum OtelProtocol {
        /// OTLP over HTTP, with protobuf.
        HttpProtobuf = "http/protobuf",
    }
}

object! {
    /// What is told to those who watch over many programs.
    open RawDiagnostics as "diagnostics" {
        /// Whether anything of it is told.
        enabled: bool = "enabled", default true;
        /// Traces for a collector of OpenTelemetry.
        otel: RawOtel = "otel";
    }
}

object! {
    /// Traces for a collector of OpenTelemetry. The variables of its specification
    /// (`OTEL_EXPORTER_OTLP_ENDPOINT` and the others) win over these settings. What changes here holds
    /// from the next start on.
    open RawOtel as "otel" {
        /// Whether anything is exported.
        enabled: bool = "enabled", default false;
        /// The collector's address; `/v1/traces` is added where it is missing.
        endpoint: Address = "endpoint", default "http://localhost:4318";
        /// How the collector is spoken to.
        protocol: OtelProtocol = "protocol", default "http/protobuf";
        /// HTTP headers for every export, such as a key. They go to `endpoint` alone, not to an address
        /// that a variable names.
        headers: HeaderMap = "headers";
        /// What this program is called in traces.
        service_name: NonEmpty = "serviceName", default "openclaw";
        /// Whether traces are exported.
        traces: bool = "traces", default true;
        /// Has no effect: metrics are served by the gateway, at `/metrics`.
        metrics: bool = "metrics";
        /// Has no effect: logs are files of the state directory.
        logs: bool = "logs";
        /// How many of the traces that begin here are recorded, from 0 to 1.
        sample_rate: Share = "sampleRate", default 1;
        /// How long spans wait for others to be sent with, in milliseconds.
        flush_interval: Milliseconds = "flushIntervalMs", default 5000;
    }
}

/// A part of a whole, from 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Share(pub(crate) f64);

impl Shape for Share {
    fn decode(node: &Node, context: &mut Context<'_>) -> Option<Self> {
        let Value::Number(Number { value, .. }) = node.value else {
            context.wrong_type(node, "a number");
            return None;
        };
        if !(0.0..=1.0).contains(&value) {
            context.error(Kind::Value, node.span, "expected a number from 0 to 1");
            return None;
        }
        Some(Self(value))
    }

    fn schema(_: &mut Definitions) -> Json {
        json!({ "type": "number", "minimum": 0, "maximum": 1 })
    }
}
