//! Messages that are posted without anybody waiting for it: answers and cancellations.

use std::sync::Arc;

use bytes::Bytes;
use tokio::sync::mpsc;

use super::tasks::OwnedTask;
use crate::traffic::Outbox;

/// How many messages may wait.
const WAITING: usize = 64;

/// Posts messages one after the other, in a task of its own.
pub(crate) struct Poster {
    outbox: Arc<dyn Outbox>,
    _task: OwnedTask,
}

struct Queue(mpsc::Sender<Bytes>);

impl Outbox for Queue {
    fn send_soon(&self, message: Bytes) -> bool {
        self.0.try_send(message).is_ok()
    }
}

impl Poster {
    /// Posts with `post`, which brings its own deadline.
    pub(crate) fn new<F>(post: impl Fn(Bytes) -> F + Send + 'static) -> Self
    where
        F: Future<Output = ()> + Send,
    {
        let (sender, mut waiting) = mpsc::channel(WAITING);
        let task = OwnedTask::spawn(async move {
            while let Some(message) = waiting.recv().await {
                post(message).await;
            }
        });
        Self {
            outbox: Arc::new(Queue(sender)),
            _task: task,
        }
    }

    /// Where messages are put.
    pub(crate) fn outbox(&self) -> &Arc<dyn Outbox> {
        &self.outbox
    }
}
