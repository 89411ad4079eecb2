//! What Ollama is asked.

use std::borrow::Cow;

use serde::ser::{Serialize, SerializeMap as _, SerializeSeq as _, Serializer};

use crate::wire::Asking;
use crate::wire::history::{Answered, Called, Piece, Said, Side, joined, texts};
use crate::wire::pieces::{Arguments, whole};

/// A request.
pub(in crate::wire) struct Body<'a>(pub(in crate::wire) &'a Asking<'a>);

#[derive(serde::Serialize)]
struct Spoken<'a> {
    role: &'static str,
    content: Cow<'a, str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    images: Vec<&'a str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tool_calls: Vec<Call<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_name: Option<&'a str>,
}

#[derive(serde::Serialize)]
struct Call<'a> {
    function: Function<'a>,
}

#[derive(serde::Serialize)]
struct Function<'a> {
    name: &'a str,
    arguments: Arguments<'a>,
}

#[derive(serde::Serialize)]
struct Options {
    num_ctx: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    num_predict: Option<u64>,
}

struct Messages<'a>(&'a Asking<'a>);

impl Serialize for Body<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let asking = self.0;
        let mut body = serializer.serialize_map(None)?;
        body.serialize_entry("model", asking.model)?;
        body.serialize_entry("stream", &true)?;
        // Without it a conversation is cut at its beginning, and nobody is told.
        let options = Options {
            num_ctx: asking.context_window,
            num_predict: asking.max_tokens,
        };
        body.serialize_entry("options", &options)?;
        if let Some(tools) = &asking.tools {
            body.serialize_entry("tools", tools)?;
        }
        body.serialize_entry("messages", &Messages(asking))?;
        body.end()
    }
}

impl Serialize for Messages<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let asking = self.0;
        let mut messages = serializer.serialize_seq(None)?;
        let system = whole(asking.system);
        if !system.trim().is_empty() {
            messages.serialize_element(&spoken("system", Cow::Owned(system)))?;
        }
        for side in &asking.sides {
            match side {
                Side::User { answers, pieces } => {
                    for answer in answers {
                        messages.serialize_element(&Spoken {
                            tool_name: Some(&answer.name),
                            ..spoken("tool", answer.text())
                        })?;
                    }
                    let images: Vec<Piece<'_>> = answers
                        .iter()
                        .filter_map(Answered::media)
                        .flatten()
                        .collect();
                    if !images.is_empty() {
                        messages.serialize_element(&person(&images))?;
                    }
                    if !pieces.is_empty() {
                        messages.serialize_element(&person(pieces))?;
                    }
                }
                Side::Assistant(said) => messages.serialize_element(&assistant(said))?,
            }
        }
        messages.end()
    }
}

fn spoken<'a>(role: &'static str, content: Cow<'a, str>) -> Spoken<'a> {
    Spoken {
        role,
        content,
        images: Vec::new(),
        tool_calls: Vec::new(),
        tool_name: None,
    }
}

fn person<'a>(pieces: &'a [Piece<'a>]) -> Spoken<'a> {
    let images = pieces.iter().filter_map(|piece| match piece {
        Piece::Image { data, .. } => Some(*data),
        // It is never asked to take documents.
        Piece::Text(_) | Piece::Document(_) => None,
    });
    Spoken {
        images: images.collect(),
        ..spoken("user", joined(texts(pieces)))
    }
}

fn assistant<'a>(said: &'a [Said<'a>]) -> Spoken<'a> {
    let all = said.iter().filter_map(|said| match said {
        Said::Text(text) => Some(*text),
        _ => None,
    });
    let calls = said.iter().filter_map(|said| match said {
        Said::Call(call) => Some(written_call(call)),
        _ => None,
    });
    Spoken {
        tool_calls: calls.collect(),
        ..spoken("assistant", joined(all))
    }
}

fn written_call<'a>(call: &'a Called<'a>) -> Call<'a> {
    Call {
        function: Function {
            name: &call.name,
            arguments: Arguments(call.arguments),
        },
    }
}
