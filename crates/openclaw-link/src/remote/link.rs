//! What questions travel over: which are not answered yet, and who waits for them.

use std::collections::HashMap;
use std::fs::File;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use openclaw_engine::{
    Audience, EngineEvent, EngineFailure, ReplyReport, ReplyRequest, ServerAnswer, ToolConsent,
    Watcher,
};
use openclaw_telemetry::TraceContext;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::open::{Heard, Inbox, OpenQuestion, Waiting, inbox};
use super::person::{Person, Put};
use crate::desk;
use crate::frames::LONGEST_FRAME;
use crate::messages::{Asking, Message, Said};
use crate::outbox::{Framing, NotTaken, Outbox};
use crate::questions::{Effect, REPLY, WATCH};
use crate::requests::TravellingRequest;
use crate::service::OUTBOX;
use crate::socket::{Reading, Writing};

/// The code of failures that come from the gateway having gone.
const GONE: &str = "gateway-gone";
const GONE_MEANWHILE: &str = "the gateway went away before it answered";
const GONE_BEFORE: &str = "the gateway has gone away, and nothing was asked of it";
const START_AGAIN: &str = "start it again with `openclaw gateway`";

/// What questions travel over.
pub(crate) struct Link {
    pub(super) outbox: Outbox,
    asked: Mutex<Asked>,
}

#[derive(Default)]
struct Asked {
    waiting: HashMap<u64, Waiting>,
    last: u64,
    is_gone: bool,
    is_closed: bool,
}

impl Link {
    pub(super) fn new() -> Self {
        Self {
            outbox: Outbox::new(Framing::Length, OUTBOX, LONGEST_FRAME),
            asked: Mutex::default(),
        }
    }

    fn asked(&self) -> MutexGuard<'_, Asked> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads and writes until the gateway is gone or the link is closed.
    pub(super) async fn keep(self: Arc<Self>, reading: Reading, writing: Writing) {
        tokio::select! {
            () = self.listen(reading) => {}
            () = desk::write(&self.outbox, writing) => {}
            () = self.outbox.until_cut() => {}
        }
        self.end();
    }

    /// Whether the gateway is gone, or the link closed.
    pub(super) fn is_gone(&self) -> bool {
        self.asked().is_gone
    }

    /// Whether whoever asked has closed it.
    pub(super) fn is_closed(&self) -> bool {
        self.asked().is_closed
    }

    /// Closes the link, for whoever asked.
    pub(super) fn close(&self) {
        self.asked().is_closed = true;
        self.end();
    }

    /// Ends the link: nobody hears anything any longer.
    fn end(&self) {
        self.outbox.cut();
        let mut asked = self.asked();
        asked.is_gone = true;
        let waiting = std::mem::take(&mut asked.waiting);
        drop(asked);
        drop(waiting);
    }

    async fn listen(&self, mut reading: Reading) {
        loop {
            let text = match reading.frame(LONGEST_FRAME).await {
                Ok(Some(text)) => text,
                Ok(None) => return,
                Err(error) => {
                    tracing::warn!(%error, "the gateway can't be read from");
                    return;
                }
            };
            match Message::read(&text) {
                Ok(message) => self.hand_on(message),
                Err(error) => {
                    tracing::warn!(%error, "the gateway says what can't be understood");
                    return;
                }
            }
        }
    }

    /// Hands a message on to whoever waits for it. Messages that belong to nobody are answers to
    /// questions that were taken back.
    fn hand_on(&self, message: Message) {
        if message.kind == "error" {
            let text = String::from_utf8_lossy(&message.body);
            tracing::warn!(%text, "the gateway does not understand what it is told");
            return;
        }
        let Some(id) = message.id else {
            return;
        };
        let Some(heard) = Heard::of(message) else {
            return;
        };
        let mut asked = self.asked();
        if let Some(waiting) = asked.waiting.get(&id)
            && !waiting.hand_on(heard)
        {
            // It fell behind or does not wait any longer.
            asked.waiting.remove(&id);
        }
    }

    /// Asks something that has one answer.
    pub(crate) async fn ask<Q: Serialize + Send + Sync, R: DeserializeOwned>(
        &self,
        question: &'static str,
        effect: Effect,
        with: Q,
    ) -> Result<R, EngineFailure> {
        let mut open = self
            .open(question, effect, &with, Vec::new(), Inbox::Whole)
            .await?;
        // It may be large.
        drop(with);
        loop {
            if let Heard::Done(report) = open.next().await? {
                return open.read(&report);
            }
        }
    }

    /// Asks to be told what happens.
    pub(crate) async fn watch(&self, watcher: &dyn Watcher) -> Result<(), EngineFailure> {
        let mut open = self
            .open(WATCH, Effect::None, &(), Vec::new(), Inbox::Lossy)
            .await?;
        loop {
            let heard = open.next().await?;
            if let Some(count) = open.missed() {
                watcher.hear(EngineEvent::Missed { count });
            }
            match heard {
                // A gateway of a later version may tell of what is not known here.
                Heard::Event(event) => {
                    if let Ok(event) = serde_json::from_slice(&event) {
                        watcher.hear(event);
                    }
                }
                Heard::Done(_) => return Ok(()),
                _ => {}
            }
        }
    }

    /// Has an agent answer a message.
    pub(crate) async fn reply(
        &self,
        request: ReplyRequest,
        audience: &dyn Audience,
    ) -> Result<ReplyReport, EngineFailure> {
        let (with, files) = TravellingRequest::pack(request, audience.can_answer())?;
        let mut open = self
            .open(REPLY, Effect::Some, &with, files, Inbox::Whole)
            .await?;
        drop(with);
        let mut person = Person::new(audience);
        loop {
            tokio::select! {
                heard = open.next() => match heard? {
                    Heard::Event(event) => {
                        if let Ok(event) = serde_json::from_slice(&event) {
                            audience.hear(event);
                        }
                    }
                    Heard::Approve(number, question) => {
                        let question = serde_json::from_slice(&question).map(Put::Approve);
                        if !question.is_ok_and(|question| person.put(number, question)) {
                            open.answer(number, Said::Approve(ToolConsent::No));
                        }
                    }
                    Heard::Answer(number, question) => {
                        let question = serde_json::from_slice(&question).map(Put::Answer);
                        if !question.is_ok_and(|question| person.put(number, question)) {
                            open.answer(number, Said::Answer(ServerAnswer::Cancel));
                        }
                    }
                    Heard::Withdrawn(number) => person.withdraw(number),
                    Heard::Done(report) => return open.read(&report),
                    Heard::Failed(_) => {}
                },
                (number, said) = person.says() => open.answer(number, said),
            }
        }
    }

    /// Sends a question on its way.
    async fn open<'a, Q: Serialize + Sync>(
        &'a self,
        question: &'static str,
        effect: Effect,
        with: &Q,
        files: Vec<Arc<File>>,
        kind: Inbox,
    ) -> Result<OpenQuestion<'a>, EngineFailure> {
        self.outbox.room().await;
        let (waiting, receiver) = inbox(kind);
        let id = {
            let mut asked = self.asked();
            if asked.is_gone {
                return Err(gone(GONE_BEFORE.to_owned()));
            }
            asked.last += 1;
            let id = asked.last;
            asked.waiting.insert(id, waiting);
            id
        };
        let mut open = OpenQuestion {
            link: self,
            id,
            question,
            effect,
            receiver,
            is_awaited: false,
        };
        let trace = TraceContext::current();
        let traceparent = trace.as_ref().map(TraceContext::traceparent);
        let message = Asking::Ask {
            id,
            question,
            with,
            files: files.len(),
            traceparent: traceparent.as_deref(),
            tracestate: trace.as_ref().and_then(TraceContext::tracestate),
        };
        match self.outbox.send(&message, files) {
            Ok(()) => {
                open.is_awaited = true;
                Ok(open)
            }
            Err(NotTaken::Closed) => Err(gone(GONE_BEFORE.to_owned())),
            Err(error @ (NotTaken::TooLong { .. } | NotTaken::Unwritable(_))) => {
                let message = format!("the question can't be handed to the gateway: {error}");
                Err(EngineFailure::asker("unsendable", message))
            }
        }
    }

    /// Forgets a question that nobody waits for any longer.
    pub(super) fn forget(&self, id: u64) {
        self.asked().waiting.remove(&id);
    }
}

/// The gateway went away while a question was under way.
pub(super) fn gone_meanwhile(question: &str, effect: Effect) -> EngineFailure {
    gone(match effect {
        Effect::None => GONE_MEANWHILE.to_owned(),
        Effect::Some => format!(
            "{GONE_MEANWHILE}; it is not known whether it carried out what was asked (`{question}`)"
        ),
    })
}

/// The gateway is gone, and there is something else in its place.
pub(super) fn gone_before(reason: &str) -> EngineFailure {
    let message = format!("{GONE_BEFORE}: {reason}");
    EngineFailure::operation(GONE, message).hint("begin anew, or start the right gateway")
}

fn gone(message: String) -> EngineFailure {
    EngineFailure::operation(GONE, message).hint(START_AGAIN)
}

/// Whether a question was under way when the gateway went away.
pub(super) fn went_away_meanwhile(failure: &EngineFailure) -> bool {
    failure.code == GONE && failure.message == GONE_MEANWHILE
}
