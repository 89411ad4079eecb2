//! A server at an address, spoken to over HTTP with server-sent events, of the first revision.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use bytes::Bytes;
use http::{HeaderMap, HeaderValue};
use tokio::time::{Instant, timeout_at};
use url::Url;

use super::patience::post_patiently;
use super::poster::Poster;
use super::streamable::VERSION;
use super::{ExchangeError, Exchanged, Outgoing, replied};
use crate::error::RequestError;
use crate::http::{Answer, Body, EventStream, HttpEndpoint, HttpError};
use crate::tasks::OwnedTask;
use crate::time;
use crate::traffic::{Inbound, Outbox, Source, Ticket};
use crate::wire::MESSAGE_LIMIT;

/// A server that is spoken to over HTTP with server-sent events.
pub(crate) struct Events {
    shared: Arc<Shared>,
    poster: Mutex<Poster>,
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
    /// How many streams there have been.
    streams: u64,
}

/// A stream that is there, and where to send messages to.
struct Connected {
    messages: HttpEndpoint,
    /// Which of the streams it is.
    number: u64,
    _reader: OwnedTask,
}

impl Events {
    /// Where it is.
    pub(crate) fn url(&self) -> &Url {
        self.shared.endpoint.url()
    }

    pub(crate) fn new(endpoint: HttpEndpoint, inbound: Arc<Inbound>) -> Self {
        let shared = Arc::new(Shared {
            endpoint,
            inbound,
            state: Mutex::default(),
        });
        Self {
            poster: Mutex::new(shared.poster()),
            shared,
        }
    }

    /// Where messages of the present session go that nobody waits for.
    pub(crate) fn outbox(&self) -> Arc<dyn Outbox> {
        let poster = self.poster.lock().unwrap_or_else(PoisonError::into_inner);
        poster.outbox().clone()
    }

    pub(crate) fn generation(&self) -> u64 {
        self.shared.lock().generation
    }

    /// Opens the stream, to make a new session in it.
    pub(crate) async fn open(&self, until: Instant) -> Result<(), RequestError> {
        let number = {
            let mut state = self.shared.lock();
            state.connected = None;
            state.settled = false;
            state.version = None;
            state.streams += 1;
            state.streams
        };
        // Their answers would have come over the old stream.
        let reason = "its stream of events was opened anew";
        self.shared.inbound.in_flight.lose_all(reason);
        let poster = self.shared.poster();
        *self.poster.lock().unwrap_or_else(PoisonError::into_inner) = poster;
        let within = time::until(until);
        let answer = self.shared.endpoint.get(HeaderMap::new(), within).await?;
        let Body::Events(mut stream) = answer.body else {
            return Err(RequestError::BadAnswer(
                "it is no stream of events".to_owned(),
            ));
        };
        let address = timeout_at(until, address(&mut stream))
            .await
            .map_err(|_| RequestError::BadAnswer("the stream names no address".to_owned()))??;
        let base = &answer.url;
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
            self.outbox(),
            number,
        ));
        self.shared.lock().connected = Some(Connected {
            messages: self.shared.endpoint.at(messages),
            number,
            _reader: reader,
        });
        Ok(())
    }

    /// Whether the stream is there over which everything comes.
    pub(crate) fn hears(&self) -> bool {
        self.shared.lock().connected.is_some()
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
                let mut state = self.shared.lock();
                // It may be an old session that is not known any more.
                if state.generation == generation {
                    state.settled = false;
                }
                Err(ExchangeError::SessionExpired(generation))
            }
            // The message may have arrived, and then its answer comes over the stream.
            Err(HttpError::Interrupted(_) | HttpError::TimedOut { connected: true }) => {
                replied(ticket.reply().await)
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
            let text = body.read(MESSAGE_LIMIT, time::until(message.until)).await?;
            if text.first() == Some(&b'{') {
                let source = Source::Request(ticket.id());
                self.shared.inbound.receive(&text, source, &self.outbox());
            }
        }
        Ok(())
    }

    /// Lets go of the stream, which is all that a session is here.
    pub(crate) fn close(&self) {
        self.shared.inbound.in_flight.close("it was disconnected");
        *self.poster.lock().unwrap_or_else(PoisonError::into_inner) = Poster::none();
        let mut state = self.shared.lock();
        state.connected = None;
        state.settled = false;
    }
}

impl Shared {
    /// A poster for the session that is or will be there.
    fn poster(self: &Arc<Self>) -> Poster {
        let shared = self.clone();
        Poster::new(self.inbound.server.clone(), move |message, until| {
            let shared = shared.clone();
            async move { shared.notify(message, until).await }
        })
    }

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
        let within = time::until(until);
        messages.post(headers, message, within).await?;
        Ok(())
    }
}

impl State {
    fn headers(&self) -> Arc<HeaderMap> {
        let version = self.version.clone().map(|version| (VERSION, version));
        Arc::new(version.into_iter().collect())
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
    number: u64,
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
        let is_own = |connected: &Connected| connected.number == number;
        if !state.connected.as_ref().is_some_and(is_own) {
            return;
        }
        state.settled = false;
        // This task is a part of it, and ends here anyway.
        let connected = state.connected.take();
        drop(state);
        inbound.in_flight.lose_all(&reason);
        drop(connected);
    }
}
