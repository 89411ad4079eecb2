//! What Ollama answers.

use openclaw_conversation::Usage;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::model::Stop;
use crate::wire::complaint::Complaint;
use crate::wire::growing::{Fault, Growing, GrowingCall, Part};
use crate::wire::pieces::parse;
use crate::wire::stream::{Decode, Flow};

/// Understands an answer.
#[derive(Default)]
pub(in crate::wire) struct Decoder {
    stop: Option<Stop>,
}

#[derive(Deserialize)]
struct Line {
    #[serde(default)]
    message: Option<Spoken>,
    #[serde(default)]
    done: bool,
    #[serde(default)]
    done_reason: Option<String>,
    #[serde(default)]
    prompt_eval_count: Option<u64>,
    #[serde(default)]
    eval_count: Option<u64>,
    #[serde(default)]
    error: Option<Value>,
}

#[derive(Deserialize)]
struct Spoken {
    #[serde(default)]
    content: Option<String>,
    #[serde(default)]
    thinking: Option<String>,
    #[serde(default)]
    tool_calls: Option<Vec<Call>>,
}

#[derive(Deserialize)]
struct Call {
    #[serde(default)]
    id: Option<String>,
    function: Function,
}

#[derive(Deserialize)]
struct Function {
    #[serde(default)]
    name: String,
    #[serde(default)]
    arguments: Option<Box<RawValue>>,
}

impl Decode for Decoder {
    fn event(
        &mut self,
        _name: Option<&str>,
        data: &[u8],
        answer: &mut Growing<'_, '_>,
    ) -> Result<Flow, Fault> {
        let line: Line = parse(data)?;
        if let Some(error) = line.error {
            let complaint = match &error {
                Value::String(message) => Some(Complaint::said(message)),
                other => Complaint::of_value(other),
            };
            return Err(Fault::Complaint(complaint.unwrap_or_default()));
        }
        if let Some(message) = line.message {
            if let Some(more) = message.thinking.filter(|more| !more.is_empty()) {
                answer.reasoning(&more)?;
            }
            answer.text(message.content.as_deref().unwrap_or_default())?;
            for call in message.tool_calls.into_iter().flatten() {
                take_call(call, answer)?;
            }
        }
        if !line.done {
            return Ok(Flow::More);
        }
        if line.prompt_eval_count.is_some() || line.eval_count.is_some() {
            answer.usage = Some(Usage {
                input_tokens: line.prompt_eval_count.unwrap_or_default(),
                output_tokens: line.eval_count.unwrap_or_default(),
                cached_tokens: 0,
            });
        }
        self.stop = Some(match line.done_reason.as_deref() {
            Some("length") => Stop::Length,
            _ => Stop::Done,
        });
        Ok(Flow::Done)
    }

    fn end(&mut self) -> Result<Stop, String> {
        self.stop
            .ok_or_else(|| "there was no line with `done`".to_owned())
    }
}

fn take_call(call: Call, answer: &mut Growing<'_, '_>) -> Result<(), Fault> {
    let (id, name) = (call.id.unwrap_or_default(), call.function.name);
    answer.grow(id.len() + name.len())?;
    let place = answer.begin(Part::Call(GrowingCall {
        id,
        name,
        ..GrowingCall::default()
    }))?;
    match call.function.arguments {
        Some(arguments) => answer.take_arguments(place, &arguments),
        None => Ok(()),
    }
}
