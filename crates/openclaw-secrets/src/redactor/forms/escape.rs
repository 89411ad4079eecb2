//! Escapes of JSON and of program text: the writers in use differ in what they escape.

use secrecy::zeroize::Zeroizing;

use super::{Encoded, Letters};

/// A writer's habit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::redactor) enum Escape {
    /// Only what JSON demands (RFC 8259 §7): `serde_json`, JavaScript.
    Json,
    /// Also `/`.
    Slash,
    /// Also what is not printable ASCII, in small letters: Python.
    Ascii,
    /// The same in capitals.
    AsciiCapital,
    /// `/` and what is not ASCII: PHP.
    SlashAscii,
    /// The same in capitals.
    SlashAsciiCapital,
    /// Also `<`, `>`, `&` and the Unicode line separators: Go.
    Html,
    /// The same, and `=` and `'`: Gson.
    HtmlQuotes,
    /// What is not ASCII and all that means something in HTML, `"` included, in capitals: .NET.
    DotNet,
    /// Rust's `Debug`.
    Rust,
}

impl Escape {
    pub(super) const ALL: [Self; 10] = [
        Self::Json,
        Self::Slash,
        Self::Ascii,
        Self::AsciiCapital,
        Self::SlashAscii,
        Self::SlashAsciiCapital,
        Self::Html,
        Self::HtmlQuotes,
        Self::DotNet,
        Self::Rust,
    ];

    /// The longest escape of one byte of UTF-8: `\u{7f}` or `\u0000`.
    const LONGEST: usize = 6;

    pub(super) fn encode(self, value: &str) -> Encoded {
        // Room for the worst case, so that no copy is left behind by growing.
        let mut encoded = Zeroizing::new(Vec::with_capacity(value.len() * Self::LONGEST));
        for character in value.chars() {
            self.push(character, &mut encoded);
        }
        encoded
    }

    fn push(self, character: char, encoded: &mut Vec<u8>) {
        if self == Self::Rust {
            // `Debug` of a string leaves the single quote alone, that of a character does not.
            if character == '\'' {
                encoded.push(b'\'');
            } else {
                let escaped = character.escape_debug();
                encoded.extend(escaped.flat_map(|part| utf8(part).into_iter().flatten()));
            }
        } else if self.writes_number(character) {
            for unit in character.encode_utf16(&mut [0; 2]) {
                encoded.extend_from_slice(b"\\u");
                for byte in unit.to_be_bytes() {
                    encoded.extend(self.letters().digits(byte));
                }
            }
        } else if let Some(letter) = self.short_escape(character) {
            encoded.extend([b'\\', letter]);
        } else {
            encoded.extend(utf8(character).into_iter().flatten());
        }
    }

    fn letters(self) -> Letters {
        match self {
            Self::AsciiCapital | Self::SlashAsciiCapital | Self::DotNet => Letters::Capital,
            _ => Letters::Small,
        }
    }

    /// The letter behind the backslash, where there is a short escape.
    fn short_escape(self, character: char) -> Option<u8> {
        match character {
            '"' => Some(b'"'),
            '\\' => Some(b'\\'),
            '\u{8}' => Some(b'b'),
            '\u{c}' => Some(b'f'),
            '\n' => Some(b'n'),
            '\r' => Some(b'r'),
            '\t' => Some(b't'),
            '/' if matches!(
                self,
                Self::Slash | Self::SlashAscii | Self::SlashAsciiCapital
            ) =>
            {
                Some(b'/')
            }
            _ => None,
        }
    }

    /// Says whether a character is written `\uXXXX`.
    fn writes_number(self, character: char) -> bool {
        let for_html = match self {
            Self::Html => matches!(character, '<' | '>' | '&' | '\u{2028}' | '\u{2029}'),
            Self::HtmlQuotes => {
                matches!(
                    character,
                    '<' | '>' | '&' | '=' | '\'' | '\u{2028}' | '\u{2029}'
                )
            }
            Self::DotNet => matches!(character, '<' | '>' | '&' | '\'' | '"' | '+' | '`'),
            _ => false,
        };
        let not_ascii = match self {
            Self::Ascii | Self::AsciiCapital | Self::DotNet => character > '~',
            Self::SlashAscii | Self::SlashAsciiCapital => !character.is_ascii(),
            _ => false,
        };
        let control = character < ' ' && self.short_escape(character).is_none();
        for_html || not_ascii || control
    }
}

/// The bytes of a character; unused places are empty.
fn utf8(character: char) -> [Option<u8>; 4] {
    let mut buffer = [0; 4];
    let length = character.encode_utf8(&mut buffer).len();
    let mut bytes = buffer.map(Some);
    for unused in bytes.iter_mut().skip(length) {
        *unused = None;
    }
    bytes
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn text(escape: Escape, value: &str) -> String {
        String::from_utf8(escape.encode(value).to_vec()).unwrap()
    }

    #[test]
    fn writers_differ_in_what_they_escape() {
        let value = "a\"\\/<'\n\u{1b}\u{7f}é𝄞";
        for (escape, expected) in [
            (Escape::Json, "a\\\"\\\\/<'\\n\\u001b\u{7f}é𝄞"),
            (Escape::Slash, "a\\\"\\\\\\/<'\\n\\u001b\u{7f}é𝄞"),
            (Escape::Ascii, r#"a\"\\/<'\n\u001b\u007f\u00e9\ud834\udd1e"#),
            (
                Escape::AsciiCapital,
                r#"a\"\\/<'\n\u001B\u007F\u00E9\uD834\uDD1E"#,
            ),
            (
                Escape::SlashAscii,
                "a\\\"\\\\\\/<'\\n\\u001b\u{7f}\\u00e9\\ud834\\udd1e",
            ),
            (
                Escape::SlashAsciiCapital,
                "a\\\"\\\\\\/<'\\n\\u001B\u{7f}\\u00E9\\uD834\\uDD1E",
            ),
            (Escape::Html, "a\\\"\\\\/\\u003c'\\n\\u001b\u{7f}é𝄞"),
            (
                Escape::HtmlQuotes,
                "a\\\"\\\\/\\u003c\\u0027\\n\\u001b\u{7f}é𝄞",
            ),
            (
                Escape::DotNet,
                r"a\u0022\\/\u003C\u0027\n\u001B\u007F\u00E9\uD834\uDD1E",
            ),
            (Escape::Rust, r#"a\"\\/<'\n\u{1b}\u{7f}é𝄞"#),
        ] {
            assert_eq!(text(escape, value), expected, "{escape:?}");
        }
    }

    proptest! {
        #[test]
        fn json_is_what_serde_json_writes(value in any::<String>()) {
            let json = serde_json::to_string(&value).unwrap();
            prop_assert_eq!(text(Escape::Json, &value), &json[1..json.len() - 1]);
        }

        #[test]
        fn rust_is_what_debug_writes(value in any::<String>()) {
            let debug = format!("{value:?}");
            prop_assert_eq!(text(Escape::Rust, &value), &debug[1..debug.len() - 1]);
        }

        #[test]
        fn what_json_writers_write_is_json(value in any::<String>()) {
            for escape in Escape::ALL.into_iter().filter(|escape| *escape != Escape::Rust) {
                let json = format!("\"{}\"", text(escape, &value));
                prop_assert_eq!(&serde_json::from_str::<String>(&json).unwrap(), &value);
            }
        }
    }
}
