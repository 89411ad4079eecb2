//! Who wants to know what happens, on the other side of the link.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use openclaw_engine::{EngineEvent, Watcher};
use tokio::sync::Notify;

use super::Put;
use crate::messages::Answering;
use crate::outbox::{NotTaken, Outbox};

/// A watcher behind a peer. What does not fit is counted, and told as soon as there is room.
pub(super) struct DistantWatcher {
    id: u64,
    outbox: Arc<Outbox>,
    missed: AtomicU64,
    misses: Notify,
}

impl DistantWatcher {
    pub(super) fn new(put: &Put<'_>) -> Self {
        Self {
            id: put.reporter.ticket.id,
            outbox: Arc::clone(&put.reporter.outbox),
            missed: AtomicU64::new(0),
            misses: Notify::new(),
        }
    }

    fn offer(&self, event: &EngineEvent) -> bool {
        let id = self.id;
        match self.outbox.offer(&Answering::Event { id, event }) {
            Ok(taken) => taken,
            // Nobody is there any longer.
            Err(NotTaken::Closed) => true,
            Err(NotTaken::TooLong { .. } | NotTaken::Unwritable(_)) => false,
        }
    }

    fn miss(&self, count: u64) {
        self.missed.fetch_add(count, Ordering::Relaxed);
        self.misses.notify_one();
    }

    /// Tells how much was missed, whenever that is possible again.
    pub(super) async fn tell_missed(&self) {
        loop {
            self.misses.notified().await;
            self.outbox.calm().await;
            let count = self.missed.swap(0, Ordering::Relaxed);
            if count > 0 && !self.offer(&EngineEvent::Missed { count }) {
                self.miss(count);
            }
        }
    }
}

impl Watcher for DistantWatcher {
    fn hear(&self, event: EngineEvent) {
        // What was missed before is told first.
        if self.missed.load(Ordering::Relaxed) > 0 || !self.offer(&event) {
            self.miss(match event {
                EngineEvent::Missed { count } => count,
                _ => 1,
            });
        }
    }
}
