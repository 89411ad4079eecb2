//! Why a request was not answered, in the words of the protocol.

use std::time::Duration;

use agent_client_protocol::v1::schema::{Error as SchemaError, SessionId};
use agent_client_protocol::{Error, ErrorCode};
use openclaw_content::shown_line;
use openclaw_engine::{Blame, EngineFailure, Pending};
use serde_json::json;
use tokio::time::timeout;

/// How long the engine may take for what is not a turn.
pub(crate) const DEADLINE: Duration = Duration::from_secs(30);
/// How long a message may be, in characters.
const MESSAGE: usize = 2000;

/// It was asked in a wrong way.
pub(crate) fn unfit(message: impl Into<String>) -> Error {
    Error::new(ErrorCode::INVALID_PARAMS, message)
}

/// It can't be asked now.
pub(crate) fn refused(message: impl Into<String>) -> Error {
    Error::new(ErrorCode::INVALID_REQUEST, message)
}

/// The session is not forgotten yet.
pub(crate) fn being_closed() -> Error {
    refused("the session is being closed: try again when it is")
}

/// A disk does not answer.
pub(crate) fn no_disk() -> Error {
    let message = "the files of sessions can't be used: the disk takes too long";
    Error::new(ErrorCode::INTERNAL_ERROR, message)
}

/// There is no such session.
pub(crate) fn unknown_session(name: &SessionId) -> Error {
    let mut error: Error = SchemaError::session_not_found(name.clone()).into();
    error.message = format!("there is no session `{}`", shown_line(&name.0, 64));
    error
}

/// What became of a failure.
pub(crate) fn of_failure(failure: &EngineFailure) -> Error {
    let code = match failure.blame {
        Blame::Operation => ErrorCode::INTERNAL_ERROR,
        Blame::Asker => ErrorCode::INVALID_PARAMS,
    };
    Error::new(code, words(failure)).data(json!({ "code": failure.code }))
}

/// What a failure says, in one line.
pub(crate) fn words(failure: &EngineFailure) -> String {
    let hint = failure.hint.iter().map(|hint| format!(" ({hint})"));
    let words: String = [failure.message.clone()].into_iter().chain(hint).collect();
    shown_line(&words, MESSAGE)
}

/// Waits for the engine, and not for long.
pub(crate) async fn soon<T>(pending: Pending<'_, T>) -> Result<T, EngineFailure> {
    match timeout(DEADLINE, pending).await {
        Ok(answer) => answer,
        Err(_) => {
            let message = format!("there was no answer within {} s", DEADLINE.as_secs());
            Err(EngineFailure::operation("timed-out", message))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_is_told_in_one_line_with_what_to_do() {
        let failure = EngineFailure::operation("model", "the model\nis \u{1b}[2Jgone");
        let error = of_failure(&failure.hint("find it"));
        assert_eq!(error.code, ErrorCode::INTERNAL_ERROR);
        assert_eq!(error.message, "the model is gone (find it)");
        assert_eq!(error.data, Some(json!({ "code": "model" })));
        let failure = EngineFailure::asker("unknown-agent", "there is none");
        assert_eq!(of_failure(&failure).code, ErrorCode::INVALID_PARAMS);
    }

    #[tokio::test(start_paused = true)]
    async fn nobody_waits_for_an_engine_that_does_not_answer() {
        let never: Pending<'_, ()> = Box::pin(std::future::pending());
        assert_eq!(soon(never).await.unwrap_err().code, "timed-out");
    }
}
