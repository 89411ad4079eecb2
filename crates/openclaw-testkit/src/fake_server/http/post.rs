//! POST of Streamable HTTP, in both eras.

use std::sync::Arc;
use std::time::Duration;

use hyper::Response;
use serde_json::{Value, json};

use super::body::Body;
use super::checks::{self, Refusal};
use super::events::{CancelOnDrop, Events};
use super::{Received, respond};
use crate::fake_server::call::Call;
use crate::fake_server::message::{
    self, HEADER_MISMATCH, Incoming, METHOD_NOT_FOUND, MISSING_CAPABILITY, PARSE_ERROR, Request,
    RpcError, UNSUPPORTED_VERSION,
};
use crate::fake_server::options::Era;
use crate::fake_server::outlet::{EventStream, Frame, Outlet};
use crate::fake_server::server::Server;
use crate::fake_server::session::Session;
use crate::fake_server::{dispatch, handshake};

/// How long a modern request may take to turn out wrong before the response begins.
const SECOND_THOUGHTS: Duration = Duration::from_millis(20);

/// Answers a POST.
pub(super) async fn answer(server: &Arc<Server>, received: Received) -> Response<Body> {
    if let Err(refusal) = checks::content(&received) {
        return respond::error(refusal.status, &Value::Null, refusal.error);
    }
    let value: Value = match serde_json::from_slice(&received.body) {
        Ok(value) => value,
        Err(error) => {
            let error = RpcError::new(PARSE_ERROR, error.to_string());
            return respond::error(400, &Value::Null, error);
        }
    };
    match message::parse(value) {
        Ok(Incoming::Request(request)) => answer_request(server, received, request).await,
        Ok(Incoming::Notification { method, params }) => accept(server, &received, |session| {
            dispatch::notified(server, session, &method, &params);
        }),
        Ok(Incoming::Response { id, outcome }) => accept(server, &received, |session| {
            dispatch::responded(server, session, &id, outcome);
        }),
        Err(malformed) => respond::error(400, &malformed.id, malformed.error),
    }
}

/// Takes something that gets no reply.
fn accept(server: &Server, received: &Received, act: impl FnOnce(&Arc<Session>)) -> Response<Body> {
    if checks::is_modern(received) && server.options.speaks(Era::Modern) {
        return respond::status(202);
    }
    match checks::session(server, received) {
        Ok(session) => {
            act(&session);
            respond::status(202)
        }
        Err(refusal) => respond::error(refusal.status, &Value::Null, refusal.error),
    }
}

async fn answer_request(
    server: &Arc<Server>,
    received: Received,
    request: Request,
) -> Response<Body> {
    let id = request.id.clone();
    let mut era = handshake::era_of(&server.options, &request.method, &request.params);
    if checks::is_modern(&received) && server.options.speaks(Era::Modern) {
        era = Era::Modern;
    }
    let opens = request.method == "initialize" && era == Era::First;
    let session = match era {
        Era::Modern => modern_session(server, &received, &request),
        Era::First if opens => Ok(new_session(server)),
        Era::First => checks::session(server, &received),
    };
    let session = match session {
        Ok(session) => session,
        Err(refusal) => return respond::error(refusal.status, &id, refusal.error),
    };
    let call = Call {
        server: Arc::clone(server),
        cancelled: session.begin(&id),
        session: Arc::clone(&session),
        outlet: Outlet::Nowhere,
        request,
        era,
        headers: Some(received.headers),
    };
    let mut response = run(call).await;
    if opens && !server.options.stateless {
        if session.version().is_some() {
            respond::set(&mut response, "mcp-session-id", &session.id);
        } else {
            server.close_session(&session.id);
        }
    }
    response
}

fn new_session(server: &Server) -> Arc<Session> {
    if server.options.stateless {
        Session::new("stateless", Outlet::Nowhere)
    } else {
        server.open_session()
    }
}

/// Every modern request is on its own.
fn modern_session(
    server: &Server,
    received: &Received,
    request: &Request,
) -> Result<Arc<Session>, Refusal> {
    let says_nothing = request.method == "initialize" && !checks::is_modern(received);
    if !says_nothing {
        checks::modern(&received.headers, request)?;
    }
    let status = 400;
    handshake::check_modern(server, request).map_err(|error| Refusal { status, error })?;
    Ok(Session::new("modern", Outlet::Nowhere))
}

/// Answers a request as JSON or as a stream.
async fn run(mut call: Call) -> Response<Body> {
    if dispatch::is_mute(&call) {
        std::future::pending::<()>().await;
    }
    let server = Arc::clone(&call.server);
    let session = Arc::clone(&call.session);
    let stream = EventStream::new(server.next_number());
    session.keep(&stream);
    call.outlet = Outlet::Events(Arc::clone(&stream));
    let era = call.era;
    let streams = is_streamed(&call);
    let opens = call.request.method == "initialize";
    let cancel = (era == Era::Modern).then(|| CancelOnDrop(Arc::clone(&call.cancelled)));
    let is_primed = session
        .version()
        .is_some_and(|version| version >= "2025-11-25");
    if streams && server.options.http.drop_stream && !is_primed && era == Era::First {
        // There must be an event with an id before the one that breaks off.
        let params = json!({"level": "info", "data": "an event to resume from"});
        let message = message::notification("notifications/message", &params);
        call.outlet.send(Frame::message(&message)).await;
    }
    let finished = Arc::clone(&stream);
    // In the first era it goes on when the connection is lost; the end of the program ends it.
    tokio::spawn(async move {
        dispatch::answer(&call).await;
        finished.finish();
    });
    if !streams {
        let response = as_json(&server, &session, &stream, era).await;
        drop(cancel);
        return response;
    }
    if opens {
        // Whether there is a session, and with it a header, is known with the reply.
        stream.next(0).await;
    } else if era == Era::Modern
        && let Ok(Some(frame)) = tokio::time::timeout(SECOND_THOUGHTS, stream.next(0)).await
        && status_of(&frame, era) != 200
    {
        return respond::json(&server, status_of(&frame, era), frame.bytes);
    }
    let mut events = Events::new(&server, &stream);
    events.ids = era == Era::First;
    events.primed = era == Era::First && is_primed && !server.options.http.drop_stream_no_ids;
    events.spoilable = true;
    events.cancel = cancel;
    events.respond()
}

/// Calls are streamed and the rest is not, so that clients meet both.
fn is_streamed(call: &Call) -> bool {
    let options = &call.server.options;
    let faults = &options.http;
    let method = call.request.method.as_str();
    let needs_stream =
        faults.drop_stream || faults.drop_stream_no_ids || faults.poll || faults.endless_event;
    if method == "subscriptions/listen" || needs_stream && options.is_spoilt(method) {
        true
    } else if method == "initialize" {
        faults.sse_only
    } else {
        !faults.json_only && (faults.sse_only || method == "tools/call")
    }
}

/// The reply as JSON; what else there is goes where there is a stream for it.
async fn as_json(
    server: &Server,
    session: &Session,
    stream: &EventStream,
    era: Era,
) -> Response<Body> {
    let mut position = 0;
    while let Some(frame) = stream.next(position).await {
        position += 1;
        if frame.reply_to.is_some() {
            return respond::json(server, status_of(&frame, era), frame.bytes);
        }
        session.general.send(frame).await;
    }
    // It was cancelled.
    respond::status(202)
}

/// The status that goes with a reply: in the first era errors have none of their own.
fn status_of(frame: &Frame, era: Era) -> u16 {
    match (era, frame.error) {
        (Era::Modern, Some(METHOD_NOT_FOUND)) => 404,
        (Era::Modern, Some(HEADER_MISMATCH | MISSING_CAPABILITY | UNSUPPORTED_VERSION)) => 400,
        _ => 200,
    }
}
