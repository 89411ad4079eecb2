//! Why there is no answer, in OpenAI's shape and with a status.

use std::borrow::Cow;

use axum::Json;
use axum::response::{IntoResponse, Response};
use http::{HeaderName, HeaderValue, StatusCode};
use openclaw_content::shown_line;
use openclaw_engine::{Blame, EngineFailure};
use serde_json::{Value, json};

/// OpenAI's client libraries repeat what failed on its own, unless this says that they must not.
const SHOULD_RETRY: HeaderName = HeaderName::from_static("x-should-retry");

/// How much of what somebody sent is repeated to them.
const REPEATED: usize = 200;

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Problem {
    pub(super) status: StatusCode,
    message: String,
    /// What of the request it is about.
    param: Option<String>,
    code: Option<Cow<'static, str>>,
    /// Whether it makes no sense, or is dangerous, to ask the same again.
    is_final: bool,
}

impl Problem {
    /// The request can't be understood.
    pub(super) fn invalid(param: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            status: StatusCode::BAD_REQUEST,
            message: message.into(),
            param: Some(param.into()),
            code: Some(Cow::Borrowed("invalid_value")),
            is_final: true,
        }
    }

    /// The body of the request is none that can be read.
    pub(super) fn body(status: StatusCode, message: impl Into<String>) -> Self {
        Self {
            status,
            message: message.into(),
            param: None,
            code: None,
            is_final: true,
        }
    }

    /// The request wants something that would change what the answer means, and can't be had.
    pub(super) fn unsupported(param: &'static str, message: impl Into<String>) -> Self {
        Self {
            code: Some(Cow::Borrowed("unsupported_parameter")),
            ..Self::invalid(param, message)
        }
    }

    /// There is no such model.
    pub(super) fn unknown_model(name: &str) -> Self {
        let name = shown_line(name, REPEATED);
        Self {
            status: StatusCode::NOT_FOUND,
            code: Some(Cow::Borrowed("model_not_found")),
            ..Self::invalid(
                "model",
                format!(
                    "there is no model `{name}`: `openclaw` is the default agent, `openclaw/ID` \
                     another one, `PROVIDER/MODEL` the default agent with that model"
                ),
            )
        }
    }

    /// Too much is going on.
    pub(super) fn busy(message: impl Into<String>) -> Self {
        Self {
            status: StatusCode::TOO_MANY_REQUESTS,
            message: message.into(),
            param: None,
            code: Some(Cow::Borrowed("busy")),
            is_final: false,
        }
    }

    /// What an engine says.
    pub(super) fn of(failure: &EngineFailure) -> Self {
        let message = match &failure.hint {
            Some(hint) => format!("{} ({hint})", failure.message),
            None => failure.message.clone(),
        };
        let (status, is_final) = status(failure);
        let (code, param) = match &*failure.code {
            "unknown-agent" | "unknown-model" => ("model_not_found".into(), Some("model")),
            "context-too-long" => ("context_length_exceeded".into(), Some("messages")),
            code => (Cow::Owned(code.replace('-', "_")), None),
        };
        Self {
            status,
            message,
            param: param.map(str::to_owned),
            code: Some(code),
            is_final,
        }
    }

    /// The same, where something was done that must not be done again by somebody who only asks again.
    pub(super) fn after_calls(mut self, has_called: bool) -> Self {
        self.is_final |= has_called;
        self
    }

    /// OpenAI's shape.
    pub(super) fn json(&self) -> Value {
        let kind = match self.status {
            StatusCode::TOO_MANY_REQUESTS => "rate_limit_error",
            status if status.is_client_error() => "invalid_request_error",
            _ => "server_error",
        };
        json!({ "error": {
            "message": self.message,
            "type": kind,
            "param": self.param,
            "code": self.code,
        } })
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let mut response = (self.status, Json(self.json())).into_response();
        if self.is_final {
            let headers = response.headers_mut();
            headers.insert(SHOULD_RETRY, HeaderValue::from_static("false"));
        }
        response
    }
}

/// The status for a failure, and whether asking again would only fail again.
fn status(failure: &EngineFailure) -> (StatusCode, bool) {
    match &*failure.code {
        "unknown-agent" | "unknown-model" => (StatusCode::NOT_FOUND, true),
        "context-too-long" => (StatusCode::BAD_REQUEST, true),
        "session-in-use" | "model-busy" => (StatusCode::TOO_MANY_REQUESTS, false),
        "turn-timed-out" => (StatusCode::GATEWAY_TIMEOUT, true),
        "model-timed-out" => (StatusCode::GATEWAY_TIMEOUT, false),
        "no-model-key" | "model-key-refused" | "model-misconfigured" | "model-refused" => {
            (StatusCode::BAD_GATEWAY, true)
        }
        code if code.starts_with("model-") => (StatusCode::BAD_GATEWAY, false),
        _ if failure.blame == Blame::Asker => (StatusCode::BAD_REQUEST, true),
        // Whether anything was done is not known.
        _ => (StatusCode::INTERNAL_SERVER_ERROR, true),
    }
}

/// The failure for a turn in which we failed ourselves; what it was is said elsewhere.
pub(super) fn broken() -> EngineFailure {
    EngineFailure::operation(
        "internal",
        "OpenClaw failed, which is a bug; its log says more",
    )
}
