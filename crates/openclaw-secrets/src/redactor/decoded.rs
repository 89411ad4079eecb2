//! Texts as they read once a layer of encoding is undone.
//!
//! Encoders differ in what they encode, so a text is decoded rather than a value encoded: whatever
//! was done to the characters of a value, this undoes it. Only a text that leaves an escape open
//! right before a value (a lone `\` or `%`) can hide the first character of it.

use std::iter;
use std::ops::Range;

/// An encoding that leaves most characters as they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Layer {
    /// The escapes of JSON (RFC 8259 §7) and of program text: `\"`, `\u00e9`, `\u{e9}`, `\xe9`.
    Escapes,
    /// Percent-encoding (RFC 3986 §2.1).
    Percent,
    /// The same as in a form, where `+` is a space.
    Form,
}

impl Layer {
    pub(super) const ALL: [Self; 3] = [Self::Escapes, Self::Percent, Self::Form];

    /// Undoes this layer; `None` if there is nothing to undo.
    pub(super) fn undo(self, text: &[u8]) -> Option<Vec<u8>> {
        let mut decoded = Vec::new();
        let mut copied = 0;
        for (place, unit) in self.units(text) {
            decoded.extend_from_slice(text.get(copied..place.start).unwrap_or_default());
            unit.append_to(&mut decoded);
            copied = place.end;
        }
        decoded.extend_from_slice(text.get(copied..).unwrap_or_default());
        // No unit is empty.
        (copied > 0).then_some(decoded)
    }

    /// Turns ranges of the undone text into those of the text.
    ///
    /// The text is read again: hits are rare, and a table of all places would be several times
    /// the size of the text.
    pub(super) fn locate(self, text: &[u8], ranges: &mut [Range<usize>]) {
        let mut places: Vec<&mut usize> = ranges
            .iter_mut()
            .flat_map(|range| [&mut range.start, &mut range.end])
            .collect();
        places.sort_unstable();
        let mut places = places.into_iter().peekable();
        // Where the last unit ends in both texts; up to the next one they are the same.
        let (mut decoded, mut original) = (0, 0);
        for (place, unit) in self.units(text) {
            let end = decoded + (place.start - original) + unit.len();
            while let Some(at) = places.next_if(|at| **at < end) {
                *at = *at - decoded + original;
            }
            (decoded, original) = (end, place.end);
        }
        for at in places {
            *at = *at - decoded + original;
        }
    }

    /// Lists what is encoded in a text.
    fn units(self, text: &[u8]) -> impl Iterator<Item = (Range<usize>, Unit)> {
        let mut from = 0;
        iter::from_fn(move || {
            loop {
                let rest = text.get(from..)?;
                let start = from + rest.iter().position(|&byte| self.marks(byte))?;
                from = start + 1;
                if let Some((unit, length)) = self.unit(text.get(start..)?) {
                    from = start + length;
                    return Some((start..from, unit));
                }
            }
        })
    }

    /// Says whether a unit can begin with a byte.
    fn marks(self, byte: u8) -> bool {
        match self {
            Self::Escapes => byte == b'\\',
            Self::Percent => byte == b'%',
            Self::Form => matches!(byte, b'%' | b'+'),
        }
    }

    /// Reads the unit with which a text begins, and says how long it is.
    fn unit(self, text: &[u8]) -> Option<(Unit, usize)> {
        match (self, text) {
            (Self::Escapes, _) => escape(text),
            (Self::Form, [b'+', ..]) => Some((Unit::Byte(b' '), 1)),
            (Self::Percent | Self::Form, _) => Some((Unit::Byte(hex_byte(text.get(1..3)?)?), 3)),
        }
    }
}

/// What an encoded unit stands for.
enum Unit {
    Byte(u8),
    Character(char),
}

impl Unit {
    fn len(&self) -> usize {
        match self {
            Self::Byte(_) => 1,
            Self::Character(character) => character.len_utf8(),
        }
    }

    fn append_to(self, text: &mut Vec<u8>) {
        match self {
            Self::Byte(byte) => text.push(byte),
            Self::Character(character) => {
                text.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
            }
        }
    }
}

fn escape(text: &[u8]) -> Option<(Unit, usize)> {
    let byte = match *text.get(1)? {
        mark @ (b'"' | b'\'' | b'/' | b'\\') => mark,
        b'0' => b'\0',
        b'b' => b'\x08',
        b'f' => b'\x0c',
        b'n' => b'\n',
        b'r' => b'\r',
        b't' => b'\t',
        b'x' => return Some((Unit::Byte(hex_byte(text.get(2..4)?)?), 4)),
        b'u' => return unicode_escape(text),
        _ => return None,
    };
    Some((Unit::Byte(byte), 2))
}

/// Reads `\u00e9`, the surrogate pair `\ud834\udd1e`, or Rust's and JavaScript's `\u{1d11e}`.
fn unicode_escape(text: &[u8]) -> Option<(Unit, usize)> {
    let (number, length) = if let Some([b'{', braced @ ..]) = text.get(2..) {
        let digits = braced.iter().take(7).position(|&byte| byte == b'}')?;
        let digits = braced.get(..digits).filter(|digits| !digits.is_empty())?;
        (hex(digits)?, digits.len() + 4)
    } else {
        match hex(text.get(2..6)?)? {
            high @ 0xD800..0xDC00 => {
                let low = hex(text.get(6..12)?.strip_prefix(b"\\u")?)?;
                let low = Some(low).filter(|low| (0xDC00..0xE000).contains(low))?;
                (0x1_0000 + ((high - 0xD800) << 10) + (low - 0xDC00), 12)
            }
            number => (number, 6),
        }
    };
    Some((Unit::Character(char::from_u32(number)?), length))
}

fn hex_byte(digits: &[u8]) -> Option<u8> {
    u8::try_from(hex(digits)?).ok()
}

fn hex(digits: &[u8]) -> Option<u32> {
    digits.iter().try_fold(0_u32, |number, &digit| {
        Some(number << 4 | char::from(digit).to_digit(16)?)
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn undone(layer: Layer, text: &str) -> Option<String> {
        layer
            .undo(text.as_bytes())
            .map(|decoded| String::from_utf8(decoded).unwrap())
    }

    #[test]
    fn escapes_of_all_writers_are_undone() {
        for (text, expected) in [
            (r#"a\"b\'c\/d\\e"#, "a\"b'c/d\\e"),
            (r"\0\b\f\n\r\t", "\0\u{8}\u{c}\n\r\t"),
            (r"\u00e9\u00E9\xc3\xa9\u{e9}\u{1D11E}", "éééé𝄞"),
            (r"\ud834\udd1e\uD834\uDD1E", "𝄞𝄞"),
            (r"\\u00e9", r"\u00e9"),
            (r"\\\\n", r"\\n"),
        ] {
            assert_eq!(undone(Layer::Escapes, text).unwrap(), expected, "{text}");
        }
    }

    #[test]
    fn percent_signs_and_pluses_are_undone() {
        for (layer, text, expected) in [
            (Layer::Percent, "a%20b%2F%2f+%C3%a9", "a b//+é"),
            (Layer::Form, "a+b%2B%C3%A9", "a b+é"),
            (Layer::Percent, "%2520", "%20"),
            (Layer::Form, "50%+%41", "50% A"),
        ] {
            assert_eq!(undone(layer, text).unwrap(), expected, "{text}");
        }
    }

    #[test]
    fn what_is_no_encoding_is_left_alone() {
        for (layer, text) in [
            (
                Layer::Escapes,
                r"C:\dir\q \u12 \u{} \u{110000} \x4 \ud834 \ud834\u \",
            ),
            (Layer::Escapes, r"\udd1e \u{00000041} \u+041 %20 +"),
            (Layer::Percent, "100% %2 %zz %+1 + \\n %"),
            (Layer::Form, "100% %2"),
        ] {
            assert_eq!(undone(layer, text), None, "{text}");
        }
    }

    #[test]
    fn ranges_are_found_in_the_original() {
        let text = br#"ab\u00e9cd\"ef"#;
        assert_eq!(Layer::Escapes.undo(text).unwrap(), "abécd\"ef".as_bytes());
        let mut ranges = [0..9, 0..1, 0..2, 2..4, 4..6, 1..7, 6..7, 7..9];
        Layer::Escapes.locate(text, &mut ranges);
        assert_eq!(
            ranges,
            [0..14, 0..1, 0..2, 2..8, 8..10, 1..12, 10..12, 12..14]
        );
    }

    proptest! {
        #[test]
        fn what_serde_json_and_debug_write_is_undone(value in any::<String>()) {
            for quoted in [serde_json::to_string(&value).unwrap(), format!("{value:?}")] {
                let inner = &quoted[1..quoted.len() - 1];
                let plain = undone(Layer::Escapes, inner).unwrap_or_else(|| inner.to_owned());
                prop_assert_eq!(&plain, &value);
            }
        }

        #[test]
        fn every_byte_has_a_place(text in r#"([a-c]|\\u00e9|\\n|\\|%41|%|\+){0,20}"#) {
            for layer in Layer::ALL {
                let Some(decoded) = layer.undo(text.as_bytes()) else { continue };
                let mut places: Vec<_> = (0..decoded.len()).map(|at| at..at + 1).collect();
                layer.locate(text.as_bytes(), &mut places);
                prop_assert_eq!(places.first().map(|place| place.start), Some(0));
                prop_assert_eq!(places.last().map(|place| place.end), Some(text.len()));
                prop_assert!(places.windows(2).all(|pair| pair[0].end == pair[1].start));
            }
        }
    }
}
