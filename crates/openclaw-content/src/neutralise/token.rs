//! Control tokens of models.

use std::sync::LazyLock;

use super::{Run, fold};
use crate::characters::{Kind, Table};

/// The longest name of a token, in letters.
const LONGEST_NAME: usize = 64;

/// Names between `<|` and `|>` that are known, and so are recognised also with spaces. Without
/// spaces every name is a token.
const BARRED: &[&str] = &[
    "imstart",
    "imend",
    "imsep",
    "endoftext",
    "startoftext",
    "beginoftext",
    "system",
    "user",
    "assistant",
    "tool",
    "developer",
    "end",
    "eot",
    "eotid",
    "eomid",
    "eom",
    "startheaderid",
    "endheaderid",
    "pythontag",
    "channel",
    "message",
    "return",
    "call",
    "constrain",
    "start",
    "fimprefix",
    "fimmiddle",
    "fimsuffix",
    "fimpad",
    "endofprompt",
    "beginofsentence",
    "endofsentence",
    "toolcall",
    "toolresponse",
    "startofrole",
    "endofrole",
    "endofturn",
    "startofturn",
    "endofsystem",
    "visionstart",
    "visionend",
    "image",
];

/// Names that are tokens between single angle brackets.
const ANGLED: &[&str] = &["startofturn", "endofturn", "bos", "eos"];

/// Names that are tokens between square brackets, in capitals or not.
const SQUARED: &[&str] = &["inst"];

/// Names that are tokens between square brackets in capitals only: in small letters they are what
/// sections of configurations are called.
const SQUARED_CAPITALS: &[&str] = &[
    "toolcalls",
    "availabletools",
    "toolresults",
    "systemprompt",
    "toolcontent",
];

struct Names {
    barred: Vec<Vec<u8>>,
    angled: Vec<Vec<u8>>,
    squared: Vec<Vec<u8>>,
    squared_capitals: Vec<Vec<u8>>,
}

static NAMES: LazyLock<Names> = LazyLock::new(|| {
    let folded = |names: &[&str]| names.iter().map(|name| fold::word(name)).collect();
    Names {
        barred: folded(BARRED),
        angled: folded(ANGLED),
        squared: folded(SQUARED),
        squared_capitals: folded(SQUARED_CAPITALS),
    }
});

/// What stands between two brackets.
#[derive(Default)]
struct Inside {
    /// The letters, folded.
    name: Vec<u8>,
    /// Whether the first and the last thing are bars.
    bar_first: bool,
    bar_last: bool,
    /// Whether the first thing, bars aside, is a stroke.
    slash_first: bool,
    /// Whether there is white space.
    space: bool,
    /// Whether there is anything else that is no letter: underscores, quotes, a second stroke.
    other: bool,
    small: bool,
    capital: bool,
    /// Where the closing bracket begins and ends.
    close: usize,
    end: usize,
}

impl Inside {
    /// Reads up to the closing bracket, if there is one before any other bracket and what is
    /// between could be a name.
    fn read(table: &Table, text: &str, from: usize, closing: Kind) -> Option<Self> {
        let mut inside = Self::default();
        let mut empty = true;
        for (offset, character) in text.get(from..)?.char_indices() {
            let kind = table.kind(character);
            if kind == closing {
                inside.close = from + offset;
                inside.end = inside.close + character.len_utf8();
                return Some(inside);
            }
            match kind {
                Kind::Combining | Kind::Invisible => continue,
                Kind::Plain | Kind::Break if character.is_whitespace() => {
                    inside.space = true;
                    continue;
                }
                Kind::OpenAngle | Kind::CloseAngle | Kind::OpenSquare | Kind::CloseSquare => {
                    return None;
                }
                Kind::Plain if character.is_alphanumeric() => return None,
                Kind::Plain | Kind::Break => {
                    // Nothing but words and what separates them stands in squares.
                    if closing == Kind::CloseSquare && is_no_separator(character) {
                        return None;
                    }
                    inside.other = true;
                }
                Kind::Letters(letters) => {
                    let folded = letters.bytes().flat_map(fold::canonical);
                    inside.name.extend(folded);
                    inside.small |= character.is_lowercase();
                    inside.capital |= character.is_uppercase();
                    if inside.name.len() > LONGEST_NAME {
                        return None;
                    }
                }
                Kind::Slash if inside.name.is_empty() && !inside.slash_first && !inside.other => {
                    inside.slash_first = true;
                }
                Kind::Slash => inside.other = true,
                Kind::Bar => {
                    inside.bar_first |= empty;
                }
            }
            inside.bar_last = kind == Kind::Bar && !empty;
            empty = false;
        }
        None
    }

    fn is_one_of(&self, names: &[Vec<u8>]) -> bool {
        names.contains(&self.name)
    }

    /// Whether this is `|name|`, the bars being bars or letters that look like them.
    fn is_barred(&self) -> bool {
        if self.bar_first && self.bar_last && self.name.len() >= 2 {
            return !self.space || self.is_one_of(&NAMES.barred);
        }
        let mut name = self.name.as_slice();
        if !self.bar_first {
            let Some((b'l', rest)) = name.split_first() else {
                return false;
            };
            name = rest;
        }
        if !self.bar_last {
            let Some((b'l', rest)) = name.split_last() else {
                return false;
            };
            name = rest;
        }
        NAMES.barred.iter().any(|known| known == name)
    }

    /// Whether this is `s` or `/s` and nothing else; a capital S is a parameter of a type.
    fn is_sentence(&self) -> bool {
        self.name == b"s" && !self.capital && !self.space && !self.other && !self.bar_first
    }
}

/// Whether a character separates no words.
fn is_no_separator(character: char) -> bool {
    character.is_ascii() && !matches!(character, '_' | '-')
}

/// Where a token is that begins with the last angle bracket of a run.
pub(super) fn in_angles(table: &Table, text: &str, run: &Run) -> Option<(usize, usize)> {
    let start = run.last?;
    let inside = Inside::read(table, text, run.end, Kind::CloseAngle)?;
    if inside.is_barred() || inside.is_sentence() || inside.is_one_of(&NAMES.angled) {
        return Some((start, inside.end));
    }
    // `<<SYS>>` has two brackets on each side.
    let start = run.last_but_one.filter(|_| inside.name == b"sys")?;
    let closing = text
        .get(inside.close..)?
        .char_indices()
        .take_while(|(_, character)| {
            matches!(table.kind(*character), Kind::CloseAngle | Kind::Combining)
        });
    let (last, character) = closing.last()?;
    let is_double = last > 0 || character.len_utf8() > 1;
    is_double.then_some((start, inside.close + last + character.len_utf8()))
}

/// Where a token ends that begins with a square bracket, which ends at `from`.
pub(super) fn in_squares(table: &Table, text: &str, from: usize) -> Option<usize> {
    let inside = Inside::read(table, text, from, Kind::CloseSquare)?;
    let found = !inside.bar_first
        && (inside.is_one_of(&NAMES.squared)
            || !inside.small && inside.is_one_of(&NAMES.squared_capitals));
    found.then_some(inside.end)
}
