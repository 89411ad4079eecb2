//! A client of the first era: what it said about itself, what it is asked, what it waits for.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tokio::sync::{Notify, oneshot, watch};

use super::lock;
use super::outlet::{EventStream, Outlet};

/// A client of the first era; one of the modern era has a new one for every request.
#[derive(Debug)]
pub(crate) struct Session {
    pub(crate) id: String,
    /// The way for what belongs to no request.
    pub(crate) general: Outlet,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    version: Option<&'static str>,
    capabilities: Value,
    ready: bool,
    log_level: usize,
    requests: u64,
    pending: HashMap<u64, oneshot::Sender<Result<Value, Value>>>,
    running: HashMap<String, Arc<Notify>>,
    subscriptions: BTreeSet<String>,
    streams: BTreeMap<u64, Arc<EventStream>>,
    /// Which reader of the general stream is the newest: an older one makes way.
    reader: watch::Sender<u64>,
}

impl Session {
    pub(crate) fn new(id: impl Into<String>, general: Outlet) -> Arc<Self> {
        let session = Self {
            id: id.into(),
            general: general.clone(),
            state: Mutex::default(),
        };
        if let Outlet::Events(stream) = general {
            session.keep(&stream);
        }
        Arc::new(session)
    }

    /// Whether it lasts for one request only, so that no answer of the client ever reaches it.
    pub(crate) fn is_forgotten(&self) -> bool {
        matches!(self.general, Outlet::Nowhere)
    }

    /// The revision that was agreed on, once it was.
    pub(crate) fn version(&self) -> Option<&'static str> {
        lock(&self.state).version
    }

    pub(crate) fn capabilities(&self) -> Value {
        lock(&self.state).capabilities.clone()
    }

    /// The client has introduced itself.
    pub(crate) fn agree(&self, version: &'static str, capabilities: Value) {
        let mut state = lock(&self.state);
        state.version = Some(version);
        state.capabilities = capabilities;
    }

    /// The client has said that it is ready.
    pub(crate) fn set_ready(&self) {
        lock(&self.state).ready = true;
    }

    pub(crate) fn is_ready(&self) -> bool {
        lock(&self.state).ready
    }

    /// The rank of the least severe log message that the client wants.
    pub(crate) fn log_level(&self) -> usize {
        lock(&self.state).log_level
    }

    pub(crate) fn set_log_level(&self, rank: usize) {
        lock(&self.state).log_level = rank;
    }

    /// Counts a request; says how many there were before.
    pub(crate) fn count(&self) -> u64 {
        let mut state = lock(&self.state);
        state.requests += 1;
        state.requests - 1
    }

    /// A question with this number was asked; the answer comes through what is returned.
    pub(crate) fn expect_response(&self, number: u64) -> oneshot::Receiver<Result<Value, Value>> {
        let (sender, receiver) = oneshot::channel();
        lock(&self.state).pending.insert(number, sender);
        receiver
    }

    /// An answer came; false if nobody had asked.
    pub(crate) fn respond(&self, id: &Value, outcome: Result<Value, Value>) -> bool {
        let waiting = id
            .as_u64()
            .and_then(|number| lock(&self.state).pending.remove(&number));
        waiting.is_some_and(|sender| sender.send(outcome).is_ok())
    }

    /// A request is being worked on; it ends early when what is returned is notified.
    pub(crate) fn begin(&self, id: &Value) -> Arc<Notify> {
        let cancelled = Arc::new(Notify::new());
        let mut state = lock(&self.state);
        state.running.insert(id.to_string(), Arc::clone(&cancelled));
        cancelled
    }

    pub(crate) fn end(&self, id: &Value) {
        lock(&self.state).running.remove(&id.to_string());
    }

    /// The client no longer wants a reply; false if nothing with that id is being worked on.
    pub(crate) fn cancel(&self, id: &Value) -> bool {
        let running = lock(&self.state).running.remove(&id.to_string());
        running
            .inspect(|cancelled| cancelled.notify_one())
            .is_some()
    }

    pub(crate) fn subscribe(&self, uri: &str) {
        lock(&self.state).subscriptions.insert(uri.to_owned());
    }

    pub(crate) fn unsubscribe(&self, uri: &str) -> bool {
        lock(&self.state).subscriptions.remove(uri)
    }

    pub(crate) fn is_subscribed(&self, uri: &str) -> bool {
        lock(&self.state).subscriptions.contains(uri)
    }

    /// Keeps a stream, so that it can be resumed.
    pub(crate) fn keep(&self, stream: &Arc<EventStream>) {
        let mut state = lock(&self.state);
        state.streams.insert(stream.number, Arc::clone(stream));
    }

    pub(crate) fn stream(&self, number: u64) -> Option<Arc<EventStream>> {
        lock(&self.state).streams.get(&number).cloned()
    }

    /// Takes the one place of a reader of the general stream; what is returned changes when
    /// somebody else does.
    pub(crate) fn start_reading(&self) -> watch::Receiver<u64> {
        let state = lock(&self.state);
        state.reader.send_modify(|reader| *reader += 1);
        state.reader.subscribe()
    }

    /// Ends everything.
    pub(crate) fn close(&self) {
        let mut state = lock(&self.state);
        state.pending.clear();
        for (_, cancelled) in state.running.drain() {
            cancelled.notify_one();
        }
        for stream in state.streams.values() {
            stream.finish();
        }
    }

    /// What the journal says about it.
    pub(crate) fn describe(&self) -> Value {
        json!({"session": self.id, "version": self.version()})
    }
}
