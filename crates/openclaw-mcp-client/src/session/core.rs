//! Requests: composed for the era, sent, waited for, given up on.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::Duration;

use http::HeaderMap;
use openclaw_telemetry::{Exchange, TraceContext};
use serde_json::json;
use tokio::sync::Semaphore;
use tokio::time::{Instant, sleep_until, timeout_at};

use super::handshake;
use super::header_parameters::{HeaderParameters, describe};
use super::params::{Meta, Parameters, Params};
use super::telling::failure;
use super::terms::{Era, Terms, modern_meta};
use crate::error::{RequestError, UnknownOutcome};
use crate::target::{Target, Timeouts};
use crate::time::{deadline, later};
use crate::traffic::{Changes, Inbound, Pulse, TicketKind, TicketOptions};
use crate::transport::{ExchangeError, Exchanged, Link, Outgoing};
use crate::wire::{self, RawJson};

/// How many tools may be called at once.
const CALLS: usize = 128;
/// How often it is looked whether a person still thinks, where nothing else is left of the time.
const LOOK: Duration = Duration::from_millis(50);

/// One connection, and all that requests on it need.
pub(crate) struct Core {
    pub(crate) inbound: Arc<Inbound>,
    pub(crate) link: Link,
    pub(crate) timeouts: Timeouts,
    terms: RwLock<Option<Arc<Terms>>>,
    renewing: tokio::sync::Mutex<()>,
    /// How many tools may be called at once.
    pub(super) calls: Semaphore,
    /// Which parameters of tools are sent as headers, too.
    pub(super) header_parameters: RwLock<HeaderParameters>,
    /// Taken while those are found out for the first time; whether that was tried.
    pub(super) learning: tokio::sync::Mutex<bool>,
    /// The resources that are watched in the first era, whose sessions forget them.
    pub(super) watched: Mutex<BTreeSet<String>>,
}

/// A request to make.
pub(crate) struct Request {
    pub(crate) method: &'static str,
    pub(crate) params: Parameters,
    pub(crate) limits: Limits,
    pub(crate) ticket: TicketOptions,
    pub(crate) speech: Speech,
}

/// How long a request may take.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// Without a sign of life.
    pub(crate) idle: Duration,
    /// In all; what a person takes to answer the server comes on top.
    pub(crate) until: Instant,
}

/// How a request is spoken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Speech {
    /// As agreed.
    Agreed,
    /// As the first message of the first era.
    Handshake,
    /// In this revision of the second era, to find out whether the server understands it.
    Modern(&'static str),
}

impl Request {
    /// A request with the usual limits.
    pub(crate) fn new(method: &'static str, params: Parameters, timeouts: Timeouts) -> Self {
        Self {
            method,
            params,
            limits: Limits {
                idle: timeouts.request,
                until: deadline(timeouts.total),
            },
            ticket: TicketOptions::default(),
            speech: Speech::Agreed,
        }
    }
}

impl Core {
    pub(crate) fn new(inbound: Arc<Inbound>, link: Link, target: &Target) -> Arc<Self> {
        Arc::new(Self {
            inbound,
            link,
            timeouts: target.timeouts,
            calls: Semaphore::new(if target.parallel_calls { CALLS } else { 1 }),
            learning: tokio::sync::Mutex::default(),
            watched: Mutex::default(),
            terms: RwLock::default(),
            renewing: tokio::sync::Mutex::default(),
            header_parameters: RwLock::default(),
        })
    }

    /// What was agreed on.
    pub(crate) fn terms(&self) -> Option<Arc<Terms>> {
        let terms = self.terms.read().unwrap_or_else(PoisonError::into_inner);
        terms.clone()
    }

    pub(crate) fn agree(&self, terms: Terms) {
        let mut agreed = self.terms.write().unwrap_or_else(PoisonError::into_inner);
        *agreed = Some(Arc::new(terms));
    }

    /// Whether this era was agreed on.
    pub(crate) fn speaks(&self, era: Era) -> bool {
        let terms = self.terms.read().unwrap_or_else(PoisonError::into_inner);
        terms.as_ref().is_some_and(|terms| terms.era == era)
    }

    /// Whether the connection is gone for good.
    pub(crate) fn is_closed(&self) -> bool {
        self.inbound.in_flight.is_closed()
    }

    /// Makes a request; a session that the server has forgotten is made anew, once.
    pub(crate) async fn request(&self, request: &Request) -> Result<RawJson, RequestError> {
        let mut renewed = false;
        loop {
            match self.attempt(request).await {
                Ok(Ok(result)) => return Ok(result),
                Ok(Err(error)) => return Err(RequestError::Refused(error)),
                Err(ExchangeError::SessionExpired(generation)) if !renewed => {
                    renewed = true;
                    // What is rare must not make every request's future large.
                    Box::pin(self.renew(generation, request.limits.until)).await?;
                }
                Err(ExchangeError::SessionExpired(_)) => {
                    let reason = "the server forgets its sessions at once";
                    return Err(RequestError::NotSent(reason.to_owned()));
                }
                Err(ExchangeError::Other(error)) => return Err(error),
            }
        }
    }

    /// Makes a request of the handshake, for which there is no session to be made anew.
    pub(crate) async fn shake_hands(&self, request: &Request) -> Result<RawJson, RequestError> {
        match self.attempt(request).await {
            Ok(outcome) => outcome.map_err(RequestError::Refused),
            Err(ExchangeError::Other(error)) => Err(error),
            Err(ExchangeError::SessionExpired(_)) => {
                Err(RequestError::NotSent("there is no session".to_owned()))
            }
        }
    }

    async fn attempt(&self, request: &Request) -> Exchanged {
        let now = Instant::now();
        if now >= request.limits.until {
            return Err(RequestError::NotSent("its time is over".to_owned()).into());
        }
        if !matches!(self.link, Link::Stdio(_)) && self.is_closed() {
            return Err(RequestError::NotSent("it was disconnected".to_owned()).into());
        }
        let mut ticket = self.inbound.in_flight.register(request.ticket.clone(), now);
        let told = Exchange::begin(request.method);
        told.describe(|about| self.tell(about, request, ticket.id()));
        let message = match self.compose(request, ticket.id(), told.context()) {
            Ok(message) => message,
            Err(error) => {
                let refused = Err(error.into());
                told.ended(|| failure(request.method, &refused));
                return refused;
            }
        };
        let mut withdrawal = Withdrawal {
            core: self,
            id: ticket.id(),
            // The handshake must not be cancelled; where there is no session, whoever stops
            // listening has cancelled.
            needed: request.speech != Speech::Handshake
                && !(message.stateless && matches!(self.link, Link::Streamable(_))),
        };
        let pulse = ticket.pulse();
        // It is large: pinned where it is made, it is not copied.
        let exchange = pin!(self.link.exchange(&message, &mut ticket));
        let waited = wait(exchange, &pulse, request.limits, now).await;
        let exchanged = match waited {
            Ok(exchanged) => {
                withdrawal.needed = false;
                exchanged
            }
            Err(overdue) => Err(RequestError::OutcomeUnknown(overdue).into()),
        };
        told.ended(|| failure(request.method, &exchanged));
        exchanged
    }

    fn compose(
        &self,
        request: &Request,
        id: u64,
        trace: Option<TraceContext>,
    ) -> Result<Outgoing, RequestError> {
        let agreed = match request.speech {
            Speech::Agreed => self.terms(),
            Speech::Handshake | Speech::Modern(_) => None,
        };
        let modern = match (request.speech, &agreed) {
            (Speech::Modern(version), _) => Some(version),
            (_, Some(terms)) if terms.era == Era::Modern => Some(terms.version),
            _ => None,
        };
        let mut headers = HeaderMap::new();
        if let (Some(version), Link::Streamable(_)) = (modern, &self.link) {
            let parameters = self.header_parameters.read();
            let parameters = parameters.unwrap_or_else(PoisonError::into_inner);
            describe(
                &mut headers,
                version,
                request.method,
                &request.params,
                &parameters,
            );
        }
        let meta = Meta {
            modern: modern.map(|version| modern_meta(version, self.inbound.roots())),
            token: (request.ticket.kind == TicketKind::Interactive).then_some(id),
            trace,
        };
        let params = Params {
            own: &request.params,
            meta: &meta,
        };
        let body = wire::request(id, request.method, &params)
            .map_err(|error| RequestError::NotSent(error.to_string()))?;
        Ok(Outgoing {
            method: request.method,
            body,
            headers: Arc::new(headers),
            stateless: modern.is_some(),
            until: request.limits.until,
        })
    }

    /// Makes a new session in the place of the one with this number, once for all who ask.
    async fn renew(&self, generation: u64, until: Instant) -> Result<(), RequestError> {
        let until = until.min(deadline(self.timeouts.connection));
        let renewing = async {
            let _alone = self.renewing.lock().await;
            if self.link.generation() != generation {
                return Ok(());
            }
            tracing::info!(server = %self.inbound.server, "the session is gone, making a new one");
            match &self.link {
                Link::Stdio(_) => {}
                Link::Streamable(streamable) => streamable.begin(),
                Link::Events(events) => events.open(until).await?,
            }
            handshake::initialize(self, until).await?;
            self.watch_again(until).await;
            // The new session may offer other things.
            self.inbound.changes.note(Changes::everything());
            Ok(())
        };
        let failed = |error| match error {
            RequestError::NotSent(reason) => RequestError::NotSent(reason),
            error => RequestError::NotSent(format!("a new session can't be made: {error}")),
        };
        match timeout_at(until, renewing).await {
            Ok(result) => result.map_err(failed),
            Err(_) => Err(RequestError::NotSent(
                "a new session takes too long".to_owned(),
            )),
        }
    }

    /// Tells the server that nobody waits for a request any longer.
    fn cancel(&self, id: u64) {
        let params = json!({ "requestId": id, "reason": "the client no longer waits" });
        if let Ok(message) = wire::notification("notifications/cancelled", Some(&params)) {
            self.link.send_soon(message);
        }
    }
}

/// Tells the server, when it is dropped, that nobody waits for a request any longer.
struct Withdrawal<'a> {
    core: &'a Core,
    id: u64,
    needed: bool,
}

impl Drop for Withdrawal<'_> {
    fn drop(&mut self) {
        if self.needed {
            self.core.cancel(self.id);
        }
    }
}

/// Waits for an exchange within its limits.
async fn wait(
    mut exchange: Pin<&mut impl Future<Output = Exchanged>>,
    pulse: &Pulse,
    limits: Limits,
    started: Instant,
) -> Result<Exchanged, UnknownOutcome> {
    let mut next = limits.until.min(later(started, limits.idle));
    loop {
        tokio::select! {
            biased;
            exchanged = &mut exchange => return Ok(exchanged),
            () = sleep_until(next) => {
                let now = Instant::now();
                let (asked, is_asking) = pulse.asked();
                let until = later(limits.until, asked);
                if now >= until && !is_asking {
                    return Err(UnknownOutcome::Overdue(now - started));
                }
                let silence = pulse.silence();
                if silence >= limits.idle {
                    return Err(UnknownOutcome::Silent(limits.idle));
                }
                next = until.min(later(now, limits.idle.saturating_sub(silence)));
                if is_asking {
                    // The end moves on with the time.
                    next = next.max(now + LOOK);
                }
            }
        }
    }
}

/// The kind of a result, in the second era.
pub(crate) fn result_type(result: &RawJson) -> Cow<'_, str> {
    #[derive(serde::Deserialize)]
    struct Kind<'a> {
        #[serde(borrow, rename = "resultType", default)]
        result_type: Option<Cow<'a, str>>,
    }
    serde_json::from_str::<Kind<'_>>(result.text())
        .ok()
        .and_then(|kind| kind.result_type)
        .unwrap_or(Cow::Borrowed("complete"))
}
