//! Ways to the client.

use std::sync::Arc;

use tokio::sync::{mpsc, watch};

use super::lock;

/// A message as it goes out.
#[derive(Clone, Debug, Default)]
pub(crate) struct Frame {
    pub(crate) bytes: Vec<u8>,
    /// The method of the request, if this answers one.
    pub(crate) reply_to: Option<String>,
    /// The code of the error, if this is one.
    pub(crate) error: Option<i64>,
}

impl Frame {
    pub(crate) fn message(value: &serde_json::Value) -> Self {
        Self {
            bytes: value.to_string().into_bytes(),
            ..Self::default()
        }
    }

    /// Tells the one who writes that nothing follows.
    pub(crate) fn last() -> Self {
        Self::default()
    }

    pub(crate) fn is_last(&self) -> bool {
        self.bytes.is_empty()
    }
}

/// A way to the client.
#[derive(Clone, Debug)]
pub(crate) enum Outlet {
    /// The lines of standard output.
    Lines(mpsc::Sender<Frame>),
    /// A stream of events, which somebody may or may not be reading.
    Events(Arc<EventStream>),
    /// There is none.
    Nowhere,
}

impl Outlet {
    /// Sends; false means that it is known that nobody will read it.
    pub(crate) async fn send(&self, frame: Frame) -> bool {
        match self {
            Self::Lines(sender) => sender.send(frame).await.is_ok(),
            Self::Events(stream) => stream.push(frame),
            Self::Nowhere => false,
        }
    }
}

/// Messages in the order in which they were sent, kept so that they can be sent again.
#[derive(Debug)]
pub(crate) struct EventStream {
    /// Its number, unique in a run: the first half of event ids.
    pub(crate) number: u64,
    log: std::sync::Mutex<Log>,
    changed: watch::Sender<()>,
}

#[derive(Debug, Default)]
struct Log {
    frames: Vec<Frame>,
    finished: bool,
    /// How many somebody has taken.
    taken: usize,
}

impl EventStream {
    pub(crate) fn new(number: u64) -> Arc<Self> {
        Arc::new(Self {
            number,
            log: std::sync::Mutex::default(),
            changed: watch::Sender::new(()),
        })
    }

    fn push(&self, frame: Frame) -> bool {
        let mut log = lock(&self.log);
        if log.finished {
            return false;
        }
        log.frames.push(frame);
        drop(log);
        self.changed.send_replace(());
        true
    }

    /// Nothing follows.
    pub(crate) fn finish(&self) {
        lock(&self.log).finished = true;
        self.changed.send_replace(());
    }

    /// How many messages somebody has taken already.
    pub(crate) fn taken(&self) -> usize {
        lock(&self.log).taken
    }

    /// Waits for the message at a position; none if the stream ended before.
    pub(crate) async fn next(&self, position: usize) -> Option<Frame> {
        let mut changed = self.changed.subscribe();
        loop {
            {
                let mut log = lock(&self.log);
                if let Some(frame) = log.frames.get(position).cloned() {
                    log.taken = log.taken.max(position + 1);
                    return Some(frame);
                }
                if log.finished {
                    return None;
                }
            }
            if changed.changed().await.is_err() {
                return None;
            }
        }
    }
}
