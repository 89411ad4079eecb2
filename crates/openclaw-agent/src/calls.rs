//! The calls of one message, made side by side.

use std::pin::Pin;
use std::sync::Arc;

use openclaw_content::{Origin, failure, note, shown_line};
use openclaw_conversation::{AnswerPart, Blob, CallArguments, Media, ToolAnswer, ToolCall};
use openclaw_engine::{Audience, ReplyEvent, ToolConsent, ToolEffect, ToolQuestion};
use openclaw_mcp::{
    AgentPlan, Approval, ApprovalAnswer, ApprovalQuestion, Approver, CALL_TOOL, Call,
    DESCRIBE_TOOL, LIST_RESOURCES, Part, READ_RESOURCE, READ_RESULT, RESERVED, SEARCH_TOOLS,
    Servers, ToolChoice, ToolOutcome,
};
use openclaw_telemetry::ToolSpan;
use serde_json::{Map, Value};
use tokio::sync::{Mutex, MutexGuard};

use crate::person::Line;
use crate::skills::{OfferedSkills, READ_SKILL};

/// How much of a tool's title is shown.
const TITLE: usize = 100;

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
    /// Where servers reach the person.
    pub(crate) line: &'a Line,
    /// The skills that can be read.
    pub(crate) skills: &'a OfferedSkills,
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
        if call.name == READ_SKILL && self.skills.are_there() {
            return self.read_skill(call, &arguments);
        }
        let asked = self.asked.map(|asked| AskedAbout {
            asked,
            call: &call.id,
        });
        let approval = match &asked {
            _ if self.approved => Approval::Given,
            Some(asked) => Approval::Ask(Some(asked)),
            None => Approval::Ask(None),
        };
        let of_call = self.line.of_call(&call.id);
        let outcome = self.servers.call(Call {
            agent: self.plan,
            session: Some(self.session),
            tool: ToolChoice::Name(&call.name),
            arguments,
            correlation: self.correlation,
            persons: Some(&of_call),
            approval,
            progress: Some(of_call.progress()),
            for_model: true,
        });
        let told = ToolSpan::begin(Some(&call.id));
        let outcome = told.around(Box::pin(outcome)).await;
        let failure = outcome.end.is_error().then(|| outcome.end.word());
        told.ended(&outcome.name, outcome.server.as_deref(), failure);
        answer(call, outcome)
    }

    /// What is told about a call that begins.
    pub(crate) fn started(&self, call: &ToolCall) -> ReplyEvent {
        let (name, arguments) = meant(call);
        let tools = self.servers.tools(self.plan, Some(self.session));
        let tool = tools.get(name);
        let title = tool.and_then(|tool| {
            let definition = &tool.prepared.definition;
            let title = definition.title.as_ref();
            title.or(definition.annotations.title.as_ref())
        });
        let effect = match tool {
            Some(tool) if self.plan.is_read_only(tool) => ToolEffect::Reads,
            Some(_) => ToolEffect::Unknown,
            None => effect_of_own(name),
        };
        ReplyEvent::ToolStarted {
            id: call.id.clone(),
            name: name.to_owned(),
            server: tool.map(|tool| tool.server.name().to_owned()),
            title: title
                .map(|title| shown_line(title, TITLE))
                .filter(|title| !title.is_empty()),
            effect,
            arguments: arguments.cloned().unwrap_or_default(),
        }
    }

    fn read_skill(&self, call: &ToolCall, arguments: &Map<String, Value>) -> ToolAnswer {
        let read = self.skills.read(arguments);
        let is_error = read.is_err();
        let (Ok(text) | Err(text)) = read;
        ToolAnswer {
            call: call.id.clone(),
            name: call.name.clone(),
            server: None,
            parts: vec![AnswerPart::Text { text }],
            called: None,
            found: Vec::new(),
            is_error,
            duration_ms: 0,
        }
    }

    /// Answers a call of a tool that could be called, with something that it can't be called with.
    fn broken(&self, call: &ToolCall, reason: &str) -> Option<ToolAnswer> {
        let told = "the call was not made: {}; its arguments have to be a JSON object";
        let (server, text) = if RESERVED.contains(&call.name.as_str()) {
            (None, note(told, &[reason]))
        } else {
            let tools = self.servers.tools(self.plan, Some(self.session));
            let tool = tools.get(&call.name).filter(|tool| tool.is_offered())?;
            let server = tool.server.name();
            let origin = Origin::new(server, &tool.prepared.definition.name);
            (Some(server.to_owned()), failure(&origin, told, &[reason]))
        };
        Some(ToolAnswer {
            call: call.id.clone(),
            name: call.name.clone(),
            server,
            parts: vec![AnswerPart::Text { text }],
            called: None,
            found: Vec::new(),
            is_error: true,
            duration_ms: 0,
        })
    }
}

/// The tool that a call is for and what it is called with, also where it is called through another one.
fn meant(call: &ToolCall) -> (&str, Option<&Map<String, Value>>) {
    let CallArguments::Object(object) = &call.arguments else {
        return (&call.name, None);
    };
    let through = object.get("name").and_then(Value::as_str);
    match through.filter(|_| call.name == CALL_TOOL) {
        Some(name) => (name, object.get("arguments").and_then(Value::as_object)),
        None => (&call.name, Some(object)),
    }
}

/// What a tool of ours does.
fn effect_of_own(name: &str) -> ToolEffect {
    match name {
        SEARCH_TOOLS | LIST_RESOURCES => ToolEffect::Searches,
        DESCRIBE_TOOL | READ_RESOURCE | READ_RESULT | READ_SKILL => ToolEffect::Reads,
        _ => ToolEffect::Unknown,
    }
}

fn answer(call: &ToolCall, outcome: ToolOutcome) -> ToolAnswer {
    let parts = outcome.parts.into_iter().map(|part| match part {
        Part::Text(text) => AnswerPart::Text { text },
        Part::Media { media, name, data } => AnswerPart::Media(Media {
            mime_type: media.media_type().to_owned(),
            name,
            bytes: u64::try_from(media.bytes()).unwrap_or(u64::MAX),
            blob: Blob::Here(Arc::from(data)),
            text: None,
        }),
    });
    ToolAnswer {
        call: call.id.clone(),
        name: call.name.clone(),
        server: outcome.server,
        parts: parts.collect(),
        called: (outcome.name != call.name).then_some(outcome.name),
        found: outcome.found,
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

    /// Waits until nobody else asks something, and keeps it so.
    pub(crate) async fn alone(&self) -> MutexGuard<'_, ()> {
        self.turn.lock().await
    }
}

/// The same, asked about one call.
struct AskedAbout<'a> {
    asked: &'a Asked<'a>,
    call: &'a str,
}

impl Approver for AskedAbout<'_> {
    fn approve(
        &self,
        question: ApprovalQuestion,
    ) -> Pin<Box<dyn Future<Output = ApprovalAnswer> + Send + '_>> {
        Box::pin(async move {
            let _alone = self.asked.alone().await;
            let arguments = question.arguments.into_iter();
            let question = ToolQuestion {
                id: self.call.to_owned(),
                agent: question.agent,
                server: question.server,
                tool: question.tool,
                name: question.name,
                title: question.title,
                description: question.description,
                arguments: arguments.map(|it| (it.name, it.value)).collect(),
                more_arguments: question.more_arguments,
            };
            match self.asked.audience.approve(question).await {
                ToolConsent::Once => ApprovalAnswer::Once,
                ToolConsent::Always => ApprovalAnswer::Always,
                ToolConsent::No => ApprovalAnswer::No,
            }
        })
    }
}
