//! What a person sees of a turn: the reply on stdout, everything else on stderr.

use openclaw_content::{shown_line, shown_text};
use openclaw_engine::{ReplyEvent, ToolCallReport};

use crate::commands::engine::progress_line;
use crate::commands::turn::flow::Flow;
use crate::commands::turn::markdown::Markdown;
use crate::failure::Failure;
use crate::output::Output;
use crate::render::{Tone, media_line, name};

/// How much of a reason or a notice is shown.
const SHOWN: usize = 2_000;
/// How much of what a server says about a call that goes on.
const PROGRESS: usize = 200;
/// How many ticks pass before something is said to go on.
const QUICK: usize = 3;

/// How texts of the model are shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::commands) enum Manner {
    /// As they are written.
    #[default]
    Plain,
    /// As Markdown, where there are colours.
    Markdown,
    /// Not at all: a result for programs follows, and stdout is its own.
    Silent,
}

/// A call that is under way.
struct Running {
    /// What its result refers to.
    id: String,
    tool: String,
    /// How far it is, in the server's words.
    progress: Option<String>,
}

/// An address that the person should open.
pub(super) struct Visit {
    pub(super) url: String,
    pub(super) why: String,
}

/// What was shown so far.
#[derive(Default)]
pub(super) struct Stage {
    manner: Manner,
    /// Whether texts are shown as they come. Only a person can be told that one no longer counts.
    streams: bool,
    flow: Flow,
    /// What makes texts of Markdown, where they are shown as that.
    markdown: Option<Markdown>,
    /// The text that is being streamed, as it came.
    streamed: String,
    /// Whether the last line on stdout has no end yet.
    is_line_open: bool,
    has_said_something: bool,
    has_ended: bool,
    calls: Vec<Running>,
    ticks: usize,
    /// The session, once it is known.
    session_key: Option<String>,
    visits: Vec<Visit>,
    /// The servers that the person knows can't be used, and those that can't be now, as that is said.
    known_lost: Vec<String>,
    lost: Vec<String>,
}

impl Stage {
    /// An empty stage.
    pub(super) fn new(output: &Output, manner: Manner, known_lost: &[String]) -> Self {
        let is_shown = output.is_terminal() && manner != Manner::Silent;
        let makes_markdown = is_shown && manner == Manner::Markdown && output.is_coloured();
        Self {
            manner,
            streams: is_shown,
            markdown: makes_markdown.then(Markdown::default),
            known_lost: known_lost.to_vec(),
            ..Self::default()
        }
    }

    /// The session, once it is known.
    pub(super) fn session_key(&self) -> Option<&str> {
        self.session_key.as_deref()
    }

    /// How many calls are not over.
    pub(super) fn running(&self) -> usize {
        self.calls.len()
    }

    /// The servers that can't be used, as that was said.
    pub(super) fn into_lost(self) -> Vec<String> {
        self.lost
    }

    /// The addresses that the person should open and was not shown yet.
    pub(super) fn take_visits(&mut self) -> Vec<Visit> {
        std::mem::take(&mut self.visits)
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
            ReplyEvent::Answer { text } => {
                self.has_ended = true;
                self.say_as_it_is(&text, output)
            }
            ReplyEvent::Retracted { reason } => self.retract(&reason, output),
            ReplyEvent::ToolStarted { id, name, .. } => {
                self.calls.push(Running {
                    id,
                    tool: name,
                    progress: None,
                });
                Ok(())
            }
            ReplyEvent::ToolProgress { id, text } => {
                if let Some(call) = self.calls.iter_mut().find(|call| call.id == id) {
                    call.progress = Some(shown_line(&text, PROGRESS));
                }
                Ok(())
            }
            ReplyEvent::ToolResult { id, call, .. } => {
                self.calls.retain(|running| running.id != id);
                self.report(&call, output)
            }
            ReplyEvent::Media { part } if self.manner != Manner::Silent => {
                self.pause(output)?;
                output.print(&format!("{}\n", media_line(&part)))
            }
            ReplyEvent::Notice { text } => {
                if tells_loss(&text) {
                    self.lost.push(text.clone());
                    if self.known_lost.contains(&text) {
                        return Ok(());
                    }
                }
                self.pause(output)?;
                output.explain(&format!("note: {}\n", shown_line(&text, SHOWN)))
            }
            ReplyEvent::Started { session_key, .. } => {
                self.session_key = Some(session_key);
                Ok(())
            }
            ReplyEvent::Visit { url, why } => {
                self.visits.push(Visit { url, why });
                self.pause(output)
            }
            ReplyEvent::Partial { .. }
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
        let rest = match &mut self.markdown {
            Some(markdown) => markdown.push(&rest) + &markdown.finish(),
            None => rest,
        };
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
            [call] => match &call.progress {
                Some(progress) => format!("calling {}: {progress}", name(&call.tool)),
                None => format!("calling {}", name(&call.tool)),
            },
            calls => {
                let names: Vec<String> = calls.iter().map(|call| name(&call.tool)).collect();
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
        self.flow_on(piece, output)
    }

    /// Writes what of a text is known so far.
    fn flow_on(&mut self, piece: &str, output: &mut Output) -> Result<(), Failure> {
        let ready = self.flow.push(piece);
        let ready = match &mut self.markdown {
            Some(markdown) => markdown.push(&ready),
            None => ready,
        };
        self.write(&ready, output)
    }

    /// Shows a whole text, of which some may stand there already.
    fn say(&mut self, text: &str, output: &mut Output) -> Result<(), Failure> {
        let streamed = std::mem::take(&mut self.streamed);
        if self.manner == Manner::Silent {
            return Ok(());
        }
        match text.strip_prefix(streamed.as_str()) {
            Some(rest) if !streamed.is_empty() => {
                self.flow_on(rest, output)?;
                return self.pause(output);
            }
            _ => self.pause(output)?,
        }
        if text.trim().is_empty() {
            return Ok(());
        }
        self.separate(output)?;
        self.flow_on(text, output)?;
        self.pause(output)
    }

    /// Shows what a command answers: it is laid out already.
    fn say_as_it_is(&mut self, text: &str, output: &mut Output) -> Result<(), Failure> {
        if self.manner == Manner::Silent {
            return Ok(());
        }
        self.pause(output)?;
        self.separate(output)?;
        let text = shown_text(text);
        let end = if text.ends_with('\n') { "" } else { "\n" };
        output.print(&format!("{text}{end}"))
    }

    /// Takes back what was streamed.
    fn retract(&mut self, reason: &str, output: &mut Output) -> Result<(), Failure> {
        self.flow.clear();
        if let Some(markdown) = &mut self.markdown {
            markdown.clear();
        }
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
        let mut called = name(&call.name);
        if let Some(server) = &call.server {
            called = format!("{called} ({})", name(server));
        }
        let line = if call.is_error {
            let failed = page.paint(Tone::Bad, "failed");
            format!("· {called} … {failed}, {} ms", call.duration_ms)
        } else {
            page.paint(
                Tone::Quiet,
                &format!("· {called} … ok, {} ms", call.duration_ms),
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

/// Whether a notice says how a server is, and so will be heard in every turn until that changes.
fn tells_loss(notice: &str) -> bool {
    notice.starts_with("the server ") && notice.contains(" can't be used: ")
}

#[cfg(test)]
mod tests;
