//! What is looked at before a call is made: its arguments, and whether a person approves.

use std::time::Duration;

use serde_json::{Map, Value};
use tokio::time::Instant;

use super::{Approval, Call, CallEnd, Stop};
use crate::approval::{ApprovalDecision, ApprovalRequest, decide_approval};
use crate::arguments::{LARGEST, written_length};
use crate::assembly::AgentTool;
use crate::servers::Servers;

/// How long a person may think about a call.
pub(crate) const THINKING: Duration = Duration::from_mins(10);

impl Servers {
    /// The arguments, if they fit.
    pub(super) fn checked(
        &self,
        call: &Call<'_>,
        tool: &AgentTool,
    ) -> Result<Map<String, Value>, Stop> {
        let arguments = call.arguments.clone();
        match tool.prepared.arguments() {
            None if written_length(&arguments) > LARGEST => {
                let told = "the arguments are too large";
                Err(Stop::told(
                    CallEnd::InvalidArguments,
                    &tool.origin(),
                    told,
                    &[],
                ))
            }
            None => Ok(arguments),
            Some(check) => check.check(arguments).map_err(|invalid| {
                // It names what the server's schema says and what the model wrote.
                self.stop_framed(
                    CallEnd::InvalidArguments,
                    &tool.origin(),
                    invalid.to_string(),
                )
            }),
        }
    }

    /// Asks whoever is to be asked.
    pub(super) async fn approved(
        &self,
        call: &Call<'_>,
        tool: &AgentTool,
        arguments: &Map<String, Value>,
    ) -> Result<(), Stop> {
        let approver = match call.approval {
            Approval::Given => return Ok(()),
            Approval::Ask(approver) => approver,
        };
        let request = ApprovalRequest {
            agent: call.agent.agent.id.as_str(),
            tool: &tool.named,
            remembered_as: tool.server.remembered_as(),
            definition: &tool.prepared.definition,
            trust_annotations: tool.server.is_trusted(),
            arguments,
        };
        let decision = decide_approval(
            &call.agent.approval,
            &self.approvals,
            approver,
            call.agent.agent.without_person,
            &request,
            Instant::now() + THINKING,
        );
        match decision.await {
            ApprovalDecision::Approved if approver.is_none() || self.is_still(call, tool) => Ok(()),
            ApprovalDecision::Approved => {
                let told = "the tool or what is allowed has changed meanwhile, the call was not \
                            made";
                Err(Stop::told(CallEnd::NotDone, &tool.origin(), told, &[]))
            }
            ApprovalDecision::Rejected { reason } => Err(Stop::told(
                CallEnd::Rejected,
                &tool.origin(),
                reason.sentence(),
                &[],
            )),
        }
    }

    /// Whether a tool is still what it was when a person was asked about it, and still allowed.
    fn is_still(&self, call: &Call<'_>, tool: &AgentTool) -> bool {
        let Some(agent) = self.agent_now(call) else {
            return false;
        };
        let tools = self.tools(&agent, call.session);
        tools.get(tool.name().as_str()).is_some_and(|now| {
            now.is_offered()
                && now.prepared.hash == tool.prepared.hash
                && now.server.fingerprint() == tool.server.fingerprint()
        })
    }
}
