//! JSON-RPC messages, as values.

use serde_json::{Map, Value, json};

pub(crate) const PARSE_ERROR: i64 = -32700;
pub(crate) const INVALID_REQUEST: i64 = -32600;
pub(crate) const METHOD_NOT_FOUND: i64 = -32601;
pub(crate) const INVALID_PARAMS: i64 = -32602;
pub(crate) const INTERNAL_ERROR: i64 = -32603;
/// The code that the servers of the first era use for what is wrong with the HTTP request.
pub(crate) const BAD_REQUEST: i64 = -32000;
pub(crate) const RESOURCE_NOT_FOUND: i64 = -32002;
pub(crate) const HEADER_MISMATCH: i64 = -32020;
pub(crate) const MISSING_CAPABILITY: i64 = -32021;
pub(crate) const UNSUPPORTED_VERSION: i64 = -32022;
pub(crate) const URL_ELICITATION_REQUIRED: i64 = -32042;

/// A message of the client.
#[derive(Debug)]
pub(crate) enum Incoming {
    Request(Request),
    Notification {
        method: String,
        params: Value,
    },
    Response {
        id: Value,
        outcome: Result<Value, Value>,
    },
}

/// A request of the client.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    pub(crate) id: Value,
    pub(crate) method: String,
    pub(crate) params: Value,
}

/// The error of a reply.
#[derive(Clone, Debug)]
pub(crate) struct RpcError {
    pub(crate) code: i64,
    pub(crate) message: String,
    pub(crate) data: Option<Value>,
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

    pub(crate) fn method_not_found(method: &str) -> Self {
        Self::new(METHOD_NOT_FOUND, format!("method not found: {method}"))
    }
}

/// What a request comes to.
pub(crate) type Outcome = Result<Value, RpcError>;

/// What is no message: the error to answer with, and the id if there is one.
#[derive(Debug)]
pub(crate) struct Malformed {
    pub(crate) id: Value,
    pub(crate) error: RpcError,
}

/// Reads a message.
pub(crate) fn parse(value: Value) -> Result<Incoming, Box<Malformed>> {
    let Value::Object(mut members) = value else {
        // Batches were in one revision only, and nothing that this program is for sends them.
        let error = RpcError::new(INVALID_REQUEST, "the message is not an object");
        let id = Value::Null;
        return Err(Box::new(Malformed { id, error }));
    };
    let id = members.remove("id");
    let refuse = |why: &str| {
        let error = RpcError::new(INVALID_REQUEST, why);
        let id = id.clone().unwrap_or(Value::Null);
        Err(Box::new(Malformed { id, error }))
    };
    if members.get("jsonrpc") != Some(&json!("2.0")) {
        return refuse("jsonrpc is not \"2.0\"");
    }
    let params = members.remove("params");
    if !matches!(params, None | Some(Value::Object(_))) {
        return refuse("params is not an object");
    }
    let params = params.unwrap_or_else(|| Value::Object(Map::new()));
    match (members.remove("method"), id.clone()) {
        (Some(Value::String(method)), None) => Ok(Incoming::Notification { method, params }),
        (Some(Value::String(method)), Some(id)) if is_id(&id) => {
            Ok(Incoming::Request(Request { id, method, params }))
        }
        (Some(Value::String(_)), Some(_)) => refuse("the id is neither a string nor an integer"),
        (Some(_), _) => refuse("the method is not a string"),
        (None, Some(id)) => match (members.remove("result"), members.remove("error")) {
            (Some(result), None) => Ok(Incoming::Response {
                id,
                outcome: Ok(result),
            }),
            (None, Some(error)) => Ok(Incoming::Response {
                id,
                outcome: Err(error),
            }),
            _ => refuse("a response has either a result or an error"),
        },
        (None, None) => refuse("there is neither a method nor an id"),
    }
}

fn is_id(value: &Value) -> bool {
    value.is_string() || value.is_i64() || value.is_u64()
}

/// The message that answers a request.
pub(crate) fn reply(id: &Value, outcome: &Outcome) -> Value {
    match outcome {
        Ok(result) => json!({"jsonrpc": "2.0", "id": id, "result": result}),
        Err(error) => {
            let mut body = json!({"code": error.code, "message": error.message});
            if let Some(data) = &error.data {
                body["data"] = data.clone();
            }
            json!({"jsonrpc": "2.0", "id": id, "error": body})
        }
    }
}

/// The message of a notification.
pub(crate) fn notification(method: &str, params: &Value) -> Value {
    json!({"jsonrpc": "2.0", "method": method, "params": params})
}

/// The message of a request to the client.
pub(crate) fn request(id: u64, method: &str, params: &Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
}

/// A result of a tool that is one text.
pub(crate) fn text(text: impl Into<String>) -> Value {
    json!({"content": [{"type": "text", "text": text.into()}]})
}

/// A result of a tool that failed.
pub(crate) fn failure(message: impl Into<String>) -> Value {
    let mut result = text(message);
    result["isError"] = json!(true);
    result
}
