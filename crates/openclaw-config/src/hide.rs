//! Hides credentials in lines of a configuration that are shown to a person.

use std::ops::Range;

use jsonc_parser::ast::Value;
use jsonc_parser::common::Ranged;
use jsonc_parser::{CollectOptions, CommentCollectionStrategy, parse_to_ast};
use openclaw_secrets::{is_credential_name, is_credential_value, looks_like_credential};

use crate::arguments::named_credential;
use crate::parse::options;

/// The credentials of a file.
pub(crate) struct Hidden {
    /// Where they are, in their order; nobody knows that in a text that can't be parsed.
    places: Option<Vec<Range<usize>>>,
}

impl Hidden {
    /// Finds the credentials of a text.
    pub(crate) fn of(text: &str) -> Self {
        let collect = CollectOptions {
            comments: CommentCollectionStrategy::Separate,
            tokens: false,
        };
        let parsed = parse_to_ast(text, &collect, &options());
        let places = parsed.ok().map(|parsed| {
            let mut places = Vec::new();
            if let Some(value) = &parsed.value {
                find(value, "", false, &mut places);
            }
            for comment in parsed.comments.iter().flat_map(|all| all.values()) {
                for comment in comment.iter() {
                    let range = comment.range();
                    places.extend(after_name(text, range.start..range.end));
                }
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
            Some(_) => Vec::new(),
            None => guess(text, line.clone()),
        };
        let places = match &self.places {
            Some(places) => {
                let first = places.partition_point(|place| place.end <= line.start);
                let count = places[first..].partition_point(|place| place.start < line.end);
                &places[first..first + count]
            }
            None => &guessed,
        };
        let mut bytes = text.as_bytes()[line.clone()].to_vec();
        for place in places {
            let start = place.start.clamp(line.start, line.end) - line.start;
            let end = place.end.clamp(line.start, line.end) - line.start;
            for byte in &mut bytes[start..end] {
                // Of broken text, the marks are left that show what is broken.
                let is_mark = self.places.is_none() && b"{}[]:,\"'".contains(byte);
                if !byte.is_ascii_whitespace() && !is_mark {
                    *byte = b'*';
                }
            }
        }
        // Whole characters were replaced, so that what is left is text.
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

/// Finds the credentials in a value. `name` is the key that it stands under, `inside` says whether
/// one further out names a credential. The parser has bounded the nesting.
fn find(value: &Value<'_>, name: &str, inside: bool, places: &mut Vec<Range<usize>>) {
    let range = value.range();
    // The settings of a login are not its secrets.
    let inside = inside || (is_credential_name(name) && name != "auth");
    match value {
        Value::StringLit(literal) if is_credential(name, inside, &literal.value) => {
            places.push(range.start + 1..range.end - 1);
        }
        Value::NumberLit(literal) if is_credential(name, inside, literal.value) => {
            places.push(range.start..range.end);
        }
        Value::Object(object) => {
            for property in &object.properties {
                find(&property.value, property.name.as_str(), inside, places);
            }
        }
        Value::Array(array) => {
            let mut before = "";
            for element in &array.elements {
                find(element, name, inside, places);
                let text = match element {
                    Value::StringLit(literal) => &literal.value,
                    _ => "",
                };
                if named_credential(before, text).is_some() {
                    let range = element.range();
                    places.push(range.start + 1..range.end - 1);
                }
                before = text;
            }
        }
        _ => {}
    }
}

/// Whether a value is hidden. References and variables say only where a credential is.
fn is_credential(name: &str, inside: bool, value: &str) -> bool {
    let is_reference = value.starts_with("secret://") || value.starts_with('$');
    let is_short_word = matches!(value, "" | "oauth" | "token" | "password" | "none" | "env");
    is_credential_value(value)
        || looks_like_credential(name, value)
        || (inside && !is_reference && !is_short_word)
}

/// How far back a name of a credential may stand from a value in broken text, in lines.
const LINES_BACK: usize = 10;

/// What of a line of broken text may be credentials: everything after the first name of one, and
/// every word that is no key where such a name stands not far above.
fn guess(text: &str, line: Range<usize>) -> Vec<Range<usize>> {
    let above = text[..line.start].lines().rev().take(LINES_BACK);
    let mut above = above.flat_map(|line| line.split(|c| !is_name_character(c)));
    if !above.any(is_credential_name) {
        return after_name(text, line).into_iter().collect();
    }
    let shown = &text[line.clone()];
    let mut places = Vec::new();
    let mut start = None;
    for (index, c) in shown.char_indices().chain([(shown.len(), ',')]) {
        let ends = c.is_whitespace() || "{}[]:,\"'".contains(c);
        match (start, ends) {
            (None, false) => start = Some(index),
            (Some(first), true) => {
                let is_key = shown[index..]
                    .trim_start_matches(['"', '\'', ' '])
                    .starts_with(':');
                if !is_key {
                    places.push(line.start + first..line.start + index);
                }
                start = None;
            }
            _ => {}
        }
    }
    places
}

/// What follows in a range after the first name of a credential.
fn after_name(text: &str, range: Range<usize>) -> Option<Range<usize>> {
    let shown = &text[range.clone()];
    let mut start = None;
    for (index, c) in shown.char_indices().chain([(shown.len(), ' ')]) {
        match (start, is_name_character(c)) {
            (None, true) => start = Some(index),
            (Some(first), false) => {
                if is_credential_name(&shown[first..index]) {
                    return Some(range.start + index..range.end);
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
                r#"{API_KEY: ["************", *], DB_PASSWORD: {value: "************"}}"#,
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
            "{ a: 1, // old password hunter2swordfish\n b: 2 } ",
            "{ apiKey: { a: { b: 'hunter2swordfish' } } }",
            "{ args: [\n\"--token\",\nhunter2swordfish,\n] ",
            "{ apiKey: {\nvalue: hunter2swordfish} ",
            "{ apiKey: [\"x\",\nhunter2swordfish ",
            "{ apiKey: //c\nhunter2swordfish ",
            "{ API_KEY: \"abc\\\nhunter2swordfish\" foo ",
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
