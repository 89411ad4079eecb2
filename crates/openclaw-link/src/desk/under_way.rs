//! The questions of one peer that are not answered yet.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use openclaw_engine::EngineFailure;
use tokio::task::{self, AbortHandle};

use super::audience::Questions;

/// How many questions of one peer can be under way.
const MOST: usize = 256;

/// Names a question under way. Its number alone would not do: it can be given again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Ticket {
    /// The number that the peer gave it.
    pub(super) id: u64,
    serial: u64,
}

/// Why a question is not put to the engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refused {
    /// Too many are under way.
    TooMany,
    /// Those under way are too large together.
    TooLarge,
    /// One of the same number is under way.
    SameNumber,
}

impl Refused {
    /// What the peer is told.
    pub(super) fn failure(self) -> EngineFailure {
        match self {
            Self::TooMany => {
                let message = format!("{MOST} questions are under way already");
                EngineFailure::operation("busy", message)
                    .hint("wait until some of them are answered")
            }
            Self::TooLarge => {
                let message = "the questions under way are too large together";
                EngineFailure::operation("busy", message)
                    .hint("wait until some of them are answered")
            }
            Self::SameNumber => {
                let message = "a question with the same `id` is under way";
                EngineFailure::asker("same-id", message)
            }
        }
    }
}

/// The questions of one peer that are not answered yet.
pub(super) struct UnderWay {
    state: Mutex<State>,
    /// How many bytes they may have together. One alone may have more.
    limit: usize,
}

#[derive(Default)]
struct State {
    entries: HashMap<u64, Entry>,
    bytes: usize,
    serial: u64,
}

struct Entry {
    serial: u64,
    size: usize,
    task: AbortHandle,
    questions: Arc<Questions>,
}

impl UnderWay {
    pub(super) fn new(limit: usize) -> Self {
        Self {
            state: Mutex::default(),
            limit,
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes note of a question and has its task started.
    pub(super) fn begin(
        &self,
        id: u64,
        size: usize,
        start: impl FnOnce(Ticket, Arc<Questions>) -> AbortHandle,
    ) -> Result<(), Refused> {
        // Held until the entry is there: the task ends by removing it.
        let mut state = self.state();
        if state.entries.contains_key(&id) {
            return Err(Refused::SameNumber);
        }
        if state.entries.len() >= MOST {
            return Err(Refused::TooMany);
        }
        if state.bytes > 0 && state.bytes.saturating_add(size) > self.limit {
            return Err(Refused::TooLarge);
        }
        state.serial += 1;
        state.bytes = state.bytes.saturating_add(size);
        let serial = state.serial;
        let questions = Arc::new(Questions::default());
        let task = start(Ticket { id, serial }, Arc::clone(&questions));
        let entry = Entry {
            serial,
            size,
            task,
            questions,
        };
        state.entries.insert(id, entry);
        Ok(())
    }

    /// Takes note that a question is answered; `false` if nobody waits for that any longer.
    pub(super) fn end(&self, ticket: &Ticket) -> bool {
        let mut state = self.state();
        let is_there = state
            .entries
            .get(&ticket.id)
            .is_some_and(|entry| entry.serial == ticket.serial);
        is_there && state.remove(ticket.id).is_some()
    }

    /// Drops a question.
    pub(super) fn cancel(&self, id: u64) {
        let entry = self.state().remove(id);
        if let Some(entry) = entry {
            entry.task.abort();
        }
    }

    /// The question whose task is this one; it is forgotten.
    pub(super) fn fell_over(&self, task: task::Id) -> Option<u64> {
        let mut state = self.state();
        let mut entries = state.entries.iter();
        let id = entries.find_map(|(id, entry)| (entry.task.id() == task).then_some(*id))?;
        state.remove(id)?;
        Some(id)
    }

    /// What the person is asked in the course of a question.
    pub(super) fn questions(&self, id: u64) -> Option<Arc<Questions>> {
        let state = self.state();
        let entry = state.entries.get(&id)?;
        Some(Arc::clone(&entry.questions))
    }
}

impl State {
    fn remove(&mut self, id: u64) -> Option<Entry> {
        let entry = self.entries.remove(&id)?;
        self.bytes = self.bytes.saturating_sub(entry.size);
        Some(entry)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn begin(under_way: &UnderWay, id: u64, size: usize) -> Result<Ticket, Refused> {
        let mut given = None;
        under_way.begin(id, size, |ticket, _| {
            given = Some(ticket);
            tokio::spawn(std::future::pending::<()>()).abort_handle()
        })?;
        Ok(given.unwrap())
    }

    #[tokio::test]
    async fn questions_that_are_too_large_together_are_refused_and_one_alone_is_not() {
        let under_way = UnderWay::new(1_000);
        let large = begin(&under_way, 1, 5_000).unwrap();
        assert_eq!(begin(&under_way, 2, 1), Err(Refused::TooLarge));
        assert!(under_way.end(&large));
        begin(&under_way, 2, 600).unwrap();
        assert_eq!(begin(&under_way, 3, 600), Err(Refused::TooLarge));
        under_way.cancel(2);
        begin(&under_way, 3, 600).unwrap();
    }

    #[tokio::test]
    async fn a_question_that_was_taken_back_does_not_end_the_next_of_its_number() {
        let under_way = UnderWay::new(1_000);
        let first = begin(&under_way, 1, 1).unwrap();
        under_way.cancel(1);
        let second = begin(&under_way, 1, 1).unwrap();
        assert!(!under_way.end(&first));
        assert!(under_way.end(&second));
        assert!(!under_way.end(&second));
    }
}
