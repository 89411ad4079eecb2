//! Settings whose name says that the value is a credential: `client_secret=…`, `"apiKey": "…"`.

use std::ops::Range;

use super::prefixes::{has_letters_and_digits, looks_random};
use super::{Finding, run_end};
use crate::names::{Confidence, credential_confidence};
use crate::plain::{is_common_word, is_placeholder};

/// The longest name that is examined.
const LONGEST_NAME: usize = 64;

/// The shortest value that is hidden.
const SHORTEST_VALUE: usize = 6;

/// Examines the name around a word such as `token` and the value that is assigned to it.
pub(super) fn examine(text: &[u8], place: Range<usize>) -> Finding {
    let reach = text.len().min(place.end + LONGEST_NAME);
    let name_end = run_end(text.get(..reach).unwrap_or_default(), place.end, is_name);
    let at = skip_blanks(
        text,
        skip_quote(text, name_end).map_or(name_end, Quote::end),
    );
    let Some(separator) = text.get(at).filter(|byte| matches!(byte, b'=' | b':')) else {
        return Finding::NOTHING;
    };
    // The name is judged before the value is read: its length is bounded, the value's is not.
    if !names_credential(text, name_end) {
        return Finding::NOTHING;
    }
    let at = skip_blanks(text, at + 1);
    let (value, needed) = match (skip_quote(text, at), separator) {
        (Some(quote), _) => (quoted_value(text, quote), Strength::Any),
        (None, b'=') => (bare_value(text, at), Strength::Digits),
        (None, _) => (bare_value(text, at), Strength::Random),
    };
    let accepted = needed.is_met_by(text.get(value.clone()).unwrap_or_default());
    Finding {
        examined: value.end,
        hit: accepted.then_some(value),
    }
}

fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.')
}

fn names_credential(text: &[u8], name_end: usize) -> bool {
    let before = text.get(..name_end).unwrap_or_default();
    let length = before
        .iter()
        .rev()
        .take(LONGEST_NAME + 1)
        .take_while(|&&byte| is_name(byte))
        .count();
    length <= LONGEST_NAME
        && before
            .get(name_end - length..)
            .and_then(|name| str::from_utf8(name).ok())
            .is_some_and(|name| credential_confidence(name) == Some(Confidence::Strong))
}

/// How much a value must look like a credential.
enum Strength {
    /// It is quoted, as data are: anything that is not a sentence or an everyday word.
    Any,
    /// `name=value` also occurs in code and prose, which have few digits.
    Digits,
    /// `name: value` occurs in every sentence.
    Random,
}

impl Strength {
    fn is_met_by(&self, value: &[u8]) -> bool {
        let plain =
            str::from_utf8(value).is_ok_and(|value| is_placeholder(value) || is_common_word(value));
        value.len() >= SHORTEST_VALUE
            && !plain
            && match self {
                Self::Any => !value.contains(&b' '),
                Self::Digits => has_letters_and_digits(value) || looks_random(value),
                Self::Random => has_letters_and_digits(value) && looks_random(value),
            }
    }
}

/// A quotation mark and where it stands.
#[derive(Clone, Copy)]
struct Quote {
    position: usize,
    mark: u8,
    /// It stands in a text that is itself quoted: `\"`.
    escaped: bool,
}

impl Quote {
    fn end(self) -> usize {
        self.position + 1
    }
}

fn skip_quote(text: &[u8], at: usize) -> Option<Quote> {
    let position = run_end(text, at, |byte| byte == b'\\');
    let mark = *text
        .get(position)
        .filter(|byte| matches!(byte, b'"' | b'\''))?;
    Some(Quote {
        position,
        mark,
        escaped: position > at,
    })
}

fn skip_blanks(text: &[u8], at: usize) -> usize {
    run_end(text, at, |byte| matches!(byte, b' ' | b'\t'))
}

/// The text up to the closing mark, which a backslash protects, or to the end of the line.
fn quoted_value(text: &[u8], quote: Quote) -> Range<usize> {
    let mut protected = false;
    let mut position = quote.end();
    for &byte in text.get(position..).unwrap_or_default() {
        let ends = match byte {
            _ if byte.is_ascii_control() => true,
            _ if protected => false,
            b'\\' => quote.escaped,
            _ => byte == quote.mark,
        };
        if ends {
            break;
        }
        protected = byte == b'\\' && !protected;
        position += 1;
    }
    quote.end()..position
}

fn bare_value(text: &[u8], start: usize) -> Range<usize> {
    let end = run_end(text, start, |byte| {
        let ends = byte.is_ascii_whitespace()
            || byte.is_ascii_control()
            || b"\"'\\`&;,<>(){}#".contains(&byte);
        !ends
    });
    start..end
}

#[cfg(test)]
mod tests {
    use crate::shapes::tests::hidden;

    #[test]
    fn assigned_credentials_are_hidden() {
        for (text, expected) in [
            ("?access_token=abc123&x=1", "?access_token=…&x=1"),
            ("&api_key=abc123", "&api_key=…"),
            (
                "client_secret=abc123&grant_type=x",
                "client_secret=…&grant_type=x",
            ),
            ("/#token=abc12345", "/#token=…"),
            ("X-Amz-Security-Token=abc123%2B", "X-Amz-Security-Token=…"),
            (
                r#"{"refresh_token":"abcdefgh"}"#,
                r#"{"refresh_token":"…"}"#,
            ),
            (r#"{\"apiKey\": \"abcdefgh\"}"#, r#"{\"apiKey\": \"…\"}"#),
            (r#"{"password":"a&b;c,d"}"#, r#"{"password":"…"}"#),
            ("OPENAI_API_KEY=abc123", "OPENAI_API_KEY=…"),
            ("BRAVE_API_KEY='abcdefgh'", "BRAVE_API_KEY='…'"),
            ("PGPASSWORD=hunter2 psql", "PGPASSWORD=… psql"),
            (
                "aws_secret_access_key = wJalrXUtn/K7MDENG",
                "aws_secret_access_key = …",
            ),
            ("x-api-key: 0aB1cD2eF3gH4iJ5", "x-api-key: …"),
            ("Password=hunter2;Host=x", "Password=…;Host=x"),
            (r#"{"password":"a\"b'cdef"}"#, r#"{"password":"…"}"#),
            ("monkey=api_key=abc123", "monkey=api_key=…"),
            ("passphrase: 'abcdefgh'", "passphrase: '…'"),
        ] {
            assert_eq!(hidden(text), expected);
        }
    }

    #[test]
    fn code_and_prose_are_left_alone() {
        for text in [
            "password=os.environ['X']",
            "token = get_token()",
            "const apiKey = process.env.KEY",
            "the password: must have eight characters",
            "token: missing",
            "max_tokens=4096000",
            "total_tokens: 0123456789ab",
            r#"{"token_type":"Bearer12"}"#,
            r#"{"token_endpoint":"https://a.example/token1"}"#,
            r#"{"nextPageToken":"abcdefgh12345678"}"#,
            r#"{"password":"string"}"#,
            r#"{"password":"required"}"#,
            r#"{"password":"has to have 8 characters"}"#,
            r#"{"access_token":{"type":"string"}}"#,
            r#"{"api_key":"<YOUR_API_KEY>"}"#,
            "api_key=${API_KEY}",
            "password=[REDACTED]",
            "session_key=agent1:main2",
            "key=value12345",
            "monkey=banana123",
            "keyboard: 0aB1cD2eF3gH4iJ5",
            "secret://aws/name?key=password1",
            "TOKENIZERS_PARALLELISM=false1",
        ] {
            assert_eq!(hidden(text), text);
        }
    }

    #[test]
    fn names_without_end_are_not_examined() {
        let text = format!("{}token=abc12345", "a".repeat(100));
        assert_eq!(hidden(&text), text);
    }
}
