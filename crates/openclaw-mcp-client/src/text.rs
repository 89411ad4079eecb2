//! Foreign text, made fit to be shown or logged.

/// How much of the end of a text that was cut is looked at for the beginning of a word.
const LONGEST_WORD: usize = 256;

/// The beginning of a text in one line, without what is invisible or changes how its neighbours
/// are shown. It is not cut in the middle of a word: half of a credential is no longer known as one
/// to whoever hides them.
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
        let from = line.floor_char_boundary(cut.saturating_sub(LONGEST_WORD));
        if let Some(end) = line.get(from..).and_then(|end| end.rfind(is_between)) {
            line.truncate(from + end);
        }
        line.truncate(line.trim_end().len());
        line.push('…');
    }
    line.trim().to_owned()
}

/// Whether a character stands between words: what credentials are made of does not.
fn is_between(character: char) -> bool {
    character.is_whitespace() || matches!(character, '"' | '\'' | ',' | ';' | '=' | ':' | '&')
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
        assert_eq!(shown("one two three", 10), "one two…");
        assert_eq!(shown("TOKEN=abcdef", 9), "TOKEN…");
        assert_eq!(shown("{\"token\":\"abcdef\"}", 12), "{\"token\":…");
        assert_eq!(shown("  \n ", 3), "");
    }
}
