//! JSON-RPC: requests, answers, errors.

use serde_json::{Map, Value, json};

pub(crate) const PARSE_ERROR: i64 = -32700;
pub(crate) const INVALID_REQUEST: i64 = -32600;
pub(crate) const METHOD_NOT_FOUND: i64 = -32601;
pub(crate) const INVALID_PARAMS: i64 = -32602;
/// The modern era's error for a revision that a server does not speak.
pub(crate) const UNSUPPORTED_VERSION: i64 = -32022;

/// How much of a foreign word an error repeats, in characters.
const SHOWN: usize = 100;

/// What an error says.
#[derive(Debug)]
pub(crate) struct RpcError {
    code: i64,
    message: String,
    data: Option<Value>,
}

impl RpcError {
    pub(crate) fn new(code: i64, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            data: None,
        }
    }

    pub(crate) fn with(mut self, data: Value) -> Self {
        self.data = Some(data);
        self
    }

    pub(crate) fn invalid_params(message: impl Into<String>) -> Self {
        Self::new(INVALID_PARAMS, message)
    }
}

/// What a request comes to.
pub(crate) type Outcome = Result<Value, RpcError>;

/// A message that wants something.
#[derive(Debug)]
pub(crate) struct Request {
    /// What the answer refers to; a notification has none, and gets no answer.
    pub(crate) id: Option<Value>,
    pub(crate) method: String,
    pub(crate) params: Map<String, Value>,
}

/// Reads a message, or says what is wrong with it, and its id. Answers are nothing to act on, since
/// this server asks nothing.
pub(crate) fn parse(message: Value) -> Result<Option<Request>, (Value, &'static str)> {
    let refuse = |id: Value, why: &'static str| Err((id, why));
    let Value::Object(mut members) = message else {
        return refuse(Value::Null, "the message is not an object");
    };
    let id = members.remove("id");
    let is_id = |id: &Value| id.is_string() || id.is_i64() || id.is_u64();
    if id.as_ref().is_some_and(|id| !is_id(id)) {
        return refuse(Value::Null, "the id is neither a string nor an integer");
    }
    let shown_id = id.clone().unwrap_or_default();
    if members.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
        return refuse(shown_id, "jsonrpc is not \"2.0\"");
    }
    let method = match members.remove("method") {
        Some(Value::String(method)) => method,
        Some(_) => return refuse(shown_id, "the method is not a string"),
        None if members.contains_key("result") || members.contains_key("error") => return Ok(None),
        None => return refuse(shown_id, "there is no method"),
    };
    let params = match members.remove("params") {
        None => Map::new(),
        Some(Value::Object(params)) => params,
        Some(_) => return refuse(shown_id, "params is not an object"),
    };
    Ok(Some(Request { id, method, params }))
}

/// The message that answers a request.
pub(crate) fn reply(id: &Value, outcome: Outcome) -> Value {
    match outcome {
        Ok(result) => json!({"jsonrpc": "2.0", "id": id, "result": result}),
        Err(RpcError {
            code,
            message,
            data,
        }) => {
            let mut error = json!({"code": code, "message": message});
            if let Some(data) = data {
                error["data"] = data;
            }
            json!({"jsonrpc": "2.0", "id": id, "error": error})
        }
    }
}

/// The beginning of a foreign word, for an error.
pub(crate) fn shown(word: &str) -> String {
    let clean = word.chars().filter(|character| !character.is_control());
    clean.take(SHOWN).collect()
}
