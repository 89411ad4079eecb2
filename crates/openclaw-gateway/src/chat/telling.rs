//! Texts of a turn in the order in which they are streamed.

use openclaw_engine::ReplyEvent;

/// What stands between two texts of a turn.
pub(super) const BETWEEN: &str = "\n\n";

/// Puts together what is streamed of a turn: each text once, whether it comes in parts or as a whole,
/// and an empty line between two of them. What was sent can't be taken back: a text that was retracted
/// stays, and the next one follows it as another one.
#[derive(Debug, Default)]
pub(super) struct Telling {
    /// The text that comes in parts, so far.
    current: String,
    /// Whether something of it was told. White space alone is held back: it may be all there is.
    is_told: bool,
    /// Whether anything was told.
    has_told: bool,
}

impl Telling {
    /// What is to be told when this is heard.
    pub(super) fn hear(&mut self, event: ReplyEvent) -> String {
        match event {
            ReplyEvent::Partial { text } => self.partial(text),
            ReplyEvent::Block { text }
            | ReplyEvent::Final { text }
            | ReplyEvent::Answer { text } => self.whole(text),
            ReplyEvent::Retracted { .. } | ReplyEvent::ToolStarted { .. } => {
                self.end_text();
                String::new()
            }
            ReplyEvent::Started { .. }
            | ReplyEvent::Reasoning { .. }
            | ReplyEvent::ToolProgress { .. }
            | ReplyEvent::ToolResult { .. }
            | ReplyEvent::Media { .. }
            | ReplyEvent::Visit { .. }
            | ReplyEvent::Notice { .. } => String::new(),
        }
    }

    /// Whether anything was told.
    pub(super) fn has_told(&self) -> bool {
        self.has_told
    }

    fn partial(&mut self, text: String) -> String {
        self.current.push_str(&text);
        if self.is_told {
            return text;
        }
        if self.current.trim().is_empty() {
            return String::new();
        }
        self.is_told = true;
        let current = self.current.clone();
        self.begun(current)
    }

    fn whole(&mut self, text: String) -> String {
        let is_told = self.is_told;
        let current = self.end_text();
        match text.strip_prefix(&*current) {
            Some(rest) if is_told => rest.to_owned(),
            _ if text.trim().is_empty() => String::new(),
            _ => self.begun(text),
        }
    }

    /// A text that begins, after those before it.
    fn begun(&mut self, text: String) -> String {
        if self.has_told {
            return BETWEEN.to_owned() + &text;
        }
        self.has_told = true;
        text
    }

    fn end_text(&mut self) -> String {
        self.is_told = false;
        std::mem::take(&mut self.current)
    }
}
