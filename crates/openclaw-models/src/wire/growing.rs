//! An answer while it comes: its parts in their order, within bounds.

use openclaw_conversation::{
    AssistantMessage, AssistantPart, CallArguments, Opaque, ToolCall, Usage,
};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::model::{ModelEvent, ModelListener, ModelReply, Stop};
use crate::wire::complaint::Complaint;
use crate::wire::limits::{ANSWER, ARGUMENTS, CALLS, PART};
use crate::wire::pieces::parse;
use crate::wire::weight::{fields_weight, weight, written_length};

/// Why the last call of an answer that was cut off is not made: it may look whole and not be so.
const CUT_OFF: &str = "the answer was cut off before the call was complete";

/// Why there will be no answer.
#[derive(Debug)]
pub(crate) enum Fault {
    /// It can't be understood.
    Unreadable(String),
    /// The service says so in the middle of its answer.
    Complaint(Complaint),
    /// It is not whole.
    Cut(String),
}

impl Fault {
    pub(crate) fn unreadable(reason: impl Into<String>) -> Self {
        Self::Unreadable(reason.into())
    }
}

/// An answer while it comes.
pub(crate) struct Growing<'l, 'm> {
    listener: &'l mut ModelListener<'m>,
    parts: Vec<Part>,
    size: usize,
    calls: usize,
    /// What it cost, as far as that is known.
    pub(crate) usage: Option<Usage>,
}

/// A part of it.
pub(crate) enum Part {
    /// What the model says.
    Text(String),
    /// What it thinks.
    Reasoning {
        /// As far as it is shown.
        text: String,
        /// What the service wants to have back.
        opaque: Option<Value>,
    },
    /// A call.
    Call(GrowingCall),
}

/// A call while it comes.
#[derive(Default)]
pub(crate) struct GrowingCall {
    /// As the service has it; there may be none.
    pub(crate) id: String,
    /// The tool.
    pub(crate) name: String,
    /// What was written of the arguments.
    pub(crate) arguments: String,
    /// The arguments, where the service sends them as an object.
    pub(crate) object: Option<Map<String, Value>>,
    /// What the service wants to have back.
    pub(crate) opaque: Option<Value>,
}

/// Whose answer it is.
pub(crate) struct Author<'a> {
    /// The model, as `provider/model`.
    pub(crate) model: &'a str,
    /// Whose the opaque parts are.
    pub(crate) owner: &'a str,
    /// Whether a call of this conversation has this identifier.
    pub(crate) is_taken: &'a dyn Fn(&str) -> bool,
    /// Makes identifiers of calls.
    pub(crate) make_id: &'a dyn Fn() -> String,
}

impl<'l, 'm> Growing<'l, 'm> {
    pub(crate) fn new(listener: &'l mut ModelListener<'m>) -> Self {
        Self {
            listener,
            parts: Vec::new(),
            size: 0,
            calls: 0,
            usage: None,
        }
    }

    /// Whether nothing has come.
    pub(crate) fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    /// Counts bytes that are kept.
    pub(crate) fn grow(&mut self, bytes: usize) -> Result<(), Fault> {
        self.size = self.size.saturating_add(bytes);
        if self.size > ANSWER {
            let reason = format!("it has more than {} MiB", ANSWER >> 20);
            return Err(Fault::Unreadable(reason));
        }
        Ok(())
    }

    /// Begins a part, and says which place it has.
    pub(crate) fn begin(&mut self, part: Part) -> Result<usize, Fault> {
        self.grow(PART)?;
        if let Part::Call(_) = part {
            self.calls += 1;
            if self.calls > CALLS {
                let reason = format!("it has more than {CALLS} calls of tools");
                return Err(Fault::Unreadable(reason));
            }
        }
        self.parts.push(part);
        Ok(self.parts.len() - 1)
    }

    /// Adds to the text of a part.
    pub(crate) fn say(&mut self, place: usize, more: &str) -> Result<(), Fault> {
        if more.is_empty() {
            return Ok(());
        }
        self.grow(more.len())?;
        match self.parts.get_mut(place) {
            Some(Part::Text(text)) => {
                text.push_str(more);
                (self.listener)(ModelEvent::Text(more.to_owned()));
            }
            Some(Part::Reasoning { text, .. }) => {
                text.push_str(more);
                (self.listener)(ModelEvent::Reasoning(more.to_owned()));
            }
            Some(Part::Call(_)) | None => {
                return Err(Fault::unreadable("there is text where none belongs"));
            }
        }
        Ok(())
    }

    /// Adds to the text at the end.
    pub(crate) fn text(&mut self, more: &str) -> Result<(), Fault> {
        if more.is_empty() {
            return Ok(());
        }
        let place = match self.parts.last() {
            Some(Part::Text(_)) => self.parts.len() - 1,
            _ => self.begin(Part::Text(String::new()))?,
        };
        self.say(place, more)
    }

    /// Adds to the reasoning at the end, and says which place it has.
    pub(crate) fn reasoning(&mut self, more: &str) -> Result<usize, Fault> {
        let place = match self.parts.last() {
            Some(Part::Reasoning { .. }) => self.parts.len() - 1,
            _ => self.begin(Part::Reasoning {
                text: String::new(),
                opaque: None,
            })?,
        };
        self.say(place, more)?;
        Ok(place)
    }

    /// Adds to what is written of a call's arguments.
    pub(crate) fn arguments(&mut self, place: usize, more: &str) -> Result<(), Fault> {
        self.grow(more.len())?;
        let Some(Part::Call(call)) = self.parts.get_mut(place) else {
            return Err(Fault::unreadable("there are arguments without a call"));
        };
        call.arguments.push_str(more);
        if call.arguments.len() > ARGUMENTS {
            return Err(too_many_arguments());
        }
        Ok(())
    }

    /// Counts arguments that came as an object.
    pub(crate) fn measure(&mut self, object: &Map<String, Value>) -> Result<(), Fault> {
        if written_length(object) > ARGUMENTS {
            return Err(too_many_arguments());
        }
        self.grow(fields_weight(object))
    }

    /// Counts a value that is kept for the service.
    pub(crate) fn keep(&mut self, value: &Value) -> Result<(), Fault> {
        self.grow(weight(value))
    }

    /// Takes the arguments of a call as they were written: as a text, as some servers do as an object,
    /// or as anything else.
    pub(crate) fn take_arguments(&mut self, place: usize, written: &RawValue) -> Result<(), Fault> {
        let written = written.get();
        if written.starts_with('"') {
            return self.arguments(place, &parse::<String>(written.as_bytes())?);
        }
        // Looked at before it is parsed: a value takes many times as much as its text.
        if written.len() > ARGUMENTS {
            return Err(too_many_arguments());
        }
        if !written.starts_with('{') {
            return self.arguments(place, written);
        }
        let object: Map<String, Value> = parse(written.as_bytes())?;
        self.measure(&object)?;
        if let Some(call) = self.call(place) {
            call.object = Some(object);
        }
        Ok(())
    }

    /// A part, to be changed in what does not grow.
    pub(crate) fn part(&mut self, place: usize) -> Option<&mut Part> {
        self.parts.get_mut(place)
    }

    /// The call that has this place.
    pub(crate) fn call(&mut self, place: usize) -> Option<&mut GrowingCall> {
        match self.parts.get_mut(place) {
            Some(Part::Call(call)) => Some(call),
            _ => None,
        }
    }

    /// Makes it whole.
    pub(crate) fn finish(self, stop: Stop, author: &Author<'_>) -> ModelReply {
        let own = |data: Value| Opaque {
            owner: author.owner.to_owned(),
            data,
        };
        let mut size = self.size;
        let mut parts: Vec<AssistantPart> = Vec::with_capacity(self.parts.len());
        for part in self.parts {
            match part {
                Part::Text(text) if text.is_empty() => {}
                Part::Text(text) => parts.push(AssistantPart::Text { text }),
                Part::Reasoning { text, opaque } => {
                    if !text.is_empty() || opaque.is_some() {
                        let opaque = opaque.map(own);
                        parts.push(AssistantPart::Reasoning { text, opaque });
                    }
                }
                Part::Call(call) => {
                    let is_used = parts.iter().any(|part| {
                        matches!(part, AssistantPart::ToolCall(other) if other.id == call.id)
                    });
                    let id = if call.id.is_empty() || is_used || (author.is_taken)(&call.id) {
                        (author.make_id)()
                    } else {
                        call.id
                    };
                    parts.push(AssistantPart::ToolCall(ToolCall {
                        id,
                        name: call.name,
                        arguments: match call.object {
                            Some(object) if call.arguments.is_empty() => {
                                CallArguments::Object(object)
                            }
                            _ => parsed(call.arguments, &mut size),
                        },
                        opaque: call.opaque.map(own),
                    }));
                }
            }
        }
        if matches!(stop, Stop::Length | Stop::Refused) {
            break_last(&mut parts);
        }
        let stop = match stop {
            // Not every service says that it wants calls, and some say so without any.
            Stop::Done | Stop::Calls if self.calls > 0 => Stop::Calls,
            Stop::Calls => Stop::Done,
            other => other,
        };
        ModelReply {
            message: AssistantMessage {
                parts,
                model: author.model.to_owned(),
                usage: self.usage,
            },
            stop,
        }
    }
}

/// Reads arguments that came as a text, and counts what they hold.
fn parsed(text: String, size: &mut usize) -> CallArguments {
    let parsed = CallArguments::parse(&text);
    let CallArguments::Object(object) = &parsed else {
        return parsed;
    };
    *size = size.saturating_add(fields_weight(object));
    if *size <= ANSWER {
        return parsed;
    }
    CallArguments::Broken {
        text,
        reason: format!("the answer holds more than {} MiB", ANSWER >> 20),
    }
}

/// Marks the last call as one that can't be made.
fn break_last(parts: &mut [AssistantPart]) {
    let last = parts.iter_mut().rev().find_map(|part| match part {
        AssistantPart::ToolCall(call) => Some(call),
        AssistantPart::Text { .. } | AssistantPart::Reasoning { .. } => None,
    });
    let Some(call) = last else {
        return;
    };
    if let CallArguments::Object(object) = &call.arguments {
        call.arguments = CallArguments::Broken {
            text: serde_json::to_string(object).unwrap_or_default(),
            reason: CUT_OFF.to_owned(),
        };
    }
}

fn too_many_arguments() -> Fault {
    let limit = ARGUMENTS >> 20;
    Fault::Unreadable(format!("a call has more than {limit} MiB of arguments"))
}
