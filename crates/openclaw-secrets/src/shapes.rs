//! The shapes of well-known credentials, for values that nobody has told us about.
//!
//! One automaton looks for the literals at which a credential can begin; only there is the
//! text examined further. Nothing is built before the first use.

mod assignment;
mod prefixes;
mod structures;

use std::ops::Range;
use std::sync::LazyLock;

use aho_corasick::AhoCorasick;

use crate::secret::REDACTED;
use prefixes::PREFIXES;
use structures::STRUCTURES;

pub(crate) use prefixes::looks_random;

/// What an examination at one literal has found.
struct Finding {
    /// The credential, if there is one.
    hit: Option<Range<usize>>,
    /// Up to where the text has been examined: the same shape need not look there again, which
    /// keeps the time linear on texts made of literals.
    examined: usize,
}

impl Finding {
    const NOTHING: Self = Self {
        hit: None,
        examined: 0,
    };
}

/// Examines a text at the place of a literal.
type Examine = fn(&[u8], Range<usize>) -> Finding;

/// The literals in the order of [`PREFIXES`], then [`STRUCTURES`].
///
/// Building it from constants cannot fail, which a test shows.
static LITERALS: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| {
    let literals = PREFIXES
        .iter()
        .map(|prefix| prefix.literal)
        .chain(STRUCTURES.iter().map(|&(literal, _)| literal));
    AhoCorasick::builder()
        .ascii_case_insensitive(true)
        .build(literals)
        .ok()
});

/// Adds the places of all credentials of a known shape to `hits`.
pub(crate) fn find(text: &[u8], hits: &mut Vec<Range<usize>>) {
    examine(text, |_, finding| {
        let hit = finding.hit;
        hits.extend(hit.filter(|hit| text.get(hit.clone()) != Some(REDACTED.as_bytes())));
    });
}

/// Examines a text at every literal and reports what was found there.
fn examine(text: &[u8], mut report: impl FnMut(usize, Finding)) {
    let Some(literals) = LITERALS.as_ref() else {
        return;
    };
    let mut examined = [0; PREFIXES.len() + STRUCTURES.len()];
    // One literal can be the beginning of another: `secret` and `secret_`.
    for found in literals.find_overlapping_iter(text) {
        let index = found.pattern().as_usize();
        let Some(examined) = examined.get_mut(index) else {
            continue;
        };
        if found.start() < *examined {
            continue;
        }
        let place = found.start()..found.end();
        let finding = match PREFIXES.get(index) {
            Some(prefix) => prefix.examine(text, place),
            None => STRUCTURES
                .get(index - PREFIXES.len())
                .map_or(Finding::NOTHING, |(_, examine)| examine(text, place)),
        };
        *examined = finding.examined;
        report(found.start(), finding);
    }
}

/// Says whether a credential of a known shape stands anywhere in a text.
pub(crate) fn any(text: &[u8]) -> bool {
    let mut hits = Vec::new();
    find(text, &mut hits);
    !hits.is_empty()
}

/// Says whether a word can begin here: nothing or no letter or digit stands before.
fn begins_word(text: &[u8], at: usize) -> bool {
    match text.get(..at).unwrap_or_default() {
        // The letter belongs to an escaped line break or tab, the digits to a percent-encoded byte.
        [] | [.., b'\\', b'n' | b'r' | b't'] => true,
        [.., b'%', high, low] if high.is_ascii_hexdigit() && low.is_ascii_hexdigit() => true,
        [.., before] => !(before.is_ascii_alphanumeric() || *before == b'_'),
    }
}

/// Returns the end of the run of bytes of a class that begins at `from`.
fn run_end(text: &[u8], from: usize, class: impl Fn(u8) -> bool) -> usize {
    text.get(from..)
        .unwrap_or_default()
        .iter()
        .position(|&byte| !class(byte))
        .map_or(text.len(), |length| from + length)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Replaces every credential by `…`.
    pub(super) fn hidden(text: &str) -> String {
        let mut hits = Vec::new();
        find(text.as_bytes(), &mut hits);
        let mut shown = text.to_owned();
        hits.sort_by_key(|hit| hit.start);
        hits.dedup();
        for hit in hits.into_iter().rev() {
            shown.replace_range(hit, "…");
        }
        shown
    }

    #[test]
    fn the_literals_build_an_automaton() {
        assert!(LITERALS.is_some());
    }

    #[test]
    fn every_prefix_finds_its_own_shape() {
        let body = "0aB1cD2eF3gH4iJ5kL6mN7oP8qR9sT0uV1wX2yZ3aB4cD5eF6gH7iJ8kL9mN0oP1qR2sT3uV";
        for prefix in PREFIXES {
            if prefix.literal == "eyJ" {
                continue;
            }
            let body = body
                .bytes()
                .map(char::from)
                .map(|character| match prefix.literal {
                    "AKIA" | "ASIA" => character.to_ascii_uppercase(),
                    _ => character,
                })
                .collect::<String>();
            let text = format!("key {}{body}, next", prefix.literal);
            assert_eq!(hidden(&text), "key …, next", "{}", prefix.literal);
        }
    }

    #[test]
    fn words_begin_behind_escapes_too() {
        assert!(begins_word(b"abc", 0));
        assert!(begins_word(b" abc", 1));
        assert!(begins_word(b"\\nabc", 2));
        assert!(begins_word(b"%3Dabc", 3));
        assert!(!begins_word(b"xabc", 1));
        assert!(!begins_word(b"_abc", 1));
        assert!(!begins_word(b"nabc", 1));
    }

    #[test]
    fn no_shape_examines_a_text_made_of_literals_twice() {
        for literal in PREFIXES
            .iter()
            .map(|prefix| prefix.literal)
            .chain(STRUCTURES.iter().map(|&(literal, _)| literal))
        {
            for glue in ["", "=", "-", ":", " ", "\":\"", "PRIVATE KEY-----Version: "] {
                let text = format!("{literal}{glue}").repeat(300);
                let mut work = 0;
                examine(text.as_bytes(), |start, finding| {
                    work += finding.examined.saturating_sub(start);
                });
                // Several shapes may look at the same bytes, each of them once.
                assert!(work <= 4 * text.len(), "{literal}{glue}: {work}");
            }
        }
    }
}
