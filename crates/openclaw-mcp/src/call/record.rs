//! The line of the audit log, which is written however a call ends.

use std::time::{Duration, Instant, SystemTime};

use super::{Call, CallEnd};
use crate::assembly::AgentTool;
use crate::audit::{AuditEntry, CallOutcome};
use crate::servers::Servers;

/// A call that is to be written down. Dropping it means that whoever wanted it gave up.
pub(super) struct Record<'a> {
    servers: &'a Servers,
    call: &'a Call<'a>,
    tool: &'a AgentTool,
    started: Instant,
    is_written: bool,
}

impl<'a> Record<'a> {
    pub(super) fn new(servers: &'a Servers, call: &'a Call<'a>, tool: &'a AgentTool) -> Self {
        Self {
            servers,
            call,
            tool,
            started: Instant::now(),
            is_written: false,
        }
    }

    /// Begins to count now: what a person took to answer is not the call's time.
    pub(super) fn restart(&mut self) {
        self.started = Instant::now();
    }

    /// Writes how the call ended; the result is how long it took.
    pub(super) fn finish(mut self, end: CallEnd) -> Duration {
        self.write(end.audited())
    }

    fn write(&mut self, outcome: CallOutcome) -> Duration {
        self.is_written = true;
        let duration = self.started.elapsed();
        let entry = AuditEntry {
            agent: self.call.agent.agent.id.as_str(),
            session: self.call.session,
            server: self.tool.server.name(),
            tool: &self.tool.prepared.definition.name,
            arguments: &self.call.arguments,
            outcome,
            duration,
            correlation: self.call.correlation,
        };
        self.servers.audit.record(&entry, SystemTime::now());
        duration
    }
}

impl Drop for Record<'_> {
    fn drop(&mut self) {
        if !self.is_written {
            self.write(CallOutcome::Cancelled);
        }
    }
}
