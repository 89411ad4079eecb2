//! Hearing of changes on a server of the second era.

use std::collections::BTreeSet;
use std::sync::{Arc, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::json;
use tokio::sync::watch;
use tokio::time::{Instant, sleep};

use super::core::{Core, Limits, Request, Speech};
use super::params::Parameters;
use super::terms::Era;
use crate::error::RequestError;
use crate::target::Timeouts;
use crate::tasks::OwnedTask;
use crate::time::{FOR_EVER, deadline};
use crate::traffic::{Changes, TicketKind, TicketOptions};

/// How long it is waited before it is taken up again.
const RETRY: Duration = Duration::from_secs(1);
/// How long at most.
const RETRY_LIMIT: Duration = Duration::from_mins(1);

/// Keeps up a subscription to all changes, while it lives.
pub(crate) struct Subscription {
    resources: watch::Sender<BTreeSet<String>>,
    _task: OwnedTask,
}

impl Subscription {
    pub(crate) fn start(core: Arc<Core>) -> Self {
        let (resources, wanted) = watch::channel(BTreeSet::new());
        let task = OwnedTask::spawn(keep_up(core, wanted));
        Self {
            resources,
            _task: task,
        }
    }

    /// Wants to hear of changes of a resource, or no longer; `false` if the server does not tell.
    pub(crate) fn want(&self, uri: &str, wanted: bool) -> bool {
        if self.resources.is_closed() {
            return false;
        }
        self.resources.send_if_modified(|resources| {
            if wanted {
                resources.insert(uri.to_owned())
            } else {
                resources.remove(uri)
            }
        });
        true
    }
}

async fn keep_up(core: Arc<Core>, mut wanted: watch::Receiver<BTreeSet<String>>) {
    let mut failures: u32 = 0;
    loop {
        let resources = wanted.borrow_and_update().clone();
        let listening = Instant::now();
        let ended = tokio::select! {
            ended = listen(&core, &resources) => ended,
            changed = wanted.changed() => {
                if changed.is_err() {
                    return;
                }
                // The new subscription has the new set; the old one is cancelled by being dropped,
                // and what changes before the new one is there is not told.
                core.inbound.changes.note(Changes::everything());
                continue;
            }
        };
        match ended {
            Err(error) if is_refusal(&error) => {
                tracing::debug!(server = %core.inbound.server, "no subscription: {error}");
                return;
            }
            _ if core.is_closed() => return,
            _ => {}
        }
        if listening.elapsed() > RETRY_LIMIT {
            failures = 0;
        }
        let pause = RETRY.saturating_mul(1 << failures.min(6)).min(RETRY_LIMIT);
        tokio::select! {
            () = sleep(pause) => failures = failures.saturating_add(1),
            changed = wanted.changed() => if changed.is_err() {
                return;
            },
        }
        // Changes may have been missed.
        core.inbound.changes.note(Changes::everything());
    }
}

/// Forgets what the server agreed to tell of, however the subscription ends.
struct Telling<'a>(&'a Core);

impl Drop for Telling<'_> {
    fn drop(&mut self) {
        self.0.inbound.changes.granted.set(BTreeSet::new());
    }
}

async fn listen(core: &Core, resources: &BTreeSet<String>) -> Result<(), RequestError> {
    let _telling = Telling(core);
    let filter = json!({
        "toolsListChanged": true,
        "promptsListChanged": true,
        "resourcesListChanged": true,
        "resourceSubscriptions": resources,
    });
    let request = Request {
        method: "subscriptions/listen",
        params: Parameters::from([("notifications", filter)]),
        limits: Limits {
            idle: FOR_EVER,
            until: deadline(FOR_EVER),
        },
        ticket: TicketOptions {
            kind: TicketKind::Background,
            ..TicketOptions::default()
        },
        speech: Speech::Agreed,
    };
    core.request(&request).await.map(drop)
}

fn is_refusal(error: &RequestError) -> bool {
    match error {
        RequestError::Refused(_) | RequestError::BadAnswer(_) | RequestError::NotOffered(_) => true,
        RequestError::Http(failure) => matches!(failure.status.as_u16(), 400 | 404 | 405 | 501),
        RequestError::NotSent(_)
        | RequestError::OutcomeUnknown(_)
        | RequestError::Unauthorized(_)
        | RequestError::NoToken(_)
        | RequestError::BadResult(_) => false,
    }
}

impl Core {
    /// Watches a resource in the first era, or no longer.
    pub(crate) async fn watch(&self, uri: &str, wanted: bool) -> Result<(), RequestError> {
        let request = watch_request(uri, wanted, self.timeouts);
        self.request(&request).await?;
        let mut watched = self.watched();
        if wanted {
            watched.insert(uri.to_owned());
        } else {
            watched.remove(uri);
        }
        Ok(())
    }

    /// Whether a change of a resource would be told to us: the server has agreed to, and there is
    /// a way for its word.
    pub(crate) fn is_watched(&self, uri: &str) -> bool {
        if self.speaks(Era::Modern) {
            return self.inbound.changes.granted.holds(uri);
        }
        self.link.hears() && self.watched().contains(uri)
    }

    /// Watches in a new session what was watched in the old one, as far as the server lets us. What
    /// it does not is not watched any longer.
    pub(super) async fn watch_again(&self, until: Instant) {
        let before = std::mem::take(&mut *self.watched());
        for uri in before {
            let mut request = watch_request(&uri, true, self.timeouts);
            request.limits.until = until;
            match self.shake_hands(&request).await {
                Ok(_) => drop(self.watched().insert(uri)),
                Err(error) => {
                    let server = &self.inbound.server;
                    tracing::warn!(%server, "a resource is not watched any longer: {error}");
                }
            }
        }
    }

    fn watched(&self) -> MutexGuard<'_, BTreeSet<String>> {
        self.watched.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn watch_request(uri: &str, wanted: bool, timeouts: Timeouts) -> Request {
    let method = if wanted {
        "resources/subscribe"
    } else {
        "resources/unsubscribe"
    };
    let params = Parameters::from([("uri", uri.into())]);
    Request::new(method, params, timeouts)
}
