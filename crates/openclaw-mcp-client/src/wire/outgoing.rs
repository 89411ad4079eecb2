//! Messages to a server.

use bytes::Bytes;
use serde::Serialize;
use serde_json::Value;

use super::ServerRequestId;

#[derive(Serialize)]
struct Message<'a, P: Serialize> {
    jsonrpc: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<u64>,
    method: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    params: Option<P>,
}

#[derive(Serialize)]
struct Reply<'a> {
    jsonrpc: &'static str,
    id: &'a ServerRequestId,
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<&'a Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<ErrorBody<'a>>,
}

#[derive(Serialize)]
struct ErrorBody<'a> {
    code: i64,
    message: &'a str,
}

/// A request of ours, without the end of its line.
pub(crate) fn request(id: u64, method: &str, params: &impl Serialize) -> serde_json::Result<Bytes> {
    bytes(&Message {
        jsonrpc: "2.0",
        id: Some(id),
        method,
        params: Some(params),
    })
}

/// A notification.
pub(crate) fn notification(
    method: &str,
    params: Option<&impl Serialize>,
) -> serde_json::Result<Bytes> {
    bytes(&Message {
        jsonrpc: "2.0",
        id: None,
        method,
        params,
    })
}

/// The answer to a request of the server.
pub(crate) fn reply(id: &ServerRequestId, result: &Value) -> serde_json::Result<Bytes> {
    bytes(&Reply {
        jsonrpc: "2.0",
        id,
        result: Some(result),
        error: None,
    })
}

/// The refusal of a request of the server.
pub(crate) fn error_reply(
    id: &ServerRequestId,
    code: i64,
    message: &str,
) -> serde_json::Result<Bytes> {
    bytes(&Reply {
        jsonrpc: "2.0",
        id,
        result: None,
        error: Some(ErrorBody { code, message }),
    })
}

fn bytes(message: &impl Serialize) -> serde_json::Result<Bytes> {
    // Room for the end of the line, which the transport over pipes adds.
    let mut text = Vec::with_capacity(256);
    serde_json::to_writer(&mut text, message)?;
    Ok(text.into())
}
