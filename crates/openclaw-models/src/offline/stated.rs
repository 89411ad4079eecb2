//! The values that stand in a message.

use serde_json::{Deserializer, Map, Value};

use super::shapes::{Kind, value_at, word_length};

/// How much of a message is looked through for values, in bytes.
const LOOKED_THROUGH: usize = 64 * 1024;
/// At how many braces an object is looked for.
const MOST_BRACES: usize = 8;
/// How many values count.
const MOST_VALUES: usize = 1000;

/// What stands for a value that was just read.
const VALUE_BEFORE: char = '"';

/// A part of the message, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) start: usize,
    pub(super) end: usize,
}

impl Span {
    pub(super) fn meets(&self, other: Self) -> bool {
        self.start < other.end && other.start < self.end
    }
}

/// A value that stands in a message.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stated {
    pub(super) kind: Kind,
    /// All of it, with its quotes.
    pub(super) outer: Span,
    /// What it says.
    pub(super) inner: Span,
}

/// A message and what it states.
#[derive(Debug)]
pub(super) struct Statement<'a> {
    /// All of the message.
    pub(super) text: &'a str,
    /// Its beginning, which is looked through.
    pub(super) head: &'a str,
    /// Objects of JSON, in their order.
    pub(super) objects: Vec<(Span, Map<String, Value>)>,
    /// Other values, in their order.
    pub(super) values: Vec<Stated>,
}

impl<'a> Statement<'a> {
    /// Reads a message. What stands in backquotes and is a name is no value.
    pub(super) fn read(text: &'a str, is_name: impl Fn(&str) -> bool) -> Self {
        let head = text
            .get(..text.floor_char_boundary(LOOKED_THROUGH))
            .unwrap_or_default();
        let objects = objects(text);
        let values = values(head, &objects, is_name);
        Self {
            text,
            head,
            objects,
            values,
        }
    }

    /// What a part of the message says.
    pub(super) fn at(&self, span: Span) -> &'a str {
        self.text.get(span.start..span.end).unwrap_or_default()
    }

    /// The beginning of the message with spaces for all values, so that only words are left, where
    /// they were.
    pub(super) fn only_words(&self) -> String {
        let mut bytes = self.head.as_bytes().to_vec();
        let objects = self.objects.iter().map(|(span, _)| *span);
        for span in objects.chain(self.values.iter().map(|value| value.outer)) {
            let end = span.end.min(bytes.len());
            if let Some(part) = bytes.get_mut(span.start.min(end)..end) {
                part.fill(b' ');
            }
        }
        // Spans begin and end with characters, but for an object that goes beyond the head.
        String::from_utf8(bytes).unwrap_or_default()
    }
}

fn objects(text: &str) -> Vec<(Span, Map<String, Value>)> {
    let mut found = Vec::new();
    let mut from = 0;
    for _ in 0..MOST_BRACES {
        let Some(start) = text.get(from..).and_then(|rest| rest.find('{')) else {
            break;
        };
        let start = from + start;
        let rest = text.get(start..).unwrap_or_default();
        let mut parsed = Deserializer::from_str(rest).into_iter::<Map<String, Value>>();
        match parsed.next() {
            Some(Ok(object)) => {
                let end = start + parsed.byte_offset();
                found.push((Span { start, end }, object));
                from = end;
            }
            _ => from = start + 1,
        }
    }
    found
}

fn values(
    head: &str,
    objects: &[(Span, Map<String, Value>)],
    is_name: impl Fn(&str) -> bool,
) -> Vec<Stated> {
    let mut found = Vec::new();
    let mut quotes = Quotes::default();
    let (mut at, mut before) = (0, ' ');
    // Where the word ends that was last looked at.
    let mut word_end = 0;
    while let Some(rest) = head.get(at..)
        && let Some(character) = rest.chars().next()
        && found.len() < MOST_VALUES
    {
        if let Some((span, _)) = objects.iter().find(|(span, _)| span.start == at) {
            (at, before) = (span.end, ' ');
            continue;
        }
        if !is_inside(before) {
            let in_quotes = quotes.quoted_at(head, at, character);
            let value = in_quotes.or_else(|| {
                if word_end <= at {
                    word_end = at + word_length(rest);
                }
                let word = rest.get(..word_end - at)?;
                if before == VALUE_BEFORE && matches!(word, "." | "..") {
                    // It ends the sentence that ends with a value.
                    return None;
                }
                let (kind, length) = value_at(word)?;
                let outer = Span {
                    start: at,
                    end: at + length,
                };
                Some(Stated {
                    kind,
                    outer,
                    inner: outer,
                })
            });
            if let Some(value) = value {
                let inner = head
                    .get(value.inner.start..value.inner.end)
                    .unwrap_or_default();
                if character != '`' || !is_name(inner) {
                    found.push(value);
                }
                (at, before) = (value.outer.end, VALUE_BEFORE);
                continue;
            }
        }
        (at, before) = (at + character.len_utf8(), character);
    }
    found
}

/// Whether what follows this is part of a longer word.
fn is_inside(before: char) -> bool {
    before.is_alphanumeric() || "_-/.\\@".contains(before)
}

/// Quotes that are not closed any more, so that nobody looks for their end twice.
#[derive(Default)]
struct Quotes {
    unclosed: String,
}

impl Quotes {
    /// The quoted text that begins at a place, if its quote is closed.
    fn quoted_at(&mut self, head: &str, at: usize, opening: char) -> Option<Stated> {
        let closings = match opening {
            '"' => "\"",
            '\'' => "'",
            '`' => "`",
            '“' => "”",
            '„' => "“”",
            '‘' => "’",
            '«' => "»",
            '「' => "」",
            _ => return None,
        };
        if self.unclosed.contains(opening) {
            return None;
        }
        let start = at + opening.len_utf8();
        let rest = head.get(start..)?;
        let mut places = rest.char_indices().filter(|(_, it)| closings.contains(*it));
        let closing = places.find(|(place, closing)| {
            let after = rest.get(place + closing.len_utf8()..).unwrap_or_default();
            // In `it's` there is no end of a quoted text.
            !after.starts_with(char::is_alphanumeric)
        });
        let Some((length, closing)) = closing else {
            self.unclosed.push(opening);
            return None;
        };
        let end = start + length;
        Some(Stated {
            kind: Kind::Quoted,
            outer: Span {
                start: at,
                end: end + closing.len_utf8(),
            },
            inner: Span { start, end },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Vec<(Kind, &str)> {
        let statement = Statement::read(text, |name| name == "echo");
        let value = |value: &Stated| (value.kind, statement.at(value.inner));
        statement.values.iter().map(value).collect()
    }

    #[test]
    fn values_are_found_in_their_order() {
        let text = "say \"it's 5\" and 'x y' “z” `w` with `echo` 3 times by 14:30 in /tmp/a b=7";
        let expected = [
            (Kind::Quoted, "it's 5"),
            (Kind::Quoted, "x y"),
            (Kind::Quoted, "z"),
            (Kind::Quoted, "w"),
            (Kind::Number, "3"),
            (Kind::Time, "14:30"),
            (Kind::Path, "/tmp/a"),
            (Kind::Number, "7"),
        ];
        assert_eq!(read(text), expected);
        assert_eq!(read("don't say it's \"open"), []);
        assert_eq!(read("v2 a-3 x_4 3rd"), []);
        assert_eq!(read("in /x."), [(Kind::Path, "/x")]);
    }

    #[test]
    fn objects_are_found_and_only_words_are_left() {
        let statement = Statement::read("call {x} with {\"a\": {\"b\": 2}} now 5", |_| false);
        assert_eq!(statement.objects.len(), 1);
        assert_eq!(statement.objects[0].1["a"]["b"], 2);
        let words = statement.only_words();
        let words: Vec<&str> = words.split_whitespace().collect();
        assert_eq!(words, ["call", "{x}", "with", "now"]);
    }

    #[test]
    fn quotes_without_end_cost_nothing() {
        let text = "\"a ".repeat(30_000) + "'";
        let _ = Statement::read(&"' ".repeat(1_000_000), |_| false);
        let _ = Statement::read(&text, |_| false);
        let _ = Statement::read(&"a:".repeat(1_000_000), |_| false);
        let _ = Statement::read(&"{".repeat(1_000_000), |_| false);
    }
}
