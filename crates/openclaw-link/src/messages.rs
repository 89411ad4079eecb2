//! What is said after the greeting: written from plain data, and read in two steps, the envelope first
//! and what is in it where it is used.

use std::borrow::Cow;

use bytes::Bytes;
use openclaw_engine::{EngineFailure, ServerAnswer, ToolConsent};
use openclaw_telemetry::TraceContext;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// What whoever asks says.
#[derive(Serialize)]
#[serde(tag = "type", rename_all = "camelCase")]
pub(crate) enum Asking<'a, T> {
    /// Asks something.
    Ask {
        /// What answers refer to.
        id: u64,
        /// What is asked.
        question: &'a str,
        /// The query.
        with: &'a T,
        /// How many descriptors come with it.
        #[serde(skip_serializing_if = "is_none")]
        files: usize,
        /// The trace that it belongs to.
        #[serde(skip_serializing_if = "Option::is_none")]
        traceparent: Option<&'a str>,
        /// What programs before us want to have passed on with that.
        #[serde(skip_serializing_if = "Option::is_none")]
        tracestate: Option<&'a str>,
    },
    /// Takes a question back.
    Cancel {
        /// Which.
        id: u64,
    },
    /// Says what the person says.
    Answer {
        /// The question in whose course the person was asked.
        id: u64,
        /// Which question to the person.
        question: u64,
        /// What the person says.
        #[serde(flatten)]
        said: Said,
    },
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde hands over references"
)]
fn is_none(count: &usize) -> bool {
    *count == 0
}

/// What a person says.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum Said {
    /// Whether a tool may run.
    Approve(ToolConsent),
    /// What a server wants to know.
    Answer(ServerAnswer),
}

/// What the engine says.
#[derive(Serialize)]
#[serde(tag = "type", rename_all = "camelCase")]
pub(crate) enum Answering<'a, T> {
    /// Something happened.
    Event {
        /// In the course of which question.
        id: u64,
        /// What.
        event: &'a T,
    },
    /// Asks the person.
    Question {
        /// In the course of which question.
        id: u64,
        /// What the answer refers to.
        question: u64,
        /// What is asked.
        #[serde(flatten)]
        asks: AsksPerson<'a, T>,
    },
    /// Nobody waits for the person's answer any longer.
    Withdrawn {
        /// In the course of which question.
        id: u64,
        /// Which question to the person.
        question: u64,
    },
    /// A question was answered.
    Done {
        /// Which.
        id: u64,
        /// With what.
        report: &'a T,
    },
    /// A question can't be answered.
    Failed {
        /// Which.
        id: u64,
        /// Why.
        failure: &'a EngineFailure,
    },
    /// Something that was said can't be used.
    Error {
        /// In the course of which question, where that is known.
        #[serde(skip_serializing_if = "Option::is_none")]
        id: Option<u64>,
        /// Why.
        failure: &'a EngineFailure,
    },
}

/// What the engine says without an event, a report or a question in it.
pub(crate) type Notice<'a> = Answering<'a, ()>;

/// What a person is asked.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum AsksPerson<'a, T> {
    /// Whether a tool may run.
    Approve(&'a T),
    /// What a server wants to know.
    Answer(&'a T),
}

/// A message that was read. What is in it stays where it lies, and is read by whoever needs it.
#[derive(Debug)]
pub(crate) struct Message {
    /// What kind of message it is.
    pub(crate) kind: String,
    /// The question that it belongs to.
    pub(crate) id: Option<u64>,
    /// The name of a question, or the number of a question to the person.
    pub(crate) question: Bytes,
    /// What a question is asked with, what it was answered with, what happened.
    pub(crate) body: Bytes,
    /// What the person is asked or says about a tool.
    pub(crate) approve: Option<Bytes>,
    /// What the person is asked or says about what a server wants to know.
    pub(crate) answer: Option<Bytes>,
    /// How many descriptors come with it.
    pub(crate) files: usize,
    /// The trace that it belongs to.
    pub(crate) trace: Option<TraceContext>,
}

#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(rename = "type", borrow)]
    kind: Cow<'a, str>,
    id: Option<u64>,
    #[serde(borrow)]
    question: Option<&'a RawValue>,
    #[serde(borrow)]
    with: Option<&'a RawValue>,
    #[serde(borrow)]
    report: Option<&'a RawValue>,
    #[serde(borrow)]
    failure: Option<&'a RawValue>,
    #[serde(borrow)]
    event: Option<&'a RawValue>,
    #[serde(borrow)]
    approve: Option<&'a RawValue>,
    #[serde(borrow)]
    answer: Option<&'a RawValue>,
    #[serde(default)]
    files: usize,
    #[serde(borrow)]
    traceparent: Option<Cow<'a, str>>,
    #[serde(borrow)]
    tracestate: Option<Cow<'a, str>>,
}

impl Message {
    /// Reads the envelope of a message.
    pub(crate) fn read(text: &Bytes) -> Result<Self, serde_json::Error> {
        let envelope: Envelope<'_> = serde_json::from_slice(text)?;
        let part = |raw: Option<&RawValue>| raw.map(|raw| text.slice_ref(raw.get().as_bytes()));
        let null = || Bytes::from_static(b"null");
        let body = envelope.with.or(envelope.report);
        let body = body.or(envelope.failure).or(envelope.event);
        Ok(Self {
            kind: envelope.kind.clone().into_owned(),
            id: envelope.id,
            question: part(envelope.question).unwrap_or_else(null),
            body: part(body).unwrap_or_else(null),
            approve: part(envelope.approve),
            answer: part(envelope.answer),
            files: envelope.files,
            trace: envelope
                .traceparent
                .and_then(|parent| TraceContext::read(&parent, envelope.tracestate.as_deref())),
        })
    }

    /// The number of the question to the person.
    pub(crate) fn question_number(&self) -> Option<u64> {
        serde_json::from_slice(&self.question).ok()
    }

    /// The name of the question.
    pub(crate) fn question_name(&self) -> Option<String> {
        serde_json::from_slice(&self.question).ok()
    }

    /// What the person says.
    pub(crate) fn said(&self) -> Option<Said> {
        match (&self.approve, &self.answer) {
            (Some(consent), None) => openclaw_json::read(consent).ok().map(Said::Approve),
            (None, Some(answer)) => openclaw_json::read(answer).ok().map(Said::Answer),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests;
