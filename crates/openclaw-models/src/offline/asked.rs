//! What a message asks to be done.

use std::collections::HashSet;

use openclaw_ranking::{Word, is_filler, stem, words};

use super::stated::Span;
use super::verbs::{is_doing, is_looking};

/// How many words a message may begin with before it says what is to be done.
const MOST_BEFORE: usize = 32;

/// Words that stand before what is to be done, sorted.
const BEFORE: [&str; 37] = [
    "also", "and", "avoid", "can", "could", "d", "do", "don", "dont", "hello", "hey", "hi", "i",
    "just", "kindly", "let", "like", "ll", "me", "must", "need", "never", "no", "not", "now",
    "please", "shall", "should", "then", "to", "us", "want", "we", "will", "without", "would",
    "you",
];
/// Words of negations that end with an apostrophe and a `t`.
const SHORT: &str = "t";

/// A message in words, without the values that stand in it.
#[derive(Debug)]
pub(super) struct Asked {
    /// The beginning of the message, with spaces for values.
    pub(super) text: String,
    pub(super) words: Vec<Word>,
    /// What the words are forms of, but for those that say nothing.
    pub(super) stems: HashSet<String>,
    /// What is to be done, if the message begins with that.
    pub(super) verb: Option<String>,
}

impl Asked {
    pub(super) fn read(text: String) -> Self {
        let words = words(&text);
        let telling = words.iter().filter(|word| !is_filler(&word.text));
        Self {
            stems: telling.map(|word| stem(&word.text).into_owned()).collect(),
            verb: verb(&words),
            text,
            words,
        }
    }

    /// Whether a part of the message stands in backquotes.
    pub(super) fn is_marked(&self, span: Span) -> bool {
        let before = self.text.get(..span.start).unwrap_or_default();
        let after = self.text.get(span.end..).unwrap_or_default();
        before.ends_with('`') && after.starts_with('`')
    }

    /// Whether a word that begins at a place is what its sentence begins with, but for polite ones.
    pub(super) fn begins_at(&self, place: usize) -> bool {
        let at = self.words.partition_point(|word| word.start < place);
        let before = self.words.get(..at).unwrap_or_default();
        let mut end = place;
        for word in before.iter().rev().take(MOST_BEFORE) {
            if self.is_new_sentence(word.end, end) {
                return true;
            }
            let is_before = is_before(&word.text) || matches!(word.text.as_str(), "use" | "call");
            let is_article = word.text == "the" && self.is_called_tool(at);
            if !(is_before || is_article) {
                return false;
            }
            end = word.start;
        }
        true
    }

    /// Whether the word `tool` follows.
    fn is_called_tool(&self, at: usize) -> bool {
        self.words
            .get(at + 1)
            .is_some_and(|next| next.text == "tool")
    }

    fn is_new_sentence(&self, from: usize, to: usize) -> bool {
        let between = self.text.get(from..to).unwrap_or_default();
        between.contains(['.', '!', '?', ':', ';', ',', '\n', '>'])
    }
}

fn is_before(word: &str) -> bool {
    BEFORE.binary_search(&word).is_ok() || word == SHORT
}

/// What is to be done, if that is what a message begins with.
///
/// A word that is not known counts too: what it asks for, the tool has to speak of.
fn verb(words: &[Word]) -> Option<String> {
    let mut words = words.iter().take(MOST_BEFORE);
    let first = words.find(|word| !is_before(&word.text))?;
    let stem = stem(&first.text);
    // `get` and `run` say nothing to a ranking, and yet what is to be done.
    let is_verb = !is_filler(&first.text) || is_looking(&stem) || is_doing(&stem);
    is_verb.then(|| stem.into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verb(text: &str) -> Option<String> {
        Asked::read(text.to_owned()).verb
    }

    #[test]
    fn what_is_to_be_done_stands_first() {
        assert!(BEFORE.is_sorted());
        assert_eq!(verb("Could you please read it?").as_deref(), Some("read"));
        assert_eq!(verb("don't read it").as_deref(), Some("read"));
        assert_eq!(verb("run it").as_deref(), Some("run"));
        assert_eq!(verb("what time is it?"), None);
        assert_eq!(verb("the echo is loud"), None);
        assert_eq!(verb(""), None);
    }

    #[test]
    fn a_word_begins_a_sentence_behind_polite_ones_only() {
        for (text, begins) in [
            ("echo x", true),
            ("please echo x", true),
            ("use the echo tool", true),
            ("well then: echo x", true),
            ("the echo in this room", false),
            ("remove echo from it", false),
        ] {
            let asked = Asked::read(text.to_owned());
            let place = text.find("echo").unwrap();
            assert_eq!(asked.begins_at(place), begins, "{text}");
        }
    }
}
