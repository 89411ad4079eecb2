//! Who waits for a session in this process, in their order.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use tokio::sync::{Mutex as Turnstile, OwnedMutexGuard};

/// The place at the head of a queue.
pub(crate) type QueueHead = OwnedMutexGuard<()>;

/// A queue for each session that somebody uses or waits for.
#[derive(Default)]
pub(crate) struct Queues {
    queues: Mutex<HashMap<String, Weak<Turnstile<()>>>>,
}

impl Queues {
    /// The queue of a session. Those who wait get the place in the order in which they asked.
    pub(crate) fn of(&self, session: &str) -> Arc<Turnstile<()>> {
        let mut queues = self.queues.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(queue) = queues.get(session).and_then(Weak::upgrade) {
            return queue;
        }
        queues.retain(|_, queue| queue.strong_count() > 0);
        let queue = Arc::default();
        queues.insert(session.to_owned(), Arc::downgrade(&queue));
        queue
    }
}
