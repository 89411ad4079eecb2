//! Why a request was not answered as it hoped, in the one shape that all errors have.

use axum::body::Body;
use axum::response::{IntoResponse, Response};
use http::{HeaderValue, StatusCode, header};
use openclaw_content::shown_line;
use openclaw_engine::{Blame, EngineFailure};
use serde_json::{Value, json};

/// How much of a foreign text is repeated.
const SHOWN: usize = 300;

/// Why a request was not answered as it hoped.
#[derive(Debug)]
pub(crate) struct Problem {
    status: StatusCode,
    code: String,
    message: String,
    hint: Option<String>,
    headers: Vec<(header::HeaderName, HeaderValue)>,
}

impl Problem {
    pub(crate) fn new(status: StatusCode, code: &str, message: impl Into<String>) -> Self {
        Self {
            status,
            code: code.to_owned(),
            message: message.into(),
            hint: None,
            headers: Vec::new(),
        }
    }

    /// The request is not what it should be.
    pub(crate) fn bad_request(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "bad-request", message)
    }

    /// Something that goes on for too long or is not right here; the log says more.
    pub(crate) fn internal() -> Self {
        Self::new(
            StatusCode::INTERNAL_SERVER_ERROR,
            "internal",
            "something went wrong in the gateway; its log says more",
        )
    }

    #[must_use]
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    #[must_use]
    pub(crate) fn header(mut self, name: header::HeaderName, value: HeaderValue) -> Self {
        self.headers.push((name, value));
        self
    }

    /// What programs read.
    pub(crate) fn json(&self) -> Value {
        let mut error = json!({ "code": self.code, "message": self.message });
        if let (Some(hint), Some(error)) = (&self.hint, error.as_object_mut()) {
            error.insert("hint".to_owned(), Value::from(hint.as_str()));
        }
        json!({ "error": error })
    }
}

impl From<EngineFailure> for Problem {
    fn from(failure: EngineFailure) -> Self {
        let mut problem = Self::new(status(&failure), &failure.code, failure.message);
        problem.hint = failure.hint;
        problem
    }
}

fn status(failure: &EngineFailure) -> StatusCode {
    match (failure.blame, failure.code.as_ref()) {
        (Blame::Asker, code) if code.starts_with("unknown-") => StatusCode::NOT_FOUND,
        // What is asked for is fine; the file is not.
        (Blame::Asker, "config") => StatusCode::UNPROCESSABLE_ENTITY,
        (Blame::Asker, "message-too-large") => StatusCode::PAYLOAD_TOO_LARGE,
        (Blame::Asker, _) => StatusCode::BAD_REQUEST,
        (Blame::Operation, "denied") => StatusCode::FORBIDDEN,
        (Blame::Operation, "busy" | "session-in-use") => StatusCode::TOO_MANY_REQUESTS,
        (Blame::Operation, "stopped" | "gateway-gone") => StatusCode::SERVICE_UNAVAILABLE,
        (Blame::Operation, "no-config-file") => StatusCode::CONFLICT,
        (
            Blame::Operation,
            "server-not-ready" | "needs-auth" | "connect" | "unreachable" | "model"
            | "prompt-failed" | "call-failed" | "outcome-unknown",
        ) => StatusCode::BAD_GATEWAY,
        (Blame::Operation, "turn-timed-out") => StatusCode::GATEWAY_TIMEOUT,
        (Blame::Operation, _) => StatusCode::INTERNAL_SERVER_ERROR,
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let mut response = Response::new(Body::from(self.json().to_string()));
        *response.status_mut() = self.status;
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, JSON);
        headers.extend(self.headers);
        response
    }
}

/// The type of what we answer with.
pub(crate) const JSON: HeaderValue = HeaderValue::from_static("application/json");

/// A foreign text, fit to stand in one line of ours.
pub(crate) fn foreign(text: &str) -> String {
    shown_line(text, SHOWN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whose_fault_it_is_decides_about_the_status() {
        for (failure, expected) in [
            (EngineFailure::asker("unknown-tool", ""), 404),
            (EngineFailure::asker("unknown-agent", ""), 404),
            (EngineFailure::asker("ambiguous-tool", ""), 400),
            (EngineFailure::asker("invalid-arguments", ""), 400),
            (EngineFailure::asker("config", ""), 422),
            (EngineFailure::operation("busy", ""), 429),
            (EngineFailure::operation("server-not-ready", ""), 502),
            (EngineFailure::operation("stopped", ""), 503),
            (EngineFailure::operation("state", ""), 500),
        ] {
            assert_eq!(status(&failure).as_u16(), expected, "{}", failure.code);
        }
    }

    #[test]
    fn a_hint_is_there_only_if_there_is_one() {
        let bare = Problem::bad_request("no");
        assert_eq!(
            bare.json(),
            json!({ "error": { "code": "bad-request", "message": "no" } })
        );
        let full = Problem::bad_request("no").hint("do");
        assert_eq!(full.json()["error"]["hint"], "do");
    }
}
