//! Foreign text, made fit to be shown or logged.

/// The beginning of a text in one line, without what is invisible or changes how its neighbours
/// are shown.
pub(crate) fn shown(text: &str, limit: usize) -> String {
    let mut line: String = text
        .trim()
        .chars()
        .map(|character| {
            if character.is_whitespace() {
                ' '
            } else {
                character
            }
        })
        .filter(|character| is_shown(*character))
        .take(limit + 1)
        .collect();
    if let Some((cut, _)) = line.char_indices().nth(limit) {
        line.truncate(cut);
        line.push('…');
    }
    line.trim().to_owned()
}

/// Whether a character shows itself, and does not change how its neighbours are shown.
pub(crate) fn is_shown(character: char) -> bool {
    !character.is_control()
        && !matches!(
            character,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
                | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}'
                | '\u{ffa0}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}'
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_is_not_harmed_and_a_line_stays_one() {
        assert_eq!(
            shown("\u{1b}[31mred\u{7}\r\n\u{202e}evil\u{9b}", 100),
            "[31mred  evil"
        );
        assert_eq!(shown("abcdef", 3), "abc…");
        assert_eq!(shown("abc", 3), "abc");
        assert_eq!(shown("  \n ", 3), "");
    }
}
