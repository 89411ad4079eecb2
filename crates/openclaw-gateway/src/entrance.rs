//! The way of every request: the door, the limits, the answer, and what is said and counted about it.

use std::panic::AssertUnwindSafe;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock};

use axum::BoxError;
use axum::body::{Body, HttpBody};
use axum::response::{IntoResponse as _, Response};
use bytes::Bytes;
use futures_util::FutureExt as _;
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode, Version, header};
use http_body_util::BodyExt as _;
use openclaw_telemetry::TraceContext;
use ring::rand::{SecureRandom as _, SystemRandom};
use tokio::sync::{OwnedSemaphorePermit, TryAcquireError};

use crate::body;
use crate::door::Access;
use crate::headers::{self, Kind};
use crate::luggage::Full;
use crate::peer::Peer;
use crate::problem::Problem;
use crate::routes::{self, Route};
use crate::state::Gateway;
use crate::visit::Visit;

/// What ties a request to lines of the log.
pub(crate) const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
/// How long that may be, when whoever asks chooses it.
const REQUEST_ID_LENGTH: usize = 64;

/// Lets a request pass, or not.
pub(crate) async fn pass<B>(
    gateway: Arc<Gateway>,
    mut request: http::Request<B>,
    peer: Arc<Peer>,
) -> Response
where
    B: HttpBody<Data = Bytes, Error: Into<BoxError>> + Send + Unpin + 'static,
{
    let position = routes::position(request.uri().path());
    let route = position.and_then(|position| routes::TABLE.get(position));
    let id = request_id(request.headers());
    request.headers_mut().insert(REQUEST_ID, id.clone());
    let only_reads = request.method().is_safe();

    let place = place(&gateway, route);
    let admitted = match &place {
        Ok(_) => admit(&gateway, route, request, &peer),
        Err(_) => Err(too_many()),
    };
    let mut response = match admitted {
        Ok((route, visit)) => answer(route, visit).await,
        Err(problem) => problem.into_response(),
    };
    // What anybody may have lies in the program: it takes no memory, and no room from those who may have more.
    if route.is_none_or(|route| route.access != Access::Open) {
        response = match peer.answers.weighed(response).await {
            Ok(response) => response,
            Err(Full) if only_reads => unread_by_others().into_response(),
            Err(Full) => lost().into_response(),
        };
    }

    let kind = match route {
        Some(route) if is_answer(response.status()) => route.kind,
        _ => Kind::Api,
    };
    headers::add(response.headers_mut(), kind);
    response.headers_mut().entry(REQUEST_ID).or_insert(id);
    gateway.traffic.answered(position, response.status());
    until_its_end(response, place.ok().flatten())
}

/// The place of a request among those under way. What anybody may have needs none: it is there whatever others ask for.
fn place(
    gateway: &Gateway,
    route: Option<&Route>,
) -> Result<Option<OwnedSemaphorePermit>, TryAcquireError> {
    let access = route.map_or(Access::Closed, |route| route.access);
    let needs_one = matches!(access, Access::Closed | Access::Later);
    let place = needs_one.then(|| Arc::clone(&gateway.requests).try_acquire_owned());
    place.transpose()
}

/// The same answer, which keeps its place while it is still being made.
fn until_its_end(response: Response, place: Option<OwnedSemaphorePermit>) -> Response {
    if response.body().size_hint().exact().is_some() {
        return response;
    }
    response.map(|body| {
        Body::new(body.map_frame(move |frame| {
            let _kept = &place;
            frame
        }))
    })
}

/// Others have so much under way that there is no room for more.
fn too_many() -> Problem {
    let message = "too many requests are being answered";
    Problem::new(StatusCode::SERVICE_UNAVAILABLE, "busy", message)
        .hint("nothing was done; try again later")
        .header(header::RETRY_AFTER, HeaderValue::from_static("1"))
}

/// There is no room for the answer, and nothing was done.
fn unread_by_others() -> Problem {
    let message =
        "the answer is large, and so many large ones wait to be read that there is no room for it";
    Problem::new(StatusCode::SERVICE_UNAVAILABLE, "busy", message).hint("try again later")
}

/// What was asked for is done, and what came of it can't be kept for whoever asked.
fn lost() -> Problem {
    let message = "what was asked for was done, but the answer is large, and so many large ones wait to be \
                   read that there is no room for it";
    // Not a status that says that it can be asked again.
    Problem::new(StatusCode::INTERNAL_SERVER_ERROR, "answer-lost", message).header(
        HeaderName::from_static("x-should-retry"),
        HeaderValue::from_static("false"),
    )
}

/// Looks at a request before anything of it is read.
fn admit<B>(
    gateway: &Arc<Gateway>,
    route: Option<&'static Route>,
    request: http::Request<B>,
    peer: &Arc<Peer>,
) -> Result<(&'static Route, Visit), Problem>
where
    B: HttpBody<Data = Bytes, Error: Into<BoxError>> + Send + Unpin + 'static,
{
    let (parts, incoming) = request.into_parts();
    // Whether something is there is told to those who may know.
    let access = route.map_or(Access::Closed, |route| route.access);
    let from = gateway.door.whence(&parts, peer.address);
    let visitor = gateway.door.admit(&parts, from, access)?;
    let route = route.ok_or_else(routes::nothing_there)?;
    let brings_something = !parts.method.is_safe() && !incoming.is_end_stream();
    if parts.version == Version::HTTP_2 && brings_something {
        check_expectation(&parts.headers)?;
    }
    // What nobody answers is nobody's to read: that there is nothing here is all there is to say about it.
    let limit = route.body.filter(|_| route.takes(&parts.method));
    let body = match limit {
        Some(limit) => {
            body::check_announced(&parts.headers, limit)?;
            body::guarded(incoming, limit, &peer.coming)
        }
        None => Body::new(incoming),
    };
    let visit = Visit {
        gateway: Arc::clone(gateway),
        request: http::Request::from_parts(parts, body),
        visitor,
        from,
        peer: Arc::clone(peer),
    };
    Ok((route, visit))
}

/// Whoever waits for `100 Continue` before the body comes would wait for ever over HTTP/2, where nothing says it. After
/// this answer the request comes without the expectation: RFC 9110 §10.1.1.
fn check_expectation(headers: &HeaderMap) -> Result<(), Problem> {
    let expects = headers.get(header::EXPECT);
    if expects.is_none_or(|it| !it.as_bytes().eq_ignore_ascii_case(b"100-continue")) {
        return Ok(());
    }
    let message = "over HTTP/2 the body is taken at once";
    Err(
        Problem::new(StatusCode::EXPECTATION_FAILED, "expectation", message)
            .hint("ask without `Expect`"),
    )
}

/// Answers a request that was let in.
async fn answer(route: &Route, visit: Visit) -> Response {
    // A mistake in one answer must not take the connection with it, nor leave its client without one.
    match AssertUnwindSafe(route.answer(visit)).catch_unwind().await {
        Ok(response) => response,
        Err(_) => {
            tracing::error!("a request made the gateway panic");
            Problem::internal().into_response()
        }
    }
}

/// The name of the first request of this run. Nobody has to be unable to guess names: they only tell
/// requests apart, those of other runs included.
static FIRST: LazyLock<u64> = LazyLock::new(|| {
    let mut bytes = [0; 8];
    // Without random numbers names of other runs are not told apart, which is no reason to answer nobody.
    let _ = SystemRandom::new().fill(&mut bytes);
    u64::from_be_bytes(bytes)
});
/// How many requests were given a name.
static NEXT: AtomicU64 = AtomicU64::new(0);

/// What whoever asks calls the request, if that is fit for a log, or a name of ours.
fn request_id(headers: &HeaderMap) -> HeaderValue {
    let is_fit = |value: &&HeaderValue| {
        let fits = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
        (1..=REQUEST_ID_LENGTH).contains(&value.len()) && value.as_bytes().iter().all(fits)
    };
    if let Some(value) = headers.get(REQUEST_ID).filter(is_fit) {
        return value.clone();
    }
    let number = FIRST.wrapping_add(NEXT.fetch_add(1, Ordering::Relaxed));
    let text = format!("http-{number:016x}");
    let mut id = HeaderValue::try_from(text).unwrap_or(HeaderValue::from_static("http"));
    // It comes once: HTTP/2 need not remember it, and forget something else for that.
    id.set_sensitive(true);
    id
}

/// What ties a request to lines of the log, for those who answer it.
pub(crate) fn correlation(headers: &HeaderMap) -> String {
    let id = request_id(headers);
    id.to_str().unwrap_or_default().to_owned()
}

/// The trace that a request belongs to, if whoever asks says so.
pub(crate) fn trace(headers: &HeaderMap) -> Option<TraceContext> {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    TraceContext::read(text("traceparent")?, text("tracestate"))
}

/// An answer for those who come while all stops.
pub(crate) fn stopping() -> Problem {
    Problem::new(
        StatusCode::SERVICE_UNAVAILABLE,
        "stopping",
        "the gateway is stopping",
    )
}

/// Whether this is what was asked for: as it is, or as the browser has it, which takes over the headers.
fn is_answer(status: StatusCode) -> bool {
    status.is_success() || status == StatusCode::NOT_MODIFIED
}

#[cfg(test)]
mod tests {
    use futures_util::stream;
    use tokio::sync::Semaphore;

    use super::*;

    #[tokio::test]
    async fn an_answer_that_is_still_being_made_keeps_its_place() {
        let places = Arc::new(Semaphore::new(2));
        let place = || Some(Arc::clone(&places).try_acquire_owned().unwrap());
        let said = stream::iter([Ok::<_, std::io::Error>(Bytes::from("said"))]);
        let streamed = Response::new(Body::from_stream(said));
        let mut streamed = until_its_end(streamed, place());
        let whole = until_its_end(Response::new(Body::from("whole")), place());
        assert_eq!(places.available_permits(), 1);
        assert_eq!(whole.body().size_hint().exact(), Some(5));
        let part = streamed.body_mut().frame().await.unwrap().unwrap();
        assert_eq!(part.into_data().unwrap(), "said");
        assert_eq!(places.available_permits(), 1);
        drop(streamed);
        assert_eq!(places.available_permits(), 2);
    }
}
