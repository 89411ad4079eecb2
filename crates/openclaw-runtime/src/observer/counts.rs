//! What one server did, in numbers that anybody can add to at any time.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use openclaw_engine::{CallCounts, LATENCY_BOUNDS};
use openclaw_mcp::CallOutcome;

/// One class more than there are bounds: for what took longer than all.
const CLASSES: usize = LATENCY_BOUNDS.len() + 1;

/// What one server did.
#[derive(Default)]
pub(super) struct ServerCounts {
    ok: AtomicU64,
    tool_error: AtomicU64,
    not_done: AtomicU64,
    unknown: AtomicU64,
    denied: AtomicU64,
    rejected: AtomicU64,
    invalid_arguments: AtomicU64,
    cancelled: AtomicU64,
    latency: [AtomicU64; CLASSES],
    /// How long all calls took together, in microseconds.
    latency_sum: AtomicU64,
    restarts: AtomicU64,
}

impl ServerCounts {
    /// Counts a call that ended, and how long it took if the server was asked.
    pub(super) fn called(&self, outcome: CallOutcome, took: Option<Duration>) {
        add(self.of(outcome), 1);
        let Some(took) = took else {
            return;
        };
        let class = LATENCY_BOUNDS.partition_point(|bound| Duration::from_millis(*bound) < took);
        if let Some(class) = self.latency.get(class) {
            add(class, 1);
        }
        let took = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        add(&self.latency_sum, took);
    }

    pub(super) fn restarted(&self) {
        add(&self.restarts, 1);
    }

    pub(super) fn restarts(&self) -> u64 {
        self.restarts.load(Ordering::Relaxed)
    }

    pub(super) fn calls(&self) -> CallCounts {
        let count = |count: &AtomicU64| count.load(Ordering::Relaxed);
        CallCounts {
            ok: count(&self.ok),
            tool_error: count(&self.tool_error),
            not_done: count(&self.not_done),
            unknown: count(&self.unknown),
            denied: count(&self.denied),
            rejected: count(&self.rejected),
            invalid_arguments: count(&self.invalid_arguments),
            cancelled: count(&self.cancelled),
        }
    }

    /// How many calls are in each class, and how long all took together in milliseconds.
    pub(super) fn latency(&self) -> (Vec<u64>, f64) {
        let classes = self.latency.iter();
        let classes = classes.map(|class| class.load(Ordering::Relaxed));
        let sum = Duration::from_micros(self.latency_sum.load(Ordering::Relaxed));
        (classes.collect(), sum.as_secs_f64() * 1_000.0)
    }

    fn of(&self, outcome: CallOutcome) -> &AtomicU64 {
        match outcome {
            CallOutcome::Ok => &self.ok,
            CallOutcome::ToolError => &self.tool_error,
            CallOutcome::NotDone => &self.not_done,
            CallOutcome::Unknown => &self.unknown,
            CallOutcome::Denied => &self.denied,
            CallOutcome::Rejected => &self.rejected,
            CallOutcome::InvalidArguments => &self.invalid_arguments,
            CallOutcome::Cancelled => &self.cancelled,
        }
    }
}

/// Adds without an order: each number is looked at by itself.
fn add(count: &AtomicU64, more: u64) {
    count.fetch_add(more, Ordering::Relaxed);
}
