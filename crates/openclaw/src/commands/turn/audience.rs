//! Where the turn is heard and asked from: a queue of what happened, and one of questions.

use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::{Mutex, MutexGuard, PoisonError};

use openclaw_engine::{
    Audience, ReplyEvent, ServerAnswer, ServerQuestion, ToolConsent, ToolQuestion,
};
use tokio::sync::{Notify, mpsc, oneshot};

/// How many questions may wait for the person.
const QUESTIONS: usize = 16;

/// A question, and where the answer goes. Nobody listens to the answer any more once the question is
/// withdrawn.
pub(super) struct Asked<Q, A> {
    pub(super) question: Q,
    pub(super) answer: oneshot::Sender<A>,
}

/// A question to the person, whoever asks.
pub(super) enum Query {
    /// Whether a tool may run.
    Tool(Asked<ToolQuestion, ToolConsent>),
    /// What a server wants to know.
    Server(Asked<ServerQuestion, ServerAnswer>),
}

/// Whoever sits in front of this command.
pub(super) struct Seat {
    heard: Mutex<VecDeque<ReplyEvent>>,
    bell: Notify,
    questions: mpsc::Sender<Query>,
    can_answer: bool,
}

impl Seat {
    /// A seat, and the questions that are asked there.
    pub(super) fn new(can_answer: bool) -> (Self, mpsc::Receiver<Query>) {
        let (questions, asked) = mpsc::channel(QUESTIONS);
        let seat = Self {
            heard: Mutex::default(),
            bell: Notify::new(),
            questions,
            can_answer,
        };
        (seat, asked)
    }

    /// Waits until something has happened.
    pub(super) async fn rung(&self) {
        self.bell.notified().await;
    }

    /// What has happened since this was last asked.
    pub(super) fn take(&self) -> VecDeque<ReplyEvent> {
        std::mem::take(&mut *self.heard())
    }

    fn heard(&self) -> MutexGuard<'_, VecDeque<ReplyEvent>> {
        self.heard.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts a question, and waits for the answer; none, if nobody is there or leaves without one.
    async fn put<Q, A>(&self, question: Q, query: fn(Asked<Q, A>) -> Query) -> Option<A> {
        let (answer, said) = oneshot::channel();
        let asked = query(Asked { question, answer });
        if !self.can_answer || self.questions.send(asked).await.is_err() {
            return None;
        }
        said.await.ok()
    }
}

/// The last word about how far a call is, if nobody was told yet.
fn progress<'h>(heard: &'h mut VecDeque<ReplyEvent>, call: &str) -> Option<&'h mut String> {
    heard.iter_mut().rev().find_map(|event| match event {
        ReplyEvent::ToolProgress { id, text } if id == call => Some(text),
        _ => None,
    })
}

impl Audience for Seat {
    fn hear(&self, event: ReplyEvent) {
        let mut heard = self.heard();
        match event {
            // What a model thinks is not shown.
            ReplyEvent::Reasoning { .. } => return,
            // Pieces of a text need no more room than the text.
            ReplyEvent::Partial { text } => match heard.back_mut() {
                Some(ReplyEvent::Partial { text: before }) => before.push_str(&text),
                _ => heard.push_back(ReplyEvent::Partial { text }),
            },
            // Only the last word about how far a call is counts, however many calls there are.
            ReplyEvent::ToolProgress { id, text } => match progress(&mut heard, &id) {
                Some(before) => *before = text,
                None => heard.push_back(ReplyEvent::ToolProgress { id, text }),
            },
            event => heard.push_back(event),
        }
        drop(heard);
        self.bell.notify_one();
    }

    fn can_answer(&self) -> bool {
        self.can_answer
    }

    fn approve(
        &self,
        question: ToolQuestion,
    ) -> Pin<Box<dyn Future<Output = ToolConsent> + Send + '_>> {
        Box::pin(async move {
            // Who leaves without an answer has not agreed.
            let said = self.put(question, Query::Tool).await;
            said.unwrap_or(ToolConsent::No)
        })
    }

    fn answer(
        &self,
        question: ServerQuestion,
    ) -> Pin<Box<dyn Future<Output = ServerAnswer> + Send + '_>> {
        Box::pin(async move {
            let said = self.put(question, Query::Server).await;
            said.unwrap_or(ServerAnswer::Decline)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_calls_say_about_their_progress_takes_no_more_room_than_there_are_calls() {
        let (seat, _questions) = Seat::new(true);
        for number in 0..1_000 {
            for id in ["one", "other"] {
                let (id, text) = (id.to_owned(), format!("{number}"));
                seat.hear(ReplyEvent::ToolProgress { id, text });
            }
        }
        let heard = seat.take();
        assert_eq!(heard.len(), 2);
        for event in heard {
            assert!(matches!(event, ReplyEvent::ToolProgress { text, .. } if text == "999"));
        }
    }
}
