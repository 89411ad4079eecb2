//! What comes with a request: only so much of it, and never waited for without end.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, HttpBody};
use bytes::{Bytes, BytesMut};
use http::{HeaderMap, StatusCode, header};
use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use hyper::body::{Frame, SizeHint};
use serde::de::DeserializeOwned;
use thiserror::Error;
use tokio::task::spawn_blocking;
use tokio::time::{Sleep, sleep_until};

use crate::problem::{Problem, foreign};
use crate::slowness::{FEW, Slowness};

/// How long nothing may come, or next to nothing.
const SILENCE: Duration = Duration::from_secs(30);

/// Bodies up to this size are read where they arrive.
const QUICK: usize = 256 * 1024;

/// Nothing came for too long.
#[derive(Debug, Error)]
#[error("nothing came for {} s", SILENCE.as_secs())]
struct Silent;

/// Why not all of a body was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Incomplete {
    /// It is larger than it may be.
    TooLarge,
    /// It stopped coming.
    Silent,
    /// It ended too early.
    Broken,
}

impl Incomplete {
    /// What whoever asked is told.
    pub(crate) fn problem(self, limit: usize) -> Problem {
        match self {
            Self::TooLarge => too_large(limit),
            Self::Silent => Problem::new(StatusCode::REQUEST_TIMEOUT, "silent", Silent.to_string()),
            Self::Broken => Problem::bad_request("the request ended before all of it came"),
        }
    }
}

/// The bodies that come over one connection at a time.
#[derive(Clone, Default)]
pub(crate) struct Coming(Arc<AtomicUsize>);

impl Coming {
    /// One more, for as long as what is given for it is there.
    fn one_more(&self) -> Share {
        self.0.fetch_add(1, Ordering::Relaxed);
        Share(self.clone())
    }
}

/// The part that a body has in a connection.
struct Share(Coming);

impl Share {
    /// How many there are for each that may be expected to come as fast as one that has the connection to itself.
    fn of(&self) -> usize {
        (self.0.0.load(Ordering::Relaxed) / FEW).max(1)
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        self.0.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// A body within limits of size and silence. Reading what is beyond them is an error.
pub(crate) fn guarded<B>(body: B, limit: usize, coming: &Coming) -> Body
where
    B: HttpBody<Data = Bytes, Error: Into<axum::BoxError>> + Send + Unpin + 'static,
{
    let patient = Patient {
        body,
        silence: None,
        slowness: Slowness::default(),
        share: coming.one_more(),
    };
    Body::new(Limited::new(patient, limit))
}

/// Whether a request says by itself that it is too large.
pub(crate) fn check_announced(headers: &HeaderMap, limit: usize) -> Result<(), Problem> {
    match announced(headers) {
        Some(announced) if announced > limit as u64 => Err(too_large(limit)),
        _ => Ok(()),
    }
}

/// How large a request says that it is.
pub(crate) fn announced(headers: &HeaderMap) -> Option<u64> {
    let length = headers.get(header::CONTENT_LENGTH)?;
    length.to_str().ok()?.parse().ok()
}

fn too_large(limit: usize) -> Problem {
    Problem::new(
        StatusCode::PAYLOAD_TOO_LARGE,
        "too-large",
        format!("the request is larger than the limit of {limit} bytes"),
    )
}

/// Reads a body that is guarded.
pub(crate) async fn read(mut body: Body) -> Result<Bytes, Incomplete> {
    let mut whole = Whole::default();
    while let Some(part) = next_part(&mut body).await? {
        whole.add(part);
    }
    Ok(whole.into_bytes())
}

/// The next part of a body that is guarded.
pub(crate) async fn next_part(body: &mut Body) -> Result<Option<Bytes>, Incomplete> {
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|error| incomplete(&error))?;
        if let Ok(part) = frame.into_data() {
            return Ok(Some(part));
        }
    }
    Ok(None)
}

/// What has come of a body, in one piece. Keeping the parts would take many times the room if they are small.
#[derive(Default)]
pub(crate) struct Whole {
    /// As it came, while there is only one part.
    only: Bytes,
    joined: BytesMut,
}

impl Whole {
    pub(crate) fn add(&mut self, part: Bytes) {
        if self.len() == 0 {
            self.only = part;
            return;
        }
        if self.joined.is_empty() {
            self.joined
                .extend_from_slice(&std::mem::take(&mut self.only));
        }
        self.joined.extend_from_slice(&part);
    }

    pub(crate) fn len(&self) -> usize {
        self.only.len() + self.joined.len()
    }

    pub(crate) fn into_bytes(self) -> Bytes {
        if self.joined.is_empty() {
            return self.only;
        }
        self.joined.freeze()
    }
}

/// Reads a body that is guarded as JSON; one that is empty counts as `{}`.
pub(crate) async fn json<T>(body: Body, limit: usize) -> Result<T, Problem>
where
    T: DeserializeOwned + Send + 'static,
{
    let bytes = read(body).await;
    let bytes = bytes.map_err(|incomplete| incomplete.problem(limit))?;
    let (parsed, ()) = parsed(bytes, ()).await?;
    Ok(parsed)
}

/// What was read, as JSON, with what is held for it; nothing counts as `{}`.
pub(crate) async fn parsed<T, H>(bytes: Bytes, held: H) -> Result<(T, H), Problem>
where
    T: DeserializeOwned + Send + 'static,
    H: Send + 'static,
{
    let bad = |why: &str| {
        let message = format!("the request can't be read: {why}");
        Problem::new(StatusCode::BAD_REQUEST, "bad-json", message)
    };
    let text = match bytes.trim_ascii_start() {
        [] => Bytes::from_static(b"{}"),
        // The fields of what is read would be taken from a list as well.
        [b'[', ..] => return Err(bad("it is not an object")),
        _ => bytes,
    };
    let parsed = in_time(text, held, openclaw_json::read).await;
    let (parsed, held) = parsed.ok_or_else(Problem::internal)?;
    let parsed = parsed.map_err(|error| bad(&foreign(&error.to_string())))?;
    Ok((parsed, held))
}

/// Makes something of what was read. What is large is read on another thread: others wait for this one. Nothing comes
/// of it where reading panics. What is held for it goes along, since that thread goes on when nobody waits for it any
/// longer.
pub(crate) async fn in_time<T, H>(
    bytes: Bytes,
    held: H,
    read: impl FnOnce(&[u8]) -> T + Send + 'static,
) -> Option<(T, H)>
where
    T: Send + 'static,
    H: Send + 'static,
{
    if bytes.len() <= QUICK {
        return Some((read(&bytes), held));
    }
    let reading = spawn_blocking(move || {
        let made = read(&bytes);
        drop(bytes);
        (made, held)
    });
    reading.await.ok()
}

/// Why that is.
fn incomplete(error: &axum::Error) -> Incomplete {
    let mut cause: Option<&(dyn std::error::Error + 'static)> = Some(error);
    while let Some(error) = cause {
        if error.is::<LengthLimitError>() {
            return Incomplete::TooLarge;
        }
        if error.is::<Silent>() {
            return Incomplete::Silent;
        }
        cause = error.source();
    }
    Incomplete::Broken
}

/// A body that is waited for only for so long.
struct Patient<B> {
    body: B,
    silence: Option<Pin<Box<Sleep>>>,
    slowness: Slowness,
    share: Share,
}

impl<B: HttpBody<Data = Bytes, Error: Into<axum::BoxError>> + Unpin> HttpBody for Patient<B> {
    type Data = Bytes;
    type Error = axum::BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        let patient = &mut *self;
        if let Poll::Ready(frame) = Pin::new(&mut patient.body).poll_frame(context) {
            patient.silence = None;
            let data = frame
                .as_ref()
                .and_then(|frame| frame.as_ref().ok()?.data_ref());
            let length = data.map_or(0, Bytes::len);
            let moved = length.saturating_mul(patient.share.of());
            patient.slowness.moved(moved);
            return Poll::Ready(frame.map(|frame| frame.map_err(Into::into)));
        }
        let slowness = &mut patient.slowness;
        let silence = patient
            .silence
            .get_or_insert_with(|| Box::pin(sleep_until(slowness.waits(SILENCE))));
        match silence.as_mut().poll(context) {
            Poll::Ready(()) => Poll::Ready(Some(Err(Box::new(Silent)))),
            Poll::Pending => Poll::Pending,
        }
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use futures_util::StreamExt as _;
    use openclaw_testkit::leaks::eventually;
    use serde_json::{Value, json as value};
    use tokio::time::Instant;

    use super::*;

    async fn read(body: Body) -> Result<Value, Value> {
        let guarded = guarded(body, 10, &Coming::default());
        json::<Value>(guarded, 10)
            .await
            .map_err(|problem| problem.json())
    }

    #[tokio::test]
    async fn what_is_within_the_limit_is_read_and_one_byte_more_is_refused() {
        assert_eq!(
            read(Body::from(r#"{"a":1234}"#)).await.unwrap(),
            value!({ "a": 1234 })
        );
        assert_eq!(read(Body::empty()).await.unwrap(), value!({}));
        let error = read(Body::from(r#"{"a":12345}"#)).await.unwrap_err();
        assert_eq!(error["error"]["code"], "too-large");
        for wrong in ["{", "[1,", "[]", " [1]", "1,"] {
            let error = read(Body::from(wrong)).await.unwrap_err();
            assert_eq!(error["error"]["code"], "bad-json", "{wrong}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_body_of_which_next_to_nothing_comes_is_given_up_as_well() {
        let stream = futures_util::stream::unfold((), async |()| {
            tokio::time::sleep(Duration::from_secs(29)).await;
            Some((Ok::<_, std::io::Error>(Bytes::from(" ")), ()))
        });
        let began = Instant::now();
        let error = read(Body::from_stream(Box::pin(stream))).await.unwrap_err();
        assert_eq!(error["error"]["code"], "silent");
        assert_eq!(began.elapsed().as_secs(), SILENCE.as_secs());
    }

    #[tokio::test(start_paused = true)]
    async fn a_body_that_stops_coming_is_given_up_after_half_a_minute() {
        let stream = futures_util::stream::iter([Ok::<_, std::io::Error>(Bytes::from("["))]);
        let stream = futures_util::StreamExt::chain(stream, futures_util::stream::pending());
        let began = Instant::now();
        let error = read(Body::from_stream(stream)).await.unwrap_err();
        assert_eq!(error["error"]["code"], "silent");
        assert_eq!(began.elapsed().as_secs(), SILENCE.as_secs());
    }

    #[tokio::test]
    async fn what_is_held_for_a_body_is_held_for_as_long_as_it_is_read() {
        let held = Arc::new(());
        let (go_on, waits) = std::sync::mpsc::channel();
        let large = Bytes::from(vec![b' '; QUICK + 1]);
        let mut reading = Box::pin(in_time(large, Arc::clone(&held), move |_| waits.recv()));
        assert!(futures_util::poll!(reading.as_mut()).is_pending());
        drop(reading);
        assert_eq!(Arc::strong_count(&held), 2);
        go_on.send(()).unwrap();
        let is_free = || Arc::strong_count(&held) == 1;
        assert!(eventually(Duration::from_secs(10), is_free).await);
    }

    #[tokio::test(start_paused = true)]
    async fn bodies_that_share_a_connection_may_each_come_more_slowly() {
        for (count, comes) in [(1, false), (FEW, false), (FEW * 4, true)] {
            let coming = Coming::default();
            let bodies = (0..count).map(|_| {
                // Half of what one has to move that has the connection to itself.
                let parts = futures_util::stream::iter(0..10).then(async |_| {
                    tokio::time::sleep(Duration::from_secs(20)).await;
                    Ok::<_, std::io::Error>(Bytes::from(vec![b' '; 320 * 1024]))
                });
                guarded(Body::from_stream(Box::pin(parts)), 10 << 20, &coming)
            });
            let bodies: Vec<_> = bodies.collect();
            let read = futures_util::future::join_all(bodies.into_iter().map(super::read)).await;
            assert!(read.iter().all(|it| it.is_ok() == comes), "{count}");
            assert_eq!(coming.0.load(Ordering::Relaxed), 0);
        }
    }
}
