//! Responses that are made in one go.

use std::time::Duration;

use hyper::header::{HeaderName, HeaderValue};
use hyper::{Response, StatusCode};
use serde_json::Value;

use super::body::Body;
use crate::fake_server::message::{self, RpcError};
use crate::fake_server::server::Server;

/// A response with a body of some type.
pub(super) fn with_body(status: u16, content_type: &str, body: Body) -> Response<Body> {
    let mut response = Response::new(body);
    *response.status_mut() = StatusCode::from_u16(status).unwrap_or(StatusCode::OK);
    set(&mut response, "content-type", content_type);
    response
}

/// A response without a body.
pub(super) fn status(status: u16) -> Response<Body> {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::from_u16(status).unwrap_or(StatusCode::OK);
    response
}

/// Sets a header; a value that can't be one is left out.
pub(super) fn set(response: &mut Response<Body>, name: &'static str, value: &str) {
    if let Ok(value) = HeaderValue::from_bytes(value.as_bytes()) {
        let name = HeaderName::from_static(name);
        response.headers_mut().insert(name, value);
    }
}

/// The method is not for this address.
pub(super) fn not_allowed(allowed: &str) -> Response<Body> {
    let mut response = status(405);
    set(&mut response, "allow", allowed);
    response
}

/// An error of the protocol with the status that it asks for.
pub(super) fn error(status: u16, id: &Value, error: RpcError) -> Response<Body> {
    let body = message::reply(id, &Err(error)).to_string();
    with_body(status, "application/json", Body::whole(body))
}

/// A reply as the body of a response.
pub(super) fn json(server: &Server, status: u16, bytes: Vec<u8>) -> Response<Body> {
    let faults = &server.options.http;
    let body = match faults.slow_body {
        Some(pause) => Body::slow(bytes, Duration::from_millis(pause)),
        None => Body::whole(bytes),
    };
    let content_type = if faults.wrong_content_type {
        "text/plain"
    } else {
        "application/json"
    };
    with_body(status, content_type, body)
}
