//! Who asks an agent, on the other side of the link.

use std::collections::HashMap;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use openclaw_engine::{
    Audience, ReplyEvent, ServerAnswer, ServerQuestion, ToolConsent, ToolQuestion,
};
use serde::Serialize;
use tokio::sync::oneshot;

use super::Put;
use crate::messages::{Answering, AsksPerson, Notice, Said};
use crate::outbox::Outbox;

/// The audience of a turn, behind a peer.
pub(super) struct DistantAudience {
    id: u64,
    outbox: Arc<Outbox>,
    questions: Arc<Questions>,
    can_answer: bool,
}

impl DistantAudience {
    pub(super) fn new(put: &Put<'_>, can_answer: bool) -> Self {
        Self {
            id: put.reporter.ticket.id,
            outbox: Arc::clone(&put.reporter.outbox),
            questions: Arc::clone(put.questions),
            can_answer,
        }
    }

    fn tell(&self, message: &impl Serialize) {
        if let Err(error) = self.outbox.tell(message) {
            tracing::debug!(%error, "a peer can't be told of its turn");
        }
    }

    /// Asks the person, and takes the question back when it is dropped without an answer.
    async fn ask<Q: Serialize + Sync, A>(
        &self,
        asks: AsksPerson<'_, Q>,
        waits: impl FnOnce(oneshot::Sender<A>) -> Waits,
    ) -> Option<A> {
        let (sender, receiver) = oneshot::channel();
        let question = self.questions.open(waits(sender));
        let _open = Open {
            audience: self,
            question,
        };
        let id = self.id;
        self.tell(&Answering::Question { id, question, asks });
        receiver.await.ok()
    }
}

impl Audience for DistantAudience {
    fn hear(&self, event: ReplyEvent) {
        let (id, event) = (self.id, &event);
        self.tell(&Answering::Event { id, event });
    }

    fn can_answer(&self) -> bool {
        self.can_answer
    }

    fn approve(
        &self,
        question: ToolQuestion,
    ) -> Pin<Box<dyn Future<Output = ToolConsent> + Send + '_>> {
        Box::pin(async move {
            let said = self.ask(AsksPerson::Approve(&question), Waits::Approve);
            said.await.unwrap_or(ToolConsent::No)
        })
    }

    fn answer(
        &self,
        question: ServerQuestion,
    ) -> Pin<Box<dyn Future<Output = ServerAnswer> + Send + '_>> {
        Box::pin(async move {
            let said = self.ask(AsksPerson::Answer(&question), Waits::Answer);
            said.await.unwrap_or(ServerAnswer::Cancel)
        })
    }
}

/// A question to the person that somebody waits for.
struct Open<'a> {
    audience: &'a DistantAudience,
    question: u64,
}

impl Drop for Open<'_> {
    fn drop(&mut self) {
        if self.audience.questions.close(self.question) {
            let (id, question) = (self.audience.id, self.question);
            let message = Notice::Withdrawn { id, question };
            self.audience.tell(&message);
        }
    }
}

/// Who waits for an answer of the person.
pub(super) enum Waits {
    /// A tool that wants to run.
    Approve(oneshot::Sender<ToolConsent>),
    /// A server that wants to know something.
    Answer(oneshot::Sender<ServerAnswer>),
}

/// What the person is asked in the course of one question.
#[derive(Default)]
pub(super) struct Questions(Mutex<State>);

#[derive(Default)]
struct State {
    open: HashMap<u64, Waits>,
    last: u64,
}

impl Questions {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn open(&self, waits: Waits) -> u64 {
        let mut state = self.state();
        state.last += 1;
        let number = state.last;
        state.open.insert(number, waits);
        number
    }

    /// Forgets a question; whether it was not answered.
    fn close(&self, number: u64) -> bool {
        self.state().open.remove(&number).is_some()
    }

    /// Hands on an answer. One that is of another kind than the question is not taken, and the question
    /// stays open. One to a question that is not open came too late, and harms nobody.
    pub(super) fn answered(&self, number: u64, said: Said) -> bool {
        let mut state = self.state();
        match (state.open.remove(&number), said) {
            (None, _) => true,
            (Some(Waits::Approve(sender)), Said::Approve(consent)) => {
                // Whoever waited may have given up at this moment.
                let _ = sender.send(consent);
                true
            }
            (Some(Waits::Answer(sender)), Said::Answer(answer)) => {
                let _ = sender.send(answer);
                true
            }
            (Some(waits), _) => {
                state.open.insert(number, waits);
                false
            }
        }
    }
}
