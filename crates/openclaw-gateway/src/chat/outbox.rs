//! What a turn says, until somebody takes it.

use std::pin::Pin;
use std::sync::{Mutex, MutexGuard, PoisonError};

use openclaw_engine::{
    Audience, EngineFailure, ReplyEvent, ReplyReport, ToolConsent, ToolQuestion,
};
use tokio::sync::Notify;

use super::shapes;
use super::telling::Telling;

/// How many bytes wait for a client that does not read. Nobody reads that much late.
const LIMIT: usize = 16 * 1024 * 1024;

/// What came of a turn.
pub(super) type Outcome = Result<ReplyReport, EngineFailure>;

/// What is taken next.
#[derive(Debug)]
pub(super) enum Next {
    /// More text: everything that came since the last time.
    Text(String),
    /// The end.
    End(Box<Outcome>),
}

/// What a turn says, until somebody takes it: one who is slow gets more at once. Nobody is there to be
/// asked.
#[derive(Default)]
pub(super) struct Outbox {
    inner: Mutex<Inner>,
    /// Told when there is something new, for the one who takes it.
    changed: Notify,
}

#[derive(Default)]
struct Inner {
    telling: Telling,
    text: String,
    session: Option<String>,
    has_called: bool,
    is_too_much: bool,
    is_deaf: bool,
    end: Option<Box<Outcome>>,
}

impl Outbox {
    /// One that remembers only what was done: nobody takes texts out of it.
    pub(super) fn deaf() -> Self {
        let outbox = Self::default();
        outbox.inner().is_deaf = true;
        outbox
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps what came of the turn.
    pub(super) fn end(&self, outcome: Outcome) {
        let mut inner = self.inner();
        if let Ok(report) = &outcome {
            inner.session = Some(report.session_key.clone());
            if !inner.telling.has_told() {
                let text = shapes::text(report);
                inner.text.push_str(&text);
            }
        }
        inner.end = Some(Box::new(outcome));
        drop(inner);
        self.changed.notify_one();
    }

    /// Waits until the turn says something, does something or ends.
    pub(super) async fn opened(&self) {
        while !self.inner().is_open() {
            self.changed.notified().await;
        }
    }

    /// Why it failed, if it did before it said or did anything.
    pub(super) fn failed_at_once(&self) -> Option<EngineFailure> {
        let inner = self.inner();
        let is_begun = !inner.text.is_empty() || inner.has_called;
        let outcome = inner.end.as_deref().filter(|_| !is_begun)?;
        outcome.as_ref().err().cloned()
    }

    /// Waits for what comes next.
    pub(super) async fn next(&self) -> Next {
        loop {
            if let Some(next) = self.inner().next() {
                return next;
            }
            self.changed.notified().await;
        }
    }

    /// The session, once it is known.
    pub(super) fn session(&self) -> Option<String> {
        self.inner().session.clone()
    }

    /// Whether a tool was called.
    pub(super) fn has_called(&self) -> bool {
        self.inner().has_called
    }
}

impl Inner {
    /// Whether the turn has said or done something, or has ended.
    fn is_open(&self) -> bool {
        !self.text.is_empty() || self.has_called || self.end.is_some()
    }

    fn next(&mut self) -> Option<Next> {
        if !self.text.is_empty() {
            return Some(Next::Text(std::mem::take(&mut self.text)));
        }
        if self.is_too_much {
            let message = "the answer was not read for so long that it was given up";
            let failure = EngineFailure::operation("not-read", message);
            return Some(Next::End(Box::new(Err(failure))));
        }
        self.end.take().map(Next::End)
    }

    fn hear(&mut self, event: ReplyEvent) {
        match &event {
            ReplyEvent::Started { session_key, .. } => self.session = Some(session_key.clone()),
            ReplyEvent::ToolStarted { .. } => self.has_called = true,
            _ => {}
        }
        if self.is_deaf {
            return;
        }
        let text = self.telling.hear(event);
        if !self.text.is_empty() && self.text.len() + text.len() > LIMIT {
            self.is_too_much = true;
        }
        if !self.is_too_much {
            self.text.push_str(&text);
        }
    }
}

impl Audience for Outbox {
    fn hear(&self, event: ReplyEvent) {
        self.inner().hear(event);
        self.changed.notify_one();
    }

    fn can_answer(&self) -> bool {
        false
    }

    fn approve(
        &self,
        _question: ToolQuestion,
    ) -> Pin<Box<dyn Future<Output = ToolConsent> + Send + '_>> {
        Box::pin(std::future::ready(ToolConsent::No))
    }
}
