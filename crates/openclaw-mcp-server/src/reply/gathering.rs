//! What is heard of a turn, within bounds, until it goes back.

use openclaw_content::{clean_name, definition_text, frame_by_frame, shown_line};
use openclaw_engine::{ReplyEvent, ReplyReport};

use super::covered::{bare, uncovered};
use super::fitting::fitted;
use super::left_out::{LeftOut, Size, Why};
use super::media::HeldMedia;
use super::piece::{Piece, Said, Voice};
use super::{Limits, OutPart};

/// What goes back where there is nothing.
const NOTHING: &str = "(No response)";
/// How much of an address is shown, in bytes.
const ADDRESS: usize = 16 * 1024;
/// How much is shown of what an address is for, in characters.
const WHY: usize = 500;
/// How much of the message of a failure is shown, in bytes; of its hint, too.
const FAILURE: usize = 64 * 1024;

/// What was heard of a turn so far.
#[derive(Debug, Default)]
pub(crate) struct Gathering {
    limits: Limits,
    pieces: Vec<Piece>,
    /// How many pieces there were beyond those that are kept.
    surplus: usize,
    /// What was said since the last whole text.
    so_far: String,
    /// Whether the last text was heard.
    has_ended: bool,
    text_bytes: usize,
    media_bytes: usize,
}

impl Gathering {
    /// Hears what happened. It takes no time worth speaking of: bytes are looked at in the end.
    pub(crate) fn hear(&mut self, event: ReplyEvent) {
        match event {
            ReplyEvent::Partial { text } => self.hear_partial(&text),
            ReplyEvent::Retracted { .. } => self.so_far.clear(),
            ReplyEvent::Block { text } => {
                self.so_far.clear();
                self.say(Voice::Agent, text);
            }
            ReplyEvent::Final { text } | ReplyEvent::Answer { text } => {
                self.so_far.clear();
                self.has_ended = true;
                self.say_last(text);
            }
            ReplyEvent::ToolResult { call, text, .. } => {
                let name = clean_name(&call.name);
                // Frame by frame, for the agent may repeat one of them and not the others.
                for part in frame_by_frame(&text) {
                    let name = name.clone();
                    self.say(Voice::Tool { name }, part.to_owned());
                }
            }
            ReplyEvent::Media { part } => match HeldMedia::of(part) {
                Ok(held) => self.hold(held),
                Err(text) => self.say(Voice::Agent, text),
            },
            ReplyEvent::Visit { url, why } => {
                let why = shown_line(&why, WHY);
                let url = definition_text(&url, ADDRESS).text;
                let text = format!("Open this address in a browser to go on ({why}): {url}");
                self.say(Voice::Address, text);
            }
            ReplyEvent::Started { .. }
            | ReplyEvent::Reasoning { .. }
            | ReplyEvent::ToolStarted { .. }
            | ReplyEvent::ToolProgress { .. }
            | ReplyEvent::Notice { .. } => {}
        }
    }

    /// What goes back of a turn that came to its end.
    pub(crate) fn complete(mut self, report: &ReplyReport) -> Vec<OutPart> {
        if !self.has_ended {
            // Text so far is the beginning of the last text, unless that is another one.
            if !bare(&report.reply).contains(&bare(&self.so_far)) {
                self.end_partial();
            }
            self.say_last(report.reply.clone());
        }
        let parts = self.put_together(0);
        if parts.is_empty() {
            return vec![OutPart::Text(NOTHING.to_owned())];
        }
        parts
    }

    /// What goes back of a turn that failed or was stopped: why, and then all that was said until then.
    pub(crate) fn failed(mut self, message: &str, hint: Option<&str>) -> Vec<OutPart> {
        self.end_partial();
        let mut error = format!("Error: {}", beginning(message, FAILURE));
        if let Some(hint) = hint.filter(|hint| !hint.trim().is_empty()) {
            error.push('\n');
            error.push_str(beginning(hint, FAILURE));
        }
        let parts = self.put_together(error.len());
        let mut all = vec![OutPart::Text(error)];
        all.extend(parts);
        all
    }

    fn put_together(mut self, beside: usize) -> Vec<OutPart> {
        if self.surplus > 0 {
            // Behind what is kept, before the last text.
            let at = self.pieces.len().min(self.limits.pieces);
            self.pieces.insert(at, Piece::Surplus(self.surplus));
        }
        fitted(uncovered(self.pieces), &self.limits, beside)
    }

    fn hear_partial(&mut self, text: &str) {
        // One character more than is kept, so that it is noticed that there was more.
        let most = self.limits.texts + 4;
        let room = most.saturating_sub(self.so_far.len());
        self.so_far.push_str(beginning(text, room));
    }

    /// Counts what was said so far as said: nothing follows that has it.
    fn end_partial(&mut self) {
        let text = std::mem::take(&mut self.so_far);
        self.say_last(text);
    }

    fn say(&mut self, voice: Voice, text: String) {
        if text.trim().is_empty() {
            return;
        }
        if self.pieces.len() >= self.limits.pieces {
            self.surplus += 1;
            return;
        }
        self.keep(voice, text);
    }

    /// Says something that is kept however much there is.
    fn say_last(&mut self, text: String) {
        if !text.trim().is_empty() {
            self.keep(Voice::Agent, text);
        }
    }

    fn keep(&mut self, voice: Voice, mut text: String) {
        let limit = self.limits.texts;
        if text.len() > limit {
            if matches!(voice, Voice::Tool { .. }) {
                // Cut, its frame would have no end.
                let piece = self.without(&Said { voice, text });
                self.pieces.push(piece);
                return;
            }
            let cut = format!("\n\n[cut off here: {} of text is the most]", Size(limit));
            text.truncate(text.floor_char_boundary(limit.saturating_sub(cut.len())));
            text.push_str(&cut);
        }
        self.make_room(text.len());
        self.text_bytes += text.len();
        self.pieces.push(Piece::Said(Said { voice, text }));
    }

    /// Makes room for a text: the earliest results of tools go first, then whatever was said earliest.
    fn make_room(&mut self, bytes: usize) {
        for only_tools in [true, false] {
            for at in 0..self.pieces.len() {
                if self.text_bytes + bytes <= self.limits.texts {
                    return;
                }
                let Some(Piece::Said(said)) = self.pieces.get(at) else {
                    continue;
                };
                if only_tools && !matches!(said.voice, Voice::Tool { .. }) {
                    continue;
                }
                let (gone, piece) = (said.text.len(), self.without(said));
                self.text_bytes -= gone;
                if let Some(place) = self.pieces.get_mut(at) {
                    *place = piece;
                }
            }
        }
    }

    /// What stands for a text that there is no room for.
    fn without(&self, said: &Said) -> Piece {
        let what = match &said.voice {
            Voice::Tool { name } => format!("what {name} said"),
            Voice::Agent | Voice::Address => "what was said here".to_owned(),
        };
        Piece::LeftOut(LeftOut {
            what,
            bytes: said.text.len(),
            why: Why::TooMuchText {
                limit: self.limits.texts,
            },
        })
    }

    /// Keeps a piece of media, or only its name if it can't go back.
    fn hold(&mut self, held: HeldMedia) {
        if self.pieces.len() >= self.limits.pieces {
            self.surplus += 1;
            return;
        }
        let Limits { item, reply, .. } = self.limits;
        let bytes = held.bytes();
        self.pieces.push(if bytes > item {
            Piece::LeftOut(held.left_out(Why::TooLarge { limit: item }))
        } else if self.media_bytes + bytes > reply {
            Piece::LeftOut(held.left_out(Why::NoRoom { limit: reply }))
        } else {
            self.media_bytes += bytes;
            Piece::Media(held)
        });
    }
}

/// The beginning of a text, in whole characters.
fn beginning(text: &str, bytes: usize) -> &str {
    text.get(..text.floor_char_boundary(bytes))
        .unwrap_or_default()
}

#[cfg(test)]
mod tests;
