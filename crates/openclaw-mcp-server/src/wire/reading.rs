//! A JSON value as a message of the protocol, or what is wrong with it.

use std::collections::HashSet;

use openclaw_content::shown_line;
use rmcp::model::{
    CallToolRequestParams, ClientJsonRpcMessage, ClientRequest, ErrorData, GetMeta as _,
    InitializeRequestParams, JsonRpcMessage, ProtocolVersion, RequestId,
};
use serde::Deserialize;
use serde_json::Value;

use crate::intake::Luggage;

/// How much is said of what is wrong, in characters: it may repeat what was sent.
const REASON: usize = 300;

/// What a value is.
pub(super) enum Read {
    /// A message.
    Message(Box<ClientJsonRpcMessage>),
    /// Something else: what to answer, and to which request.
    Wrong(Option<RequestId>, ErrorData),
}

impl Read {
    /// Refuses a request whose identifier another one has that is not answered yet: the answers could
    /// not be told apart.
    pub(super) fn unless_in_flight(self, in_flight: &mut HashSet<RequestId>) -> Self {
        match self {
            Self::Message(message) => match &*message {
                JsonRpcMessage::Request(request) if !in_flight.insert(request.id.clone()) => {
                    let message = "a request with this identifier is not answered yet";
                    let error = ErrorData::invalid_request(message, None);
                    Self::Wrong(Some(request.id.clone()), error)
                }
                _ => Self::Message(message),
            },
            wrong @ Self::Wrong(..) => wrong,
        }
    }
}

/// Reads a value. What is spooled of it goes along with the request.
pub(super) fn read(value: &Value, luggage: &Luggage) -> Read {
    let id = value.get("id").and_then(identifier);
    let Ok(message) = ClientJsonRpcMessage::deserialize(value) else {
        let message = "this is no message of JSON-RPC 2.0";
        return Read::Wrong(id, ErrorData::invalid_request(message, None));
    };
    match message {
        JsonRpcMessage::Request(mut request) => {
            // rmcp takes a request whose parameters are wrong for one of another kind; who sent it wants
            // to know what is wrong.
            if let ClientRequest::CustomRequest(custom) = &request.request
                && let Some(problem) = wrong_parameters(&custom.method, value)
            {
                return Read::Wrong(id, ErrorData::invalid_params(problem, None));
            }
            if let ClientRequest::CallToolRequest(call) = &mut request.request {
                call.extensions.insert(luggage.clone());
            }
            Read::Message(Box::new(JsonRpcMessage::Request(request)))
        }
        other => Read::Message(Box::new(other)),
    }
}

/// What is wrong with the parameters of a request that we know.
fn wrong_parameters(method: &str, value: &Value) -> Option<String> {
    fn reason<'v, T: Deserialize<'v>>(parameters: &'v Value) -> String {
        let error = T::deserialize(parameters).err();
        error.map_or_else(
            || "they are malformed".to_owned(),
            |error| error.to_string(),
        )
    }
    let parameters = value.get("params").unwrap_or(&Value::Null);
    let reason = match method {
        "initialize" => reason::<InitializeRequestParams>(parameters),
        "tools/call" => reason::<CallToolRequestParams>(parameters),
        "tools/list" | "server/discover" | "ping" => "they are malformed".to_owned(),
        _ => return None,
    };
    let reason = shown_line(&reason, REASON);
    Some(format!(
        "the parameters of `{method}` can't be used: {reason}"
    ))
}

/// The identifier of a request, if it is one.
pub(super) fn identifier(value: &Value) -> Option<RequestId> {
    match value {
        Value::String(text) => Some(RequestId::String(text.as_str().into())),
        Value::Number(number) => number.as_i64().map(RequestId::Number),
        _ => None,
    }
}

/// Whether a request says everything about its sender itself, as since 2026-07-28.
pub(super) fn is_self_contained(request: &ClientRequest) -> bool {
    let meta = request.get_meta();
    let missing = meta.missing_required_keys(&ProtocolVersion::V_2026_07_28);
    missing.is_empty()
        && meta
            .protocol_version()
            .is_some_and(|version| ProtocolVersion::KNOWN_VERSIONS.contains(&version))
}
