//! What Gemini is asked.

use serde::ser::{Serialize, SerializeMap as _, Serializer};
use serde_json::Value;

use crate::wire::Asking;
use crate::wire::history::{Answered, Called, Document, Piece, Said, Side};
use crate::wire::particulars::google_name;
use crate::wire::pieces::{Arguments, Each, whole};

/// What the service takes in place of a signature for a call that another model asked for.
const UNSIGNED: &str = "skip_thought_signature_validator";

/// A request.
pub(in crate::wire) struct Body<'a>(pub(in crate::wire) &'a Asking<'a>);

#[derive(serde::Serialize)]
struct Spoken<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    role: Option<&'static str>,
    parts: Vec<Part<'a>>,
}

#[derive(Default, serde::Serialize)]
#[serde(rename_all = "camelCase")]
struct Part<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<&'a str>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    thought: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    inline_data: Option<InlineData<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    function_call: Option<FunctionCall<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    function_response: Option<FunctionResponse<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    thought_signature: Option<&'a str>,
}

#[derive(serde::Serialize)]
#[serde(rename_all = "camelCase")]
struct InlineData<'a> {
    mime_type: &'a str,
    data: &'a str,
}

#[derive(serde::Serialize)]
struct FunctionCall<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'a str>,
    name: &'a str,
    args: Arguments<'a>,
}

#[derive(serde::Serialize)]
struct FunctionResponse<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'a str>,
    name: &'a str,
    response: Outcome<'a>,
}

#[derive(serde::Serialize)]
#[serde(rename_all = "lowercase")]
enum Outcome<'a> {
    Output(std::borrow::Cow<'a, str>),
    Error(std::borrow::Cow<'a, str>),
}

#[derive(serde::Serialize)]
#[serde(rename_all = "camelCase")]
struct GenerationConfig {
    max_output_tokens: u64,
}

impl Serialize for Body<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let asking = self.0;
        let mut body = serializer.serialize_map(None)?;
        let system = whole(asking.system);
        if !system.trim().is_empty() {
            let parts = vec![text(&system)];
            body.serialize_entry("systemInstruction", &Spoken { role: None, parts })?;
        }
        if let Some(tools) = &asking.tools {
            body.serialize_entry("tools", tools)?;
        }
        // Calls without signatures are refused by the newer models, and not every name says how new
        // its model is.
        let name = google_name(asking.model);
        let is_older = name.starts_with("gemini-1.") || name.starts_with("gemini-2.");
        let needs_signatures = !is_older;
        let sides = || {
            let sides = asking.sides.iter();
            sides.map(|side| SpokenSide(side, needs_signatures))
        };
        body.serialize_entry("contents", &Each(sides))?;
        if let Some(max_output_tokens) = asking.max_tokens {
            let config = GenerationConfig { max_output_tokens };
            body.serialize_entry("generationConfig", &config)?;
        }
        body.end()
    }
}

struct SpokenSide<'a>(&'a Side<'a>, bool);

impl Serialize for SpokenSide<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(side, needs_signatures) = *self;
        match side {
            Side::User { answers, pieces } => {
                let media: Vec<Piece<'_>> = answers
                    .iter()
                    .filter_map(Answered::media)
                    .flatten()
                    .collect();
                let answers = answers.iter().map(answer);
                let rest = media.iter().chain(pieces).map(part);
                Spoken {
                    role: Some("user"),
                    parts: answers.chain(rest).collect(),
                }
                .serialize(serializer)
            }
            Side::Assistant(said) => Spoken {
                role: Some("model"),
                parts: said_parts(said, needs_signatures),
            }
            .serialize(serializer),
        }
    }
}

fn text(text: &str) -> Part<'_> {
    Part {
        text: Some(text),
        ..Part::default()
    }
}

fn part<'a>(piece: &'a Piece<'a>) -> Part<'a> {
    match piece {
        Piece::Text(words) => text(words),
        Piece::Image { mime_type, data } => Part {
            inline_data: Some(InlineData { mime_type, data }),
            ..Part::default()
        },
        Piece::Document(document) => Part {
            inline_data: Some(InlineData {
                mime_type: Document::TYPE,
                data: document.data,
            }),
            ..Part::default()
        },
    }
}

fn field<'a>(opaque: Option<&'a Value>, name: &str) -> Option<&'a str> {
    opaque?.get(name)?.as_str()
}

fn answer<'a>(answer: &'a Answered<'a>) -> Part<'a> {
    let text = answer.text();
    Part {
        function_response: Some(FunctionResponse {
            id: field(answer.opaque, "id"),
            name: &answer.name,
            response: if answer.is_error {
                Outcome::Error(text)
            } else {
                Outcome::Output(text)
            },
        }),
        ..Part::default()
    }
}

fn said_parts<'a>(said: &'a [Said<'a>], needs_signatures: bool) -> Vec<Part<'a>> {
    let mut is_first_call = true;
    let parts = said.iter().filter_map(|said| match said {
        Said::Text(words) => Some(text(words)),
        Said::Reasoning { text, opaque } => Some(Part {
            text: Some(text),
            thought: !text.is_empty(),
            thought_signature: Some(field(Some(opaque), "thoughtSignature")?),
            ..Part::default()
        }),
        Said::Call(call) => {
            // Only the first of several at once has one.
            let is_first = std::mem::replace(&mut is_first_call, false);
            Some(called(call, needs_signatures && is_first))
        }
    });
    parts.collect()
}

fn called<'a>(call: &'a Called<'a>, needs_signature: bool) -> Part<'a> {
    let signature = field(call.opaque, "thoughtSignature");
    Part {
        function_call: Some(FunctionCall {
            id: field(call.opaque, "id"),
            name: &call.name,
            args: Arguments(call.arguments),
        }),
        thought_signature: signature.or_else(|| needs_signature.then_some(UNSIGNED)),
        ..Part::default()
    }
}
