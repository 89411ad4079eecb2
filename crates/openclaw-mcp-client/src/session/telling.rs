//! What is told of a request to those who collect traces: what it is about, and how it ended; nothing of
//! what is in it.

use openclaw_telemetry::{Details, ExchangeError as Told};
use serde::Deserialize;
use serde_json::Value;

use super::core::{Core, Request};
use crate::error::{RequestError, UnknownOutcome};
use crate::transport::{ExchangeError, Exchanged, Link};
use crate::wire::RawJson;

impl Core {
    /// Says what a request is about.
    pub(super) fn tell(&self, about: &mut Details<'_, '_>, request: &Request, id: u64) {
        let method = request.method;
        let text = |name: &str| request.params.get(name).and_then(Value::as_str);
        match method {
            "tools/call" => about.tool(method, text("name").unwrap_or_default()),
            "prompts/get" => about.prompt(method, text("name").unwrap_or_default()),
            "resources/read" | "resources/subscribe" | "resources/unsubscribe" => {
                about.resource(text("uri").unwrap_or_default());
            }
            _ => {}
        }
        about.server(&self.inbound.server);
        about.request(id);
        about.wire(self.link.wire());
        if let Some(terms) = self.terms() {
            about.version(terms.version);
        }
        if let Link::Streamable(streamable) = &self.link
            && let Some(start) = streamable.session_start()
        {
            about.session(&start);
        }
    }
}

/// Why an exchange gave no result, in a word.
pub(super) fn failure(method: &str, exchanged: &Exchanged) -> Option<Told> {
    let error = match exchanged {
        Ok(Ok(result)) => {
            return (method == "tools/call" && says_failed(result)).then_some(Told::Tool);
        }
        Ok(Err(error)) => return Some(Told::Code(error.code)),
        Err(ExchangeError::SessionExpired(_)) => return Some(Told::Other("session-expired")),
        Err(ExchangeError::Other(error)) => error,
    };
    Some(match error {
        RequestError::Refused(error) => Told::Code(error.code),
        RequestError::Http(failure) => Told::Status(failure.status.as_u16()),
        RequestError::NotSent(_) => Told::Other("not-sent"),
        RequestError::OutcomeUnknown(UnknownOutcome::Lost(_)) => Told::Other("connection-lost"),
        RequestError::OutcomeUnknown(_) => Told::Other("timeout"),
        RequestError::Unauthorized(_) | RequestError::NoToken(_) => Told::Other("unauthorized"),
        RequestError::BadAnswer(_) | RequestError::BadResult(_) => Told::Other("bad-answer"),
        RequestError::NotOffered(_) => Told::Other("not-offered"),
    })
}

/// Whether the result of a call says that the tool has failed.
fn says_failed(result: &RawJson) -> bool {
    #[derive(Deserialize)]
    struct Result {
        #[serde(rename = "isError", default)]
        is_error: Value,
    }
    serde_json::from_str::<Result>(result.text()).is_ok_and(|it| it.is_error == Value::Bool(true))
}
