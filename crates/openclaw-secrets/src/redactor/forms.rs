//! The forms of a value that have little in common with it: hexadecimal and base64.

use std::ops::Range;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use secrecy::zeroize::Zeroizing;

/// One way to write a value.
///
/// Only the form is kept with a value and not what it gives: that would be many times the size
/// of the value, and as many copies of it in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// As it is.
    Raw,
    /// Two hexadecimal digits per byte.
    Hex(Letters),
    /// Base64 of a longer text in which the value begins `offset` bytes behind a multiple of three.
    Base64 { alphabet: Alphabet, offset: u8 },
}

/// The letters of hexadecimal digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Letters {
    Small,
    Capital,
}

/// The two alphabets of base64 (RFC 4648 §4, §5).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Alphabet {
    Standard,
    UrlSafe,
}

/// What a form gives, overwritten after use.
pub(super) type Encoded = Zeroizing<Vec<u8>>;

impl Form {
    pub(super) const ALL: [Self; 9] = [
        Self::Raw,
        Self::Hex(Letters::Small),
        Self::Hex(Letters::Capital),
        Self::base64(Alphabet::Standard, 0),
        Self::base64(Alphabet::Standard, 1),
        Self::base64(Alphabet::Standard, 2),
        Self::base64(Alphabet::UrlSafe, 0),
        Self::base64(Alphabet::UrlSafe, 1),
        Self::base64(Alphabet::UrlSafe, 2),
    ];

    const fn base64(alphabet: Alphabet, offset: u8) -> Self {
        Self::Base64 { alphabet, offset }
    }

    /// Writes a value in this form.
    ///
    /// Of base64 only the characters that do not depend on the neighbours of the value.
    pub(super) fn encode(self, value: &str) -> Encoded {
        match self {
            Self::Raw => Zeroizing::new(value.as_bytes().to_vec()),
            Self::Hex(letters) => {
                let mut encoded = Zeroizing::new(Vec::with_capacity(value.len() * 2));
                for byte in value.bytes() {
                    encoded.extend(letters.digits(byte));
                }
                encoded
            }
            Self::Base64 { alphabet, offset } => encode_base64(value, alphabet, offset),
        }
    }

    /// Says whether a text is the value in this form.
    pub(super) fn is(self, value: &str, text: &[u8]) -> bool {
        match self {
            Self::Raw => value.as_bytes() == text,
            _ => self.encode(value).as_slice() == text,
        }
    }

    /// Says whether the value in this form begins with a text.
    pub(super) fn begins_with(self, value: &str, text: &[u8]) -> bool {
        match self {
            Self::Raw => value.as_bytes().starts_with(text),
            _ => {
                // No form is shorter than the value, so this much of it is enough.
                let enough = value.get(..value.ceil_char_boundary(text.len() + 3));
                self.encode(enough.unwrap_or(value)).starts_with(text)
            }
        }
    }

    /// Widens a place where the value was found to all that depends on the value: in base64 the
    /// characters at its ends that it shares with its neighbours, and the padding.
    pub(super) fn widen(self, value: &str, text: &[u8], found: Range<usize>) -> Range<usize> {
        let Self::Base64 { alphabet, offset } = self else {
            return found;
        };
        let is_shared = |byte: &u8| alphabet.contains(*byte);
        let Range { mut start, mut end } = found;
        if offset != 0 {
            let before = start.checked_sub(1).and_then(|before| text.get(before));
            start -= usize::from(before.is_some_and(is_shared));
        }
        if !(usize::from(offset) + value.len()).is_multiple_of(3) {
            end += usize::from(text.get(end).is_some_and(is_shared));
            let padding = text.get(end..).unwrap_or_default().iter();
            end += padding.take(2).take_while(|&&byte| byte == b'=').count();
        }
        start..end
    }
}

impl Letters {
    fn digits(self, byte: u8) -> [u8; 2] {
        let digit = |value: u8| match (value, self) {
            (0..=9, _) => b'0' + value,
            (_, Self::Small) => b'a' + value - 10,
            (_, Self::Capital) => b'A' + value - 10,
        };
        [digit(byte >> 4), digit(byte & 15)]
    }
}

impl Alphabet {
    fn contains(self, byte: u8) -> bool {
        let others = match self {
            Self::Standard => [b'+', b'/'],
            Self::UrlSafe => [b'-', b'_'],
        };
        byte.is_ascii_alphanumeric() || others.contains(&byte)
    }
}

fn encode_base64(value: &str, alphabet: Alphabet, offset: u8) -> Encoded {
    let offset = usize::from(offset);
    let mut padded = Zeroizing::new(Vec::with_capacity(offset + value.len()));
    padded.resize(offset, 0);
    padded.extend_from_slice(value.as_bytes());
    let engine = match alphabet {
        Alphabet::Standard => STANDARD_NO_PAD,
        Alphabet::UrlSafe => URL_SAFE_NO_PAD,
    };
    let text = Zeroizing::new(engine.encode(&*padded));
    // A character stands for six bits; the first and last may share theirs with a neighbour.
    let own = (offset * 8).div_ceil(6)..padded.len() * 8 / 6;
    Zeroizing::new(text.as_bytes().get(own).unwrap_or_default().to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(form: Form, value: &str) -> String {
        String::from_utf8(form.encode(value).to_vec()).unwrap()
    }

    #[test]
    fn hex_has_two_digits_per_byte() {
        assert_eq!(text(Form::Hex(Letters::Small), "aé/"), "61c3a92f");
        assert_eq!(text(Form::Hex(Letters::Capital), "aé/"), "61C3A92F");
    }

    #[test]
    fn base64_is_found_behind_any_prefix_and_before_any_suffix() {
        let value = "hunter2?>~";
        for prefix in ["", "u", "us", "use", "user:"] {
            for suffix in ["", "x", "yz", "\u{1}\u{2}\u{3}"] {
                let whole = format!("{prefix}{value}{suffix}");
                for (alphabet, encoded) in [
                    (Alphabet::Standard, STANDARD_NO_PAD.encode(&whole)),
                    (Alphabet::UrlSafe, URL_SAFE_NO_PAD.encode(&whole)),
                ] {
                    let form = Form::Base64 {
                        alphabet,
                        offset: u8::try_from(prefix.len() % 3).unwrap(),
                    };
                    let own = text(form, value);
                    assert!(encoded.contains(&own), "{encoded} {own}");
                }
            }
        }
    }

    #[test]
    fn widening_takes_shared_characters_and_padding() {
        let form = |offset| Form::Base64 {
            alphabet: Alphabet::Standard,
            offset,
        };
        // "abcd" is `YWJjZA==`: five characters of its own, one shared with nothing.
        assert_eq!(form(0).widen("abcd", b"YWJjZA== x", 0..5), 0..8);
        assert_eq!(form(0).widen("abc", b"YWJjZA== x", 0..4), 0..4);
        // "xabcd" is `eGFiY2Q=`.
        assert_eq!(form(1).widen("abcd", b"eGFiY2Q=", 2..6), 1..8);
        assert_eq!(form(1).widen("abcd", b" FiY2", 1..5), 1..5);
        assert_eq!(Form::Raw.widen("abcd", b"abcd==", 0..4), 0..4);
    }

    #[test]
    fn no_form_is_shorter_than_the_value() {
        for form in Form::ALL {
            assert!(form.encode("abcdef").len() >= "abcdef".len(), "{form:?}");
        }
    }
}
