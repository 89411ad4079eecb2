//! The stream over which a server of the first era speaks on its own.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use http::HeaderMap;
use tokio::sync::watch;
use tokio::time::{Instant, sleep};

use super::Shared;
use super::stream::{LAST_EVENT, Position, may_pass};
use crate::http::{Body, HttpError};
use crate::tasks::OwnedTask;
use crate::traffic::{Changes, Outbox, Source};

/// How long the server may take to begin.
const OPENING: Duration = Duration::from_secs(30);
/// A stream that lasted so long was a good one: the next failure is a first one again.
const LASTING: Duration = Duration::from_mins(1);

/// Listens until it is dropped, or until the server says that there is nothing to listen to.
pub(super) struct Listener {
    ready: watch::Sender<bool>,
    /// Whether the stream is there.
    open: Arc<AtomicBool>,
    _task: OwnedTask,
}

impl Listener {
    pub(super) fn start(shared: Arc<Shared>, outbox: Arc<dyn Outbox>) -> Self {
        let ready = watch::Sender::new(false);
        let publish = ready.clone();
        let open = Arc::new(AtomicBool::new(false));
        let is_open = open.clone();
        let task = OwnedTask::spawn(async move {
            listen(&shared, &outbox, &publish, &is_open).await;
            publish.send_replace(true);
        });
        Self {
            ready,
            open,
            _task: task,
        }
    }

    /// Whether what the server says on its own arrives.
    pub(super) fn is_open(&self) -> bool {
        self.open.load(Ordering::Acquire)
    }

    /// Whether nobody has to wait for it.
    pub(super) fn is_ready(&self) -> bool {
        *self.ready.borrow()
    }

    /// Whether the stream is there, or known not to come.
    pub(super) fn ready(&self) -> watch::Sender<bool> {
        self.ready.clone()
    }
}

async fn listen(
    shared: &Shared,
    outbox: &Arc<dyn Outbox>,
    ready: &watch::Sender<bool>,
    open: &AtomicBool,
) {
    let mut position = Position::default();
    let mut failures = 0;
    let mut is_first = true;
    loop {
        let mut headers = HeaderMap::clone(&shared.session().headers());
        if let Some(last) = &position.last {
            headers.insert(LAST_EVENT, last.clone());
        }
        match shared.endpoint.get(headers, OPENING).await {
            Ok(answer) => {
                let Body::Events(mut stream) = answer.body else {
                    return;
                };
                ready.send_replace(true);
                if !std::mem::replace(&mut is_first, false) {
                    // Not every server sends again what was missed.
                    shared.inbound.changes.note(Changes::everything());
                }
                let opened = Instant::now();
                open.store(true, Ordering::Release);
                while let Ok(Some(event)) = stream.next().await {
                    position.pass(&event);
                    if !event.data.is_empty() {
                        shared.inbound.receive(&event.data, Source::Shared, outbox);
                        failures = 0;
                    }
                }
                open.store(false, Ordering::Release);
                if opened.elapsed() >= LASTING {
                    failures = 0;
                }
            }
            // Servers need not offer it; one that has forgotten the session says so to the next
            // request too.
            Err(HttpError::Status(failure)) if !may_pass(&failure) => {
                tracing::debug!(server = %shared.inbound.server, "no stream of its own: {failure}");
                return;
            }
            Err(HttpError::Redirected { .. }) => return,
            Err(error) => {
                tracing::debug!(server = %shared.inbound.server, "its stream can't be opened: {error}");
                if let HttpError::Status(failure) = error
                    && let Some(pause) = failure.retry_after
                {
                    sleep(pause.min(LASTING)).await;
                }
            }
        }
        sleep(position.pause(failures)).await;
        failures = failures.saturating_add(1);
    }
}
