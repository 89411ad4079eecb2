//! The parts of a value that are looked for on their own.

use std::ops::Range;

use super::SHORTEST_VALUE;
use crate::plain::is_common_word;
use crate::shapes;

/// The longest text that is looked for in one piece; a longer one is cut into overlapping pieces.
///
/// Found side by side they are hidden as one. So a value that was cut off by a length limit is
/// hidden as far as its whole pieces go, and the work per place of the text has a bound.
pub(super) const PIECE: usize = 256;

/// How much neighbouring pieces overlap. Base64 hides up to two bytes at each end of a piece; the
/// overlap keeps them from showing between pieces.
const OVERLAP: usize = 16;

/// The shortest line of a value that is looked for on its own.
const SHORTEST_LINE: usize = 8;

/// Returns the parts of a value: the whole; each line without surrounding white space, since
/// output arrives by line; and what has the shape of a credential, since that is what the value is
/// about. Line breaks that are escaped, as in a JSON file with a private key, count as well.
pub(super) fn fragments(value: &str) -> Vec<Range<usize>> {
    let mut fragments = Vec::new();
    push_pieces(value, 0..value.len(), &mut fragments);

    let lines = value
        .split(['\n', '\r'])
        .flat_map(|line| line.split("\\n"))
        .map(|line| trimmed(value, line))
        .filter(|line| line.len() >= SHORTEST_LINE);
    let mut credentials = Vec::new();
    shapes::find(value.as_bytes(), &mut credentials);
    credentials.retain(|credential| credential.len() >= SHORTEST_VALUE);
    for part in lines.chain(credentials) {
        let text = value.get(part.clone()).unwrap_or_default();
        // The frame around a key is no secret.
        let is_frame = text.starts_with("-----") && text.ends_with("-----");
        if text.len() < value.len() && !is_frame && !is_common_word(text) {
            push_pieces(value, part, &mut fragments);
        }
    }
    fragments
}

/// The place in `value` of one of its slices, without surrounding white space.
fn trimmed(value: &str, slice: &str) -> Range<usize> {
    let slice = slice.trim();
    let start = slice.as_ptr().addr() - value.as_ptr().addr();
    start..start + slice.len()
}

fn push_pieces(value: &str, range: Range<usize>, pieces: &mut Vec<Range<usize>>) {
    let mut start = range.start;
    // Cuts move back to the boundary of a character, which is at most three bytes away.
    while range.end - start > PIECE + 3 {
        let end = value.floor_char_boundary(start + PIECE);
        pieces.push(start..end);
        // The last piece is a full one too: a short one would be found where it means nothing.
        start = value.floor_char_boundary((end - OVERLAP).min(range.end - PIECE));
    }
    pieces.push(start..range.end);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(value: &str) -> Vec<&str> {
        fragments(value)
            .into_iter()
            .map(|range| &value[range])
            .collect()
    }

    #[test]
    fn short_values_are_one_fragment() {
        assert_eq!(texts("hunter2"), ["hunter2"]);
        assert_eq!(texts("two words"), ["two words"]);
    }

    #[test]
    fn long_lines_are_fragments_and_short_or_public_ones_are_not() {
        let value = "-----BEGIN X-----\n  first-line\r\nshort\npassword\nlast\\nescaped-line\n-----END X-----";
        assert_eq!(texts(value), [value, "first-line", "escaped-line"]);
    }

    #[test]
    fn credentials_in_a_value_are_fragments() {
        for (value, credential) in [
            ("Bearer 0123456789abcdef", Some("0123456789abcdef")),
            ("postgres://user:hunter2@db/x", Some("hunter2")),
            ("Host=db;Password=hunter2;", Some("hunter2")),
            ("postgres://user:short@db/x", None),
            ("postgres://user:password@db/x", None),
        ] {
            let expected: Vec<_> = [value].into_iter().chain(credential).collect();
            assert_eq!(texts(value), expected);
        }
    }

    #[test]
    fn long_values_are_cut_into_overlapping_pieces() {
        for value in [
            "0123456789".repeat(100),
            "aé→𝄞".repeat(100),
            "x".repeat(257),
        ] {
            let pieces = fragments(&value);
            assert_eq!(pieces.first().unwrap().start, 0);
            assert_eq!(pieces.last().unwrap().end, value.len());
            for pair in pieces.windows(2) {
                assert!(pair[0].end >= pair[1].start + OVERLAP);
                assert!(pair[1].start > pair[0].start);
            }
            for piece in pieces {
                assert!((PIECE - 4..=PIECE + 4).contains(&piece.len()), "{piece:?}");
                assert!(value.get(piece).is_some());
            }
        }
    }
}
