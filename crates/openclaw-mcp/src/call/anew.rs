//! Calls that begin anew, because the configuration changes before they are made.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value};
use tokio::time::Instant;

use super::{Call, CallEnd, ToolChoice, ToolOutcome};
use crate::servers::{AgentPlan, PlannedServer, Servers};

/// How long after its beginning a call may begin anew, since the configuration changes.
pub const ANEW_WITHIN: Duration = Duration::from_mins(1);

/// How a call ended, unless it begins anew.
pub(crate) type Attempt = Result<ToolOutcome, Anew>;

/// A call that was certainly not made, and begins anew with the agent as it is now.
pub(crate) struct Anew(pub(crate) Arc<AgentPlan>);

/// Until when a call may begin anew.
#[derive(Clone, Copy)]
pub(crate) struct Patience(Instant);

impl Servers {
    /// Makes a call. It is never made twice; dropping the future gives it up.
    pub async fn call(&self, call: Call<'_>) -> ToolOutcome {
        let started = Instant::now();
        let patience = Patience(started + ANEW_WITHIN);
        let mut attempt = self.attempt(&call, started.into_std(), patience).await;
        loop {
            let newer = match attempt {
                Ok(outcome) => return outcome,
                Err(newer) => newer,
            };
            let started = Instant::now().into_std();
            let call = call.of(&newer.0);
            attempt = self.attempt(&call, started, patience).await;
        }
    }

    /// Whether an agent is what the configuration in force says.
    pub fn is_current(&self, agent: &AgentPlan) -> bool {
        let plan = self.plan();
        let now = plan.now(agent);
        now.is_some_and(|now| std::ptr::eq(&raw const **now, agent))
    }

    /// What an agent is now, where it is not what it was when a call began.
    pub(super) fn newer(&self, agent: &AgentPlan, patience: Patience) -> Option<Arc<AgentPlan>> {
        if Instant::now() > patience.0 {
            return None;
        }
        let plan = self.plan();
        let now = plan.now(agent)?;
        (!std::ptr::eq(&raw const **now, agent)).then(|| Arc::clone(now))
    }

    /// The same, for a call that came to this end, where its server has another definition meanwhile: the
    /// call is for that.
    pub(crate) fn newer_after(
        &self,
        end: CallEnd,
        agent: &AgentPlan,
        server: &PlannedServer,
        patience: Patience,
    ) -> Option<Arc<AgentPlan>> {
        if end != CallEnd::NotDone {
            return None;
        }
        let newer = self.newer(agent, patience)?;
        let now = newer.servers.get(server.name())?.fingerprint()?;
        (Some(now) != server.fingerprint()).then_some(newer)
    }
}

impl<'a> Call<'a> {
    /// The same call, of an agent as it is now.
    fn of<'b>(&self, agent: &'b AgentPlan) -> Call<'b>
    where
        'a: 'b,
    {
        Call {
            agent,
            ..self.with(self.tool.again(), self.arguments.clone())
        }
    }

    /// A call of another tool, by the same for the same.
    pub(super) fn with<'b>(&self, tool: ToolChoice<'b>, arguments: Map<String, Value>) -> Call<'b>
    where
        'a: 'b,
    {
        Call {
            agent: self.agent,
            session: self.session,
            tool,
            arguments,
            correlation: self.correlation,
            persons: self.persons,
            approval: self.approval,
            progress: self.progress.clone(),
            for_model: self.for_model,
        }
    }
}
