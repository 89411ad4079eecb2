//! Who hears what servers do.

use std::sync::Arc;

use crate::audit::AuditEntry;
use crate::supervise::{ServerState, StateListener};

/// Hears what servers do, while they do it, and must not wait for anything.
pub trait ServersListener: Send + Sync {
    /// A server is in another state than before, or offers something else. It has these names.
    fn server(&self, names: &[String], state: &ServerState);

    /// A server was lost and is started again.
    fn restarted(&self, names: &[String]);

    /// A tool was called; `reached` says whether the server was asked.
    fn called(&self, entry: &AuditEntry<'_>, reached: bool);
}

/// Somebody who does not listen.
pub(crate) struct Nobody;

impl ServersListener for Nobody {
    fn server(&self, _: &[String], _: &ServerState) {}

    fn restarted(&self, _: &[String]) {}

    fn called(&self, _: &AuditEntry<'_>, _: bool) {}
}

/// Passes on what happens to one server, under the names that it has.
pub(crate) struct Named {
    pub(crate) names: Arc<[String]>,
    /// Whether it is the server of one session. How it is says nothing about the one that all others
    /// see.
    pub(crate) is_of_session: bool,
    pub(crate) listener: Arc<dyn ServersListener>,
}

impl StateListener for Named {
    fn changed(&self, state: &ServerState) {
        if !self.is_of_session {
            self.listener.server(&self.names, state);
        }
    }

    fn restarting(&self) {
        self.listener.restarted(&self.names);
    }
}
