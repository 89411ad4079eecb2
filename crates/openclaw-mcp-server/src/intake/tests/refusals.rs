//! Lines, and what is not accepted as one.

use super::*;

/// What is wrong with a line that is not JSON, and its identifier.
fn not_json(text: &str) -> (Option<Value>, String) {
    match refusal(text, &Limits::TOOL) {
        (id, Problem::NotJson(reason)) => (id, reason),
        other => panic!("{other:?}"),
    }
}

#[test]
fn lines_end_with_a_line_feed_or_with_everything() {
    let values = |text: &str| -> Vec<Value> {
        let values = scan(text).into_iter().map(|incoming| match incoming {
            Incoming::Message { value, .. } => value,
            refused @ Incoming::Refused { .. } => panic!("{refused:?}"),
        });
        values.collect()
    };
    let two = [json!({"id": 1}), json!([2])];
    for text in [
        "{\"id\":1}\n[2]\n",
        "{\"id\":1}\r\n[2]\r\n",
        "{\"id\":1}\n[2]",
        "\n\r\n \t \n{\"id\":1}\n\n \r\n[2]  \n\n  ",
    ] {
        assert_eq!(values(text), two, "{text:?}");
    }
    assert_eq!(values(""), [] as [Value; 0]);
    assert_eq!(values("\r\n \n\t"), [] as [Value; 0]);
}

#[test]
fn a_line_that_is_not_json_costs_only_itself() {
    let all = scan("{\"id\":1}\nnonsense\n{\"id\":2}\n{\"params\":\n{\"id\":3}");
    insta::assert_snapshot!(shown(&all), @r#"
    {"id":1} []
    None the line is not JSON: expected ident at byte 2
    {"id":2} []
    None the line is not JSON: EOF while parsing a value at byte 10
    {"id":3} []
    "#);
}

#[test]
fn what_is_wrong_is_told_with_its_place_in_the_line() {
    let before = r#"{"id":7,"params":{"arguments":{"files":[{"data":""#;
    let sound = format!(r#"{before}{}","x":nul}}]}}}}}}"#, "QUJD".repeat(50));
    let place = sound.find("nul}").unwrap() + "nul}".len();
    assert_eq!(
        not_json(&sound),
        (Some(json!(7)), format!("expected ident at byte {place}"))
    );
    let unsound = format!(r#"{before}QUJ\x"}}]}}}}, nonsense}}"#);
    assert_eq!(
        not_json(&unsound),
        (
            Some(json!(7)),
            format!("an invalid escape in the string at byte {}", before.len())
        )
    );
}

#[test]
fn a_string_that_is_none_is_found_in_an_attachment_too() {
    for (data, reason) in [
        (b"QU\x01D" as &[u8], "a control character in the string"),
        (b"QU\0D", "a control character in the string"),
        (b"QU\rD", "a control character in the string"),
        (b"QU\\xD", "an invalid escape in the string"),
        (b"QU\\u00", "an invalid escape in the string"),
        (b"\\ud83d", "a lone surrogate in the string"),
        (b"\\ude00\\ud83d", "a lone surrogate in the string"),
        (b"QUJ\xff", "invalid UTF-8 in the string"),
        (b"QUJ\xc3", "invalid UTF-8 in the string"),
        (b"QUJD\nAAAA", "EOF while parsing a value"),
    ] {
        let before = b"{\"params\":{\"arguments\":{\"images\":[";
        // Those beyond the limit are looked at as closely.
        for surplus in [0, 12] {
            let others = b"{\"data\":\"\"},".repeat(surplus);
            let line = [before, others.as_slice(), b"{\"data\":\"", data, b"\"}]}}}"].concat();
            for pieces in [1, 5, line.len()] {
                let all = scan_pieces(&line, pieces, &Limits::TOOL);
                let Some(Incoming::Refused { problem, .. }) = all.first() else {
                    panic!("{data:?}: {all:?}");
                };
                let problem = problem.to_string();
                assert!(
                    problem.starts_with(&format!("the line is not JSON: {reason}")),
                    "{problem}"
                );
            }
        }
    }
}

#[test]
fn an_unfinished_line_is_not_json() {
    let whole = r#"{"id":7,"params":{"arguments":{"files":[{"data":"QUJD"}]}}}"#;
    for end in 1..whole.len() {
        let (id, _) = not_json(&whole[..end]);
        // A number is known once something follows it.
        assert_eq!(id, (end > "{\"id\":7".len()).then(|| json!(7)), "{end}");
    }
}

#[test]
fn brackets_beyond_measure_are_refused() {
    let deep = "[".repeat(10_000);
    assert_eq!(not_json(&deep).1, "recursion limit exceeded at byte 128");
    let deep = format!("{}{}", "[".repeat(127), "]".repeat(127));
    message(&deep);
    let deep = r#"{"params":"#.repeat(1000);
    assert_eq!(not_json(&deep).0, None);
}

#[test]
fn a_line_may_be_as_long_as_the_limit() {
    let text = call(&json!([attachment(&[7; 1000])]), &json!([])).to_string();
    let limits = |line| Limits {
        line,
        ..Limits::TOOL
    };
    let all = scan_within(&text, &limits(text.len()));
    assert!(matches!(all[..], [Incoming::Message { .. }]), "{all:?}");
    for after in ["", "\n", "\r\n"] {
        let text = format!("{text}{after}");
        let (id, problem) = refusal(
            &text,
            &limits(call(&json!([]), &json!([])).to_string().len()),
        );
        assert_eq!(id, Some(json!(7)));
        assert!(matches!(
            problem,
            Problem::TooLarge {
                without_attachments: false,
                ..
            }
        ));
    }
    let (_, problem) = refusal(&text, &limits(text.len() - 1));
    assert_eq!(
        problem.to_string(),
        format!("the message has more than {} bytes", text.len() - 1)
    );
}

#[test]
fn a_message_may_be_as_long_as_the_limit_without_its_attachments() {
    let text = call(&json!([attachment(&[7; 1000])]), &json!([])).to_string();
    let bare = json!([{"data": "0", "mimeType": "image/png"}]);
    let length = call(&bare, &json!([])).to_string().len();
    let limits = |skeleton| Limits {
        skeleton,
        ..Limits::TOOL
    };
    let all = scan_within(&text, &limits(length));
    assert!(matches!(all[..], [Incoming::Message { .. }]), "{all:?}");
    let (id, problem) = refusal(&text, &limits(length - 1));
    assert_eq!(id, Some(json!(7)));
    assert_eq!(
        problem.to_string(),
        format!(
            "the message has more than {} bytes without its attachments",
            length - 1
        )
    );
}

#[test]
fn a_message_may_have_as_many_values_as_the_limit() {
    let limits = Limits {
        values: 100,
        ..Limits::TOOL
    };
    let with = |count| json!({"id": "a", "params": vec![1; count]}).to_string();
    // An object, a comma in it, and an array.
    let all = scan_within(&with(98), &limits);
    assert!(matches!(all[..], [Incoming::Message { .. }]), "{all:?}");
    assert_eq!(
        refusal(&with(99), &limits),
        (Some(json!("a")), Problem::TooManyValues { limit: 100 })
    );
}

#[test]
fn the_identifier_of_what_is_too_large_is_found_wherever_it_stands() {
    let limits = Limits {
        line: 100,
        ..Limits::TOOL
    };
    let long = "long \\\" \\\\".repeat(30);
    for (text, id) in [
        (format!(r#"{{"id":1,"x":"{long}"}}"#), Some(json!(1))),
        (
            format!(r#"{{"x":"{long}","id":"a\"b"}}"#),
            Some(json!("a\"b")),
        ),
        (
            format!(r#"{{"x":["{long}",{{"id":5}}],"i\u0064" : -2.5 }}"#),
            Some(json!(-2.5)),
        ),
        (format!(r#"{{"id":1,"x":"{long}","id":2}}"#), Some(json!(2))),
        (format!(r#"{{"id":1,"x":"{long}","id":null}}"#), None),
        (format!(r#"{{"id":{{"id":1}},"x":"{long}"}}"#), None),
        (format!(r#"{{"x":"{long}","params":{{"id":5}}}}"#), None),
        (
            format!(r#"{{"x":"{long}","id":"{}"}}"#, "a".repeat(1100)),
            None,
        ),
        (format!(r#"[{{"id":1,"x":"{long}"}}]"#), None),
        (format!(r#""id {long}""#), None),
        (
            format!(r#"{{"params":{{"arguments":{{"files":[{{"data":"{long}"}}]}}}},"id":3}}"#),
            Some(json!(3)),
        ),
    ] {
        assert_eq!(refusal(&text, &limits).0, id, "{text}");
    }
}

#[test]
fn an_attachment_may_be_given_up_at_any_of_its_bytes() {
    let text = r#"{"params":{"arguments":{"files":[{"data":"QUJD\u0041\"\\\"\\"}]}},"id":3}"#;
    let limits = |line| Limits {
        line,
        ..Limits::TOOL
    };
    for line in text.find("QUJD").unwrap() - 2..text.len() {
        assert_eq!(refusal(text, &limits(line)).0, Some(json!(3)), "{line}");
    }
}

#[test]
fn after_a_line_that_is_too_long_the_next_is_read() {
    let limits = Limits {
        line: 50,
        ..Limits::TOOL
    };
    let text = format!("[\"{}\"]\n{{\"id\":2}}\n", "a".repeat(100));
    let all = scan_within(&text, &limits);
    assert!(
        matches!(&all[..], [Incoming::Refused { .. }, Incoming::Message { value, .. }] if value["id"] == 2),
        "{all:?}"
    );
}
