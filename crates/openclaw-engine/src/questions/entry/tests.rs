use proptest::prelude::*;
use serde_json::json;

use super::*;

fn field(kind: FieldKind, required: bool, default: Option<Value>) -> FormField {
    FormField {
        name: "field".to_owned(),
        title: None,
        description: None,
        required,
        kind,
        default,
    }
}

fn text(least: Option<u64>, most: Option<u64>, format: Option<&str>) -> FieldKind {
    FieldKind::Text {
        least,
        most,
        format: format.map(str::to_owned),
    }
}

fn options() -> Vec<FieldOption> {
    [("r", "Red"), ("2", "Green"), ("b", "blue, or so")]
        .map(|(value, title)| FieldOption {
            value: value.to_owned(),
            title: title.to_owned(),
        })
        .to_vec()
}

/// What is read, as JSON, or why not.
fn read(kind: FieldKind, typed: &str) -> String {
    match field(kind, true, None).read(typed) {
        Ok(Some(value)) => value.to_string(),
        Ok(None) => "nothing".to_owned(),
        Err(refusal) => refusal.to_string(),
    }
}

#[test]
fn texts_have_their_limits_and_formats() {
    assert_eq!(
        read(text(None, None, None), "  hello there "),
        "\"hello there\""
    );
    assert_eq!(
        read(text(Some(3), None, None), "äb"),
        "it needs 3 characters at least"
    );
    assert_eq!(
        read(text(None, Some(1), None), "äb"),
        "it takes 1 character at most"
    );
    assert_eq!(
        read(text(None, None, Some("email")), "nobody"),
        "it takes an email address, as name@example.com"
    );
    assert_eq!(read(text(None, None, Some("colour")), "red"), "\"red\"");
    let endless = "x".repeat(LONGEST + 1);
    assert!(read(text(None, None, None), &endless).contains("at most"));
}

#[test]
fn numbers_are_not_rounded_and_have_their_limits() {
    let number = |whole| FieldKind::Number {
        whole,
        least: Some(0.0),
        most: Some(1e19),
    };
    for (whole, typed, came) in [
        (true, "30", "30"),
        (true, "9007199254740993", "9007199254740993"),
        (
            true,
            "18446744073709551615",
            "it takes 10000000000000000000 at most",
        ),
        (true, "3.5", "it takes a whole number"),
        (false, "3.5", "3.5"),
        (false, "1e400", "it takes a number"),
        (false, "NaN", "it takes a number"),
        (false, "-1", "it takes 0 at least"),
        (false, "many", "it takes a number"),
    ] {
        assert_eq!(read(number(whole), typed), came, "{typed}");
    }
}

#[test]
fn options_are_named_by_number_title_or_value() {
    let one = || FieldKind::One { options: options() };
    // The second has the value "2" and is the second: no doubt. The number comes first.
    for (typed, came) in [
        ("1", "\"r\""),
        ("2", "\"2\""),
        ("RED", "\"r\""),
        ("b", "\"b\""),
    ] {
        assert_eq!(read(one(), typed), came, "{typed}");
    }
    let reason = "it takes only what can be chosen, by a number from 1 to 3";
    for typed in ["0", "4", "yellow", "-1"] {
        assert_eq!(read(one(), typed), reason, "{typed}");
    }
    let some = |least, most| FieldKind::Some {
        options: options(),
        least,
        most,
    };
    assert_eq!(read(some(None, None), "3, red,, 1"), "[\"b\",\"r\"]");
    assert_eq!(
        read(some(Some(2), None), "1,1"),
        "at least 2 have to be chosen"
    );
    assert_eq!(read(some(None, Some(1)), "1,2"), "at most 1 can be chosen");
    assert_eq!(read(some(None, None), "1,x"), reason);
}

#[test]
fn an_empty_line_is_the_default_or_nothing_or_a_mistake() {
    let read =
        |required, default: Option<Value>| field(FieldKind::YesOrNo, required, default).read("  ");
    assert_eq!(read(true, Some(json!(false))), Ok(Some(json!(false))));
    assert_eq!(read(false, None), Ok(None));
    assert_eq!(read(true, None), refused("it has to be filled in"));
    // What the field itself would not take is no default.
    assert_eq!(
        read(true, Some(json!("yes"))),
        refused("it has to be filled in")
    );
    assert_eq!(read(false, Some(json!(1))), Ok(None));
}

#[test]
fn values_from_elsewhere_are_checked_alike() {
    let takes = |kind: FieldKind, value: Value| field(kind, true, None).check(&value);
    assert_eq!(takes(FieldKind::YesOrNo, json!(true)), Ok(()));
    assert_eq!(
        takes(FieldKind::YesOrNo, json!("true")),
        refused("it takes yes or no")
    );
    let whole = || FieldKind::Number {
        whole: true,
        least: None,
        most: None,
    };
    assert_eq!(takes(whole(), json!(3.0)), Ok(()));
    assert_eq!(
        takes(whole(), json!(null)),
        refused("it takes a whole number")
    );
    let one = FieldKind::One { options: options() };
    assert_eq!(
        takes(one, json!("Red")),
        refused("it takes only what can be chosen")
    );
    let some = FieldKind::Some {
        options: options(),
        least: None,
        most: None,
    };
    assert_eq!(
        takes(some, json!(["r", 1])),
        refused("it takes only what can be chosen")
    );
}

fn kinds() -> impl Strategy<Value = FieldKind> {
    let limits = || {
        (
            proptest::option::of(0_u64..6),
            proptest::option::of(0_u64..6),
        )
    };
    let formats = proptest::option::of(proptest::sample::select(vec![
        "email".to_owned(),
        "uri".to_owned(),
        "date".to_owned(),
        "date-time".to_owned(),
        "other".to_owned(),
    ]));
    prop_oneof![
        (limits(), formats).prop_map(|((least, most), format)| FieldKind::Text {
            least,
            most,
            format
        }),
        (
            any::<bool>(),
            proptest::option::of(-10.0..10.0),
            proptest::option::of(-10.0..10.0)
        )
            .prop_map(|(whole, least, most)| FieldKind::Number { whole, least, most }),
        Just(FieldKind::YesOrNo),
        Just(FieldKind::One { options: options() }),
        limits().prop_map(|(least, most)| FieldKind::Some {
            options: options(),
            least,
            most
        }),
    ]
}

proptest! {
    /// What is read is taken when it is checked, and a default that is offered is one that is taken.
    #[test]
    fn what_is_read_is_what_the_field_takes(
        kind in kinds(),
        required in any::<bool>(),
        default in prop_oneof![
            Just(None),
            any::<bool>().prop_map(|it| Some(json!(it))),
            any::<i32>().prop_map(|it| Some(json!(it))),
            "[a-z]{0,8}".prop_map(|it| Some(json!(it))),
            Just(Some(json!(["r"]))),
        ],
        typed in prop_oneof!["\\PC{0,12}", "[0-9,. rb-]{0,6}", "(y|no|Red|1|2024-02-29|a@b)?"],
    ) {
        let field = field(kind, required, default);
        match field.read(&typed) {
            Ok(Some(value)) => prop_assert!(field.check(&value).is_ok(), "{value}"),
            Ok(None) => prop_assert!(!required && typed.trim().is_empty()),
            Err(refusal) => {
                let reason = refusal.to_string();
                prop_assert!(!reason.is_empty() && !reason.ends_with('.'));
                // A reason never repeats what was typed: it may have been a secret.
                prop_assert!(typed.trim().len() < 6 || !reason.contains(typed.trim()));
            }
        }
    }
}
