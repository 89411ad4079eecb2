//! Says what looks like a credential: by the name of a setting and by the shape of a value.

use crate::names::credential_confidence;
use crate::plain::{is_placeholder, is_plain_number};
use crate::shapes;

/// Says whether a setting, variable or header of this name usually holds a credential.
///
/// The name is split into words at `_`, `-`, `.` and capitals, so `KEYBOARD`, `MAX_TOKENS` and
/// `SSH_AUTH_SOCK` are not credentials and `githubToken` is one. The last word decides whether
/// the name speaks of the credential or of its place, kind or size (`TOKEN_URL`).
pub fn is_credential_name(name: &str) -> bool {
    credential_confidence(name).is_some()
}

/// Says whether a value contains a credential of a well-known shape: a vendor's prefix, a JWT, a
/// private key, an `Authorization` value, a URL with a password.
pub fn is_credential_value(value: &str) -> bool {
    shapes::any(value.as_bytes())
}

/// Says whether a value is a credential in plain text, by its shape or by the name it has.
///
/// The shape alone is enough. The name alone is not where the value plainly is no secret: empty,
/// a boolean or another everyday word, a number of up to eight digits, a `secret://` reference,
/// the path of a file (`GOOGLE_APPLICATION_CREDENTIALS`), or a placeholder such as `<token>`,
/// `changeme` or `Bearer ${TOKEN}`. What a `${TOKEN}` expands to is the caller's to judge, after
/// it has expanded it.
pub fn looks_like_credential(name: &str, value: &str) -> bool {
    is_credential_value(value) || (is_credential_name(name) && !is_plainly_harmless(value))
}

/// Says whether a value may be a credential although nothing calls it one: it looks like one, or like
/// nothing that a person writes.
pub fn may_be_credential(name: &str, value: &str) -> bool {
    let is_random = || shapes::looks_random(value.as_bytes()) && !is_path(value);
    looks_like_credential(name, value) || is_random()
}

fn is_plainly_harmless(value: &str) -> bool {
    let value = without_scheme(value.trim());
    // `password` is a common word and, as a password, a credential all the same.
    let is_boolean = ["true", "false", "yes", "no", "on", "off", "none", "null"]
        .iter()
        .any(|word| word.eq_ignore_ascii_case(value));
    value.is_empty()
        || is_boolean
        || is_plain_number(value)
        || is_placeholder(value)
        || is_path(value)
}

/// The part of an `Authorization` value behind its scheme.
fn without_scheme(value: &str) -> &str {
    value
        .split_once(' ')
        .filter(|(scheme, _)| {
            ["bearer", "basic", "token"]
                .iter()
                .any(|known| known.eq_ignore_ascii_case(scheme))
        })
        .map_or(value, |(_, credential)| credential.trim_start())
}

/// A path whose segments are words; base64 with its slashes is none.
fn is_path(value: &str) -> bool {
    let below = ["/", "~/", "./", "../"]
        .iter()
        .find_map(|start| value.strip_prefix(start))
        .or_else(|| value.get(1..).and_then(|rest| rest.strip_prefix(":\\")));
    below.is_some_and(|below| {
        !below.is_empty()
            && !below
                .split(['/', '\\'])
                .any(|segment| shapes::looks_random(segment.as_bytes()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_judged_by_shape() {
        for value in [
            "ghp_0123456789abcdefghijABCDEFGHIJ012345",
            "Bearer 0123456789abcdefghij",
            "postgresql://user:hunter2@localhost:5432/db",
            "redis://:hunter2@cache",
            "https://mcp.example.com/?apiKey=0f9e8d7c6b5a4321",
        ] {
            assert!(is_credential_value(value), "{value}");
        }
        for value in [
            "",
            "hunter2",
            "postgresql://localhost:5432/db",
            "https://api.example.com",
            "postgresql://user:${PASSWORD}@localhost/db",
            "secret://gcp/github-token",
            "sk-learn",
        ] {
            assert!(!is_credential_value(value), "{value}");
        }
    }

    #[test]
    fn a_name_is_not_enough_for_a_harmless_value() {
        for (name, value) in [
            ("GITHUB_TOKEN", "f3a9c2d1"),
            ("DB_PASSWORD", "hunter2"),
            ("Authorization", "Bearer hunter"),
            ("CREDENTIALS", r#"{"user": "me", "pin": "hunter"}"#),
            ("DB_PASSWORD", "password"),
            ("API_KEY", "123456789"),
            ("API_KEY", "/wJalrXUtnFEMIK7MDENGbPxRfiCYEXAMPLEKEY/1"),
            ("DATABASE_URL", "postgresql://user:hunter2@localhost/db"),
            ("ANYTHING", "xoxb-1234567890-abcdefghijklmn"),
        ] {
            assert!(looks_like_credential(name, value), "{name}");
        }
        for (name, value) in [
            ("GITHUB_TOKEN", ""),
            ("GITHUB_TOKEN", "  "),
            ("GITHUB_TOKEN", "<token>"),
            ("GITHUB_TOKEN", "${GITHUB_TOKEN}"),
            ("GITHUB_TOKEN", "your-token-here"),
            ("Authorization", "Bearer ${TOKEN}"),
            ("Authorization", "Bearer <token>"),
            ("GITHUB_TOKEN", "secret://env/GITHUB_TOKEN"),
            ("DB_PASSWORD", "changeme"),
            ("USE_TOKEN", "true"),
            ("API_KEY", "None"),
            ("API_KEY", "3"),
            (
                "GOOGLE_APPLICATION_CREDENTIALS",
                "/home/user/service-account.json",
            ),
            (
                "GOOGLE_APPLICATION_CREDENTIALS",
                "C:\\Users\\user\\key.json",
            ),
            ("TLS_KEY", "~/.config/tls/key.pem"),
            ("LOG_LEVEL", "debug"),
            ("DATABASE_URL", "postgresql://localhost/db"),
        ] {
            assert!(!looks_like_credential(name, value), "{name}={value}");
        }
    }

    #[test]
    fn what_nobody_calls_a_credential_may_be_one_by_its_looks() {
        for value in ["8f3a9c04d2b17e6655aa01bc", "aB1cD2eF3gH4iJ5kL6mN"] {
            assert!(may_be_credential("WORKSPACE", value), "{value}");
        }
        assert!(may_be_credential("API_TOKEN", "hunter2-hunter2"));
        for value in [
            "application/json",
            "/home/ada/project",
            "quiet-harbour",
            "verbose",
            "https://mcp.example/v1",
            "4096",
        ] {
            assert!(!may_be_credential("ACCEPT", value), "{value}");
        }
    }
}
