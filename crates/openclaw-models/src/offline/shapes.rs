//! What a value looks like.

/// What stands in a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A text in quotes.
    Quoted,
    /// An address.
    Url,
    /// A path that can be nothing else.
    Path,
    /// The name of a file, or of a host.
    File,
    /// A time zone.
    Zone,
    /// A date, with or without a time.
    Moment,
    /// A time of the day.
    Time,
    /// A number.
    Number,
}

/// The areas of time zones.
const AREAS: [&str; 11] = [
    "Africa",
    "America",
    "Antarctica",
    "Arctic",
    "Asia",
    "Atlantic",
    "Australia",
    "Etc",
    "Europe",
    "Indian",
    "Pacific",
];

/// How long a value without quotes may be, in bytes.
const LONGEST: usize = 4096;
/// The same for names of files and zones.
const LONGEST_NAME: usize = 255;
/// The same for what an address begins with.
const LONGEST_SCHEME: usize = 32;

/// How far a word goes that a text begins with: to the next space or quote.
pub(super) fn word_length(text: &str) -> usize {
    let ends = |character: char| character.is_whitespace() || "\"'`<>“„”".contains(character);
    text.find(ends).unwrap_or(text.len())
}

/// The value without quotes that a word begins with, and its length in bytes.
///
/// The word is looked at no more than a little, or is used up, so that a text in which every
/// character begins a word costs no more than others.
pub(super) fn value_at(word: &str) -> Option<(Kind, usize)> {
    if let Some(length) = number(word) {
        return Some((Kind::Number, length));
    }
    if word.len() > LONGEST {
        return None;
    }
    if matches!(word, "." | "..") {
        return Some((Kind::Path, word.len()));
    }
    if is_path(word) || is_url(word) {
        let trimmed = word.trim_end_matches(is_punctuation);
        // Where a list goes on without a space.
        let item = trimmed.split(',').next().unwrap_or_default();
        return match (is_url(trimmed), is_path(item)) {
            (true, _) => Some((Kind::Url, trimmed.len())),
            (false, true) => Some((Kind::Path, item.len())),
            (false, false) => None,
        };
    }
    if word.len() > LONGEST_NAME {
        return None;
    }
    let trimmed = word.trim_end_matches(is_punctuation);
    let item = trimmed.split(',').next().unwrap_or_default();
    let kind = if is_zone(item) {
        Kind::Zone
    } else if is_moment(item) {
        Kind::Moment
    } else if is_time(item) {
        Kind::Time
    } else if is_file(item) {
        Kind::File
    } else {
        return None;
    };
    Some((kind, item.len()))
}

fn is_punctuation(character: char) -> bool {
    ".,;:!?)]}»”’".contains(character)
}

fn is_url(chunk: &str) -> bool {
    let near = chunk.floor_char_boundary(LONGEST_SCHEME);
    let Some(colon) = chunk.get(..near).and_then(|near| near.find("://")) else {
        return false;
    };
    let (scheme, rest) = chunk.split_at(colon);
    let Some(rest) = rest.strip_prefix("://") else {
        return false;
    };
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"+.-".contains(&byte);
    scheme.starts_with(|first: char| first.is_ascii_alphabetic())
        && scheme.bytes().all(fits)
        && !rest.is_empty()
}

fn is_path(chunk: &str) -> bool {
    let is_name = |next: char| next.is_alphanumeric() || "._~-@+".contains(next);
    match chunk {
        "/" | "~" => true,
        _ if chunk.starts_with("~/") || chunk.starts_with("./") || chunk.starts_with("../") => true,
        _ => match chunk.strip_prefix('/') {
            Some(rest) => rest.starts_with(is_name),
            None => is_drive(chunk),
        },
    }
}

/// Whether it is a path of Windows.
fn is_drive(chunk: &str) -> bool {
    let mut characters = chunk.chars();
    characters
        .next()
        .is_some_and(|drive| drive.is_ascii_alphabetic())
        && characters.next() == Some(':')
        && matches!(characters.next(), Some('\\' | '/'))
}

fn is_zone(chunk: &str) -> bool {
    if matches!(chunk, "UTC" | "GMT") {
        return true;
    }
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"_-+".contains(&byte);
    let is_part = |part: &str| !part.is_empty() && part.bytes().all(fits);
    match chunk.split_once('/') {
        Some((area, place)) => AREAS.contains(&area) && place.split('/').all(is_part),
        None => false,
    }
}

fn is_moment(chunk: &str) -> bool {
    let (date, rest) = match chunk.split_once(['T', 't']) {
        Some((date, time)) => (date, Some(time)),
        None => (chunk, None),
    };
    let parts: Vec<&str> = date.split('-').collect();
    let is_date = match parts.as_slice() {
        [year, month, day] => {
            is_digits(year, 4, 4) && is_digits(month, 2, 2) && is_digits(day, 2, 2)
        }
        _ => false,
    };
    is_date && rest.is_none_or(is_time_of_zone)
}

/// Whether it is a time with or without parts of a second, and with or without an offset.
fn is_time_of_zone(text: &str) -> bool {
    let time = text
        .strip_suffix(['Z', 'z'])
        .unwrap_or_else(|| match text.split_once(['+', '-']) {
            Some((time, offset)) if is_time(offset) => time,
            _ => text,
        });
    match time.split_once('.') {
        Some((time, part)) => is_time(time) && is_digits(part, 1, 9),
        None => is_time(time),
    }
}

fn is_time(chunk: &str) -> bool {
    let mut parts = chunk.split(':');
    let hours = parts.next().is_some_and(|hours| is_digits(hours, 1, 2));
    let minutes = parts.next().is_some_and(|minutes| is_digits(minutes, 2, 2));
    let seconds = parts.next().is_none_or(|seconds| is_digits(seconds, 2, 2));
    hours && minutes && seconds && parts.next().is_none()
}

fn is_digits(text: &str, least: usize, most: usize) -> bool {
    (least..=most).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Whether it ends like the name of a file.
fn is_file(chunk: &str) -> bool {
    let Some((stem, ending)) = chunk.rsplit_once('.') else {
        return false;
    };
    let fits = |character: char| character.is_alphanumeric() || "._-/".contains(character);
    (1..=8).contains(&ending.len())
        && ending.starts_with(|first: char| first.is_ascii_alphabetic())
        && ending.bytes().all(|byte| byte.is_ascii_alphanumeric())
        && stem.chars().all(fits)
        && stem.chars().any(char::is_alphanumeric)
}

/// The length of the number that a text begins with: digits, with commas between thousands, a point,
/// an exponent.
fn number(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let digits = |from: usize| {
        let rest = bytes.get(from..).unwrap_or_default();
        rest.iter().take_while(|byte| byte.is_ascii_digit()).count()
    };
    let mut at = usize::from(matches!(bytes.first(), Some(b'-' | b'+')));
    let whole = digits(at);
    if whole == 0 {
        return None;
    }
    at += whole;
    while whole <= 3 && bytes.get(at) == Some(&b',') && digits(at + 1) == 3 {
        at += 4;
    }
    if bytes.get(at) == Some(&b'.') && digits(at + 1) > 0 {
        at += 1 + digits(at + 1);
    }
    if matches!(bytes.get(at), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(at + 1), Some(b'-' | b'+')));
        let exponent = digits(at + 1 + sign);
        if exponent > 0 {
            at += 1 + sign + exponent;
        }
    }
    let mut following = text.get(at..)?.chars();
    let goes_on = match following.next() {
        Some('.') => following.next().is_some_and(char::is_alphanumeric),
        Some(next) => next.is_alphanumeric() || "_-/:\\@".contains(next),
        None => false,
    };
    (!goes_on).then_some(at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_told_by_their_looks() {
        for (text, kind, value) in [
            (
                "https://example.com/a?b=1, and",
                Kind::Url,
                "https://example.com/a?b=1",
            ),
            ("/etc/hostname.", Kind::Path, "/etc/hostname"),
            ("/a,/b", Kind::Path, "/a"),
            ("~/notes", Kind::Path, "~/notes"),
            ("../x y", Kind::Path, "../x"),
            (".", Kind::Path, "."),
            ("C:\\x", Kind::Path, "C:\\x"),
            ("README.md?", Kind::File, "README.md"),
            ("Europe/Berlin?", Kind::Zone, "Europe/Berlin"),
            (
                "America/Argentina/Ushuaia",
                Kind::Zone,
                "America/Argentina/Ushuaia",
            ),
            ("UTC", Kind::Zone, "UTC"),
            ("2026-07-28", Kind::Moment, "2026-07-28"),
            (
                "2026-07-28T10:00:00.5+02:00",
                Kind::Moment,
                "2026-07-28T10:00:00.5+02:00",
            ),
            ("14:30,", Kind::Time, "14:30"),
            ("-4.5e3 x", Kind::Number, "-4.5e3"),
            ("1,234,567.", Kind::Number, "1,234,567"),
            ("2+40", Kind::Number, "2"),
            ("7?", Kind::Number, "7"),
        ] {
            let word = &text[..word_length(text)];
            let (found, length) = value_at(word).unwrap_or_else(|| panic!("{text}"));
            assert_eq!((found, &text[..length]), (kind, value), "{text}");
        }
        for text in [
            "hello", "and/or", "//", "http://", "3rd", "1.2.3", "a.b c", "", "12:3", "-",
        ] {
            let word = &text[..word_length(text)];
            let found = value_at(word).filter(|(kind, _)| *kind != Kind::File);
            assert_eq!(found, None, "{text}");
        }
    }
}
