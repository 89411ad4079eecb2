//! Where a string ends.

use memchr::memchr2;

/// A string whose first quote has come and whose last has not.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Quoted {
    /// Whether the last byte was a backslash that takes its meaning from the next one.
    is_escaping: bool,
}

impl Quoted {
    /// Looks for the last quote. Returns where it stands, or nothing if all of this belongs to the
    /// string.
    pub(super) fn end(&mut self, bytes: &[u8]) -> Option<usize> {
        let mut at = 0;
        loop {
            if std::mem::take(&mut self.is_escaping) {
                if at == bytes.len() {
                    self.is_escaping = true;
                    return None;
                }
                at += 1;
            }
            at += memchr2(b'"', b'\\', bytes.get(at..)?)?;
            if bytes.get(at) == Some(&b'"') {
                return Some(at);
            }
            self.is_escaping = true;
            at += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Where a string ends, told in two pieces.
    fn end(text: &str, cut: usize) -> Option<usize> {
        let (first, second) = text.as_bytes().split_at(cut);
        let mut quoted = Quoted::default();
        quoted
            .end(first)
            .or_else(|| quoted.end(second).map(|end| end + cut))
    }

    #[test]
    fn an_escaped_quote_is_not_the_last() {
        for (text, expected) in [
            (r#"" "#, Some(0)),
            (r#"abc" "#, Some(3)),
            (r#"a\"b" "#, Some(4)),
            (r#"a\\" "#, Some(3)),
            (r#"\\\"\u0022" "#, Some(10)),
            (r"abc\", None),
            (r#"abc\""#, None),
            ("", None),
        ] {
            for cut in 0..=text.len() {
                assert_eq!(end(text, cut), expected, "{text} cut at {cut}");
            }
        }
    }
}
