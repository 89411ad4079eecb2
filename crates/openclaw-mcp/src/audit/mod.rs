//! Who called which tool, when, and how it ended; never with what.

mod moment;
mod recent;

use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use openclaw_state::{RotatedFile, StateDirectory, StateDirectoryError, StateKey, layout};
use ring::hmac;
use serde::Serialize;
use serde_json::{Map, Value};

pub use self::moment::written as written_moment;
pub use self::recent::{AuditedCall, recent_calls};

/// How many bytes of a hash are written.
const HASH: usize = 16;
/// How long most lines are at most.
const LINE: usize = 512;
/// How much of a name is written.
const NAME: usize = 200;

/// How a call ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum CallOutcome {
    /// With a result.
    Ok,
    /// With a result that says that it failed.
    ToolError,
    /// With an error of the server or on the way to it; it was not done.
    NotDone,
    /// Nobody knows how.
    Unknown,
    /// It was not allowed.
    Denied,
    /// A person said no.
    Rejected,
    /// Its arguments do not fit.
    InvalidArguments,
    /// Whoever wanted it gave up.
    Cancelled,
}

impl CallOutcome {
    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::ToolError => "tool-error",
            Self::NotDone => "not-done",
            Self::Unknown => "unknown",
            Self::Denied => "denied",
            Self::Rejected => "rejected",
            Self::InvalidArguments => "invalid-arguments",
            Self::Cancelled => "cancelled",
        }
    }
}

/// A call that was made, or not.
#[derive(Clone, Copy, Debug)]
pub struct AuditEntry<'a> {
    /// The agent.
    pub agent: &'a str,
    /// The session, where there is one. Written as a hash: who knows a key can join the session.
    pub session: Option<&'a str>,
    /// The server.
    pub server: &'a str,
    /// The tool, by its name at the server.
    pub tool: &'a str,
    /// What it was called with. Written as a hash and a size.
    pub arguments: &'a Map<String, Value>,
    /// How it ended.
    pub outcome: CallOutcome,
    /// How long it took.
    pub duration: Duration,
    /// What ties it to other lines of the log.
    pub correlation: &'a str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Line<'a> {
    time: String,
    agent: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    session: Option<String>,
    server: &'a str,
    tool: &'a str,
    arguments_hash: String,
    arguments_bytes: usize,
    outcome: CallOutcome,
    duration_ms: u64,
    correlation: &'a str,
}

/// The log of all calls.
pub struct AuditLog {
    lines: Mutex<Lines>,
    /// How many calls are under way that will be written down.
    under_way: AtomicUsize,
    key: hmac::Key,
}

struct Lines {
    file: RotatedFile,
    /// What is to be written to it.
    waiting: Vec<u8>,
}

/// A call that is under way, for as long as it is.
pub(crate) struct UnderWay<'a>(&'a AuditLog);

/// Lines that wait. Dropping it writes them.
struct Waiting<'a>(&'a AuditLog);

impl AuditLog {
    /// The log of a state directory; the file is made with the first line.
    pub fn new(directory: &StateDirectory, key: &StateKey) -> Result<Self, StateDirectoryError> {
        let path = directory.file(layout::AUDIT)?;
        let file = RotatedFile::new(path, layout::AUDIT_LIMIT, layout::AUDIT_KEEP);
        Ok(Self {
            lines: Mutex::new(Lines {
                file,
                waiting: Vec::new(),
            }),
            under_way: AtomicUsize::new(0),
            // Not the key itself: the same text has another hash here than in a fingerprint.
            key: derived(key),
        })
    }

    /// Counts a call that is under way.
    pub(crate) fn begin(&self) -> UnderWay<'_> {
        self.under_way.fetch_add(1, Ordering::Relaxed);
        UnderWay(self)
    }

    /// Writes a line. A failure is logged: a call must not fail because it can't be written down.
    pub fn record(&self, entry: &AuditEntry<'_>, now: SystemTime) {
        drop(self.add(entry, now));
    }

    /// Writes a line, with those of other calls that end at the same time: they are one write, for which a call
    /// gives way once. When this is over it is written, and if it is dropped before, too.
    pub(crate) async fn record_together(&self, entry: &AuditEntry<'_>, now: SystemTime) {
        let waiting = self.add(entry, now);
        if self.under_way.load(Ordering::Relaxed) > 1 {
            tokio::task::yield_now().await;
        }
        drop(waiting);
    }

    fn add(&self, entry: &AuditEntry<'_>, now: SystemTime) -> Waiting<'_> {
        let arguments = serde_json::to_vec(entry.arguments).unwrap_or_default();
        let line = Line {
            time: moment::written(now),
            agent: name(entry.agent),
            session: entry.session.map(|session| self.session(session)),
            server: name(entry.server),
            tool: name(entry.tool),
            arguments_hash: self.hash("arguments", &arguments),
            arguments_bytes: arguments.len(),
            outcome: entry.outcome,
            duration_ms: u64::try_from(entry.duration.as_millis()).unwrap_or(u64::MAX),
            correlation: entry.correlation,
        };
        let mut text = Vec::with_capacity(LINE);
        match serde_json::to_writer(&mut text, &line) {
            Ok(()) => {
                text.push(b'\n');
                self.lines().waiting.extend_from_slice(&text);
            }
            Err(error) => tracing::error!("a call is missing in the audit log: {error}"),
        }
        Waiting(self)
    }

    fn lines(&self) -> MutexGuard<'_, Lines> {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What stands for a session: whoever knows its key can join it.
    pub(crate) fn session(&self, key: &str) -> String {
        self.hash("session", key.as_bytes())
    }

    fn hash(&self, what: &str, text: &[u8]) -> String {
        let mut context = hmac::Context::with_key(&self.key);
        context.update(what.as_bytes());
        context.update(&[0]);
        context.update(text);
        let tag = context.sign();
        // As one number: digit by digit it took as long as the hash.
        let bytes = tag.as_ref().first_chunk::<HASH>().copied();
        format!("{:032x}", u128::from_be_bytes(bytes.unwrap_or_default()))
    }
}

impl Lines {
    /// Writes what waits, in one write, so that lines of several processes don't mix.
    fn write(&mut self) -> io::Result<()> {
        let written = self.file.append(&self.waiting);
        self.waiting.clear();
        written
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        let mut lines = self.0.lines();
        if lines.waiting.is_empty() {
            // Whoever came before has written it.
            return;
        }
        if let Err(error) = lines.write() {
            tracing::error!("calls are missing in the audit log: {error}");
        }
    }
}

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        self.0.under_way.fetch_sub(1, Ordering::Relaxed);
    }
}

fn derived(key: &StateKey) -> hmac::Key {
    let root = hmac::Key::new(hmac::HMAC_SHA256, key.as_bytes());
    let tag = hmac::sign(&root, b"openclaw audit 1");
    hmac::Key::new(hmac::HMAC_SHA256, tag.as_ref())
}

/// The beginning of a name. Control characters are escaped by JSON.
fn name(text: &str) -> &str {
    match text.char_indices().nth(NAME) {
        Some((end, _)) => text.get(..end).unwrap_or_default(),
        None => text,
    }
}

#[cfg(test)]
mod tests;
