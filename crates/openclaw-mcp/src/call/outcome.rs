//! How a call ended.

use std::time::{Duration, Instant};

use openclaw_content::{Media, ModelText, note};
use openclaw_mcp_client::ToolResult;

use crate::audit::CallOutcome;

/// How a call ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallEnd {
    /// With a result.
    Ok,
    /// With a result that says that it failed.
    ToolError,
    /// There is no such tool.
    UnknownTool,
    /// It is not allowed.
    Denied,
    /// A person said no.
    Rejected,
    /// Its arguments do not fit.
    InvalidArguments,
    /// It was not made.
    NotDone,
    /// It was not made, because a person has to log in.
    NeedsLogin,
    /// Nobody knows.
    Unknown,
}

impl CallEnd {
    /// Whether it is a failure.
    pub fn is_error(self) -> bool {
        self != Self::Ok
    }

    /// The word for it in the audit log.
    pub fn word(self) -> &'static str {
        self.audited().as_str()
    }

    pub(crate) fn audited(self) -> CallOutcome {
        match self {
            Self::Ok => CallOutcome::Ok,
            Self::ToolError => CallOutcome::ToolError,
            Self::Denied => CallOutcome::Denied,
            Self::Rejected => CallOutcome::Rejected,
            Self::InvalidArguments => CallOutcome::InvalidArguments,
            Self::NotDone | Self::NeedsLogin | Self::UnknownTool => CallOutcome::NotDone,
            Self::Unknown => CallOutcome::Unknown,
        }
    }
}

/// A part of what the model gets.
#[derive(Clone, Debug)]
pub enum Part {
    /// Text.
    Text(ModelText),
    /// Binary content, after a text that says what it is.
    Media {
        /// What it is.
        media: Media,
        /// What a file of it would be called, if the server says so; cleaned.
        name: Option<String>,
        /// Its bytes in base64.
        data: String,
    },
}

/// How a call ended, and what the model gets.
#[derive(Clone, Debug)]
pub struct ToolOutcome {
    /// What the model calls the tool, or what was asked for if there is none.
    pub name: String,
    /// The server, if there is such a tool.
    pub server: Option<String>,
    /// How it ended.
    pub end: CallEnd,
    /// What the model gets; of a result nothing where no model reads it.
    pub parts: Vec<Part>,
    /// What the server sent, if it came to that; our credentials are hidden in it.
    pub result: Option<ToolResult>,
    /// Why there is no result, in words for people; they may hold words of others.
    pub problem: Option<String>,
    /// The tools that were found, where it is a search for tools.
    pub found: Vec<String>,
    /// How long it took.
    pub duration: Duration,
}

impl ToolOutcome {
    /// There is no such tool.
    pub(super) fn unknown(
        asked: &str,
        template: &'static str,
        names: &str,
        started: Instant,
    ) -> Self {
        let text = note(template, &[asked, names]);
        Self {
            name: asked.to_owned(),
            server: None,
            end: CallEnd::UnknownTool,
            problem: Some(text.as_str().to_owned()),
            parts: vec![Part::Text(text)],
            result: None,
            found: Vec::new(),
            duration: started.elapsed(),
        }
    }

    /// A tool of ours was called with something that it does not take.
    pub(super) fn refused(name: &str, text: ModelText, started: Instant) -> Self {
        Self {
            name: name.to_owned(),
            server: None,
            end: CallEnd::InvalidArguments,
            problem: Some(text.as_str().to_owned()),
            parts: vec![Part::Text(text)],
            result: None,
            found: Vec::new(),
            duration: started.elapsed(),
        }
    }

    /// All text that the model reads.
    pub fn text(&self) -> ModelText {
        let texts = self.parts.iter().filter_map(|part| match part {
            Part::Text(text) => Some(text),
            Part::Media { .. } => None,
        });
        ModelText::joined(texts)
    }
}
