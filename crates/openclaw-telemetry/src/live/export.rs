//! Spans on their way to a collector: OTLP over HTTP, with protobuf.

use std::time::Duration;

use bytes::Bytes;
use http::header::{CONTENT_TYPE, RETRY_AFTER};
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, StatusCode};
use openclaw_http::{Http, HttpSettings, is_this_machine};
use openclaw_secrets::Redactor;
use opentelemetry::KeyValue;
use opentelemetry_proto::tonic::collector::trace::v1::{
    ExportTraceServiceRequest, ExportTraceServiceResponse,
};
use opentelemetry_proto::transform::common::tonic::ResourceAttributesWithSchema;
use opentelemetry_proto::transform::trace::tonic::group_spans_by_resource_and_scope;
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::trace::SpanData;
use prost::Message as _;
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;
use url::Url;

use super::span::told;
use crate::settings::{HeaderSource, Settings};

/// How large an answer may be: it says which spans were not taken, and why.
const ANSWER: usize = 64 * 1024;
/// How often a batch is sent at most, where the collector may take it later.
const ATTEMPTS: u32 = 4;
/// How long it is waited before a batch is sent once more, the first time; twice as long each time after.
const PAUSE: Duration = Duration::from_secs(1);
/// The longest time that a collector may ask us to wait.
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

/// What sends spans to a collector.
pub(super) struct Exporter {
    http: Http,
    endpoint: Url,
    timeout: Duration,
    source: HeaderSource,
    /// The headers, once they are known.
    headers: Option<HeaderMap>,
    resource: ResourceAttributesWithSchema,
    redactor: Redactor,
    /// Whether the last export failed: that is said once, not every few seconds.
    is_failing: bool,
    /// How many spans were lost since the last ones were taken.
    lost: u64,
}

/// Why spans were not taken.
struct Refused {
    reason: String,
    /// How long it is waited before they are sent once more, where that may help.
    again: Option<Duration>,
}

impl Exporter {
    pub(super) fn new(settings: Settings, source: HeaderSource, redactor: Redactor) -> Self {
        let http = Http::new(HttpSettings {
            largest_answer: ANSWER,
            // Who names an address without TLS means one nearby, and was warned.
            is_near: |url| url.scheme() == "http" || is_this_machine(url),
            ..HttpSettings::default()
        });
        Self {
            http,
            timeout: settings.timeout,
            source,
            headers: None,
            resource: resource(&settings, &redactor),
            endpoint: settings.endpoint,
            redactor,
            is_failing: false,
            lost: 0,
        }
    }

    /// Sends spans, as often as it takes within limits. Never fails: nobody could do anything about it.
    pub(super) async fn export(
        &mut self,
        batch: Vec<SpanData>,
        lost: u64,
        stop: &CancellationToken,
    ) {
        let count = batch.len();
        self.lost += lost;
        let body = self.written(batch);
        let mut pause = PAUSE;
        for attempt in 1..=ATTEMPTS {
            let refused = match timeout(self.timeout, self.send(body.clone())).await {
                Ok(Ok(())) => {
                    self.tell_taken();
                    return;
                }
                Ok(Err(refused)) => refused,
                Err(_) => Refused {
                    reason: format!("no answer within {} s", self.timeout.as_secs_f64()),
                    again: Some(Duration::ZERO),
                },
            };
            let is_over = attempt == ATTEMPTS || stop.is_cancelled();
            self.tell_refused(&refused.reason);
            let Some(asked) = refused.again.filter(|_| !is_over) else {
                tracing::debug!(count, "spans are lost: {}", refused.reason);
                self.lost += count as u64;
                return;
            };
            tokio::select! {
                () = sleep(pause.max(asked.min(LONGEST_PAUSE))) => pause *= 2,
                () = stop.cancelled() => {}
            }
        }
    }

    fn written(&self, batch: Vec<SpanData>) -> Bytes {
        let request = ExportTraceServiceRequest {
            resource_spans: group_spans_by_resource_and_scope(batch, &self.resource),
        };
        request.encode_to_vec().into()
    }

    async fn send(&mut self, body: Bytes) -> Result<(), Refused> {
        let headers = self.known_headers().await?;
        let mut request = Request::new(body);
        *request.method_mut() = Method::POST;
        *request.uri_mut() = match self.endpoint.as_str().parse() {
            Ok(uri) => uri,
            Err(_) => return Err(Refused::for_good("its address can't be used".to_owned())),
        };
        *request.headers_mut() = headers;
        let protobuf = HeaderValue::from_static("application/x-protobuf");
        request.headers_mut().insert(CONTENT_TYPE, protobuf);
        let answer = self.http.send(request).await.map_err(|error| Refused {
            again: error.is_passing().then_some(Duration::ZERO),
            reason: error.to_string(),
        })?;
        let status = answer.status();
        if status.is_success() {
            return look_at(answer.body());
        }
        // OTLP §failures: these alone may be different the next time.
        let is_passing = matches!(
            status,
            StatusCode::TOO_MANY_REQUESTS
                | StatusCode::BAD_GATEWAY
                | StatusCode::SERVICE_UNAVAILABLE
                | StatusCode::GATEWAY_TIMEOUT
        );
        let asked = answer.headers().get(RETRY_AFTER);
        let asked = asked.and_then(|it| it.to_str().ok()?.parse().ok());
        Err(Refused {
            reason: format!("it answered {status}"),
            again: is_passing.then(|| asked.map_or(Duration::ZERO, Duration::from_secs)),
        })
    }

    /// The headers that go with every request, got from their stores when they are first needed.
    async fn known_headers(&mut self) -> Result<HeaderMap, Refused> {
        if let Some(headers) = &self.headers {
            return Ok(headers.clone());
        }
        let given = (self.source)().await.map_err(Refused::for_good)?;
        let mut headers = HeaderMap::new();
        for (name, secret) in given {
            let value = HeaderValue::from_str(secret.expose());
            let (Ok(key), Ok(mut value)) = (HeaderName::try_from(&*name), value) else {
                return Err(Refused::for_good(format!(
                    "the header `{name}` can't be sent"
                )));
            };
            value.set_sensitive(true);
            headers.insert(key, value);
        }
        self.headers = Some(headers.clone());
        Ok(headers)
    }

    fn tell_taken(&mut self) {
        if std::mem::take(&mut self.is_failing) {
            tracing::info!("traces are exported again");
        }
        let lost = std::mem::take(&mut self.lost);
        if lost > 0 {
            tracing::warn!(
                lost,
                "spans were lost: the collector did not take them in time"
            );
        }
    }

    fn tell_refused(&mut self, reason: &str) {
        if !std::mem::replace(&mut self.is_failing, true) {
            let address = self.endpoint.origin().ascii_serialization();
            let reason = self.redactor.redact(reason);
            tracing::warn!("traces can't be exported to {address}: {reason}");
        }
    }
}

impl Refused {
    fn for_good(reason: String) -> Self {
        Self {
            reason,
            again: None,
        }
    }
}

/// Some spans may not have been taken. Whatever else an answer says is of no interest.
fn look_at(body: &Bytes) -> Result<(), Refused> {
    let answer = ExportTraceServiceResponse::decode(body.clone()).unwrap_or_default();
    match answer.partial_success {
        Some(partial) if partial.rejected_spans > 0 => {
            let count = partial.rejected_spans;
            Err(Refused::for_good(format!("it did not take {count} spans")))
        }
        Some(_) | None => Ok(()),
    }
}

/// What is said about this program with every batch.
fn resource(settings: &Settings, redactor: &Redactor) -> ResourceAttributesWithSchema {
    let own = [
        KeyValue::new("service.version", env!("CARGO_PKG_VERSION")),
        KeyValue::new("process.pid", i64::from(std::process::id())),
        KeyValue::new("telemetry.sdk.language", "rust"),
        KeyValue::new("telemetry.sdk.name", "opentelemetry"),
    ];
    let given = settings.resource.iter();
    let text = |text: &str| told(text, redactor).into_owned();
    let given = given.map(|(name, value)| KeyValue::new(text(name), text(value)));
    let service = KeyValue::new("service.name", text(&settings.service));
    let resource = Resource::builder_empty()
        .with_attributes(own)
        .with_attributes(given)
        .with_attribute(service)
        .build();
    (&resource).into()
}
