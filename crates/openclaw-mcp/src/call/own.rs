//! Tools of our own that somebody denies.

use std::time::Instant;

use openclaw_content::Origin;

use super::{Call, CallEnd, Part, Stop, ToolOutcome};
use crate::audit::AuditEntry;
use crate::names::RESERVED;
use crate::policy::Decision;
use crate::servers::Servers;

impl Servers {
    /// What becomes of a call of a tool of ours that the agent may not use; nothing where it may, or
    /// where it is none of ours.
    pub(super) fn denied_own(&self, call: &Call<'_>, started: Instant) -> Option<ToolOutcome> {
        let name = call.tool.text();
        if !RESERVED.contains(&name) {
            return None;
        }
        let Decision::Denied { origin, rule } = call.agent.policy.decide_own(name) else {
            return None;
        };
        let told = "the tool is not allowed: `{}` in {} denies it";
        let of = Origin::new("openclaw", name);
        let names = [rule.as_deref().unwrap_or_default(), &origin];
        let stop = Stop::told(CallEnd::Denied, &of, told, &names);
        let duration = started.elapsed();
        let entry = AuditEntry {
            agent: call.agent.agent.id.as_str(),
            session: call.session,
            server: "",
            tool: name,
            arguments: &call.arguments,
            outcome: stop.end.audited(),
            duration,
            correlation: call.correlation,
        };
        self.note(&entry, false);
        Some(ToolOutcome {
            name: name.to_owned(),
            server: None,
            end: stop.end,
            parts: vec![Part::Text(stop.text)],
            result: None,
            problem: Some(stop.problem),
            found: Vec::new(),
            duration,
        })
    }
}
