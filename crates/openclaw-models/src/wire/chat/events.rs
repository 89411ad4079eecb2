//! What a service with chat completions answers.

use std::collections::BTreeMap;

use openclaw_conversation::Usage;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::model::Stop;
use crate::wire::complaint::Complaint;
use crate::wire::growing::{Fault, Growing, GrowingCall, Part};
use crate::wire::pieces::parse;
use crate::wire::stream::{Decode, Flow};

/// Understands an answer.
#[derive(Default)]
pub(in crate::wire) struct Decoder {
    /// The places of calls, by their number.
    places: BTreeMap<u64, usize>,
    is_refusal: bool,
    stop: Option<Stop>,
}

#[derive(Deserialize)]
struct Chunk {
    #[serde(default)]
    choices: Option<Vec<Choice>>,
    #[serde(default)]
    usage: Option<Counts>,
    /// Groq's own place for it.
    #[serde(default)]
    x_groq: Option<Groq>,
    #[serde(default)]
    error: Option<Value>,
}

#[derive(Deserialize)]
struct Groq {
    #[serde(default)]
    usage: Option<Counts>,
}

#[derive(Deserialize)]
struct Choice {
    #[serde(default)]
    index: u64,
    #[serde(default)]
    delta: Option<Delta>,
    #[serde(default)]
    finish_reason: Option<String>,
}

#[derive(Deserialize)]
struct Delta {
    #[serde(default)]
    content: Option<Content>,
    #[serde(default)]
    refusal: Option<String>,
    #[serde(default)]
    reasoning_content: Option<String>,
    #[serde(default)]
    reasoning: Option<Value>,
    #[serde(default)]
    reasoning_details: Option<Vec<Value>>,
    #[serde(default)]
    tool_calls: Option<Vec<CallDelta>>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Content {
    Text(String),
    /// Mistral's, where a model thinks.
    Parts(Vec<Value>),
}

#[derive(Deserialize)]
struct CallDelta {
    #[serde(default)]
    index: Option<u64>,
    #[serde(default)]
    id: Option<String>,
    #[serde(default)]
    function: Option<FunctionDelta>,
}

#[derive(Deserialize)]
struct FunctionDelta {
    #[serde(default)]
    name: Option<String>,
    #[serde(default)]
    arguments: Option<Box<RawValue>>,
}

#[derive(Deserialize)]
struct Counts {
    #[serde(default)]
    prompt_tokens: Option<u64>,
    #[serde(default)]
    completion_tokens: Option<u64>,
    #[serde(default)]
    prompt_tokens_details: Option<Details>,
    /// The word of `DeepSeek` for the same.
    #[serde(default)]
    prompt_cache_hit_tokens: Option<u64>,
}

#[derive(Deserialize)]
struct Details {
    #[serde(default)]
    cached_tokens: Option<u64>,
}

impl Counts {
    fn usage(self) -> Usage {
        let details = self.prompt_tokens_details;
        let cached = details.and_then(|details| details.cached_tokens);
        Usage {
            input_tokens: self.prompt_tokens.unwrap_or_default(),
            output_tokens: self.completion_tokens.unwrap_or_default(),
            cached_tokens: cached.or(self.prompt_cache_hit_tokens).unwrap_or_default(),
        }
    }
}

impl Decode for Decoder {
    fn event(
        &mut self,
        _name: Option<&str>,
        data: &[u8],
        answer: &mut Growing<'_, '_>,
    ) -> Result<Flow, Fault> {
        if data.trim_ascii() == b"[DONE]" {
            return Ok(Flow::Done);
        }
        let chunk: Chunk = parse(data)?;
        if let Some(error) = chunk.error.filter(|error| !error.is_null()) {
            let complaint = Complaint::of_value(&error);
            return Err(Fault::Complaint(complaint.unwrap_or_default()));
        }
        let groq = chunk.x_groq.and_then(|groq| groq.usage);
        if let Some(counts) = chunk.usage.or(groq) {
            answer.usage = Some(counts.usage());
        }
        // There is one where nobody asks for more.
        let choices = chunk.choices.into_iter().flatten();
        for choice in choices.filter(|choice| choice.index == 0) {
            if let Some(delta) = choice.delta {
                self.grow(delta, answer)?;
            }
            if let Some(reason) = choice.finish_reason.filter(|reason| !reason.is_empty()) {
                self.finish(&reason)?;
            }
        }
        Ok(Flow::More)
    }

    fn is_complete(&self) -> bool {
        self.stop.is_some()
    }

    fn end(&mut self) -> Result<Stop, String> {
        match self.stop {
            None => Err("there was no `finish_reason`".to_owned()),
            // The model says so in words of its own, and then stops as usual.
            Some(Stop::Done) if self.is_refusal => Ok(Stop::Refused),
            Some(stop) => Ok(stop),
        }
    }
}

impl Decoder {
    fn finish(&mut self, reason: &str) -> Result<(), Fault> {
        self.stop = Some(match reason {
            "tool_calls" | "function_call" => Stop::Calls,
            "length" | "model_length" | "max_tokens" => Stop::Length,
            "content_filter" => Stop::Refused,
            // OpenRouter's, DeepSeek's and Mistral's words for an answer that broke off.
            "error" | "insufficient_system_resource" => {
                let reason = format!("the service stopped with {reason:?}");
                return Err(Fault::Cut(reason));
            }
            _ => Stop::Done,
        });
        Ok(())
    }

    fn grow(&mut self, delta: Delta, answer: &mut Growing<'_, '_>) -> Result<(), Fault> {
        let details = delta.reasoning_details.unwrap_or_default();
        let reasoning = delta.reasoning.as_ref().and_then(Value::as_str);
        match (delta.reasoning_content.as_deref(), reasoning) {
            (Some(more), _) if !more.is_empty() => {
                let place = answer.reasoning(more)?;
                if let Some(Part::Reasoning { opaque, .. }) = answer.part(place) {
                    opaque.get_or_insert_with(|| json!({ "field": "reasoning_content" }));
                }
            }
            (_, Some(more)) if !more.is_empty() => {
                answer.reasoning(more)?;
            }
            _ => {}
        }
        if !details.is_empty() {
            keep_details(details, answer)?;
        }
        match delta.content {
            Some(Content::Text(text)) => answer.text(&text)?,
            Some(Content::Parts(parts)) => {
                for part in &parts {
                    content_part(part, answer)?;
                }
            }
            None => {}
        }
        if let Some(text) = delta.refusal.filter(|text| !text.is_empty()) {
            self.is_refusal = true;
            answer.text(&text)?;
        }
        for call in delta.tool_calls.unwrap_or_default() {
            self.call(call, answer)?;
        }
        Ok(())
    }

    fn call(&mut self, delta: CallDelta, answer: &mut Growing<'_, '_>) -> Result<(), Fault> {
        let function = delta.function;
        let (name, arguments) = function.map_or((None, None), |it| (it.name, it.arguments));
        let name = name.unwrap_or_default();
        let id = delta.id.unwrap_or_default();
        let place = match self.known(delta.index, &id, &name, answer) {
            Some(place) => place,
            None => {
                let place = answer.begin(Part::Call(GrowingCall::default()))?;
                // Without a number it is the one after all others.
                let next = self.places.last_key_value().map_or(0, |(last, _)| last + 1);
                self.places.insert(delta.index.unwrap_or(next), place);
                place
            }
        };
        answer.grow(id.len() + name.len())?;
        if let Some(call) = answer.call(place) {
            if call.id.is_empty() {
                call.id = id;
            }
            // It comes once, or each time as a whole.
            if call.name.is_empty() {
                call.name = name;
            }
        }
        match arguments {
            Some(arguments) => answer.take_arguments(place, &arguments),
            None => Ok(()),
        }
    }

    /// The place of the call that a piece belongs to, where it has begun.
    fn known(
        &self,
        index: Option<u64>,
        id: &str,
        name: &str,
        answer: &mut Growing<'_, '_>,
    ) -> Option<usize> {
        let place = match index {
            Some(index) => *self.places.get(&index)?,
            None => *self.places.last_key_value()?.1,
        };
        let call = answer.call(place)?;
        let is_other = !id.is_empty() && !call.id.is_empty() && call.id != id;
        let is_next = index.is_none() && id.is_empty() && !name.is_empty();
        // Some servers give every call the number 0, or none, and a name of its own.
        if is_other || is_next {
            return None;
        }
        Some(place)
    }
}

/// Keeps what `OpenRouter` wants to have back of what a model thinks.
fn keep_details(details: Vec<Value>, answer: &mut Growing<'_, '_>) -> Result<(), Fault> {
    for detail in &details {
        answer.keep(detail)?;
    }
    let place = answer.reasoning("")?;
    let Some(Part::Reasoning { opaque, .. }) = answer.part(place) else {
        return Ok(());
    };
    let opaque = opaque.get_or_insert_with(|| json!({}));
    let Some(object) = opaque.as_object_mut() else {
        return Ok(());
    };
    let kept = object.entry("details").or_insert_with(|| json!([]));
    let Some(kept) = kept.as_array_mut() else {
        return Ok(());
    };
    for detail in details {
        add_detail(kept, detail);
    }
    Ok(())
}

/// Adds to a detail that has begun, or begins one.
fn add_detail(kept: &mut Vec<Value>, detail: Value) {
    let same = |name: &str, other: &Value| other.get(name) == detail.get(name);
    let last = kept
        .last_mut()
        .filter(|last| same("type", last) && same("index", last));
    let Some(last) = last.and_then(Value::as_object_mut) else {
        kept.push(detail);
        return;
    };
    let Value::Object(fields) = detail else {
        return;
    };
    for (name, value) in fields {
        let grows = matches!(name.as_str(), "text" | "summary" | "data");
        match (last.get_mut(&name), value) {
            (Some(Value::String(text)), Value::String(more)) if grows => text.push_str(&more),
            (_, Value::Null) => {}
            (_, value) => {
                last.insert(name, value);
            }
        }
    }
}

fn content_part(part: &Value, answer: &mut Growing<'_, '_>) -> Result<(), Fault> {
    let text = |part: &Value| part.get("text").and_then(Value::as_str).map(str::to_owned);
    match part.get("type").and_then(Value::as_str) {
        Some("thinking") => {
            let thoughts = part.get("thinking").and_then(Value::as_array);
            for thought in thoughts.into_iter().flatten() {
                answer.reasoning(&text(thought).unwrap_or_default())?;
            }
            Ok(())
        }
        _ => answer.text(&text(part).unwrap_or_default()),
    }
}
