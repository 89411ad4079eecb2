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
        quote(text, name_end).map_or(name_end, |quote| quote.end),
    );
    let separator = match text.get(at..).unwrap_or_default() {
        // A path in a program.
        [b':', b':', ..] => return Finding::NOTHING,
        // A reference to a secret, whose digits belong to a name.
        [b':', b'/', b'/', ..] if ends_with_scheme(text, at) => return Finding::NOTHING,
        [separator @ (b'=' | b':'), ..] => separator,
        _ => return Finding::NOTHING,
    };
    // The name is judged before the value is read: its length is bounded, the value's is not.
    if !names_credential(text, name_end) {
        return Finding::NOTHING;
    }
    let at = skip_blanks(text, at + 1);
    let (value, needed) = match (quote(text, at), separator) {
        (Some(quote), _) => (quoted_value(text, quote), Strength::Any),
        (None, b'=') => (bare_value(text, at), Strength::Digits),
        (None, _) => (bare_value(text, at), Strength::Random),
    };
    let is_call = text.get(value.end) == Some(&b'(');
    let bytes = text.get(value.clone()).unwrap_or_default();
    if needed.is_met_by(bytes) && !is_call {
        Finding {
            examined: value.end,
            hit: Some(value),
        }
    } else {
        // `token: api_token=…`: what is no value may end in the name of one. Only the last name is
        // looked at again, so that nothing is read more than twice.
        Finding {
            examined: value.start + last_name(bytes),
            hit: None,
        }
    }
}

/// Whether `secret` and no longer name stands before a place.
fn ends_with_scheme(text: &[u8], at: usize) -> bool {
    let before = text.get(..at).unwrap_or_default();
    let start = before.len().saturating_sub(b"secret".len());
    let (rest, name) = before.split_at(start);
    name.eq_ignore_ascii_case(b"secret") && !rest.last().is_some_and(|&byte| is_name(byte))
}

/// Where the last name begins that a separator follows; the length of the text if there is none.
fn last_name(text: &[u8]) -> usize {
    let separator = text.iter().rposition(|byte| matches!(byte, b'=' | b':'));
    separator.map_or(text.len(), |separator| {
        let before = text.get(..separator).unwrap_or_default();
        let other = before.iter().rposition(|&byte| !is_name(byte));
        other.map_or(0, |other| other + 1)
    })
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
    /// `name=value` also occurs in code, which has few digits.
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
                Self::Digits => has_letters_and_digits(value) && !is_expression(value),
                Self::Random => {
                    has_letters_and_digits(value) && looks_random(value) && !is_expression(value)
                }
            }
    }
}

/// Says whether a value is a part of a program: `oauth2::Token`, `parts[1]`.
fn is_expression(value: &[u8]) -> bool {
    value.windows(2).any(|pair| pair == b"::") || value.contains(&b'[') && value.ends_with(b"]")
}

/// A quotation mark; in a text that is itself quoted, there are backslashes before it.
#[derive(Clone, Copy)]
struct Quote {
    mark: u8,
    backslashes: usize,
    /// Where the text behind it begins.
    end: usize,
}

fn quote(text: &[u8], at: usize) -> Option<Quote> {
    let position = run_end(text, at, |byte| byte == b'\\');
    let mark = *text
        .get(position)
        .filter(|byte| matches!(byte, b'"' | b'\''))?;
    Some(Quote {
        mark,
        backslashes: position - at,
        end: position + 1,
    })
}

fn skip_blanks(text: &[u8], at: usize) -> usize {
    run_end(text, at, |byte| matches!(byte, b' ' | b'\t'))
}

/// The text up to the closing mark or to the end of the line.
fn quoted_value(text: &[u8], quote: Quote) -> Range<usize> {
    let mut backslashes = 0;
    let mut end = quote.end;
    for &byte in text.get(quote.end..).unwrap_or_default() {
        // A mark of the value has one backslash more than the closing one, and each backslash of
        // the value is doubled as often as the text is quoted.
        let closes =
            byte == quote.mark && backslashes % (2 * (quote.backslashes + 1)) == quote.backslashes;
        if closes {
            end -= quote.backslashes;
        }
        if closes || byte.is_ascii_control() {
            break;
        }
        backslashes = if byte == b'\\' { backslashes + 1 } else { 0 };
        end += 1;
    }
    quote.end..end
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
            (
                r#"{\"password\":\"a\\\"b\\\\\"}"#,
                r#"{\"password\":\"…\"}"#,
            ),
            (r#"{"password":"abcdef\\"}"#, r#"{"password":"…"}"#),
            (
                "bad token: refresh_token=abc123",
                "bad token: refresh_token=…",
            ),
            ("token: api_token='abcdefgh'", "token: api_token='…'"),
            ("API_SECRET_2=abc123", "API_SECRET_2=…"),
            ("client_secret_value='abcdefgh'", "client_secret_value='…'"),
        ] {
            assert_eq!(hidden(text), expected);
        }
    }

    #[test]
    fn code_and_prose_are_left_alone() {
        for text in [
            "password=os.environ['X']",
            "token = get_token()",
            "let token = CancellationToken::new();",
            "let token2 = token1.clone();",
            "let private_key = x25519.generate_x25519_key(",
            "type ClientToken = oauth2::ClientToken;",
            "token = parts[1]",
            "Ok(TrafficSecrets::Chacha20Poly1305 { key, iv })",
            "private_key_len = MLDSA44_PRIVATE_KEY_BYTES;",
            "password_encryption = scram-sha-256",
            r#""DB_PASSWORD": "secret://gcp/db-password""#,
            "DB_PASSWORD=secret://gcp/db-password-1",
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
            "secret://keyring/openclaw/mine.env.GITHUB_TOKEN-b3867fa4c3ea5f",
            "still has SECRET://vault/kv/a1b2c3d4e5f6a7#key, which",
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
