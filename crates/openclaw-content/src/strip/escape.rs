//! How far an escape sequence of a terminal goes (ECMA-48).

const ESCAPE: char = '\u{1b}';

/// How many bytes the sequence has with which a text begins; 0 if it begins with none.
///
/// Of a sequence that is not finished, only the introducer counts. A string is finished by BEL or
/// ST and holds no control characters, so looking for its end stops at the next introducer, and
/// however many there are, no byte is looked at more than twice.
pub(super) fn length(text: &str) -> usize {
    let mut characters = text.chars();
    match characters.next() {
        Some(ESCAPE) => after_escape(text),
        Some('\u{9b}') => 2 + control_sequence(text.get(2..).unwrap_or_default()),
        Some('\u{90}' | '\u{98}' | '\u{9d}'..='\u{9f}') => {
            2 + string(text.get(2..).unwrap_or_default())
        }
        _ => 0,
    }
}

fn after_escape(text: &str) -> usize {
    let rest = text.get(2..).unwrap_or_default();
    match text.as_bytes().get(1) {
        Some(b'[') => 2 + control_sequence(rest),
        Some(b']' | b'P' | b'X' | b'^' | b'_') => 2 + string(rest),
        Some(b' '..=b'/') => {
            let bytes = text.as_bytes().get(1..).unwrap_or_default();
            let middle = bytes
                .iter()
                .take_while(|byte| matches!(byte, b' '..=b'/'))
                .count();
            match bytes.get(middle) {
                Some(b'0'..=b'~') => 2 + middle,
                _ => 1,
            }
        }
        Some(b'0'..=b'~') => 2,
        _ => 1,
    }
}

/// Parameters, intermediate bytes and a final byte.
fn control_sequence(text: &str) -> usize {
    let bytes = text.as_bytes();
    let parameters = bytes
        .iter()
        .take_while(|byte| matches!(byte, b'0'..=b'?'))
        .count();
    let rest = bytes.get(parameters..).unwrap_or_default();
    let middle = rest
        .iter()
        .take_while(|byte| matches!(byte, b' '..=b'/'))
        .count();
    match rest.get(middle) {
        Some(b'@'..=b'~') => parameters + middle + 1,
        _ => 0,
    }
}

/// Anything up to its terminator.
fn string(text: &str) -> usize {
    let end = text
        .char_indices()
        .find(|(_, character)| character.is_control());
    match end {
        Some((at, '\u{7}')) => at + 1,
        Some((at, '\u{9c}')) => at + 2,
        Some((at, ESCAPE)) if text.as_bytes().get(at + 1) == Some(&b'\\') => at + 2,
        _ => 0,
    }
}
