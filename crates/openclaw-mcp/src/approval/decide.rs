//! From the rules, what is remembered, and the person to one answer.

use openclaw_config::WithoutPerson;
use openclaw_mcp_client::Tool;
use serde_json::{Map, Value};
use tokio::time::{Instant, timeout_at};

use super::question::{
    ApprovalAnswer, ApprovalQuestion, Approver, shown_arguments, shown_description, shown_name,
};
use super::rules::{ApprovalNeed, ApprovalRules};
use super::store::{ApprovalError, Approvals};
use crate::names::{NamedTool, ToolKey};
use crate::own::OwnTool;
use crate::pins::DefinitionHash;

/// A call that may need a word of a person.
#[derive(Clone, Copy, Debug)]
pub struct ApprovalRequest<'a> {
    /// The agent that wants it.
    pub agent: &'a str,
    /// The tool by its names.
    pub tool: &'a NamedTool,
    /// Under what it is remembered what was said about its server's tools.
    pub remembered_as: &'a str,
    /// The tool as its server defines it now.
    pub definition: &'a Tool,
    /// Whether the configuration trusts what the server says about effects.
    pub trust_annotations: bool,
    /// What it will be called with, exactly.
    pub arguments: &'a Map<String, Value>,
}

/// Whether a call may be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ApprovalDecision {
    /// It may.
    Approved,
    /// It may not.
    Rejected {
        /// Why.
        reason: Rejection,
    },
}

/// Why a call may not be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rejection {
    /// The person said no.
    ByPerson,
    /// The person did not answer in time.
    NoAnswer,
    /// There is no person, and the configuration denies what can't be asked.
    NoPerson,
}

impl Rejection {
    /// A sentence for the model.
    pub fn sentence(self) -> &'static str {
        match self {
            Self::ByPerson => {
                "the user did not allow this call. Do not repeat it; ask the user how to go on."
            }
            Self::NoAnswer => {
                "the user was asked to allow this call and did not answer in time. It was not made."
            }
            Self::NoPerson => {
                "this call needs the approval of a person, and nobody can be asked here \
                 (`tools.approvalWithoutPerson` is `deny`). It was not made."
            }
        }
    }
}

/// Decides whether a call may be made, and asks the person for it where that is needed and there
/// is one. An answer that does not come before the deadline is a no.
///
/// That an answer can't be looked up or remembered is logged: the person is asked once more then,
/// and a call is never made because a file is broken.
pub async fn decide_approval(
    rules: &ApprovalRules,
    approvals: &Approvals,
    approver: Option<&dyn Approver>,
    without_person: WithoutPerson,
    request: &ApprovalRequest<'_>,
    deadline: Instant,
) -> ApprovalDecision {
    let annotations = &request.definition.annotations;
    let need = rules.needs(request.tool, annotations, request.trust_annotations);
    if need == ApprovalNeed::No {
        return ApprovalDecision::Approved;
    }
    let asked = Asked {
        need,
        agent: request.agent,
        key: &|| ToolKey::new(request.remembered_as, &request.tool.key.tool),
        definition: request.definition,
        question: &|| question(request),
    };
    decide(approvals, approver, without_person, &asked, deadline).await
}

/// A resource that is to be read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReadingRequest<'a> {
    pub(crate) agent: &'a str,
    pub(crate) server: &'a str,
    /// Under what it is remembered what was said about it.
    pub(crate) remembered_as: &'a str,
    /// The tool of ours that reads it.
    pub(crate) tool: &'a OwnTool,
    pub(crate) arguments: &'a Map<String, Value>,
}

/// Decides whether a resource may be read, in the same way.
pub(crate) async fn decide_reading(
    rules: &ApprovalRules,
    approvals: &Approvals,
    approver: Option<&dyn Approver>,
    without_person: WithoutPerson,
    request: &ReadingRequest<'_>,
    deadline: Instant,
) -> ApprovalDecision {
    let definition = request.tool.definition();
    let asked = Asked {
        need: rules.needs_for_reading(),
        agent: request.agent,
        // No server has such a name: none can have a tool that is taken for ours.
        key: &|| ToolKey::new(format!("{}/", request.remembered_as), request.tool.name),
        definition: &definition,
        question: &|| {
            let (arguments, more_arguments) = shown_arguments(request.arguments);
            ApprovalQuestion {
                agent: shown_name(request.agent),
                server: shown_name(request.server),
                tool: request.tool.name.to_owned(),
                name: request.tool.name.to_owned(),
                title: None,
                description: shown_description(request.tool.description),
                arguments,
                more_arguments,
            }
        },
    };
    decide(approvals, approver, without_person, &asked, deadline).await
}

/// What a person may be asked about.
struct Asked<'a> {
    need: ApprovalNeed,
    agent: &'a str,
    /// Under what it is remembered.
    key: &'a (dyn Fn() -> ToolKey + Send + Sync),
    definition: &'a Tool,
    question: &'a (dyn Fn() -> ApprovalQuestion + Send + Sync),
}

async fn decide(
    approvals: &Approvals,
    approver: Option<&dyn Approver>,
    without_person: WithoutPerson,
    asked: &Asked<'_>,
    deadline: Instant,
) -> ApprovalDecision {
    if asked.need == ApprovalNeed::No {
        return ApprovalDecision::Approved;
    }
    if approver.is_none() && without_person == WithoutPerson::Allow {
        return ApprovalDecision::Approved;
    }
    let hash = DefinitionHash::of(asked.definition);
    let (agent, key) = (asked.agent.to_owned(), (asked.key)());
    let is_remembered = on_disk(approvals, move |it| it.remembers(&agent, &key, hash)).await;
    if is_remembered == Some(true) {
        return ApprovalDecision::Approved;
    }
    let Some(approver) = approver else {
        return match without_person {
            WithoutPerson::Allow => ApprovalDecision::Approved,
            WithoutPerson::Deny => rejected(Rejection::NoPerson),
        };
    };
    let answer = timeout_at(deadline, approver.approve((asked.question)())).await;
    match answer {
        Err(_) => rejected(Rejection::NoAnswer),
        Ok(ApprovalAnswer::No) => rejected(Rejection::ByPerson),
        Ok(ApprovalAnswer::Once) => ApprovalDecision::Approved,
        Ok(ApprovalAnswer::Always) => {
            let (agent, key) = (asked.agent.to_owned(), (asked.key)());
            on_disk(approvals, move |it| it.remember(&agent, &key, hash)).await;
            ApprovalDecision::Approved
        }
    }
}

fn rejected(reason: Rejection) -> ApprovalDecision {
    ApprovalDecision::Rejected { reason }
}

fn question(request: &ApprovalRequest<'_>) -> ApprovalQuestion {
    let Tool {
        title, annotations, ..
    } = request.definition;
    let title = title.as_ref().or(annotations.title.as_ref());
    let description = request.definition.description.as_deref();
    let (arguments, more_arguments) = shown_arguments(request.arguments);
    ApprovalQuestion {
        agent: shown_name(request.agent),
        server: shown_name(&request.tool.key.server),
        tool: shown_name(&request.tool.key.tool),
        name: request.tool.name.to_string(),
        title: title
            .map(|title| shown_name(title))
            .filter(|title| !title.is_empty()),
        description: description.and_then(shown_description),
        arguments,
        more_arguments,
    }
}

/// Does something with the file where blocking is allowed; none where it failed.
async fn on_disk<T: Send + 'static>(
    approvals: &Approvals,
    work: impl FnOnce(&Approvals) -> Result<T, ApprovalError> + Send + 'static,
) -> Option<T> {
    let approvals = approvals.clone();
    match tokio::task::spawn_blocking(move || work(&approvals)).await {
        Ok(Ok(done)) => Some(done),
        Ok(Err(error)) => {
            tracing::warn!("what the user always allows can't be used: {error}");
            None
        }
        Err(error) => {
            tracing::warn!("what the user always allows was not looked up: {error}");
            None
        }
    }
}

#[cfg(test)]
mod tests;
