//! The calls of one message, made side by side.

use std::pin::Pin;
use std::sync::Arc;

use openclaw_content::{Origin, failure};
use openclaw_conversation::{AnswerPart, Blob, CallArguments, Media, ToolAnswer, ToolCall};
use openclaw_engine::{Audience, ToolConsent, ToolQuestion};
use openclaw_mcp::{
    AgentPlan, Approval, ApprovalAnswer, ApprovalQuestion, Approver, Call, Part, Servers,
    ToolChoice, ToolOutcome,
};
use serde_json::Map;
use tokio::sync::Mutex;

/// Makes calls for an agent.
pub(crate) struct Caller<'a> {
    pub(crate) servers: &'a Servers,
    pub(crate) plan: &'a AgentPlan,
    pub(crate) session: &'a str,
    pub(crate) correlation: &'a str,
    /// Who is asked; nobody where everything is allowed.
    pub(crate) asked: Option<&'a Asked<'a>>,
    /// Whether everything is allowed.
    pub(crate) approved: bool,
}

impl Caller<'_> {
    /// Makes a call, whatever the model wrote. Dropping it gives the call up.
    pub(crate) async fn make(&self, call: &ToolCall) -> ToolAnswer {
        let arguments = match &call.arguments {
            CallArguments::Object(object) => object.clone(),
            CallArguments::Broken { reason, .. } => match self.broken(call, reason) {
                Some(answer) => return answer,
                // It would not be made with any: the reason for that counts.
                None => Map::new(),
            },
        };
        let approval = match self.asked {
            _ if self.approved => Approval::Given,
            Some(asked) => Approval::Ask(Some(asked)),
            None => Approval::Ask(None),
        };
        let outcome = self.servers.call(Call {
            agent: self.plan,
            session: Some(self.session),
            tool: ToolChoice::Name(&call.name),
            arguments,
            correlation: self.correlation,
            person: None,
            approval,
            progress: None,
        });
        answer(call, Box::pin(outcome).await)
    }

    /// Answers a call of a tool that could be called, with something that it can't be called with.
    fn broken(&self, call: &ToolCall, reason: &str) -> Option<ToolAnswer> {
        let tools = self.servers.tools(self.plan, Some(self.session));
        let tool = tools.get(&call.name).filter(|tool| tool.is_offered())?;
        let origin = Origin::new(tool.server.name(), &tool.prepared.definition.name);
        let told = "the call was not made: {}; its arguments have to be a JSON object";
        let text = failure(&origin, told, &[reason]);
        Some(ToolAnswer {
            call: call.id.clone(),
            name: call.name.clone(),
            server: Some(tool.server.name().to_owned()),
            parts: vec![AnswerPart::Text { text }],
            is_error: true,
            duration_ms: 0,
        })
    }
}

fn answer(call: &ToolCall, outcome: ToolOutcome) -> ToolAnswer {
    let parts = outcome.parts.into_iter().map(|part| match part {
        Part::Text(text) => AnswerPart::Text { text },
        Part::Media { media, data } => AnswerPart::Media(Media {
            mime_type: media.media_type().to_owned(),
            name: None,
            bytes: u64::try_from(media.bytes()).unwrap_or(u64::MAX),
            blob: Blob::Here(Arc::from(data)),
        }),
    });
    ToolAnswer {
        call: call.id.clone(),
        name: call.name.clone(),
        server: outcome.server,
        parts: parts.collect(),
        is_error: outcome.end.is_error(),
        duration_ms: u64::try_from(outcome.duration.as_millis()).unwrap_or(u64::MAX),
    }
}

/// Somebody who is asked whether a tool may run, about one at a time.
pub(crate) struct Asked<'a> {
    audience: &'a dyn Audience,
    turn: Mutex<()>,
}

impl<'a> Asked<'a> {
    /// Whoever listens, if they can answer.
    pub(crate) fn new(audience: &'a dyn Audience) -> Option<Self> {
        audience.can_answer().then(|| Self {
            audience,
            turn: Mutex::new(()),
        })
    }
}

impl Approver for Asked<'_> {
    fn approve(
        &self,
        question: ApprovalQuestion,
    ) -> Pin<Box<dyn Future<Output = ApprovalAnswer> + Send + '_>> {
        Box::pin(async move {
            let _alone = self.turn.lock().await;
            let arguments = question.arguments.into_iter();
            let question = ToolQuestion {
                agent: question.agent,
                server: question.server,
                tool: question.tool,
                name: question.name,
                title: question.title,
                description: question.description,
                arguments: arguments.map(|it| (it.name, it.value)).collect(),
                more_arguments: question.more_arguments,
            };
            match self.audience.approve(question).await {
                ToolConsent::Once => ApprovalAnswer::Once,
                ToolConsent::Always => ApprovalAnswer::Always,
                ToolConsent::No => ApprovalAnswer::No,
            }
        })
    }
}
