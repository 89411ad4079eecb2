//! Control tokens of models.

use std::sync::LazyLock;

use super::{Run, fold};
use crate::characters::{Kind, Table};

/// The longest name of a token, in letters: how far a bracket is followed.
const LONGEST_NAME: usize = 48;

/// Names between `<|` and `|>` that are known, and so are recognised also where spaces keep them
/// from the bars: there, other names are what programs have between these operators.
const BARRED: &str = "\
    imstart imend imsep endoftext startoftext beginoftext system user assistant tool developer end \
    start eot eotid eom eomid startheaderid endheaderid pythontag channel message return call \
    constrain fimprefix fimmiddle fimsuffix fimpad endofprompt beginofsentence endofsentence \
    toolcall toolresponse startofrole endofrole startofturn endofturn visionstart visionend image";

/// Names that are tokens between single angle brackets.
const ANGLED: &str = "startofturn endofturn bos eos";

/// Names that are tokens between square brackets, in capitals or not.
const SQUARED: &str = "inst";

/// Names that are tokens between square brackets in capitals only: in small letters they are what
/// sections of configurations are called.
const SQUARED_CAPITALS: &str = "toolcalls availabletools toolresults systemprompt toolcontent";

/// The letters with which names begin that are tokens without bars, and the letter that a bar may
/// be written as; folded.
const FIRST_WITHOUT_BARS: &[u8] = b"besl~";

/// The letters with which names begin that are tokens between square brackets, folded.
const FIRST_IN_SQUARES: &[u8] = b"last~";

struct Names {
    barred: Vec<Vec<u8>>,
    angled: Vec<Vec<u8>>,
    squared: Vec<Vec<u8>>,
    squared_capitals: Vec<Vec<u8>>,
}

static NAMES: LazyLock<Names> = LazyLock::new(|| {
    let folded = |names: &str| names.split_whitespace().map(fold::word).collect();
    Names {
        barred: folded(BARRED),
        angled: folded(ANGLED),
        squared: folded(SQUARED),
        squared_capitals: folded(SQUARED_CAPITALS),
    }
});

/// Letters, as many as a name may have.
struct Letters {
    letters: [u8; LONGEST_NAME],
    length: usize,
}

impl Letters {
    /// Adds a letter; says whether there was room.
    fn push(&mut self, letter: u8) -> bool {
        let free = self.letters.get_mut(self.length);
        self.length += usize::from(free.is_some());
        free.map(|free| *free = letter).is_some()
    }

    fn get(&self) -> &[u8] {
        self.letters.get(..self.length).unwrap_or_default()
    }
}

impl Default for Letters {
    fn default() -> Self {
        Self {
            letters: [0; LONGEST_NAME],
            length: 0,
        }
    }
}

/// What stands between two brackets.
#[derive(Default)]
struct Inside {
    /// The letters, folded.
    name: Letters,
    /// The same with every bar as the letter that it looks like.
    name_with_bars: Letters,
    /// Whether the first and the last thing are bars.
    bar_first: bool,
    bar_last: bool,
    /// Whether there is white space, and whether there is some beside a bar or a bracket.
    space: bool,
    space_outside: bool,
    /// Whether there is anything that is neither a letter nor white space nor a stroke before the
    /// name.
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
        let in_squares = closing == Kind::CloseSquare;
        let mut inside = Self::default();
        let (mut empty, mut space) = (true, false);
        for (offset, character) in text.get(from..)?.char_indices() {
            let kind = table.kind(character);
            if kind == closing {
                inside.space_outside |= space;
                inside.close = from + offset;
                inside.end = inside.close + character.len_utf8();
                return Some(inside);
            }
            match kind {
                Kind::Combining | Kind::Invisible => continue,
                Kind::Plain | Kind::Break if character.is_whitespace() => {
                    (space, inside.space) = (true, true);
                    continue;
                }
                Kind::OpenAngle | Kind::CloseAngle | Kind::OpenSquare | Kind::CloseSquare => {
                    return None;
                }
                // Nothing but words and what separates them stands in squares.
                Kind::Plain if character.is_alphanumeric() => return None,
                Kind::Plain if in_squares && is_no_separator(character) => return None,
                Kind::Letters(letters) => {
                    inside.letters(letters, in_squares)?;
                    inside.small |= character.is_lowercase();
                    inside.capital |= character.is_uppercase();
                }
                Kind::Bar => {
                    inside.bar_first |= empty;
                    inside.space_outside |= space;
                    inside.name_with_bars.push(b'l').then_some(())?;
                }
                Kind::Slash if inside.name.length == 0 && !inside.other => {}
                Kind::Slash | Kind::Plain | Kind::Break => inside.other = true,
            }
            inside.space_outside |= space && (empty || inside.bar_last);
            inside.bar_last = kind == Kind::Bar && !empty;
            (empty, space) = (false, false);
        }
        None
    }

    /// Adds letters to the name, unless it can be none.
    fn letters(&mut self, letters: &str, in_squares: bool) -> Option<()> {
        for letter in letters.bytes().flat_map(fold::canonical) {
            let is_first = self.name_with_bars.length == 0;
            let first = if in_squares {
                FIRST_IN_SQUARES
            } else {
                FIRST_WITHOUT_BARS
            };
            let fits = (!is_first || first.contains(letter))
                && self.name.push(*letter)
                && self.name_with_bars.push(*letter);
            fits.then_some(())?;
        }
        Some(())
    }

    /// Whether this is `|name|`, the bars being bars or letters that look like them.
    fn is_barred(&self) -> bool {
        let any_name = self.bar_first && self.bar_last && self.name.length >= 2;
        any_name && !self.space_outside
            || match self.name_with_bars.get() {
                [b'l', name @ .., b'l'] => is_one_of(name, &NAMES.barred),
                _ => false,
            }
    }

    /// Whether this is `s` or `/s` and nothing else; a capital S is a parameter of a type.
    fn is_sentence(&self) -> bool {
        let bare = !self.capital && !self.space && !self.other;
        bare && fold::is_name(self.name_with_bars.get(), b"s")
    }
}

/// Whether a character separates no words.
fn is_no_separator(character: char) -> bool {
    character.is_ascii() && !matches!(character, '_' | '-')
}

fn is_one_of(letters: &[u8], names: &[Vec<u8>]) -> bool {
    names.iter().any(|name| fold::is_name(letters, name))
}

/// Where a token is that begins with the last angle bracket of a run.
pub(super) fn in_angles(table: &Table, text: &str, run: &Run) -> Option<(usize, usize)> {
    let start = run.last?;
    let inside = Inside::read(table, text, run.end, Kind::CloseAngle)?;
    if inside.is_barred() || inside.is_sentence() || is_one_of(inside.name.get(), &NAMES.angled) {
        return Some((start, inside.end));
    }
    // `<<SYS>>` has two brackets on each side.
    let start = run
        .last_but_one
        .filter(|_| fold::is_name(inside.name.get(), b"sys"))?;
    let closing = text.get(inside.close..)?.char_indices();
    let closing = closing.take_while(|(_, character)| {
        matches!(table.kind(*character), Kind::CloseAngle | Kind::Combining)
    });
    let (last, character) = closing.last()?;
    let is_double = last > 0 || character.len_utf8() > 1;
    is_double.then_some((start, inside.close + last + character.len_utf8()))
}

/// Where a token ends that begins with a square bracket, which ends at `from`.
pub(super) fn in_squares(table: &Table, text: &str, from: usize) -> Option<usize> {
    let inside = Inside::read(table, text, from, Kind::CloseSquare)?;
    let name = inside.name_with_bars.get();
    let found = is_one_of(name, &NAMES.squared)
        || !inside.small && is_one_of(name, &NAMES.squared_capitals);
    found.then_some(inside.end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_begins_with_a_letter_that_is_looked_for() {
        for name in NAMES
            .angled
            .iter()
            .chain([&b"sys".to_vec(), &b"s".to_vec()])
        {
            assert!(FIRST_WITHOUT_BARS.contains(&name[0]));
        }
        for name in NAMES.squared.iter().chain(&NAMES.squared_capitals) {
            assert!(FIRST_IN_SQUARES.contains(&name[0]));
        }
    }
}
