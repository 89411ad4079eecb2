//! Reading what the fake server wrote down.
//!
//! | event | what comes with it |
//! |---|---|
//! | `started` | `pid`, `arguments` |
//! | `received` | `message`: a line of standard input that is JSON |
//! | `unreadable` | `line`, `error` |
//! | `http` | `connection` (numbered from 1), `method`, `path`, `headers`, `body` |
//! | `connection closed` | `connection`, perhaps `error` |
//! | `tls`, `tls failed` | `client_certificates`; `error` |
//! | `session opened`, `session closed` | `session`, `version` |
//! | `cancelled`, `cancelled too late` | `id`, `method` |
//! | `response to nobody` | `id` |
//! | `started a grandchild` | `pid` |
//! | `signal TERM received`, also `INT` and `HUP` | |
//! | `stdin closed`, `stopped reading`, `stdout closed: …` | |
//! | `exiting` | `code` |
//!
//! The fake service of models writes `asked`: `path`, `headers`, `bytes`, and the `file` of the body.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::Value;

use crate::leaks::wait_until;

/// The journal of a fake server, as far as it was written.
#[derive(Clone, Debug)]
pub struct JournalReader(PathBuf);

impl JournalReader {
    /// Reads the journal in this file, which need not exist yet.
    pub fn at(path: &Path) -> Self {
        Self(path.to_owned())
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// All entries so far; each has an `event`.
    pub fn entries(&self) -> Vec<Value> {
        let text = fs::read(&self.0).unwrap_or_default();
        // The last line may not be complete yet.
        text.split_inclusive(|byte| *byte == b'\n')
            .filter(|line| line.ends_with(b"\n"))
            .filter_map(|line| serde_json::from_slice(line).ok())
            .collect()
    }

    /// The entries with this event.
    pub fn events(&self, event: &str) -> Vec<Value> {
        let mut entries = self.entries();
        entries.retain(|entry| entry["event"] == event);
        entries
    }

    /// The JSON-RPC messages that were received, on whatever transport.
    pub fn messages(&self) -> Vec<Value> {
        let message = |mut entry: Value| match entry["event"].as_str() {
            Some("received") => Some(entry["message"].take()),
            Some("http") if entry["body"].is_object() => Some(entry["body"].take()),
            _ => None,
        };
        self.entries().into_iter().filter_map(message).collect()
    }

    /// The methods of the messages that were received; a response has none and is left out.
    pub fn methods(&self) -> Vec<String> {
        let method = |message: Value| message["method"].as_str().map(str::to_owned);
        self.messages().into_iter().filter_map(method).collect()
    }

    /// Waits, blocking the thread, until there is an entry like that; none if there is not in time.
    pub fn wait_for(&self, patience: Duration, like: impl Fn(&Value) -> bool) -> Option<Value> {
        let mut found = None;
        wait_until(patience, || {
            found = self.entries().into_iter().find(&like);
            found.is_some()
        });
        found
    }

    /// Waits, blocking the thread, until there is an entry with this event.
    pub fn wait_for_event(&self, patience: Duration, event: &str) -> Option<Value> {
        self.wait_for(patience, |entry| entry["event"] == event)
    }
}
