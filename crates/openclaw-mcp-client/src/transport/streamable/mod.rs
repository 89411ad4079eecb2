//! A server at an address, spoken to over Streamable HTTP.

mod listener;
mod session;
mod stream;

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use http::HeaderMap;
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout};
use url::Url;

use self::listener::Listener;
use self::session::SessionState;
pub(crate) use self::session::VERSION;
use super::patience::post_patiently;
use super::poster::Poster;
use super::{ExchangeError, Exchanged, Outgoing, replied};
use crate::error::RequestError;
use crate::http::{Answer, Body, EventStream, HttpEndpoint, HttpError};
use crate::time;
use crate::traffic::{Inbound, Outbox, Source, Ticket};
use crate::wire::{MESSAGE_LIMIT, RpcError};

/// How much of the identifier of a session is shown.
const SHOWN: usize = 8;
/// How long saying goodbye may take.
const GOODBYE: Duration = Duration::from_secs(2);
/// How long the end of an answered stream is waited for, so that its connection can be used again.
const DRAIN: Duration = Duration::from_secs(2);
/// How much more may come over it.
const DRAIN_LIMIT: usize = 64 * 1024;
/// How many answered streams are waited for at once.
const DRAINING: usize = 32;
/// How long the first call waits for the server's own stream: what a server asks during a call
/// may come over it, and is lost if it is not there.
const LISTENING: Duration = Duration::from_millis(500);

/// A server that is spoken to over Streamable HTTP.
pub(crate) struct Streamable {
    shared: Arc<Shared>,
    poster: Mutex<Poster>,
    listener: Mutex<Option<Listener>>,
    draining: Mutex<JoinSet<()>>,
}

/// What all who send and receive need.
struct Shared {
    endpoint: HttpEndpoint,
    inbound: Arc<Inbound>,
    session: Mutex<SessionState>,
}

impl Streamable {
    pub(crate) fn new(endpoint: HttpEndpoint, inbound: Arc<Inbound>) -> Self {
        let shared = Arc::new(Shared {
            endpoint,
            inbound,
            session: Mutex::default(),
        });
        Self {
            poster: Mutex::new(shared.poster()),
            shared,
            listener: Mutex::default(),
            draining: Mutex::default(),
        }
    }

    /// Where messages of the present session go that nobody waits for.
    pub(crate) fn outbox(&self) -> Arc<dyn Outbox> {
        lock(&self.poster).outbox().clone()
    }

    /// The number of the present session.
    pub(crate) fn generation(&self) -> u64 {
        self.shared.session().generation
    }

    /// Where it is.
    pub(crate) fn url(&self) -> &Url {
        self.shared.endpoint.url()
    }

    /// How the identifier of the session begins.
    pub(crate) fn session_start(&self) -> Option<String> {
        let headers = self.shared.session().headers();
        let id = headers.get(session::ID)?.to_str().ok()?;
        Some(format!("{}…", id.chars().take(SHOWN).collect::<String>()))
    }

    /// Forgets the session, to make a new one.
    pub(crate) fn begin(&self) {
        *lock(&self.listener) = None;
        *lock(&self.poster) = self.shared.poster();
        self.shared.session().begin();
    }

    /// Speaks the revision that was agreed on.
    pub(crate) fn speak(&self, version: &str) {
        self.shared.session().speak(version);
    }

    /// Starts to use the session that was made.
    pub(crate) fn settle(&self) {
        self.shared.session().settle();
    }

    /// Listens to what the server says on its own.
    pub(crate) fn listen(&self) {
        let listener = Listener::start(self.shared.clone(), self.outbox());
        *lock(&self.listener) = Some(listener);
    }

    /// Whether what the server says on its own arrives: not every server has a stream for it.
    pub(crate) fn hears(&self) -> bool {
        lock(&self.listener).as_ref().is_some_and(Listener::is_open)
    }

    pub(crate) async fn notify(&self, message: Bytes, until: Instant) -> Result<(), RequestError> {
        Ok(self.shared.notify(message, until).await?)
    }

    pub(crate) async fn exchange(&self, message: &Outgoing, ticket: &mut Ticket) -> Exchanged {
        if message.method == "tools/call" {
            let is_ready = lock(&self.listener).as_ref().is_none_or(Listener::is_ready);
            if !is_ready {
                Box::pin(self.wait_for_listener()).await;
            }
        }
        let initializes = message.method == "initialize";
        let (headers, generation) = {
            let session = self.shared.session();
            if !session.settled && !initializes && !message.stateless {
                return Err(ExchangeError::SessionExpired(session.generation));
            }
            let headers = if message.stateless {
                message.headers.clone()
            } else {
                session.headers()
            };
            (headers, session.generation)
        };
        let posted =
            post_patiently(&self.shared.endpoint, &headers, message, &ticket.pulse()).await;
        let answer = match posted {
            Ok(answer) => answer,
            Err(HttpError::Status(failure)) => {
                let in_session = headers.contains_key(session::ID);
                return match failure.status.as_u16() {
                    404 if in_session => Err(ExchangeError::SessionExpired(generation)),
                    // Who we are is not a matter of the protocol; and something that stands
                    // between us and the server may speak like one when it fails.
                    401 | 403 | 500.. => Err(RequestError::Http(failure).into()),
                    status => match RpcError::of_body(&failure.body, status) {
                        Some(error) if status == 400 && in_session && is_about_session(&error) => {
                            Err(ExchangeError::SessionExpired(generation))
                        }
                        Some(error) => Ok(Err(error)),
                        None => Err(RequestError::Http(failure).into()),
                    },
                };
            }
            Err(error) => return Err(error.into()),
        };
        if initializes {
            self.shared.session().assigned(&answer.headers);
        }
        let resume_with = (!message.stateless).then_some(headers);
        self.answered(answer, message, resume_with, ticket).await
    }

    async fn answered(
        &self,
        answer: Answer,
        message: &Outgoing,
        resume_with: Option<Arc<HeaderMap>>,
        ticket: &mut Ticket,
    ) -> Exchanged {
        match answer.body {
            Body::Json(body) => {
                let pulse = ticket.pulse();
                let text = body.read_untimed(MESSAGE_LIMIT, || pulse.beat()).await?;
                let source = Source::Request(ticket.id());
                self.shared.inbound.receive(&text, source, &self.outbox());
                match ticket.try_reply() {
                    Some(reply) => replied(reply),
                    None => Err(RequestError::BadAnswer("it is no answer".to_owned()).into()),
                }
            }
            Body::Events(stream) => {
                let outbox = self.outbox();
                let reading = stream::Reading::new(&self.shared, &outbox, resume_with);
                let (reply, rest) = reading.answer(stream, message.until, ticket).await?;
                if let Some(rest) = rest {
                    self.drain(rest, ticket.id());
                }
                replied(reply)
            }
            // There are servers that answer over their own stream.
            Body::Empty if !message.stateless => replied(ticket.reply().await),
            Body::Empty => Err(RequestError::BadAnswer("it is empty".to_owned()).into()),
            Body::Other(other) => Err(RequestError::from(HttpError::from(other)).into()),
        }
    }

    async fn wait_for_listener(&self) {
        let ready = lock(&self.listener).as_ref().map(Listener::ready);
        if let Some(ready) = ready
            && !*ready.borrow()
        {
            let mut listening = ready.subscribe();
            let _ = timeout(LISTENING, listening.wait_for(|ready| *ready)).await;
            // Either way the call is made, and the next one does not wait again.
            ready.send_replace(true);
        }
    }

    /// Reads a stream to its end.
    fn drain(&self, stream: EventStream, id: u64) {
        let mut stream = stream.limited(DRAIN_LIMIT);
        let mut draining = lock(&self.draining);
        while draining.try_join_next().is_some() {}
        if draining.len() >= DRAINING {
            return;
        }
        let (inbound, outbox) = (self.shared.inbound.clone(), self.outbox());
        draining.spawn(async move {
            let reading = async {
                while let Ok(Some(event)) = stream.next().await {
                    if !event.data.is_empty() {
                        inbound.receive(&event.data, Source::Request(id), &outbox);
                    }
                }
            };
            let _ = timeout(DRAIN, reading).await;
        });
    }

    /// Ends the session.
    pub(crate) async fn close(&self) {
        *lock(&self.listener) = None;
        *lock(&self.poster) = Poster::none();
        lock(&self.draining).abort_all();
        self.shared.inbound.in_flight.close("it was disconnected");
        let headers = {
            let mut session = self.shared.session();
            let headers = session.headers();
            session.begin();
            headers
        };
        if headers.contains_key(session::ID)
            && let Err(error) = self.shared.endpoint.delete(headers, GOODBYE).await
        {
            // Many servers don't let clients end sessions.
            tracing::debug!(server = %self.shared.inbound.server, "the session was not ended: {error}");
        }
    }
}

/// Whether a server that does not know a session says so in its own way: the first version of the
/// official library, and all that was copied from its examples, answers 400 instead of 404.
fn is_about_session(error: &RpcError) -> bool {
    error.code == -32000 && error.message.to_ascii_lowercase().contains("session")
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

    fn session(&self) -> std::sync::MutexGuard<'_, SessionState> {
        lock(&self.session)
    }

    async fn notify(&self, message: Bytes, until: Instant) -> Result<(), HttpError> {
        let headers = self.session().headers();
        let within = time::until(until);
        self.endpoint.post(headers, message, within).await?;
        Ok(())
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
