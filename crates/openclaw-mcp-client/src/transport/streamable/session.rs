//! The session of the first era, as headers.

use http::{HeaderMap, HeaderName, HeaderValue};

/// Which session a request belongs to.
pub(crate) const ID: HeaderName = HeaderName::from_static("mcp-session-id");
/// Which revision of the protocol it is in.
pub(crate) const VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");

/// What is known of the session.
#[derive(Debug, Default)]
pub(crate) struct SessionState {
    id: Option<HeaderValue>,
    /// The revision that was agreed on.
    pub(crate) version: Option<HeaderValue>,
    /// Whether requests may be sent in it.
    pub(crate) settled: bool,
    /// How many there have been.
    pub(crate) generation: u64,
}

impl SessionState {
    /// Forgets the session, to make a new one.
    pub(crate) fn begin(&mut self) {
        self.id = None;
        self.version = None;
        self.settled = false;
    }

    /// Takes the identifier that the server assigned.
    pub(crate) fn assigned(&mut self, headers: &HeaderMap) {
        self.id = headers.get(ID).cloned().map(|mut id| {
            // Whoever has it can take part in the session.
            id.set_sensitive(true);
            id
        });
    }

    /// Requests may be sent from now on.
    pub(crate) fn settle(&mut self) {
        self.settled = true;
        self.generation += 1;
    }

    /// Adds the headers of a request in this session.
    pub(crate) fn describe(&self, headers: &mut HeaderMap) {
        if let Some(id) = &self.id {
            headers.insert(ID, id.clone());
        }
        if let Some(version) = &self.version {
            headers.insert(VERSION, version.clone());
        }
    }
}
