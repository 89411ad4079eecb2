//! Foreign text in messages.

/// A foreign text in a message: control characters escaped, length bounded.
pub(crate) fn printable(text: &str) -> String {
    const LONGEST: usize = 80;
    let mut result = String::new();
    for c in text.chars().take(LONGEST) {
        if c.is_control() || turns_the_line(c) {
            result.extend(c.escape_default());
        } else {
            result.push(c);
        }
    }
    if text.chars().nth(LONGEST).is_some() {
        result.push('…');
    }
    result
}

/// Characters that change the direction of the text after them, and so what a person reads.
fn turns_the_line(c: char) -> bool {
    matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Messages in their order, none twice, bounded in number.
#[derive(Debug, Default)]
pub(crate) struct Messages {
    list: Vec<String>,
    omitted: usize,
}

/// How many messages are kept: whoever has more needs to look at the file itself.
const MOST: usize = 50;

impl Messages {
    pub(crate) fn add(&mut self, message: impl Into<String>) {
        let message = message.into();
        if self.list.len() >= MOST {
            self.omitted += 1;
        } else if !self.list.contains(&message) {
            self.list.push(message);
        }
    }

    pub(crate) fn into_list(mut self) -> Vec<String> {
        if self.omitted > 0 {
            self.list.push(format!("and {} more", self.omitted));
        }
        self.list
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn foreign_text_cannot_move_the_cursor_or_turn_the_line() {
        assert_eq!(printable("a\u{1b}[2Jb\u{202e}c"), "a\\u{1b}[2Jb\\u{202e}c");
        assert_eq!(printable(&"x".repeat(100)).chars().count(), 81);
    }

    #[test]
    fn messages_are_said_once_and_not_without_end() {
        let mut messages = Messages::default();
        messages.add("same");
        messages.add("same");
        for number in 0..100 {
            messages.add(number.to_string());
        }
        let list = messages.into_list();
        assert_eq!(list.len(), MOST + 1);
        assert_eq!(list.last().unwrap(), "and 51 more");
    }
}
