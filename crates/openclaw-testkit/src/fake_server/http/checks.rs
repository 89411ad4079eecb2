//! What the headers of a request must be: the program is also the judge of clients.

use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hyper::HeaderMap;
use serde_json::{Value, json};

use super::Received;
use crate::fake_server::handshake::{self, VERSION_KEY};
use crate::fake_server::message::{BAD_REQUEST, HEADER_MISMATCH, Request, RpcError};
use crate::fake_server::options::{Era, FIRST_ERA};
use crate::fake_server::server::Server;
use crate::fake_server::session::Session;
use crate::fake_server::tools;

/// Why a request is refused, with the status.
#[derive(Debug)]
pub(super) struct Refusal {
    pub(super) status: u16,
    pub(super) error: RpcError,
}

impl Refusal {
    pub(super) fn new(status: u16, message: impl Into<String>) -> Self {
        Self {
            status,
            error: RpcError::new(BAD_REQUEST, message),
        }
    }

    fn mismatch(message: impl Into<String>) -> Self {
        Self {
            status: 400,
            error: RpcError::new(HEADER_MISMATCH, message),
        }
    }
}

/// The client takes what it may be given, and says what it sends.
pub(super) fn content(received: &Received) -> Result<(), Refusal> {
    let sent = received.header("content-type").unwrap_or_default();
    if sent.split(';').next().map(str::trim) != Some("application/json") {
        return Err(Refusal::new(
            415,
            "the content type is not application/json",
        ));
    }
    accepts(received, &["application/json", "text/event-stream"])
}

/// The client takes all of these types.
pub(super) fn accepts(received: &Received, wanted: &[&str]) -> Result<(), Refusal> {
    let accepted = received.header("accept").unwrap_or_default();
    let accepted = accepted
        .split(',')
        .filter_map(|kind| kind.split(';').next());
    // Clients must list them; a wildcard is not enough.
    let is_listed = |kind: &&str| accepted.clone().any(|known| known.trim() == *kind);
    if wanted.iter().all(is_listed) {
        Ok(())
    } else {
        let wanted = wanted.join(" and ");
        Err(Refusal::new(
            406,
            format!("the client must accept {wanted}"),
        ))
    }
}

/// The session that a request of the first era belongs to, and the revision it says.
pub(super) fn session(server: &Server, received: &Received) -> Result<Arc<Session>, Refusal> {
    let version = received.header("mcp-protocol-version");
    if let Some(version) = version
        && !server.options.revisions(Era::First).contains(&version)
    {
        let message = format!("unsupported protocol version: {version}");
        return Err(Refusal::new(400, message));
    }
    if server.options.stateless {
        return Ok(stateless(version));
    }
    let Some(id) = received.header("mcp-session-id") else {
        return Err(Refusal::new(400, "there is no Mcp-Session-Id"));
    };
    let Some(session) = server.session(id) else {
        return Err(unknown_session(server, "there is no such session"));
    };
    let requests = session.count();
    if let Some(limit) = server.options.http.expire_session_after
        && requests >= limit
    {
        server.close_session(id);
        return Err(unknown_session(server, "the session has expired"));
    }
    match (session.version(), version) {
        (Some(agreed), Some(said)) if agreed != said => {
            let message = format!("{agreed} was agreed on, not {said}");
            Err(Refusal::new(400, message))
        }
        // The header came with this revision.
        (Some(agreed), None) if agreed >= "2025-06-18" => {
            Err(Refusal::new(400, "there is no MCP-Protocol-Version"))
        }
        _ => Ok(session),
    }
}

/// The answer to a request of a session that is not known.
fn unknown_session(server: &Server, message: &str) -> Refusal {
    let status = if server.options.http.session_400 {
        400
    } else {
        404
    };
    Refusal::new(status, message)
}

/// A session for one request, of a client that is not remembered.
fn stateless(version: Option<&str>) -> Arc<Session> {
    let session = Session::new("stateless", crate::fake_server::outlet::Outlet::Nowhere);
    // A request without the header is to be taken for one of this revision.
    let version = version.unwrap_or("2025-03-26");
    if let Some(version) = FIRST_ERA.iter().find(|known| **known == version) {
        session.agree(version, json!({}));
    }
    session
}

/// Whether the headers say that a message is a modern one.
pub(super) fn is_modern(received: &Received) -> bool {
    received
        .header("mcp-protocol-version")
        .is_some_and(handshake::is_modern)
}

/// The headers of a modern request say the same as its body.
pub(super) fn modern(headers: &HeaderMap, request: &Request) -> Result<(), Refusal> {
    let said = request
        .params
        .get("_meta")
        .and_then(|meta| meta.get(VERSION_KEY));
    let version = single(headers, "mcp-protocol-version")?;
    let Some(version) = version else {
        return Err(Refusal::mismatch("there is no MCP-Protocol-Version"));
    };
    // What lacks the key altogether is refused for that.
    if said.is_some_and(|said| said.as_str() != Some(version)) {
        return Err(Refusal::mismatch(
            "MCP-Protocol-Version is not that of _meta",
        ));
    }
    if single(headers, "mcp-method")? != Some(request.method.as_str()) {
        return Err(Refusal::mismatch("Mcp-Method is not the method"));
    }
    let key = match request.method.as_str() {
        "tools/call" | "prompts/get" => "name",
        "resources/read" => "uri",
        _ => return Ok(()),
    };
    let name = request.params.get(key).and_then(Value::as_str);
    if decoded(single(headers, "mcp-name")?)?.as_deref() != name {
        return Err(Refusal::mismatch(format!("Mcp-Name is not the {key}")));
    }
    if request.method == "tools/call" {
        parameters(headers, request)?;
    }
    Ok(())
}

/// The arguments that are repeated in headers are the same there.
fn parameters(headers: &HeaderMap, request: &Request) -> Result<(), Refusal> {
    let tool = request.params["name"].as_str().unwrap_or_default();
    for (argument, header) in tools::header_parameters(tool) {
        let value = &request.params["arguments"][*argument];
        let expected = match value {
            Value::Null => None,
            Value::String(text) => Some(text.clone()),
            other => Some(other.to_string()),
        };
        let name = format!("mcp-param-{}", header.to_ascii_lowercase());
        if decoded(single(headers, &name)?)? != expected {
            let message = format!("Mcp-Param-{header} is not the argument {argument}");
            return Err(Refusal::mismatch(message));
        }
    }
    Ok(())
}

/// A header that must not be there twice.
fn single<'headers>(
    headers: &'headers HeaderMap,
    name: &str,
) -> Result<Option<&'headers str>, Refusal> {
    let mut values = headers.get_all(name).iter();
    let Some(value) = values.next() else {
        return Ok(None);
    };
    if values.next().is_some() {
        return Err(Refusal::mismatch(format!("{name} is there twice")));
    }
    let value = value.to_str();
    value
        .map(Some)
        .map_err(|_| Refusal::mismatch(format!("{name} is not plain ASCII")))
}

/// Takes the encoding off a value that could not be a header as it was.
fn decoded(value: Option<&str>) -> Result<Option<String>, Refusal> {
    let Some(value) = value else {
        return Ok(None);
    };
    let encoded = value
        .strip_prefix("=?base64?")
        .and_then(|rest| rest.strip_suffix("?="));
    match encoded {
        None => Ok(Some(value.to_owned())),
        Some(encoded) => STANDARD
            .decode(encoded)
            .ok()
            .and_then(|bytes| String::from_utf8(bytes).ok())
            .map(Some)
            .ok_or_else(|| Refusal::mismatch("a header is not proper base64")),
    }
}
