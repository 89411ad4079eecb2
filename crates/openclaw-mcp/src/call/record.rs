//! The line of the audit log, which is written however a call ends.

use std::time::{Duration, Instant, SystemTime};

use super::{Call, CallEnd};
use crate::audit::{AuditEntry, CallOutcome, UnderWay};
use crate::servers::Servers;

/// A call that is to be written down. Dropping it means that whoever wanted it gave up.
pub(crate) struct Record<'a> {
    servers: &'a Servers,
    call: &'a Call<'a>,
    server: &'a str,
    tool: &'a str,
    started: Instant,
    has_reached: bool,
    is_written: bool,
    _under_way: UnderWay<'a>,
}

impl<'a> Record<'a> {
    /// A call of a tool of a server, or of one of ours that asks a server, which began then.
    pub(crate) fn new(
        servers: &'a Servers,
        call: &'a Call<'a>,
        server: &'a str,
        tool: &'a str,
        started: Instant,
    ) -> Self {
        Self {
            servers,
            call,
            server,
            tool,
            started,
            has_reached: false,
            is_written: false,
            _under_way: servers.audit.begin(),
        }
    }

    /// Notes that the server is asked now.
    pub(crate) fn reaches(&mut self) {
        self.has_reached = true;
    }

    /// The call begins anew, and is written down there. A server that was asked, and refused, was asked
    /// nevertheless: that is written, too.
    pub(crate) fn begins_anew(mut self) {
        if self.has_reached {
            self.write(CallOutcome::NotDone);
        }
        self.is_written = true;
    }

    /// Begins to count now: what a person took to answer is not the call's time.
    pub(crate) fn restart(&mut self) {
        self.started = Instant::now();
    }

    /// Writes how the call ended; the result is how long it took.
    pub(crate) async fn finish(mut self, end: CallEnd) -> Duration {
        self.is_written = true;
        let entry = self.entry(end.audited());
        self.servers.note_together(&entry, self.has_reached).await;
        entry.duration
    }

    fn write(&mut self, outcome: CallOutcome) {
        self.is_written = true;
        self.servers.note(&self.entry(outcome), self.has_reached);
    }

    fn entry(&self, outcome: CallOutcome) -> AuditEntry<'a> {
        AuditEntry {
            agent: self.call.agent.agent.id.as_str(),
            session: self.call.session,
            server: self.server,
            tool: self.tool,
            arguments: &self.call.arguments,
            outcome,
            duration: self.started.elapsed(),
            correlation: self.call.correlation,
        }
    }
}

impl Servers {
    /// What stands for a session wherever its key must not: in the audit log and in traces.
    pub fn session_hash(&self, key: &str) -> String {
        self.audit.session(key)
    }

    /// Writes down a call, and tells whoever listens.
    pub(crate) fn note(&self, entry: &AuditEntry<'_>, has_reached: bool) {
        self.audit.record(entry, SystemTime::now());
        self.listener.called(entry, has_reached);
    }

    /// The same, with those that end at the same time.
    async fn note_together(&self, entry: &AuditEntry<'_>, has_reached: bool) {
        // Behind the line, also where whoever wanted the call gives up meanwhile: what is waited for is let go of
        // before this.
        let _telling = Telling {
            servers: self,
            entry,
            has_reached,
        };
        self.audit.record_together(entry, SystemTime::now()).await;
    }
}

/// A call that is being written down. Dropping it tells whoever listens.
struct Telling<'a> {
    servers: &'a Servers,
    entry: &'a AuditEntry<'a>,
    has_reached: bool,
}

impl Drop for Telling<'_> {
    fn drop(&mut self) {
        self.servers.listener.called(self.entry, self.has_reached);
    }
}

impl Drop for Record<'_> {
    fn drop(&mut self) {
        if !self.is_written {
            self.write(CallOutcome::Cancelled);
        }
    }
}
