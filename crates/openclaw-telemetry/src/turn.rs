//! A turn of an agent.

use std::future::Future;

use crate::chosen::{Kind, RawSpan, Traced};

/// A turn of an agent that is under way. Whoever drops it gives it up.
#[derive(Debug)]
pub struct TurnSpan(RawSpan);

/// How many tokens something cost.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tokens {
    /// Read by the model, those from a cache included.
    pub input: u64,
    /// Written by the model.
    pub output: u64,
    /// Of those that it read, taken from a cache.
    pub cached: u64,
}

impl TurnSpan {
    /// A turn of an agent begins. The conversation is asked for only if somebody hears of it; it must not
    /// be the key of the session, which whoever has it can use.
    pub fn begin(agent: &str, conversation: impl FnOnce() -> String) -> Self {
        let span = RawSpan::start(Kind::Internal, "invoke_agent");
        span.describe(|span| {
            span.name("invoke_agent", agent);
            span.word("gen_ai.operation.name", "invoke_agent");
            span.text("gen_ai.agent.id", agent);
            span.text("gen_ai.agent.name", agent);
            span.text("gen_ai.conversation.id", &conversation());
        });
        Self(span)
    }

    /// What happens in it.
    pub fn around<F: Future>(&self, future: F) -> Traced<F> {
        self.0.around(future)
    }

    /// It ended with a reply of a model, named as `provider/model`.
    pub fn replied(mut self, model: &str, tokens: Option<Tokens>) {
        self.0.end(|span| {
            let model = model.split_once('/').map_or(model, |(_, model)| model);
            span.text("gen_ai.response.model", model);
            if let Some(tokens) = tokens {
                span.number("gen_ai.usage.input_tokens", tokens.input);
                span.number("gen_ai.usage.output_tokens", tokens.output);
            }
        });
    }

    /// It ended without one, for a reason of few.
    pub fn failed(mut self, reason: &'static str) {
        self.0.end(|span| span.failed(reason));
    }
}
