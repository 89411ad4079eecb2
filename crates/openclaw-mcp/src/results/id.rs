//! Names of kept results that nobody can guess.

use std::fmt;
use std::io;

use ring::rand::{SecureRandom as _, SystemRandom};

/// How many bytes are random.
const BYTES: usize = 16;
/// How the files are called that hold results.
const EXTENSION: &str = ".result";

/// The name of a kept result: 128 random bits, written as 32 hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct ResultId([u8; BYTES]);

impl ResultId {
    /// A new name.
    pub(super) fn random() -> io::Result<Self> {
        let mut bytes = [0; BYTES];
        SystemRandom::new()
            .fill(&mut bytes)
            .map_err(|_| io::Error::other("the system gives no random numbers"))?;
        Ok(Self(bytes))
    }

    /// The name that this text shows, exactly as we write it.
    ///
    /// Models give this text, so nothing but digits comes through: it becomes part of a path.
    pub fn parse(text: &str) -> Option<Self> {
        let is_ours = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
        if text.len() != 2 * BYTES || !text.bytes().all(is_ours) {
            return None;
        }
        let mut bytes = [0; BYTES];
        for (place, byte) in bytes.iter_mut().enumerate() {
            *byte = u8::from_str_radix(text.get(place * 2..place * 2 + 2)?, 16).ok()?;
        }
        Some(Self(bytes))
    }

    /// The name of the file that holds it.
    pub(super) fn file_name(self) -> String {
        format!("{self}{EXTENSION}")
    }

    /// The result that a file of this name holds.
    pub(super) fn of_file(name: &str) -> Option<Self> {
        Self::parse(name.strip_suffix(EXTENSION)?)
    }

    pub(super) fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

impl fmt::Display for ResultId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0
            .iter()
            .try_for_each(|byte| write!(formatter, "{byte:02x}"))
    }
}

impl fmt::Debug for ResultId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "ResultId({self})")
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn only_what_we_write_is_a_name() {
        let id = ResultId::random().unwrap();
        assert_eq!(ResultId::parse(&id.to_string()), Some(id));
        assert_eq!(ResultId::of_file(&id.file_name()), Some(id));
        assert_ne!(ResultId::random().unwrap(), id);
        for text in [
            "",
            "../../../../../../etc/passwd\0aaaa",
            "+0000000000000000000000000000000",
            "ABCDEF00000000000000000000000000",
            "0000000000000000000000000000000",
            "000000000000000000000000000000000",
            "ä000000000000000000000000000000",
            " 0000000000000000000000000000000",
        ] {
            assert_eq!(ResultId::parse(text), None, "{text:?}");
        }
        assert_eq!(ResultId::of_file(&id.to_string()), None);
    }

    proptest! {
        #[test]
        fn what_is_taken_is_what_is_written(text in "[0-9a-fA-F+. /]{30,34}|[0-9a-f]{32}|.*") {
            if let Some(id) = ResultId::parse(&text) {
                prop_assert_eq!(id.to_string(), text);
            }
        }
    }
}
