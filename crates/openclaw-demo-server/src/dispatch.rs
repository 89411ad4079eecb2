//! Which method does what.

use serde_json::{Map, Value, json};

use crate::message::{
    INVALID_REQUEST, METHOD_NOT_FOUND, Outcome, Request, RpcError, UNSUPPORTED_VERSION, parse,
    reply, shown,
};
use crate::tools;

/// Revisions with a handshake, newest first.
const FIRST_ERA: [&str; 4] = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];
/// Revisions without one, newest first.
const MODERN_ERA: [&str; 1] = ["2026-07-28"];

/// Where a modern request says which revision it is of.
const VERSION_KEY: &str = "io.modelcontextprotocol/protocolVersion";
/// Where it says what its sender can do.
const CAPABILITIES_KEY: &str = "io.modelcontextprotocol/clientCapabilities";
/// Where a modern answer says who gives it.
const SERVER_KEY: &str = "io.modelcontextprotocol/serverInfo";

const INSTRUCTIONS: &str = "A few tools to try things out with. They compute and touch nothing.";

/// The server, which remembers nothing of its client.
pub(crate) struct Server<R> {
    random: R,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Era {
    First,
    Modern,
}

impl<R: FnMut() -> u64> Server<R> {
    pub(crate) fn new(random: R) -> Self {
        Self { random }
    }

    /// The answer to a message, if it wants one.
    pub(crate) fn answer(&mut self, message: Value) -> Option<Value> {
        let request = match parse(message) {
            Ok(request) => request?,
            Err((id, why)) => {
                let error = RpcError::new(INVALID_REQUEST, why);
                return Some(reply(&id, Err(error)));
            }
        };
        let id = request.id.clone()?;
        Some(reply(&id, self.perform(&request)))
    }

    fn perform(&mut self, request: &Request) -> Outcome {
        let era = era(request)?;
        let result = match (era, request.method.as_str()) {
            (Era::First, "initialize") => initialize(&request.params)?,
            (Era::First, "ping") => json!({}),
            (Era::Modern, "server/discover") => json!({
                "supportedVersions": supported(),
                "capabilities": {"tools": {}},
                "instructions": INSTRUCTIONS,
            }),
            (_, "tools/list") => json!({"tools": tools::definitions()}),
            (_, "tools/call") => self.call(&request.params)?,
            (_, method) => {
                let message = format!("there is no method {}", shown(method));
                return Err(RpcError::new(METHOD_NOT_FOUND, message));
            }
        };
        Ok(match era {
            Era::First => result,
            Era::Modern => completed(&request.method, result),
        })
    }

    fn call(&mut self, params: &Map<String, Value>) -> Outcome {
        let Some(name) = params.get("name").and_then(Value::as_str) else {
            return Err(RpcError::invalid_params("there is no name of a tool"));
        };
        let none = Map::new();
        let arguments = match params.get("arguments") {
            None => &none,
            Some(Value::Object(arguments)) => arguments,
            Some(_) => return Err(RpcError::invalid_params("arguments is not an object")),
        };
        match tools::call(name, arguments, &mut self.random) {
            Some(Ok(text)) => Ok(json!({"content": [{"type": "text", "text": text}]})),
            // Whoever called may try again with other arguments, so this is a result.
            Some(Err(reason)) => Ok(json!({
                "content": [{"type": "text", "text": reason}],
                "isError": true,
            })),
            None => {
                let message = format!("there is no tool {}", shown(name));
                Err(RpcError::invalid_params(message))
            }
        }
    }
}

/// The era that a request belongs to, by what it says.
fn era(request: &Request) -> Result<Era, RpcError> {
    let meta = request.params.get("_meta");
    let version = meta.and_then(|meta| meta.get(VERSION_KEY));
    if version.is_none() && request.method != "server/discover" {
        return Ok(Era::First);
    }
    let Some(version) = version.and_then(Value::as_str) else {
        return Err(RpcError::invalid_params(format!(
            "_meta has no {VERSION_KEY}"
        )));
    };
    let capabilities = meta.and_then(|meta| meta.get(CAPABILITIES_KEY));
    if !capabilities.is_some_and(Value::is_object) {
        return Err(RpcError::invalid_params(format!(
            "_meta has no {CAPABILITIES_KEY}"
        )));
    }
    if MODERN_ERA.contains(&version) {
        return Ok(Era::Modern);
    }
    let data = json!({"supported": supported(), "requested": shown(version)});
    let error = RpcError::new(UNSUPPORTED_VERSION, "unsupported protocol version");
    Err(error.with(data))
}

/// All revisions, newest first: those of the first era are spoken after `initialize`.
fn supported() -> Vec<&'static str> {
    MODERN_ERA.into_iter().chain(FIRST_ERA).collect()
}

/// Agrees on the revision that the client asks for, or offers the newest that has a handshake.
fn initialize(params: &Map<String, Value>) -> Outcome {
    let Some(asked) = params.get("protocolVersion").and_then(Value::as_str) else {
        return Err(RpcError::invalid_params("protocolVersion is not a string"));
    };
    let known = FIRST_ERA.into_iter().find(|version| *version == asked);
    Ok(json!({
        "protocolVersion": known.unwrap_or(FIRST_ERA[0]),
        "capabilities": {"tools": {}},
        "serverInfo": server_info(),
        "instructions": INSTRUCTIONS,
    }))
}

fn server_info() -> Value {
    json!({
        "name": "openclaw-demo",
        "title": "OpenClaw demo server",
        "version": env!("CARGO_PKG_VERSION"),
    })
}

/// What a modern answer has besides.
fn completed(method: &str, mut result: Value) -> Value {
    result["resultType"] = json!("complete");
    result["_meta"] = json!({SERVER_KEY: server_info()});
    if matches!(method, "server/discover" | "tools/list") {
        result["ttlMs"] = json!(0);
        result["cacheScope"] = json!("private");
    }
    result
}
