//! Base64, checked strictly.

mod decoder;

pub use decoder::Base64Decoder;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::sniff::MediaKind;

/// How much is decoded at once, in characters; a multiple of four.
const CHUNK: usize = 4096;

/// Why a text is no base64.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Base64Error {
    /// The number of characters is not a multiple of four, so something is missing.
    #[error("base64 of {0} characters is incomplete: the number must be a multiple of four")]
    Length(usize),
    /// A character that does not belong there, or padding that is wrong; where, from 0.
    #[error("base64 is malformed at offset {0}")]
    Malformed(usize),
    /// White space; where, from 0.
    #[error("base64 has white space at offset {0}: it must be one line without spaces")]
    Space(usize),
    /// A character of the alphabet for addresses; where, from 0.
    #[error(
        "base64 has `-` or `_` at offset {0}: it must be of the standard alphabet, with `+` and `/`"
    )]
    UrlSafe(usize),
    /// The address that data are in, and not the data alone.
    #[error("it is a data URI: only what follows `;base64,` belongs here")]
    DataUri,
}

/// A text that is known to be base64: the standard alphabet, padded, canonical, without spaces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Base64<'t> {
    text: &'t str,
    decoded_len: usize,
}

impl<'t> Base64<'t> {
    /// Checks a text, in one pass and without memory for the result.
    pub fn check(text: &'t str) -> Result<Self, Base64Error> {
        Self::check_pouring(text, |_| {})
    }

    /// Checks a text as [`Base64::check`] does, and hands over what it decodes to, piece by piece.
    /// What was handed over counts only if the text is found to be base64 in the end.
    pub fn check_pouring(text: &'t str, mut pour: impl FnMut(&[u8])) -> Result<Self, Base64Error> {
        let mut decoder = Base64Decoder::new();
        decoder.push(text.as_bytes(), &mut pour);
        let decoded_len = decoder.finish(&mut pour)?;
        Ok(Self { text, decoded_len })
    }

    /// The text itself.
    pub fn as_str(&self) -> &'t str {
        self.text
    }

    /// How many bytes it decodes to.
    pub fn decoded_len(&self) -> usize {
        self.decoded_len
    }

    /// Decodes it.
    pub fn decode(&self) -> Vec<u8> {
        STANDARD.decode(self.text).unwrap_or_default()
    }

    /// The first bytes, as many as it takes to recognise a type.
    pub(super) fn head(&self) -> Vec<u8> {
        let end = self.text.len().min(MediaKind::HEAD.div_ceil(3) * 4);
        STANDARD
            .decode(self.text.get(..end).unwrap_or_default())
            .unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_those_of_the_decoded_bytes() {
        for length in [0, 1, 2, 3, 4, 3071, 3072, 3073, 10_000] {
            let text = STANDARD.encode(vec![7; length]);
            let checked = Base64::check(&text).unwrap();
            assert_eq!(checked.decoded_len(), length);
            assert_eq!(checked.decode(), vec![7; length]);
            let mut poured = Vec::new();
            Base64::check_pouring(&text, |bytes| poured.extend_from_slice(bytes)).unwrap();
            assert_eq!(poured, vec![7; length]);
        }
    }

    #[test]
    fn what_is_not_strictly_base64_is_refused() {
        for text in [
            "QQ", "QQ=", "Q Q=", "QQ==QQ==", "QR==", "Q===", "====", "QQ==\n", "-_-_",
        ] {
            assert!(Base64::check(text).is_err(), "{text}");
        }
        let padding_inside = format!("{}QQ=={}", "A".repeat(CHUNK - 4), "A".repeat(8));
        assert_eq!(
            Base64::check(&padding_inside),
            Err(Base64Error::Malformed(CHUNK))
        );
    }
}
