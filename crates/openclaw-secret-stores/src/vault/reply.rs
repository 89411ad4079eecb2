//! What an answer means, in our words.

use bytes::Bytes;
use http::{Response, StatusCode};
use openclaw_content::shown_line;
use openclaw_secrets::Redactor;
use serde_json::Value as Json;

use crate::error::SecretError;
use crate::http::{Attempt, retry_after};
use crate::value::Document;

/// How much of what a server says is repeated.
const SHOWN: usize = 200;

/// An answer that somebody who asked can do something with.
pub(super) enum Reply {
    /// What was asked for.
    Document(Document),
    /// There is no such thing; what is said about it.
    Missing(Document),
    /// The token does not allow it.
    Denied {
        /// Whether that is because nobody knows the token.
        is_unknown: bool,
    },
    /// The question is not one for this place; why, for a person.
    Bad(String),
}

/// What is known when the status of an answer is.
pub(super) enum Read {
    /// The attempt is over.
    Over(Attempt<Reply>),
    /// The server is sealed, or not initialised.
    Sealed,
}

/// Reads an answer of the server that is shown as `server`.
pub(super) fn read(server: &str, redactor: &Redactor, answer: &Response<Bytes>) -> Read {
    let document = Document::parse(answer.body()).ok();
    let said = said(document.as_deref());
    let done = |reply| Read::Over(Attempt::Done(Ok(reply)));
    let failed = |error| Read::Over(Attempt::Done(Err(error)));
    let quoted = || shown_line(&redactor.redact(&said), SHOWN);
    match (answer.status(), document) {
        (StatusCode::SERVICE_UNAVAILABLE, _) if said.contains("is sealed") => Read::Sealed,
        (StatusCode::SERVICE_UNAVAILABLE, _) if said.contains("locked") => {
            let reason = format!("an administrator has locked the namespace on {server}");
            failed(SecretError::refused(reason))
        }
        (status, _) if is_passing(status) || said.contains("Upgrading from non-versioned") => {
            let reason = busy(server, status, &said, &quoted());
            let error = SecretError::unavailable(reason);
            Read::Over(Attempt::Again(error, retry_after(answer.headers())))
        }
        (StatusCode::FORBIDDEN, _) => done(Reply::Denied {
            // Older servers do not say it.
            is_unknown: said.contains("invalid token") || said.contains("bad token"),
        }),
        (status, Some(document)) if status.is_success() => done(Reply::Document(document)),
        (StatusCode::NOT_FOUND, Some(document)) => done(Reply::Missing(document)),
        (StatusCode::BAD_REQUEST | StatusCode::METHOD_NOT_ALLOWED, Some(_)) => {
            done(Reply::Bad(quoted()))
        }
        (status, Some(_)) => {
            let colon = if said.is_empty() { "" } else { ": " };
            let reason = format!("{server} answers with status {status}{colon}{}", quoted());
            failed(SecretError::unavailable(reason))
        }
        (status, None) => failed(not_vault(server, status, answer.body())),
    }
}

/// Why a server that answers is of no use now.
pub(super) fn sealed(server: &str, is_initialised: bool) -> SecretError {
    if is_initialised {
        SecretError::unavailable(format!("{server} is sealed: it can't read its own secrets"))
            .hint("run `vault operator unseal`")
    } else {
        SecretError::unavailable(format!(
            "{server} is not initialised: it has no secrets yet"
        ))
        .hint("run `vault operator init`")
    }
}

/// What the server says about what is wrong.
fn said(document: Option<&Json>) -> String {
    let errors = document.and_then(|document| document.get("errors")?.as_array());
    let errors = errors.into_iter().flatten().filter_map(Json::as_str);
    errors.collect::<Vec<_>>().join("; ")
}

/// Whether a status may be another one the next time. 412 is from a server that has not seen yet
/// what another one knows; 472 and 473 are of standby servers.
fn is_passing(status: StatusCode) -> bool {
    matches!(status.as_u16(), 412 | 429 | 472 | 473)
        || status.is_server_error() && status != StatusCode::NOT_IMPLEMENTED
}

fn busy(server: &str, status: StatusCode, said: &str, quoted: &str) -> String {
    let number = status.as_u16();
    match number {
        429 => format!("{server} is asked too much (status 429)"),
        472 | 473 => format!("{server} is a standby (status {number})"),
        _ if said.contains("not active") || said.contains("no active") => {
            format!("{server} is a standby, and there is no active server")
        }
        400 => format!("{server} is busy giving versions to the secrets of this mount"),
        _ if said.is_empty() => format!("{server} answers with status {number}"),
        _ => format!("{server} answers with status {number}: {quoted}"),
    }
}

/// Every answer of Vault is JSON.
fn not_vault(server: &str, status: StatusCode, body: &Bytes) -> SecretError {
    let number = status.as_u16();
    let reason = format!("{server} does not answer as Vault does: status {number} without JSON");
    let is_secured = body.starts_with(b"Client sent an HTTP request to an HTTPS server");
    SecretError::misconfigured(reason).hint(if is_secured {
        "write `https://` in `VAULT_ADDR`"
    } else {
        "check `VAULT_ADDR`"
    })
}
