//! Hears what servers and agents do: counts it, and tells those who watch.

mod counts;
mod recent;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock, PoisonError, RwLock};
use std::time::{Duration, SystemTime};

use openclaw_config::Config;
use openclaw_content::shown_line;
use openclaw_engine::{
    ActivityEntry, EngineEvent, EngineFailure, ReloadReport, ServerStatistics, ShownState,
    StatisticsReport,
};
use openclaw_mcp::{AuditEntry, AuditedCall, ServerState, ServersListener};
use openclaw_secrets::Redactor;
use tokio::sync::broadcast;

use self::counts::ServerCounts;
use self::recent::Recent;
use crate::report::shown_status;

/// How many events may wait for somebody who is slow; whoever is slower misses some.
const WAITING: usize = 1_024;
/// How much of a name is told.
const NAME: usize = 200;
/// How much of a reason is told.
const REASON: usize = 1_000;

/// Counts what happens, and tells those who watch.
pub(crate) struct Observer {
    /// One for each server that is configured now, by its name.
    servers: RwLock<BTreeMap<String, Arc<ServerCounts>>>,
    turns: AtomicU64,
    failed_turns: AtomicU64,
    cancelled_turns: AtomicU64,
    reloads: AtomicU64,
    failed_reloads: AtomicU64,
    /// Made for the first who watches: most runtimes have nobody who does.
    events: OnceLock<broadcast::Sender<Arc<EngineEvent>>>,
    /// What happened lately, calls aside: those are in the audit log.
    recent: Option<Recent>,
    redactor: Redactor,
}

impl Observer {
    pub(crate) fn new(config: &Config, redactor: Redactor) -> Self {
        let observer = Self {
            servers: RwLock::default(),
            turns: AtomicU64::new(0),
            failed_turns: AtomicU64::new(0),
            cancelled_turns: AtomicU64::new(0),
            reloads: AtomicU64::new(0),
            failed_reloads: AtomicU64::new(0),
            events: OnceLock::new(),
            recent: None,
            redactor,
        };
        observer.go_over(config);
        observer
    }

    /// The same that remembers what happened lately, for somebody who asks later.
    #[must_use]
    pub(crate) fn remembering(self) -> Self {
        Self {
            recent: Some(Recent::default()),
            ..self
        }
    }

    /// Goes over to the servers of another configuration; those that it does not have are forgotten.
    pub(crate) fn go_over(&self, config: &Config) {
        let mut servers = self.servers.write().unwrap_or_else(PoisonError::into_inner);
        let mut before = std::mem::take(&mut *servers);
        for server in config.servers() {
            let name = server.name.as_str();
            if !servers.contains_key(name) {
                let counts = before.remove(name).unwrap_or_default();
                servers.insert(name.to_owned(), counts);
            }
        }
    }

    /// What was counted, with how the servers are.
    pub(crate) fn statistics(&self, state: impl Fn(&str) -> ShownState) -> StatisticsReport {
        // How a server is takes locks of others: none of ours is held meanwhile.
        let servers = BTreeMap::clone(&self.servers.read().unwrap_or_else(PoisonError::into_inner));
        let servers = servers.into_iter().map(|(server, counts)| {
            let (latency, latency_sum_ms) = counts.latency();
            ServerStatistics {
                state: state(&server),
                calls: counts.calls(),
                latency,
                latency_sum_ms,
                restarts: counts.restarts(),
                server,
            }
        });
        StatisticsReport {
            servers: servers.collect(),
            turns: self.turns.load(Ordering::Relaxed),
            failed_turns: self.failed_turns.load(Ordering::Relaxed),
            cancelled_turns: self.cancelled_turns.load(Ordering::Relaxed),
            reloads: self.reloads.load(Ordering::Relaxed),
            failed_reloads: self.failed_reloads.load(Ordering::Relaxed),
        }
    }

    /// What happens from now on.
    pub(crate) fn watch(&self) -> broadcast::Receiver<Arc<EngineEvent>> {
        let events = self.events.get_or_init(|| broadcast::Sender::new(WAITING));
        events.subscribe()
    }

    /// A turn that begins. It ends when it is dropped.
    pub(crate) fn turn(&self) -> Turn<'_> {
        Turn {
            observer: self,
            end: TurnEnd::Cancelled,
        }
    }

    /// The configuration was read anew.
    pub(crate) fn reloaded(&self, done: &Result<ReloadReport, EngineFailure>) {
        let count = match done {
            Ok(_) => &self.reloads,
            Err(_) => &self.failed_reloads,
        };
        count.fetch_add(1, Ordering::Relaxed);
        self.note(|| match done {
            Ok(report) => EngineEvent::Reloaded {
                report: report.clone(),
            },
            Err(failure) => EngineEvent::NotReloaded {
                error: failure.message.clone(),
            },
        });
    }

    /// What happened lately, the oldest first: the newest of these calls and of what is remembered.
    pub(crate) fn activity(&self, calls: Vec<AuditedCall>, most: usize) -> Vec<ActivityEntry> {
        let calls = calls.into_iter().map(|call| ActivityEntry {
            event: self.call(
                [&call.agent, &call.server, &call.tool, &call.correlation],
                &self.shown(&call.outcome, NAME),
                call.duration_ms,
            ),
            time: call.time,
        });
        let others = self.recent.as_ref().map(Recent::entries);
        let mut entries: Vec<_> = calls.chain(others.into_iter().flatten()).collect();
        // The order of moments is that of their texts.
        entries.sort_by(|one, other| one.time.cmp(&other.time));
        entries.split_off(entries.len().saturating_sub(most))
    }

    fn counts(&self, server: &str) -> Option<Arc<ServerCounts>> {
        let servers = self.servers.read().unwrap_or_else(PoisonError::into_inner);
        servers.get(server).cloned()
    }

    /// Tells those who watch; where nobody does, there is nothing to tell.
    fn tell(&self, event: impl FnOnce() -> EngineEvent) {
        let events = self.events.get();
        if events.is_some_and(|events| events.receiver_count() > 0) {
            self.send(Arc::new(event()));
        }
    }

    /// Tells those who watch, and keeps it for those who ask later.
    fn note(&self, event: impl FnOnce() -> EngineEvent) {
        let Some(recent) = &self.recent else {
            return self.tell(event);
        };
        let event = Arc::new(event());
        recent.keep(SystemTime::now(), Arc::clone(&event));
        self.send(event);
    }

    fn send(&self, event: Arc<EngineEvent>) {
        if let Some(events) = self.events.get() {
            // An error means that nobody is there.
            let _ = events.send(event);
        }
    }

    /// A call. The names are those of the agent, the server, the tool and what it is tied to.
    fn call(&self, names: [&str; 4], outcome: &str, duration_ms: u64) -> EngineEvent {
        let [agent, server, tool, correlation] = names.map(|name| self.shown(name, NAME));
        EngineEvent::Call {
            agent,
            server,
            tool,
            outcome: outcome.to_owned(),
            duration_ms,
            correlation,
        }
    }

    /// A text of others on one line, without credentials.
    fn shown(&self, text: &str, most: usize) -> String {
        shown_line(&self.redactor.redact(text), most)
    }
}

impl ServersListener for Observer {
    fn server(&self, names: &[String], state: &ServerState) {
        // Whoever watches knows names, and not which of them share a process.
        for name in names {
            self.note(|| EngineEvent::Server {
                server: name.clone(),
                state: shown_status(state.status),
                error: state
                    .reason
                    .as_deref()
                    .map(|reason| self.shown(reason, REASON)),
            });
        }
    }

    fn restarted(&self, names: &[String]) {
        for name in names {
            if let Some(counts) = self.counts(name) {
                counts.restarted();
            }
            self.note(|| EngineEvent::Restarted {
                server: name.clone(),
            });
        }
    }

    fn called(&self, entry: &AuditEntry<'_>, reached: bool) {
        if let Some(counts) = self.counts(entry.server) {
            counts.called(entry.outcome, reached.then_some(entry.duration));
        }
        self.tell(|| {
            self.call(
                [entry.agent, entry.server, entry.tool, entry.correlation],
                entry.outcome.as_str(),
                milliseconds(entry.duration),
            )
        });
    }
}

/// A turn of an agent. When it is dropped, it has ended.
pub(crate) struct Turn<'o> {
    observer: &'o Observer,
    end: TurnEnd,
}

/// How a turn ended.
enum TurnEnd {
    Ok,
    Failed,
    /// Whoever waited for it gave up.
    Cancelled,
}

impl Turn<'_> {
    /// Notes how it went.
    pub(crate) fn went<T, E>(mut self, end: Result<T, E>) -> Result<T, E> {
        self.end = match end {
            Ok(_) => TurnEnd::Ok,
            Err(_) => TurnEnd::Failed,
        };
        end
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        let observer = self.observer;
        observer.turns.fetch_add(1, Ordering::Relaxed);
        let count = match self.end {
            TurnEnd::Ok => return,
            TurnEnd::Failed => &observer.failed_turns,
            TurnEnd::Cancelled => &observer.cancelled_turns,
        };
        count.fetch_add(1, Ordering::Relaxed);
    }
}

fn milliseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests;
