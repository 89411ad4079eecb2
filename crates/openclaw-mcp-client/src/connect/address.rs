//! Reaching a server at an address and agreeing with it on a transport and an era.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, timeout_at};

use super::{Connector, Expected, RememberedEra, Step};
use crate::error::{ConnectError, RequestError};
use crate::http::HttpEndpoint;
use crate::session::{Core, Discovered, Era, discover, initialize, means_legacy};
use crate::target::{AddressTarget, FirstTransport, Target};
use crate::time::{self, deadline};
use crate::traffic::Inbound;
use crate::transport::{Events, Link, Streamable};

/// How much of the time a server may be silent on the second era before it is asked in the first.
const PROBE_SHARE: u32 = 4;
/// How long at most.
const PROBE: Duration = Duration::from_secs(5);

/// What share of the time the older transport has to begin where it is tried first.
const FIRST_SHARE: u32 = 3;
/// And where it is the last way.
const LAST_SHARE: u32 = 2;

/// What came of one way.
enum Tried {
    Agreed(Arc<Core>),
    /// The server does not know this way; the reason is kept for the case that there is no other.
    Other(ConnectError),
}

impl Connector {
    /// Reaches a server and agrees with it.
    pub(super) async fn reach(
        &self,
        target: &Target,
        address: &AddressTarget,
        until: Instant,
        step: &Step,
    ) -> Result<Arc<Core>, ConnectError> {
        let client = self.clients.get(&address.tls)?;
        let endpoint = HttpEndpoint::new(
            client,
            address.url.clone(),
            &address.headers,
            &address.authorization,
        )?;
        if endpoint.shows_credentials() {
            step.showing_credentials();
        }
        let attempt = Attempt {
            target,
            endpoint,
            until,
            step,
        };
        let expected = self.expected(target);
        let events_first = match (expected, self.recall(target)) {
            // There is no second era over events.
            (Expected::Only(Era::Modern), _) => {
                return attempt.streamable(expected).await?.or_fail();
            }
            (_, Some(RememberedEra::LegacyEvents)) => true,
            (_, Some(RememberedEra::Modern | RememberedEra::Legacy)) => false,
            (_, None) => address.first == FirstTransport::Events,
        };
        if events_first {
            match attempt.events(FIRST_SHARE).await? {
                Tried::Agreed(core) => Ok(core),
                Tried::Other(reason) => match attempt.streamable(expected).await? {
                    Tried::Agreed(core) => Ok(core),
                    Tried::Other(_) => Err(reason),
                },
            }
        } else {
            match attempt.streamable(expected).await? {
                Tried::Agreed(core) => Ok(core),
                Tried::Other(reason) => match attempt.events(LAST_SHARE).await? {
                    Tried::Agreed(core) => Ok(core),
                    // What the server said to the usual way tells more.
                    Tried::Other(_) => Err(reason),
                },
            }
        }
    }
}

impl Tried {
    fn or_fail(self) -> Result<Arc<Core>, ConnectError> {
        match self {
            Self::Agreed(core) => Ok(core),
            Self::Other(reason) => Err(reason),
        }
    }
}

/// One attempt to connect.
struct Attempt<'a> {
    target: &'a Target,
    endpoint: HttpEndpoint,
    until: Instant,
    step: &'a Step,
}

impl Attempt<'_> {
    fn core(&self, link: impl FnOnce(HttpEndpoint, Arc<Inbound>) -> Link) -> Arc<Core> {
        let inbound = Inbound::new(&self.target.name, self.target.roots.clone());
        let link = link(self.endpoint.clone(), inbound.clone());
        Core::new(inbound, link, self.target)
    }

    async fn streamable(&self, expected: Expected) -> Result<Tried, ConnectError> {
        let core =
            self.core(|endpoint, inbound| Link::Streamable(Streamable::new(endpoint, inbound)));
        let is_modern = match expected {
            Expected::Only(Era::Legacy) | Expected::First(Era::Legacy) => false,
            Expected::Only(Era::Modern) => match self.discover(&core, self.until).await? {
                Some(true) => true,
                Some(false) | None => {
                    let reason = "it does not speak the second era of the protocol";
                    return Err(ConnectError::Refused(reason.to_owned()));
                }
            },
            Expected::First(Era::Modern) | Expected::Unknown => {
                let share = self.target.timeouts.connection / PROBE_SHARE;
                let probe = self.until.min(deadline(share.min(PROBE)));
                self.discover(&core, probe).await?.unwrap_or(false)
            }
        };
        if is_modern {
            return Ok(Tried::Agreed(core));
        }
        self.step.doing("waiting for its answer to `initialize`");
        match initialize(&core, self.until).await {
            Ok(()) => Ok(Tried::Agreed(core)),
            Err(error) => {
                let elsewhere = is_elsewhere(&error);
                // It may have moved on since it was last seen.
                if expected == Expected::First(Era::Legacy)
                    && (elsewhere || matches!(error, RequestError::Refused(_)))
                    && self.discover(&core, self.until).await? == Some(true)
                {
                    return Ok(Tried::Agreed(core));
                }
                let error = self.step.failed(error);
                if elsewhere {
                    Ok(Tried::Other(error))
                } else {
                    Err(error)
                }
            }
        }
    }

    /// Whether the server speaks the second era; `None` if it said nothing in time.
    async fn discover(&self, core: &Core, until: Instant) -> Result<Option<bool>, ConnectError> {
        self.step
            .doing("waiting for its answer to `server/discover`");
        match timeout_at(until, discover(core, until)).await {
            Err(_) => Ok(None),
            Ok(Ok(Discovered::Modern)) => Ok(Some(true)),
            Ok(Ok(Discovered::Legacy)) => Ok(Some(false)),
            Ok(Ok(Discovered::Strange(offered))) => Err(ConnectError::Revision { offered }),
            Ok(Err(RequestError::OutcomeUnknown(_))) if self.until > Instant::now() => Ok(None),
            // The next question can wait longer.
            Ok(Err(RequestError::Http(failure)))
                if matches!(failure.status.as_u16(), 408 | 429 | 503) =>
            {
                Ok(None)
            }
            Ok(Err(error)) => Err(self.step.failed(error)),
        }
    }

    /// Tries the older transport; its stream has only a share of the time to name an address,
    /// since any stream of events may keep silent.
    async fn events(&self, share: u32) -> Result<Tried, ConnectError> {
        self.step.doing("waiting for its stream of events");
        let core = self.core(|endpoint, inbound| Link::Events(Events::new(endpoint, inbound)));
        let Link::Events(events) = &core.link else {
            return Err(ConnectError::Unreachable("no stream".to_owned()));
        };
        let opening = self.until.min(deadline(time::until(self.until) / share));
        match events.open(opening).await {
            Ok(()) => {}
            Err(error) => return Ok(Tried::Other(self.step.failed(error))),
        }
        self.step.doing("waiting for its answer to `initialize`");
        match initialize(&core, self.until).await {
            Ok(()) => Ok(Tried::Agreed(core)),
            Err(error) => Err(self.step.failed(error)),
        }
    }
}

/// Whether an answer to `initialize` may be that of a server which speaks the older transport.
fn is_elsewhere(error: &RequestError) -> bool {
    match error {
        RequestError::Http(failure) => means_legacy(failure.status.as_u16()),
        RequestError::Refused(error) => error.status.is_some_and(means_legacy),
        // A page, say.
        RequestError::BadAnswer(_) => true,
        _ => false,
    }
}
