//! No traces: everything here is empty, and the compiler leaves it out.

use std::future::Future;
use std::marker::PhantomData;

use openclaw_secrets::Redactor;

use crate::context::TraceContext;
use crate::settings::{HeaderSource, Settings};

/// Where spans go: nowhere.
#[derive(Clone, Debug, Default)]
pub struct Telemetry;

impl Telemetry {
    /// Exports nothing.
    pub fn off() -> Self {
        Self
    }

    /// Exports nothing, and says so.
    pub fn start(_: Settings, _: HeaderSource, _: Redactor) -> Self {
        tracing::warn!("traces are not exported: this program was built without OpenTelemetry");
        Self
    }

    /// Whether spans are made.
    pub fn is_on(&self) -> bool {
        false
    }

    /// The future itself.
    pub fn around<F: Future>(&self, future: F) -> Traced<F> {
        future
    }

    /// Does nothing.
    pub fn close(&self) -> impl Future<Output = ()> + use<> {
        std::future::ready(())
    }
}

/// A future that is part of no trace.
pub type Traced<F> = F;

/// The future itself.
pub fn within<F: Future>(_: Option<TraceContext>, future: F) -> Traced<F> {
    future
}

impl TraceContext {
    /// There is no trace.
    pub fn current() -> Option<Self> {
        None
    }
}

/// What a span is to its callers.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Kind {
    Internal,
    Client,
}

/// No span.
#[derive(Debug)]
pub(crate) struct RawSpan;

#[expect(clippy::unused_self, reason = "the other implementation needs it")]
impl RawSpan {
    pub(crate) fn start(_: Kind, _: &'static str) -> Self {
        Self
    }

    pub(crate) fn describe(&self, _: impl FnOnce(&mut Writer<'_>)) {}

    pub(crate) fn around<F: Future>(&self, future: F) -> Traced<F> {
        future
    }

    pub(crate) fn context(&self) -> Option<TraceContext> {
        None
    }

    pub(crate) fn end(&mut self, _: impl FnOnce(&mut Writer<'_>)) {}
}

/// What describes a span; there is none.
pub(crate) struct Writer<'a>(PhantomData<&'a ()>);

#[expect(clippy::unused_self, reason = "the other implementation needs it")]
impl Writer<'_> {
    pub(crate) fn name(&mut self, _: &'static str, _: &str) {}

    pub(crate) fn text(&mut self, _: &'static str, _: &str) {}

    pub(crate) fn word(&mut self, _: &'static str, _: &'static str) {}

    pub(crate) fn words(&mut self, _: &'static str, _: &'static [&'static str]) {}

    pub(crate) fn number(&mut self, _: &'static str, _: u64) {}

    pub(crate) fn failed(&mut self, _: &'static str) {}

    pub(crate) fn failed_with(&mut self, _: &str) {}
}
