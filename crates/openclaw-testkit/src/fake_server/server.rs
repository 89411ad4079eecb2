//! The state of one run.

use std::collections::BTreeMap;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};

use super::journal::Journal;
use super::listening::Listener;
use super::lock;
use super::options::Options;
use super::outlet::{EventStream, Outlet};
use super::session::Session;

/// The state of one run.
#[derive(Debug)]
pub(crate) struct Server {
    pub(crate) options: Options,
    pub(crate) journal: Journal,
    sessions: Mutex<BTreeMap<String, Arc<Session>>>,
    listeners: Mutex<Vec<Listener>>,
    added_tools: AtomicU64,
    touches: AtomicU64,
    received: AtomicU64,
    numbers: AtomicU64,
    answered: AtomicBool,
    listed: AtomicBool,
    /// How often a fault is still to happen.
    pub(crate) statuses_left: Countdown,
    pub(crate) hang_ups_left: Countdown,
    pub(crate) get_drops_left: Countdown,
    pub(crate) get_statuses_left: Countdown,
    /// How many subscriptions to resources are still granted.
    pub(crate) subscriptions_left: Countdown,
}

/// Counts down to zero.
#[derive(Debug)]
pub(crate) struct Countdown(AtomicU64);

impl Countdown {
    fn from(count: u64) -> Self {
        Self(AtomicU64::new(count))
    }

    /// Takes one; false if there was none left.
    pub(crate) fn take(&self) -> bool {
        let less = |left: u64| left.checked_sub(1);
        self.0
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, less)
            .is_ok()
    }
}

impl Server {
    pub(crate) fn new(options: Options) -> io::Result<Self> {
        Ok(Self {
            journal: Journal::open(options.journal.as_deref())?,
            statuses_left: Countdown::from(options.http.status_times.unwrap_or(u64::MAX)),
            hang_ups_left: Countdown::from(options.http.hang_up),
            get_drops_left: Countdown::from(options.http.drop_get_stream),
            get_statuses_left: Countdown::from(options.http.get_status_times.unwrap_or(u64::MAX)),
            subscriptions_left: Countdown::from(
                options.resources.refuse_subscriptions.unwrap_or(u64::MAX),
            ),
            options,
            sessions: Mutex::default(),
            listeners: Mutex::default(),
            added_tools: AtomicU64::new(0),
            touches: AtomicU64::new(0),
            received: AtomicU64::new(0),
            numbers: AtomicU64::new(0),
            answered: AtomicBool::new(false),
            listed: AtomicBool::new(false),
        })
    }

    /// A number that was not given before: for questions to the client, streams and sessions.
    pub(crate) fn next_number(&self) -> u64 {
        self.numbers.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// Counts a message of the client; says how many there are with it.
    pub(crate) fn count_message(&self) -> u64 {
        self.received.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// Whether this is asked for the first time: for faults that come before the first reply.
    pub(crate) fn is_first_reply(&self) -> bool {
        !self.answered.swap(true, Ordering::Relaxed)
    }

    /// Whether this is asked for the first time: for storms after the first list.
    pub(crate) fn is_first_list(&self) -> bool {
        !self.listed.swap(true, Ordering::Relaxed)
    }

    pub(crate) fn added_tools(&self) -> u64 {
        self.added_tools.load(Ordering::Relaxed)
    }

    pub(crate) fn add_tool(&self) -> u64 {
        self.added_tools.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// How often the resource that changes was changed.
    pub(crate) fn touches(&self) -> u64 {
        self.touches.load(Ordering::Relaxed)
    }

    pub(crate) fn touch(&self) -> u64 {
        self.touches.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// Makes a session with a stream of its own and an id that can't be guessed by accident.
    pub(crate) fn open_session(&self) -> Arc<Session> {
        let number = self.next_number();
        let since = SystemTime::now().duration_since(UNIX_EPOCH);
        let nanoseconds = since.map_or(0, |since| since.subsec_nanos());
        let id = format!("session-{number}-{nanoseconds:08x}-{}", std::process::id());
        let session = Session::new(id, Outlet::Events(EventStream::new(number)));
        self.register(&session);
        session
    }

    /// Makes a session known, so that it is told of changes.
    pub(crate) fn register(&self, session: &Arc<Session>) {
        self.journal.record("session opened", session.describe());
        lock(&self.sessions).insert(session.id.clone(), Arc::clone(session));
    }

    pub(crate) fn session(&self, id: &str) -> Option<Arc<Session>> {
        lock(&self.sessions).get(id).cloned()
    }

    pub(crate) fn sessions(&self) -> Vec<Arc<Session>> {
        lock(&self.sessions).values().cloned().collect()
    }

    /// Ends a session; false if there is none with that id.
    pub(crate) fn close_session(&self, id: &str) -> bool {
        let session = lock(&self.sessions).remove(id);
        if let Some(session) = &session {
            session.close();
            self.journal
                .record("session closed", json!({"session": id}));
        }
        session.is_some()
    }

    pub(crate) fn add_listener(&self, listener: Listener) {
        lock(&self.listeners).push(listener);
    }

    pub(crate) fn listeners(&self) -> Vec<Listener> {
        lock(&self.listeners).clone()
    }

    pub(crate) fn remove_listener(&self, key: u64) {
        lock(&self.listeners).retain(|listener| listener.key != key);
    }

    /// What the program says it is.
    pub(crate) fn implementation() -> Value {
        json!({
            "name": "fake-mcp-server",
            "title": "Fake MCP server",
            "version": env!("CARGO_PKG_VERSION"),
        })
    }
}
