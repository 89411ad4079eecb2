//! Whether bytes are text, and which.

/// Of so many characters, one at most may be damaged.
const SOUND: usize = 10;

/// The text that bytes are, if they are text: UTF-8, or UTF-16 that says so.
///
/// A few damaged characters, as those of another encoding, are replaced. What has many of them or a
/// NUL is something else, whatever it is called.
pub(super) fn decoded(bytes: &[u8]) -> Option<String> {
    let text = match bytes {
        [0xef, 0xbb, 0xbf, rest @ ..] => String::from_utf8_lossy(rest).into_owned(),
        [0xff, 0xfe, rest @ ..] => wide(rest, u16::from_le_bytes),
        [0xfe, 0xff, rest @ ..] => wide(rest, u16::from_be_bytes),
        all => String::from_utf8_lossy(all).into_owned(),
    };
    if text.contains('\0') {
        return None;
    }
    let damaged = text.matches(char::REPLACEMENT_CHARACTER).count();
    (damaged == 0 || damaged * SOUND <= text.chars().count()).then_some(text)
}

fn wide(bytes: &[u8], unit: impl Fn([u8; 2]) -> u16) -> String {
    let (pairs, rest) = bytes.as_chunks::<2>();
    let units = pairs.iter().map(|pair| unit(*pair));
    let characters = char::decode_utf16(units);
    let mut text: String = characters
        .map(|character| character.unwrap_or(char::REPLACEMENT_CHARACTER))
        .collect();
    if !rest.is_empty() {
        text.push(char::REPLACEMENT_CHARACTER);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_known_with_and_without_a_mark() {
        assert_eq!(decoded(b"\xc3\xa9t\xc3\xa9").as_deref(), Some("été"));
        assert_eq!(decoded(b"\xef\xbb\xbfhi").as_deref(), Some("hi"));
        assert_eq!(decoded(b"\xff\xfeh\0i\0").as_deref(), Some("hi"));
        assert_eq!(decoded(b"\xfe\xff\0h\0i").as_deref(), Some("hi"));
        assert_eq!(decoded(b"").as_deref(), Some(""));
    }

    #[test]
    fn a_damaged_letter_is_borne_and_garbage_is_not() {
        let latin = b"a text that somebody wrote with an \xe9 in it";
        assert!(decoded(latin).unwrap().contains('\u{fffd}'));
        assert_eq!(decoded(b"\x7fELF\x02\x01\x01\0\0\0"), None);
        assert_eq!(decoded(&[0x80; 100]), None);
        assert_eq!(decoded(b"\xff\xfeh"), None);
    }
}
