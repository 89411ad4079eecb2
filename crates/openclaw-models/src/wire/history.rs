//! A conversation as services want to have it: two sides in turn, every call answered at once.

use std::borrow::Cow;
use std::collections::HashSet;

use openclaw_conversation::{
    AnswerPart, AssistantMessage, AssistantPart, Blob, CallArguments, Media, Message, Opaque,
    ToolAnswer, UserPart,
};
use serde_json::{Map, Value};

use crate::wire::names::{IdRule, call_id, tool_name};

/// What stands for a beginning that is not there: a conversation begins with a person.
const BEGINNING: &str = "(The conversation goes on.)";
/// What stands for an answer that is not there.
const UNANSWERED: &str = "The call was not answered: it was interrupted.";

/// How a service wants to have a conversation.
pub(crate) struct Manner<'a> {
    /// Whose opaque parts it understands; nobody's where it is to have none.
    pub(crate) owner: Option<&'a str>,
    /// Which identifiers of calls it takes.
    pub(crate) ids: IdRule,
    /// The types of images that it takes; none where the model takes no images.
    pub(crate) images: &'a [&'static str],
    /// Whether it takes documents.
    pub(crate) documents: bool,
}

/// One side's turn.
pub(crate) enum Side<'a> {
    /// Answers of tools, then what a person said.
    User {
        answers: Vec<Answered<'a>>,
        pieces: Vec<Piece<'a>>,
    },
    /// What a model said.
    Assistant(Vec<Said<'a>>),
}

/// A piece of what a person or a tool said; never empty.
pub(crate) enum Piece<'a> {
    Text(Cow<'a, str>),
    Image {
        mime_type: &'a str,
        data: &'a str,
    },
    /// A PDF.
    Document(Document<'a>),
}

/// A PDF.
#[derive(Clone)]
pub(crate) struct Document<'a> {
    /// Cleaned, where it has one.
    pub(crate) name: Option<String>,
    pub(crate) data: &'a str,
}

impl Document<'_> {
    /// Its type.
    pub(crate) const TYPE: &'static str = "application/pdf";

    /// Its name as that of a file: services go by how it ends, and want one.
    pub(crate) fn file_name(&self) -> String {
        match &self.name {
            None => "document.pdf".to_owned(),
            Some(name) if name.to_ascii_lowercase().ends_with(".pdf") => name.clone(),
            Some(name) => format!("{name}.pdf"),
        }
    }
}

/// A piece of what a model said.
pub(crate) enum Said<'a> {
    Text(&'a str),
    /// Only where it has something for this service.
    Reasoning {
        text: &'a str,
        opaque: &'a Value,
    },
    Call(Called<'a>),
}

/// A call.
pub(crate) struct Called<'a> {
    pub(crate) id: Cow<'a, str>,
    pub(crate) name: Cow<'a, str>,
    /// Nothing where they were broken: the answer says so.
    pub(crate) arguments: Option<&'a Map<String, Value>>,
    pub(crate) opaque: Option<&'a Value>,
}

/// The answer to a call.
pub(crate) struct Answered<'a> {
    pub(crate) id: Cow<'a, str>,
    pub(crate) name: Cow<'a, str>,
    pub(crate) pieces: Vec<Piece<'a>>,
    pub(crate) is_error: bool,
    /// Of the call.
    pub(crate) opaque: Option<&'a Value>,
}

impl<'a> Answered<'a> {
    /// Its texts.
    pub(crate) fn texts(&self) -> impl Iterator<Item = &str> {
        texts(&self.pieces)
    }

    /// Its texts as one.
    pub(crate) fn text(&self) -> Cow<'_, str> {
        joined(self.texts())
    }

    /// Its images and documents, after words that say whose they are, for services that take none in
    /// an answer.
    pub(crate) fn media(&self) -> Option<impl Iterator<Item = Piece<'a>> + use<'a>> {
        let media: Vec<Piece<'a>> = self.pieces.iter().filter_map(Piece::media).collect();
        let is_image = |piece: &Piece<'_>| matches!(piece, Piece::Image { .. });
        let which = match &*media {
            [] => return None,
            [Piece::Image { .. }] => "The image",
            [_] => "The document",
            several if several.iter().all(is_image) => "The images",
            _ => "The files",
        };
        let words = format!(
            "{which} that the call {} of {} returned (untrusted external content):",
            self.id, self.name
        );
        Some(std::iter::once(Piece::Text(Cow::Owned(words))).chain(media))
    }
}

impl<'a> Piece<'a> {
    /// It, unless it is a text.
    fn media(&self) -> Option<Piece<'a>> {
        match self {
            Self::Image { mime_type, data } => Some(Piece::Image { mime_type, data }),
            Self::Document(document) => Some(Piece::Document(document.clone())),
            Self::Text(_) => None,
        }
    }

    /// Whether it is a text.
    pub(crate) fn is_text(&self) -> bool {
        matches!(self, Self::Text(_))
    }
}

/// The texts of pieces.
pub(crate) fn texts<'p>(pieces: &'p [Piece<'_>]) -> impl Iterator<Item = &'p str> {
    pieces.iter().filter_map(|piece| match piece {
        Piece::Text(text) => Some(text.as_ref()),
        Piece::Image { .. } | Piece::Document(_) => None,
    })
}

/// Texts as one, with an empty line between them.
pub(crate) fn joined<'t>(mut texts: impl Iterator<Item = &'t str>) -> Cow<'t, str> {
    let Some(first) = texts.next() else {
        return Cow::Borrowed("");
    };
    let Some(second) = texts.next() else {
        return Cow::Borrowed(first);
    };
    let mut joined = format!("{first}\n\n{second}");
    for text in texts {
        joined.push_str("\n\n");
        joined.push_str(text);
    }
    Cow::Owned(joined)
}

/// Puts a conversation in the form that a service takes. What would make it refuse the whole is left
/// out or made good: an answer without its call, a call without its answer.
pub(crate) fn sides<'a>(messages: &'a [Message], manner: &Manner<'_>) -> Vec<Side<'a>> {
    let mut sides = Vec::new();
    let mut rest = messages;
    while let Some((message, after)) = rest.split_first() {
        rest = after;
        match message {
            Message::User { parts } => {
                let pieces = parts.iter().filter_map(|part| user_piece(part, manner));
                add_user(&mut sides, Vec::new(), pieces.collect());
            }
            Message::Summary { text, .. } => {
                let piece = text_piece(text.as_str());
                add_user(&mut sides, Vec::new(), piece.into_iter().collect());
            }
            // Those that belong to a call were taken together with it.
            Message::Tool(_) => {}
            Message::Assistant(said) => {
                let count = rest
                    .iter()
                    .take_while(|message| matches!(message, Message::Tool(_)))
                    .count();
                let (answers, after) = rest.split_at(count);
                rest = after;
                add_assistant(&mut sides, said, answers, manner);
            }
        }
    }
    if !matches!(sides.first(), Some(Side::User { .. })) {
        let pieces = vec![Piece::Text(Cow::Borrowed(BEGINNING))];
        let answers = Vec::new();
        sides.insert(0, Side::User { answers, pieces });
    }
    sides
}

fn add_user<'a>(sides: &mut Vec<Side<'a>>, answers: Vec<Answered<'a>>, pieces: Vec<Piece<'a>>) {
    if answers.is_empty() && pieces.is_empty() {
        return;
    }
    match sides.last_mut() {
        Some(Side::User {
            answers: earlier,
            pieces: before,
        }) => {
            earlier.extend(answers);
            before.extend(pieces);
        }
        Some(Side::Assistant(_)) | None => sides.push(Side::User { answers, pieces }),
    }
}

fn add_assistant<'a>(
    sides: &mut Vec<Side<'a>>,
    message: &'a AssistantMessage,
    answers: &'a [Message],
    manner: &Manner<'_>,
) {
    let mut said = Vec::with_capacity(message.parts.len());
    let mut answered = Vec::new();
    let mut seen = HashSet::new();
    for part in &message.parts {
        match part {
            AssistantPart::Text { text } if is_blank(text) => {}
            AssistantPart::Text { text } => said.push(Said::Text(text)),
            AssistantPart::Reasoning { text, opaque } => {
                if let Some(opaque) = owned(opaque.as_ref(), manner) {
                    said.push(Said::Reasoning { text, opaque });
                }
            }
            // A second call of the same identifier could not be told from the first.
            AssistantPart::ToolCall(call) if !seen.insert(call.id.as_str()) => {}
            AssistantPart::ToolCall(call) => {
                let called = Called {
                    id: call_id(&call.id, manner.ids),
                    name: tool_name(&call.name),
                    arguments: match &call.arguments {
                        CallArguments::Object(object) => Some(object),
                        CallArguments::Broken { .. } => None,
                    },
                    opaque: owned(call.opaque.as_ref(), manner),
                };
                let answer = answers.iter().find_map(|message| match message {
                    Message::Tool(answer) if answer.call == call.id => Some(answer),
                    _ => None,
                });
                answered.push(answer_to(&called, answer, manner));
                said.push(Said::Call(called));
            }
        }
    }
    if said.is_empty() {
        return;
    }
    match sides.last_mut() {
        Some(Side::Assistant(before)) => before.extend(said),
        _ => sides.push(Side::Assistant(said)),
    }
    add_user(sides, answered, Vec::new());
}

fn answer_to<'a>(
    called: &Called<'a>,
    answer: Option<&'a ToolAnswer>,
    manner: &Manner<'_>,
) -> Answered<'a> {
    let pieces = match answer {
        None => vec![Piece::Text(Cow::Borrowed(UNANSWERED))],
        Some(answer) => {
            let pieces = answer.parts.iter().filter_map(|part| match part {
                AnswerPart::Text { text } => text_piece(text.as_str()),
                AnswerPart::Media(media) => Some(media_piece(media, manner)),
            });
            pieces.collect()
        }
    };
    Answered {
        id: called.id.clone(),
        name: called.name.clone(),
        pieces,
        is_error: answer.is_none_or(|answer| answer.is_error),
        opaque: called.opaque,
    }
}

fn user_piece<'a>(part: &'a UserPart, manner: &Manner<'_>) -> Option<Piece<'a>> {
    match part {
        UserPart::Text { text } => text_piece(text),
        UserPart::Foreign { text } => text_piece(text.as_str()),
        UserPart::Media(media) => Some(media_piece(media, manner)),
    }
}

fn text_piece(text: &str) -> Option<Piece<'_>> {
    (!is_blank(text)).then_some(Piece::Text(Cow::Borrowed(text)))
}

/// Services refuse texts of white space alone.
fn is_blank(text: &str) -> bool {
    text.trim_ascii_start().is_empty() || text.chars().all(char::is_whitespace)
}

fn media_piece<'a>(media: &'a Media, manner: &Manner<'_>) -> Piece<'a> {
    let mime_type = match media.mime_type.as_str() {
        "image/jpg" => "image/jpeg",
        other => other,
    };
    let is_image = manner.images.contains(&mime_type);
    let is_document = manner.documents && media.is_document();
    match &media.blob {
        Blob::Here(data) if is_image && !data.is_empty() => Piece::Image { mime_type, data },
        Blob::Here(data) if is_document && !data.is_empty() => Piece::Document(Document {
            name: media.name.as_deref().map(shown_name),
            data,
        }),
        Blob::Here(_) | Blob::Kept(_) => Piece::Text(instead(media)),
    }
}

/// What stands for media that can't be sent: what it says, in words, or what it is.
fn instead(media: &Media) -> Cow<'_, str> {
    match &media.text {
        Some(text) if !is_blank(text.as_str()) => Cow::Borrowed(text.as_str()),
        _ => Cow::Owned(named(media)),
    }
}

fn shown_name(name: &str) -> String {
    openclaw_content::shown_line(name, 100)
}

/// What a piece of media is.
fn named(media: &Media) -> String {
    let mime_type = openclaw_content::shown_line(&media.mime_type, 100);
    let name = match &media.name {
        Some(name) => format!(" {:?}", shown_name(name)),
        None => String::new(),
    };
    let what = kind(&media.mime_type);
    format!(
        "[{what}{name} of type {mime_type} with {} bytes, which can't be shown here]",
        media.bytes
    )
}

/// What something of a type is called.
fn kind(mime_type: &str) -> &'static str {
    let (general, special) = mime_type.split_once('/').unwrap_or((mime_type, ""));
    let special = special.strip_prefix("x-").unwrap_or(special);
    match (general, special) {
        ("image", _) => "an image",
        ("audio", _) => "a recording",
        ("video", _) => "a video",
        ("application", "pdf") => "a document",
        (
            "application",
            "zip" | "tar" | "gzip" | "bzip2" | "xz" | "zstd" | "7z-compressed" | "vnd.rar"
            | "rar-compressed" | "zip-compressed" | "compressed-tar",
        ) => "an archive",
        _ => "a file",
    }
}

fn owned<'a>(opaque: Option<&'a Opaque>, manner: &Manner<'_>) -> Option<&'a Value> {
    let opaque = opaque?;
    (Some(opaque.owner.as_str()) == manner.owner).then_some(&opaque.data)
}
