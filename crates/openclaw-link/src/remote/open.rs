//! A question that is not answered yet, and what was heard of it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

use bytes::Bytes;
use openclaw_engine::EngineFailure;
use serde::de::DeserializeOwned;
use tokio::sync::mpsc;

use super::link::{Link, gone_meanwhile};
use crate::messages::{Asking, Message, Said};
use crate::questions::Effect;

/// How many bytes may be heard of a question before whoever asked takes them. An answer counts only
/// together with what came before it.
const HELD: usize = 64 << 20;

/// What was heard of a question.
#[derive(Debug)]
pub(super) enum Heard {
    /// Something happened.
    Event(Bytes),
    /// The person is asked whether a tool may run.
    Approve(u64, Bytes),
    /// The person is asked what a server wants to know.
    Answer(u64, Bytes),
    /// The person is not asked any longer.
    Withdrawn(u64),
    /// The answer.
    Done(Bytes),
    /// Why there is none.
    Failed(Bytes),
}

impl Heard {
    /// What a message of the gateway says; nothing if that is not known here.
    pub(super) fn of(message: Message) -> Option<Self> {
        let number = message.question_number();
        Some(match message.kind.as_str() {
            "event" => Self::Event(message.body),
            "question" => match (message.approve, message.answer) {
                (Some(question), _) => Self::Approve(number?, question),
                (None, Some(question)) => Self::Answer(number?, question),
                (None, None) => return None,
            },
            "withdrawn" => Self::Withdrawn(number?),
            "done" => Self::Done(message.body),
            "failed" => Self::Failed(message.body),
            _ => return None,
        })
    }

    fn size(&self) -> usize {
        match self {
            Self::Event(bytes)
            | Self::Approve(_, bytes)
            | Self::Answer(_, bytes)
            | Self::Done(bytes)
            | Self::Failed(bytes) => bytes.len(),
            Self::Withdrawn(_) => 0,
        }
    }
}

/// What becomes of events that nobody takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Inbox {
    /// The question fails.
    Whole,
    /// They are counted.
    Lossy,
}

#[derive(Default)]
struct Load {
    bytes: AtomicUsize,
    missed: AtomicU64,
    fell_behind: AtomicBool,
}

/// Where what is heard of a question goes to.
pub(super) struct Waiting {
    sender: mpsc::UnboundedSender<Heard>,
    load: Arc<Load>,
    kind: Inbox,
}

/// Where what was heard of a question comes from.
pub(super) struct Receiver {
    receiver: mpsc::UnboundedReceiver<Heard>,
    load: Arc<Load>,
}

/// Both ends of what is heard of a question. It is bounded by [`HELD`].
pub(super) fn inbox(kind: Inbox) -> (Waiting, Receiver) {
    let (sender, receiver) = mpsc::unbounded_channel();
    let load = Arc::new(Load::default());
    let waiting = Waiting {
        sender,
        load: Arc::clone(&load),
        kind,
    };
    (waiting, Receiver { receiver, load })
}

impl Waiting {
    /// Hands something on; `false` if nothing more can be.
    pub(super) fn hand_on(&self, heard: Heard) -> bool {
        // Small ones count as well: each takes some room.
        let size = heard.size() + size_of::<Heard>();
        let held = self.load.bytes.fetch_add(size, Ordering::Relaxed);
        if held > 0 && held + size > HELD {
            self.load.bytes.fetch_sub(size, Ordering::Relaxed);
            return match (self.kind, heard) {
                (Inbox::Lossy, Heard::Event(_)) => {
                    self.load.missed.fetch_add(1, Ordering::Relaxed);
                    true
                }
                // It is the last, and can't become more.
                (_, heard @ (Heard::Done(_) | Heard::Failed(_))) => self.sender.send(heard).is_ok(),
                _ => {
                    self.load.fell_behind.store(true, Ordering::Relaxed);
                    false
                }
            };
        }
        self.sender.send(heard).is_ok()
    }
}

/// A question that is not answered yet. It is taken back when this is dropped.
pub(super) struct OpenQuestion<'a> {
    pub(super) link: &'a Link,
    pub(super) id: u64,
    pub(super) question: &'static str,
    pub(super) effect: Effect,
    pub(super) receiver: Receiver,
    /// Whether the gateway works on it.
    pub(super) is_awaited: bool,
}

impl OpenQuestion<'_> {
    /// Waits for what is heard next. That it failed is an error. Nothing is lost when this is dropped.
    pub(super) async fn next(&mut self) -> Result<Heard, EngineFailure> {
        let Some(heard) = self.receiver.receiver.recv().await else {
            if self.receiver.load.fell_behind.load(Ordering::Relaxed) {
                let message = "more was told than could be kept, and nobody took it";
                return Err(EngineFailure::operation("fell-behind", message));
            }
            self.is_awaited = false;
            return Err(gone_meanwhile(self.question, self.effect));
        };
        let size = heard.size() + size_of::<Heard>();
        let held = &self.receiver.load.bytes;
        // What came over the bound was not counted.
        let less = |held: usize| Some(held.saturating_sub(size));
        let _ = held.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less);
        self.is_awaited &= !matches!(heard, Heard::Done(_) | Heard::Failed(_));
        match heard {
            Heard::Failed(failure) => Err(self.read(&failure).unwrap_or_else(|unread| unread)),
            heard => Ok(heard),
        }
    }

    /// How many events were not kept since the last time.
    pub(super) fn missed(&self) -> Option<u64> {
        let count = self.receiver.load.missed.swap(0, Ordering::Relaxed);
        (count > 0).then_some(count)
    }

    /// Reads what the gateway answered.
    pub(super) fn read<T: DeserializeOwned>(&self, text: &[u8]) -> Result<T, EngineFailure> {
        serde_json::from_slice(text).map_err(|error| {
            let message = format!(
                "what the gateway answers to `{}` can't be understood: {error}",
                self.question
            );
            EngineFailure::operation("bad-answer", message)
                .hint("if the gateway is of another version than this program, restart it")
        })
    }

    /// Says what the person says.
    pub(super) fn answer(&self, question: u64, said: Said) {
        let id = self.id;
        self.tell(&Asking::Answer { id, question, said });
    }

    fn tell(&self, message: &Asking<'_, ()>) {
        if let Err(error) = self.link.outbox.tell(message) {
            tracing::debug!(%error, "the gateway can't be told something");
        }
    }
}

impl Drop for OpenQuestion<'_> {
    fn drop(&mut self) {
        self.link.forget(self.id);
        if self.is_awaited {
            self.tell(&Asking::Cancel { id: self.id });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(size: usize) -> Heard {
        Heard::Event(Bytes::from(vec![b'x'; size]))
    }

    #[test]
    fn who_takes_nothing_of_a_turn_falls_behind() {
        let (waiting, receiver) = inbox(Inbox::Whole);
        assert!(waiting.hand_on(event(HELD / 2)));
        assert!(!waiting.hand_on(event(HELD / 2)));
        assert!(receiver.load.fell_behind.load(Ordering::Relaxed));
    }

    #[test]
    fn who_takes_nothing_of_what_happens_misses_some_of_it() {
        let (waiting, mut receiver) = inbox(Inbox::Lossy);
        assert!(waiting.hand_on(event(HELD / 2)));
        assert!(waiting.hand_on(event(HELD / 2)));
        assert!(waiting.hand_on(event(HELD / 2)));
        assert!(receiver.receiver.try_recv().is_ok());
        assert!(receiver.receiver.try_recv().is_err());
        assert_eq!(receiver.load.missed.load(Ordering::Relaxed), 2);
    }

    #[test]
    fn an_answer_is_taken_whatever_came_before_it() {
        let (waiting, mut receiver) = inbox(Inbox::Whole);
        assert!(waiting.hand_on(event(HELD - 100)));
        assert!(waiting.hand_on(Heard::Done(Bytes::from(vec![b'x'; HELD]))));
        assert!(receiver.receiver.try_recv().is_ok());
        assert!(matches!(receiver.receiver.try_recv(), Ok(Heard::Done(_))));
    }

    #[test]
    fn many_small_events_count_as_well() {
        let (waiting, _receiver) = inbox(Inbox::Whole);
        let mut taken = 0_usize;
        while waiting.hand_on(event(0)) {
            taken += 1;
        }
        assert!(taken * size_of::<Heard>() <= HELD);
    }
}
