//! What all requests share.

use std::sync::Arc;
use std::time::Instant;

use axum::Router;
use openclaw_engine::Engine;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use url::Url;

use crate::door::Door;
use crate::luggage::Luggage;
use crate::metrics::Traffic;
use crate::routes::Judged;

/// How many clients over `WebSocket` there may be at a time.
pub(crate) const MOST_WEBSOCKETS: usize = 600;

/// How many there may be beside them of those who have not said yet who they are. They are gone after a
/// few seconds, so that few are enough.
pub(crate) const MOST_STRANGERS: usize = 32;

/// How many requests there may be under way at a time. Over HTTP/1 there are as many as connections.
pub(crate) const MOST_REQUESTS: usize = 8_192;

/// What all requests share.
pub(crate) struct Gateway {
    /// What is asked.
    pub(crate) engine: Arc<dyn Engine>,
    /// What answers in the way of OpenAI's interface.
    pub(crate) chat: Router,
    /// Room for large chat completions, for large calls, and for large answers.
    pub(crate) chats: Luggage,
    pub(crate) calls: Luggage,
    pub(crate) answers: Luggage,
    /// One permit for each request that there may be.
    pub(crate) requests: Arc<Semaphore>,
    /// Who comes in.
    pub(crate) door: Door,
    /// What came in so far.
    pub(crate) traffic: Traffic,
    /// One permit for each `WebSocket` that there may be of those who are let in.
    pub(crate) websockets: Arc<Semaphore>,
    /// One for each that there may be of those who have not said yet who they are.
    pub(crate) strangers: Arc<Semaphore>,
    /// How it was when somebody asked last.
    pub(crate) judged: Judged,
    /// The conversations over `WebSocket`, which outlive the requests that began them.
    pub(crate) conversations: TaskTracker,
    /// The public address, where there is one.
    pub(crate) public_url: Option<Url>,
    /// The version of the program.
    pub(crate) version: &'static str,
    /// Since when it has been there.
    pub(crate) since: Instant,
    /// Cancelled when it is to stop.
    pub(crate) stop: CancellationToken,
}

impl Gateway {
    /// For how long it has been there, in milliseconds.
    pub(crate) fn uptime_ms(&self) -> u64 {
        u64::try_from(self.since.elapsed().as_millis()).unwrap_or(u64::MAX)
    }
}
