//! GET and DELETE of Streamable HTTP, which only the first era has.

use std::sync::Arc;

use hyper::Response;
use serde_json::Value;

use super::body::Body;
use super::checks::{self, Refusal};
use super::events::Events;
use super::{Received, respond};
use crate::fake_server::options::Era;
use crate::fake_server::outlet::Outlet;
use crate::fake_server::server::Server;
use crate::fake_server::session::Session;

/// Opens the stream for what belongs to no request, or goes on with one that broke off.
pub(super) fn answer(server: &Arc<Server>, received: &Received) -> Response<Body> {
    let faults = &server.options.http;
    let without = server.options.stateless || !server.options.speaks(Era::First);
    if faults.no_get || without || checks::is_modern(received) {
        return respond::not_allowed("POST");
    }
    if let Some(status) = faults.get_status
        && server.get_statuses_left.take()
    {
        return respond::status(status);
    }
    match open(server, received) {
        Ok(events) => {
            if let Some(retry) = faults.get_retry {
                let text = format!("retry: {retry}\ndata:\n\n");
                return respond::with_body(200, "text/event-stream", Body::whole(text));
            }
            if server.get_drops_left.take() {
                return dropped();
            }
            events.respond()
        }
        Err(refusal) => respond::error(refusal.status, &Value::Null, refusal.error),
    }
}

/// A stream that breaks off as soon as it is open.
fn dropped() -> Response<Body> {
    let (sender, body) = Body::pieces();
    tokio::spawn(async move {
        sender.send(": hello and goodbye\n\n").await;
        sender.break_off().await;
    });
    respond::with_body(200, "text/event-stream", body)
}

fn open(server: &Arc<Server>, received: &Received) -> Result<Events, Refusal> {
    checks::accepts(received, &["text/event-stream"])?;
    let session = checks::session(server, received)?;
    let mut events = match received.header("last-event-id") {
        Some(id) => resumed(server, &session, id)?,
        None => general(server, &session)?,
    };
    events.ids = true;
    Ok(events)
}

/// The stream for what belongs to no request, from where the last reader stopped.
fn general(server: &Arc<Server>, session: &Session) -> Result<Events, Refusal> {
    let Outlet::Events(stream) = &session.general else {
        return Err(Refusal::new(400, "the session has no stream"));
    };
    let mut events = Events::new(server, stream);
    events.position = stream.taken();
    events.displaced = Some(session.start_reading());
    Ok(events)
}

/// The stream that an event was of, from behind that event.
fn resumed(server: &Arc<Server>, session: &Session, id: &str) -> Result<Events, Refusal> {
    let position = || -> Option<(u64, usize)> {
        let (number, position) = id.split_once('-')?;
        Some((number.parse().ok()?, position.parse().ok()?))
    };
    let (number, position) =
        position().ok_or_else(|| Refusal::new(400, "there is no such event"))?;
    let stream = session
        .stream(number)
        .ok_or_else(|| Refusal::new(400, "there is no such event"))?;
    let mut events = Events::new(server, &stream);
    events.position = position;
    if matches!(&session.general, Outlet::Events(general) if general.number == number) {
        events.displaced = Some(session.start_reading());
    }
    Ok(events)
}

/// Ends a session.
pub(super) fn delete(server: &Arc<Server>, received: &Received) -> Response<Body> {
    let without = server.options.stateless || !server.options.speaks(Era::First);
    if without || checks::is_modern(received) {
        return respond::not_allowed("POST");
    }
    match checks::session(server, received) {
        Ok(session) => {
            server.close_session(&session.id);
            respond::status(200)
        }
        Err(refusal) => respond::error(refusal.status, &Value::Null, refusal.error),
    }
}
