//! One request on its way to a reply.

use std::sync::Arc;
use std::time::Duration;

use hyper::HeaderMap;
use serde_json::{Value, json};
use tokio::sync::Notify;
use tokio::time::timeout;

use super::message::{self, INTERNAL_ERROR, Outcome, Request, RpcError};
use super::options::Era;
use super::outlet::{Frame, Outlet};
use super::server::Server;
use super::session::Session;

/// How long the client has to answer a question.
const PATIENCE: Duration = Duration::from_mins(1);

/// One request, and everything needed to answer it.
#[derive(Debug)]
pub(crate) struct Call {
    pub(crate) server: Arc<Server>,
    pub(crate) session: Arc<Session>,
    /// The way for the reply, and for what belongs to this request.
    pub(crate) outlet: Outlet,
    pub(crate) request: Request,
    pub(crate) era: Era,
    /// Notified when the client no longer wants a reply.
    pub(crate) cancelled: Arc<Notify>,
    /// The headers that the request came with, on HTTP.
    pub(crate) headers: Option<HeaderMap>,
}

impl Call {
    /// Sends something that belongs to this request.
    pub(crate) async fn notify(&self, method: &str, params: &Value) -> bool {
        let frame = Frame::message(&message::notification(method, params));
        self.outlet.send(frame).await
    }

    /// Asks the client and waits for the answer, which may be an error.
    pub(crate) async fn ask(
        &self,
        method: &str,
        params: &Value,
    ) -> Result<Result<Value, Value>, RpcError> {
        let number = self.server.next_number();
        let answer = self.session.expect_response(number);
        let frame = Frame::message(&message::request(number, method, params));
        if self.session.is_forgotten() || !self.outlet.send(frame).await {
            let error = RpcError::new(INTERNAL_ERROR, "there is no way to ask the client");
            return Err(error);
        }
        match timeout(PATIENCE, answer).await {
            Ok(Ok(outcome)) => Ok(outcome),
            Ok(Err(_)) | Err(_) => Err(RpcError::new(
                INTERNAL_ERROR,
                format!("the client does not answer {method}"),
            )),
        }
    }

    /// A parameter of the request.
    pub(crate) fn parameter(&self, name: &str) -> Option<&Value> {
        self.request.params.get(name)
    }

    /// A parameter that must be there and be a string.
    pub(crate) fn text_parameter(&self, name: &str) -> Result<&str, RpcError> {
        self.parameter(name)
            .and_then(Value::as_str)
            .ok_or_else(|| RpcError::invalid_params(format!("{name} is not a string")))
    }

    /// What the request carries about itself.
    pub(crate) fn meta(&self, key: &str) -> Option<&Value> {
        self.request.params.get("_meta")?.get(key)
    }

    /// What the client can do, as it said for this request or for its session.
    pub(crate) fn client_capabilities(&self) -> Value {
        match self.era {
            Era::First => self.session.capabilities(),
            Era::Modern => self
                .meta("io.modelcontextprotocol/clientCapabilities")
                .cloned()
                .unwrap_or(Value::Null),
        }
    }

    /// The answer to the request was an object; what a modern reply has besides is added.
    pub(crate) fn complete(&self, outcome: Outcome) -> Outcome {
        let mut result = outcome?;
        if self.era == Era::First || self.server.options.protocol.empty_result {
            return Ok(result);
        }
        if let Some(members) = result.as_object_mut() {
            let kind = members
                .entry("resultType")
                .or_insert_with(|| json!("complete"));
            let cacheable = *kind == json!("complete")
                && matches!(
                    self.request.method.as_str(),
                    "server/discover"
                        | "tools/list"
                        | "prompts/list"
                        | "resources/list"
                        | "resources/templates/list"
                        | "resources/read"
                );
            if cacheable {
                members.entry("ttlMs").or_insert_with(|| json!(0));
                members
                    .entry("cacheScope")
                    .or_insert_with(|| json!("private"));
            }
            let meta = members.entry("_meta").or_insert_with(|| json!({}));
            meta["io.modelcontextprotocol/serverInfo"] = Server::implementation();
        }
        Ok(result)
    }
}
