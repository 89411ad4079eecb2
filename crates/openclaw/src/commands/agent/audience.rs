//! Where the turn is heard and asked from: a queue of what happened, and one of questions.

use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::{Mutex, MutexGuard, PoisonError};

use openclaw_engine::{Audience, ReplyEvent, ToolConsent, ToolQuestion};
use tokio::sync::{Notify, mpsc, oneshot};

/// How many questions may wait for the person.
const QUESTIONS: usize = 16;

/// A question, and where the answer goes. Nobody listens to the answer any more once the question is
/// withdrawn.
pub(super) struct Asked {
    pub(super) question: ToolQuestion,
    pub(super) answer: oneshot::Sender<ToolConsent>,
}

/// Whoever sits in front of this command.
pub(super) struct Seat {
    heard: Mutex<VecDeque<ReplyEvent>>,
    bell: Notify,
    questions: mpsc::Sender<Asked>,
    can_answer: bool,
}

impl Seat {
    /// A seat, and the questions that are asked there.
    pub(super) fn new(can_answer: bool) -> (Self, mpsc::Receiver<Asked>) {
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
}

impl Audience for Seat {
    fn hear(&self, event: ReplyEvent) {
        let mut heard = self.heard();
        match (event, heard.back_mut()) {
            // What a model thinks is not shown.
            (ReplyEvent::Reasoning { .. }, _) => return,
            // Pieces of a text need no more room than the text.
            (ReplyEvent::Partial { text }, Some(ReplyEvent::Partial { text: before })) => {
                before.push_str(&text);
            }
            (event, _) => heard.push_back(event),
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
            let (answer, said) = oneshot::channel();
            let asked = Asked { question, answer };
            if !self.can_answer || self.questions.send(asked).await.is_err() {
                return ToolConsent::No;
            }
            // Who leaves without an answer has not agreed.
            said.await.unwrap_or(ToolConsent::No)
        })
    }
}
