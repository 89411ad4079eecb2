//! A request to an MCP server and its answer, as they go over the wire.

use std::future::Future;

use crate::chosen::{Kind, RawSpan, Traced, Writer};
use crate::context::TraceContext;

/// A request to a server that is under way. Whoever drops it gives it up.
#[derive(Debug)]
pub struct Exchange(RawSpan);

/// How a request travels.
#[derive(Clone, Copy, Debug)]
pub enum Wire<'a> {
    /// Over the standard streams of a program.
    Pipe,
    /// Over HTTP, to this host and port.
    Http {
        /// The host.
        host: &'a str,
        /// The port.
        port: Option<u16>,
    },
}

/// What is said about a request.
pub struct Details<'w, 's>(&'w mut Writer<'s>);

/// Why there is no result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExchangeError {
    /// The server answered with an error of this number.
    Code(i64),
    /// The server, or something before it, answered with this HTTP status.
    Status(u16),
    /// The server answered that the tool has failed.
    Tool,
    /// Something else, in a word of ours.
    Other(&'static str),
}

impl Exchange {
    /// A request with this method is sent.
    pub fn begin(method: &'static str) -> Self {
        let span = RawSpan::start(Kind::Client, method);
        span.describe(|span| span.word("mcp.method.name", method));
        Self(span)
    }

    /// Says more about it, where somebody hears of it.
    pub fn describe(&self, say: impl FnOnce(&mut Details<'_, '_>)) {
        self.0.describe(|span| say(&mut Details(span)));
    }

    /// What the server is told of the trace; nothing where there is none.
    pub fn context(&self) -> Option<TraceContext> {
        self.0.context()
    }

    /// What happens meanwhile.
    pub fn around<F: Future>(&self, future: F) -> Traced<F> {
        self.0.around(future)
    }

    /// It ended. How is looked at only if somebody hears of it.
    pub fn ended(mut self, error: impl FnOnce() -> Option<ExchangeError>) {
        self.0.end(|span| match error() {
            None => {}
            Some(ExchangeError::Code(code)) => {
                let code = code.to_string();
                span.text("rpc.response.status_code", &code);
                span.failed_with(&code);
            }
            Some(ExchangeError::Status(status)) => span.failed_with(&status.to_string()),
            Some(ExchangeError::Tool) => span.failed("tool_error"),
            Some(ExchangeError::Other(word)) => span.failed(word),
        });
    }
}

impl Details<'_, '_> {
    /// The name of the server in the configuration.
    pub fn server(&mut self, name: &str) {
        self.0.text("openclaw.mcp.server", name);
    }

    /// The number of the request.
    pub fn request(&mut self, id: u64) {
        self.0.text("jsonrpc.request.id", &id.to_string());
    }

    /// The revision of the protocol.
    pub fn version(&mut self, version: &'static str) {
        self.0.word("mcp.protocol.version", version);
    }

    /// How the session begins; not all of it, since whoever has it can take part.
    pub fn session(&mut self, start: &str) {
        self.0.text("mcp.session.id", start);
    }

    /// The tool that is called.
    pub fn tool(&mut self, method: &'static str, name: &str) {
        self.0.name(method, name);
        self.0.word("gen_ai.operation.name", "execute_tool");
        self.0.text("gen_ai.tool.name", name);
    }

    /// The prompt that is filled in.
    pub fn prompt(&mut self, method: &'static str, name: &str) {
        self.0.name(method, name);
        self.0.text("gen_ai.prompt.name", name);
    }

    /// The resource that is read. Neither who reads it nor what is asked of it is told.
    pub fn resource(&mut self, uri: &str) {
        self.0.text("mcp.resource.uri", &without_credentials(uri));
    }

    /// How it travels.
    pub fn wire(&mut self, wire: Wire<'_>) {
        match wire {
            Wire::Pipe => self.0.word("network.transport", "pipe"),
            Wire::Http { host, port } => {
                self.0.word("network.transport", "tcp");
                self.0.word("network.protocol.name", "http");
                self.0.text("server.address", host);
                if let Some(port) = port {
                    self.0.number("server.port", port.into());
                }
            }
        }
    }
}

/// An address without the places where credentials stand: who asks, the query and the fragment.
fn without_credentials(uri: &str) -> String {
    let uri = uri.split(['?', '#']).next().unwrap_or_default();
    let Some((scheme, rest)) = uri.split_once("://") else {
        return uri.to_owned();
    };
    let (authority, path) = match rest.find('/') {
        Some(slash) => rest.split_at(slash),
        None => (rest, ""),
    };
    let host = authority.rsplit('@').next().unwrap_or_default();
    format!("{scheme}://{host}{path}")
}

#[cfg(test)]
mod tests {
    use super::without_credentials;

    #[test]
    fn an_address_has_no_credentials() {
        for (uri, told) in [
            ("postgres://ada:pass@db/t?x=1#y", "postgres://db/t"),
            ("file:///home/ada/a@b.txt", "file:///home/ada/a@b.txt"),
            ("note:today?key=1", "note:today"),
            ("https://host", "https://host"),
        ] {
            assert_eq!(without_credentials(uri), told);
        }
    }
}
