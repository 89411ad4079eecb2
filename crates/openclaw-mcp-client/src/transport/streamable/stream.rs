//! The stream of events that answers one request, over as many connections as it takes.

use std::sync::Arc;
use std::time::Duration;

use http::{HeaderMap, HeaderName, HeaderValue};
use tokio::time::{Instant, sleep};

use super::Shared;
use crate::error::{RequestError, UnknownOutcome};
use openclaw_sse::Event;

use crate::http::{Body, EventStream, HttpError, HttpFailure};
use crate::time;
use crate::traffic::{Outbox, Pulse, Reply, Source, Ticket};

/// After which event a stream is to go on.
pub(crate) const LAST_EVENT: HeaderName = HeaderName::from_static("last-event-id");
/// How long it is waited before a stream is taken up again, where the server does not say.
const RETRY: Duration = Duration::from_secs(1);
/// How long at least, whatever the server says.
const RETRY_LEAST: Duration = Duration::from_millis(100);
/// How long at most, whatever the server says or however often it failed.
const RETRY_LIMIT: Duration = Duration::from_secs(30);
/// How often in a row it is tried.
const ATTEMPTS: u32 = 4;

/// Reads the answer to one request.
pub(crate) struct Reading<'a> {
    shared: &'a Shared,
    outbox: &'a Arc<dyn Outbox>,
    /// The headers with which the stream is taken up again, where the protocol lets it: those of
    /// the session that it belongs to, which may be an old one by then.
    resume_with: Option<Arc<HeaderMap>>,
    position: Position,
}

/// Where in a stream we are, which is of use for this stream alone.
#[derive(Debug, Default)]
pub(crate) struct Position {
    pub(crate) last: Option<HeaderValue>,
    pub(crate) retry: Option<Duration>,
}

impl Position {
    /// Moves on to an event.
    pub(crate) fn pass(&mut self, event: &Event) {
        if let Some(id) = &event.id {
            // An empty identifier takes back the last one.
            self.last = HeaderValue::from_str(id).ok().filter(|id| !id.is_empty());
        }
        if event.retry.is_some() {
            self.retry = event.retry;
        }
    }

    /// How long to wait before it is taken up again, after so many failures.
    pub(crate) fn pause(&self, failures: u32) -> Duration {
        let base = self.retry.unwrap_or(RETRY).clamp(RETRY_LEAST, RETRY_LIMIT);
        base.saturating_mul(1 << failures.min(16)).min(RETRY_LIMIT)
    }
}

/// Whether a status is worth another attempt.
pub(crate) fn may_pass(failure: &HttpFailure) -> bool {
    // 409 is the answer of servers that believe in the old connection for a while.
    matches!(failure.status.as_u16(), 408 | 409 | 425 | 429 | 500..=599)
}

impl<'a> Reading<'a> {
    pub(super) fn new(
        shared: &'a Shared,
        outbox: &'a Arc<dyn Outbox>,
        resume_with: Option<Arc<HeaderMap>>,
    ) -> Self {
        Self {
            shared,
            outbox,
            resume_with,
            position: Position::default(),
        }
    }

    /// Reads until the answer is there; what is left of the stream comes with it.
    pub(super) async fn answer(
        mut self,
        mut stream: EventStream,
        until: Instant,
        ticket: &mut Ticket,
    ) -> Result<(Reply, Option<EventStream>), RequestError> {
        let mut failures = 0;
        let pulse = ticket.pulse();
        // A large answer that takes its time is no silence.
        let mut heard = || pulse.beat();
        loop {
            let event = tokio::select! {
                biased;
                event = stream.next_heard(&mut heard) => event,
                reply = ticket.reply() => return Ok((reply, None)),
            };
            match event {
                Ok(Some(event)) => {
                    self.position.pass(&event);
                    failures = 0;
                    // An event without data only says where we are.
                    if !event.data.is_empty() {
                        let source = Source::Request(ticket.id());
                        self.shared
                            .inbound
                            .receive(&event.data, source, self.outbox);
                        if let Some(reply) = ticket.try_reply() {
                            return Ok((reply, Some(stream)));
                        }
                    }
                }
                Err(error @ HttpError::TooLarge { .. }) => return Err(error.into()),
                Ok(None) | Err(_) => {
                    stream = tokio::select! {
                        biased;
                        reply = ticket.reply() => return Ok((reply, None)),
                        again = Box::pin(self.resume(until, &pulse, &mut failures)) => again?,
                    };
                }
            }
        }
    }

    /// Takes up the stream where it ended.
    async fn resume(
        &self,
        until: Instant,
        pulse: &Pulse,
        failures: &mut u32,
    ) -> Result<EventStream, RequestError> {
        let lost = |reason: &str| {
            RequestError::OutcomeUnknown(UnknownOutcome::Lost(format!(
                "the stream ended before the answer{reason}"
            )))
        };
        let (Some(position), Some(session)) = (&self.position.last, &self.resume_with) else {
            return Err(lost(""));
        };
        while *failures < ATTEMPTS {
            sleep(self.position.pause(*failures)).await;
            *failures += 1;
            let mut headers = HeaderMap::clone(session);
            headers.insert(LAST_EVENT, position.clone());
            let within = time::until(time::later(until, pulse.asked().0));
            match self.shared.endpoint.get(headers, within).await {
                Ok(answer) => match answer.body {
                    Body::Events(stream) => return Ok(stream),
                    _ => return Err(lost(", and the server does not go on with it")),
                },
                Err(HttpError::Status(failure)) if !may_pass(&failure) => {
                    return Err(lost(&format!(", and can't be taken up again: {failure}")));
                }
                Err(_) => {}
            }
        }
        Err(lost(", and could not be taken up again"))
    }
}
