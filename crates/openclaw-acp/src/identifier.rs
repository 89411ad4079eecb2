//! Names that nobody can guess.

use std::fmt;
use std::io;

use ring::rand::{SecureRandom as _, SystemRandom};

/// How many bytes are random.
const BYTES: usize = 16;

/// A name: 128 random bits, written as 32 hexadecimal digits.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Identifier(String);

impl Identifier {
    /// A new name.
    pub(crate) fn random() -> io::Result<Self> {
        let mut bytes = [0; BYTES];
        SystemRandom::new()
            .fill(&mut bytes)
            .map_err(|_| io::Error::other("the system gives no random numbers"))?;
        Ok(Self(
            bytes.iter().map(|byte| format!("{byte:02x}")).collect(),
        ))
    }

    /// The name that this text is, exactly as we write it.
    ///
    /// Editors give this text, so nothing but digits comes through: it becomes part of a path.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let is_ours = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
        let fits = text.len() == 2 * BYTES && text.bytes().all(is_ours);
        fits.then(|| Self(text.to_owned()))
    }

    /// The name.
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Identifier {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_we_write_is_a_name() {
        let name = Identifier::random().unwrap();
        assert_eq!(Identifier::parse(name.as_str()), Some(name.clone()));
        assert_ne!(name, Identifier::random().unwrap());
        let upper = name.as_str().to_uppercase() + "A";
        for text in [
            "",
            "abc",
            "../../../../../../etc/passwd.json",
            &upper,
            &"é".repeat(16),
        ] {
            assert_eq!(Identifier::parse(text), None, "{text}");
        }
    }
}
