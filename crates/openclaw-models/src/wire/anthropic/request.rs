//! What Anthropic is asked.

use std::borrow::Cow;

use serde::ser::{Serialize, SerializeMap as _, Serializer};
use serde_json::Value;

use crate::wire::Asking;
use crate::wire::history::{Answered, Document, Piece, Said, Side};
use crate::wire::pieces::{Arguments, Each};

/// What is asked where nobody says how long an answer may be: the service wants to know.
const MAX_TOKENS: u64 = 8192;
/// What stands for an error without a text: the service wants some.
const NO_REASON: &str = "The call failed, and the tool does not say why.";

/// A request.
pub(in crate::wire) struct Body<'a>(pub(in crate::wire) &'a Asking<'a>);

/// Marks what the service keeps: everything up to here.
#[derive(Clone, Copy, serde::Serialize)]
#[serde(tag = "type", rename_all = "lowercase")]
enum Cache {
    Ephemeral,
}

#[derive(serde::Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Block<'a> {
    Text {
        text: Cow<'a, str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        cache_control: Option<Cache>,
    },
    Image {
        source: Source<'a>,
        #[serde(skip_serializing_if = "Option::is_none")]
        cache_control: Option<Cache>,
    },
    Document {
        source: Source<'a>,
        #[serde(skip_serializing_if = "Option::is_none")]
        title: Option<String>,
        #[serde(skip_serializing_if = "Option::is_none")]
        cache_control: Option<Cache>,
    },
    Thinking {
        thinking: &'a str,
        signature: &'a str,
    },
    RedactedThinking {
        data: &'a str,
    },
    ToolUse {
        id: &'a str,
        name: &'a str,
        input: Arguments<'a>,
    },
    ToolResult {
        tool_use_id: &'a str,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        content: Vec<Block<'a>>,
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        is_error: bool,
        #[serde(skip_serializing_if = "Option::is_none")]
        cache_control: Option<Cache>,
    },
}

#[derive(serde::Serialize)]
#[serde(tag = "type", rename_all = "lowercase")]
enum Source<'a> {
    Base64 { media_type: &'a str, data: &'a str },
}

#[derive(serde::Serialize)]
struct Spoken<'a> {
    role: &'static str,
    content: Vec<Block<'a>>,
}

/// Stands where there are no tools.
#[derive(serde::Serialize)]
struct NoTool {
    name: &'static str,
    description: &'static str,
    input_schema: Anything,
}

#[derive(serde::Serialize)]
#[serde(tag = "type", rename_all = "lowercase")]
enum Anything {
    Object,
}

#[derive(serde::Serialize)]
#[serde(tag = "type", rename_all = "lowercase")]
enum ToolChoice {
    None,
}

impl NoTool {
    fn new() -> Self {
        Self {
            name: "none",
            description: "There are no tools.",
            input_schema: Anything::Object,
        }
    }
}

fn has_calls(side: &Side<'_>) -> bool {
    match side {
        Side::User { .. } => false,
        Side::Assistant(said) => said.iter().any(|said| matches!(said, Said::Call(_))),
    }
}

impl Serialize for Body<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let asking = self.0;
        let mut body = serializer.serialize_map(None)?;
        body.serialize_entry("model", asking.model)?;
        body.serialize_entry("max_tokens", &asking.max_tokens.unwrap_or(MAX_TOKENS))?;
        body.serialize_entry("stream", &true)?;
        if let Some(tools) = &asking.tools {
            body.serialize_entry("tools", tools)?;
        } else if asking.sides.iter().any(has_calls) {
            // The service refuses a conversation with calls in it where there are no tools.
            body.serialize_entry("tools", &[NoTool::new()])?;
            body.serialize_entry("tool_choice", &ToolChoice::None)?;
        }
        let system = system(asking);
        if !system.is_empty() {
            body.serialize_entry("system", &system)?;
        }
        let last = asking.sides.len().saturating_sub(1);
        let messages = || {
            let sides = asking.sides.iter().enumerate();
            sides.map(|(place, side)| spoken(side, place == last))
        };
        body.serialize_entry("messages", &Each(messages))?;
        body.end()
    }
}

/// What stays the same is kept by the service; the rest follows.
fn system<'a>(asking: &Asking<'a>) -> Vec<Block<'a>> {
    let stable = (asking.system.stable, Some(Cache::Ephemeral));
    let current = (asking.system.current, None);
    let texts = [stable, current].into_iter();
    texts
        .filter(|(text, _)| !text.trim().is_empty())
        .map(|(text, cache_control)| Block::Text {
            text: Cow::Borrowed(text),
            cache_control,
        })
        .collect()
}

fn spoken<'a>(side: &'a Side<'a>, is_last: bool) -> Spoken<'a> {
    match side {
        Side::User { answers, pieces } => {
            // The answers come first, and all of them in one message: the service insists.
            let mut content: Vec<Block<'a>> = answers.iter().map(answer).collect();
            // Those of errors follow: the service takes only text in them.
            let errors = answers.iter().filter(|answer| answer.is_error);
            let media = errors.filter_map(Answered::media).flatten();
            content.extend(media.map(owned_block));
            content.extend(pieces.iter().map(block));
            if is_last && let Some(last) = content.last_mut() {
                keep(last);
            }
            Spoken {
                role: "user",
                content,
            }
        }
        Side::Assistant(said) => Spoken {
            role: "assistant",
            content: said.iter().filter_map(said_block).collect(),
        },
    }
}

fn keep(block: &mut Block<'_>) {
    match block {
        Block::Text { cache_control, .. }
        | Block::Image { cache_control, .. }
        | Block::Document { cache_control, .. }
        | Block::ToolResult { cache_control, .. } => *cache_control = Some(Cache::Ephemeral),
        Block::Thinking { .. } | Block::RedactedThinking { .. } | Block::ToolUse { .. } => {}
    }
}

fn answer<'a>(answer: &'a Answered<'a>) -> Block<'a> {
    let pieces = answer.pieces.iter();
    let mut content: Vec<Block<'a>> = pieces
        .filter(|piece| !answer.is_error || piece.is_text())
        .map(block)
        .collect();
    if answer.is_error && content.is_empty() {
        content.push(text(Cow::Borrowed(NO_REASON)));
    }
    Block::ToolResult {
        tool_use_id: &answer.id,
        content,
        is_error: answer.is_error,
        cache_control: None,
    }
}

fn text(text: Cow<'_, str>) -> Block<'_> {
    Block::Text {
        text,
        cache_control: None,
    }
}

fn block<'a>(piece: &'a Piece<'a>) -> Block<'a> {
    owned_block(match piece {
        Piece::Text(words) => Piece::Text(Cow::Borrowed(words)),
        Piece::Image { mime_type, data } => Piece::Image { mime_type, data },
        Piece::Document(document) => Piece::Document(document.clone()),
    })
}

fn owned_block(piece: Piece<'_>) -> Block<'_> {
    match piece {
        Piece::Text(words) => text(words),
        Piece::Image { mime_type, data } => Block::Image {
            source: Source::Base64 {
                media_type: mime_type,
                data,
            },
            cache_control: None,
        },
        Piece::Document(document) => Block::Document {
            source: Source::Base64 {
                media_type: Document::TYPE,
                data: document.data,
            },
            title: document.name,
            cache_control: None,
        },
    }
}

fn said_block<'a>(said: &'a Said<'a>) -> Option<Block<'a>> {
    Some(match said {
        Said::Text(words) => text(Cow::Borrowed(words)),
        Said::Reasoning { text, opaque } => {
            let field = |name| opaque.get(name).and_then(Value::as_str);
            match (field("signature"), field("redacted")) {
                (Some(signature), _) => Block::Thinking {
                    thinking: text,
                    signature,
                },
                (None, Some(data)) => Block::RedactedThinking { data },
                (None, None) => return None,
            }
        }
        Said::Call(call) => Block::ToolUse {
            id: &call.id,
            name: &call.name,
            input: Arguments(call.arguments),
        },
    })
}
