//! The formats that a server can ask a text to have.

/// A format of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    Email,
    Uri,
    Date,
    DateTime,
}

impl Format {
    /// The format of this name; whoever asks for another gets any text.
    pub(super) fn named(name: &str) -> Option<Self> {
        match name {
            "email" => Some(Self::Email),
            "uri" => Some(Self::Uri),
            "date" => Some(Self::Date),
            "date-time" => Some(Self::DateTime),
            _ => None,
        }
    }

    /// What a text in it is, in words.
    pub(super) fn example(self) -> &'static str {
        match self {
            Self::Email => "an email address, as name@example.com",
            Self::Uri => "an address, as https://example.com",
            Self::Date => "a date, as 2026-01-31",
            Self::DateTime => "a date with a time and its zone, as 2026-01-31T12:00:00Z",
        }
    }
}

/// Whether a text has a format. Whoever gets it checks it again: this finds slips of the fingers.
pub(super) fn is_in_format(text: &str, format: Format) -> bool {
    match format {
        Format::Email => is_email(text),
        Format::Uri => is_uri(text),
        Format::Date => is_date(text),
        Format::DateTime => is_date_time(text),
    }
}

fn is_solid(text: &str) -> bool {
    !text.is_empty() && !text.contains(|it: char| it.is_whitespace() || it.is_control())
}

fn is_email(text: &str) -> bool {
    is_solid(text)
        && text
            .rsplit_once('@')
            .is_some_and(|(name, host)| !name.is_empty() && !host.is_empty() && !name.contains('@'))
}

/// RFC 3986 §3: a scheme, a colon, and something behind it.
fn is_uri(text: &str) -> bool {
    is_solid(text)
        && text.split_once(':').is_some_and(|(scheme, rest)| {
            let begins = scheme.starts_with(|it: char| it.is_ascii_alphabetic());
            let follows = |it: char| it.is_ascii_alphanumeric() || matches!(it, '+' | '-' | '.');
            begins && scheme.chars().all(follows) && !rest.trim_matches('/').is_empty()
        })
}

/// So many digits, as a number.
fn digits(text: &str, length: usize) -> Option<u32> {
    let is_digits = text.len() == length && text.bytes().all(|it| it.is_ascii_digit());
    is_digits.then(|| text.parse().ok()).flatten()
}

/// RFC 3339 §5.6, `full-date`.
fn is_date(text: &str) -> bool {
    let mut parts = text.splitn(3, '-');
    let mut next = |length| parts.next().and_then(|part| digits(part, length));
    let (Some(year), Some(month), Some(day)) = (next(4), next(2), next(2)) else {
        return false;
    };
    let is_leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let days = match month {
        2 if is_leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => return false,
    };
    (1..=days).contains(&day)
}

/// RFC 3339 §5.6, `date-time`.
fn is_date_time(text: &str) -> bool {
    let Some((date, time)) = text.split_once(['T', 't', ' ']) else {
        return false;
    };
    let Some(zone_at) = time.find(['Z', 'z', '+', '-']) else {
        return false;
    };
    let (clock, zone) = time.split_at(zone_at);
    let (clock, fraction) = match clock.split_once('.') {
        Some((clock, fraction)) => (clock, Some(fraction)),
        None => (clock, None),
    };
    let is_fraction = fraction.is_none_or(|fraction| {
        !fraction.is_empty() && fraction.bytes().all(|it| it.is_ascii_digit())
    });
    // The last minute of a day may have a second more.
    is_date(date) && is_fraction && is_clock(clock, &[23, 59, 60]) && is_zone(zone)
}

fn is_clock(text: &str, most: &[u32]) -> bool {
    let parts: Vec<&str> = text.split(':').collect();
    parts.len() == most.len()
        && parts
            .iter()
            .zip(most)
            .all(|(part, most)| digits(part, 2).is_some_and(|it| it <= *most))
}

fn is_zone(text: &str) -> bool {
    match text.strip_prefix(['+', '-']) {
        Some(offset) => is_clock(offset, &[23, 59]),
        None => text.eq_ignore_ascii_case("z"),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn texts_in_their_format_are_told_from_others() {
        for (format, good, bad) in [
            (
                Format::Email,
                &["a@b.c", "ä@localhost"][..],
                &["a", "@b", "a@", "a b@c", "a@b@c"][..],
            ),
            (
                Format::Uri,
                &["https://a.b/c?d", "urn:x:y", "mailto:a@b"],
                &["https://", "a.b/c", "1a:b", ":x", "x:", "https://a b"],
            ),
            (
                Format::Date,
                &["2024-02-29", "2000-02-29", "2026-12-31"],
                &[
                    "2026-02-29",
                    "1900-02-29",
                    "2026-13-01",
                    "2026-1-1",
                    "2026-04-31",
                    "26-01-01",
                ],
            ),
            (
                Format::DateTime,
                &[
                    "2026-01-31T12:00:00Z",
                    "2026-01-31 12:00:00.25+01:00",
                    "2016-12-31t23:59:60z",
                ],
                &[
                    "2026-01-31",
                    "2026-01-31T12:00:00",
                    "2026-01-31T24:00:00Z",
                    "2026-01-31T12:00Z",
                    "2026-01-31T12:00:00.Z",
                    "2026-01-31T12:00:00+1:00",
                ],
            ),
        ] {
            for text in good {
                assert!(is_in_format(text, format), "{format:?} {text}");
            }
            for text in bad {
                assert!(!is_in_format(text, format), "{format:?} {text}");
            }
        }
    }

    proptest! {
        #[test]
        fn every_text_is_looked_at_without_a_panic(text in "\\PC{0,30}") {
            for format in [Format::Email, Format::Uri, Format::Date, Format::DateTime] {
                let _ = is_in_format(&text, format);
            }
        }

        #[test]
        fn every_day_of_every_month_is_a_date(
            year in 0_u32..10_000, month in 1_u32..=12, day in 1_u32..=28
        ) {
            let date = format!("{year:04}-{month:02}-{day:02}");
            prop_assert!(is_date(&date));
            let date_time = format!("{date}T01:02:03Z");
            prop_assert!(is_date_time(&date_time));
        }
    }
}
