//! What comes with a request: only so much of it, and never waited for without end.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, HttpBody};
use bytes::{Bytes, BytesMut};
use http::{HeaderMap, StatusCode, header};
use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use hyper::body::{Frame, SizeHint};
use serde::de::DeserializeOwned;
use thiserror::Error;
use tokio::time::{Instant, Sleep};

use crate::problem::{Problem, foreign};

/// How long nothing may come.
const SILENCE: Duration = Duration::from_secs(30);

/// Nothing came for too long.
#[derive(Debug, Error)]
#[error("nothing came for {} s", SILENCE.as_secs())]
struct Silent;

/// Why a body was not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unread {
    /// It is larger than it may be.
    TooLarge,
    /// It stopped coming.
    Silent,
    /// It ended too early.
    Broken,
}

impl Unread {
    /// What whoever asked is told.
    pub(crate) fn problem(self, limit: usize) -> Problem {
        match self {
            Self::TooLarge => too_large(limit),
            Self::Silent => Problem::new(StatusCode::REQUEST_TIMEOUT, "silent", Silent.to_string()),
            Self::Broken => Problem::bad_request("the request ended before all of it came"),
        }
    }
}

/// A body within limits of size and silence. Reading what is beyond them is an error.
pub(crate) fn guarded<B>(body: B, limit: usize) -> Body
where
    B: HttpBody<Data = Bytes, Error: Into<axum::BoxError>> + Send + Unpin + 'static,
{
    let patient = Patient {
        body,
        silence: None,
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
pub(crate) async fn read(mut body: Body) -> Result<Bytes, Unread> {
    let mut whole = Whole::default();
    while let Some(part) = next_part(&mut body).await? {
        whole.add(part);
    }
    Ok(whole.into_bytes())
}

/// The next part of a body that is guarded.
pub(crate) async fn next_part(body: &mut Body) -> Result<Option<Bytes>, Unread> {
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|error| unread(&error))?;
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
pub(crate) async fn json<T: DeserializeOwned>(body: Body, limit: usize) -> Result<T, Problem> {
    let bytes = read(body).await;
    parsed(&bytes.map_err(|unread| unread.problem(limit))?)
}

/// What was read, as JSON; nothing counts as `{}`.
pub(crate) fn parsed<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Problem> {
    let text: &[u8] = if bytes.is_empty() { b"{}" } else { bytes };
    serde_json::from_slice(text).map_err(|error| {
        Problem::new(
            StatusCode::BAD_REQUEST,
            "bad-json",
            format!("the request can't be read: {}", foreign(&error.to_string())),
        )
    })
}

/// Why that is.
fn unread(error: &axum::Error) -> Unread {
    let mut cause: Option<&(dyn std::error::Error + 'static)> = Some(error);
    while let Some(error) = cause {
        if error.is::<LengthLimitError>() {
            return Unread::TooLarge;
        }
        if error.is::<Silent>() {
            return Unread::Silent;
        }
        cause = error.source();
    }
    Unread::Broken
}

/// A body that is waited for only for so long each time.
struct Patient<B> {
    body: B,
    silence: Option<Pin<Box<Sleep>>>,
}

impl<B: HttpBody<Data = Bytes, Error: Into<axum::BoxError>> + Unpin> HttpBody for Patient<B> {
    type Data = Bytes;
    type Error = axum::BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        if let Poll::Ready(frame) = Pin::new(&mut self.body).poll_frame(context) {
            self.silence = None;
            return Poll::Ready(frame.map(|frame| frame.map_err(Into::into)));
        }
        let silence = self
            .silence
            .get_or_insert_with(|| Box::pin(tokio::time::sleep_until(Instant::now() + SILENCE)));
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
    use serde_json::{Value, json as value};

    use super::*;

    async fn read(body: Body) -> Result<Value, Value> {
        let guarded = guarded(body, 10);
        json::<Value>(guarded, 10)
            .await
            .map_err(|problem| problem.json())
    }

    #[tokio::test]
    async fn what_is_within_the_limit_is_read_and_one_byte_more_is_refused() {
        assert_eq!(
            read(Body::from("[12345678]")).await.unwrap(),
            value!([12_345_678])
        );
        assert_eq!(read(Body::empty()).await.unwrap(), value!({}));
        let error = read(Body::from("[123456789]")).await.unwrap_err();
        assert_eq!(error["error"]["code"], "too-large");
        let error = read(Body::from("[1,")).await.unwrap_err();
        assert_eq!(error["error"]["code"], "bad-json");
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
}
