//! What a server answered, by what it says it is.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http::header::{CONTENT_ENCODING, CONTENT_TYPE};
use http::{HeaderMap, HeaderName, Response, StatusCode};
use http_body_util::BodyExt as _;
use hyper::body::{Body as _, Incoming};
use memchr::{memchr, memrchr};
use tokio::time::timeout;
use url::Url;

use super::error::HttpError;
use super::events::EventStream;
use super::excerpt::{excerpt, one_line};
use super::failure::beginning;
use super::redirect::without_secrets;

/// How much of a body that nobody wants is read, so that its connection can be used again.
const LARGEST_UNWANTED: usize = 16 * 1024;
/// How long that may take.
const LONGEST_UNWANTED: Duration = Duration::from_secs(1);
/// How much memory is set aside for a body before any of it has come.
const SET_ASIDE: usize = 1024 * 1024;

/// A successful answer.
pub(crate) struct Answer {
    /// The address that it came from, which is another one after redirects.
    pub(crate) url: Arc<Url>,
    /// The headers.
    pub(crate) headers: HeaderMap,
    /// The body.
    pub(crate) body: Body,
}

/// The body of an answer.
#[derive(Debug)]
pub(crate) enum Body {
    /// There is none.
    Empty,
    /// A JSON text.
    Json(JsonBody),
    /// A stream of events.
    Events(EventStream),
    /// Something else, which is an error as far as we are concerned.
    Other(OtherBody),
}

/// A JSON text that has not been read.
pub(crate) struct JsonBody(Incoming);

/// A body of another kind than was asked for.
#[derive(Clone, Debug)]
pub(crate) struct OtherBody {
    /// What it says it is.
    pub(crate) content_type: String,
    /// How it begins, in one line and without markup.
    pub(crate) excerpt: String,
}

impl Answer {
    /// Takes an answer with a status of success.
    pub(super) async fn read(response: Response<Incoming>, url: Arc<Url>) -> Self {
        let (head, body) = response.into_parts();
        let body = match head.status {
            StatusCode::ACCEPTED | StatusCode::NO_CONTENT | StatusCode::RESET_CONTENT => {
                discard(body).await;
                Body::Empty
            }
            _ => Body::new(&head.headers, body).await,
        };
        Self {
            url,
            headers: head.headers,
            body,
        }
    }
}

impl fmt::Debug for Answer {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Answer")
            .field("url", &without_secrets(&self.url))
            .field("body", &self.body)
            .finish_non_exhaustive()
    }
}

impl Body {
    async fn new(headers: &HeaderMap, body: Incoming) -> Self {
        if body.is_end_stream() {
            return Self::Empty;
        }
        let declared = header(headers, &CONTENT_TYPE);
        let encoding = header(headers, &CONTENT_ENCODING);
        // We never ask for compression; a server that compresses all the same is not understood.
        let is_plain = encoding.is_empty() || encoding.eq_ignore_ascii_case(b"identity");
        match media_type(declared) {
            MediaType::Json if is_plain => return Self::Json(JsonBody(body)),
            MediaType::Events if is_plain => return Self::Events(EventStream::new(body)),
            _ => {}
        }
        let [declared, encoding] =
            [declared, encoding].map(|value| one_line(&String::from_utf8_lossy(value)));
        let begin = beginning(body, LARGEST_UNWANTED, LONGEST_UNWANTED).await;
        if begin.is_empty() {
            return Self::Empty;
        }
        let (content_type, excerpt) = match (is_plain, declared.is_empty()) {
            (false, _) => (
                format!("{declared}, compressed as {encoding}"),
                String::new(),
            ),
            (true, true) => ("of no stated type".to_owned(), excerpt("", &begin)),
            (true, false) => {
                let excerpt = excerpt(&declared, &begin);
                (declared, excerpt)
            }
        };
        Self::Other(OtherBody {
            content_type,
            excerpt,
        })
    }
}

impl JsonBody {
    /// Reads the whole text, which has at most `limit` bytes and never pauses for longer than
    /// `idle`.
    pub(crate) async fn read(self, limit: usize, idle: Duration) -> Result<Bytes, HttpError> {
        read(self.0, limit, Some(idle), || {}).await
    }

    /// Reads the whole text as `read` does, for callers that keep the time: `heard` is called
    /// whenever some of it has come and there is more.
    pub(crate) async fn read_untimed(
        self,
        limit: usize,
        heard: impl FnMut(),
    ) -> Result<Bytes, HttpError> {
        read(self.0, limit, None, heard).await
    }
}

async fn read<B>(
    mut body: B,
    limit: usize,
    idle: Option<Duration>,
    mut heard: impl FnMut(),
) -> Result<Bytes, HttpError>
where
    B: hyper::body::Body<Data = Bytes, Error: std::error::Error + 'static> + Unpin,
{
    let announced = body.size_hint().exact().unwrap_or_default();
    let expected = usize::try_from(announced).unwrap_or(usize::MAX);
    if expected > limit {
        return Err(HttpError::TooLarge { limit });
    }
    let mut read = BytesMut::new();
    loop {
        let frame = match idle {
            Some(idle) => timeout(idle, body.frame()).await,
            None => Ok(body.frame().await),
        };
        let frame = match frame {
            Err(_) => return Err(HttpError::TimedOut { connected: true }),
            Ok(None) => return Ok(read.freeze()),
            Ok(Some(Err(error))) => return Err(HttpError::broken(&error)),
            Ok(Some(Ok(frame))) => frame,
        };
        let Ok(data) = frame.into_data() else {
            continue;
        };
        if data.len() > limit - read.len() {
            return Err(HttpError::TooLarge { limit });
        }
        if read.is_empty() {
            if body.is_end_stream() {
                // All of it at once, as most answers come: it can stay where it is.
                return Ok(data);
            }
            read.reserve(expected.min(SET_ASIDE).max(data.len()));
        }
        read.extend_from_slice(&data);
        heard();
    }
}

impl fmt::Debug for JsonBody {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("JsonBody")
    }
}

impl From<OtherBody> for HttpError {
    fn from(body: OtherBody) -> Self {
        Self::ContentType {
            content_type: body.content_type,
            excerpt: body.excerpt,
        }
    }
}

/// Reads the rest of a body that nobody wants, if it is short.
pub(super) async fn discard(body: Incoming) {
    if !body.is_end_stream() {
        beginning(body, LARGEST_UNWANTED, LONGEST_UNWANTED).await;
    }
}

#[derive(Debug, PartialEq, Eq)]
enum MediaType {
    Json,
    Events,
    Other,
}

fn media_type(declared: &[u8]) -> MediaType {
    let end = memchr(b';', declared).unwrap_or(declared.len());
    let essence = declared[..end].trim_ascii();
    let suffix = memrchr(b'+', essence).map(|plus| &essence[plus..]);
    if essence.eq_ignore_ascii_case(b"application/json")
        || suffix.is_some_and(|suffix| suffix.eq_ignore_ascii_case(b"+json"))
    {
        MediaType::Json
    } else if essence.eq_ignore_ascii_case(b"text/event-stream") {
        MediaType::Events
    } else {
        MediaType::Other
    }
}

fn header<'a>(headers: &'a HeaderMap, name: &HeaderName) -> &'a [u8] {
    headers
        .get(name)
        .map(|value| value.as_bytes().trim_ascii())
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::super::tests::SlowBody;
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_body_may_be_slow_but_not_silent() {
        let second = Duration::from_secs(1);
        let body = SlowBody::new(second, 100);
        let mut heard = 0;
        let text = read(body, 100, Some(second * 2), || heard += 1)
            .await
            .unwrap();
        assert_eq!((text.len(), heard), (100, 100));
        let body = SlowBody::new(second * 3, 100);
        let error = read(body, 100, Some(second * 2), || {}).await.unwrap_err();
        assert!(
            matches!(error, HttpError::TimedOut { connected: true }),
            "{error:?}"
        );
    }

    #[test]
    fn parameters_and_case_do_not_matter() {
        for json in [
            "application/json",
            "Application/JSON; charset=utf-8",
            " application/json ;charset=\"utf-8\"",
            "application/problem+json",
            "application/vnd.api+JSON; v=1",
        ] {
            assert_eq!(media_type(json.as_bytes()), MediaType::Json, "{json}");
        }
        for events in ["text/event-stream", "Text/Event-Stream;charset=UTF-8"] {
            assert_eq!(media_type(events.as_bytes()), MediaType::Events, "{events}");
        }
        for other in [
            "",
            "text/html",
            "application/jsonp",
            "text/json-ish",
            "json",
        ] {
            assert_eq!(media_type(other.as_bytes()), MediaType::Other, "{other}");
        }
    }
}
