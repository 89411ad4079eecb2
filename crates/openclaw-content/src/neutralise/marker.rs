//! Forged markers of the frame.

use std::sync::LazyLock;

use super::fold;
use crate::characters::{Kind, Table};

/// Which marker is forged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Marker {
    Start,
    End,
}

/// What a marker says between its brackets, without what separates the words.
const NAMES: [(&str, Marker); 9] = [
    ("externaluntrustedcontent", Marker::Start),
    ("beginexternaluntrustedcontent", Marker::Start),
    ("beginofexternaluntrustedcontent", Marker::Start),
    ("startexternaluntrustedcontent", Marker::Start),
    ("startofexternaluntrustedcontent", Marker::Start),
    ("endexternaluntrustedcontent", Marker::End),
    ("endofexternaluntrustedcontent", Marker::End),
    ("closeexternaluntrustedcontent", Marker::End),
    ("stopexternaluntrustedcontent", Marker::End),
];

/// The letters with which the names begin.
const FIRST_LETTERS: &[u8] = b"besc";

/// How far the end of a marker is looked for behind its name, in characters.
const LONGEST_TAIL: usize = 128;

/// A name, as an automaton of one bit per letter.
struct Name {
    /// For each letter, where in the name it stands.
    places: [u64; 256],
    /// The bit that is set when all letters were seen.
    complete: u64,
    marker: Marker,
}

static AUTOMATA: LazyLock<Vec<Name>> = LazyLock::new(|| {
    let name = |(text, marker): (&str, Marker)| {
        let mut places = [0; 256];
        let letters = fold::word(text);
        for (at, letter) in letters.iter().enumerate() {
            places[usize::from(*letter)] |= 1 << at;
        }
        let complete = 1 << letters.len();
        Name {
            places,
            complete,
            marker,
        }
    };
    NAMES.into_iter().map(name).collect()
});

/// Which marker stands behind an angle bracket that ends at `from`, and where it ends.
///
/// Between letters, everything may stand that is neither a letter nor a bracket.
pub(super) fn follow(table: &Table, text: &str, from: usize) -> Option<(Marker, usize)> {
    let names = &*AUTOMATA;
    let mut states = [1_u64; NAMES.len()];
    let mut first = true;
    for (offset, character) in text.get(from..)?.char_indices() {
        match table.kind(character) {
            Kind::Letters(letters) => {
                // Hardly any word behind a bracket gets further than this.
                let begins = letters.bytes().next().map(plain);
                if first && begins.is_some_and(|letter| !FIRST_LETTERS.contains(&letter)) {
                    return None;
                }
                first = false;
                for letter in letters.bytes().map(plain).flat_map(fold::canonical) {
                    advance(names, &mut states, |name, state| {
                        (state & name.places[usize::from(*letter)]) << 1
                    });
                }
            }
            // A bar can be there as a letter or as a bar.
            Kind::Bar => advance(names, &mut states, |name, state| {
                state | (state & name.places[usize::from(b'l')]) << 1
            }),
            Kind::OpenAngle | Kind::CloseAngle | Kind::OpenSquare | Kind::CloseSquare => {
                return None;
            }
            Kind::Plain if character.is_alphanumeric() => return None,
            _ => continue,
        }
        if states == [0; NAMES.len()] {
            return None;
        }
        let complete = names
            .iter()
            .zip(&states)
            .find(|(name, state)| **state & name.complete != 0);
        if let Some((name, _)) = complete {
            let end = from + offset + character.len_utf8();
            return Some((name.marker, tail(table, text, end).unwrap_or(end)));
        }
    }
    None
}

fn advance(names: &[Name], states: &mut [u64], next: impl Fn(&Name, u64) -> u64) {
    for (name, state) in names.iter().zip(states) {
        *state = next(name, *state);
    }
}

/// The letter that a digit is written for.
fn plain(letter: u8) -> u8 {
    match letter {
        b'3' => b'e',
        b'4' => b'a',
        // No name has an `f`, so a long s is an `s`.
        b'5' | b'~' => b's',
        b'7' => b't',
        _ => letter,
    }
}

/// Where the brackets end that close a marker, if they stand on the same line and not too far away.
fn tail(table: &Table, text: &str, from: usize) -> Option<usize> {
    let mut end = None;
    for (offset, character) in text.get(from..)?.char_indices().take(LONGEST_TAIL) {
        match table.kind(character) {
            Kind::OpenAngle if end.is_none() => return None,
            Kind::OpenAngle | Kind::CloseAngle => end = Some(from + offset + character.len_utf8()),
            Kind::Combining | Kind::Invisible => {}
            Kind::Plain if character == ' ' => {}
            Kind::Plain if character == '\n' => return end,
            _ if end.is_some() => return end,
            _ => {}
        }
    }
    end
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_begins_with_a_letter_that_is_looked_for_and_fits() {
        for (name, _) in NAMES {
            assert!(FIRST_LETTERS.contains(&name.as_bytes()[0]));
            assert!(fold::word(name).len() < 64);
        }
    }
}
