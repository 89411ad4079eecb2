//! Markdown that arrives in pieces, shown as it comes.
//!
//! Nothing that stands on the terminal is ever drawn again, and lines are wrapped by the terminal: so it
//! is right at every width, also when that changes, and what is copied is what was written. A piece is
//! kept back only until it is known what it is: the mark at the beginning of a line until the next
//! character, emphasis, code and links until they are over.

mod blocks;
mod spans;
mod style;

use self::blocks::{Beginning, Fence};
use self::spans::{Span, next_span};
use self::style::Style;

/// How much of a line is looked at for the end of what begins there, in bytes.
const MOST: usize = 1_000;
/// How deep emphasis can be in emphasis.
const DEEPEST: usize = 4;

/// Shows Markdown on a terminal with colours. The text must do terminals no harm already.
///
/// Wherever the pieces end, what comes out is what would come out of the whole.
#[derive(Debug, Default)]
pub(super) struct Markdown {
    held: String,
    place: Place,
    fence: Option<Fence>,
    /// The style that the terminal has now.
    style: Style,
    /// What was shown last in this line.
    before: Option<char>,
}

/// Where in a line the next character belongs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Place {
    /// At its beginning.
    #[default]
    Beginning,
    /// In its text, which has this style.
    Text(Style),
    /// In a line that is shown as it is, in this style.
    Verbatim(Style),
}

impl Markdown {
    /// Takes the next piece, and gives what can be shown now.
    pub(super) fn push(&mut self, piece: &str) -> String {
        self.held.push_str(piece);
        self.shown(false)
    }

    /// Gives what was kept back: nothing follows.
    pub(super) fn finish(&mut self) -> String {
        let mut shown = self.shown(true);
        self.wear(Style::PLAIN, &mut shown);
        *self = Self::default();
        shown
    }

    /// Forgets what was kept back.
    pub(super) fn clear(&mut self) {
        self.held.clear();
    }

    fn shown(&mut self, is_over: bool) -> String {
        let held = std::mem::take(&mut self.held);
        let mut shown = String::new();
        let mut at = 0;
        while let Some(rest) = held.get(at..).filter(|rest| !rest.is_empty()) {
            let taken = self.step(rest, is_over, &mut shown);
            if taken == 0 {
                break;
            }
            at += taken;
        }
        held.get(at..)
            .unwrap_or_default()
            .clone_into(&mut self.held);
        shown
    }

    /// Shows what the text begins with, and gives how much that was; nothing, if more is needed.
    fn step(&mut self, text: &str, is_over: bool, shown: &mut String) -> usize {
        let line = text.split('\n').next().unwrap_or_default();
        let is_whole = is_over || line.len() < text.len();
        match self.place {
            Place::Beginning => self.begin(line, is_whole, shown, line.len() < text.len()),
            _ if line.is_empty() => {
                self.end_line(shown);
                1
            }
            Place::Verbatim(style) => {
                self.say(line, style, shown);
                line.len()
            }
            Place::Text(style) => self.say_spans(line, is_whole, style, 0, shown),
        }
    }

    /// Finds out what a line is.
    fn begin(&mut self, line: &str, is_whole: bool, shown: &mut String, has_end: bool) -> usize {
        let beginning = blocks::beginning(line, is_whole, self.fence);
        let taken = match beginning {
            Beginning::Unknown => return 0,
            Beginning::Open(fence) => {
                self.fence = Some(fence);
                self.place = Place::Verbatim(Style::QUIET);
                0
            }
            Beginning::Close => {
                self.fence = None;
                self.place = Place::Verbatim(Style::QUIET);
                0
            }
            Beginning::Code => {
                self.place = Place::Verbatim(Style::CODE);
                0
            }
            Beginning::Heading { taken } => {
                self.place = Place::Text(Style::STRONG);
                taken
            }
            Beginning::Item { indent, taken } => {
                self.say(line.get(..indent).unwrap_or_default(), Style::PLAIN, shown);
                self.say("• ", Style::PLAIN, shown);
                self.place = Place::Text(Style::PLAIN);
                taken
            }
            Beginning::Quote { depth, taken } => {
                self.say(&"│ ".repeat(depth), Style::QUIET, shown);
                self.place = Place::Text(Style::PLAIN);
                taken
            }
            Beginning::Text => {
                self.place = Place::Text(Style::PLAIN);
                0
            }
        };
        if taken > 0 {
            self.before = None;
            return taken;
        }
        // What the line is has cost nothing of it: it goes on with its text, or ends.
        if line.is_empty() {
            if has_end {
                self.end_line(shown);
                return 1;
            }
            return 0;
        }
        match self.place {
            Place::Verbatim(style) => {
                self.say(line, style, shown);
                line.len()
            }
            Place::Text(style) => self.say_spans(line, is_whole, style, 0, shown),
            Place::Beginning => 0,
        }
    }

    fn end_line(&mut self, shown: &mut String) {
        self.wear(Style::PLAIN, shown);
        shown.push('\n');
        self.place = Place::Beginning;
        self.before = None;
    }

    /// Shows as much of a line as is known, and gives how much that was.
    fn say_spans(
        &mut self,
        line: &str,
        is_whole: bool,
        style: Style,
        depth: usize,
        shown: &mut String,
    ) -> usize {
        let mut at = 0;
        while let Some(rest) = line.get(at..).filter(|rest| !rest.is_empty()) {
            let (rest, is_whole) = if rest.len() > MOST {
                let most = rest.floor_char_boundary(MOST);
                (rest.get(..most).unwrap_or_default(), true)
            } else {
                (rest, is_whole)
            };
            at += match next_span(rest, is_whole, self.before) {
                Span::Unknown => break,
                Span::Text { length } => {
                    self.say(rest.get(..length).unwrap_or_default(), style, shown);
                    length
                }
                Span::Escaped { character, length } => {
                    self.say(character, style, shown);
                    length
                }
                Span::Code { inner, length } => {
                    self.say(inner, style.with(Style::CODE), shown);
                    length
                }
                Span::Emphasis {
                    inner,
                    style: added,
                    length,
                } => {
                    let style = style.with(added);
                    if depth < DEEPEST {
                        self.say_spans(inner, true, style, depth + 1, shown);
                    } else {
                        self.say(inner, style, shown);
                    }
                    length
                }
                Span::Link {
                    label,
                    address,
                    length,
                } => {
                    if label != address {
                        self.say(label, style.with(Style::LINK), shown);
                        self.say(" (", style, shown);
                    }
                    self.say(address, style.with(Style::QUIET), shown);
                    if label != address {
                        self.say(")", style, shown);
                    }
                    length
                }
            };
        }
        at
    }

    fn say(&mut self, text: &str, style: Style, shown: &mut String) {
        if text.is_empty() {
            return;
        }
        self.wear(style, shown);
        shown.push_str(text);
        self.before = text.chars().next_back();
    }

    fn wear(&mut self, style: Style, shown: &mut String) {
        self.style.change(style, shown);
        self.style = style;
    }
}

#[cfg(test)]
mod tests;
