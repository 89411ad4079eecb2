//! What the responses of OpenAI are asked.

use std::borrow::Cow;

use serde::ser::{Serialize, SerializeMap as _, SerializeSeq as _, Serializer};

use crate::wire::Asking;
use crate::wire::history::{Answered, Called, Document, Piece, Said, Side};
use crate::wire::pieces::{DataUrl, arguments_text, whole};
use crate::wire::responses::sealed;

/// A request.
pub(in crate::wire) struct Body<'a>(pub(in crate::wire) &'a Asking<'a>);

#[derive(serde::Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Item<'a> {
    Message {
        role: &'static str,
        content: Vec<Part<'a>>,
    },
    FunctionCall {
        call_id: &'a str,
        name: &'a str,
        arguments: String,
    },
    FunctionCallOutput {
        call_id: &'a str,
        output: Output<'a>,
    },
}

#[derive(serde::Serialize)]
#[serde(untagged)]
enum Output<'a> {
    Text(Cow<'a, str>),
    Parts(Vec<Part<'a>>),
}

#[derive(serde::Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Part<'a> {
    InputText {
        text: &'a str,
    },
    InputImage {
        image_url: DataUrl<'a>,
    },
    InputFile {
        filename: String,
        file_data: DataUrl<'a>,
    },
    OutputText {
        text: &'a str,
    },
}

struct Input<'a>(&'a [Side<'a>]);

impl Serialize for Body<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let asking = self.0;
        let mut body = serializer.serialize_map(None)?;
        body.serialize_entry("model", asking.model)?;
        body.serialize_entry("stream", &true)?;
        // The conversation is ours; what the service would remember comes back sealed instead.
        body.serialize_entry("store", &false)?;
        // Models that don't think refuse to be asked for it.
        if asking.asks_for_reasoning() {
            body.serialize_entry("include", &["reasoning.encrypted_content"])?;
        }
        if let Some(limit) = asking.max_tokens {
            body.serialize_entry("max_output_tokens", &limit)?;
        }
        let instructions = whole(asking.system);
        if !instructions.trim().is_empty() {
            body.serialize_entry("instructions", &instructions)?;
        }
        if let Some(tools) = &asking.tools {
            body.serialize_entry("tools", tools)?;
        }
        body.serialize_entry("input", &Input(&asking.sides))?;
        body.end()
    }
}

impl Serialize for Input<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut items = serializer.serialize_seq(None)?;
        for side in self.0 {
            match side {
                Side::User { answers, pieces } => {
                    for answer in answers {
                        items.serialize_element(&output(answer))?;
                    }
                    if !pieces.is_empty() {
                        items.serialize_element(&Item::Message {
                            role: "user",
                            content: pieces.iter().map(part).collect(),
                        })?;
                    }
                }
                Side::Assistant(said) => {
                    for said in said {
                        match said {
                            Said::Reasoning { opaque, .. } => {
                                if let Some(item) = sealed(opaque) {
                                    items.serialize_element(&item)?;
                                }
                            }
                            Said::Text(text) => items.serialize_element(&Item::Message {
                                role: "assistant",
                                content: vec![Part::OutputText { text }],
                            })?,
                            Said::Call(call) => items.serialize_element(&function_call(call))?,
                        }
                    }
                }
            }
        }
        items.end()
    }
}

fn function_call<'a>(call: &'a Called<'a>) -> Item<'a> {
    Item::FunctionCall {
        call_id: &call.id,
        name: &call.name,
        arguments: arguments_text(call),
    }
}

fn output<'a>(answer: &'a Answered<'a>) -> Item<'a> {
    Item::FunctionCallOutput {
        call_id: &answer.id,
        output: if answer.pieces.iter().all(Piece::is_text) {
            Output::Text(answer.text())
        } else {
            Output::Parts(answer.pieces.iter().map(part).collect())
        },
    }
}

fn part<'a>(piece: &'a Piece<'a>) -> Part<'a> {
    match piece {
        Piece::Text(text) => Part::InputText { text },
        Piece::Image { mime_type, data } => Part::InputImage {
            image_url: DataUrl { mime_type, data },
        },
        Piece::Document(document) => Part::InputFile {
            filename: document.file_name(),
            file_data: DataUrl {
                mime_type: Document::TYPE,
                data: document.data,
            },
        },
    }
}
