//! What Gemini answers.

use openclaw_conversation::Usage;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

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
#[serde(rename_all = "camelCase")]
struct Chunk {
    #[serde(default)]
    candidates: Option<Vec<Candidate>>,
    #[serde(default)]
    prompt_feedback: Option<Feedback>,
    #[serde(default)]
    usage_metadata: Option<Counts>,
    #[serde(default)]
    error: Option<Value>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Candidate {
    #[serde(default)]
    index: u64,
    #[serde(default)]
    content: Option<Content>,
    #[serde(default)]
    finish_reason: Option<String>,
}

#[derive(Deserialize)]
struct Content {
    #[serde(default)]
    parts: Option<Vec<Piece>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Piece {
    #[serde(default)]
    text: Option<String>,
    #[serde(default)]
    thought: bool,
    #[serde(default)]
    function_call: Option<FunctionCall>,
    #[serde(default)]
    thought_signature: Option<String>,
}

#[derive(Deserialize)]
struct FunctionCall {
    #[serde(default)]
    id: Option<String>,
    #[serde(default)]
    name: String,
    #[serde(default)]
    args: Option<Box<RawValue>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Feedback {
    #[serde(default)]
    block_reason: Option<String>,
}

#[derive(Deserialize)]
struct Counts {
    #[serde(default, rename = "promptTokenCount")]
    prompt: u64,
    #[serde(default, rename = "candidatesTokenCount")]
    candidates: u64,
    #[serde(default, rename = "thoughtsTokenCount")]
    thoughts: u64,
    #[serde(default, rename = "cachedContentTokenCount")]
    cached: u64,
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
        if let Some(counts) = chunk.usage_metadata {
            answer.usage = Some(Usage {
                input_tokens: counts.prompt,
                output_tokens: counts.candidates.saturating_add(counts.thoughts),
                cached_tokens: counts.cached,
            });
        }
        let candidates = chunk.candidates.into_iter().flatten();
        for candidate in candidates.filter(|candidate| candidate.index == 0) {
            let parts = candidate.content.and_then(|content| content.parts);
            for piece in parts.into_iter().flatten() {
                grow(piece, answer)?;
            }
            if let Some(reason) = candidate.finish_reason {
                self.finish(&reason)?;
            }
        }
        let blocked = chunk.prompt_feedback.and_then(|it| it.block_reason);
        if blocked.is_some() {
            self.stop = Some(Stop::Refused);
        }
        Ok(Flow::More)
    }

    fn is_complete(&self) -> bool {
        self.stop.is_some()
    }

    fn end(&mut self) -> Result<Stop, String> {
        self.stop
            .ok_or_else(|| "there was no `finishReason`".to_owned())
    }
}

impl Decoder {
    fn finish(&mut self, reason: &str) -> Result<(), Fault> {
        self.stop = Some(match reason {
            "" | "FINISH_REASON_UNSPECIFIED" => return Ok(()),
            "MAX_TOKENS" => Stop::Length,
            "SAFETY"
            | "RECITATION"
            | "BLOCKLIST"
            | "PROHIBITED_CONTENT"
            | "SPII"
            | "LANGUAGE"
            | "IMAGE_SAFETY"
            | "IMAGE_PROHIBITED_CONTENT" => Stop::Refused,
            // The model wrote a call that the service could not read; asked again, it writes another.
            "MALFORMED_FUNCTION_CALL" | "UNEXPECTED_TOOL_CALL" => {
                let reason = format!("the service stopped with `{reason}`");
                return Err(Fault::Cut(reason));
            }
            // What is missing is in the conversation, and would be missing the next time.
            "MISSING_THOUGHT_SIGNATURE" => {
                let reason = format!("the service stopped with `{reason}`");
                return Err(Fault::Complaint(Complaint::of_status(400, reason)));
            }
            _ => Stop::Done,
        });
        Ok(())
    }
}

fn grow(piece: Piece, answer: &mut Growing<'_, '_>) -> Result<(), Fault> {
    let signature = piece.thought_signature.filter(|it| !it.is_empty());
    answer.grow(signature.as_ref().map_or(0, String::len))?;
    if let Some(call) = piece.function_call {
        let mut opaque = Map::new();
        if let Some(id) = call.id.as_ref().filter(|id| !id.is_empty()) {
            opaque.insert("id".to_owned(), json!(id));
        }
        if let Some(signature) = signature {
            opaque.insert("thoughtSignature".to_owned(), json!(signature));
        }
        let id = call.id.unwrap_or_default();
        // The identifier is kept twice.
        answer.grow(2 * id.len() + call.name.len())?;
        let place = answer.begin(Part::Call(GrowingCall {
            id,
            name: call.name,
            opaque: (!opaque.is_empty()).then_some(Value::Object(opaque)),
            ..GrowingCall::default()
        }))?;
        return match call.args {
            Some(arguments) => answer.take_arguments(place, &arguments),
            None => Ok(()),
        };
    }
    let text = piece.text.unwrap_or_default();
    if !piece.thought {
        answer.text(&text)?;
    }
    match signature {
        // What belongs to a text follows it, as a thought without words.
        Some(signature) => {
            let place = if piece.thought {
                answer.reasoning(&text)?
            } else {
                answer.begin(Part::Reasoning {
                    text: String::new(),
                    opaque: None,
                })?
            };
            if let Some(Part::Reasoning { opaque, .. }) = answer.part(place) {
                *opaque = Some(json!({ "thoughtSignature": signature }));
            }
        }
        None if piece.thought => {
            answer.reasoning(&text)?;
        }
        None => {}
    }
    Ok(())
}
