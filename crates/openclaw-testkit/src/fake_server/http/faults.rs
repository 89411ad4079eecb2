//! Responses that come instead of an answer.

use std::sync::Arc;

use hyper::{Method, Response};
use serde_json::{Value, json};

use super::body::Body;
use super::{HangUp, Received, respond};
use crate::fake_server::message::{BAD_REQUEST, RpcError};
use crate::fake_server::options::StatusBody;
use crate::fake_server::server::Server;

/// The other path that works, for redirects.
pub(super) const ELSEWHERE: &str = "/elsewhere";
/// The length of a body that is too long for an error.
const HUGE: usize = 64 << 20;

/// What is answered instead, if anything.
pub(super) fn instead(
    server: &Arc<Server>,
    received: &Received,
) -> Result<Option<Response<Body>>, HangUp> {
    let faults = &server.options.http;
    let is_post = received.method == Method::POST;
    if is_post && server.hang_ups_left.take() {
        return Err(HangUp);
    }
    if faults.require_host && !is_own_host(received) {
        return Ok(Some(refused(server, 403)));
    }
    if !faults
        .require_header
        .iter()
        .all(|wanted| has(received, wanted))
    {
        return Ok(Some(refused(server, 401)));
    }
    if !is_post {
        return Ok(None);
    }
    if let Some(target) = &faults.redirect
        && received.uri.path() != ELSEWHERE
    {
        let target = if target == "self" { ELSEWHERE } else { target };
        let mut response = respond::status(faults.redirect_status);
        respond::set(&mut response, "location", target);
        return Ok(Some(response));
    }
    Ok(status(server, received))
}

/// The status that `--status` asks for, if it is the turn of this request.
fn status(server: &Server, received: &Received) -> Option<Response<Body>> {
    let faults = &server.options.http;
    let code = faults.status?;
    let message = received.json();
    let meant = match &faults.status_on {
        Some(method) => message["method"] == json!(method),
        None => true,
    };
    if !meant || !server.statuses_left.take() {
        return None;
    }
    let mut response = match faults.status_body {
        StatusBody::Empty => respond::status(code),
        StatusBody::Html => {
            let page = "<!doctype html><title>Error</title><h1>Something went wrong</h1>";
            respond::with_body(code, "text/html", Body::whole(page))
        }
        StatusBody::Json => {
            let id = message.get("id").unwrap_or(&Value::Null);
            respond::error(code, id, RpcError::new(BAD_REQUEST, "as it was told to"))
        }
        StatusBody::Huge => respond::with_body(code, "text/html", Body::whole(vec![b'h'; HUGE])),
    };
    if let Some(value) = &faults.retry_after {
        respond::set(&mut response, "retry-after", value);
    }
    authenticate(server, &mut response);
    Some(response)
}

fn refused(server: &Server, code: u16) -> Response<Body> {
    let mut response = respond::status(code);
    authenticate(server, &mut response);
    response
}

fn authenticate(server: &Server, response: &mut Response<Body>) {
    if let (Some(value), 401 | 403) = (
        &server.options.http.www_authenticate,
        response.status().as_u16(),
    ) {
        respond::set(response, "www-authenticate", value);
    }
}

/// Whether a request has the header of `NAME=VALUE`.
fn has(received: &Received, wanted: &str) -> bool {
    let (name, value) = wanted.split_once('=').unwrap_or((wanted, ""));
    received.header(name) == Some(value)
}

fn is_own_host(received: &Received) -> bool {
    let hosts = ["127.0.0.1", "localhost"];
    let host = received.header("host").unwrap_or_default();
    hosts
        .iter()
        .any(|name| host == format!("{name}:{}", received.port))
}
