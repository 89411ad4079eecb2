//! The parts of a value that are looked for on their own.

use std::ops::Range;

use super::SHORTEST_VALUE;
use crate::detect::looks_like_credential;
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
///
/// Of a line that is a setting, as in a file of settings that is a secret as a whole, only the value
/// is meant, and only if it says something: `kind: Config` stands in many texts.
pub(super) fn fragments(value: &str) -> Vec<Range<usize>> {
    let mut fragments = Vec::new();
    push_pieces(value, 0..value.len(), &mut fragments);

    let lines = value
        .split(['\n', '\r'])
        .flat_map(|line| line.split("\\n"))
        .filter(|line| line.len() < value.len())
        .filter_map(secret_part)
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

/// What of a line is secret: all of it, or the value if it is a setting.
fn secret_part(line: &str) -> Option<&str> {
    match setting(line) {
        None => Some(line),
        Some((name, value)) => (!is_everyday(name, value)).then_some(value),
    }
}

/// The name and the value of a line that is a setting, as in YAML, JSON and `.env` files.
fn setting(line: &str) -> Option<(&str, &str)> {
    let at = line.find([':', '='])?;
    let (name, rest) = line.split_at_checked(at)?;
    let name = name.trim_matches(|c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '-'));
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    if name.is_empty() || !name.chars().all(is_name) || rest.starts_with("://") {
        return None;
    }
    let is_padding = rest.bytes().all(|byte| byte == b'=');
    let value = rest.get(1..)?.trim();
    let value = value.trim_end_matches(',').trim_matches(['"', '\'']);
    // Base64 ends with such signs.
    (!is_padding).then_some((name, value))
}

/// Whether the value of a setting may stand in any text.
fn is_everyday(name: &str, value: &str) -> bool {
    let has = |kind: fn(&char) -> bool| value.chars().any(|c| kind(&c));
    let is_mixed = has(char::is_ascii_digit) && has(char::is_ascii_alphabetic);
    let is_address = value.contains("://") && !shapes::any(value.as_bytes());
    !looks_like_credential(name, value)
        && (value.len() < SHORTEST_LINE || is_address || !(is_mixed || has(char::is_ascii_digit)))
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
    fn of_a_file_of_settings_only_what_is_secret_is_a_fragment() {
        let kubernetes = "apiVersion: v1\nkind: Config\nclusters:\n- cluster:\n    \
            certificate-authority-data: LS0tLS1CRUdJTiBDRVJU\n    server: https://127.0.0.1:6443\n\
            current-context: default\nusers:\n- user:\n    token: tokenoftheuser\n";
        assert_eq!(
            texts(kubernetes),
            [kubernetes, "LS0tLS1CRUdJTiBDRVJU", "tokenoftheuser"]
        );
        let google = "{\n  \"type\": \"service_account\",\n  \"private_key_id\": \"0a1b2c3d4e5f\",\n  \
            \"auth_uri\": \"https://accounts.google.com/o/oauth2/auth\"\n}";
        assert_eq!(texts(google), [google, "0a1b2c3d4e5f"]);
        let lines = "admin:hunter2-hunter2\nQUJDREVGR0hJSktMTU4=\nfour words in line\nabcdefghij==";
        assert_eq!(
            texts(lines),
            [
                lines,
                "hunter2-hunter2",
                "QUJDREVGR0hJSktMTU4=",
                "four words in line",
                "abcdefghij=="
            ]
        );
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
