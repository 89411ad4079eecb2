//! A server at an address, spoken to over HTTP with server-sent events, of the first revision.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, HeaderValue};
use tokio::time::{Instant, timeout_at};

use super::patience::post_patiently;
use super::poster::Poster;
use super::streamable::VERSION;
use super::tasks::OwnedTask;
use super::{ExchangeError, Exchanged, Outgoing, replied};
use crate::error::RequestError;
use crate::http::{Answer, Body, EventStream, HttpEndpoint, HttpError};
use crate::traffic::{Inbound, Outbox, Source, Ticket};
use crate::wire::MESSAGE_LIMIT;

/// How long a message that nobody waits for may take.
const POST: Duration = Duration::from_secs(30);

/// A server that is spoken to over HTTP with server-sent events.
pub(crate) struct Events {
    shared: Arc<Shared>,
    poster: Poster,
}

struct Shared {
    endpoint: HttpEndpoint,
    inbound: Arc<Inbound>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    connected: Option<Connected>,
    version: Option<HeaderValue>,
    /// Whether requests may be sent.
    settled: bool,
    generation: u64,
}

/// A stream that is there, and where to send messages to.
struct Connected {
    messages: HttpEndpoint,
    _reader: OwnedTask,
}

impl Events {
    pub(crate) fn new(endpoint: HttpEndpoint, inbound: Arc<Inbound>) -> Self {
        let shared = Arc::new(Shared {
            endpoint,
            inbound,
            state: Mutex::default(),
        });
        let posting = shared.clone();
        let poster = Poster::new(move |message| {
            let shared = posting.clone();
            async move {
                let until = Instant::now() + POST;
                if let Err(error) = shared.notify(message, until).await {
                    tracing::debug!(server = %shared.inbound.server, "a message was not sent: {error}");
                }
            }
        });
        Self { shared, poster }
    }

    pub(crate) fn outbox(&self) -> &Arc<dyn Outbox> {
        self.poster.outbox()
    }

    pub(crate) fn generation(&self) -> u64 {
        self.shared.lock().generation
    }

    /// Opens the stream, to make a new session in it.
    pub(crate) async fn open(&self, until: Instant) -> Result<(), RequestError> {
        {
            let mut state = self.shared.lock();
            state.connected = None;
            state.settled = false;
            state.version = None;
        }
        let within = until.saturating_duration_since(Instant::now());
        let answer = self.shared.endpoint.get(HeaderMap::new(), within).await?;
        let Body::Events(mut stream) = answer.body else {
            return Err(RequestError::BadAnswer(
                "it is no stream of events".to_owned(),
            ));
        };
        let address = timeout_at(until, address(&mut stream))
            .await
            .map_err(|_| RequestError::BadAnswer("the stream names no address".to_owned()))??;
        let base = self.shared.endpoint.url();
        let messages = base
            .join(&address)
            .ok()
            .filter(|url| url.origin() == base.origin())
            .ok_or_else(|| {
                let reason = "the stream names an address of another server";
                RequestError::BadAnswer(reason.to_owned())
            })?;
        let reader = OwnedTask::spawn(read(
            stream,
            Arc::downgrade(&self.shared),
            self.shared.inbound.clone(),
            self.outbox().clone(),
        ));
        self.shared.lock().connected = Some(Connected {
            messages: self.shared.endpoint.at(messages),
            _reader: reader,
        });
        Ok(())
    }

    /// Speaks the revision that was agreed on.
    pub(crate) fn speak(&self, version: &str) {
        self.shared.lock().version = HeaderValue::from_str(version).ok();
    }

    /// Starts to use the session that was made.
    pub(crate) fn settle(&self) {
        let mut state = self.shared.lock();
        state.settled = true;
        state.generation += 1;
    }

    pub(crate) async fn notify(&self, message: Bytes, until: Instant) -> Result<(), RequestError> {
        self.shared.notify(message, until).await
    }

    pub(crate) async fn exchange(&self, message: &Outgoing, ticket: &mut Ticket) -> Exchanged {
        let initializes = message.method == "initialize";
        let (messages, headers, generation) = {
            let state = self.shared.lock();
            match &state.connected {
                Some(connected) if state.settled || initializes => (
                    connected.messages.clone(),
                    state.headers(),
                    state.generation,
                ),
                _ => return Err(ExchangeError::SessionExpired(state.generation)),
            }
        };
        let pulse = ticket.pulse();
        let posted = tokio::select! {
            biased;
            posted = post_patiently(&messages, &headers, message, &pulse) => posted,
            // There are servers that accept a message only once they have answered it.
            reply = ticket.reply() => return replied(reply),
        };
        match posted {
            Ok(answer) => {
                self.take_in(answer, message, ticket).await?;
                replied(ticket.reply().await)
            }
            Err(HttpError::Status(failure))
                if !initializes && matches!(failure.status.as_u16(), 404 | 410) =>
            {
                self.shared.lock().settled = false;
                Err(ExchangeError::SessionExpired(generation))
            }
            Err(error) => Err(error.into()),
        }
    }

    /// The answer comes over the stream, but there are servers that put it here as well.
    async fn take_in(
        &self,
        answer: Answer,
        message: &Outgoing,
        ticket: &Ticket,
    ) -> Result<(), RequestError> {
        if let Body::Json(body) = answer.body {
            let left = message.until.saturating_duration_since(Instant::now());
            let text = body.read(MESSAGE_LIMIT, left).await?;
            if text.first() == Some(&b'{') {
                let source = Source::Request(ticket.id());
                self.shared.inbound.receive(&text, source, self.outbox());
            }
        }
        Ok(())
    }

    /// Lets go of the stream, which is all that a session is here.
    pub(crate) fn close(&self) {
        self.shared.inbound.in_flight.close("it was disconnected");
        let mut state = self.shared.lock();
        state.connected = None;
        state.settled = false;
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn notify(&self, message: Bytes, until: Instant) -> Result<(), RequestError> {
        let (messages, headers) = {
            let state = self.lock();
            let connected = state.connected.as_ref().ok_or_else(|| {
                RequestError::NotSent("the stream of events is not there".to_owned())
            })?;
            (connected.messages.clone(), state.headers())
        };
        let within = until.saturating_duration_since(Instant::now());
        messages.post(headers, message, within).await?;
        Ok(())
    }
}

impl State {
    fn headers(&self) -> HeaderMap {
        let version = self.version.clone();
        version
            .map(|version| (VERSION, version))
            .into_iter()
            .collect()
    }
}

/// Waits for the event that says where to send messages to.
async fn address(stream: &mut EventStream) -> Result<String, RequestError> {
    while let Some(event) = stream.next().await? {
        if event.name.as_deref() == Some("endpoint") {
            return Ok(String::from_utf8_lossy(&event.data).trim().to_owned());
        }
    }
    Err(RequestError::BadAnswer(
        "the stream names no address".to_owned(),
    ))
}

/// Reads until the stream ends. Everything that waits is lost with it: a new stream is a new
/// session.
async fn read(
    mut stream: EventStream,
    shared: Weak<Shared>,
    inbound: Arc<Inbound>,
    outbox: Arc<dyn Outbox>,
) {
    let reason = loop {
        match stream.next().await {
            Ok(Some(event)) => {
                let is_message = event.name.as_deref().is_none_or(|name| name == "message");
                if is_message && !event.data.is_empty() {
                    inbound.receive(&event.data, Source::Shared, &outbox);
                }
            }
            Ok(None) => break "the stream of events ended".to_owned(),
            Err(error) => break format!("the stream of events broke: {error}"),
        }
    };
    if let Some(shared) = shared.upgrade() {
        let mut state = shared.lock();
        state.settled = false;
        // This task is a part of it, and ends here anyway.
        let connected = state.connected.take();
        drop(state);
        inbound.in_flight.lose_all(&reason);
        drop(connected);
    }
}
