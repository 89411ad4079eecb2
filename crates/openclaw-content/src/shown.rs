//! Text for people: nothing in it controls a terminal or hides itself.

use crate::strip::strip;

/// Makes foreign text fit for a terminal and keeps its lines.
pub fn shown_text(text: &str) -> std::borrow::Cow<'_, str> {
    strip(text).text
}

/// Makes the beginning of a foreign text fit for one line of at most so many characters.
///
/// White space of every kind becomes single spaces; what is left out is shown as `…`.
pub fn shown_line(text: &str, characters: usize) -> String {
    // A character that is kept has at most four bytes; the rest is room for what is not shown.
    let most = characters.saturating_mul(16).saturating_add(4096);
    let beginning = text
        .get(..text.floor_char_boundary(most))
        .unwrap_or_default();
    let stripped = strip(beginning);
    let mut line = String::new();
    let mut length = 0;
    for word in stripped.text.split_whitespace() {
        let space = usize::from(length > 0);
        let room = characters.saturating_sub(length + space);
        if space == 1 && room > 0 {
            line.push(' ');
        }
        let word_length = word.chars().count();
        if word_length > room {
            line.extend(word.chars().take(room));
            line.truncate(line.trim_end().len());
            line.push('…');
            return line;
        }
        line.push_str(word);
        length += space + word_length;
    }
    if beginning.len() < text.len() {
        line.push('…');
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_is_not_harmed_and_a_line_stays_one() {
        assert_eq!(
            shown_line("\u{1b}[31mred\u{7}\r\n\u{202e}evil\u{9b}", 100),
            "red evil"
        );
        assert_eq!(shown_text("\u{1b}]0;x\u{7}a\r\nb\tc\u{8}"), "a\nb\tc");
    }

    #[test]
    fn a_long_line_is_cut_and_says_so() {
        assert_eq!(shown_line("abcdef", 3), "abc…");
        assert_eq!(shown_line("abc", 3), "abc");
        assert_eq!(shown_line("ab cd", 3), "ab…");
        assert_eq!(shown_line("ab cd", 4), "ab c…");
        assert_eq!(shown_line("  \n ", 3), "");
        assert_eq!(shown_line("абв где", 7), "абв где");
        assert_eq!(shown_line("x", 0), "…");
    }
}
