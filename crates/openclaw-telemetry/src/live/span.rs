//! One span, from its beginning to its end.

use std::borrow::Cow;
use std::fmt;
use std::future::Future;

use openclaw_secrets::{REDACTED, Redactor};
use opentelemetry::trace::{
    SpanBuilder, SpanKind, SpanRef, Status, TraceContextExt as _, Tracer as _,
};
use opentelemetry::{Array, Context, KeyValue, StringValue, Value};

use super::{Active, Traced};
use crate::context::TraceContext;

/// How many characters of a text are told.
const LONGEST: usize = 256;
/// How many bytes of a text are looked at.
const LOOKED_AT: usize = 4096;
/// What stands in the place of a result where nobody waited for one.
const GIVEN_UP: &str = "cancelled";

/// What a span is to its callers.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Kind {
    Internal,
    Client,
}

/// A span, where somebody collects them. One that is dropped before its end was given up.
pub(crate) struct RawSpan(Option<Context>);

impl RawSpan {
    /// Begins a span of what is polled now.
    pub(crate) fn start(kind: Kind, name: &'static str) -> Self {
        let current = Context::map_current(|context| {
            let active = context.get::<Active>()?;
            Some((active.clone(), context.clone()))
        });
        Self(current.map(|(active, context)| {
            let kind = match kind {
                Kind::Internal => SpanKind::Internal,
                Kind::Client => SpanKind::Client,
            };
            let builder = SpanBuilder::from_name(name).with_kind(kind);
            let span = active.0.tracer.build_with_context(builder, &context);
            context.with_span(span)
        }))
    }

    /// Says something about it, if it is recorded.
    pub(crate) fn describe(&self, say: impl FnOnce(&mut Writer<'_>)) {
        if let Some(context) = &self.0 {
            describe(context, say);
        }
    }

    /// What belongs to it.
    pub(crate) fn around<F: Future>(&self, inner: F) -> Traced<F> {
        Traced {
            inner,
            context: self.0.clone(),
            active: None,
        }
    }

    /// What others are told of it.
    pub(crate) fn context(&self) -> Option<TraceContext> {
        TraceContext::of(self.0.as_ref()?.span().span_context())
    }

    /// Ends it, with something to be said about its end.
    pub(crate) fn end(&mut self, say: impl FnOnce(&mut Writer<'_>)) {
        if let Some(context) = self.0.take() {
            describe(&context, say);
            context.span().end();
        }
    }
}

fn describe(context: &Context, say: impl FnOnce(&mut Writer<'_>)) {
    let span = context.span();
    if let Some(active) = context.get::<Active>()
        && span.is_recording()
    {
        let redactor = &active.0.redactor;
        say(&mut Writer { span, redactor });
    }
}

impl Drop for RawSpan {
    fn drop(&mut self) {
        self.end(|span| span.failed(GIVEN_UP));
    }
}

impl fmt::Debug for RawSpan {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_tuple("RawSpan")
            .field(&self.context())
            .finish()
    }
}

/// Describes a span. Texts of others are cleaned, redacted and cut before anything else sees them.
pub(crate) struct Writer<'a> {
    span: SpanRef<'a>,
    redactor: &'a Redactor,
}

impl Writer<'_> {
    /// The name: what is done, and with what.
    pub(crate) fn name(&mut self, verb: &'static str, what: &str) {
        let what = self.told(what);
        if !what.is_empty() {
            self.span.update_name(format!("{verb} {what}"));
        }
    }

    /// A text of others.
    pub(crate) fn text(&mut self, key: &'static str, text: &str) {
        let told = self.told(text).into_owned();
        self.span.set_attribute(KeyValue::new(key, told));
    }

    /// A word of ours.
    pub(crate) fn word(&mut self, key: &'static str, word: &'static str) {
        self.span.set_attribute(KeyValue::new(key, word));
    }

    /// Words of ours.
    pub(crate) fn words(&mut self, key: &'static str, words: &'static [&'static str]) {
        let words = words.iter().copied().map(StringValue::from).collect();
        let words = Value::Array(Array::String(words));
        self.span.set_attribute(KeyValue::new(key, words));
    }

    /// A number.
    pub(crate) fn number(&mut self, key: &'static str, number: u64) {
        let number = i64::try_from(number).unwrap_or(i64::MAX);
        self.span.set_attribute(KeyValue::new(key, number));
    }

    /// It failed, for a reason of few. What others say about it is content, and not told.
    pub(crate) fn failed(&mut self, reason: &'static str) {
        self.word("error.type", reason);
        self.span.set_status(Status::error(""));
    }

    /// The same, with a number of others.
    pub(crate) fn failed_with(&mut self, reason: &str) {
        self.text("error.type", reason);
        self.span.set_status(Status::error(""));
    }

    fn told<'t>(&self, text: &'t str) -> Cow<'t, str> {
        told(text, self.redactor)
    }
}

/// A text as it is told: without control characters, which could stand between the letters of a secret;
/// without secrets; and no longer than names are.
pub(super) fn told<'t>(text: &'t str, redactor: &Redactor) -> Cow<'t, str> {
    let looked_at = text
        .get(..text.floor_char_boundary(LOOKED_AT))
        .unwrap_or_default();
    let clean: Cow<'t, str> = if looked_at.chars().any(is_hidden) {
        let seen = looked_at.chars().filter(|character| !is_hidden(*character));
        Cow::Owned(seen.collect())
    } else {
        Cow::Borrowed(looked_at)
    };
    let redacted = match redactor.redact(&clean) {
        Cow::Borrowed(_) => None,
        Cow::Owned(redacted) => Some(redacted),
    };
    let shown = match redacted {
        None => clean,
        // A part of a secret may stand where it was cut.
        Some(_) if looked_at.len() < text.len() => Cow::Borrowed(REDACTED),
        Some(redacted) => Cow::Owned(redacted),
    };
    match shown.char_indices().nth(LONGEST) {
        None => shown,
        Some((end, _)) => Cow::Owned(shown.get(..end).unwrap_or_default().to_owned()),
    }
}

/// Whether a character can't be seen, and could stand between others without being noticed.
fn is_hidden(character: char) -> bool {
    character.is_control()
        || matches!(character, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{e0000}'..='\u{e007f}')
}

#[cfg(test)]
mod tests {
    use openclaw_secrets::{Learned, Secret};

    use super::*;

    #[test]
    fn secrets_are_not_told_however_they_are_hidden() {
        let redactor = Redactor::new();
        let learned = redactor.learn(&Secret::new("hunter2-correct-horse"));
        assert_eq!(learned, Learned::Added);
        for text in [
            "hunter2-correct-horse",
            "tool-hunter2-correct-horse-x",
            "hunter2-\u{7}correct\u{200b}-horse",
            &format!("hunter2-correct-horse{}", " ".repeat(5000)),
            &format!("{}hunter2-corr", "hunter2-correct-horse".repeat(194)),
        ] {
            let told = told(text, &redactor);
            assert!(!told.contains("hunter2"), "{told}");
        }
    }

    #[test]
    fn texts_are_clean_and_short() {
        let redactor = Redactor::new();
        assert_eq!(told("a\nb\u{1b}[31mc", &redactor), "ab[31mc");
        assert_eq!(told(&"ä".repeat(9000), &redactor).chars().count(), LONGEST);
        assert!(matches!(told("plain", &redactor), Cow::Borrowed("plain")));
    }
}
