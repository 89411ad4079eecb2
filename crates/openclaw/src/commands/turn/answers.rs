//! Where the answers of the person come from.

use std::time::Instant;

use crate::commands::keyboard::{Keyboard, Pressed};
use crate::commands::typed::Typed;
use crate::failure::Failure;
use crate::output::Output;

/// Where the answers of the person come from.
#[derive(Clone, Copy)]
pub(in crate::commands) enum Answers<'a> {
    /// Lines of the standard input.
    Typed(&'a Typed),
    /// A line editor.
    Keyboard(&'a Keyboard),
}

/// What came of a question.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Said {
    /// A line was typed.
    Line(String),
    /// No more will be typed.
    Nothing,
    /// The person wants the turn to stop.
    Stop,
    /// Nobody wants to know any more.
    Withdrawn,
}

/// What somebody says who was asked for a yes or a no; none, if it is neither.
pub(in crate::commands) fn yes_or_no(line: &str) -> Option<bool> {
    match line.trim().to_lowercase().as_str() {
        "y" | "yes" => Some(true),
        "n" | "no" => Some(false),
        _ => None,
    }
}

impl Answers<'_> {
    /// Shows what is to be answered, where no editor does.
    pub(super) fn prompt(self, prompt: &str, output: &mut Output) -> Result<(), Failure> {
        match self {
            Self::Typed(_) => output.explain(prompt),
            Self::Keyboard(_) => Ok(()),
        }
    }

    /// Forgets what was typed before the next line is asked for.
    pub(super) fn forget(self) {
        match self {
            Self::Typed(typed) => typed.forget(),
            Self::Keyboard(keyboard) => keyboard.forget(),
        }
    }

    /// Waits until the terminal is free again, after somebody ceased to wait for an answer.
    pub(super) async fn rest(self) {
        match self {
            Self::Typed(_) => {}
            Self::Keyboard(keyboard) => keyboard.rest().await,
        }
    }

    /// The next line that is typed after a moment: what was typed before a question could be read is no
    /// answer to it.
    pub(super) async fn next(self, prompt: &str, since: Instant) -> Said {
        match self {
            Self::Typed(typed) => match typed.next_since(since).await {
                Some(line) => Said::Line(line),
                None => Said::Nothing,
            },
            Self::Keyboard(keyboard) => match keyboard.answer(prompt).await {
                Pressed::Line(line) => Said::Line(line),
                Pressed::Interrupt => Said::Stop,
                Pressed::End | Pressed::Broken(_) => Said::Nothing,
            },
        }
    }
}
