//! The names of sessions.

use std::time::{Duration, UNIX_EPOCH};

use openclaw_config::AgentId;
use openclaw_sessions::{ReservedKind, SessionKey, SessionKeyError};
use proptest::prelude::*;

fn parse(text: &str) -> Result<String, SessionKeyError> {
    SessionKey::parse(text, &AgentId::main()).map(|key| key.as_str().to_owned())
}

#[test]
fn a_bare_key_is_of_the_default_agent() {
    assert_eq!(parse("notes").unwrap(), "agent:main:notes");
    assert_eq!(parse("agent:other:notes").unwrap(), "agent:other:notes");
    assert_eq!(parse("a b:c").unwrap(), "agent:main:a b:c");
    assert_eq!(parse("agent").unwrap(), "agent:main:agent");
    assert_eq!(parse("日本語").unwrap(), "agent:main:日本語");
    let key = SessionKey::parse("agent:other:x", &AgentId::main()).unwrap();
    assert_eq!(key.agent().as_str(), "other");
}

#[test]
fn what_is_too_long_or_empty_is_refused() {
    assert_eq!(parse(""), Err(SessionKeyError::Length(0)));
    assert_eq!(parse(&"x".repeat(513)), Err(SessionKeyError::Length(513)));
    let longest = parse(&"ü".repeat(512)).unwrap();
    // Whatever there is can be named as it is shown.
    assert_eq!(parse(&longest).unwrap(), longest);
}

#[test]
fn what_can_not_be_seen_is_refused() {
    for bad in [
        "a\nb",
        "a\tb",
        "a\u{0}",
        "a\u{200b}b",
        "\u{202e}a",
        "a\u{2028}b",
        "a\u{85}b",
        "\u{feff}a",
        "a\u{e0041}",
    ] {
        assert_eq!(parse(bad), Err(SessionKeyError::Unprintable), "{bad:?}");
        let whole = format!("agent:main:{bad}");
        assert_eq!(parse(&whole), Err(SessionKeyError::Unprintable), "{bad:?}");
    }
    for bad in [" a", "a ", "agent:main: a", "\u{a0}a", " "] {
        assert_eq!(parse(bad), Err(SessionKeyError::Spaces), "{bad:?}");
    }
}

#[test]
fn reserved_and_malformed_keys_are_refused() {
    for prefix in ["subagent:", "cron:", "acp:", "hook:"] {
        let refused = Err(SessionKeyError::Reserved(prefix));
        assert_eq!(parse(&format!("{prefix}x")), refused);
        assert_eq!(parse(&format!("agent:main:{prefix}x")), refused);
    }
    for bad in [
        "agent:",
        "agent:main",
        "agent:main:",
        "Agent:main:x",
        "AGENT:x",
    ] {
        assert_eq!(parse(bad), Err(SessionKeyError::Malformed), "{bad:?}");
    }
    for bad in ["agent::x", "agent:Main:x", "agent:a b:x"] {
        assert_eq!(parse(bad), Err(SessionKeyError::Agent), "{bad:?}");
    }
}

#[test]
fn a_reserved_key_is_made_and_looked_up_on_purpose_only() {
    let agent = AgentId::main();
    let key = SessionKey::reserved(&agent, ReservedKind::Acp, "editor-1").unwrap();
    assert_eq!(key.as_str(), "agent:main:acp:editor-1");
    assert_eq!(
        SessionKey::parse_existing(key.as_str(), &agent).unwrap(),
        key
    );
    assert!(SessionKey::reserved(&agent, ReservedKind::Acp, "a\n").is_err());
}

#[test]
fn a_fresh_key_has_the_time_and_something_random() {
    let now = UNIX_EPOCH + Duration::from_millis(1_234);
    let key = SessionKey::fresh(&AgentId::main(), "cli", now, 255);
    assert_eq!(key.as_str(), "agent:main:cli-1234-00000000000000ff");
    assert_eq!(parse(key.as_str()).unwrap(), key.as_str());
}

#[test]
fn a_key_is_not_shown_by_accident() {
    let key = SessionKey::parse("my doctor", &AgentId::main()).unwrap();
    assert!(!format!("{key:?}").contains("doctor"));
}

proptest! {
    #[test]
    fn whatever_is_taken_means_itself(text in any::<String>()) {
        let agent = AgentId::main();
        if let Ok(key) = SessionKey::parse(&text, &agent) {
            let again = SessionKey::parse(key.as_str(), &AgentId::new("other").unwrap()).unwrap();
            prop_assert_eq!(&again, &key);
            prop_assert!(key.as_str().ends_with(&text));
            prop_assert!(!key.as_str().contains(char::is_control));
        }
    }

    #[test]
    fn printable_words_are_taken(text in "[a-zA-Z0-9_.-]{1,80}") {
        prop_assert_eq!(parse(&text).unwrap(), format!("agent:main:{text}"));
    }

    #[test]
    fn what_follows_an_agent_is_kept_whole(agent in "[a-z0-9][a-z0-9_-]{0,8}", rest in "[a-z]{1,5}:[a-z:]{0,9}[a-z]") {
        let text = format!("agent:{agent}:{rest}");
        match parse(&text) {
            Ok(key) => prop_assert_eq!(key, text),
            Err(error) => prop_assert!(matches!(error, SessionKeyError::Reserved(_))),
        }
    }
}
