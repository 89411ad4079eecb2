//! Percent-encoding: the encoders in use differ in what they leave as it is.

use secrecy::zeroize::Zeroizing;

use super::{Encoded, Letters};

/// The characters that an encoder leaves as they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::redactor) enum Percent {
    /// All but white space, control characters, `%` and what is not ASCII.
    Minimal,
    /// WHATWG's set for a query.
    Query,
    /// WHATWG's set for a path.
    Path,
    /// WHATWG's set for the user information of an address.
    UserInfo,
    /// JavaScript's `encodeURI`.
    Address,
    /// JavaScript's `encodeURIComponent`.
    Component,
    /// Python's `quote`: a component, and `/`.
    Segments,
    /// RFC 3986's unreserved characters.
    Unreserved,
    /// HTML forms: a space is `+`.
    Form,
    /// Go's `QueryEscape` and Python's `quote_plus`: the same, but `~` and not `*` is kept.
    Plus,
    /// Nothing at all.
    Everything,
}

impl Percent {
    pub(super) const ALL: [Self; 11] = [
        Self::Minimal,
        Self::Query,
        Self::Path,
        Self::UserInfo,
        Self::Address,
        Self::Component,
        Self::Segments,
        Self::Unreserved,
        Self::Form,
        Self::Plus,
        Self::Everything,
    ];

    fn keeps(self, byte: u8) -> bool {
        let printable_but = |others: &[u8]| byte.is_ascii_graphic() && !others.contains(&byte);
        let alphanumeric_and =
            |others: &[u8]| byte.is_ascii_alphanumeric() || others.contains(&byte);
        match self {
            Self::Minimal => printable_but(b"%"),
            Self::Query => printable_but(b"\"#<>'"),
            Self::Path => printable_but(b"\"#<>?^`{}"),
            Self::UserInfo => printable_but(b"\"#<>?^`{}/:;=@[\\]|"),
            Self::Address => alphanumeric_and(b"-_.~!*'();,/?:@&=+$#"),
            Self::Component => alphanumeric_and(b"-_.~!*'()"),
            Self::Segments => alphanumeric_and(b"-_.~/"),
            Self::Unreserved | Self::Plus => alphanumeric_and(b"-_.~"),
            Self::Form => alphanumeric_and(b"-_.*"),
            Self::Everything => false,
        }
    }

    pub(super) fn encode(self, value: &str, letters: Letters) -> Encoded {
        let mut encoded = Zeroizing::new(Vec::with_capacity(value.len() * 3));
        for byte in value.bytes() {
            if byte == b' ' && matches!(self, Self::Form | Self::Plus) {
                encoded.push(b'+');
            } else if self.keeps(byte) {
                encoded.push(byte);
            } else {
                encoded.push(b'%');
                encoded.extend(letters.digits(byte));
            }
        }
        encoded
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encoders_differ_in_what_they_keep() {
        let value = "aZ9 -_.~!*'()/?&%é";
        for (set, expected) in [
            (Percent::Minimal, "aZ9%20-_.~!*'()/?&%25%C3%A9"),
            (Percent::Query, "aZ9%20-_.~!*%27()/?&%%C3%A9"),
            (Percent::Path, "aZ9%20-_.~!*'()/%3F&%%C3%A9"),
            (Percent::UserInfo, "aZ9%20-_.~!*'()%2F%3F&%%C3%A9"),
            (Percent::Address, "aZ9%20-_.~!*'()/?&%25%C3%A9"),
            (Percent::Component, "aZ9%20-_.~!*'()%2F%3F%26%25%C3%A9"),
            (
                Percent::Segments,
                "aZ9%20-_.~%21%2A%27%28%29/%3F%26%25%C3%A9",
            ),
            (
                Percent::Unreserved,
                "aZ9%20-_.~%21%2A%27%28%29%2F%3F%26%25%C3%A9",
            ),
            (Percent::Form, "aZ9+-_.%7E%21*%27%28%29%2F%3F%26%25%C3%A9"),
            (Percent::Plus, "aZ9+-_.~%21%2A%27%28%29%2F%3F%26%25%C3%A9"),
        ] {
            let encoded = set.encode(value, Letters::Capital);
            assert_eq!(str::from_utf8(&encoded).unwrap(), expected, "{set:?}");
        }
        assert_eq!(
            *Percent::Everything.encode("aé", Letters::Small),
            b"%61%c3%a9"
        );
    }
}
