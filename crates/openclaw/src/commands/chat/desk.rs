//! Where the messages come from: a line editor, a terminal that can't have one, or no terminal at all.

use std::io::{IsTerminal as _, stdin};

use openclaw_content::{shown_line, shown_text};
use openclaw_engine::Engine;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use crate::commands::chat::history::Remembered;
use crate::commands::chat::suggest::suggestions;
use crate::commands::keyboard::{Keyboard, Pressed, Setup, Wanted};
use crate::commands::turn::Answers;
use crate::commands::typed::{TooLong, Typed};
use crate::failure::Failure;
use crate::output::Output;
use crate::signals::Diverted;
use crate::terminal::{self, Unseen};

/// How many lines a message can have where each is typed for itself.
const MOST_LINES: usize = 10_000;

/// What sits in front of the conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Seating {
    /// A person at a terminal that can be edited on.
    Editor,
    /// A person at a terminal that only takes lines, or that the replies don't go to.
    Lines,
    /// A program or a file: each line is a message, and nobody can be asked.
    Nobody,
}

impl Seating {
    /// Finds out what sits here, and what was typed meanwhile.
    pub(super) fn find(output: &Output) -> (Self, String) {
        if !stdin().is_terminal() {
            return (Self::Nobody, String::new());
        }
        // Editors write to both streams.
        if !output.is_watched() || !output.is_terminal() {
            return (Self::Lines, String::new());
        }
        match terminal::tells_cursor() {
            Some(typed) => (Self::Editor, begun(&typed)),
            None => (Self::Lines, String::new()),
        }
    }

    /// Whether a person is there.
    pub(super) fn is_person(self) -> bool {
        self != Self::Nobody
    }
}

/// Where the messages come from.
pub(super) struct Desk {
    kind: Kind,
    /// Questions of the editor how a message can go on.
    wanted: mpsc::Receiver<Wanted>,
}

enum Kind {
    Editor {
        keyboard: Keyboard,
        _hidden: Hidden,
    },
    Lines {
        /// Whether a question would be seen.
        is_watched: bool,
    },
    Nobody,
}

/// What holds between two lines of an editor: keys are not shown, and whoever suspends us gets the
/// terminal as it was.
struct Hidden {
    _keys: Unseen,
    _suspending: JoinSet<()>,
}

impl Hidden {
    fn now() -> Self {
        let mut suspending = JoinSet::new();
        suspending.spawn(terminal::suspend_when_asked());
        Self {
            _keys: Unseen::now(),
            _suspending: suspending,
        }
    }
}

/// What comes next.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// A message or a command.
    Line(String),
    /// Ctrl-C.
    Interrupt,
    /// A line that is longer than any message may be; it is left out.
    TooLong,
    /// Nothing any more.
    End,
}

impl Desk {
    /// Takes a seat.
    pub(super) fn open(
        seating: Seating,
        begun: String,
        remembered: Option<Remembered>,
        output: &Output,
    ) -> Self {
        let is_watched = output.is_watched();
        let (ask, wanted) = mpsc::channel(1);
        let kind = match seating {
            Seating::Nobody => Kind::Nobody,
            Seating::Lines => Kind::Lines { is_watched },
            Seating::Editor => {
                let setup = Setup {
                    remembered: remembered.as_ref().map(Remembered::all).unwrap_or_default(),
                    keep: Box::new(move |line| {
                        if let Some(remembered) = &remembered {
                            remembered.keep(line);
                        }
                    }),
                    suggestions: ask,
                    begun,
                    is_coloured: output.messages_page().coloured,
                };
                match Keyboard::start(setup) {
                    Ok(keyboard) => Kind::Editor {
                        keyboard,
                        _hidden: Hidden::now(),
                    },
                    Err(error) => {
                        tracing::warn!("lines can't be edited: {error}");
                        Kind::Lines { is_watched }
                    }
                }
            }
        };
        Self { kind, wanted }
    }

    /// Where answers come from; none, if nobody can be asked.
    pub(super) fn answers(&self) -> Option<Answers<'_>> {
        match &self.kind {
            Kind::Editor { keyboard, .. } => Some(Answers::Keyboard(keyboard)),
            Kind::Lines { is_watched: true } => Some(Answers::Typed(Typed::here())),
            Kind::Lines { is_watched: false } | Kind::Nobody => None,
        }
    }

    /// Waits for what comes next.
    pub(super) async fn next(
        &mut self,
        prompt: &str,
        output: &mut Output,
        engine: &dyn Engine,
        agent: Option<&str>,
        interrupts: &mut Diverted,
    ) -> Result<Next, Failure> {
        interrupts.forget();
        if let Kind::Editor { keyboard, .. } = &self.kind {
            let wanted = &mut self.wanted;
            match edited(keyboard, wanted, prompt, engine, agent, interrupts).await {
                Ok(next) => return Ok(next),
                Err(reason) => {
                    let reason = shown_line(&reason, 300);
                    output.explain(&format!("(lines can't be edited here: {reason})\n"))?;
                    self.kind = Kind::Lines { is_watched: true };
                }
            }
        }
        let prompt = match self.kind {
            Kind::Nobody => None,
            Kind::Editor { .. } | Kind::Lines { .. } => Some(prompt),
        };
        lines(Typed::here(), prompt, output, interrupts).await
    }
}

/// A message from the editor, or why it can't be used any more.
async fn edited(
    keyboard: &Keyboard,
    wanted: &mut mpsc::Receiver<Wanted>,
    prompt: &str,
    engine: &dyn Engine,
    agent: Option<&str>,
    interrupts: &mut Diverted,
) -> Result<Next, String> {
    {
        let mut line = std::pin::pin!(keyboard.message(prompt));
        loop {
            tokio::select! {
                biased;
                pressed = &mut line => return match pressed {
                    Pressed::Line(line) => Ok(Next::Line(line)),
                    Pressed::Interrupt => Ok(Next::Interrupt),
                    Pressed::End => Ok(Next::End),
                    Pressed::Broken(reason) => Err(reason),
                },
                Some(wanted) = wanted.recv() => {
                    let suggested = suggestions(engine, agent, &wanted.text).await;
                    // Whoever asked may have gone on typing.
                    let _ = wanted.answer.try_send(suggested);
                }
                () = interrupts.next() => break,
            }
        }
    }
    keyboard.rest().await;
    Ok(Next::Interrupt)
}

/// A message from lines that are typed; with a prompt, one that ends with a backslash goes on.
async fn lines(
    typed: &Typed,
    prompt: Option<&str>,
    output: &mut Output,
    interrupts: &mut Diverted,
) -> Result<Next, Failure> {
    if let Some(prompt) = prompt {
        output.explain(prompt)?;
    }
    let mut message = String::new();
    for _ in 0..MOST_LINES {
        let line = tokio::select! {
            biased;
            line = typed.next_line() => line,
            () = interrupts.next() => return Ok(Next::Interrupt),
        };
        let line = match line {
            Some(Ok(line)) => line,
            Some(Err(TooLong)) => return Ok(Next::TooLong),
            None => return Ok(Next::End),
        };
        if prompt.is_none() {
            return Ok(Next::Line(line));
        }
        message.push_str(&without_reports(&line));
        if !message.ends_with('\\') {
            break;
        }
        message.pop();
        message.push('\n');
        output.explain("… ")?;
    }
    Ok(Next::Line(message))
}

/// What was typed before there was an editor, as its text. A line that has ended is not sent: nobody saw
/// whom it would go to.
fn begun(typed: &str) -> String {
    let lines = typed.replace("\r\n", "\n").replace('\r', "\n");
    shown_text(&lines).trim_end().to_owned()
}

/// A line without what a terminal said too late about its cursor.
fn without_reports(line: &str) -> String {
    let mut text = String::new();
    let mut rest = line;
    while let Some(at) = rest.find("\u{1b}[") {
        let (before, report) = rest.split_at(at);
        let body = report.trim_start_matches("\u{1b}[");
        let digits = body.trim_start_matches(|it: char| it.is_ascii_digit() || it == ';');
        match digits
            .strip_prefix('R')
            .filter(|_| digits.len() < body.len())
        {
            Some(after) => {
                text.push_str(before);
                rest = after;
            }
            None => {
                let (kept, after) = rest.split_at(at + 2);
                text.push_str(kept);
                rest = after;
            }
        }
    }
    text.push_str(rest);
    text
}

#[cfg(test)]
mod tests;
