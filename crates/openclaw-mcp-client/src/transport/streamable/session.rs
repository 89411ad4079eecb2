//! The session of the first era, as headers.

use std::sync::Arc;

use http::{HeaderMap, HeaderName, HeaderValue};

/// Which session a request belongs to.
pub(crate) const ID: HeaderName = HeaderName::from_static("mcp-session-id");
/// Which revision of the protocol it is in.
pub(crate) const VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");

/// What is known of the session.
#[derive(Debug, Default)]
pub(crate) struct SessionState {
    /// The headers of a request in it.
    headers: Arc<HeaderMap>,
    /// Whether requests may be sent in it.
    pub(crate) settled: bool,
    /// How many there have been.
    pub(crate) generation: u64,
}

impl SessionState {
    /// Forgets the session, to make a new one.
    pub(crate) fn begin(&mut self) {
        self.headers = Arc::default();
        self.settled = false;
    }

    /// Takes the identifier that the server assigned.
    pub(crate) fn assigned(&mut self, headers: &HeaderMap) {
        let ours = Arc::make_mut(&mut self.headers);
        ours.remove(ID);
        if let Some(mut id) = headers.get(ID).cloned() {
            // Whoever has it can take part in the session.
            id.set_sensitive(true);
            ours.insert(ID, id);
        }
    }

    /// Takes the revision that was agreed on.
    pub(crate) fn speak(&mut self, version: &str) {
        if let Ok(version) = HeaderValue::from_str(version) {
            Arc::make_mut(&mut self.headers).insert(VERSION, version);
        }
    }

    /// Requests may be sent from now on.
    pub(crate) fn settle(&mut self) {
        self.settled = true;
        self.generation += 1;
    }

    /// The headers of a request in this session.
    pub(crate) fn headers(&self) -> Arc<HeaderMap> {
        Arc::clone(&self.headers)
    }
}
