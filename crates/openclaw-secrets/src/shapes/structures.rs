//! Credentials that are recognised by what stands around them.

use std::ops::Range;
use std::sync::LazyLock;

use base64::Engine as _;
use base64::engine::DecodePaddingMode;
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig};
use regex::bytes::{Captures, Regex};

use super::prefixes::{has_letters_and_digits, looks_random};
use super::{Examine, Finding, assignment, begins_word, run_end};
use crate::plain::is_placeholder;

/// The literals, in any case, and what examines the text around them.
pub(super) const STRUCTURES: &[(&str, Examine)] = &[
    ("-----BEGIN ", private_key),
    ("://", user_info),
    ("authorization", authorization),
    ("bearer", bearer),
    ("basic", basic),
    ("code=", authorization_code),
    ("token", assignment::examine),
    ("secret", assignment::examine),
    ("key", assignment::examine),
    ("passw", assignment::examine),
    ("passphrase", assignment::examine),
];

/// Compiled at the first use; a test compiles them all.
static PRIVATE_KEY: LazyLock<Option<Regex>> = LazyLock::new(|| {
    // A line break may be escaped, even twice. Without the end marker (the text was cut off) it
    // is the long lines that tell the key from a sentence about keys. Headers: RFC 1421 §4.6.
    compile(
        r"\A-----BEGIN\x20(?:[A-Z0-9]+\x20){0,3}PRIVATE\x20KEY(?:\x20BLOCK)?-----
          (?: (?:\s|\\+[nr])* (?:Proc-Type|DEK-Info|Version|Comment):\x20[^\r\n\\]{0,100} ){0,4}
          (?: (?:\s|\\+[nr])* [A-Za-z0-9+/=]{16,} )+
          (?: (?:\s|\\+[nr])+ [A-Za-z0-9+/=]{1,15} ){0,2}
          (?: (?:\s|\\+[nr])*
              -----END\x20(?:[A-Z0-9]+\x20){0,3}PRIVATE\x20KEY(?:\x20BLOCK)?----- )?",
    )
});

static USER_INFO: LazyLock<Option<Regex>> = LazyLock::new(|| {
    // RFC 3986 §3.2; an `@` inside the password is wrong and common, so the last one counts.
    compile(r#"\A:// [^\s/?\#@:"'<>\\`]* : ([^\s/?\#"'<>\\`]+) @"#)
});

static AUTHORIZATION: LazyLock<Option<Regex>> = LazyLock::new(|| {
    compile(
        r#"(?i)\Aauthorization \\* ["']? \s{0,4} [:=] \s{0,4} \\* ["']?
           (?: (bearer|basic|token|apikey|api-key|key|digest|negotiate) \s{1,4} )?
           ([^\s"'\\,;<>]{6,})"#,
    )
});

static BEARER: LazyLock<Option<Regex>> = LazyLock::new(|| {
    // RFC 6750 §2.1
    compile(r"(?i)\Abearer (?: [\x20\t]{1,4} | %20 | \+ ) ([a-z0-9._~+/-]{8,} =*)")
});

static BASIC: LazyLock<Option<Regex>> = LazyLock::new(|| {
    // RFC 7617 §2
    compile(r"(?i)\Abasic (?: [\x20\t]{1,4} | %20 | \+ ) ([a-z0-9+/_-]{6,} =*)")
});

fn compile(pattern: &str) -> Option<Regex> {
    regex::bytes::RegexBuilder::new(pattern)
        .unicode(false)
        .ignore_whitespace(true)
        .build()
        .ok()
}

fn captures<'a>(
    pattern: &LazyLock<Option<Regex>>,
    text: &'a [u8],
    at: usize,
) -> Option<Captures<'a>> {
    pattern.as_ref()?.captures(text.get(at..)?)
}

/// Turns a group of a match at `at` into a finding.
fn finding(groups: &Captures<'_>, group: usize, at: usize, accepted: bool) -> Finding {
    let examined = at + groups.get(0).map_or(0, |whole| whole.end());
    let hit = groups
        .get(group)
        .filter(|_| accepted)
        .map(|value| at + value.start()..at + value.end());
    Finding { hit, examined }
}

fn group<'a>(groups: &Captures<'a>, index: usize) -> &'a [u8] {
    groups.get(index).map_or(&[], |group| group.as_bytes())
}

fn is_placeholder_bytes(value: &[u8]) -> bool {
    str::from_utf8(value).is_ok_and(is_placeholder)
}

fn private_key(text: &[u8], place: Range<usize>) -> Finding {
    captures(&PRIVATE_KEY, text, place.start).map_or(Finding::NOTHING, |groups| {
        finding(&groups, 0, place.start, true)
    })
}

fn user_info(text: &[u8], place: Range<usize>) -> Finding {
    captures(&USER_INFO, text, place.start).map_or(Finding::NOTHING, |groups| {
        let accepted = !is_placeholder_bytes(group(&groups, 1));
        finding(&groups, 1, place.start, accepted)
    })
}

fn authorization(text: &[u8], place: Range<usize>) -> Finding {
    captures(&AUTHORIZATION, text, place.start).map_or(Finding::NOTHING, |groups| {
        let value = group(&groups, 2);
        // Behind a scheme stands a credential; alone, a word must look like one.
        let accepted = if groups.get(1).is_some() {
            !is_placeholder_bytes(value)
        } else {
            looks_random(value) && has_letters_and_digits(value)
        };
        finding(&groups, 2, place.start, accepted)
    })
}

fn bearer(text: &[u8], place: Range<usize>) -> Finding {
    let groups = begins_word(text, place.start)
        .then(|| captures(&BEARER, text, place.start))
        .flatten();
    groups.map_or(Finding::NOTHING, |groups| {
        let value = group(&groups, 1);
        // `Bearer authentication` and `Bearer resource_metadata=…` are no credentials.
        let accepted = has_letters_and_digits(value) || looks_random(value);
        finding(&groups, 1, place.start, accepted)
    })
}

fn basic(text: &[u8], place: Range<usize>) -> Finding {
    const LENIENT: GeneralPurposeConfig = GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::Indifferent)
        .with_decode_allow_trailing_bits(true);
    const ENGINE: GeneralPurpose = GeneralPurpose::new(&base64::alphabet::STANDARD, LENIENT);

    let groups = begins_word(text, place.start)
        .then(|| captures(&BASIC, text, place.start))
        .flatten();
    groups.map_or(Finding::NOTHING, |groups| {
        // What follows is a name and a password with a colon between, or it is a sentence.
        let accepted = ENGINE
            .decode(group(&groups, 1))
            .ok()
            .and_then(|decoded| String::from_utf8(decoded).ok())
            .is_some_and(|decoded| decoded.contains(':') && !decoded.contains(char::is_control));
        finding(&groups, 1, place.start, accepted)
    })
}

/// The `code` of an OAuth redirect or token request, known by its company (RFC 6749 §4.1).
fn authorization_code(text: &[u8], place: Range<usize>) -> Finding {
    let is_query =
        |byte: u8| byte.is_ascii_graphic() && !matches!(byte, b'"' | b'\'' | b'<' | b'>' | b'`');
    let before = text.get(..place.start).unwrap_or_default();
    if !matches!(before.last(), None | Some(b'?' | b'&')) {
        return Finding::NOTHING;
    }
    let query_start = before
        .iter()
        .rposition(|&byte| !is_query(byte))
        .map_or(0, |last| last + 1);
    let query_end = run_end(text, place.end, is_query);
    let query = text.get(query_start..query_end).unwrap_or_default();
    let has = |parameter: &[u8]| {
        query
            .windows(parameter.len())
            .any(|window| window == parameter)
    };
    let value_end = run_end(text, place.end, |byte| {
        is_query(byte) && !matches!(byte, b'&' | b'#')
    });
    let accepted =
        value_end - place.end >= 6 && (has(b"state=") || has(b"grant_type=authorization_code"));
    Finding {
        hit: accepted.then_some(place.end..value_end),
        // A parameter occurs once (RFC 6749 §3.1), so the rest of the query has no other code.
        examined: query_end,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shapes::tests::hidden;

    #[test]
    fn every_pattern_compiles() {
        for pattern in [&PRIVATE_KEY, &USER_INFO, &AUTHORIZATION, &BEARER, &BASIC] {
            assert!(pattern.is_some());
        }
    }

    #[test]
    fn only_the_password_of_an_address_is_hidden() {
        for (text, expected) in [
            (
                "postgres://user:hunter2@db:5432/x",
                "postgres://user:…@db:5432/x",
            ),
            ("redis://:hunter2@cache/0", "redis://:…@cache/0"),
            ("amqp://u:p@ss@host, next", "amqp://u:…@host, next"),
            ("https://u:pässwört@host", "https://u:…@host"),
            ("mongodb+srv://u:p%40ss@a,b/x", "mongodb+srv://u:…@a,b/x"),
            ("http://host:8080/a@b", "http://host:8080/a@b"),
            ("http://[::1]:8080/", "http://[::1]:8080/"),
            ("ssh://git@github.com:22/x", "ssh://git@github.com:22/x"),
            ("http://h:1?q=a@b", "http://h:1?q=a@b"),
            ("db://u:${PASSWORD}@h", "db://u:${PASSWORD}@h"),
            ("db://u:<password>@h", "db://u:<password>@h"),
            ("db://u:[REDACTED]@h", "db://u:[REDACTED]@h"),
        ] {
            assert_eq!(hidden(text), expected);
        }
    }

    #[test]
    fn authorization_values_are_hidden_and_prose_is_not() {
        for (text, expected) in [
            ("Authorization: Bearer abcdef", "Authorization: Bearer …"),
            (
                "authorization: Basic YWRtaW46cGFzcw==",
                "authorization: Basic …",
            ),
            (
                r#"{"Authorization":"token abcdefgh"}"#,
                r#"{"Authorization":"token …"}"#,
            ),
            (
                r#"{\"authorization\":\"Bearer abcdefgh\"}"#,
                r#"{\"authorization\":\"Bearer …\"}"#,
            ),
            ("Authorization: 0aB1cD2eF3gH4", "Authorization: …"),
            (
                "curl -H 'Authorization: Bearer abc123'",
                "curl -H 'Authorization: Bearer …'",
            ),
            ("Bearer 0123456789abcdef", "Bearer …"),
            ("bearer%20abc12345", "bearer%20…"),
            ("Basic dXNlcjpwYXNz", "Basic …"),
            ("Authorization: required", "Authorization: required"),
            (
                "Authorization: Bearer <token>",
                "Authorization: Bearer <token>",
            ),
            ("authorization: Sensitive", "authorization: Sensitive"),
            (
                "authorization server https://a.example",
                "authorization server https://a.example",
            ),
            ("Bearer token", "Bearer token"),
            ("Bearer authentication", "Bearer authentication"),
            (
                r#"WWW-Authenticate: Bearer realm="x", resource_metadata="https://a.example""#,
                r#"WWW-Authenticate: Bearer realm="x", resource_metadata="https://a.example""#,
            ),
            ("the bearer of news", "the bearer of news"),
            ("Basic functionality", "Basic functionality"),
            // Decoded, this has a colon, and bytes that no name or password has.
            ("2.7.2. Basic Options", "2.7.2. Basic Options"),
            ("Basic understanding of", "Basic understanding of"),
            ("forbearer 0123456789abcdef", "forbearer 0123456789abcdef"),
        ] {
            assert_eq!(hidden(text), expected);
        }
    }

    #[test]
    fn private_keys_are_hidden_whole_cut_and_escaped() {
        let lines = ["MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcw"; 3];
        for (label, separator) in [
            ("PRIVATE KEY", "\n"),
            ("RSA PRIVATE KEY", "\r\n"),
            ("OPENSSH PRIVATE KEY", "\\n"),
            ("EC PRIVATE KEY", "\\\\n"),
            ("PGP PRIVATE KEY BLOCK", "\n"),
        ] {
            let body = lines.join(separator);
            let begin = format!("-----BEGIN {label}-----{separator}");
            let end = format!("{separator}-----END {label}-----");
            assert_eq!(
                hidden(&format!("a {begin}{body}{end} b")),
                "a … b",
                "{label}"
            );
            assert_eq!(hidden(&format!("a {begin}{body}")), "a …", "{label}");
            let cut = format!("a {begin}{body}{separator}AbC");
            assert_eq!(hidden(&cut), "a …", "{label}");
            let last = format!("a {begin}{body}{separator}Ab=={separator}=xyZ1{end} b");
            assert_eq!(hidden(&last), "a … b", "{label}");
        }
        let encrypted = format!(
            "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,0F\n\n{}\n-----END RSA PRIVATE KEY-----",
            lines.join("\n")
        );
        assert_eq!(hidden(&encrypted), "…");
        for text in [
            "-----BEGIN PRIVATE KEY----- was not found in the file",
            "-----BEGIN CERTIFICATE-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcw",
            "-----BEGIN PUBLIC KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcw",
        ] {
            assert_eq!(hidden(text), text);
        }
    }

    #[test]
    fn codes_are_hidden_only_in_the_company_of_oauth() {
        for (text, expected) in [
            (
                "GET /callback?code=abcdef&state=xyz HTTP",
                "GET /callback?code=…&state=xyz HTTP",
            ),
            (
                "/callback?state=xyz&code=abcdef",
                "/callback?state=xyz&code=…",
            ),
            (
                "grant_type=authorization_code&code=abcdef",
                "grant_type=authorization_code&code=…",
            ),
            (
                "/callback?state=xyz&code=abcdef&code=ghijkl",
                "/callback?state=xyz&code=…&code=ghijkl",
            ),
            ("exit code=137000 state=dead", "exit code=137000 state=dead"),
            ("/error?code=ECONNREFUSED", "/error?code=ECONNREFUSED"),
            ("/x?code=abcdef state=1", "/x?code=abcdef state=1"),
        ] {
            assert_eq!(hidden(text), expected);
        }
    }
}
