//! Which words count, and which count as the same.

use std::borrow::Cow;

use crate::words::{each_word, is_unspaced};

/// Words that say nothing about what somebody wants, sorted.
const FILLERS: [&str; 100] = [
    "a", "about", "again", "all", "also", "am", "an", "and", "any", "are", "as", "at", "be",
    "been", "but", "by", "call", "can", "could", "did", "do", "does", "don", "for", "from", "get",
    "give", "had", "has", "have", "her", "him", "his", "how", "i", "if", "in", "into", "is", "it",
    "its", "just", "kindly", "let", "like", "ll", "many", "mcp", "me", "much", "my", "need", "not",
    "now", "of", "on", "or", "our", "out", "please", "re", "run", "s", "she", "should", "so",
    "some", "t", "tell", "than", "that", "the", "their", "them", "then", "there", "these", "they",
    "this", "to", "tool", "up", "us", "use", "using", "ve", "want", "was", "we", "were", "what",
    "when", "which", "who", "will", "with", "would", "you", "your", "yours",
];

/// Whether a word (in lower case) says nothing about what somebody wants.
pub fn is_filler(word: &str) -> bool {
    FILLERS.binary_search(&word).is_ok()
}

/// The terms of a text, in its order: words that count, in a form that all forms of them have.
pub fn terms(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    each_term(text, |term| found.push(term.to_owned()));
    found
}

/// Hands over every term.
pub(crate) fn each_term(text: &str, mut take: impl FnMut(&str)) {
    each_word(text, |word, _, _| each_term_of(word, &mut take));
}

/// Hands over the terms of one word: one, or none, or several where words have no spaces between
/// them.
pub(crate) fn each_term_of(word: &str, take: &mut impl FnMut(&str)) {
    if word.chars().next().is_some_and(is_unspaced) {
        pairs(word, take);
    } else if !is_filler(word) && (word.len() > 1 || word.bytes().all(|byte| byte.is_ascii_digit()))
    {
        take(&stem(word));
    }
}

/// Each two characters that follow one another; a single one by itself.
fn pairs(run: &str, take: &mut impl FnMut(&str)) {
    let mut begins = run.char_indices().map(|(at, _)| at);
    let mut before = begins.next().unwrap_or_default();
    let Some(mut middle) = begins.next() else {
        take(run);
        return;
    };
    for end in begins.chain([run.len()]) {
        take(run.get(before..end).unwrap_or_default());
        (before, middle) = (middle, end);
    }
}

/// A form that an English word has in common with its plural, its `-ing` and its `-ed`.
///
/// It need not be a word: `create`, `creating` and `created` are `creat`.
pub fn stem(word: &str) -> Cow<'_, str> {
    if word.len() < 3 || !word.bytes().all(|byte| byte.is_ascii_lowercase()) {
        return Cow::Borrowed(word);
    }
    let word = singular(word);
    let root = ["ing", "ed"].into_iter().find_map(|ending| {
        let root = word.strip_suffix(ending)?;
        // `string` and `need` have endings that are none.
        (root.len() >= 2 && root.bytes().any(is_vowel) && !root.ends_with('e')).then_some(root)
    });
    let mut root = root.unwrap_or(&word);
    if root.len() > 3 {
        root = root.strip_suffix('e').unwrap_or(root);
    }
    let bytes = root.as_bytes();
    // `add` and `adding`, `sum` and `summing`.
    if let [.., before, last] = bytes
        && before == last
        && !is_vowel(*last)
        && root.len() > 2
    {
        root = root.get(..root.len() - 1).unwrap_or(root);
    }
    if root.len() == word.len() {
        return word;
    }
    Cow::Owned(root.to_owned())
}

fn singular(word: &str) -> Cow<'_, str> {
    if word.len() < 4 {
        return Cow::Borrowed(word);
    }
    if let Some(root) = word.strip_suffix("ies") {
        return Cow::Owned(format!("{root}y"));
    }
    let without = ["sses", "shes", "ches", "xes", "zes", "oes"]
        .iter()
        .any(|ending| word.ends_with(ending));
    if without {
        return Cow::Borrowed(word.get(..word.len() - 2).unwrap_or(word));
    }
    let is_plural = word.ends_with('s') && !["ss", "us", "is"].iter().any(|it| word.ends_with(it));
    let end = word.len() - usize::from(is_plural);
    Cow::Borrowed(word.get(..end).unwrap_or(word))
}

fn is_vowel(byte: u8) -> bool {
    b"aeiouy".contains(&byte)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_of_a_word_are_one_term() {
        for forms in [
            &["file", "files"][..],
            &["directory", "directories"],
            &["search", "searches", "searching", "searched"],
            &["create", "creates", "creating", "created"],
            &["add", "adds", "adding", "added"],
            &["sum", "sums", "summing", "summed"],
            &["echo", "echoes", "echoing"],
            &["list", "listing", "lists"],
            &["delete", "deleting", "deletes"],
            &["entity", "entities"],
        ] {
            let stems: Vec<_> = forms.iter().map(|form| stem(form)).collect();
            assert!(stems.iter().all(|it| *it == stems[0]), "{stems:?}");
        }
    }

    #[test]
    fn words_that_only_look_like_forms_stay_apart() {
        for word in [
            "string", "need", "status", "this", "class", "größen", "as", "ping",
        ] {
            assert!(stem(word).len() + 1 >= word.len(), "{word}");
        }
        assert_eq!(stem("string"), "string");
        assert_eq!(stem("status"), "status");
    }

    #[test]
    fn fillers_are_sorted_and_are_no_terms() {
        assert!(FILLERS.is_sorted());
        assert_eq!(terms("What's the time, please?"), ["tim"]);
        assert_eq!(terms("x 7"), ["7"]);
    }

    #[test]
    fn scripts_without_spaces_are_taken_in_pairs() {
        assert_eq!(terms("读取文件"), ["读取", "取文", "文件"]);
        assert_eq!(terms("文"), ["文"]);
    }
}
