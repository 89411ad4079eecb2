//! Arguments that are stated by name: `key=value`, `key: value`, `--key value`.

use std::collections::HashMap;

use serde_json::{Deserializer, Value};

use super::parameters::{Parameter, Shape, Topic};
use super::shapes::Kind;
use super::stated::{Span, Stated, Statement};
use super::typed::truth;

/// How long the name of a parameter is at most where it is looked for, in bytes.
const LONGEST_NAME: usize = 256;

/// An argument that is stated by name.
#[derive(Debug)]
pub(super) struct Pair {
    /// The place of the parameter.
    pub(super) parameter: usize,
    /// All of it.
    pub(super) span: Span,
    pub(super) said: Said,
}

/// What is said to be the value.
#[derive(Debug)]
pub(super) enum Said {
    Text(Span),
    Json(Value),
    /// Nothing: that it is named says that it is true.
    Nothing,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Style {
    Equals,
    Colon,
    Flag,
}

/// A parameter's name in the message.
struct Key {
    parameter: usize,
    start: usize,
    /// Where the value begins.
    value: usize,
    style: Style,
}

/// The arguments that a message states by name, but not within a part of it.
pub(super) fn pairs(
    statement: &Statement<'_>,
    parameters: &[Parameter<'_>],
    but: Option<Span>,
) -> Vec<Pair> {
    let keys = keys(statement, parameters, but);
    let mut found: Vec<Pair> = Vec::new();
    for (at, key) in keys.iter().enumerate() {
        let is_inside = |pair: &Pair| key.start < pair.span.end;
        let is_known = |pair: &Pair| pair.parameter == key.parameter;
        if found.iter().any(|pair| is_inside(pair) || is_known(pair)) {
            continue;
        }
        let next = keys.get(at + 1).map(|next| next.start);
        let Some(parameter) = parameters.get(key.parameter) else {
            continue;
        };
        let (said, end) = value(statement, key, parameter, next);
        let span = Span {
            start: key.start,
            end,
        };
        let parameter = key.parameter;
        found.push(Pair {
            parameter,
            span,
            said,
        });
    }
    found
}

/// A name without what people spell differently.
fn plain(name: &str) -> String {
    let letters = name.chars().filter(|letter| !matches!(letter, '_' | '-'));
    letters.flat_map(char::to_lowercase).collect()
}

fn keys(statement: &Statement<'_>, parameters: &[Parameter<'_>], but: Option<Span>) -> Vec<Key> {
    let known: HashMap<String, usize> = parameters
        .iter()
        .enumerate()
        .map(|(at, parameter)| (plain(parameter.name), at))
        .collect();
    let head = statement.head;
    let is_name = |letter: char| letter.is_alphanumeric() || letter == '_' || letter == '-';
    let mut found = Vec::new();
    let mut rest = head;
    while let Some(begin) = rest.find(is_name) {
        let start = head.len() - rest.len() + begin;
        let word = rest.get(begin..).unwrap_or_default();
        let length = word.find(|letter| !is_name(letter)).unwrap_or(word.len());
        let (word, after) = word.split_at(length);
        rest = after;
        let end = start + length;
        let name = word.trim_start_matches('-');
        if name.is_empty() || name.len() > LONGEST_NAME {
            continue;
        }
        let Some(parameter) = known.get(&plain(name)).copied() else {
            continue;
        };
        let span = Span { start, end };
        let is_quoted = |value: &Stated| value.kind == Kind::Quoted && value.outer.meets(span);
        if but.is_some_and(|but| but.meets(span))
            || statement
                .objects
                .iter()
                .any(|(object, _)| object.meets(span))
            || statement.values.iter().any(is_quoted)
        {
            continue;
        }
        let (style, value) = match after.chars().next() {
            Some('=') if !after.starts_with("==") => (Style::Equals, end + 1),
            Some(':') if !after.starts_with("://") => (Style::Colon, end + 1),
            _ if word.starts_with("--") => (Style::Flag, end),
            _ => continue,
        };
        found.push(Key {
            parameter,
            start,
            value,
            style,
        });
    }
    found
}

/// Whether what follows `--key` says nothing about whether it is true.
fn is_switch(parameter: &Parameter<'_>, rest: &str) -> bool {
    let next = rest.split_whitespace().next().unwrap_or_default();
    let next = next.trim_end_matches([',', ';', '.', '?', '!', ')']);
    parameter.shape == Shape::Boolean && truth(&next.to_lowercase()).is_none()
}

/// What a key is said to be, and where that ends.
fn value(
    statement: &Statement<'_>,
    key: &Key,
    parameter: &Parameter<'_>,
    next: Option<usize>,
) -> (Said, usize) {
    let text = statement.text;
    let after = text.get(key.value..).unwrap_or_default();
    let start = key.value + after.len() - after.trim_start_matches([' ', '\t']).len();
    // `key=` and a space is no value.
    let is_bare = key.style == Style::Equals && start > key.value;
    let rest = text.get(start..).unwrap_or_default();
    let flag = key.style == Style::Flag
        && (start == key.value || rest.starts_with("--") || is_switch(parameter, rest));
    if is_bare || flag {
        return (Said::Nothing, key.value);
    }
    let begins = |span: Span| span.start == start;
    if let Some((span, object)) = statement.objects.iter().find(|(span, _)| begins(*span)) {
        return (Said::Json(Value::Object(object.clone())), span.end);
    }
    let mut quoted = statement
        .values
        .iter()
        .filter(|value| value.kind == Kind::Quoted);
    if let Some(value) = quoted.find(|value| begins(value.outer)) {
        return (Said::Text(value.inner), value.outer.end);
    }
    if rest.starts_with('[') {
        let mut parsed = Deserializer::from_str(rest).into_iter::<Value>();
        if let Some(Ok(list)) = parsed.next() {
            return (Said::Json(list), start + parsed.byte_offset());
        }
    }
    let is_free = parameter.topic == Topic::Any && parameter.choices.is_empty();
    let is_long = match parameter.shape {
        Shape::Text => key.style == Style::Colon && is_free,
        Shape::Texts => key.style == Style::Colon,
        _ => false,
    };
    let end = if is_long {
        let line = rest.find(['\n', '\r']).map_or(text.len(), |at| start + at);
        next.map_or(line, |next| line.min(next.max(start)))
    } else {
        rest.find(char::is_whitespace)
            .map_or(text.len(), |at| start + at)
    };
    let said = text.get(start..end).unwrap_or_default();
    let said = if is_long && next == Some(end) {
        said.trim_end_matches([' ', '\t', ',', ';', '('])
    } else if is_long {
        said.trim_end()
    } else {
        said.trim_end_matches([',', ';', '?', '!', ')'])
    };
    let end = start + said.len();
    if said.is_empty() {
        return (Said::Nothing, end.max(key.value));
    }
    (Said::Text(Span { start, end }), end)
}
