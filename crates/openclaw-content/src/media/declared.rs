//! What bytes are, where it is known what they are said to be: that says more than the bytes alone
//! where these are weak evidence.

use super::sniff::{MediaKind, behind_tag, has_tag};

/// Types of text that are not called so.
const TEXTS: [&str; 9] = [
    "application/json",
    "application/x-ndjson",
    "application/xml",
    "application/yaml",
    "application/x-yaml",
    "application/toml",
    "application/javascript",
    "application/x-sh",
    "application/sql",
];

/// Whether a type is one of text.
pub(super) fn is_text_type(media_type: &str) -> bool {
    media_type.starts_with("text/")
        || media_type.ends_with("+json")
        || media_type.ends_with("+xml")
        || TEXTS.contains(&media_type)
}

/// Whether all of this can be read: UTF-8 without control characters, but for those of lines. The last
/// character may be cut.
pub(super) fn is_plain_text(head: &[u8]) -> bool {
    let text = match str::from_utf8(head) {
        Ok(text) => text,
        Err(error) if error.error_len().is_none() => {
            let whole = head.get(..error.valid_up_to()).unwrap_or_default();
            str::from_utf8(whole).unwrap_or_default()
        }
        Err(_) => return false,
    };
    let is_of_lines = |it: char| matches!(it, '\t' | '\n' | '\r' | '\u{c}');
    text.chars().all(|it| !it.is_control() || is_of_lines(it))
}

impl MediaKind {
    /// Recognises a type by the first bytes of something that is declared to be of a type.
    pub(super) fn recognise(declared: &str, head: &[u8]) -> Option<Self> {
        let kind = Self::sniff(head);
        match kind {
            // Words may begin with the letters that a type is known by: "GIF89a is a format".
            Some(kind) if !kind.is_text() && is_text_type(declared) && is_plain_text(head) => None,
            // What follows the tag is not here, and others than MP3 have one, too.
            Some(Self::Mp3) if has_tag(head) && behind_tag(head).is_none() => {
                let others = [Self::Aac, Self::Flac].into_iter();
                let mut others = others.filter(|other| other.allows(declared));
                others.next().or(kind)
            }
            Some(_) => kind,
            // Readers look for the beginning of a document in its first kilobyte.
            None if Self::Pdf.allows(declared) => {
                let is_there = head.windows(5).any(|bytes| bytes == b"%PDF-");
                is_there.then_some(Self::Pdf)
            }
            // An archive of nothing is the end of an archive: zeros.
            None if Self::Tar.allows(declared) => {
                let is_end = head.len() == Self::HEAD && head.iter().all(|byte| *byte == 0);
                is_end.then_some(Self::Tar)
            }
            None => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn words_that_begin_like_something_else_are_text_where_they_are_called_so() {
        for words in [
            "GIF89a is a format of images",
            "%PDF-1.7 is written in the first line",
            "RIFFsizeWAVE is how it begins",
            "ADIF Export by a logbook of amateurs",
            "{\"ID3\": \"tags\"}",
        ] {
            for declared in ["text/plain", "text/csv", "application/json"] {
                let kind = MediaKind::recognise(declared, words.as_bytes());
                assert_eq!(kind, None, "{words}");
            }
        }
        let gif = MediaKind::recognise("text/plain", b"GIF89a\x01\0\x01\0");
        assert_eq!(gif, Some(MediaKind::Gif));
        let drawing = MediaKind::recognise("text/html", b"<svg></svg>");
        assert_eq!(drawing, Some(MediaKind::Svg));
        let nameless = MediaKind::recognise("", b"GIF89a");
        assert_eq!(nameless, Some(MediaKind::Gif));
    }

    #[test]
    fn what_is_declared_helps_where_the_bytes_say_little() {
        let tagged = b"ID3\x04\0\0\0\0\x7f\x7fTIT2";
        for (declared, kind) in [
            ("audio/aac", MediaKind::Aac),
            ("audio/flac", MediaKind::Flac),
            ("audio/mpeg", MediaKind::Mp3),
            ("", MediaKind::Mp3),
            ("image/png", MediaKind::Mp3),
        ] {
            let found = MediaKind::recognise(declared, tagged);
            assert_eq!(found, Some(kind), "{declared}");
        }
        let late = b"\r\nHTTP junk\n%PDF-1.4\n%\xe2\xe3";
        let found = MediaKind::recognise("application/pdf", late);
        assert_eq!(found, Some(MediaKind::Pdf));
        assert_eq!(MediaKind::recognise("", late), None);
        assert_eq!(MediaKind::recognise("application/pdf", b"PDF"), None);
        let zeros = [0; MediaKind::HEAD];
        let found = MediaKind::recognise("application/x-tar", &zeros);
        assert_eq!(found, Some(MediaKind::Tar));
        assert_eq!(MediaKind::recognise("application/x-tar", &[0; 100]), None);
        assert_eq!(MediaKind::recognise("application/pdf", &zeros), None);
    }

    #[test]
    fn a_character_that_is_cut_at_the_end_is_no_harm() {
        assert!(is_plain_text("été".as_bytes()));
        assert!(is_plain_text(b"a line\r\n\tand \xc3"));
        assert!(!is_plain_text(b"a\xc3b"));
        assert!(!is_plain_text(b"a\x01"));
    }

    proptest! {
        #[test]
        fn no_printable_text_is_taken_for_anything_else(
            beginning in prop_oneof![
                Just(""), Just("The wide river"), Just("The moov"), Just("The ftyp box"),
                Just("ADIF"), Just("ID3 "), Just("GIF89a"), Just("OggS"), Just("%PDF-"),
                Just("fLaC"), Just("RIFF....WAVE"), Just("RIFF....AVI "),
            ],
            rest in "[\\PC\\n\\t]{0,600}",
        ) {
            let text = format!("{beginning}{rest}");
            let head = text.as_bytes();
            let head = head.get(..MediaKind::HEAD).unwrap_or(head);
            let kind = MediaKind::recognise("text/plain", head);
            prop_assert!(kind.is_none_or(MediaKind::is_text), "{:?}", kind);
        }
    }
}
