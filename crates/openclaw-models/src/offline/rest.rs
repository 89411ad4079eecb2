//! What is left of a message for a tool that takes one text.

use std::collections::HashSet;

use openclaw_ranking::{is_filler, terms, words};

use super::stated::{Span, Statement};

/// How many words at each end are looked at.
const MOST_WORDS: usize = 64;

/// Words between what is to be done and what it is done to.
const JOINING: [&str; 5] = ["about", "for", "of", "on", "with"];

/// What a tool is known by, as terms.
#[derive(Debug, Default)]
pub(super) struct Known {
    /// Those of its name.
    pub(super) name: HashSet<String>,
    /// Those of what it does, in short.
    pub(super) purpose: HashSet<String>,
}

/// What is left of a message behind the tool's name, without what was already taken.
pub(super) fn after_name(statement: &Statement<'_>, named: Span, taken: &[Span]) -> Option<String> {
    let begins_taken = taken.iter().any(|span| span.end > named.end);
    let left = without(statement, named.end, taken);
    let left = left.trim_start_matches(is_separator).trim_end();
    let mut left = without_word(left, "tool");
    if statement.at(named).contains(char::is_whitespace) {
        // It was said as words of a sentence, and another may join the rest to them.
        left = JOINING
            .iter()
            .fold(left, |left, word| without_word(left, word));
    }
    if begins_taken {
        // What joined the words to what was taken says nothing by itself.
        left = inner(left);
    }
    (!left.is_empty()).then(|| left.to_owned())
}

/// What is left of a message behind the words that led to a tool, if it begins with such words.
pub(super) fn after_words(
    statement: &Statement<'_>,
    known: &Known,
    taken: &[Span],
) -> Option<String> {
    let all = without(statement, 0, taken);
    let mut left = all.trim();
    let mut is_meant = false;
    for _ in 0..MOST_WORDS {
        let first = left.split_whitespace().next()?;
        let mut says_nothing = true;
        for word in words(first) {
            let of_word = terms(&word.text);
            let is_of = |known: &HashSet<String>| {
                !of_word.is_empty() && of_word.iter().all(|term| known.contains(term))
            };
            is_meant |= is_of(&known.name);
            says_nothing &= is_filler(&word.text) || is_of(&known.name) || is_of(&known.purpose);
        }
        if !says_nothing {
            break;
        }
        left = left.get(first.len()..)?.trim_start();
    }
    let left = left.trim_end_matches(['?', '!', '.', ' ']);
    let left = if taken.is_empty() {
        let asked = left.strip_suffix("please").unwrap_or(left);
        asked.trim_end_matches([',', ' '])
    } else {
        inner(left)
    };
    (is_meant && !left.is_empty()).then(|| left.to_owned())
}

/// The message from a place on, without some parts of it.
fn without(statement: &Statement<'_>, from: usize, taken: &[Span]) -> String {
    let mut spans: Vec<Span> = taken.to_vec();
    spans.sort_by_key(|span| span.start);
    let mut left = String::new();
    let mut at = from;
    for span in spans {
        if span.end <= at {
            continue;
        }
        let end = span.start.max(at);
        left.push_str(statement.at(Span { start: at, end }).trim_end());
        left.push(' ');
        at = span.end;
    }
    let end = statement.text.len();
    let last = statement.at(Span { start: at, end });
    left.push_str(if left.is_empty() {
        last
    } else {
        last.trim_start()
    });
    left
}

fn is_separator(character: char) -> bool {
    character.is_whitespace() || ":,;=`>".contains(character)
}

/// A text without a word that it begins with.
fn without_word<'a>(text: &'a str, word: &str) -> &'a str {
    let rest = text.strip_prefix(word);
    match rest {
        Some(rest) if rest.starts_with(is_separator) => rest.trim_start_matches(is_separator),
        _ => text,
    }
}

/// A text without words at its ends that say nothing.
fn inner(text: &str) -> &str {
    let is_outer = |token: &str| words(token).iter().all(|word| is_filler(&word.text));
    let mut left = text.trim();
    for _ in 0..MOST_WORDS {
        match left.split_whitespace().next() {
            Some(token) if is_outer(token) => {
                left = left.get(token.len()..).unwrap_or_default().trim_start();
            }
            _ => break,
        }
    }
    for _ in 0..MOST_WORDS {
        match left.split_whitespace().next_back() {
            Some(token) if is_outer(token) => {
                let end = left.len() - token.len();
                left = left.get(..end).unwrap_or_default().trim_end();
            }
            _ => break,
        }
    }
    left
}
