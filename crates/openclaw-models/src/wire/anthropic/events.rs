//! What Anthropic answers.

use std::collections::BTreeMap;

use openclaw_conversation::Usage;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::model::Stop;
use crate::wire::complaint::Complaint;
use crate::wire::growing::{Fault, Growing, GrowingCall, Part};
use crate::wire::pieces::parse;
use crate::wire::stream::{Decode, Flow};

/// Understands an answer.
#[derive(Default)]
pub(in crate::wire) struct Decoder {
    /// The places of the blocks that are open.
    places: BTreeMap<u64, usize>,
    counts: Counts,
    stop: Option<Stop>,
    is_over: bool,
}

#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Event {
    MessageStart {
        message: Begun,
    },
    ContentBlockStart {
        index: u64,
        content_block: Block,
    },
    ContentBlockDelta {
        index: u64,
        delta: Delta,
    },
    ContentBlockStop {
        index: u64,
    },
    MessageDelta {
        delta: Change,
        #[serde(default)]
        usage: Option<Counts>,
    },
    MessageStop,
    Error {
        error: Value,
    },
    /// `ping`, and what is not known yet.
    #[serde(other)]
    Other,
}

#[derive(Deserialize)]
struct Begun {
    #[serde(default)]
    usage: Option<Counts>,
}

#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Block {
    Text {
        #[serde(default)]
        text: String,
    },
    Thinking {
        #[serde(default)]
        thinking: String,
        #[serde(default)]
        signature: String,
    },
    RedactedThinking {
        data: String,
    },
    ToolUse {
        #[serde(default)]
        id: String,
        #[serde(default)]
        name: String,
        #[serde(default)]
        input: Option<Map<String, Value>>,
    },
    #[serde(other)]
    Other,
}

#[derive(Deserialize)]
#[serde(tag = "type")]
enum Delta {
    #[serde(rename = "text_delta")]
    Text { text: String },
    #[serde(rename = "input_json_delta")]
    Input { partial_json: String },
    #[serde(rename = "thinking_delta")]
    Thinking { thinking: String },
    #[serde(rename = "signature_delta")]
    Signature { signature: String },
    #[serde(other)]
    Other,
}

#[derive(Deserialize)]
struct Change {
    #[serde(default)]
    stop_reason: Option<String>,
}

/// What the service counts; later figures replace earlier ones.
#[derive(Clone, Copy, Default, Deserialize)]
struct Counts {
    #[serde(default, rename = "input_tokens")]
    input: Option<u64>,
    #[serde(default, rename = "output_tokens")]
    output: Option<u64>,
    #[serde(default, rename = "cache_read_input_tokens")]
    cache_read: Option<u64>,
    #[serde(default, rename = "cache_creation_input_tokens")]
    cache_creation: Option<u64>,
}

impl Counts {
    fn replaced_by(self, later: Self) -> Self {
        Self {
            input: later.input.or(self.input),
            output: later.output.or(self.output),
            cache_read: later.cache_read.or(self.cache_read),
            cache_creation: later.cache_creation.or(self.cache_creation),
        }
    }

    /// Those from a cache are not among the others here.
    fn usage(self) -> Usage {
        let cached = self.cache_read.unwrap_or_default();
        let kept = self.cache_creation.unwrap_or_default();
        let input = self.input.unwrap_or_default();
        Usage {
            input_tokens: input.saturating_add(cached).saturating_add(kept),
            output_tokens: self.output.unwrap_or_default(),
            cached_tokens: cached,
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
        match parse(data)? {
            Event::MessageStart { message } => self.count(message.usage, answer),
            Event::ContentBlockStart {
                index,
                content_block,
            } => self.begin(index, content_block, answer)?,
            Event::ContentBlockDelta { index, delta } => self.grow(index, delta, answer)?,
            Event::ContentBlockStop { index } => {
                self.places.remove(&index);
            }
            Event::MessageDelta { delta, usage } => {
                self.count(usage, answer);
                if let Some(reason) = delta.stop_reason {
                    self.stop = Some(stop(&reason));
                }
            }
            Event::MessageStop => {
                self.is_over = true;
                return Ok(Flow::Done);
            }
            Event::Error { error } => {
                let complaint = Complaint::of_value(&error);
                return Err(Fault::Complaint(complaint.unwrap_or_default()));
            }
            Event::Other => {}
        }
        Ok(Flow::More)
    }

    fn end(&mut self) -> Result<Stop, String> {
        if !self.is_over {
            return Err("there was no `message_stop`".to_owned());
        }
        self.stop
            .ok_or_else(|| "there was no `stop_reason`".to_owned())
    }
}

impl Decoder {
    fn count(&mut self, counts: Option<Counts>, answer: &mut Growing<'_, '_>) {
        if let Some(counts) = counts {
            self.counts = self.counts.replaced_by(counts);
            answer.usage = Some(self.counts.usage());
        }
    }

    fn begin(
        &mut self,
        index: u64,
        block: Block,
        answer: &mut Growing<'_, '_>,
    ) -> Result<(), Fault> {
        let place = match block {
            Block::Text { text } => {
                let place = answer.begin(Part::Text(String::new()))?;
                answer.say(place, &text)?;
                place
            }
            Block::Thinking {
                thinking,
                signature,
            } => {
                let place = answer.begin(Part::Reasoning {
                    text: String::new(),
                    opaque: None,
                })?;
                answer.say(place, &thinking)?;
                sign(place, &signature, answer)?;
                place
            }
            Block::RedactedThinking { data } => {
                answer.grow(data.len())?;
                answer.begin(Part::Reasoning {
                    text: String::new(),
                    opaque: Some(json!({ "redacted": data })),
                })?
            }
            Block::ToolUse { id, name, input } => {
                answer.grow(id.len() + name.len())?;
                if let Some(input) = &input {
                    answer.measure(input)?;
                }
                answer.begin(Part::Call(GrowingCall {
                    id,
                    name,
                    object: input,
                    ..GrowingCall::default()
                }))?
            }
            Block::Other => return Ok(()),
        };
        self.places.insert(index, place);
        Ok(())
    }

    fn grow(
        &mut self,
        index: u64,
        delta: Delta,
        answer: &mut Growing<'_, '_>,
    ) -> Result<(), Fault> {
        // Of a block whose kind is not known.
        let Some(place) = self.places.get(&index).copied() else {
            return Ok(());
        };
        match delta {
            Delta::Text { text } => answer.say(place, &text),
            Delta::Thinking { thinking } => answer.say(place, &thinking),
            Delta::Signature { signature } => sign(place, &signature, answer),
            Delta::Input { partial_json } => answer.arguments(place, &partial_json),
            Delta::Other => Ok(()),
        }
    }
}

/// Adds to the signature of what a model thinks.
fn sign(place: usize, more: &str, answer: &mut Growing<'_, '_>) -> Result<(), Fault> {
    if more.is_empty() {
        return Ok(());
    }
    answer.grow(more.len())?;
    if let Some(Part::Reasoning { opaque, .. }) = answer.part(place) {
        let opaque = opaque.get_or_insert_with(|| json!({ "signature": "" }));
        if let Some(Value::String(signature)) = opaque.get_mut("signature") {
            signature.push_str(more);
        }
    }
    Ok(())
}

fn stop(reason: &str) -> Stop {
    match reason {
        "tool_use" => Stop::Calls,
        "max_tokens" | "model_context_window_exceeded" => Stop::Length,
        "refusal" => Stop::Refused,
        // `end_turn`, `stop_sequence`, `pause_turn`, and what is not known yet.
        _ => Stop::Done,
    }
}
