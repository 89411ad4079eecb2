//! A call of a tool, from its name to what the model reads.

use std::future::Future;

use crate::chosen::{Kind, RawSpan, Traced};

/// A call of a tool that is under way. Whoever drops it gives it up.
#[derive(Debug)]
pub struct ToolSpan(RawSpan);

impl ToolSpan {
    /// A tool is called, by a model if the call has an identifier.
    pub fn begin(call: Option<&str>) -> Self {
        let span = RawSpan::start(Kind::Internal, "execute_tool");
        span.describe(|span| {
            span.word("gen_ai.operation.name", "execute_tool");
            if let Some(call) = call {
                span.text("gen_ai.tool.call.id", call);
            }
        });
        Self(span)
    }

    /// What happens meanwhile.
    pub fn around<F: Future>(&self, future: F) -> Traced<F> {
        self.0.around(future)
    }

    /// It ended. Where there is no such tool, its name is anybody's, and no name for a span.
    pub fn ended(mut self, tool: &str, server: Option<&str>, failure: Option<&'static str>) {
        self.0.end(|span| {
            span.text("gen_ai.tool.name", tool);
            if let Some(server) = server {
                span.name("execute_tool", tool);
                // What is executed is elsewhere.
                span.word("gen_ai.tool.type", "extension");
                span.text("openclaw.mcp.server", server);
            }
            if let Some(failure) = failure {
                span.failed(failure);
            }
        });
    }
}
