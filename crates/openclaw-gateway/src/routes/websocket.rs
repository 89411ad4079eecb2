//! The engine over a WebSocket.

mod conversation;

use std::net::IpAddr;
use std::sync::Arc;

use axum::extract::FromRequestParts as _;
use axum::extract::ws::WebSocketUpgrade;
use axum::response::Response;
use http::{HeaderValue, StatusCode, Version, header};
use tokio::sync::OwnedSemaphorePermit;

use crate::door::Visitor;
use crate::entrance::stopping;
use crate::peer::Peer;
use crate::problem::{Problem, foreign};
use crate::visit::Visit;

/// How large a message may be that comes.
const MESSAGE: usize = 16 * 1024 * 1024;
/// How large one may be that goes. What does not fit is told instead of sent.
const ANSWER: usize = 64 * 1024 * 1024;
/// What is added to each, and the little ones that may wait beside it.
const FRAMES: usize = 1024 * 1024;
/// How much somebody may send who has not said yet who they are: the first message, and little more. The
/// size of messages is settled when a WebSocket begins, so that it is the connection that is bounded.
const STRANGER: usize = 17 * 1024;

/// How much is read ahead: each of them has this much, also when nothing is said.
const READ_AHEAD: usize = 8 * 1024;

/// Goes over to a WebSocket.
pub(super) async fn answer(visit: Visit) -> Result<Response, Problem> {
    let Visit {
        gateway,
        request,
        visitor,
        from,
        peer,
    } = visit;
    let (mut parts, _) = request.into_parts();
    if parts.version == Version::HTTP_2 {
        let told = "a WebSocket begins with a request of HTTP/1.1";
        return Err(no_websocket(told.to_owned()));
    }
    let upgrade = WebSocketUpgrade::from_request_parts(&mut parts, &()).await;
    let upgrade = upgrade.map_err(|it| no_websocket(foreign(&it.body_text())))?;
    if gateway.stop.is_cancelled() {
        return Err(stopping());
    }
    let places = match visitor {
        Visitor::Known => &gateway.websockets,
        Visitor::Anybody => &gateway.strangers,
    };
    let place = Arc::clone(places).try_acquire_owned();
    let place = place.map_err(|_| no_place())?;
    if visitor == Visitor::Anybody {
        peer.allowance.bound(STRANGER);
    }
    // Each message has its time, and what waits for it has a bound.
    peer.allowance.be_slow();
    let guest = Guest {
        visitor,
        from,
        place,
        peer,
    };
    // Counted from now on, so that nobody stops without waiting for it.
    let tracked = gateway.conversations.token();
    let response = upgrade
        .max_message_size(MESSAGE)
        .max_frame_size(MESSAGE)
        .read_buffer_size(READ_AHEAD)
        .max_write_buffer_size(ANSWER + FRAMES)
        .on_upgrade(move |socket| async move {
            let _counted = tracked;
            conversation::hold(&gateway, socket, guest).await;
        });
    Ok(response)
}

/// Somebody at the other end of a WebSocket.
struct Guest {
    visitor: Visitor,
    from: IpAddr,
    /// The place that they take.
    place: OwnedSemaphorePermit,
    /// Their connection.
    peer: Arc<Peer>,
}

fn no_websocket(told: String) -> Problem {
    Problem::new(StatusCode::UPGRADE_REQUIRED, "no-websocket", told)
        .header(header::UPGRADE, HeaderValue::from_static("websocket"))
}

fn no_place() -> Problem {
    Problem::new(
        StatusCode::SERVICE_UNAVAILABLE,
        "too-many-websockets",
        "there are as many WebSockets as there may be",
    )
}
