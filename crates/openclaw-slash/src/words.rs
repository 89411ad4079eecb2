//! A line, split into words as a shell would.

/// A word of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Word {
    /// What it says, without quotes.
    pub(crate) text: String,
    /// The byte at which it begins, its quote included.
    pub(crate) start: usize,
    /// The byte behind it.
    pub(crate) end: usize,
    /// The quote that was opened and not closed.
    pub(crate) open: Option<char>,
}

/// Splits a line at blanks. Quotes keep words together; a backslash takes the next character as it is,
/// but not within single quotes. A quote that is never closed ends with the line.
pub(crate) fn words(line: &str) -> Vec<Word> {
    let mut words = Vec::new();
    let mut characters = line.char_indices().peekable();
    while let Some(&(start, first)) = characters.peek() {
        if first.is_whitespace() {
            characters.next();
            continue;
        }
        let mut word = Word {
            text: String::new(),
            start,
            end: line.len(),
            open: None,
        };
        while let Some(&(place, character)) = characters.peek() {
            if word.open.is_none() && character.is_whitespace() {
                word.end = place;
                break;
            }
            characters.next();
            match (character, word.open) {
                ('\'' | '"', None) => word.open = Some(character),
                (quote, Some(open)) if quote == open => word.open = None,
                ('\\', None | Some('"')) => {
                    // At the end of a line it stands for itself.
                    let next = characters.next().map_or('\\', |(_, next)| next);
                    word.text.push(next);
                }
                (other, _) => word.text.push(other),
            }
        }
        words.push(word);
    }
    words
}

/// A text as one word of a line.
pub fn quoted(text: &str) -> String {
    let is_plain =
        |character: char| !character.is_whitespace() && !matches!(character, '\'' | '"' | '\\');
    if !text.is_empty() && text.chars().all(is_plain) {
        return text.to_owned();
    }
    let mut word = String::with_capacity(text.len() + 2);
    word.push('"');
    for character in text.chars() {
        if matches!(character, '"' | '\\') {
            word.push('\\');
        }
        word.push(character);
    }
    word.push('"');
    word
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn texts(line: &str) -> Vec<String> {
        words(line).into_iter().map(|word| word.text).collect()
    }

    #[test]
    fn quotes_keep_words_together() {
        assert_eq!(
            texts(r#"a 'b c' "d \" e" f\ g h"i"'j'"#),
            ["a", "b c", "d \" e", "f g", "hij"]
        );
        assert_eq!(texts("it''s \"\" x"), ["its", "", "x"]);
        assert_eq!(texts(r"a\"), [r"a\"]);
    }

    #[test]
    fn a_word_knows_where_it_stands_and_whether_it_is_over() {
        let found = words("/mcp \"my ser");
        assert_eq!(
            (found[1].start, found[1].end, found[1].open),
            (5, 12, Some('"'))
        );
        assert_eq!(found[1].text, "my ser");
    }

    proptest! {
        #[test]
        fn what_is_quoted_comes_back_as_one_word(text in any::<String>()) {
            let found = words(&quoted(&text));
            prop_assert_eq!(found.len(), 1);
            prop_assert_eq!(&found[0].text, &text);
            prop_assert!(found[0].open.is_none());
        }

        #[test]
        fn words_stand_behind_each_other(line in any::<String>()) {
            let mut behind = 0;
            for word in words(&line) {
                prop_assert!(word.start >= behind && word.end >= word.start);
                prop_assert!(line.get(word.start..word.end).is_some());
                behind = word.end;
            }
        }
    }
}
