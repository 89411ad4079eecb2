use std::thread;

use base64::Engine as _;

use super::*;

fn redactor(values: &[&str]) -> Redactor {
    let redactor = Redactor::new();
    for value in values {
        assert_eq!(redactor.learn(&Secret::new(*value)), Learned::Added);
    }
    redactor
}

#[test]
fn learning_says_what_became_of_a_value() {
    let redactor = Redactor::new();
    for (value, learned) in [
        ("hunter2", Learned::Added),
        ("hunter2", Learned::AlreadyKnown),
        ("hunter2\n", Learned::AlreadyKnown),
        ("hunter", Learned::Added),
        ("", Learned::TooShort),
        ("short", Learned::TooShort),
        ("  short \n", Learned::TooShort),
        ("password", Learned::CommonWord),
        ("Localhost", Learned::CommonWord),
        (" default\n", Learned::CommonWord),
        ("20261115", Learned::CommonWord),
        ("aaaaaaaaaaaa", Learned::CommonWord),
        ("REDACTED]", Learned::CommonWord),
        ("[REDACTED]", Learned::CommonWord),
        ("[REDACTED]?", Learned::Added),
    ] {
        assert_eq!(redactor.learn(&Secret::new(value)), learned, "{value}");
    }
    assert_eq!(format!("{redactor:?}"), "Redactor { learned: 3 }");
}

#[test]
fn texts_without_secrets_are_borrowed() {
    let redactor = redactor(&["hunter2"]);
    for text in ["", "x", "hunter", "nothing [REDACTED] here", "[REDACTED]"] {
        assert!(matches!(redactor.redact(text), Cow::Borrowed(_)), "{text}");
        assert!(matches!(
            redactor.redact_bytes(text.as_bytes()),
            Cow::Borrowed(_)
        ));
    }
}

#[test]
fn every_encoding_is_replaced_exactly() {
    let redactor = redactor(&["pa/ss \"wörd\"?>~\n"]);
    for text in [
        "pa/ss \"wörd\"?>~",
        r#"pa/ss \"wörd\"?>~"#,
        r#"pa\/ss \"wörd\"?>~"#,
        r#"pa/ss \"w\u00f6rd\"?>~"#,
        r#"pa/ss \"w\u00F6rd\"?>~"#,
        r#"pa\/ss \"w\u00f6rd\"?>~"#,
        r#"pa/ss \\\"wörd\\\"?>~"#,
        r#"pa/ss \\\"w\\u00f6rd\\\"?>~"#,
        r#"pa\\/ss \\\"wörd\\\"?>~"#,
        r#"pa/ss \"wörd\"?\u003e~"#,
        "pa%2Fss%20%22w%C3%B6rd%22%3F%3E~",
        "pa%2fss%20%22w%c3%b6rd%22%3f%3e~",
        "pa/ss%20%22w%C3%B6rd%22?%3E~",
        "pa%2Fss+%22w%C3%B6rd%22%3F%3E%7E",
        "pa%2Fss+%22w%C3%B6rd%22%3F%3E~",
        "%70%61%2F%73%73%20%22%77%C3%B6%72%64%22%3F%3E%7E",
        "%70%61%2f%73%73%20%22%77%c3%b6%72%64%22%3f%3e%7e",
        "70612f7373202277c3b67264223f3e7e",
        "70612F7373202277C3B67264223F3E7E",
        "cGEvc3MgInfDtnJkIj8+fg==",
        "cGEvc3MgInfDtnJkIj8+fg",
        "cGEvc3MgInfDtnJkIj8-fg==",
        "cGEvc3MgInfDtnJkIj8-fg",
    ] {
        assert_eq!(
            redactor.redact(&format!("<{text}>")),
            "<[REDACTED]>",
            "{text}"
        );
    }
}

#[test]
fn base64_is_found_inside_a_longer_text() {
    let redactor = redactor(&["hunter2-hunter2"]);
    // `user:hunter2-hunter2`, `u:hunter2-hunter2!`, `me:hunter2-hunter2`
    for (text, expected) in [
        ("x dXNlcjpodW50ZXIyLWh1bnRlcjI= y", "x dXNlcj[REDACTED] y"),
        ("x dTpodW50ZXIyLWh1bnRlcjIh y", "x dT[REDACTED]h y"),
        ("x bWU6aHVudGVyMi1odW50ZXIy y", "x bWU6[REDACTED] y"),
    ] {
        assert_eq!(redactor.redact_learned(text), expected);
    }
}

#[test]
fn values_that_overlap_or_touch_become_one_marker() {
    let redactor = redactor(&["abcdef", "defghi", "abcdefgh", "xyzxyz1"]);
    for (text, expected) in [
        ("-abcdefghi-", "-[REDACTED]-"),
        ("-abcdefabcdef-", "-[REDACTED]-"),
        ("-abcdefxyzxyz1-", "-[REDACTED]-"),
        ("-abcdef-defghi-", "-[REDACTED]-[REDACTED]-"),
        ("-abcdef[REDACTED]-", "-[REDACTED]-"),
        ("abcdef", "[REDACTED]"),
    ] {
        assert_eq!(redactor.redact(text), expected, "{text}");
    }
}

#[test]
fn lines_of_a_value_are_hidden_on_their_own() {
    let key = "-----BEGIN X-----\nfirst-line-of-it\r\nsecond-line\ntail\n-----END X-----\n";
    let redactor = redactor(&[key]);
    for (text, expected) in [
        ("> first-line-of-it", "> [REDACTED]"),
        ("> second-line", "> [REDACTED]"),
        ("> tail", "> tail"),
        ("> -----BEGIN X-----", "> -----BEGIN X-----"),
        (key, "[REDACTED]\n"),
    ] {
        assert_eq!(redactor.redact(text), expected, "{text}");
    }
}

#[test]
fn long_values_are_hidden_whole_and_when_cut_off() {
    let value: String = (0..3000_u32)
        .map(|number| char::from(b'a' + u8::try_from(number * number % 26).unwrap()))
        .enumerate()
        .map(|(index, letter)| if index % 7 == 3 { '/' } else { letter })
        .collect();
    let redactor = redactor(&[&value]);
    assert_eq!(redactor.redact(&format!("<{value}>")), "<[REDACTED]>");
    for encoded in forms::Form::ALL.map(|form| form.encode(&value)) {
        let mut text = b"<".to_vec();
        text.extend_from_slice(&encoded);
        text.push(b'>');
        let redacted = redactor.redact_bytes(&text);
        assert_eq!(str::from_utf8(&redacted).unwrap(), "<[REDACTED]>");
    }
    let cut = redactor.redact(&value[..1000]).into_owned();
    assert!(cut.starts_with(REDACTED));
    assert!(cut.len() < REDACTED.len() + 256, "{}", cut.len());
}

#[test]
fn a_value_over_the_limit_is_hidden_as_far_as_it_was_learned() {
    let value = (0..20_000_u32).fold(String::new(), |value, number| {
        value + &format!("{number:04}")
    });
    let redactor = Redactor::new();
    assert_eq!(redactor.learn(&Secret::new(&*value)), Learned::TooLong);
    let text = redactor.redact(&value).into_owned();
    assert_eq!(
        text.len(),
        value.len() - LONGEST_VALUE + REDACTED.len(),
        "{text}"
    );
}

#[test]
fn bytes_that_are_not_text_keep_their_value() {
    let redactor = redactor(&["hunter2"]);
    assert_eq!(
        redactor.redact_bytes(b"\xff\xfehunter2\xff\x00"),
        Cow::Borrowed(b"\xff\xfe[REDACTED]\xff\x00".as_slice())
    );
}

#[test]
fn only_learned_values_are_hidden_from_a_model() {
    let redactor = redactor(&["hunter2"]);
    let text = "hunter2 AKIAIOSFODNN7EXAMPLE";
    assert_eq!(
        redactor.redact_learned(text),
        "[REDACTED] AKIAIOSFODNN7EXAMPLE"
    );
    assert_eq!(redactor.redact(text), "[REDACTED] [REDACTED]");
}

#[test]
fn the_marker_is_never_redacted() {
    let redactor = redactor(&["]foo[R", "[REDACTED]1", "ab[RED", "TED]cd"]);
    for (text, expected) in [
        ("[REDACTED]foo[REDACTED]", "[REDACTED]"),
        ("[REDACTED]1", "[REDACTED]"),
        ("ab[REDACTED]cd", "[REDACTED]"),
        ("a[REDACTED]b", "a[REDACTED]b"),
        (
            "token=[REDACTED] Bearer [REDACTED]",
            "token=[REDACTED] Bearer [REDACTED]",
        ),
        ("x://u:[REDACTED]@h", "x://u:[REDACTED]@h"),
    ] {
        let redacted = redactor.redact(text);
        assert_eq!(redacted, expected, "{text}");
        assert_eq!(redactor.redact(&redacted), expected, "{text}");
    }
}

#[test]
fn clones_share_what_is_learned() {
    let redactor = Redactor::new();
    let clone = redactor.clone();
    assert_eq!(redactor.learn(&Secret::new("hunter2")), Learned::Added);
    assert_eq!(clone.redact("hunter2"), REDACTED);
}

#[test]
fn learning_while_others_read_loses_nothing() {
    let redactor = Redactor::new();
    let text = "nothing to see here ".repeat(1000);
    thread::scope(|scope| {
        for writer in 0..4 {
            let redactor = redactor.clone();
            scope.spawn(move || {
                for number in 0..250 {
                    let value = format!("value-{writer}-{number}-end");
                    assert_eq!(redactor.learn(&Secret::new(&*value)), Learned::Added);
                    assert_eq!(redactor.redact(&value), REDACTED);
                }
            });
        }
        for _ in 0..2 {
            scope.spawn(|| {
                for _ in 0..20 {
                    assert_eq!(redactor.redact(&text), text);
                }
            });
        }
    });
    assert_eq!(format!("{redactor:?}"), "Redactor { learned: 1000 }");
    for writer in 0..4 {
        for number in 0..250 {
            let value = format!("value-{writer}-{number}-end");
            assert_eq!(redactor.redact(&value), REDACTED);
        }
    }
}

#[test]
fn a_panic_elsewhere_does_not_stop_redaction() {
    let redactor = redactor(&["hunter2"]);
    let poisoned = redactor.clone();
    let panicked = thread::spawn(move || {
        let _guard = poisoned.index.write().unwrap();
        panic!("while the lock is held");
    })
    .join();
    assert!(panicked.is_err());
    assert_eq!(redactor.redact("hunter2"), REDACTED);
    assert_eq!(redactor.learn(&Secret::new("hunter3")), Learned::Added);
    assert_eq!(redactor.redact("hunter3"), REDACTED);
}

#[test]
fn a_value_that_was_cut_off_is_hidden_as_far_as_it_is_there() {
    let redactor = Redactor::new();
    let value = "correct-horse/battery+staple";
    let _ = redactor.learn(&Secret::new(value));
    let hex: String = value.bytes().map(|byte| format!("{byte:02x}")).collect();
    let base64 = base64::engine::general_purpose::STANDARD.encode(format!("x{value}"));
    for length in 8..value.len() {
        let part = &value[..length];
        assert_eq!(redactor.redact(&format!("is {part}")), "is [REDACTED]");
        let text = format!("is {part}… and more");
        assert_eq!(redactor.redact(&text), "is [REDACTED]… and more");
        let text = format!("is {}", &hex[..length]);
        assert_eq!(redactor.redact(&text), "is [REDACTED]");
        // In the middle of a text it may be anything.
        let text = format!("is {part}, and more");
        assert_eq!(redactor.redact(&text), text);
        // A model must not be told that a text ends as a value begins.
        let text = format!("is {part}");
        assert_eq!(redactor.redact_learned(&text), text);
    }
    // The first character of base64 belongs to what stands before the value.
    for length in 11..base64.len() - 2 {
        let text = format!("is {}", &base64[..length]);
        let redacted = redactor.redact(&text);
        assert!(redacted.ends_with("[REDACTED]"), "{redacted}");
        assert!(
            redacted.len() <= "is Y".len() + "[REDACTED]".len() + 1,
            "{redacted}"
        );
    }
    for text in ["is correct", "nothing of it", "…", "", "correct…"] {
        assert_eq!(redactor.redact(text), text);
    }
    // An encoded character that is not whole does not keep the rest from being found.
    for text in [
        "is correct-horse%2",
        "is correct-horse\\u002",
        "is correct-horse\\",
    ] {
        let hidden = redactor.redact(text);
        assert!(hidden.starts_with("is [REDACTED]"), "{hidden}");
    }
}

#[test]
fn the_beginning_of_a_value_that_is_a_word_is_left() {
    let redactor = redactor(&[
        "password1",
        "postgres://user:pass@host/db",
        "https://x.example/k",
    ]);
    for text in [
        "the password",
        "see https://",
        "is postgres",
        "query_postgres",
    ] {
        assert_eq!(redactor.redact(text), text);
    }
    assert_eq!(redactor.redact("at postgres://us…"), "at [REDACTED]…");
}

#[test]
fn texts_full_of_places_to_look_at_are_searched_in_reasonable_time() {
    let redactor = Redactor::new();
    for number in 0..1000 {
        let _ = redactor.learn(&Secret::new(format!("github_pat_{number:020}")));
    }
    let hex: String = "github_pat".bytes().map(|it| format!("{it:02x}")).collect();
    // Every place is the end of a text, and every window the beginning of a thousand values.
    for unit in [
        "…",
        "github_pat_…",
        &format!("{hex}…"),
        "github_pat_\\u0020…",
    ] {
        let text = unit.repeat(100_000 / unit.len());
        let begun = std::time::Instant::now();
        let _ = redactor.redact(&text);
        // It takes a few milliseconds; what grows with the square would take minutes.
        assert!(
            begun.elapsed() < std::time::Duration::from_secs(10),
            "{unit}"
        );
    }
}

#[test]
fn what_is_escaped_three_times_is_hidden() {
    let redactor = redactor(&["pass\"word\\with/quotes"]);
    let mut text = "pass\"word\\with/quotes".to_owned();
    for _ in 0..3 {
        text = serde_json::to_string(&text).unwrap();
        let hidden = redactor.redact_learned(&text);
        assert!(hidden.contains("[REDACTED]"), "{hidden}");
        assert!(!hidden.contains("word"), "{hidden}");
    }
}

#[test]
fn what_is_forgotten_is_shown_and_what_it_shared_with_others_is_not() {
    let redactor = Redactor::new();
    let old = Secret::new("a-line-that-both-have\nonly-the-old-one-has-this");
    let new = Secret::new("a-line-that-both-have\nonly-the-new-one-has-this");
    assert_eq!(redactor.learn(&old), Learned::Added);
    assert_eq!(redactor.learn(&new), Learned::Added);
    assert!(redactor.forget(&old));
    assert!(!redactor.forget(&old));
    let text = "only-the-old-one-has-this, only-the-new-one-has-this, a-line-that-both-have";
    assert_eq!(
        redactor.redact(text),
        "only-the-old-one-has-this, [REDACTED], [REDACTED]"
    );
    assert_eq!(redactor.learn(&old), Learned::Added);
    assert_eq!(redactor.redact(text), "[REDACTED], [REDACTED], [REDACTED]");
}
