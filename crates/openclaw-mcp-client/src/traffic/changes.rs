//! What a server says has changed, gathered until somebody looks.

use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::{Instant, sleep, sleep_until};

use super::versions::{Granted, ResourceVersions};

/// How long changes are gathered once there is one: servers announce several at once.
const GATHER: Duration = Duration::from_millis(50);
/// How long looking at changes is put off after the last time, so that a server which announces
/// without end is not asked without end.
const PAUSE: Duration = Duration::from_millis(500);
/// How many changed resources are named; beyond them all count as changed.
const NAMED: usize = 1_000;

/// What has changed on a server.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Changes {
    /// The list of tools.
    pub tools: bool,
    /// The list of resources or templates.
    pub resources: bool,
    /// The list of prompts.
    pub prompts: bool,
    /// The contents of these resources.
    pub updated: BTreeSet<String>,
    /// The contents of any resource: more have changed than are named, or word may have been
    /// missed.
    pub any_updated: bool,
}

impl Changes {
    /// Everything may be different.
    pub(crate) fn everything() -> Self {
        Self {
            tools: true,
            resources: true,
            prompts: true,
            updated: BTreeSet::new(),
            any_updated: true,
        }
    }

    fn add(&mut self, other: Self) {
        self.tools |= other.tools;
        self.resources |= other.resources;
        self.prompts |= other.prompts;
        self.updated.extend(other.updated);
        self.any_updated |= other.any_updated;
        if self.updated.len() > NAMED {
            self.updated.clear();
            self.any_updated = true;
        }
    }

    fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// Gathers changes for the one who looks after the connection.
#[derive(Debug, Default)]
pub(crate) struct ChangeGatherer {
    pending: Mutex<Changes>,
    something: Notify,
    last: tokio::sync::Mutex<Option<Instant>>,
    /// Known at once, whoever looks and when.
    pub(crate) versions: ResourceVersions,
    /// Which resources a server of the second era tells of.
    pub(crate) granted: Granted,
}

impl ChangeGatherer {
    /// Notes a change.
    pub(crate) fn note(&self, changes: Changes) {
        self.versions.count(&changes);
        self.lock().add(changes);
        self.something.notify_one();
    }

    /// Waits until something has changed, and returns all that has.
    pub(crate) async fn next(&self) -> Changes {
        // One looks at a time; a second one would only get what the first did not.
        let mut last = self.last.lock().await;
        if let Some(last) = *last {
            sleep_until(last + PAUSE).await;
        }
        loop {
            let something = self.something.notified();
            if !self.lock().is_empty() {
                sleep(GATHER).await;
                *last = Some(Instant::now());
                return std::mem::take(&mut *self.lock());
            }
            something.await;
        }
    }

    fn lock(&self) -> MutexGuard<'_, Changes> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_thousand_announcements_in_a_second_are_a_few_changes() {
        let gatherer = std::sync::Arc::new(ChangeGatherer::default());
        let announcing = gatherer.clone();
        tokio::spawn(async move {
            for _ in 0..1_000 {
                announcing.note(Changes {
                    tools: true,
                    ..Changes::default()
                });
                sleep(Duration::from_millis(1)).await;
            }
        });
        let mut seen = 0;
        while let Ok(changes) = tokio::time::timeout(Duration::from_secs(2), gatherer.next()).await
        {
            assert!(changes.tools && !changes.prompts);
            seen += 1;
        }
        assert!((2..=3).contains(&seen), "{seen}");
    }
}
