//! The way from a span that has ended to its export: a queue with an end, and a task that empties it.

use std::fmt;
use std::pin::pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use opentelemetry::Context;
use opentelemetry_sdk::error::OTelSdkResult;
use opentelemetry_sdk::trace::{Span, SpanData, SpanProcessor};
use tokio::sync::mpsc::{self, Receiver, Sender};
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep_until, timeout};
use tokio_util::sync::CancellationToken;

use super::export::Exporter;

/// How many spans may wait: about 4 MB at most.
const WAITING: usize = 2048;
/// How many are sent at once.
const BATCH: usize = 256;

/// Spans that wait to be exported.
pub(super) struct Queue {
    stop: CancellationToken,
    task: Mutex<Option<JoinHandle<()>>>,
}

/// Where spans go when they end. Nobody waits for room: what does not fit is counted and lost.
pub(super) struct Processor {
    sender: Sender<SpanData>,
    lost: Arc<AtomicU64>,
}

impl Queue {
    /// Begins to export what ends, in a task of this runtime.
    pub(super) fn start(exporter: Exporter, interval: Duration) -> (Self, Processor) {
        let (sender, receiver) = mpsc::channel(WAITING);
        let (stop, lost) = (CancellationToken::new(), Arc::<AtomicU64>::default());
        let emptying = Emptying {
            receiver,
            exporter,
            interval,
            stop: stop.clone(),
            lost: Arc::clone(&lost),
        };
        let task = tokio::spawn(emptying.run());
        let queue = Self {
            stop,
            task: Mutex::new(Some(task)),
        };
        (queue, Processor { sender, lost })
    }

    /// Exports what is left, and gives up on it after some time.
    pub(super) async fn close(&self, within: Duration) {
        self.stop.cancel();
        let task = self
            .task
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        let Some(mut task) = task else { return };
        if timeout(within, &mut task).await.is_err() {
            task.abort();
            tracing::debug!("some spans were not exported: the collector takes too long");
        }
    }
}

impl Drop for Queue {
    fn drop(&mut self) {
        let task = self.task.get_mut().unwrap_or_else(PoisonError::into_inner);
        if let Some(task) = task.take() {
            task.abort();
        }
    }
}

impl SpanProcessor for Processor {
    fn on_start(&self, _: &mut Span, _: &Context) {}

    fn on_end(&self, span: SpanData) {
        if self.sender.try_send(span).is_err() {
            self.lost.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn force_flush(&self) -> OTelSdkResult {
        Ok(())
    }

    fn shutdown_with_timeout(&self, _: Duration) -> OTelSdkResult {
        Ok(())
    }
}

impl fmt::Debug for Processor {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Processor")
    }
}

/// The task that empties the queue.
struct Emptying {
    receiver: Receiver<SpanData>,
    exporter: Exporter,
    interval: Duration,
    stop: CancellationToken,
    lost: Arc<AtomicU64>,
}

impl Emptying {
    async fn run(mut self) {
        let mut batch = Vec::new();
        while self.fill(&mut batch).await {
            self.hand_over(&mut batch).await;
        }
        self.receiver.close();
        loop {
            let room = BATCH.saturating_sub(batch.len());
            if room > 0 && self.receiver.recv_many(&mut batch, room).await > 0 {
                continue;
            }
            if batch.is_empty() {
                return;
            }
            self.hand_over(&mut batch).await;
        }
    }

    /// Waits until there is enough to be sent, or what there is has waited long enough; `false` when
    /// everything ends.
    async fn fill(&mut self, batch: &mut Vec<SpanData>) -> bool {
        let mut full = None;
        loop {
            let room = BATCH.saturating_sub(batch.len());
            if room == 0 {
                return true;
            }
            let waited = pin!(async move {
                match full {
                    Some(moment) => sleep_until(moment).await,
                    None => std::future::pending().await,
                }
            });
            tokio::select! {
                biased;
                () = self.stop.cancelled() => return false,
                () = waited => return true,
                count = self.receiver.recv_many(batch, room) => {
                    if count == 0 {
                        return false;
                    }
                    full.get_or_insert_with(|| Instant::now() + self.interval);
                }
            }
        }
    }

    async fn hand_over(&mut self, batch: &mut Vec<SpanData>) {
        let lost = self.lost.swap(0, Ordering::Relaxed);
        let batch = std::mem::take(batch);
        self.exporter.export(batch, lost, &self.stop).await;
    }
}
