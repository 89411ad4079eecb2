//! Messages that are posted without anybody waiting for it: answers and cancellations.
//!
//! A poster belongs to one session: what was to be answered in an old session must not answer
//! something in a new one.

use std::fmt::Display;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::Instant;

use crate::tasks::OwnedTask;
use crate::time::deadline;
use crate::traffic::Outbox;

/// How many messages may wait.
const WAITING: usize = 64;
/// How many are posted at once, so that one that the server holds does not hold up the others.
const AT_ONCE: usize = 8;
/// How long posting one may take.
const POST: Duration = Duration::from_secs(10);

/// Posts messages in a task of its own.
pub(crate) struct Poster {
    outbox: Arc<dyn Outbox>,
    _task: Option<OwnedTask>,
}

struct Queue(mpsc::Sender<Bytes>);

/// Where messages go when there is no session.
struct Nowhere;

impl Outbox for Nowhere {
    fn send_soon(&self, _: Bytes) -> bool {
        false
    }
}

impl Outbox for Queue {
    fn send_soon(&self, message: Bytes) -> bool {
        self.0.try_send(message).is_ok()
    }
}

impl Poster {
    /// Posts with `post`, within the deadline that it gets.
    pub(crate) fn new<F, E>(
        server: Arc<str>,
        post: impl Fn(Bytes, Instant) -> F + Send + 'static,
    ) -> Self
    where
        F: Future<Output = Result<(), E>> + Send + 'static,
        E: Display + Send,
    {
        let (sender, mut waiting) = mpsc::channel(WAITING);
        let task = OwnedTask::spawn(async move {
            let mut posting = JoinSet::new();
            while let Some(message) = waiting.recv().await {
                while posting.try_join_next().is_some() {}
                if posting.len() >= AT_ONCE {
                    posting.join_next().await;
                }
                let (server, sending) = (server.clone(), post(message, deadline(POST)));
                posting.spawn(async move {
                    if let Err(error) = sending.await {
                        tracing::debug!(%server, "a message was not sent: {error}");
                    }
                });
            }
        });
        Self {
            outbox: Arc::new(Queue(sender)),
            _task: Some(task),
        }
    }

    /// One that posts nothing.
    pub(crate) fn none() -> Self {
        Self {
            outbox: Arc::new(Nowhere),
            _task: None,
        }
    }

    /// Where messages are put.
    pub(crate) fn outbox(&self) -> &Arc<dyn Outbox> {
        &self.outbox
    }
}
