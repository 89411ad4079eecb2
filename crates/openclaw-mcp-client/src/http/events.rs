//! Server-sent events: a body that is read event by event, each within a limit.

use std::fmt;

use http_body_util::BodyExt as _;
use hyper::body::Incoming;

use super::error::HttpError;
use openclaw_sse::{Event, EventParser};

/// The largest event, in bytes, where the caller says nothing else: what `wire::MESSAGE_LIMIT` is
/// for a message, which this layer knows nothing of.
const LARGEST: usize = 80 * 1024 * 1024;

/// A stream of events.
pub(crate) struct EventStream {
    /// Where bytes come from, until they end.
    body: Option<Incoming>,
    parser: Box<EventParser>,
}

impl EventStream {
    pub(super) fn new(body: Incoming) -> Self {
        let parser = Box::new(EventParser::new(usize::MAX));
        let body = Some(body);
        Self { body, parser }.limited(LARGEST)
    }

    /// Sets the largest event, in bytes and with everything that belongs to it.
    pub(crate) fn limited(mut self, limit: usize) -> Self {
        self.parser.set_limit(limit);
        self
    }

    /// Waits for the next event; there is none when the stream has ended as it should.
    ///
    /// Nothing is lost when the caller stops waiting: it can be one branch of a `select!`. Comments
    /// are not seen here, so that a server which sends nothing else counts as silent; that the
    /// other side has vanished is found out below, by probes of the system and pings of HTTP/2.
    pub(crate) async fn next(&mut self) -> Result<Option<Event>, HttpError> {
        self.next_heard(&mut || {}).await
    }

    /// Waits for the next event as `next` does, and calls `heard` whenever some of its data has
    /// come: an event that takes long is a sign of life, too.
    pub(crate) async fn next_heard(
        &mut self,
        heard: &mut (dyn FnMut() + Send),
    ) -> Result<Option<Event>, HttpError> {
        loop {
            let parsed = self.parser.next();
            if self.parser.take_news() {
                heard();
            }
            match parsed {
                Ok(Some(event)) => return Ok(Some(event)),
                Ok(None) => {}
                Err(too_large) => {
                    self.end();
                    return Err(HttpError::TooLarge {
                        limit: too_large.limit,
                    });
                }
            }
            let Some(body) = &mut self.body else {
                return Ok(None);
            };
            match body.frame().await {
                Some(Ok(frame)) => {
                    if let Ok(data) = frame.into_data() {
                        self.parser.push(&data);
                    }
                }
                Some(Err(error)) => {
                    self.end();
                    return Err(HttpError::broken(&error));
                }
                None => {
                    // An event without its empty line is dropped, as the specification says, but
                    // the caller must know that something was lost.
                    if self.end() {
                        let reason = "the stream ended in the middle of an event";
                        return Err(HttpError::Interrupted(reason.to_owned()));
                    }
                }
            }
        }
    }

    /// Ends the stream. Says whether an event was under way.
    fn end(&mut self) -> bool {
        self.body = None;
        self.parser.abandon()
    }
}

impl fmt::Debug for EventStream {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("EventStream")
            .field("ended", &self.body.is_none())
            .finish_non_exhaustive()
    }
}
