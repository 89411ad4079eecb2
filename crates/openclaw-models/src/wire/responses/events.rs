//! What the responses of OpenAI answer.

use std::collections::BTreeMap;

use openclaw_conversation::Usage;
use serde::Deserialize;
use serde_json::Value;

use crate::model::Stop;
use crate::wire::complaint::Complaint;
use crate::wire::growing::{Fault, Growing, GrowingCall, Part};
use crate::wire::pieces::parse;
use crate::wire::stream::{Decode, Flow};

/// Understands an answer.
#[derive(Default)]
pub(in crate::wire) struct Decoder {
    /// The items, by their number.
    items: BTreeMap<u64, Item>,
    is_refusal: bool,
    stop: Option<Stop>,
}

struct Item {
    place: usize,
    /// Whether anything of it was heard.
    is_heard: bool,
    is_done: bool,
}

#[derive(Deserialize)]
struct Event {
    #[serde(default)]
    r#type: String,
    #[serde(default)]
    output_index: u64,
    #[serde(default)]
    delta: Option<Value>,
    #[serde(default)]
    arguments: Option<String>,
    #[serde(default)]
    item: Option<Value>,
    #[serde(default)]
    response: Option<Response>,
    #[serde(default)]
    error: Option<Value>,
    #[serde(default)]
    code: Option<Value>,
    #[serde(default)]
    message: Option<Value>,
}

#[derive(Deserialize)]
struct Response {
    #[serde(default)]
    output: Option<Vec<Value>>,
    #[serde(default)]
    usage: Option<Counts>,
    #[serde(default)]
    error: Option<Value>,
    #[serde(default)]
    incomplete_details: Option<Value>,
}

#[derive(Deserialize)]
struct Counts {
    #[serde(default)]
    input_tokens: u64,
    #[serde(default)]
    output_tokens: u64,
    #[serde(default)]
    input_tokens_details: Option<Details>,
}

#[derive(Deserialize)]
struct Details {
    #[serde(default)]
    cached_tokens: u64,
}

impl Decode for Decoder {
    fn event(
        &mut self,
        name: Option<&str>,
        data: &[u8],
        answer: &mut Growing<'_, '_>,
    ) -> Result<Flow, Fault> {
        if data.trim_ascii() == b"[DONE]" {
            return Ok(Flow::Done);
        }
        let event: Event = parse(data)?;
        let kind = match (event.r#type.as_str(), name) {
            ("", Some(name)) => name,
            (kind, _) => kind,
        };
        let delta = || event.delta.as_ref().and_then(Value::as_str);
        let index = event.output_index;
        match kind {
            "response.output_item.added" => {
                if let Some(item) = &event.item {
                    self.begin(index, item, answer)?;
                }
            }
            "response.output_item.done" => {
                if let Some(item) = &event.item {
                    self.complete(index, item, answer)?;
                }
            }
            "response.output_text.delta" => {
                self.say(index, delta(), Part::Text(String::new()), answer)?;
            }
            "response.refusal.delta" => {
                self.is_refusal = true;
                self.say(index, delta(), Part::Text(String::new()), answer)?;
            }
            "response.reasoning_summary_text.delta" | "response.reasoning_text.delta" => {
                self.say(index, delta(), reasoning(), answer)?;
            }
            "response.reasoning_summary_part.added" => self.paragraph(index, answer)?,
            "response.function_call_arguments.delta" => {
                let place = self.heard(index, Part::Call(GrowingCall::default()), answer)?;
                answer.arguments(place, delta().unwrap_or_default())?;
            }
            "response.function_call_arguments.done" => {
                let place = self.heard(index, Part::Call(GrowingCall::default()), answer)?;
                replace_arguments(place, event.arguments, answer)?;
            }
            "response.completed" | "response.done" | "response.incomplete" => {
                self.finish(kind, event.response, answer)?;
                return Ok(Flow::Done);
            }
            "response.failed" => {
                let error = event.response.and_then(|response| response.error);
                let complaint = error.as_ref().and_then(Complaint::of_value);
                return Err(Fault::Complaint(complaint.unwrap_or_default()));
            }
            "error" => return Err(Fault::Complaint(complaint(&event))),
            _ => {}
        }
        Ok(Flow::More)
    }

    fn end(&mut self) -> Result<Stop, String> {
        self.stop
            .ok_or_else(|| "there was no `response.completed`".to_owned())
    }
}

impl Decoder {
    /// The place of an item, which begins now if it has not before.
    fn heard(
        &mut self,
        index: u64,
        kind: Part,
        answer: &mut Growing<'_, '_>,
    ) -> Result<usize, Fault> {
        if let Some(item) = self.items.get_mut(&index) {
            item.is_heard = true;
            return Ok(item.place);
        }
        let place = answer.begin(kind)?;
        let item = Item {
            place,
            is_heard: true,
            is_done: false,
        };
        self.items.insert(index, item);
        Ok(place)
    }

    fn say(
        &mut self,
        index: u64,
        more: Option<&str>,
        kind: Part,
        answer: &mut Growing<'_, '_>,
    ) -> Result<(), Fault> {
        let place = self.heard(index, kind, answer)?;
        answer.say(place, more.unwrap_or_default())
    }

    /// Puts an empty line between the parts of a summary.
    fn paragraph(&mut self, index: u64, answer: &mut Growing<'_, '_>) -> Result<(), Fault> {
        let Some(item) = self.items.get(&index) else {
            return Ok(());
        };
        let place = item.place;
        match answer.part(place) {
            Some(Part::Reasoning { text, .. }) if !text.is_empty() => answer.say(place, "\n\n"),
            _ => Ok(()),
        }
    }

    fn begin(
        &mut self,
        index: u64,
        item: &Value,
        answer: &mut Growing<'_, '_>,
    ) -> Result<(), Fault> {
        if self.items.contains_key(&index) {
            return Ok(());
        }
        let part = match text(item, "type") {
            "message" => Part::Text(String::new()),
            "reasoning" => reasoning(),
            "function_call" => {
                let (id, name) = (text(item, "call_id"), text(item, "name"));
                answer.grow(id.len() + name.len())?;
                Part::Call(GrowingCall {
                    id: id.to_owned(),
                    name: name.to_owned(),
                    ..GrowingCall::default()
                })
            }
            // Things that we don't ask for.
            _ => return Ok(()),
        };
        let place = answer.begin(part)?;
        let item = Item {
            place,
            is_heard: false,
            is_done: false,
        };
        self.items.insert(index, item);
        Ok(())
    }

    /// Takes a whole item: what was heard of it before was only its beginning.
    fn complete(
        &mut self,
        index: u64,
        item: &Value,
        answer: &mut Growing<'_, '_>,
    ) -> Result<(), Fault> {
        self.begin(index, item, answer)?;
        let Some(known) = self.items.get_mut(&index) else {
            return Ok(());
        };
        if std::mem::replace(&mut known.is_done, true) {
            return Ok(());
        }
        let (place, is_heard) = (known.place, known.is_heard);
        match text(item, "type") {
            "message" if !is_heard => {
                for part in array(item, "content") {
                    self.is_refusal |= text(part, "type") == "refusal";
                    answer.say(place, text(part, "text"))?;
                    answer.say(place, text(part, "refusal"))?;
                }
            }
            "reasoning" => {
                if !is_heard {
                    for part in array(item, "summary") {
                        answer.say(place, text(part, "text"))?;
                    }
                }
                if let Some(sealed) = super::sealed(item) {
                    let sealed = Value::Object(sealed);
                    answer.keep(&sealed)?;
                    if let Some(Part::Reasoning { opaque, .. }) = answer.part(place) {
                        *opaque = Some(sealed);
                    }
                }
            }
            "function_call" => {
                let (id, name) = (text(item, "call_id"), text(item, "name"));
                answer.grow(id.len() + name.len())?;
                if let Some(call) = answer.call(place) {
                    if call.id.is_empty() {
                        id.clone_into(&mut call.id);
                    }
                    if call.name.is_empty() {
                        name.clone_into(&mut call.name);
                    }
                }
                let arguments = item.get("arguments").and_then(Value::as_str);
                replace_arguments(place, arguments.map(str::to_owned), answer)?;
            }
            _ => {}
        }
        Ok(())
    }

    fn finish(
        &mut self,
        kind: &str,
        response: Option<Response>,
        answer: &mut Growing<'_, '_>,
    ) -> Result<(), Fault> {
        let mut reason = None;
        if let Some(response) = response {
            if let Some(counts) = response.usage {
                answer.usage = Some(Usage {
                    input_tokens: counts.input_tokens,
                    output_tokens: counts.output_tokens,
                    cached_tokens: counts
                        .input_tokens_details
                        .map_or(0, |details| details.cached_tokens),
                });
            }
            // Some servers send nothing but this.
            if answer.is_empty() {
                for (index, item) in (0..).zip(response.output.unwrap_or_default()) {
                    self.complete(index, &item, answer)?;
                }
            }
            reason = response.incomplete_details;
        }
        let reason = reason.as_ref().map_or("", |reason| text(reason, "reason"));
        self.stop = Some(match (kind, reason) {
            ("response.incomplete", "content_filter") => Stop::Refused,
            ("response.incomplete", _) => Stop::Length,
            _ if self.is_refusal => Stop::Refused,
            _ => Stop::Done,
        });
        Ok(())
    }
}

/// Takes the whole of a call's arguments in place of what has come of them.
fn replace_arguments(
    place: usize,
    arguments: Option<String>,
    answer: &mut Growing<'_, '_>,
) -> Result<(), Fault> {
    let Some(arguments) = arguments.filter(|arguments| !arguments.is_empty()) else {
        return Ok(());
    };
    if let Some(call) = answer.call(place) {
        call.arguments.clear();
    }
    answer.arguments(place, &arguments)
}

fn complaint(event: &Event) -> Complaint {
    let nested = event.error.as_ref().and_then(Complaint::of_value);
    nested.unwrap_or_else(|| {
        let flat = serde_json::json!({ "code": event.code, "message": event.message });
        Complaint::of_value(&flat).unwrap_or_default()
    })
}

fn reasoning() -> Part {
    Part::Reasoning {
        text: String::new(),
        opaque: None,
    }
}

fn text<'v>(value: &'v Value, name: &str) -> &'v str {
    value.get(name).and_then(Value::as_str).unwrap_or_default()
}

fn array<'v>(value: &'v Value, name: &str) -> impl Iterator<Item = &'v Value> {
    let items = value.get(name).and_then(Value::as_array);
    items.into_iter().flatten()
}
