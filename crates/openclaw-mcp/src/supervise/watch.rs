//! What is due while a connection is held.

use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use openclaw_mcp_client::{Changes, Connection, RequestError};
use tokio::sync::oneshot;
use tokio::time::Instant;

use super::catalog::Catalog;
use super::pace::{MISSES, Pace};
use super::server::ServerSetup;

/// Longer than any connection is held.
const NEVER: Duration = Duration::from_hours(24 * 365);

/// How long discovery is put off while the server is busy.
const BUSY: Duration = Duration::from_secs(5);

/// Something that goes on while everything else does, too.
pub(super) type Work<T> = Pin<Box<dyn Future<Output = Result<T, RequestError>> + Send>>;

/// What is due on a connection, and what is being done.
pub(super) struct Watch {
    pace: Pace,
    idle_timeout: Duration,
    discovery_interval: Duration,
    used_at: Instant,
    discovery_at: Instant,
    healthy_at: Instant,
    beat_at: Instant,
    misses: u32,
    wanted: Option<Changes>,
    /// A list that is being read.
    pub(super) listing: Option<Work<Catalog>>,
    /// A sign of life that is being waited for.
    pub(super) beating: Option<Work<()>>,
    /// Who waits for the next list to be read.
    pub(super) asking: Vec<oneshot::Sender<()>>,
    /// Who waits for the one that is being read.
    pub(super) waiting: Vec<oneshot::Sender<()>>,
    /// Changes that are waited for.
    pub(super) changing: Option<Work<Changes>>,
}

/// When what is due.
#[derive(Clone, Copy)]
pub(super) struct Due {
    /// It counts as not used.
    pub(super) idle: Instant,
    /// Everything is listed again.
    pub(super) discovery: Instant,
    /// Earlier failures are forgotten.
    pub(super) healthy: Instant,
    /// It is asked whether the server lives.
    pub(super) beat: Instant,
}

impl Watch {
    pub(super) fn new(setup: &ServerSetup) -> Self {
        let now = Instant::now();
        let discovery_interval = or_never(setup.discovery_interval);
        Self {
            pace: setup.pace,
            idle_timeout: or_never(setup.idle_timeout),
            discovery_interval,
            used_at: now,
            discovery_at: now + first(discovery_interval, &setup.name),
            healthy_at: now + setup.pace.healthy,
            beat_at: now + first(setup.pace.heartbeat, &setup.name),
            misses: 0,
            wanted: None,
            listing: None,
            beating: None,
            changing: None,
            asking: Vec::new(),
            waiting: Vec::new(),
        }
    }

    /// Goes over to other settings.
    pub(super) fn adjust(&mut self, setup: &ServerSetup) {
        self.pace = setup.pace;
        self.idle_timeout = or_never(setup.idle_timeout);
        let discovery_interval = or_never(setup.discovery_interval);
        // Otherwise it stays due when it is, or it never would be while reloads follow each other.
        if discovery_interval != self.discovery_interval {
            self.discovery_interval = discovery_interval;
            self.discovery_at = Instant::now() + discovery_interval;
        }
    }

    /// Waits for changes, unless that is what is being done.
    pub(super) fn listen(&mut self, connection: &Arc<Connection>) {
        self.changing.get_or_insert_with(|| {
            let connection = connection.clone();
            Box::pin(async move { Ok(connection.changes().await) })
        });
    }

    /// Lists a little later, since the server is busy.
    pub(super) fn postpone(&mut self) {
        self.discovery_at = Instant::now() + BUSY;
    }

    /// Wants something listed, now or after what is being listed.
    pub(super) fn want(&mut self, changes: &Changes) {
        self.discovery_at = Instant::now() + self.discovery_interval;
        let wanted = self.wanted.get_or_insert_default();
        wanted.tools |= changes.tools;
        wanted.resources |= changes.resources;
        wanted.prompts |= changes.prompts;
    }

    /// What is to be listed now.
    pub(super) fn next_list(&mut self) -> Option<Changes> {
        let is_free = self.listing.is_none();
        let wanted = self.wanted.take_if(|_| is_free)?;
        self.waiting.append(&mut self.asking);
        (wanted.tools || wanted.resources || wanted.prompts).then_some(wanted)
    }

    /// Notes that the server is used.
    pub(super) fn used(&mut self) {
        self.used_at = Instant::now();
    }

    /// When what is due.
    pub(super) fn due(&self, used_at: Instant) -> Due {
        Due {
            idle: self.used_at.max(used_at) + self.idle_timeout,
            discovery: self.discovery_at,
            healthy: self.healthy_at,
            beat: match self.beating {
                Some(_) => self.beat_at + NEVER,
                None => self.beat_at,
            },
        }
    }

    /// Asks for a sign of life, which a connection that is used gives by itself.
    pub(super) fn beat(&mut self, connection: &Arc<Connection>, is_used: bool) {
        self.beat_at = Instant::now() + self.pace.heartbeat;
        if !is_used {
            let (connection, patience) = (connection.clone(), self.pace.heartbeat_patience);
            self.beating = Some(Box::pin(async move { connection.ping(patience).await }));
        }
    }

    /// Notes whether there was one; the result is why the server is given up on.
    pub(super) fn beaten(&mut self, beat: Result<(), RequestError>) -> Option<RequestError> {
        match beat {
            Ok(()) => {
                self.misses = 0;
                None
            }
            Err(error) => {
                self.misses += 1;
                (self.misses >= MISSES).then_some(error)
            }
        }
    }
}

/// When something is due for the first time that recurs: up to three tenths sooner, by the name of the
/// server, so that servers that started together are not all asked at the same instant ever after.
fn first(interval: Duration, name: &str) -> Duration {
    // FNV-1a.
    let hash = name.bytes().fold(0x811c_9dc5_u32, |hash, byte| {
        (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193)
    });
    interval / 1_000 * (1_000 - hash % 301)
}

fn or_never(after: Option<Duration>) -> Duration {
    after.unwrap_or(NEVER).min(NEVER)
}

/// Waits for something that is being done; for ever, if nothing is.
pub(super) async fn pending<T>(work: &mut Option<Work<T>>) -> Result<T, RequestError> {
    match work {
        Some(work) => work.await,
        None => std::future::pending().await,
    }
}

/// Everything may have changed.
pub(super) fn everything() -> Changes {
    Changes {
        tools: true,
        resources: true,
        prompts: true,
        ..Changes::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers_that_start_together_are_not_asked_together() {
        let interval = Duration::from_secs(30);
        let names = (0..100).map(|number| format!("server{number}"));
        let mut due: Vec<Duration> = names.map(|name| first(interval, &name)).collect();
        due.sort_unstable();
        assert!(
            due.iter()
                .all(|at| *at > Duration::from_secs(20) && *at <= interval)
        );
        let most = |within: Duration| {
            let counts = due.iter().map(|from| {
                let together = due
                    .iter()
                    .filter(|at| **at >= *from && **at < *from + within);
                together.count()
            });
            counts.max().unwrap_or_default()
        };
        assert!(most(Duration::from_millis(100)) <= 8, "{due:?}");
        assert!(most(Duration::from_secs(1)) <= 25, "{due:?}");
    }
}
