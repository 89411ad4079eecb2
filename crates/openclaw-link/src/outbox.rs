//! What waits to be written for one peer, within bounds.

use std::collections::VecDeque;
use std::fs::File;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::Serialize;
use thiserror::Error;
use tokio::sync::Notify;
use tokio::time::{Duration, Instant};

use crate::frames::{HEADER, LONGEST_FRAME};

/// How long a peer for whom much waits may read nothing.
const PATIENCE: Duration = Duration::from_secs(2);
/// How often the limit may be exceeded for one that reads: what is told at once, such as the images of a
/// result, is no sign that it does not.
const BURST: usize = 4;

/// How much may wait of what is offered: whoever reads slowly would rather miss some of it than have his answers
/// stand behind all of it, and memory is for what must not be missed.
const OFFERED: usize = 256 << 10;

/// How messages are told apart where they are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Framing {
    /// By a length before each.
    Length,
    /// By whatever carries them.
    Bare,
}

/// Why a message was not taken.
#[derive(Debug, Error)]
pub(crate) enum NotTaken {
    /// Nobody reads any longer.
    #[error("the link is closed")]
    Closed,
    /// It has more bytes than a message may have.
    #[error("it has {length} bytes, and {longest} is the most")]
    TooLong {
        /// How many it has.
        length: usize,
        /// How many it may have.
        longest: usize,
    },
    /// It can't be written as JSON.
    #[error("it can't be written as JSON: {0}")]
    Unwritable(serde_json::Error),
}

/// A message as it is written.
pub(crate) struct Outgoing {
    /// Its bytes, with their length before them where there is one.
    pub(crate) bytes: Vec<u8>,
    /// Whose descriptors travel with it.
    pub(crate) files: Vec<Arc<File>>,
    /// How much it counts.
    size: usize,
    /// Whether whoever sends it could have waited.
    patient: bool,
}

/// What waits to be written for one peer.
///
/// Those who can't wait [`tell`](Outbox::tell): if too much waits already, and nothing of it is read, the
/// peer is cut off. Those who can wait for [`room`](Outbox::room) before they [`send`](Outbox::send).
/// The two are counted apart, so that a long answer to one question never costs another its events.
pub(crate) struct Outbox {
    waiting: Mutex<Waiting>,
    /// Something is there for whoever writes, or it is over.
    stirred: Notify,
    /// Something was written, or it is over.
    freed: Notify,
    framing: Framing,
    limit: usize,
    longest: usize,
}

#[derive(Default)]
struct Waiting {
    queue: VecDeque<Outgoing>,
    told: usize,
    sent: usize,
    /// Since when something waits and nothing was written.
    since: Option<Instant>,
    /// Nothing more is taken; what waits is still written.
    finished: bool,
    /// Nothing more is taken or written.
    cut: bool,
}

impl Outbox {
    /// An empty one that holds about `limit` bytes of each kind, in messages of at most `longest` bytes.
    pub(crate) fn new(framing: Framing, limit: usize, longest: usize) -> Self {
        Self {
            waiting: Mutex::default(),
            stirred: Notify::new(),
            freed: Notify::new(),
            framing,
            limit,
            longest: longest.min(LONGEST_FRAME),
        }
    }

    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Has a message written. A peer for whom too much waits is cut off.
    pub(crate) fn tell(&self, message: &impl Serialize) -> Result<(), NotTaken> {
        let bytes = self.encode(message)?;
        let mut waiting = self.waiting();
        let wanted = waiting.told + bytes.len();
        let stands_still = waiting.since.is_some_and(|it| it.elapsed() >= PATIENCE);
        let too_much = wanted > self.limit && (stands_still || wanted > self.limit * BURST);
        if waiting.told > 0 && too_much {
            drop(waiting);
            tracing::warn!(
                limit = self.limit,
                "a peer does not read what it is told and is cut off"
            );
            self.cut();
            return Err(NotTaken::Closed);
        }
        waiting.told += bytes.len();
        self.push(waiting, bytes, Vec::new(), false)
    }

    /// Has a message written if not much waits; whether it was taken.
    pub(crate) fn offer(&self, message: &impl Serialize) -> Result<bool, NotTaken> {
        let bytes = self.encode(message)?;
        let mut waiting = self.waiting();
        if waiting.told + bytes.len() > self.offered() {
            return Ok(false);
        }
        waiting.told += bytes.len();
        self.push(waiting, bytes, Vec::new(), false)?;
        Ok(true)
    }

    /// Has a message written, whatever waits. Whoever sends it has waited for [`Outbox::room`].
    pub(crate) fn send(
        &self,
        message: &impl Serialize,
        files: Vec<Arc<File>>,
    ) -> Result<(), NotTaken> {
        let bytes = self.encode(message)?;
        let mut waiting = self.waiting();
        waiting.sent += bytes.len();
        self.push(waiting, bytes, files, true)
    }

    /// Waits until something can be sent, or nothing can any longer.
    pub(crate) async fn room(&self) {
        self.freed_until(|waiting| waiting.sent < self.limit).await;
    }

    /// Waits until something can be offered, or nothing can any longer.
    pub(crate) async fn calm(&self) {
        self.freed_until(|waiting| waiting.told < self.offered() / 2)
            .await;
    }

    /// How much may wait of what is offered. Half of the room at least stays for what must be told.
    fn offered(&self) -> usize {
        OFFERED.min(self.limit / 2)
    }

    async fn freed_until(&self, is_enough: impl Fn(&Waiting) -> bool) {
        loop {
            let freed = self.freed.notified();
            {
                let waiting = self.waiting();
                if is_enough(&waiting) || waiting.cut || waiting.finished {
                    return;
                }
            }
            freed.await;
        }
    }

    /// The next message to be written; none when nothing more comes.
    pub(crate) async fn next(&self) -> Option<Outgoing> {
        loop {
            let stirred = self.stirred.notified();
            {
                let mut waiting = self.waiting();
                if let Some(message) = waiting.queue.pop_front() {
                    return Some(message);
                }
                if waiting.cut || waiting.finished {
                    return None;
                }
            }
            stirred.await;
        }
    }

    /// Takes note that a message was written. Until then it counts.
    pub(crate) fn written(&self, message: &Outgoing) {
        let mut waiting = self.waiting();
        let kind = if message.patient {
            &mut waiting.sent
        } else {
            &mut waiting.told
        };
        *kind = kind.saturating_sub(message.size);
        let is_empty = waiting.told == 0 && waiting.sent == 0;
        waiting.since = (!is_empty).then(Instant::now);
        drop(waiting);
        self.freed.notify_waiters();
    }

    /// Takes nothing more; what waits is still written.
    pub(crate) fn finish(&self) {
        self.waiting().finished = true;
        self.stirred.notify_waiters();
        self.freed.notify_waiters();
    }

    /// Takes nothing more and forgets what waits.
    pub(crate) fn cut(&self) {
        let mut waiting = self.waiting();
        waiting.cut = true;
        let forgotten = std::mem::take(&mut waiting.queue);
        drop(waiting);
        drop(forgotten);
        self.stirred.notify_waiters();
        self.freed.notify_waiters();
    }

    /// Waits until the peer is cut off.
    pub(crate) async fn until_cut(&self) {
        loop {
            let stirred = self.stirred.notified();
            if self.waiting().cut {
                return;
            }
            stirred.await;
        }
    }

    fn push(
        &self,
        mut waiting: MutexGuard<'_, Waiting>,
        bytes: Vec<u8>,
        files: Vec<Arc<File>>,
        patient: bool,
    ) -> Result<(), NotTaken> {
        if waiting.cut || waiting.finished {
            return Err(NotTaken::Closed);
        }
        waiting.since.get_or_insert_with(Instant::now);
        waiting.queue.push_back(Outgoing {
            size: bytes.len(),
            bytes,
            files,
            patient,
        });
        drop(waiting);
        self.stirred.notify_waiters();
        Ok(())
    }

    /// Writes a message straight into what is sent, unless nobody reads it.
    fn encode(&self, message: &impl Serialize) -> Result<Vec<u8>, NotTaken> {
        {
            let waiting = self.waiting();
            if waiting.cut || waiting.finished {
                return Err(NotTaken::Closed);
            }
        }
        encode(self.framing, self.longest, message)
    }
}

/// A message as it is written.
pub(crate) fn encode(
    framing: Framing,
    longest: usize,
    message: &impl Serialize,
) -> Result<Vec<u8>, NotTaken> {
    let header = match framing {
        Framing::Length => HEADER,
        Framing::Bare => 0,
    };
    let mut bytes = vec![0; header];
    serde_json::to_writer(&mut bytes, message).map_err(NotTaken::Unwritable)?;
    let length = bytes.len() - header;
    let announced = u32::try_from(length).ok();
    let announced = announced.filter(|_| length <= longest);
    let announced = announced.ok_or(NotTaken::TooLong { length, longest })?;
    if framing == Framing::Length {
        bytes[..HEADER].copy_from_slice(&announced.to_be_bytes());
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests;
