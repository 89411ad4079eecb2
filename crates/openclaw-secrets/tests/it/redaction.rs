use std::borrow::Cow;
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use openclaw_secrets::{Learned, REDACTED, Redactor, Secret};
use proptest::prelude::*;

use crate::encodings;

/// Values of every kind: short and long, with quotes, control characters and line breaks.
fn value() -> impl Strategy<Value = String> {
    prop_oneof![
        any::<String>(),
        "[ -~]{6,40}",
        "[A-Za-z0-9_-]{6,60}",
        "[\"'\\\\/%+ <>&=\n\r\t\u{1}\u{7f}éß→𝄞a-c]{6,20}",
        "([A-Za-z0-9+/=]{4,70}\n){2,5}",
        "[a-zA-Z0-9/é]{250,800}",
    ]
}

/// What can stand before a value: anything that does not leave an escape open, for then the first
/// character of the value belongs to that escape.
fn before() -> impl Strategy<Value = String> {
    any::<String>().prop_filter("leaves an escape open", |text| {
        let open = |byte: char| matches!(byte, '\\' | '%');
        !text.chars().rev().take(2).any(open)
    })
}

fn learned(value: &str) -> Option<Redactor> {
    let redactor = Redactor::new();
    (redactor.learn(&Secret::new(value)) == Learned::Added).then_some(redactor)
}

/// Texts made of what the redactor looks for, and of values it has learned.
fn provocation() -> impl Strategy<Value = String> {
    let parts = prop_oneof![
        Just(REDACTED.to_owned()),
        Just("[REDACTED".to_owned()),
        Just("]foo[R".to_owned()),
        Just("hunter2".to_owned()),
        Just("abcdefghijkl".to_owned()),
        Just("ghp_0123456789abcdefghijABCDEFGHIJ012345".to_owned()),
        Just("AKIAIOSFODNN7EXAMPLE".to_owned()),
        Just("-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0B".to_owned()),
        Just("eyJhbGciOiJIUzI1NiJ9.".to_owned()),
        "(sk-|Bearer |Basic |://|a:b@|token|api_key|password|=|:|\"|'|\\\\|&|[?]code=|&state=)",
        "[A-Za-z0-9]{1,20}",
        "[ -~]{0,10}",
        any::<String>(),
    ];
    proptest::collection::vec(parts, 0..12).prop_map(|parts| parts.concat())
}

proptest! {
    #[test]
    fn no_trace_of_a_value_is_left(
        value in value(),
        before in before(),
        after in any::<String>(),
    ) {
        let redactor = learned(&value);
        prop_assume!(redactor.is_some());
        let redactor = redactor.unwrap();
        for encoded in encodings::of(&value) {
            let text = format!("{before}{encoded}{after}");
            let redacted = redactor.redact(&text);
            for trace in encodings::of(&value)
                .into_iter()
                .chain(encodings::inside_base64(&value))
            {
                prop_assert!(!redacted.contains(&trace), "{encoded:?}: {trace:?} in {redacted:?}");
            }
        }
    }

    #[test]
    fn exactly_the_value_is_replaced(value in value()) {
        let value = value.trim();
        let redactor = learned(value);
        prop_assume!(redactor.is_some());
        let redactor = redactor.unwrap();
        for encoded in encodings::of(value) {
            let text = format!("({encoded})");
            prop_assert_eq!(redactor.redact_learned(&text), "([REDACTED])", "{:?}", encoded);
        }
    }

    #[test]
    fn base64_of_a_longer_text_is_searched(
        value in value(),
        before in proptest::collection::vec(any::<u8>(), 0..20),
        after in proptest::collection::vec(any::<u8>(), 0..20),
    ) {
        let redactor = learned(&value);
        prop_assume!(redactor.is_some());
        let redactor = redactor.unwrap();
        let whole = [&before, value.as_bytes(), &after].concat();
        for encoded in [STANDARD.encode(&whole), URL_SAFE_NO_PAD.encode(&whole)] {
            let redacted = redactor.redact(&encoded);
            for trace in encodings::inside_base64(&value) {
                prop_assert!(!redacted.contains(&trace), "{trace:?} in {redacted:?}");
            }
        }
    }

    #[test]
    fn bytes_around_a_value_are_kept(
        before in proptest::collection::vec(128_u8.., 0..40),
        after in proptest::collection::vec(128_u8.., 0..40),
    ) {
        let redactor = learned("hunter2-hunter2").unwrap();
        let text = [&before, b"hunter2-hunter2".as_slice(), &after].concat();
        let expected = [&before, REDACTED.as_bytes(), &after].concat();
        prop_assert_eq!(redactor.redact_bytes(&text), Cow::<[u8]>::Owned(expected));
    }

    #[test]
    fn redacting_twice_is_redacting_once(text in provocation(), value in value()) {
        let redactor = Redactor::new();
        for value in ["hunter2", "]foo[R", "abcdef", "defghi", "[REDACTED]x", &value] {
            let _ = redactor.learn(&Secret::new(value));
        }
        let once = redactor.redact(&text).into_owned();
        let twice = redactor.redact(&once);
        prop_assert!(matches!(twice, Cow::Borrowed(_)));
        prop_assert_eq!(&*twice, &once);
        let bytes = redactor.redact_bytes(text.as_bytes()).into_owned();
        prop_assert_eq!(bytes, once.into_bytes());
    }

    #[test]
    fn texts_of_ordinary_words_are_not_touched(text in "([a-z]{1,12}[ .,:\n]){0,40}") {
        prop_assert!(matches!(Redactor::new().redact(&text), Cow::Borrowed(_)));
    }
}

#[test]
fn ordinary_log_lines_are_not_touched() {
    let redactor = Redactor::new();
    for line in [
        "2026-11-15T08:33:12.123456Z  INFO openclaw_mcp: server connected server=github pid=4242",
        "GET https://api.example.com/v1/items?page=2&limit=50 -> 200 OK (42 ms)",
        "WWW-Authenticate: Bearer realm=\"mcp\", error=\"invalid_token\", resource_metadata=\"https://a.example/.well-known/oauth-protected-resource\"",
        "npm warn config: npm_config_registry=https://registry.example/",
        "pip install scikit-learn==1.5.0 sk-learn hf_hub_download",
        "commit 9fceb02d0ae598e95dc970b74767f19372d61af8",
        "request id 123e4567-e89b-12d3-a456-426614174000 took 17 ms",
        "max_tokens=4096 total_tokens=1234567 tokenizer=cl100k_base",
        "error: secret://gcp/github-token could not be resolved: permission denied",
        "the token has expired; run `openclaw mcp login github`",
        "{\"jsonrpc\":\"2.0\",\"method\":\"tools/call\",\"params\":{\"_meta\":{\"progressToken\":17}}}",
        "sha256:2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae",
        "/home/user/.openclaw/openclaw.json:12:5: unknown key `comand`, did you mean `command`?",
    ] {
        assert_eq!(redactor.redact(line), line);
    }
}

#[test]
fn a_thousand_values_can_be_learned_between_log_lines() {
    let redactor = Redactor::new();
    for number in 0..1000 {
        let value = format!("value-{number}-{}", "x1y2z3".repeat(5));
        assert_eq!(redactor.learn(&Secret::new(&*value)), Learned::Added);
        let line = format!("{number}: {}", STANDARD.encode(&value));
        assert_eq!(redactor.redact(&line), format!("{number}: {REDACTED}"));
    }
}

#[test]
fn no_text_keeps_the_redactor_busy() {
    /// Far above what an unoptimised build needs, far below what work without bounds takes.
    const LONGEST: Duration = Duration::from_secs(20);

    let redactor = Redactor::new();
    let lines: String = (6..250)
        .map(|length| format!("{}\n", &"abc".repeat(90)[..length]))
        .collect();
    let special = format!("\"é%/ <'{}", "0aB1cD2eF3gH4iJ5".repeat(15));
    for value in [&lines, &special, "ab-cd-["] {
        assert_eq!(redactor.learn(&Secret::new(value)), Learned::Added);
    }
    let token = "ghp_0123456789abcdefghijABCDEFGHIJ012345";
    for (start, unit, end) in [
        ("", "abc", ""),
        ("", &special[special.len() - 6..], ""),
        ("", "ab-cd-", token),
        ("?state=1", &*format!("&code={}", "x".repeat(1500)), ""),
        ("", "&code=abcdef", ""),
        ("", "token:", ""),
        ("", "-----BEGIN PRIVATE KEY-----Version: ", ""),
        ("", "eyJaaaaaaaaaa.", ""),
        ("", "%25\\\\+", ""),
    ] {
        let text = format!("{start}{}{end}", unit.repeat((256 << 10) / unit.len()));
        let began = Instant::now();
        let _ = redactor.redact(&text);
        assert!(began.elapsed() < LONGEST, "{start}{unit}…");
    }
}
