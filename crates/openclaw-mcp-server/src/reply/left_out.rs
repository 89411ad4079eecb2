//! The line that stands where something is missing.

use std::fmt;

use super::MEGABYTE;

/// Something that is missing in a reply, and named there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct LeftOut {
    /// What it is, in words that are fit for our own lines.
    pub(super) what: String,
    /// How large it is.
    pub(super) bytes: usize,
    /// Why it is missing.
    pub(super) why: Why,
}

/// Why something is missing in a reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Why {
    /// It is larger than one piece of media may be.
    TooLarge {
        /// The limit.
        limit: usize,
    },
    /// It would be too much with what else there is.
    NoRoom {
        /// The limit of all together.
        limit: usize,
    },
    /// It would be too much text.
    TooMuchText {
        /// The limit of all texts together.
        limit: usize,
    },
    /// Its bytes are not base64.
    Malformed,
}

impl fmt::Display for LeftOut {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { what, bytes, why } = self;
        let bytes = Size(*bytes);
        match why {
            Why::TooLarge { limit } => {
                let limit = Size(*limit);
                write!(
                    formatter,
                    "[left out: {what}, {bytes}, larger than {limit}]"
                )
            }
            Why::NoRoom { limit } => write!(
                formatter,
                "[left out: {what}, {bytes}: the reply has no room for it, {} is the most]",
                Size(*limit)
            ),
            Why::TooMuchText { limit } => write!(
                formatter,
                "[left out: {what}, {bytes}: the reply has no room for it, {} of text is the most]",
                Size(*limit)
            ),
            Why::Malformed => write!(
                formatter,
                "[left out: {what}: its bytes are malformed base64]"
            ),
        }
    }
}

/// A number of bytes, for people. Rounded up, so that what is over a limit reads so.
pub(super) struct Size(pub(super) usize);

impl fmt::Display for Size {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        const KILOBYTE: usize = 1 << 10;
        let (unit, name) = match self.0 {
            0..KILOBYTE => return write!(formatter, "{} bytes", self.0),
            KILOBYTE..MEGABYTE => (KILOBYTE, "KB"),
            _ => (MEGABYTE, "MB"),
        };
        let mut whole = self.0 / unit;
        let mut tenths = ((self.0 % unit) * 10).div_ceil(unit);
        if tenths == 10 {
            (whole, tenths) = (whole + 1, 0);
        }
        match tenths {
            0 => write!(formatter, "{whole} {name}"),
            _ => write!(formatter, "{whole}.{tenths} {name}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_rounded_up() {
        let cases = [
            (0, "0 bytes"),
            (1023, "1023 bytes"),
            (1024, "1 KB"),
            (1025, "1.1 KB"),
            (20 * MEGABYTE, "20 MB"),
            (20 * MEGABYTE + 1, "20.1 MB"),
            (21 * MEGABYTE - 1, "21 MB"),
            (23 * MEGABYTE + 400 * 1024, "23.4 MB"),
        ];
        for (bytes, words) in cases {
            assert_eq!(Size(bytes).to_string(), words);
        }
    }

    #[test]
    fn what_is_missing_is_named_with_the_reason() {
        let said = |why| {
            let what = "image/png".to_owned();
            let bytes = 23 * MEGABYTE;
            LeftOut { what, bytes, why }.to_string()
        };
        assert_eq!(
            said(Why::TooLarge { limit: 20 << 20 }),
            "[left out: image/png, 23 MB, larger than 20 MB]"
        );
        assert_eq!(
            said(Why::NoRoom { limit: 50 << 20 }),
            "[left out: image/png, 23 MB: the reply has no room for it, 50 MB is the most]"
        );
        assert_eq!(
            said(Why::TooMuchText { limit: 16 << 20 }),
            "[left out: image/png, 23 MB: the reply has no room for it, 16 MB of text is the most]"
        );
        assert_eq!(
            said(Why::Malformed),
            "[left out: image/png: its bytes are malformed base64]"
        );
    }
}
