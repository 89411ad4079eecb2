//! A request to a model.

use std::future::Future;

use crate::chosen::{Kind, RawSpan, Traced};
use crate::turn::Tokens;

/// A request to a model that is under way. Whoever drops it gives it up.
#[derive(Debug)]
pub struct ModelSpan(RawSpan);

/// What a model answered, apart from what it said.
#[derive(Clone, Copy, Debug)]
pub struct ModelAnswer<'a> {
    /// The model that answered, as `provider/model`.
    pub model: &'a str,
    /// What it cost, where that is known.
    pub tokens: Option<Tokens>,
    /// Why it stopped.
    pub stop: &'static [&'static str],
}

impl ModelSpan {
    /// A model is asked, named as `provider/model`.
    pub fn begin(name: &str) -> Self {
        let (provider, model) = name.split_once('/').unwrap_or(("", name));
        // What answers in this process is no call of another one.
        let kind = match provider {
            "builtin" => Kind::Internal,
            _ => Kind::Client,
        };
        let span = RawSpan::start(kind, "chat");
        span.describe(|span| {
            span.name("chat", model);
            span.word("gen_ai.operation.name", "chat");
            span.text("gen_ai.provider.name", known(provider));
            span.text("gen_ai.request.model", model);
        });
        Self(span)
    }

    /// What happens meanwhile.
    pub fn around<F: Future>(&self, future: F) -> Traced<F> {
        self.0.around(future)
    }

    /// It answered.
    pub fn replied(mut self, reply: ModelAnswer<'_>) {
        self.0.end(|span| {
            let model = reply.model;
            let model = model.split_once('/').map_or(model, |(_, model)| model);
            span.text("gen_ai.response.model", model);
            span.words("gen_ai.response.finish_reasons", reply.stop);
            if let Some(tokens) = reply.tokens {
                span.number("gen_ai.usage.input_tokens", tokens.input);
                span.number("gen_ai.usage.output_tokens", tokens.output);
                if tokens.cached > 0 {
                    span.number("gen_ai.usage.cache_read.input_tokens", tokens.cached);
                }
            }
        });
    }

    /// It did not, for a reason of few.
    pub fn failed(mut self, reason: &'static str) {
        self.0.end(|span| span.failed(reason));
    }
}

/// What the conventions call a provider; their own names for those that they don't know.
fn known(provider: &str) -> &str {
    match provider {
        "google" | "gemini" => "gcp.gemini",
        "google-vertex" => "gcp.vertex_ai",
        "amazon-bedrock" | "bedrock" => "aws.bedrock",
        "azure" | "azure-openai" => "azure.ai.openai",
        "mistral" => "mistral_ai",
        "xai" => "x_ai",
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::known;

    #[test]
    fn providers_have_the_names_of_the_conventions() {
        assert_eq!(known("google"), "gcp.gemini");
        assert_eq!(known("anthropic"), "anthropic");
        assert_eq!(known("at-home"), "at-home");
    }
}
