//! Hides credentials in lines of a configuration that are shown to a person.

use std::ops::Range;

use jsonc_parser::ast::Value;
use jsonc_parser::common::Ranged;
use jsonc_parser::{CollectOptions, parse_to_ast};
use openclaw_secrets::{is_credential_name, is_credential_value, looks_like_credential};

use crate::parse::options;

/// The credentials of a file.
pub(crate) struct Hidden {
    /// Where they are, in their order; nobody knows that in a text that can't be parsed.
    places: Option<Vec<Range<usize>>>,
}

impl Hidden {
    /// Finds the credentials of a text.
    pub(crate) fn of(text: &str) -> Self {
        let parsed = parse_to_ast(text, &CollectOptions::default(), &options());
        let places = parsed.ok().map(|parsed| {
            let mut places = Vec::new();
            if let Some(value) = &parsed.value {
                find(value, "", None, &mut places);
            }
            places.sort_by_key(|place| place.start);
            places
        });
        Self { places }
    }

    /// A line of the text, with asterisks in place of its credentials.
    ///
    /// Its length in bytes stays the same, so that underlines stay where they are.
    pub(crate) fn line(&self, text: &str, line: Range<usize>) -> String {
        let guessed = match self.places {
            Some(_) => None,
            None => guess(text, line.clone()),
        };
        let places = match &self.places {
            Some(places) => {
                let first = places.partition_point(|place| place.end <= line.start);
                let count = places[first..].partition_point(|place| place.start < line.end);
                &places[first..first + count]
            }
            None => guessed.as_slice(),
        };
        let mut bytes = text.as_bytes()[line.clone()].to_vec();
        for place in places {
            let start = place.start.clamp(line.start, line.end) - line.start;
            let end = place.end.clamp(line.start, line.end) - line.start;
            for byte in &mut bytes[start..end] {
                // Of broken text, the marks are left that show what is broken.
                let is_mark = guessed.is_some() && b"{}[]:,\"'".contains(byte);
                if !byte.is_ascii_whitespace() && !is_mark {
                    *byte = b'*';
                }
            }
        }
        // Whole characters were replaced, so that what is left is text.
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

/// Finds the credentials in a value. `name` is the key that it stands under, `outer` that of the
/// object around it. The parser has bounded the nesting.
fn find(value: &Value<'_>, name: &str, outer: Option<&str>, places: &mut Vec<Range<usize>>) {
    let range = value.range();
    match value {
        Value::StringLit(literal) if is_credential(name, outer, &literal.value) => {
            places.push(range.start + 1..range.end - 1);
        }
        Value::NumberLit(literal) if is_credential(name, outer, literal.value) => {
            places.push(range.start..range.end);
        }
        Value::Object(object) => {
            for property in &object.properties {
                find(&property.value, property.name.as_str(), Some(name), places);
            }
        }
        Value::Array(array) => {
            let mut before = "";
            for element in &array.elements {
                find(element, name, outer, places);
                let text = match element {
                    Value::StringLit(literal) => &literal.value,
                    _ => "",
                };
                if is_credential_argument(before, text) {
                    let range = element.range();
                    places.push(range.start + 1..range.end - 1);
                }
                before = text;
            }
        }
        _ => {}
    }
}

fn is_credential(name: &str, outer: Option<&str>, value: &str) -> bool {
    is_credential_value(value)
        || looks_like_credential(name, value)
        || outer
            .is_some_and(|outer| is_credential_name(outer) && looks_like_credential(outer, value))
}

/// Whether an argument is a credential, after the one before it.
fn is_credential_argument(before: &str, argument: &str) -> bool {
    let option = before.trim_start_matches('-');
    let assigned = argument.trim_start_matches('-').split_once('=');
    (before.starts_with('-') && looks_like_credential(option, argument))
        || assigned.is_some_and(|(name, value)| looks_like_credential(name, value))
}

/// What of a line of broken text may be a credential: everything after the first name of one.
///
/// Where a name of a credential is the last word before the line, the whole line may be its value.
fn guess(text: &str, line: Range<usize>) -> Option<Range<usize>> {
    let before = text[..line.start].trim_end_matches(|c: char| !is_name_character(c));
    let last = before
        .rsplit(|c| !is_name_character(c))
        .next()
        .unwrap_or_default();
    let between = &text[before.len()..line.start];
    let continues = is_credential_name(last) && !between.contains([',', '{', '}', ']']);
    if continues {
        return Some(line);
    }
    let shown = &text[line.clone()];
    let mut start = None;
    for (index, c) in shown.char_indices().chain([(shown.len(), ' ')]) {
        match (start, is_name_character(c)) {
            (None, true) => start = Some(index),
            (Some(first), false) => {
                if is_credential_name(&shown[first..index]) {
                    return Some(line.start + index..line.end);
                }
                start = None;
            }
            _ => {}
        }
    }
    None
}

fn is_name_character(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '-' | '$')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// All lines of a text as they are shown.
    fn shown(text: &str) -> String {
        let hidden = Hidden::of(text);
        let mut start = 0;
        let lines = text.split('\n').map(|line| {
            let range = start..start + line.len();
            start = range.end + 1;
            hidden.line(text, range)
        });
        lines.collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn values_under_credential_names_are_hidden_and_others_are_not() {
        for (text, expected) in [
            (
                r#"{"API_KEY": "hunter2swordfish", PORT: '80', password: 'pß', command: "npx"}"#,
                r#"{"API_KEY": "****************", PORT: '80', password: '***', command: "npx"}"#,
            ),
            (
                r#"{args: ["--token", "hunter2", "x", "--password=hunter2", "-y"]}"#,
                r#"{args: ["--token", "*******", "x", "******************", "-y"]}"#,
            ),
            (
                r#"{API_KEY: ["hunter2sword", 5], DB_PASSWORD: {value: "hunter2sword"}}"#,
                r#"{API_KEY: ["************", 5], DB_PASSWORD: {value: "************"}}"#,
            ),
            (
                "{PASSWORD: 123456789012, MAX: 5, TOKEN: '${X}', KEY: 'secret://env/X', token: true}",
                "{PASSWORD: ************, MAX: 5, TOKEN: '${X}', KEY: 'secret://env/X', token: true}",
            ),
            (
                "{TOKEN:\n  'hunter2swordfish', PORT: 1}",
                "{TOKEN:\n  '****************', PORT: 1}",
            ),
            (
                "{TOKEN: 'hunter2\\\nswordfish', PORT: 1}",
                "{TOKEN: '********\n*********', PORT: 1}",
            ),
        ] {
            assert_eq!(shown(text), expected);
        }
    }

    #[test]
    fn broken_text_is_hidden_from_the_name_on() {
        for text in [
            "{ GITHUB_TOKEN: hunter2swordfish, ",
            "{ GITHUB_TOKEN: “hunter2swordfish”, ",
            "{ API_KEY= \"hunter2swordfish\" ",
            "{ API_KEY  \"hunter2swordfish\" ",
            "{ \"API_KEY\":\n\n   hunter2swordfish ",
            "{ \"token\": \"hunter2 swordfish ",
            "{ a: 1, // token: hunter2swordfish\n b: } ",
        ] {
            let shown = shown(text);
            assert!(
                !shown.contains("hunter2") && !shown.contains("swordfish"),
                "{shown}"
            );
        }
        assert_eq!(
            shown("{ command: npx, port: 80"),
            "{ command: npx, port: 80"
        );
    }

    proptest! {
        #[test]
        fn lengths_and_lines_never_change(text in "[\"'\\\\:,\\-a-z =\n\u{e9}{}\\[\\]KEYTOKEN]{0,80}") {
            let shown = shown(&text);
            prop_assert_eq!(shown.len(), text.len());
            prop_assert_eq!(shown.matches('\n').count(), text.matches('\n').count());
        }
    }
}
