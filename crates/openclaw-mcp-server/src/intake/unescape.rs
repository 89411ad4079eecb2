//! What a string says, and whether it is one.

use memchr::memchr;

/// Why something between quotes is no string of JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Fault {
    /// A control character that is not escaped.
    #[error("a control character")]
    Control,
    /// An escape that there is not.
    #[error("an invalid escape")]
    Escape,
    /// Half of a character.
    #[error("a lone surrogate")]
    Surrogate,
    /// Bytes that are no text.
    #[error("invalid UTF-8")]
    Encoding,
}

/// Makes text of what stands between quotes, in pieces, as strictly as `serde_json`.
#[derive(Debug, Default)]
pub(super) struct Unescape {
    state: State,
    /// The first half of a character, whose second half has to follow.
    high: Option<u16>,
    unfinished: Unfinished,
}

#[derive(Clone, Copy, Debug, Default)]
enum State {
    #[default]
    Plain,
    /// After a backslash.
    Escape,
    /// After `\u`.
    Hexadecimal { digits: u8, unit: u16 },
}

impl Unescape {
    /// Takes more, and hands on the text that it stands for.
    pub(super) fn push(
        &mut self,
        quoted: &[u8],
        take: &mut impl FnMut(&[u8]),
    ) -> Result<(), Fault> {
        let mut quoted = quoted;
        while let Some((&first, rest)) = quoted.split_first() {
            quoted = match self.state {
                State::Plain if first == b'\\' => {
                    self.state = State::Escape;
                    rest
                }
                State::Plain => {
                    let end = memchr(b'\\', quoted).unwrap_or(quoted.len());
                    let (plain, escaped) = quoted.split_at(end);
                    self.plain(plain)?;
                    take(plain);
                    escaped
                }
                State::Escape => {
                    self.escape(first, take)?;
                    rest
                }
                State::Hexadecimal { digits, unit } => {
                    self.digit(first, digits, unit, take)?;
                    rest
                }
            };
        }
        Ok(())
    }

    /// Says whether the string may end here.
    pub(super) fn finish(&self) -> Result<(), Fault> {
        if !matches!(self.state, State::Plain) {
            return Err(Fault::Escape);
        }
        if self.high.is_some() {
            return Err(Fault::Surrogate);
        }
        self.unfinished.none()
    }

    /// Checks bytes that stand for themselves.
    fn plain(&mut self, plain: &[u8]) -> Result<(), Fault> {
        if self.high.is_some() {
            return Err(Fault::Surrogate);
        }
        // Without a way out of the loop it is done for many bytes at once.
        let is_printable = plain
            .iter()
            .fold(true, |so_far, byte| so_far & matches!(byte, b' '..=0x7f));
        if is_printable {
            return self.unfinished.none();
        }
        if plain.iter().any(|&byte| byte < b' ') {
            return Err(Fault::Control);
        }
        self.unfinished.push(plain)
    }

    fn escape(&mut self, escape: u8, take: &mut impl FnMut(&[u8])) -> Result<(), Fault> {
        self.unfinished.none()?;
        self.state = State::Plain;
        let meant = match escape {
            b'u' => {
                self.state = State::Hexadecimal { digits: 0, unit: 0 };
                return Ok(());
            }
            b'"' | b'\\' | b'/' => escape,
            b'b' => 0x08,
            b'f' => 0x0c,
            b'n' => b'\n',
            b'r' => b'\r',
            b't' => b'\t',
            _ => return Err(Fault::Escape),
        };
        if self.high.is_some() {
            return Err(Fault::Surrogate);
        }
        take(&[meant]);
        Ok(())
    }

    fn digit(
        &mut self,
        digit: u8,
        digits: u8,
        unit: u16,
        take: &mut impl FnMut(&[u8]),
    ) -> Result<(), Fault> {
        let value = match digit {
            b'0'..=b'9' => digit - b'0',
            b'a'..=b'f' => digit - b'a' + 10,
            b'A'..=b'F' => digit - b'A' + 10,
            _ => return Err(Fault::Escape),
        };
        let (digits, unit) = (digits + 1, unit << 4 | u16::from(value));
        if digits < 4 {
            self.state = State::Hexadecimal { digits, unit };
            return Ok(());
        }
        self.state = State::Plain;
        let code = match (self.high.take(), unit) {
            (None, 0xd800..=0xdbff) => {
                self.high = Some(unit);
                return Ok(());
            }
            (Some(high), 0xdc00..=0xdfff) => {
                0x1_0000 + ((u32::from(high) - 0xd800) << 10 | (u32::from(unit) - 0xdc00))
            }
            (Some(_), _) => return Err(Fault::Surrogate),
            (None, _) => u32::from(unit),
        };
        // Of 16 bits only the second half of a character is none.
        let character = char::from_u32(code).ok_or(Fault::Surrogate)?;
        take(character.encode_utf8(&mut [0; 4]).as_bytes());
        Ok(())
    }
}

/// The beginning of a character whose other bytes have not come.
#[derive(Debug, Default)]
struct Unfinished {
    bytes: [u8; 4],
    length: usize,
}

impl Unfinished {
    fn none(&self) -> Result<(), Fault> {
        match self.length {
            0 => Ok(()),
            _ => Err(Fault::Encoding),
        }
    }

    /// Checks more bytes.
    fn push(&mut self, bytes: &[u8]) -> Result<(), Fault> {
        let mut bytes = bytes;
        while self.length > 0
            && let Some((&first, rest)) = bytes.split_first()
        {
            bytes = rest;
            self.bytes[self.length] = first;
            self.length += 1;
            match std::str::from_utf8(&self.bytes[..self.length]) {
                Ok(_) => self.length = 0,
                // A character has four bytes at most, so there is room as long as one is unfinished.
                Err(error) if error.error_len().is_none() => {}
                Err(_) => return Err(Fault::Encoding),
            }
        }
        match std::str::from_utf8(bytes) {
            Ok(_) => Ok(()),
            Err(error) if error.error_len().is_none() => {
                let begun = &bytes[error.valid_up_to()..];
                self.bytes[..begun.len()].copy_from_slice(begun);
                self.length = begun.len();
                Ok(())
            }
            Err(_) => Err(Fault::Encoding),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use proptest::sample::Index;

    use super::*;

    fn unescaped(quoted: &[u8], cuts: &[Index]) -> Result<Vec<u8>, Fault> {
        let mut places: Vec<usize> = cuts.iter().map(|cut| cut.index(quoted.len() + 1)).collect();
        places.extend([0, quoted.len()]);
        places.sort_unstable();
        let mut unescape = Unescape::default();
        let mut text = Vec::new();
        for cut in places.windows(2) {
            unescape.push(&quoted[cut[0]..cut[1]], &mut |more| {
                text.extend_from_slice(more);
            })?;
        }
        unescape.finish()?;
        Ok(text)
    }

    /// What can stand between quotes, sound or not.
    fn quoted() -> impl Strategy<Value = Vec<u8>> {
        let part = prop_oneof![
            3 => "[a-zA-Z0-9+/=]{0,8}".prop_map(String::into_bytes),
            2 => any::<char>().prop_filter("these end it", |one| !matches!(one, '"' | '\\'))
                .prop_map(|one| one.to_string().into_bytes()),
            2 => "\\\\[\"\\\\/bfnrt]".prop_map(String::into_bytes),
            2 => "\\\\u[0-9a-fA-F]{4}".prop_map(String::into_bytes),
            2 => "\\\\u[dD][89abAB][0-9a-f]{2}\\\\u[dD][c-fC-F][0-9a-f]{2}".prop_map(String::into_bytes),
            1 => "\\\\u[dD][89abAB][0-9a-f]{2}".prop_map(String::into_bytes),
            1 => "\\\\[uxa ][0-9]{0,3}".prop_map(String::into_bytes),
            1 => any::<u8>().prop_filter("these end it", |one| !matches!(one, b'"' | b'\\'))
                .prop_map(|one| vec![one]),
        ];
        proptest::collection::vec(part, 0..8).prop_map(|parts| parts.concat())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2_000))]
        #[test]
        fn strings_are_read_as_serde_json_reads_them(
            quoted in quoted(),
            cuts in proptest::collection::vec(any::<Index>(), 0..6),
        ) {
            let whole = [b"\"", quoted.as_slice(), b"\""].concat();
            let expected = serde_json::from_slice::<String>(&whole);
            let told = unescaped(&quoted, &cuts);
            prop_assert_eq!(told.ok(), expected.ok().map(String::into_bytes));
        }
    }

    #[test]
    fn faults_are_told_apart() {
        for (quoted, fault) in [
            (b"a\0b" as &[u8], Fault::Control),
            (b"\x1f", Fault::Control),
            (b"\\x", Fault::Escape),
            (b"\\u00g0", Fault::Escape),
            (b"\\u00", Fault::Escape),
            (b"\\ud83d", Fault::Surrogate),
            (b"\\ud83dx", Fault::Surrogate),
            (b"\\ud83d\\n", Fault::Surrogate),
            (b"\\ud83d\\ud83d", Fault::Surrogate),
            (b"\\ude00", Fault::Surrogate),
            (b"\xff", Fault::Encoding),
            (b"\xc3", Fault::Encoding),
            (b"\xc3\\u00a9", Fault::Encoding),
            (b"\xed\xa0\x80", Fault::Encoding),
        ] {
            assert_eq!(unescaped(quoted, &[]), Err(fault), "{quoted:?}");
        }
        assert_eq!(
            unescaped(b"\\ud83d\\ude00", &[]),
            Ok("😀".as_bytes().to_vec())
        );
    }
}
