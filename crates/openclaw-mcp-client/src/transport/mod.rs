//! The three ways to a server.

mod events;
mod patience;
mod poster;
mod stdio;
mod streamable;

use std::pin::Pin;
use std::sync::Arc;

use bytes::Bytes;
use http::HeaderMap;
use openclaw_telemetry::Wire;
use tokio::time::Instant;

pub(crate) use self::events::Events;
pub(crate) use self::stdio::{Presence, Stdio};
pub(crate) use self::streamable::Streamable;
use crate::error::{RequestError, UnknownOutcome};
use crate::http::HttpError;
use crate::traffic::{Lost, Reply, Ticket};
use crate::wire::{RawJson, RpcError};

/// A request on its way out.
pub(crate) struct Outgoing {
    pub(crate) method: &'static str,
    pub(crate) body: Bytes,
    /// Headers that describe it, where there are headers.
    pub(crate) headers: Arc<HeaderMap>,
    /// Whether it stands for itself, outside of any session.
    pub(crate) stateless: bool,
    /// When its time is over.
    pub(crate) until: Instant,
}

/// The way to a server.
pub(crate) enum Link {
    Stdio(Stdio),
    Streamable(Streamable),
    Events(Events),
}

/// Why an exchange gave no answer.
pub(crate) enum ExchangeError {
    /// The server has forgotten the session with this number: it must be made anew.
    SessionExpired(u64),
    Other(RequestError),
}

impl<E: Into<RequestError>> From<E> for ExchangeError {
    fn from(error: E) -> Self {
        Self::Other(error.into())
    }
}

/// What a server answered.
pub(crate) type Exchanged = Result<Result<RawJson, RpcError>, ExchangeError>;

/// An exchange over HTTP. It is large, and those over a pipe, which cost far less, need not carry its room.
type Apart<'a> = Pin<Box<dyn Future<Output = Exchanged> + Send + 'a>>;

impl Link {
    /// Sends a request and waits for its answer, for as long as the caller likes.
    pub(crate) async fn exchange(&self, message: &Outgoing, ticket: &mut Ticket) -> Exchanged {
        match self {
            Self::Stdio(stdio) => {
                stdio
                    .send(&message.body)
                    .await
                    .map_err(RequestError::NotSent)?;
                replied(ticket.reply().await)
            }
            Self::Streamable(streamable) => {
                let exchange: Apart<'_> = Box::pin(streamable.exchange(message, ticket));
                exchange.await
            }
            Self::Events(events) => {
                let exchange: Apart<'_> = Box::pin(events.exchange(message, ticket));
                exchange.await
            }
        }
    }

    /// Sends a notification and waits until the server has it.
    pub(crate) async fn notify(&self, message: Bytes, until: Instant) -> Result<(), RequestError> {
        match self {
            Self::Stdio(stdio) => stdio.send(&message).await.map_err(RequestError::NotSent),
            Self::Streamable(streamable) => streamable.notify(message, until).await,
            Self::Events(events) => events.notify(message, until).await,
        }
    }

    /// Sends a message soon, as far as there is room.
    pub(crate) fn send_soon(&self, message: Bytes) {
        match self {
            Self::Stdio(stdio) => stdio.send_soon(&message),
            Self::Streamable(streamable) => drop(streamable.outbox().send_soon(message)),
            Self::Events(events) => drop(events.outbox().send_soon(message)),
        }
    }

    /// Whether what a server of the first era says on its own arrives.
    pub(crate) fn hears(&self) -> bool {
        match self {
            Self::Stdio(_) => true,
            Self::Streamable(streamable) => streamable.hears(),
            Self::Events(events) => events.hears(),
        }
    }

    /// How messages travel, for those who collect traces.
    pub(crate) fn wire(&self) -> Wire<'_> {
        let url = match self {
            Self::Stdio(_) => return Wire::Pipe,
            Self::Streamable(streamable) => streamable.url(),
            Self::Events(events) => events.url(),
        };
        Wire::Http {
            host: url.host_str().unwrap_or_default(),
            port: url.port_or_known_default(),
        }
    }

    /// The number of the session that requests belong to now.
    pub(crate) fn generation(&self) -> u64 {
        match self {
            Self::Stdio(_) => 0,
            Self::Streamable(streamable) => streamable.generation(),
            Self::Events(events) => events.generation(),
        }
    }

    /// Says goodbye, as far as there is somebody to say it to.
    pub(crate) async fn close(&self) {
        match self {
            Self::Stdio(stdio) => stdio.close().await,
            Self::Streamable(streamable) => streamable.close().await,
            Self::Events(events) => events.close(),
        }
    }
}

fn replied(reply: Reply) -> Exchanged {
    match reply {
        Ok(outcome) => Ok(outcome),
        Err(lost) => Err(RequestError::from(lost).into()),
    }
}

impl From<Lost> for RequestError {
    fn from(lost: Lost) -> Self {
        match lost {
            Lost::Closed(reason) => Self::OutcomeUnknown(UnknownOutcome::Lost(reason.to_string())),
            Lost::TooLarge => Self::BadResult("it is larger than 80 MiB".to_owned()),
        }
    }
}

impl From<HttpError> for RequestError {
    fn from(error: HttpError) -> Self {
        let text = error.to_string();
        match error {
            HttpError::Unreachable(_) | HttpError::TimedOut { connected: false } => {
                Self::NotSent(text)
            }
            HttpError::Interrupted(_) | HttpError::TimedOut { connected: true } => {
                Self::OutcomeUnknown(UnknownOutcome::Lost(text))
            }
            HttpError::Status(failure) => Self::Http(failure),
            HttpError::Unauthorized(unauthorized) => Self::Unauthorized(unauthorized),
            HttpError::NoToken(reason) => Self::NoToken(reason),
            HttpError::Redirected { .. } => Self::NotSent(text),
            HttpError::TooLarge { .. } => Self::BadResult(text),
            HttpError::ContentType { .. } => Self::BadAnswer(text),
        }
    }
}
