//! Moments as they are written in logs.

use std::time::{SystemTime, UNIX_EPOCH};

/// How a moment is written, with zeros for its digits.
const FORM: &str = "0000-00-00T00:00:00.000Z";

/// A moment in UTC with milliseconds, as in RFC 3339.
pub fn written(moment: SystemTime) -> String {
    let since = moment.duration_since(UNIX_EPOCH).unwrap_or_default();
    let seconds = since.as_secs();
    let (year, month, day) = date(seconds / 86_400);
    let parts = [
        (0..4, year),
        (5..7, month),
        (8..10, day),
        (11..13, seconds / 3_600 % 24),
        (14..16, seconds / 60 % 60),
        (17..19, seconds % 60),
        (20..23, u64::from(since.subsec_millis())),
    ];
    // Every line of the log has one, and the usual way to format numbers takes longer than all the rest of
    // it.
    let mut text = String::from(FORM).into_bytes();
    for (place, mut number) in parts {
        for digit in text[place].iter_mut().rev() {
            *digit = b'0' + u8::try_from(number % 10).unwrap_or_default();
            number /= 10;
        }
    }
    String::from_utf8(text).unwrap_or_default()
}

/// Whether a text is a moment as it is written here, so that the order of texts is that of moments.
pub(super) fn is_written(text: &str) -> bool {
    let fits = |(byte, form): (u8, u8)| match form {
        b'0' => byte.is_ascii_digit(),
        mark => byte == mark,
    };
    text.len() == FORM.len() && text.bytes().zip(FORM.bytes()).all(fits)
}

/// The date so many days after 1970-01-01.
fn date(days: u64) -> (u64, u64, u64) {
    // Counted from 0000-03-01, leap days come last in a year, and 400 years are always 146,097
    // days long.
    let days = days + 719_468;
    let (era, day_of_era) = (days / 146_097, days % 146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 {
        shifted + 3
    } else {
        shifted - 9
    };
    let year = era * 400 + year_of_era + u64::from(month <= 2);
    (year, month, day)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn moments_are_written_as_everybody_reads_them() {
        let at = |millis| written(UNIX_EPOCH + Duration::from_millis(millis));
        assert_eq!(at(0), "1970-01-01T00:00:00.000Z");
        assert_eq!(at(951_782_399_999), "2000-02-28T23:59:59.999Z");
        assert_eq!(at(951_782_400_000), "2000-02-29T00:00:00.000Z");
        assert_eq!(at(1_763_208_000_123), "2025-11-15T12:00:00.123Z");
        assert_eq!(at(4_107_542_400_000), "2100-03-01T00:00:00.000Z");
        assert_eq!(written(UNIX_EPOCH - Duration::from_secs(1)), at(0));
    }

    #[test]
    fn moments_are_told_from_other_texts() {
        assert!(is_written(&written(SystemTime::now())));
        for other in [
            "",
            "2026-01-01T00:00:00Z",
            "2026-01-01T00:00:00.000+",
            "2026-01-01 00:00:00.000Z",
            "2026-01-01T00:00:00.00xZ",
            "2026-01-01T00:00:00.000ZZ",
            "２026-01-01T00:00:00.0Z",
        ] {
            assert!(!is_written(other), "{other}");
        }
    }
}
