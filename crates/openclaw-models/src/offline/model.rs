//! What is answered to a conversation.

use std::collections::HashSet;

use openclaw_conversation::{
    AssistantMessage, AssistantPart, CallArguments, Message, ToolAnswer, ToolCall, UserPart,
};

use super::choose::{Choice, choose};
use super::search::{Step, next, search};
use super::words::{closed, not_used, refusal, results, silence};
use crate::model::{
    Model, ModelEvent, ModelFacts, ModelListener, ModelReply, ModelRequest, PendingReply, Stop,
};
use crate::tools::ToolSet;

const NAME: &str = "builtin/offline";

/// The model that needs no service: it picks a tool by the words of a message, calls it with what
/// the message states, and passes on what it says. The same conversation always gets the same answer.
#[derive(Debug)]
pub struct OfflineModel {
    facts: ModelFacts,
}

impl Default for OfflineModel {
    fn default() -> Self {
        Self::new()
    }
}

impl OfflineModel {
    /// Makes one.
    pub fn new() -> Self {
        Self {
            facts: ModelFacts {
                // It looks at the last message only, and at the beginning of that.
                context_window: 100_000_000,
                max_tokens: 100_000,
                takes_images: false,
                takes_documents: false,
                most_tools: None,
            },
        }
    }
}

impl Model for OfflineModel {
    fn name(&self) -> &str {
        NAME
    }

    fn facts(&self) -> &ModelFacts {
        &self.facts
    }

    fn reply<'a>(
        &'a self,
        request: ModelRequest<'a>,
        listener: &'a mut ModelListener<'_>,
    ) -> PendingReply<'a> {
        Box::pin(async move {
            let (part, stop) = answer(&request);
            if let AssistantPart::Text { text } = &part {
                listener(ModelEvent::Text(text.clone()));
            }
            let message = AssistantMessage {
                parts: vec![part],
                model: NAME.to_owned(),
                usage: None,
            };
            Ok(ModelReply { message, stop })
        })
    }
}

fn answer(request: &ModelRequest<'_>) -> (AssistantPart, Stop) {
    let text = match request.messages.last() {
        Some(Message::Tool(_)) => {
            let answers = last_answers(request.messages);
            let said = last_said(request.messages);
            let next = match answers.as_slice() {
                [answer] => next(&said, answer, request.tools),
                _ => None,
            };
            match next {
                Some(step) => return taken(step, request.messages),
                None => results(&answers) + &leftover(&said, &answers, request.tools),
            }
        }
        Some(Message::User { parts }) => {
            let said = said(parts);
            match choose(&said, request.tools) {
                Choice::Call {
                    tool, arguments, ..
                } => return taken(Step::Call(tool.name.clone(), arguments), request.messages),
                other if other.is_settled() => refusal(&other),
                other => match search(&said, &other, request.tools) {
                    Some(step) => return taken(step, request.messages),
                    None => refusal(&other),
                },
            }
        }
        Some(Message::Assistant(_) | Message::Summary { .. }) | None => silence(),
    };
    taken(Step::Say(text), request.messages)
}

/// A step, as an answer.
fn taken(step: Step, messages: &[Message]) -> (AssistantPart, Stop) {
    match step {
        Step::Say(text) => {
            let text = closed(&text);
            (AssistantPart::Text { text }, Stop::Done)
        }
        Step::Call(name, arguments) => {
            let call = ToolCall {
                id: new_id(messages),
                name,
                arguments: CallArguments::Object(arguments),
                opaque: None,
            };
            (AssistantPart::ToolCall(call), Stop::Calls)
        }
    }
}

/// What the message states that the answers belong to, and no argument has.
fn leftover(said: &str, answers: &[&ToolAnswer], tools: &ToolSet) -> String {
    let called = |answer: &ToolAnswer| answer.called.as_ref().unwrap_or(&answer.name).clone();
    match choose(said, tools) {
        Choice::Call { tool, unused, .. }
            if answers.iter().any(|answer| called(answer) == tool.name) =>
        {
            not_used(&unused)
        }
        _ => String::new(),
    }
}

/// What a person said last.
fn last_said(messages: &[Message]) -> String {
    let mut messages = messages.iter().rev();
    let last = messages.find_map(|message| match message {
        Message::User { parts } => Some(said(parts)),
        _ => None,
    });
    last.unwrap_or_default()
}

/// A person's own words.
fn said(parts: &[UserPart]) -> String {
    let texts = parts.iter().filter_map(|part| match part {
        UserPart::Text { text } => Some(text.as_str()),
        UserPart::Foreign { .. } | UserPart::Media(_) => None,
    });
    texts.collect::<Vec<_>>().join("\n")
}

/// The answers that a conversation ends with.
fn last_answers(messages: &[Message]) -> Vec<&ToolAnswer> {
    let answers = messages.iter().rev().map_while(|message| match message {
        Message::Tool(answer) => Some(answer),
        _ => None,
    });
    let mut answers: Vec<&ToolAnswer> = answers.collect();
    answers.reverse();
    answers
}

/// An identifier that no call of the conversation has.
fn new_id(messages: &[Message]) -> String {
    let calls = messages.iter().filter_map(|message| match message {
        Message::Assistant(message) => Some(message),
        _ => None,
    });
    let taken: HashSet<&str> = calls
        .flat_map(AssistantMessage::calls)
        .map(|call| call.id.as_str())
        .collect();
    let mut number = taken.len() + 1;
    loop {
        let id = format!("offline-{number}");
        if !taken.contains(id.as_str()) {
            return id;
        }
        number += 1;
    }
}
