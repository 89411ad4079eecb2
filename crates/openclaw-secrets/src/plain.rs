//! Texts that stand where a secret could stand and are none: common words and placeholders.

use crate::reference::is_secret_uri;

/// Words that occur in every log; to hide them would make the log useless and the secret no safer.
const COMMON_WORDS: &str = "
    access_token account admin administrator anonymous api_key apikey application authorization
    basic bearer boolean changeme client content credential credentials database default
    development disabled enabled example false github google guest localhost message mongodb
    mysql nobody none null number object openclaw optional passphrase passwd password postgres
    postgresql private production public readonly redacted required secret secrets sensitive
    server service staging string system testing token tokens true undefined unknown username
    version 127.0.0.1 0.0.0.0
";

/// The longest run of digits that counts as an ordinary number: years, ports, dates, PINs.
const LONGEST_PLAIN_NUMBER: usize = 8;

/// Words of which placeholders are made: `your-api-key`, `replace_me`, `xxxx`.
const PLACEHOLDER_BEGINNINGS: &str = "
    your my- my_ change replace insert enter- enter_ put- put_ example dummy placeholder todo
    tbd fixme sample
";

/// Says whether a text is an everyday word or number, or has hardly any variety (`aaaaaa`).
pub(crate) fn is_common_word(text: &str) -> bool {
    COMMON_WORDS
        .split_ascii_whitespace()
        .any(|word| word.eq_ignore_ascii_case(text))
        || is_plain_number(text)
        || has_little_variety(text)
}

/// Says whether a text is a number of the length of a date or less.
pub(crate) fn is_plain_number(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    (1..=LONGEST_PLAIN_NUMBER).contains(&digits.len())
        && digits
            .bytes()
            .all(|byte| byte.is_ascii_digit() || byte == b'.')
}

/// Says whether a text plainly stands for a value that is still to be filled in.
///
/// A marked one (`<token>`, `${TOKEN}`, `{{token}}`, `%TOKEN%`, `$TOKEN`), one that is masked
/// (`****`, `xxxx`), one that says so (`your-api-key`, `changeme`, `replace_me`), or the reference
/// to a secret.
pub(crate) fn is_placeholder(text: &str) -> bool {
    is_marked(text)
        || is_secret_uri(text)
        || has_little_variety(text)
        || PLACEHOLDER_BEGINNINGS
            .split_ascii_whitespace()
            .any(|beginning| {
                text.get(..beginning.len())
                    .is_some_and(|start| start.eq_ignore_ascii_case(beginning))
            })
            && !text.bytes().any(|byte| byte.is_ascii_digit())
}

fn is_marked(text: &str) -> bool {
    let marked = |open: &str, close: &str| {
        text.strip_prefix(open)
            .and_then(|rest| rest.strip_suffix(close))
            .is_some_and(|inner| !inner.is_empty() && inner.bytes().all(is_description_byte))
    };
    marked("<", ">")
        || marked("${", "}")
        || marked("{", "}")
        || marked("%", "%")
        || marked("[", "]")
        || text
            .strip_prefix('$')
            .is_some_and(|name| !name.is_empty() && name.bytes().all(is_variable_byte))
}

/// What stands between the marks: a name, maybe with a default, or a few words; no JSON.
fn is_description_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b" _-.:{}".contains(&byte)
}

fn is_variable_byte(byte: u8) -> bool {
    byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_'
}

/// Fewer than three different bytes, as in `000000` or `--------`.
fn has_little_variety(text: &str) -> bool {
    let first = text.bytes().next();
    let mut others = text.bytes().filter(|byte| Some(*byte) != first);
    let second = others.next();
    others.all(|byte| Some(byte) == second)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn common_words_and_numbers_are_known() {
        for text in [
            "password",
            "PASSWORD",
            "localhost",
            "true",
            "123456",
            "20261115",
            "8080",
            "1.5",
            "aaaaaaaa",
            "------",
            "abababab",
            "",
        ] {
            assert!(is_common_word(text), "{text}");
        }
        for text in ["hunter2", "password1", "123456789", "abcabc", "1a2b3c"] {
            assert!(!is_common_word(text), "{text}");
        }
    }

    #[test]
    fn placeholders_are_known() {
        for text in [
            "<token>",
            "<YOUR_API_KEY>",
            "${TOKEN}",
            "$TOKEN",
            "{{token}}",
            "{token}",
            "%TOKEN%",
            "****",
            "xxxxxxxx",
            "your-api-key",
            "YOUR_TOKEN_HERE",
            "changeme",
            "replace_me",
            "[REDACTED]",
            "example-token",
            "secret://env/TOKEN",
        ] {
            assert!(is_placeholder(text), "{text}");
        }
        for text in [
            "hunter",
            "yourself1",
            "$ecret",
            "example-1f2e3d4c",
            "mysterious",
            "token",
        ] {
            assert!(!is_placeholder(text), "{text}");
        }
    }
}
