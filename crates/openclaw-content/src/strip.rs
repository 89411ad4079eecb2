//! What is not shown, taken out of a text.

mod escape;

use std::borrow::Cow;

use crate::characters::{Kind, STRIPPED, table};

/// A text without what is not shown.
pub(crate) struct Stripped<'t> {
    /// What is left: line feeds and tabs are the only control characters.
    pub(crate) text: Cow<'t, str>,
    /// Whether there were characters that serve to hide text from people: tags, or controls of the
    /// direction of writing.
    pub(crate) hid_text: bool,
}

/// Takes out control characters, whole escape sequences and invisible characters, and makes every
/// end of a line a line feed.
///
/// A text in which there is nothing of this is not copied. Stripping twice is the same as once.
pub(crate) fn strip(text: &str) -> Stripped<'_> {
    let table = table();
    let bytes = text.as_bytes();
    let mut out = String::new();
    let mut kept = 0;
    let mut position = 0;
    let mut hid_text = false;
    while let Some(found) = table.next(bytes, position, STRIPPED) {
        let rest = text.get(found..).unwrap_or_default();
        let Some(character) = rest.chars().next() else {
            break;
        };
        let mut end = found + character.len_utf8();
        let replacement = match table.kind(character) {
            Kind::Break if rest.starts_with("\r\n") => "",
            Kind::Break => "\n",
            Kind::Invisible => {
                end = found + escape::length(rest).max(character.len_utf8());
                hid_text |= hides_text(character);
                ""
            }
            _ => {
                position = end;
                continue;
            }
        };
        if out.is_empty() {
            out.reserve(text.len());
        }
        out.push_str(text.get(kept..found).unwrap_or_default());
        out.push_str(replacement);
        kept = end;
        position = end;
    }
    let text = if kept == 0 {
        Cow::Borrowed(text)
    } else {
        out.push_str(text.get(kept..).unwrap_or_default());
        Cow::Owned(out)
    };
    Stripped { text, hid_text }
}

/// Whether a character is used to hide text, and hardly for anything else.
fn hides_text(character: char) -> bool {
    matches!(character, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{e0000}'..='\u{e0fff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stripped(text: &str) -> String {
        strip(text).text.into_owned()
    }

    #[test]
    fn line_feeds_and_tabs_stay_and_other_controls_go() {
        assert_eq!(stripped("a\tb\nc\0d\u{7}e\u{7f}f\u{9a}g"), "a\tb\ncdefg");
        assert_eq!(
            stripped("a\r\nb\rc\u{b}d\u{c}e\u{85}f\u{2028}g"),
            "a\nb\nc\nd\ne\nf\ng"
        );
    }

    #[test]
    fn escape_sequences_go_whole() {
        assert_eq!(stripped("\u{1b}[1;31mred\u{1b}[0m"), "red");
        assert_eq!(
            stripped("\u{1b}]0;title\u{7}a\u{1b}]8;;http://x\u{1b}\\b"),
            "ab"
        );
        assert_eq!(stripped("\u{9b}31mred\u{9d}0;title\u{9c}"), "red");
        assert_eq!(stripped("\u{1b}(0a\u{1b}Pq#0\u{1b}\\b\u{1b}7c"), "abc");
    }

    #[test]
    fn an_unfinished_sequence_does_not_swallow_the_text() {
        assert_eq!(
            stripped("\u{1b}]0;all\nof this stays"),
            "0;all\nof this stays"
        );
        assert_eq!(stripped("\u{1b}[12\nstays"), "12\nstays");
        assert_eq!(stripped("end\u{1b}"), "end");
    }

    #[test]
    fn invisible_characters_go_and_hidden_text_is_noticed() {
        assert_eq!(
            stripped("a\u{200b}b\u{feff}c\u{ad}d\u{e0041}e\u{202e}f\u{fe0f}"),
            "abcdef"
        );
        assert!(strip("a\u{e0041}").hid_text);
        assert!(strip("\u{202e}a").hid_text);
        assert!(!strip("👩\u{200d}💻").hid_text);
    }

    #[test]
    fn ordinary_text_is_not_copied() {
        for text in [
            "",
            "Hello, world\n\ttab",
            "Привет «мир»",
            "漢字、かな",
            "مرحبا",
            "🎉",
        ] {
            assert!(matches!(strip(text).text, Cow::Borrowed(same) if same == text));
        }
    }
}
