//! What is in a line: emphasis, code and links.

use super::style::Style;

/// What a text begins with.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Span<'t> {
    /// Nobody knows yet.
    Unknown,
    /// Text without a meaning of its own.
    Text { length: usize },
    /// A character that has none because of the backslash before it.
    Escaped { character: &'t str, length: usize },
    /// Code.
    Code { inner: &'t str, length: usize },
    /// Emphasis.
    Emphasis {
        inner: &'t str,
        style: Style,
        length: usize,
    },
    /// A link.
    Link {
        label: &'t str,
        address: &'t str,
        length: usize,
    },
}

/// Characters that can begin something.
const MARKS: [char; 5] = ['\\', '`', '*', '_', '['];

/// Tells what a text begins with; what is not whole may go on. It is not empty.
pub(super) fn next_span(text: &str, is_whole: bool, before: Option<char>) -> Span<'_> {
    let Some(first) = text.chars().next() else {
        return Span::Unknown;
    };
    let span = match first {
        '\\' => escaped(text, is_whole),
        '`' => code(text, is_whole),
        '*' | '_' => emphasis(text, first, is_whole, before),
        '[' => link(text, is_whole),
        _ => {
            let length = text.find(MARKS).unwrap_or(text.len());
            return Span::Text { length };
        }
    };
    // What means nothing after all is text.
    span.unwrap_or(Span::Text {
        length: run(text, first),
    })
}

/// How many bytes of the same mark a text begins with.
fn run(text: &str, mark: char) -> usize {
    if matches!(mark, '[' | '\\') {
        return 1;
    }
    text.bytes()
        .take_while(|it| char::from(*it) == mark)
        .count()
}

fn unknown<'t>(is_whole: bool) -> Option<Span<'t>> {
    (!is_whole).then_some(Span::Unknown)
}

fn escaped(text: &str, is_whole: bool) -> Option<Span<'_>> {
    match text.as_bytes().get(1) {
        Some(byte) if byte.is_ascii_punctuation() => Some(Span::Escaped {
            character: text.get(1..2)?,
            length: 2,
        }),
        Some(_) => None,
        None => unknown(is_whole),
    }
}

fn code(text: &str, is_whole: bool) -> Option<Span<'_>> {
    let length = run(text, '`');
    let mut at = length;
    while let Some(found) = text.get(at..)?.find('`') {
        at += found;
        let closing = run(text.get(at..)?, '`');
        let may_go_on = at + closing == text.len() && !is_whole;
        if may_go_on {
            return Some(Span::Unknown);
        }
        if closing == length {
            return Some(Span::Code {
                inner: trimmed(text.get(length..at)?),
                length: at + closing,
            });
        }
        at += closing;
    }
    unknown(is_whole)
}

/// Code in which the marks stand apart by one space, so that it can begin with one.
fn trimmed(code: &str) -> &str {
    match code.strip_prefix(' ').and_then(|it| it.strip_suffix(' ')) {
        Some(inner) if !inner.trim().is_empty() => inner,
        _ => code,
    }
}

fn emphasis(text: &str, mark: char, is_whole: bool, before: Option<char>) -> Option<Span<'_>> {
    let length = run(text, mark);
    let Some(next) = text.get(length..)?.chars().next() else {
        return unknown(is_whole);
    };
    let is_in_word = mark == '_' && before.is_some_and(char::is_alphanumeric);
    let style = match length {
        _ if next.is_whitespace() || is_in_word => return None,
        1 => Style::ITALIC,
        2 => Style::STRONG,
        3 => Style::STRONG.with(Style::ITALIC),
        _ => return None,
    };
    let mut at = length;
    while let Some(found) = text.get(at..)?.find(mark) {
        at += found;
        let closing = run(text.get(at..)?, mark);
        let after = text.get(at + closing..)?.chars().next();
        if after.is_none() && !is_whole {
            return Some(Span::Unknown);
        }
        let inner = text.get(length..at)?;
        let is_tight = !inner.ends_with(char::is_whitespace) && !inner.ends_with('\\');
        let ends_word = mark == '*' || !after.is_some_and(char::is_alphanumeric);
        if closing == length && is_tight && ends_word {
            return Some(Span::Emphasis {
                inner,
                style,
                length: at + closing,
            });
        }
        at += closing;
    }
    unknown(is_whole)
}

fn link(text: &str, is_whole: bool) -> Option<Span<'_>> {
    let mut depth = 0_usize;
    let mut label_end = None;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'[' => depth += 1,
            b']' => {
                depth -= 1;
                if depth == 0 {
                    label_end = Some(at);
                    break;
                }
            }
            _ => {}
        }
    }
    let Some(label_end) = label_end else {
        return unknown(is_whole);
    };
    match text.as_bytes().get(label_end + 1) {
        Some(b'(') => {}
        Some(_) => return None,
        None => return unknown(is_whole),
    }
    let start = label_end + 2;
    let mut depth = 1_usize;
    for (at, byte) in text.bytes().enumerate().skip(start) {
        match byte {
            b'(' => depth += 1,
            b')' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            let target = text.get(start..at)?.trim();
            // A title may follow the address.
            let address = target.split_whitespace().next()?;
            return Some(Span::Link {
                label: text.get(1..label_end)?,
                address,
                length: at + 1,
            });
        }
    }
    unknown(is_whole)
}
