//! A model that says what it is told to, and remembers what it was asked.

use std::collections::VecDeque;
use std::sync::Mutex;

use openclaw_conversation::{
    AnswerPart, AssistantMessage, AssistantPart, CallArguments, Message, ToolAnswer, ToolCall,
    Usage, UserPart,
};
use openclaw_models::{
    Model, ModelError, ModelEvent, ModelFacts, ModelListener, ModelReply, ModelRequest,
    PendingReply, Stop, ToolSpec,
};
use serde_json::Value;

/// What the model does when it is asked.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    /// It says this.
    Say(&'static str),
    /// It says this, and may not say more.
    BreakOff(&'static str),
    /// It says this and calls tools.
    Call(&'static str, Vec<(&'static str, Value)>),
    /// It calls a tool with something that is no object.
    Broken(&'static str, &'static str),
    /// It can't answer.
    Fail(ModelError),
    /// The service does not let it answer.
    Refuse,
    /// It never answers.
    Hang,
}

/// What the model was asked.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    pub(crate) stable: String,
    pub(crate) current: String,
    pub(crate) messages: Vec<Message>,
    pub(crate) tools: Vec<String>,
    /// How many bytes the definitions of the tools have.
    pub(crate) tool_bytes: usize,
}

impl Seen {
    /// The answers of tools.
    pub(crate) fn answers(&self) -> Vec<&ToolAnswer> {
        let messages = self.messages.iter();
        messages
            .filter_map(|message| match message {
                Message::Tool(answer) => Some(answer),
                _ => None,
            })
            .collect()
    }

    /// What persons said.
    pub(crate) fn said_by_user(&self) -> Vec<&str> {
        let messages = self.messages.iter();
        messages
            .filter_map(|message| match message {
                Message::User { parts } => parts.iter().find_map(|part| match part {
                    UserPart::Text { text } => Some(text.as_str()),
                    _ => None,
                }),
                _ => None,
            })
            .collect()
    }
}

pub(crate) struct Scripted {
    name: &'static str,
    steps: Mutex<VecDeque<Step>>,
    /// What it does when there are no more steps.
    rest: Step,
    seen: Mutex<Vec<Seen>>,
    facts: ModelFacts,
}

impl Scripted {
    pub(crate) fn new(steps: impl IntoIterator<Item = Step>) -> Self {
        Self {
            name: "test/scripted",
            steps: Mutex::new(steps.into_iter().collect()),
            rest: Step::Say("nothing more"),
            seen: Mutex::default(),
            facts: ModelFacts {
                context_window: 200_000,
                max_tokens: 8_000,
                takes_images: true,
                takes_documents: false,
                most_tools: None,
            },
        }
    }

    pub(crate) fn then(mut self, rest: Step) -> Self {
        self.rest = rest;
        self
    }

    pub(crate) fn holding(mut self, context_window: u64) -> Self {
        self.facts.context_window = context_window;
        self
    }

    /// As if its service took so many tools at most.
    pub(crate) fn taking(mut self, most_tools: usize) -> Self {
        self.facts.most_tools = Some(most_tools);
        self
    }

    /// One that is called otherwise.
    pub(crate) fn named(mut self, name: &'static str) -> Self {
        self.name = name;
        self
    }

    /// One that reads documents itself.
    pub(crate) fn taking_documents(mut self) -> Self {
        self.facts.takes_documents = true;
        self
    }

    pub(crate) fn seen(&self) -> Vec<Seen> {
        self.seen.lock().unwrap().clone()
    }
}

fn definition_bytes(tool: &ToolSpec) -> usize {
    let schema = serde_json::to_string(&tool.parameters).unwrap();
    tool.name.len() + tool.description.len() + schema.len()
}

fn reply(model: &str, parts: Vec<AssistantPart>, stop: Stop) -> ModelReply {
    ModelReply {
        message: AssistantMessage {
            parts,
            model: model.to_owned(),
            usage: Some(Usage {
                input_tokens: 10,
                output_tokens: 2,
                cached_tokens: 1,
            }),
        },
        stop,
    }
}

fn call(name: &str, arguments: CallArguments) -> AssistantPart {
    AssistantPart::ToolCall(ToolCall {
        // Always the same, as some services have it.
        id: "call".to_owned(),
        name: name.to_owned(),
        arguments,
        opaque: None,
    })
}

impl Model for Scripted {
    fn name(&self) -> &'static str {
        self.name
    }

    fn facts(&self) -> &ModelFacts {
        &self.facts
    }

    fn reply<'a>(
        &'a self,
        request: ModelRequest<'a>,
        listener: &'a mut ModelListener<'_>,
    ) -> PendingReply<'a> {
        self.seen.lock().unwrap().push(Seen {
            stable: request.system.stable.to_owned(),
            current: request.system.current.to_owned(),
            messages: request.messages.to_vec(),
            tools: request
                .tools
                .tools()
                .iter()
                .map(|it| it.name.clone())
                .collect(),
            tool_bytes: request.tools.tools().iter().map(definition_bytes).sum(),
        });
        let step = self.steps.lock().unwrap().pop_front();
        let step = step.unwrap_or_else(|| self.rest.clone());
        Box::pin(async move {
            let text = |text: &str| AssistantPart::Text {
                text: text.to_owned(),
            };
            match step {
                Step::Say(said) => {
                    for word in said.split_inclusive(' ') {
                        listener(ModelEvent::Text(word.to_owned()));
                    }
                    Ok(reply(self.name, vec![text(said)], Stop::Done))
                }
                Step::BreakOff(said) => {
                    listener(ModelEvent::Text(said.to_owned()));
                    Ok(reply(self.name, vec![text(said)], Stop::Length))
                }
                Step::Call(said, calls) => {
                    let mut parts = vec![text(said)];
                    for (name, arguments) in calls {
                        let Value::Object(arguments) = arguments else {
                            panic!("no object: {arguments}");
                        };
                        parts.push(call(name, CallArguments::Object(arguments)));
                    }
                    Ok(reply(self.name, parts, Stop::Calls))
                }
                Step::Broken(name, arguments) => {
                    let parts = vec![call(name, CallArguments::parse(arguments))];
                    Ok(reply(self.name, parts, Stop::Calls))
                }
                Step::Refuse => Ok(reply(self.name, vec![], Stop::Refused)),
                Step::Fail(error) => Err(error),
                Step::Hang => std::future::pending().await,
            }
        })
    }
}

/// All text of an answer.
pub(crate) fn answer_text(answer: &ToolAnswer) -> String {
    let texts = answer.parts.iter().filter_map(|part| match part {
        AnswerPart::Text { text } => Some(text.as_str()),
        AnswerPart::Media(_) => None,
    });
    texts.collect()
}
