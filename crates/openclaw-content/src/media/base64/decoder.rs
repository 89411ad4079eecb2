//! Base64 that comes in pieces.

use base64::engine::general_purpose::STANDARD;
use base64::{DecodeError, DecodeSliceError, Engine as _};

use super::{Base64Error, CHUNK};

/// How many bytes a chunk decodes to.
const DECODED: usize = CHUNK / 4 * 3;

/// Decodes base64 that comes in pieces, as strictly as [`Base64::check`](super::Base64::check), and
/// with the same words whatever the pieces are.
///
/// What is decoded is handed on before the whole is known to be sound, so whoever takes it has to give
/// it up where [`finish`](Self::finish) says that it is not.
pub struct Base64Decoder {
    /// The beginning of a chunk whose rest has not come.
    begun: [u8; CHUNK],
    begun_len: usize,
    /// Where the next chunk stands in the text.
    at: usize,
    chunks: Chunks,
}

/// What was made of whole chunks.
struct Chunks {
    buffer: [u8; DECODED],
    decoded_len: usize,
    state: State,
}

#[derive(Clone, Copy)]
enum State {
    /// More can come.
    Open,
    /// There was padding, so nothing can come.
    Padded,
    /// Not base64: the rest does not count.
    Malformed(Base64Error),
}

impl Default for Base64Decoder {
    fn default() -> Self {
        Self::new()
    }
}

impl Base64Decoder {
    /// A decoder of one text.
    pub fn new() -> Self {
        Self {
            begun: [0; CHUNK],
            begun_len: 0,
            at: 0,
            chunks: Chunks {
                buffer: [0; DECODED],
                decoded_len: 0,
                state: State::Open,
            },
        }
    }

    /// Takes more of the text, and hands on what it decodes to, as far as that is known.
    pub fn push(&mut self, text: &[u8], mut take: impl FnMut(&[u8])) {
        let mut text = text;
        if self.begun_len > 0 {
            text = self.begin(text);
            if self.begun_len < CHUNK {
                return;
            }
            self.chunks.decode(&self.begun, self.at, &mut take);
            self.at += CHUNK;
            self.begun_len = 0;
        }
        // What came whole is decoded where it is.
        let whole = text.chunks_exact(CHUNK);
        let rest = whole.remainder();
        for chunk in whole {
            self.chunks.decode(chunk, self.at, &mut take);
            self.at += CHUNK;
        }
        self.begin(rest);
    }

    /// Ends the text: hands on the last bytes, and says how many there were.
    pub fn finish(mut self, mut take: impl FnMut(&[u8])) -> Result<usize, Base64Error> {
        let begun = self.begun.get(..self.begun_len).unwrap_or_default();
        let whole = begun.len() / 4 * 4;
        if let Some(last @ [_, ..]) = begun.get(..whole) {
            self.chunks.decode(last, self.at, &mut take);
        }
        // What is wrong with a character says more than how many there are.
        if let State::Malformed(error) = self.chunks.state {
            return Err(error);
        }
        let rest = begun.get(whole..).unwrap_or_default();
        if rest.is_empty() {
            return Ok(self.chunks.decoded_len);
        }
        let is_strange = |byte: &u8| !byte.is_ascii_alphanumeric() && !b"+/=".contains(byte);
        let strange = match self.chunks.state {
            State::Padded => Some(0),
            _ => rest.iter().position(is_strange),
        };
        Err(match strange {
            Some(place) => fault(begun, self.at, whole + place),
            None => Base64Error::Length(self.at + self.begun_len),
        })
    }

    /// Keeps what fits into the chunk that has begun, and returns the rest.
    fn begin<'t>(&mut self, text: &'t [u8]) -> &'t [u8] {
        let (now, later) = text.split_at(text.len().min(CHUNK - self.begun_len));
        let end = self.begun_len + now.len();
        self.begun[self.begun_len..end].copy_from_slice(now);
        self.begun_len = end;
        later
    }
}

impl Chunks {
    /// Decodes a chunk that stands at a place of the text.
    fn decode(&mut self, chunk: &[u8], at: usize, take: &mut impl FnMut(&[u8])) {
        match self.state {
            State::Open => {}
            // Padding stands at the end of the text, not at the end of a chunk.
            State::Padded => return self.state = State::Malformed(fault(chunk, at, 0)),
            State::Malformed(_) => return,
        }
        match STANDARD.decode_slice(chunk, &mut self.buffer) {
            Ok(length) => {
                if length < chunk.len() / 4 * 3 {
                    self.state = State::Padded;
                }
                self.decoded_len += length;
                take(self.buffer.get(..length).unwrap_or_default());
            }
            Err(error) => self.state = State::Malformed(fault(chunk, at, place(&error, chunk))),
        }
    }
}

/// Where the character stands in a chunk that does not belong there.
fn place(error: &DecodeSliceError, chunk: &[u8]) -> usize {
    match error {
        DecodeSliceError::DecodeError(
            DecodeError::InvalidByte(place, _) | DecodeError::InvalidLastSymbol(place, _),
        ) => *place,
        DecodeSliceError::DecodeError(
            DecodeError::InvalidPadding | DecodeError::InvalidLength(_),
        )
        | DecodeSliceError::OutputSliceTooSmall => chunk.len().saturating_sub(1),
    }
}

/// What is wrong with a character of a chunk that stands at a place of the text: one of the usual
/// mistakes, most often.
fn fault(chunk: &[u8], at: usize, place: usize) -> Base64Error {
    match chunk.get(place) {
        Some(b':') if at == 0 && place == 4 && chunk.starts_with(b"data") => Base64Error::DataUri,
        Some(b'-' | b'_') => Base64Error::UrlSafe(at + place),
        Some(byte) if byte.is_ascii_whitespace() => Base64Error::Space(at + place),
        _ => Base64Error::Malformed(at + place),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use proptest::sample::Index;

    use super::super::Base64;
    use super::*;

    /// What a decoder makes of a text that is cut at these places.
    fn decoded(text: &[u8], cuts: &[Index]) -> Result<Vec<u8>, Base64Error> {
        let mut places: Vec<usize> = cuts.iter().map(|cut| cut.index(text.len() + 1)).collect();
        places.extend([0, text.len()]);
        places.sort_unstable();
        let mut decoder = Base64Decoder::new();
        let mut bytes = Vec::new();
        for cut in places.windows(2) {
            decoder.push(&text[cut[0]..cut[1]], |more| bytes.extend_from_slice(more));
        }
        let length = decoder.finish(|more| bytes.extend_from_slice(more))?;
        assert_eq!(length, bytes.len());
        Ok(bytes)
    }

    /// Base64 of any length, in which a few characters may be wrong.
    fn text() -> impl Strategy<Value = String> {
        let wrong = (any::<Index>(), "[A-Za-z0-9+/=\\-_ \\n\\x00é]");
        (
            proptest::collection::vec(any::<u8>(), 0..14_000),
            proptest::collection::vec(wrong, 0..3),
            0_usize..4,
        )
            .prop_map(|(bytes, wrong, cut)| {
                let mut text: Vec<char> = STANDARD.encode(bytes).chars().collect();
                for (place, with) in wrong {
                    if !text.is_empty() {
                        let place = place.index(text.len());
                        text[place] = with.chars().next().unwrap();
                    }
                }
                text.truncate(text.len() - cut.min(text.len()) * usize::from(cut % 2 == 1));
                text.into_iter().collect()
            })
    }

    proptest! {
        #[test]
        fn pieces_change_nothing(
            text in prop_oneof![text(), any::<String>(), "[AQ=]{0,12}"],
            cuts in proptest::collection::vec(any::<Index>(), 0..12),
        ) {
            let whole = Base64::check(&text);
            prop_assert_eq!(decoded(text.as_bytes(), &cuts), whole.map(|text| text.decode()));
            // The library, which sees all of it at once, is of the same opinion.
            let library = STANDARD.decode(&text);
            prop_assert_eq!(whole.is_ok(), library.is_ok());
            if let Ok(checked) = whole {
                prop_assert_eq!(checked.decoded_len(), library.unwrap().len());
            }
        }
    }

    #[test]
    fn single_characters_are_enough() {
        let bytes: Vec<u8> = (0..=255).cycle().take(DECODED * 2 + 1).collect();
        let text = STANDARD.encode(&bytes);
        let mut decoder = Base64Decoder::default();
        let mut heard = Vec::new();
        for character in text.as_bytes() {
            decoder.push(&[*character], |more| heard.extend_from_slice(more));
        }
        let length = decoder.finish(|more| heard.extend_from_slice(more));
        assert_eq!(length, Ok(bytes.len()));
        assert_eq!(heard, bytes);
    }

    #[test]
    fn padding_at_the_end_of_a_chunk_ends_the_text() {
        let padded = format!("{}QQ==", "A".repeat(CHUNK - 4));
        assert_eq!(decoded(padded.as_bytes(), &[]).unwrap().len(), DECODED - 2);
        let more = format!("{padded}AAAA");
        assert_eq!(
            decoded(more.as_bytes(), &[]),
            Err(Base64Error::Malformed(CHUNK))
        );
    }

    #[test]
    fn what_is_wrong_is_told_with_its_place_and_before_the_length() {
        let long = "A".repeat(CHUNK + 40);
        for (text, expected) in [
            ("AAAAA".to_owned(), Base64Error::Length(5)),
            ("QQ=".to_owned(), Base64Error::Length(3)),
            ("AAAA!".to_owned(), Base64Error::Malformed(4)),
            ("AAAAA!AA".to_owned(), Base64Error::Malformed(5)),
            ("QQ==\n".to_owned(), Base64Error::Space(4)),
            ("AAAA\r\nAAAA".to_owned(), Base64Error::Space(4)),
            ("AA_-AA".to_owned(), Base64Error::UrlSafe(2)),
            (format!("{long}-A"), Base64Error::UrlSafe(CHUNK + 40)),
            (format!("{long}A AA"), Base64Error::Space(CHUNK + 41)),
            (
                "data:image/png;base64,AAAA".to_owned(),
                Base64Error::DataUri,
            ),
            ("data:".to_owned(), Base64Error::DataUri),
            ("AAAAdata:AAA".to_owned(), Base64Error::Malformed(8)),
        ] {
            assert_eq!(decoded(text.as_bytes(), &[]), Err(expected), "{text}");
            assert_eq!(Base64::check(&text), Err(expected), "{text}");
        }
    }
}
