//! Spans that somebody collects.

mod export;
mod queue;
mod span;

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context as TaskContext, Poll};
use std::time::Duration;

use openclaw_secrets::Redactor;
use opentelemetry::trace::{
    SpanContext, SpanId, TraceContextExt as _, TraceFlags, TraceId, TraceState, TracerProvider as _,
};
use opentelemetry::{Context, InstrumentationScope};
use opentelemetry_sdk::trace::{Sampler as SdkSampler, SdkTracer, SdkTracerProvider, SpanLimits};
use pin_project_lite::pin_project;

use self::export::Exporter;
use self::queue::Queue;
pub(crate) use self::span::{Kind, RawSpan, Writer};
use crate::context::TraceContext;
use crate::settings::{HeaderSource, Sampler, Settings};

/// How long what is left may take to be exported when everything ends.
const CLOSING: Duration = Duration::from_secs(1);

/// Where spans go. Whoever is polled within [`Telemetry::around`] makes some.
#[derive(Clone, Default)]
pub struct Telemetry(Option<Arc<Running>>);

struct Running {
    active: Active,
    queue: Queue,
    /// Spans go nowhere when it is dropped.
    _provider: SdkTracerProvider,
}

/// What makes spans, where a task is polled that makes some.
#[derive(Clone)]
pub(crate) struct Active(Arc<Maker>);

struct Maker {
    tracer: SdkTracer,
    redactor: Redactor,
}

impl Telemetry {
    /// Exports nothing.
    pub fn off() -> Self {
        Self::default()
    }

    /// Exports spans from now on, in a task of the runtime that this is called in. Everything that goes
    /// into a span passes the redactor.
    pub fn start(settings: Settings, headers: HeaderSource, redactor: Redactor) -> Self {
        let (interval, sampler) = (settings.interval, settings.sampler);
        let exporter = Exporter::new(settings, headers, redactor.clone());
        let (queue, processor) = Queue::start(exporter, interval);
        // What the library reads from variables of the process is set here in any case.
        let provider = SdkTracerProvider::builder()
            .with_span_limits(SpanLimits::default())
            .with_sampler(sdk_sampler(sampler))
            .with_span_processor(processor)
            .build();
        let scope = InstrumentationScope::builder("openclaw")
            .with_version(env!("CARGO_PKG_VERSION"))
            .build();
        let tracer = provider.tracer_with_scope(scope);
        Self(Some(Arc::new(Running {
            active: Active(Arc::new(Maker { tracer, redactor })),
            queue,
            _provider: provider,
        })))
    }

    /// Whether spans are made.
    pub fn is_on(&self) -> bool {
        self.0.is_some()
    }

    /// Makes spans of what happens in a future. Where the task belongs to a trace of another program, they
    /// belong to it as well.
    pub fn around<F: Future>(&self, inner: F) -> Traced<F> {
        Traced {
            inner,
            context: None,
            active: self.0.as_ref().map(|running| running.active.clone()),
        }
    }

    /// Exports what is left, as far as that takes no longer than a moment. Spans that end later go nowhere.
    pub async fn close(&self) {
        if let Some(running) = &self.0 {
            running.queue.close(CLOSING).await;
        }
    }
}

impl fmt::Debug for Telemetry {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_tuple("Telemetry")
            .field(&self.is_on())
            .finish()
    }
}

fn sdk_sampler(sampler: Sampler) -> SdkSampler {
    let root = match sampler {
        Sampler::All { .. } => SdkSampler::AlwaysOn,
        Sampler::None { .. } => SdkSampler::AlwaysOff,
        Sampler::Share { share, .. } => SdkSampler::TraceIdRatioBased(share),
    };
    if sampler.follows_parent() {
        SdkSampler::ParentBased(Box::new(root))
    } else {
        root
    }
}

pin_project! {
    /// A future that is part of a trace, whichever task and thread it is polled by.
    pub struct Traced<F> {
        #[pin]
        inner: F,
        context: Option<Context>,
        // What makes spans in it, until it is polled for the first time: only then is it known which trace
        // it is part of.
        active: Option<Active>,
    }
}

impl<F: Future> Future for Traced<F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, task: &mut TaskContext<'_>) -> Poll<Self::Output> {
        let this = self.project();
        if let Some(active) = this.active.take() {
            *this.context = Some(Context::map_current(|context| context.with_value(active)));
        }
        let _attached = this.context.as_ref().map(|it| it.clone().attach());
        this.inner.poll(task)
    }
}

/// A future that belongs to the trace of another program, where there is one.
pub fn within<F: Future>(trace: Option<TraceContext>, inner: F) -> Traced<F> {
    let context = trace.map(|trace| {
        let remote = SpanContext::from(&trace);
        Context::map_current(|context| context.with_remote_span_context(remote))
    });
    Traced {
        inner,
        context,
        active: None,
    }
}

impl TraceContext {
    /// What the task that is polled now belongs to, for another program that is told of it.
    pub fn current() -> Option<Self> {
        Context::map_current(|context| {
            let is_there = context.has_active_span();
            is_there.then(|| Self::of(context.span().span_context()))?
        })
    }

    pub(crate) fn of(context: &SpanContext) -> Option<Self> {
        context.is_valid().then(|| {
            Self::new(
                u128::from_be_bytes(context.trace_id().to_bytes()),
                u64::from_be_bytes(context.span_id().to_bytes()),
                context.is_sampled(),
                context.trace_state().header(),
            )
        })
    }
}

impl From<&TraceContext> for SpanContext {
    fn from(trace: &TraceContext) -> Self {
        let state = trace.tracestate().map(str::parse::<TraceState>);
        Self::new(
            TraceId::from_bytes(trace.trace().to_be_bytes()),
            SpanId::from_bytes(trace.span().to_be_bytes()),
            TraceFlags::default().with_sampled(trace.is_sampled()),
            true,
            // One that is not as it should be is left out.
            state.and_then(Result::ok).unwrap_or_default(),
        )
    }
}

#[cfg(test)]
mod tests;
