//! Hearing of changes on a server of the second era.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, json};
use tokio::sync::watch;
use tokio::time::{Instant, sleep};

use super::core::{Core, Limits, Request, Speech};
use crate::error::RequestError;
use crate::traffic::{Changes, TicketOptions};
use crate::transport::OwnedTask;

/// A subscription is as long as the connection; this only keeps sums of times in range.
const FOR_EVER: Duration = Duration::from_hours(10 * 365 * 24);
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

    /// Wants to hear of changes of a resource, or no longer.
    pub(crate) fn want(&self, uri: &str, wanted: bool) {
        self.resources.send_if_modified(|resources| {
            if wanted {
                resources.insert(uri.to_owned())
            } else {
                resources.remove(uri)
            }
        });
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
                // The new subscription has the new set; the old one is cancelled by being dropped.
                continue;
            }
        };
        match ended {
            Err(error) if is_refusal(&error) => {
                tracing::debug!(server = %core.inbound.server, "no subscription: {error}");
                return;
            }
            Err(RequestError::NotSent(_)) if core.is_closed() => return,
            _ => {}
        }
        if listening.elapsed() > RETRY_LIMIT {
            failures = 0;
        }
        sleep(RETRY.saturating_mul(1 << failures.min(6)).min(RETRY_LIMIT)).await;
        failures = failures.saturating_add(1);
        // Changes may have been missed.
        core.inbound.changes.note(Changes::everything());
    }
}

async fn listen(core: &Core, resources: &BTreeSet<String>) -> Result<(), RequestError> {
    let filter = json!({
        "toolsListChanged": true,
        "promptsListChanged": true,
        "resourcesListChanged": true,
        "resourceSubscriptions": resources,
    });
    let mut request = Request {
        method: "subscriptions/listen",
        params: Map::from_iter([("notifications".to_owned(), filter)]),
        limits: Limits {
            idle: FOR_EVER,
            until: Instant::now() + FOR_EVER,
        },
        ticket: TicketOptions::default(),
        speech: Speech::Agreed,
    };
    core.request(&mut request).await.map(drop)
}

fn is_refusal(error: &RequestError) -> bool {
    match error {
        RequestError::Refused(_) | RequestError::BadAnswer(_) | RequestError::NotOffered(_) => true,
        RequestError::Http(failure) => failure.status.is_client_error(),
        RequestError::NotSent(_) | RequestError::OutcomeUnknown(_) => false,
    }
}
