//! What a service with chat completions is asked.

use std::borrow::Cow;

use serde::ser::{Serialize, SerializeMap as _, SerializeSeq as _, Serializer};
use serde_json::Value;

use crate::wire::history::{Answered, Called, Document, Piece, Said, Side, joined, texts};
use crate::wire::particulars::is_thinking;
use crate::wire::pieces::{DataUrl, arguments_text, whole};
use crate::wire::{Asking, Host};

/// What stands for an answer without text: the service wants some.
const NO_TEXT: &str = "(no text)";
/// What stands between the answers of tools and a person.
const HEARD: &str = "(The tools have answered.)";

/// A request.
pub(in crate::wire) struct Body<'a>(pub(in crate::wire) &'a Asking<'a>);

#[derive(serde::Serialize)]
#[serde(tag = "role", rename_all = "lowercase")]
enum Spoken<'a> {
    System {
        content: String,
    },
    User {
        content: Content<'a>,
    },
    Assistant {
        content: Option<Cow<'a, str>>,
        #[serde(skip_serializing_if = "Option::is_none")]
        reasoning_content: Option<&'a str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        reasoning_details: Option<&'a Value>,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        tool_calls: Vec<Call<'a>>,
    },
    Tool {
        tool_call_id: &'a str,
        content: Cow<'a, str>,
    },
}

#[derive(serde::Serialize)]
#[serde(untagged)]
enum Content<'a> {
    /// Servers that know nothing of parts take it.
    Text(Cow<'a, str>),
    Parts(Vec<Part<'a>>),
}

#[derive(serde::Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Part<'a> {
    Text { text: &'a str },
    ImageUrl { image_url: ImageUrl<'a> },
    File { file: File<'a> },
}

#[derive(serde::Serialize)]
struct ImageUrl<'a> {
    url: DataUrl<'a>,
}

#[derive(serde::Serialize)]
struct File<'a> {
    filename: String,
    file_data: DataUrl<'a>,
}

#[derive(serde::Serialize)]
struct Call<'a> {
    id: &'a str,
    r#type: &'static str,
    function: Function<'a>,
}

#[derive(serde::Serialize)]
struct Function<'a> {
    name: &'a str,
    arguments: String,
}

#[derive(serde::Serialize)]
struct StreamOptions {
    include_usage: bool,
}

struct Messages<'a>(&'a Asking<'a>);

impl Serialize for Body<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let asking = self.0;
        let mut body = serializer.serialize_map(None)?;
        body.serialize_entry("model", asking.model)?;
        body.serialize_entry("stream", &true)?;
        if asking.asks_for_usage() {
            let options = StreamOptions {
                include_usage: true,
            };
            body.serialize_entry("stream_options", &options)?;
        }
        if let Some(limit) = asking.max_tokens {
            // The newer models of OpenAI refuse the name that everybody else knows.
            let name = if asking.host == Host::OpenAi || is_thinking(asking.model) {
                "max_completion_tokens"
            } else {
                "max_tokens"
            };
            body.serialize_entry(name, &limit)?;
        }
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
        let content = whole(asking.system);
        if !content.trim().is_empty() {
            messages.serialize_element(&Spoken::System { content })?;
        }
        let last_person = asking
            .sides
            .iter()
            .rposition(|side| matches!(side, Side::User { pieces, .. } if !pieces.is_empty()));
        for (place, side) in asking.sides.iter().enumerate() {
            match side {
                Side::User { answers, pieces } => {
                    for answer in answers {
                        messages.serialize_element(&tool(answer))?;
                    }
                    let media: Vec<Piece<'_>> = answers
                        .iter()
                        .filter_map(Answered::media)
                        .flatten()
                        .collect();
                    let all: Vec<&Piece<'_>> = media.iter().chain(pieces).collect();
                    if asking.host == Host::Mistral && !answers.is_empty() && !all.is_empty() {
                        // There a person may not speak right after a tool.
                        messages.serialize_element(&Spoken::Assistant {
                            content: Some(Cow::Borrowed(HEARD)),
                            reasoning_content: None,
                            reasoning_details: None,
                            tool_calls: Vec::new(),
                        })?;
                    }
                    if !all.is_empty() {
                        let content = content_of(&all);
                        messages.serialize_element(&Spoken::User { content })?;
                    }
                }
                Side::Assistant(said) => {
                    let is_current = last_person.is_none_or(|person| place > person);
                    messages.serialize_element(&assistant(said, is_current))?;
                }
            }
        }
        messages.end()
    }
}

fn tool<'a>(answer: &'a Answered<'a>) -> Spoken<'a> {
    let text = answer.text();
    Spoken::Tool {
        tool_call_id: &answer.id,
        content: if text.is_empty() {
            Cow::Borrowed(NO_TEXT)
        } else {
            text
        },
    }
}

fn content_of<'a>(pieces: &[&'a Piece<'a>]) -> Content<'a> {
    if pieces.iter().all(|piece| piece.is_text()) {
        let all = pieces
            .iter()
            .flat_map(|piece| texts(std::slice::from_ref(*piece)));
        return Content::Text(joined(all));
    }
    let parts = pieces.iter().map(|piece| match piece {
        Piece::Text(text) => Part::Text { text },
        Piece::Image { mime_type, data } => Part::ImageUrl {
            image_url: ImageUrl {
                url: DataUrl { mime_type, data },
            },
        },
        Piece::Document(document) => Part::File {
            file: File {
                filename: document.file_name(),
                file_data: DataUrl {
                    mime_type: Document::TYPE,
                    data: document.data,
                },
            },
        },
    });
    Content::Parts(parts.collect())
}

fn assistant<'a>(said: &'a [Said<'a>], is_current: bool) -> Spoken<'a> {
    let all = said.iter().filter_map(|said| match said {
        Said::Text(text) => Some(*text),
        _ => None,
    });
    let content = Some(joined(all)).filter(|text| !text.is_empty());
    let calls = said.iter().filter_map(|said| match said {
        Said::Call(call) => Some(call),
        _ => None,
    });
    let tool_calls: Vec<Call<'_>> = calls.map(written_call).collect();
    // What was thought before a call belongs to what is being answered; of earlier turns services
    // don't want to know.
    let wants_reasoning = is_current && !tool_calls.is_empty();
    let opaque = said.iter().find_map(|said| match said {
        Said::Reasoning { text, opaque } if wants_reasoning => Some((*text, *opaque)),
        _ => None,
    });
    let reasoning_content = opaque.and_then(|(text, opaque)| {
        let field = opaque.get("field").and_then(Value::as_str);
        (field == Some("reasoning_content")).then_some(text)
    });
    let reasoning_details = opaque.and_then(|(_, opaque)| opaque.get("details"));
    // Some refuse a message that has neither; an empty text is taken by all.
    let needs_content = content.is_none() && tool_calls.is_empty();
    Spoken::Assistant {
        content: content.or_else(|| needs_content.then_some(Cow::Borrowed(""))),
        reasoning_content,
        reasoning_details,
        tool_calls,
    }
}

fn written_call<'a>(call: &'a Called<'a>) -> Call<'a> {
    Call {
        id: &call.id,
        r#type: "function",
        function: Function {
            name: &call.name,
            arguments: arguments_text(call),
        },
    }
}
