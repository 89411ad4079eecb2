//! The HTTP+SSE of 2024-11-05: one stream for everything, and an address to post to.

use std::sync::Arc;

use hyper::Response;
use serde_json::Value;

use super::body::Body;
use super::events::Events;
use super::{Received, respond};
use crate::fake_server::call::Call;
use crate::fake_server::dispatch;
use crate::fake_server::message::{self, Incoming, PARSE_ERROR, RpcError};
use crate::fake_server::options::Era;
use crate::fake_server::outlet::Outlet;
use crate::fake_server::server::Server;

/// Opens a session with its stream, which begins by saying where to post.
pub(super) fn open(server: &Arc<Server>, received: &Received) -> Response<Body> {
    let faults = &server.options.http;
    let session = server.open_session();
    let Outlet::Events(stream) = &session.general else {
        return respond::status(500);
    };
    let path = format!("/message?sessionId={}", session.id);
    let endpoint = if faults.endpoint_foreign {
        // The same server by another name, so that a client that falls for it is seen.
        format!("http://localhost:{}{path}", received.port)
    } else if faults.endpoint_absolute {
        let scheme = if faults.tls.is_empty() {
            "http"
        } else {
            "https"
        };
        format!("{scheme}://127.0.0.1:{}{path}", received.port)
    } else {
        path
    };
    let mut events = Events::new(server, stream);
    if !faults.no_endpoint {
        events.greeting = Some(format!("event: endpoint\ndata: {endpoint}\n\n"));
    }
    events.limit = faults.sse_drop_after;
    events.owns = Some(session.id.clone());
    events.respond()
}

/// Takes a message; the reply comes on the stream.
pub(super) fn receive(server: &Arc<Server>, received: Received) -> Response<Body> {
    let query = received.uri.query().unwrap_or_default();
    let id = query
        .split('&')
        .find_map(|pair| pair.strip_prefix("sessionId="));
    let Some(session) = id.and_then(|id| server.session(id)) else {
        return respond::status(404);
    };
    let value: Value = match serde_json::from_slice(&received.body) {
        Ok(value) => value,
        Err(error) => {
            let error = RpcError::new(PARSE_ERROR, error.to_string());
            return respond::error(400, &Value::Null, error);
        }
    };
    match message::parse(value) {
        Ok(Incoming::Request(request)) => {
            let call = Call {
                server: Arc::clone(server),
                outlet: session.general.clone(),
                cancelled: session.begin(&request.id),
                session: Arc::clone(&session),
                request,
                era: Era::First,
                headers: Some(received.headers),
            };
            // The end of the program ends it.
            tokio::spawn(async move { dispatch::answer(&call).await });
        }
        Ok(Incoming::Notification { method, params }) => {
            dispatch::notified(server, &session, &method, &params);
        }
        Ok(Incoming::Response { id, outcome }) => {
            dispatch::responded(server, &session, &id, outcome);
        }
        Err(malformed) => return respond::error(400, &malformed.id, malformed.error),
    }
    let body = Body::whole("Accepted");
    respond::with_body(202, "text/plain", body)
}
