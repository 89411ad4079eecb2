//! Hides credentials in lines of a configuration that are shown to a person.

use openclaw_secrets::{is_credential_name, is_credential_value, looks_like_credential};

/// Replaces the characters of credentials in a piece of JSON5 by asterisks.
///
/// The length in bytes stays the same, so that underlines stay where they are. Works on text
/// that is not valid JSON5, too: that is when lines are shown most.
pub(crate) fn mask(text: &str) -> String {
    let mut result = String::with_capacity(text.len());
    // The text of the token before the last colon, and of the string before this one.
    let mut name = String::new();
    let mut after_colon = false;
    let mut after_flag = false;
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        match c {
            '"' | '\'' => {
                let length = string_length(rest, c);
                let inner = rest[1..length].trim_end_matches(c);
                let secret = ((after_colon || after_flag) && looks_like_credential(&name, inner))
                    || is_credential_value(inner);
                if secret {
                    result.push(c);
                    result.extend(std::iter::repeat_n('*', inner.len()));
                    result.push_str(&rest[1 + inner.len()..length]);
                } else {
                    result.push_str(&rest[..length]);
                }
                after_flag = inner.starts_with('-')
                    && !inner.contains('=')
                    && is_credential_name(inner.trim_start_matches('-'));
                inner.trim_start_matches('-').clone_into(&mut name);
                after_colon = false;
                rest = &rest[length..];
            }
            ':' => {
                after_colon = true;
                result.push(c);
                rest = &rest[1..];
            }
            c if c.is_alphanumeric() || c == '_' || c == '$' => {
                let length = rest
                    .find(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '$' | '-')))
                    .unwrap_or(rest.len());
                rest[..length].clone_into(&mut name);
                after_colon = false;
                result.push_str(&rest[..length]);
                rest = &rest[length..];
            }
            c => {
                if !(c.is_whitespace() || c == ',') {
                    after_colon = false;
                    after_flag = false;
                }
                result.push(c);
                rest = &rest[c.len_utf8()..];
            }
        }
    }
    result
}

/// The bytes of the string literal at the start of a text, quotes included; an unclosed one ends
/// with its line.
fn string_length(text: &str, quote: char) -> usize {
    let mut escaped = false;
    for (index, c) in text.char_indices().skip(1) {
        if escaped {
            escaped = false;
        } else if c == '\\' {
            escaped = true;
        } else if c == quote {
            return index + 1;
        } else if c == '\n' {
            return index;
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn values_under_credential_names_are_hidden_and_others_are_not() {
        assert_eq!(
            mask(
                r#"{"API_KEY": "hunter2", PORT: '80', password: 'pß', args: ["--token", "abc", "x"]}"#
            ),
            r#"{"API_KEY": "*******", PORT: '80', password: '***', args: ["--token", "***", "x"]}"#
        );
    }

    #[test]
    fn a_broken_line_is_hidden_too() {
        assert_eq!(
            mask("\"token\": \"abc def\n  x: 1"),
            "\"token\": \"*******\n  x: 1"
        );
    }

    proptest! {
        #[test]
        fn the_length_never_changes(text in "[\"'\\\\:,\\-a-z =\n\u{e9}{}\\[\\]]{0,80}") {
            prop_assert_eq!(mask(&text).len(), text.len());
        }
    }
}
