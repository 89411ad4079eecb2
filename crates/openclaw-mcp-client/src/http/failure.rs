//! An answer that is no success.

use std::fmt;
use std::time::{Duration, SystemTime};

use bytes::{Bytes, BytesMut};
use http::header::{CONTENT_TYPE, WWW_AUTHENTICATE};
use http::{Response, StatusCode};
use http_body_util::BodyExt as _;
use hyper::body::{Body, Incoming};
use tokio::time::timeout;

use super::excerpt::{excerpt, one_line};
use super::retry_after::retry_after;

/// How much of an unsuccessful answer is read.
const LARGEST: usize = 64 * 1024;
/// How long that may take.
const LONGEST: Duration = Duration::from_secs(5);

/// An answer with a status other than success.
#[derive(Clone, Debug)]
pub struct HttpFailure {
    /// The status.
    pub status: StatusCode,
    /// How long the server wants to be left alone, where it says so.
    pub retry_after: Option<Duration>,
    /// What it wants as proof of who we are: the values of `WWW-Authenticate`.
    pub challenges: Vec<String>,
    /// What the body says it is.
    pub content_type: Option<String>,
    /// The beginning of the body.
    pub body: Bytes,
}

impl HttpFailure {
    /// Reads an unsuccessful answer, as far as it helps to explain it.
    pub(super) async fn read(response: Response<Incoming>) -> Self {
        let (head, body) = response.into_parts();
        let text = |value: &http::HeaderValue| String::from_utf8_lossy(value.as_bytes()).into();
        Self {
            status: head.status,
            retry_after: retry_after(&head.headers, SystemTime::now()),
            challenges: head
                .headers
                .get_all(WWW_AUTHENTICATE)
                .iter()
                .map(text)
                .collect(),
            content_type: head
                .headers
                .get(CONTENT_TYPE)
                .map(|value| one_line(&String::from_utf8_lossy(value.as_bytes()))),
            body: beginning(body, LARGEST, LONGEST).await,
        }
    }
}

/// Reads the beginning of a body, as much as comes within a time. A body that ends within these
/// bounds leaves its connection fit for the next request.
pub(super) async fn beginning<B>(mut body: B, largest: usize, longest: Duration) -> Bytes
where
    B: Body<Data = Bytes> + Unpin,
{
    let mut read = BytesMut::new();
    let reading = async {
        while let Some(Ok(frame)) = body.frame().await {
            let Some(data) = frame.data_ref() else {
                continue;
            };
            let room = largest - read.len();
            read.extend_from_slice(data.get(..room).unwrap_or(data));
            if data.len() > room {
                break;
            }
        }
    };
    // What came in time is enough.
    let _ = timeout(longest, reading).await;
    read.freeze()
}

impl fmt::Display for HttpFailure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "HTTP status {}", self.status.as_u16())?;
        if let Some(reason) = self.status.canonical_reason() {
            write!(formatter, " ({reason})")?;
        }
        // A JSON body is for the caller to understand.
        let content_type = self.content_type.as_deref().unwrap_or_default();
        if content_type.starts_with("text/") || content_type.contains("html") {
            let text = excerpt(content_type, &self.body);
            if !text.is_empty() {
                write!(formatter, ": {text}")?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use http_body_util::Full;

    use super::super::tests::SlowBody;
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_body_that_never_ends_is_given_up() {
        // One byte per second, for ever.
        let body = SlowBody::new(Duration::from_secs(1), usize::MAX);
        let started = tokio::time::Instant::now();
        let read = beginning(body, LARGEST, Duration::from_millis(3500)).await;
        assert_eq!(read, "xxx");
        assert_eq!(started.elapsed(), Duration::from_millis(3500));
    }

    #[tokio::test]
    async fn a_body_that_is_too_long_is_cut() {
        let body = Full::new(Bytes::from_static(b"0123456789"));
        assert_eq!(beginning(body, 4, LONGEST).await, "0123");
    }
}
