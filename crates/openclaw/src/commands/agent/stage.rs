//! What a person sees of a turn: the reply on stdout, everything else on stderr.

use openclaw_content::{shown_line, shown_text};
use openclaw_engine::{ReplyEvent, ToolCallReport};

use crate::commands::agent::flow::Flow;
use crate::commands::engine::progress_line;
use crate::failure::Failure;
use crate::output::Output;
use crate::render::{Tone, media_line, name};

/// How much of a reason or a notice is shown.
const SHOWN: usize = 2_000;
/// How many ticks pass before something is said to go on.
const QUICK: usize = 3;

/// What was shown so far.
#[derive(Default)]
pub(super) struct Stage {
    /// Whether a result for programs follows, so that stdout is its own.
    for_programs: bool,
    /// Whether texts are shown as they come. Only a person can be told that one no longer counts.
    streams: bool,
    flow: Flow,
    /// The text that is being streamed, as it came.
    streamed: String,
    /// Whether the last line on stdout has no end yet.
    is_line_open: bool,
    has_said_something: bool,
    has_ended: bool,
    /// The calls that are under way: what their results refer to, and their tools.
    calls: Vec<(String, String)>,
    ticks: usize,
}

impl Stage {
    /// An empty stage.
    pub(super) fn new(output: &Output, for_programs: bool) -> Self {
        Self {
            for_programs,
            streams: output.is_terminal() && !for_programs,
            ..Self::default()
        }
    }

    /// Shows what happened.
    pub(super) fn show(&mut self, event: ReplyEvent, output: &mut Output) -> Result<(), Failure> {
        self.ticks = 0;
        match event {
            ReplyEvent::Partial { text } if self.streams => self.stream(&text, output),
            ReplyEvent::Block { text } => self.say(&text, output),
            ReplyEvent::Final { text } => {
                self.has_ended = true;
                self.say(&text, output)
            }
            ReplyEvent::Retracted { reason } => self.retract(&reason, output),
            ReplyEvent::ToolStarted { id, name } => {
                self.calls.push((id, name));
                Ok(())
            }
            ReplyEvent::ToolResult { id, call, .. } => {
                self.calls.retain(|(running, _)| *running != id);
                self.report(&call, output)
            }
            ReplyEvent::Media { part } if !self.for_programs => {
                self.pause(output)?;
                output.print(&format!("{}\n", media_line(&part)))
            }
            ReplyEvent::Notice { text } => {
                self.pause(output)?;
                output.explain(&format!("note: {}\n", shown_line(&text, SHOWN)))
            }
            ReplyEvent::Started { .. }
            | ReplyEvent::Partial { .. }
            | ReplyEvent::Reasoning { .. }
            | ReplyEvent::Media { .. } => Ok(()),
        }
    }

    /// Shows the last text, unless that has been heard.
    pub(super) fn conclude(&mut self, reply: &str, output: &mut Output) -> Result<(), Failure> {
        if self.has_ended {
            return Ok(());
        }
        self.say(reply, output)
    }

    /// Ends the line that is being written, so that something else can be said.
    pub(super) fn pause(&mut self, output: &mut Output) -> Result<(), Failure> {
        let rest = self.flow.finish();
        self.write(&rest, output)?;
        if self.is_line_open {
            self.write("\n", output)?;
        }
        Ok(())
    }

    /// Says what is going on, where that does not get in the way.
    pub(super) fn tick(&mut self, output: &mut Output) {
        self.ticks += 1;
        // The cursor stands behind the text; wiping off its line would wipe off the text.
        if self.is_line_open || self.ticks <= QUICK {
            return;
        }
        let what = match self.calls.as_slice() {
            [] => "thinking".to_owned(),
            calls => {
                let names: Vec<String> = calls.iter().map(|(_, tool)| name(tool)).collect();
                format!("calling {}", names.join(", "))
            }
        };
        output.progress(Some(&progress_line(self.ticks, &what)));
    }

    /// Shows the next piece of a text.
    fn stream(&mut self, piece: &str, output: &mut Output) -> Result<(), Failure> {
        if self.streamed.is_empty() && !piece.is_empty() {
            self.separate(output)?;
        }
        self.streamed.push_str(piece);
        let ready = self.flow.push(piece);
        self.write(&ready, output)
    }

    /// Shows a whole text, of which some may stand there already.
    fn say(&mut self, text: &str, output: &mut Output) -> Result<(), Failure> {
        let streamed = std::mem::take(&mut self.streamed);
        if self.for_programs {
            return Ok(());
        }
        match text.strip_prefix(streamed.as_str()) {
            Some(rest) if !streamed.is_empty() => {
                let ready = self.flow.push(rest);
                self.write(&ready, output)?;
                return self.pause(output);
            }
            _ => self.pause(output)?,
        }
        if text.trim().is_empty() {
            return Ok(());
        }
        self.separate(output)?;
        self.write(&shown_text(text), output)?;
        self.pause(output)
    }

    /// Takes back what was streamed.
    fn retract(&mut self, reason: &str, output: &mut Output) -> Result<(), Failure> {
        self.flow.clear();
        self.streamed.clear();
        self.pause(output)?;
        let reason = shown_line(reason, SHOWN);
        output.explain(&format!("(asking again: {reason})\n"))
    }

    /// Says how a call ended, where somebody looks.
    fn report(&mut self, call: &ToolCallReport, output: &mut Output) -> Result<(), Failure> {
        if !output.is_watched() {
            return Ok(());
        }
        self.pause(output)?;
        let page = output.messages_page();
        let called = name(&call.name);
        let line = if call.is_error {
            let failed = page.paint(Tone::Bad, "failed");
            format!("· {called} … {failed}, {} ms", call.duration_ms)
        } else {
            page.paint(
                Tone::Quiet,
                &format!("· {called} … {} ms", call.duration_ms),
            )
        };
        output.explain(&format!("{line}\n"))
    }

    /// Leaves a line free between texts.
    fn separate(&mut self, output: &mut Output) -> Result<(), Failure> {
        if self.has_said_something {
            self.write("\n", output)?;
        }
        self.has_said_something = true;
        Ok(())
    }

    fn write(&mut self, text: &str, output: &mut Output) -> Result<(), Failure> {
        if text.is_empty() {
            return Ok(());
        }
        self.is_line_open = !text.ends_with('\n');
        output.print(text)
    }
}

#[cfg(test)]
mod tests;
