//! One request: taken in, answered as a whole or as a stream.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use axum::Extension;
use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::response::{IntoResponse, Response};
use futures_util::FutureExt as _;
use http::header::CONTENT_TYPE;
use http::{HeaderMap, HeaderValue, StatusCode};
use openclaw_engine::{Audience, Engine, OneSession, ReplyReport, ReplyRequest, SessionChoice};
use openclaw_telemetry::{TraceContext, within};
use tokio::task::spawn_blocking;
use tokio::time::timeout;
use tracing::Instrument as _;

use super::meaning::{self, Addressee, DEFAULT, SESSION};
use super::outbox::{Outbox, Outcome};
use super::problem::{Problem, broken};
use super::reading::{self, Asked};
use super::shapes::Naming;
use super::streaming;
use crate::body::{self, Incomplete};
use crate::entrance;
use crate::luggage::{Held, Refused};
use crate::peer::Peer;

/// How large the body of a request may be, in bytes.
const BODY_LIMIT: usize = 64 * 1024 * 1024;
/// How long it may take to find out whether a session goes on.
const LOOKING_UP: Duration = Duration::from_secs(5);

/// A turn that is to be carried out.
pub(super) struct Turn {
    pub(super) engine: Arc<dyn Engine>,
    pub(super) request: ReplyRequest,
    pub(super) naming: Naming,
    /// The session, as whoever asks names it.
    pub(super) given_key: Option<String>,
    /// The room that the request takes.
    pub(super) room: Option<Held>,
    /// The trace that it belongs to.
    pub(super) trace: Option<TraceContext>,
}

/// `POST /v1/chat/completions`. Dropping it stops the turn.
pub(super) async fn complete(
    State(engine): State<Arc<dyn Engine>>,
    Extension(peer): Extension<Arc<Peer>>,
    request: Request,
) -> Response {
    let correlation = entrance::correlation(request.headers());
    let span = tracing::info_span!("chat", id = correlation);
    let answered = answer(engine, &peer, request, correlation);
    let answered = Box::pin(answered).instrument(span).await;
    answered.unwrap_or_else(IntoResponse::into_response)
}

async fn answer(
    engine: Arc<dyn Engine>,
    peer: &Peer,
    request: Request,
    correlation: String,
) -> Result<Response, Problem> {
    let (head, body) = request.into_parts();
    let session = meaning::session(&head.headers)?;
    let (body, room) = taken_in(peer, &head.headers, body).await?;
    let given_key = match &session {
        SessionChoice::Key(key) => Some(key.clone()),
        SessionChoice::Main | SessionChoice::Fresh(_) | SessionChoice::Editor(_) => None,
    };
    let (asked, room) = read(body, room).await?;
    let mut asked = asked?;
    let addressee = meaning::addressee(&asked.model)?.of_headers(&head.headers)?;
    let mut attachments = std::mem::take(&mut asked.earlier_files);
    if let Some(key) = &given_key
        && !attachments.is_empty()
        && goes_on(&*engine, &addressee, key).await
    {
        attachments.clear();
    }
    attachments.append(&mut asked.attachments);
    let (is_streamed, include_usage) = (asked.stream, asked.include_usage);
    tracing::debug!(
        length = asked.message.len(),
        attachments = attachments.len(),
        earlier = asked.earlier.len(),
        is_streamed,
        "a chat completion is asked for"
    );
    let naming = Naming {
        id: format!("chatcmpl-{}", meaning::random()),
        created: seconds(),
        model: if asked.model.is_empty() {
            DEFAULT.to_owned()
        } else {
            asked.model
        },
    };
    let turn = Turn {
        engine,
        request: ReplyRequest {
            agent: addressee.agent,
            session,
            message: asked.message,
            attachments,
            earlier: asked.earlier,
            instructions: asked.instructions,
            model: addressee.model,
            approved: false,
            correlation,
        },
        naming,
        given_key,
        room,
        trace: entrance::trace(&head.headers),
    };
    if is_streamed {
        return streaming::stream(turn, include_usage).await;
    }
    whole(turn).await
}

/// Answers with everything at once.
async fn whole(turn: Turn) -> Result<Response, Problem> {
    let hearing = Outbox::deaf();
    let outcome = carry_out(&*turn.engine, turn.request, &hearing);
    let outcome = within(turn.trace, outcome).await;
    drop(turn.room);
    let report =
        outcome.map_err(|failure| Problem::of(&failure).after_calls(hearing.has_called()))?;
    let key = meaning::header(&report.session_key);
    let body = completion(turn.naming, report).await?;
    let json = HeaderValue::from_static("application/json");
    let mut response = ([(CONTENT_TYPE, json)], body).into_response();
    if let Some(key) = key {
        response.headers_mut().insert(SESSION, key);
    }
    Ok(response)
}

/// The answer as text. One with media may be large, and others wait for this thread.
async fn completion(naming: Naming, report: ReplyReport) -> Result<String, Problem> {
    if report.parts.len() <= 1 {
        return Ok(naming.completion(&report).to_string());
    }
    let written = spawn_blocking(move || naming.completion(&report).to_string()).await;
    written.map_err(|_| Problem::of(&broken()))
}

/// Has the engine answer. One that fails as nothing should costs only this turn.
pub(super) async fn carry_out(
    engine: &dyn Engine,
    request: ReplyRequest,
    audience: &dyn Audience,
) -> Outcome {
    let reply = AssertUnwindSafe(engine.reply(request, audience));
    reply.catch_unwind().await.unwrap_or_else(|_| Err(broken()))
}

/// The whole body, if it is not too large and keeps coming, and the room that it takes.
async fn taken_in(
    peer: &Peer,
    headers: &HeaderMap,
    body: Body,
) -> Result<(Bytes, Option<Held>), Problem> {
    let taken_in = match body::check_announced(headers, BODY_LIMIT) {
        Ok(()) => {
            let body = body::guarded(body, BODY_LIMIT, &peer.coming);
            peer.chats.take_in(headers, body, BODY_LIMIT).await
        }
        Err(_) => Err(Refused::Incomplete(Incomplete::TooLarge)),
    };
    let incomplete = match taken_in {
        Ok(taken_in) => return Ok(taken_in),
        Err(Refused::Incomplete(incomplete)) => incomplete,
        Err(Refused::Full) => {
            let message = "too many large requests are being answered; try again later";
            return Err(Problem::busy(message));
        }
    };
    Err(match incomplete {
        Incomplete::TooLarge => {
            let message = format!("the body has more than {BODY_LIMIT} bytes");
            Problem::body(StatusCode::PAYLOAD_TOO_LARGE, message)
        }
        Incomplete::Silent => {
            let message = "the rest of the body did not come";
            Problem::body(StatusCode::REQUEST_TIMEOUT, message)
        }
        Incomplete::Broken => {
            let message = "the body ended before all of it came";
            Problem::body(StatusCode::BAD_REQUEST, message)
        }
    })
}

/// Whether something was said in a session before: then files of messages before the last one are there
/// already, and must not come again. A new one gets them as one without a name does.
async fn goes_on(engine: &dyn Engine, addressee: &Addressee, key: &str) -> bool {
    let session = OneSession {
        agent: addressee.agent.clone(),
        key: key.to_owned(),
    };
    match timeout(LOOKING_UP, engine.session(session)).await {
        Ok(Ok(transcript)) => !transcript.messages.is_empty(),
        Ok(Err(failure)) => failure.code != "unknown-session",
        Err(_) => true,
    }
}

/// What is asked, or why it can't be read, and the room that it takes.
async fn read(
    body: Bytes,
    room: Option<Held>,
) -> Result<(Result<Asked, Problem>, Option<Held>), Problem> {
    let read = body::in_time(body, room, reading::read).await;
    read.ok_or_else(|| Problem::of(&broken()))
}

fn seconds() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |it| it.as_secs())
}
