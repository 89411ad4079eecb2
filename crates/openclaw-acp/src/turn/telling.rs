//! What an editor is told of a turn, event by event.
//!
//! What was told can't be taken back, and is told once: texts come in parts and then as a whole, of which
//! only the rest is told.

use std::path::{Path, PathBuf};

use agent_client_protocol::v1::schema::{
    AudioContent, BlobResourceContents, ContentBlock, ContentChunk, EmbeddedResource,
    EmbeddedResourceResource, ImageContent, MessageId, Notice, NoticeSeverity, SessionUpdate,
    ToolCallUpdate,
};
use openclaw_content::shown_line;
use openclaw_engine::{ReplyEvent, ReplyPart, ToolQuestion};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

use super::calls::{Begun, Calls};
use super::outbox::Item;
use crate::notices::{BESIDE, LONGEST, chunk, without_markup};

/// What stands between two texts.
const BETWEEN: &str = "\n\n";
/// What stands behind a text that does not count.
const RETRACTED: &str = "\n\n[the model was interrupted and starts again]\n\n";

/// What an editor was told of a turn.
pub(super) struct Telling {
    /// The name of the turn.
    turn: String,
    project: PathBuf,
    /// Whether the editor shows notices as such.
    shows_notices: bool,
    calls: Calls,
    /// The text that comes in parts, so far.
    current: String,
    /// Whether something of it was told. White space alone is held back: it may be all there is.
    is_told: bool,
    /// Whether the next text needs a line between it and what stands before it.
    needs_break: bool,
    /// How many texts were begun: each is a message of its own.
    texts: u64,
    /// Whether the model thought last.
    is_thinking: bool,
    /// How often it began to think.
    thoughts: u64,
}

impl Telling {
    pub(super) fn new(turn: &str, project: &Path, shows_notices: bool) -> Self {
        Self {
            turn: turn.to_owned(),
            project: project.to_owned(),
            shows_notices,
            calls: Calls::new(turn),
            current: String::new(),
            is_told: false,
            needs_break: false,
            texts: 0,
            is_thinking: false,
            thoughts: 0,
        }
    }

    /// What is to be told when this is heard.
    pub(super) fn hear(&mut self, event: ReplyEvent) -> Option<Item> {
        let was_thinking = std::mem::take(&mut self.is_thinking);
        match event {
            ReplyEvent::Started { .. } => None,
            ReplyEvent::Partial { text } => self.partial(text),
            ReplyEvent::Reasoning { text } => {
                self.is_thinking = true;
                self.thoughts += u64::from(!was_thinking);
                self.thought(text)
            }
            ReplyEvent::Retracted { .. } => {
                let is_told = self.is_told;
                self.end_text();
                is_told.then(|| {
                    self.needs_break = false;
                    self.words(RETRACTED.to_owned())
                })
            }
            ReplyEvent::Block { text } | ReplyEvent::Final { text } => self.whole(text),
            ReplyEvent::Answer { text } => self.whole(as_it_is(text)),
            ReplyEvent::ToolStarted {
                id,
                name,
                server,
                title,
                effect,
                arguments,
            } => {
                self.end_text();
                // A call stands between texts.
                self.needs_break = false;
                let begun = Begun {
                    id,
                    name: &name,
                    server: server.as_deref(),
                    title: title.as_deref(),
                    effect,
                    arguments,
                };
                Some(self.calls.begin(begun, &self.project))
            }
            ReplyEvent::ToolProgress { id, text } => Some(self.calls.go_on(&id, &text)),
            ReplyEvent::ToolResult { id, call, text } => Some(self.calls.end(&id, &call, &text)),
            ReplyEvent::Media { part } => self.media(part),
            ReplyEvent::Visit { url, why } => Some(self.notice(&why, Some(&url))),
            ReplyEvent::Notice { text } => Some(self.notice(&text, None)),
        }
    }

    /// The call that a question is about.
    pub(super) fn asked(&self, question: &ToolQuestion) -> ToolCallUpdate {
        self.calls.asked(question)
    }

    /// What is to be told when it may run.
    pub(super) fn allowed(&self, question: &ToolQuestion) -> Item {
        self.calls.allowed(&question.id)
    }

    fn partial(&mut self, text: String) -> Option<Item> {
        self.current.push_str(&text);
        if self.is_told {
            return Some(self.words(text));
        }
        if self.current.trim().is_empty() {
            return None;
        }
        self.is_told = true;
        let current = self.current.clone();
        Some(self.begun(current))
    }

    fn whole(&mut self, text: String) -> Option<Item> {
        let is_told = self.is_told;
        let current = self.end_text();
        match text.strip_prefix(&*current) {
            Some("") if is_told => None,
            Some(rest) if is_told => Some(self.words(rest.to_owned())),
            _ if text.trim().is_empty() => None,
            _ => Some(self.begun(text)),
        }
    }

    /// A text that begins, after those before it.
    fn begun(&mut self, text: String) -> Item {
        self.texts += 1;
        let text = if self.needs_break {
            BETWEEN.to_owned() + &text
        } else {
            text
        };
        self.needs_break = true;
        self.words(text)
    }

    fn end_text(&mut self) -> String {
        self.is_told = false;
        std::mem::take(&mut self.current)
    }

    /// More of the text that was begun last.
    fn words(&self, text: String) -> Item {
        let bytes = text.len() + BESIDE;
        let id = MessageId::new(format!("{}-{}", self.turn, self.texts));
        let chunk = chunk(text).message_id(id);
        Item::new(SessionUpdate::AgentMessageChunk(chunk), bytes)
    }

    fn thought(&self, text: String) -> Option<Item> {
        let bytes = text.len() + BESIDE;
        let id = MessageId::new(format!("{}-thought-{}", self.turn, self.thoughts));
        let is_empty = text.is_empty();
        let chunk = chunk(text).message_id(id);
        let item = Item::new(SessionUpdate::AgentThoughtChunk(chunk), bytes);
        (!is_empty).then_some(item)
    }

    fn notice(&mut self, text: &str, address: Option<&str>) -> Item {
        let text = shown_line(text, LONGEST);
        let address = address.map(|address| shown_line(address, LONGEST));
        let bytes = BESIDE + text.len() + address.as_ref().map_or(0, String::len);
        if self.shows_notices {
            let notice = Notice::new(NoticeSeverity::Info, text).description(address);
            return Item::new(SessionUpdate::Notice(notice), bytes);
        }
        let text = match address {
            Some(address) => format!("{}: {address}", without_markup(&text)),
            None => without_markup(&text),
        };
        if self.is_told {
            // The text goes on behind it.
            return self.words(format!("{BETWEEN}{text}{BETWEEN}"));
        }
        self.begun(text)
    }

    fn media(&mut self, part: ReplyPart) -> Option<Item> {
        let (content, bytes) = match part {
            ReplyPart::Text { text } => return self.whole(text),
            ReplyPart::Image { mime_type, data } => {
                let image = ImageContent::new(&*data, mime_type);
                (ContentBlock::Image(image), data.len())
            }
            ReplyPart::Audio { mime_type, data } => {
                let audio = AudioContent::new(&*data, mime_type);
                (ContentBlock::Audio(audio), data.len())
            }
            ReplyPart::Resource {
                name,
                mime_type,
                data,
            } => {
                let name = utf8_percent_encode(&name, NON_ALPHANUMERIC);
                let file = BlobResourceContents::new(&*data, format!("attachment://{name}"));
                let file = file.mime_type(mime_type);
                let file = EmbeddedResourceResource::BlobResourceContents(file);
                let file = EmbeddedResource::new(file);
                (ContentBlock::Resource(file), data.len())
            }
        };
        let update = SessionUpdate::AgentMessageChunk(ContentChunk::new(content));
        Some(Item::new(update, bytes + BESIDE))
    }
}

/// A text whose lines stay as they are where Markdown is read.
fn as_it_is(text: String) -> String {
    if !text.trim_end().contains('\n') {
        return text;
    }
    let ticks = text.split(|character| character != '`').map(str::len);
    let fence = "`".repeat(ticks.max().unwrap_or(0).max(2) + 1);
    format!("{fence}\n{}\n{fence}", text.trim_end())
}

#[cfg(test)]
mod tests;
