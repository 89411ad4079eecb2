use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::ArgumentCheck;

fn object_of(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(object) => object,
        other => panic!("not an object: {other}"),
    }
}

fn words(schema: Value, words: &[&str]) -> Result<Value, String> {
    let words: Vec<_> = words
        .iter()
        .map(|word| word.split_once('=').unwrap())
        .map(|(key, text)| (key.to_owned(), text.to_owned()))
        .collect();
    typed_words(&words, &object_of(schema)).map(Value::Object)
}

/// One property `x` with this schema, beside definitions.
fn value(schema: &Value, text: &str) -> Result<Value, String> {
    let schema = json!({
        "type": "object",
        "properties": { "x": schema },
        "$defs": {
            "count": { "type": "integer" },
            "Colour[a]": { "enum": ["red", "blue", 3, null, true] },
            "again": { "$ref": "#/$defs/again" },
            "round": { "anyOf": [{ "$ref": "#/$defs/round" }, { "$ref": "#/$defs/round" }] },
            "pair": { "type": "object", "properties": { "left": { "$ref": "#/$defs/count" } } },
        },
    });
    let words = [("x".to_owned(), text.to_owned())];
    typed_words(&words, &object_of(schema)).map(|mut object| object.remove("x").unwrap())
}

#[test]
fn every_type_is_read_as_the_schema_has_it() {
    let text = || json!({"type": "string"});
    for (schema, text, expected) in [
        (text(), "7", json!("7")),
        (text(), "true", json!("true")),
        (text(), " {\"a\": 1} ", json!(" {\"a\": 1} ")),
        (text(), "", json!("")),
        (json!({"type": "integer"}), "-7", json!(-7)),
        (json!({"type": "integer"}), " 007 ", json!(7)),
        (json!({"type": "integer"}), "1e3", json!(1000)),
        (json!({"type": "integer"}), "2.0", json!(2)),
        (
            json!({"type": "integer"}),
            "18446744073709551615",
            json!(u64::MAX),
        ),
        (json!({"type": "number"}), "1.5", json!(1.5)),
        (json!({"type": "number"}), "3", json!(3)),
        (json!({"type": "boolean"}), "True", json!(true)),
        (json!({"type": "null"}), "null", json!(null)),
        (json!({"type": "object"}), "{\"a\": [1]}", json!({"a": [1]})),
        (json!({"$ref": "#/$defs/count"}), "7", json!(7)),
        (
            json!({"allOf": [{"$ref": "#/$defs/count"}, {"title": "n"}]}),
            "7",
            json!(7),
        ),
        (
            json!({"$ref": "#/$defs/Colour%5Ba%5D"}),
            "blue",
            json!("blue"),
        ),
        (json!({"$ref": "#/$defs/Colour%5Ba%5D"}), "3", json!(3)),
        (
            json!({"$ref": "#/$defs/Colour%5Ba%5D"}),
            "null",
            json!(null),
        ),
        (json!({"const": "on"}), "on", json!("on")),
        (
            json!({"type": "string", "enum": ["1", "2"]}),
            "2",
            json!("2"),
        ),
        (json!({"properties": {}}), "{}", json!({})),
    ] {
        assert_eq!(
            value(&schema, text).as_ref(),
            Ok(&expected),
            "{schema} {text}"
        );
    }
}

#[test]
fn of_several_types_the_first_that_fits_counts_and_text_comes_last() {
    let either = json!({"type": ["string", "integer", "null"]});
    let any_of = json!({"anyOf": [{"type": "string"}, {"type": "integer"}, {"type": "null"}]});
    for schema in [either, any_of] {
        for (text, expected) in [
            ("7", json!(7)),
            ("null", json!(null)),
            ("seven", json!("seven")),
            ("007", json!("007")),
            ("true", json!("true")),
        ] {
            assert_eq!(value(&schema, text), Ok(expected), "{schema}");
        }
    }
    let text_or_list = json!({"anyOf": [
        {"type": "string"},
        {"type": "array", "items": {"type": "string"}},
    ]});
    assert_eq!(value(&text_or_list, "a,b"), Ok(json!("a,b")));
    assert_eq!(value(&text_or_list, "[\"a\"]"), Ok(json!(["a"])));
    assert_eq!(value(&text_or_list, "[a"), Ok(json!("[a")));
    let open = json!({"anyOf": [{"type": "integer"}, {}]});
    assert_eq!(value(&open, "abc"), Ok(json!("abc")));
}

#[test]
fn lists_are_json_or_commas_or_repeated_keys() {
    let list = |items: Value| json!({"type": "array", "items": items});
    let texts = list(json!({"type": "string"}));
    let numbers = list(json!({"$ref": "#/$defs/count"}));
    assert_eq!(value(&texts, "1, b"), Ok(json!(["1", "b"])));
    assert_eq!(value(&texts, ""), Ok(json!([])));
    assert_eq!(value(&texts, "[\"a,b\"]"), Ok(json!(["a,b"])));
    assert_eq!(value(&numbers, "1,2"), Ok(json!([1, 2])));
    assert_eq!(
        value(&json!({"type": ["array", "null"]}), "1,a"),
        Ok(json!([1, "a"]))
    );
    let pairs = list(json!({"$ref": "#/$defs/pair"}));
    assert_eq!(value(&pairs, "{\"left\": 1}"), Ok(json!([{"left": 1}])));
    let numbers = list(json!({"type": "integer"}));
    let schema = json!({"properties": {"tag": texts, "n": numbers}});
    assert_eq!(
        words(schema.clone(), &["tag=a,b", "n=1", "tag=c", "n=2"]),
        Ok(json!({"tag": ["a,b", "c"], "n": [1, 2]}))
    );
    let error = words(schema, &["n=1", "n=x"]).unwrap_err();
    assert_eq!(error, "`n`: expected an integer, got `x`");
}

#[test]
fn parts_of_an_object_are_put_together() {
    let schema = json!({
        "properties": {
            "a": { "type": "object", "properties": {
                "b": { "type": "string" },
                "c": { "type": "object", "properties": { "d": { "type": "integer" } } },
            } },
            "x.y": { "type": "string" },
            "x": { "type": "object" },
            "labels": { "type": "object", "additionalProperties": { "type": "string" } },
            "text": { "type": "string" },
        },
    });
    assert_eq!(
        words(
            schema.clone(),
            &[
                "a.b=1",
                "x.y=1",
                "a.c.d=2",
                "x.z=1",
                "labels.n=7",
                "text.n=7"
            ]
        ),
        Ok(json!({
            "a": {"b": "1", "c": {"d": 2}},
            "x.y": "1",
            "x": {"z": 1},
            "labels": {"n": "7"},
            "text.n": 7,
        }))
    );
    let error = words(schema.clone(), &["a={}", "a.b=1"]).unwrap_err();
    assert!(
        error.contains("`a` is given as a whole, and `a.b` gives a part"),
        "{error}"
    );
    let error = words(schema.clone(), &["a.c.d=x"]).unwrap_err();
    assert_eq!(error, "`a.c.d`: expected an integer, got `x`");
    let error = words(schema, &["a.c.d=1", "a.c.d=2"]).unwrap_err();
    assert!(error.contains("`a.c.d` is given 2 times"), "{error}");
    let tree = json!({"properties": {"n": {"$ref": "#"}}});
    let deep = format!("{}=1", vec!["n"; 100].join("."));
    let error = words(tree, &[&deep]).unwrap_err();
    assert!(error.contains("too deep"), "{error}");
}

#[test]
fn what_the_schema_does_not_know_is_json_or_text() {
    let schema = || json!({"type": "object", "properties": {}});
    assert_eq!(
        words(
            schema(),
            &[
                "a=1",
                "b=[true]",
                "c=x y",
                "d=",
                "e.f=null",
                "g=123456789012345678901"
            ]
        ),
        Ok(json!({
            "a": 1, "b": [true], "c": "x y", "d": "", "e.f": null, "g": "123456789012345678901",
        }))
    );
    assert!(words(schema(), &["a=1", "a=2"]).is_err());
    let found = words(json!({"$ref": "http://elsewhere/"}), &["a=1"]);
    assert_eq!(found, Ok(json!({"a": 1})));
}

#[test]
fn errors_name_the_key_what_was_expected_and_what_was_given() {
    for (schema, text, expected) in [
        (
            json!({"type": "integer"}),
            "1.5",
            "`x`: expected an integer, got `1.5`",
        ),
        (
            json!({"type": "integer"}),
            "99999999999999999999",
            "`x`: expected an integer of at most 64 bits, got `99999999999999999999`",
        ),
        (
            json!({"type": "number"}),
            "nan",
            "`x`: expected a number, got `nan`",
        ),
        (
            json!({"type": "number"}),
            "1e999",
            "`x`: expected a number, got `1e999`",
        ),
        (
            json!({"type": "boolean"}),
            "yes",
            "`x`: expected true or false, got `yes`",
        ),
        (
            json!({"type": ["integer", "null"]}),
            "\u{1b}[31m",
            "`x`: expected an integer or null, got ``",
        ),
        (
            json!({"enum": ["a", "b", 3]}),
            "c",
            "`x`: expected one of `a`, `b`, `3`, got `c`",
        ),
        (
            json!({"type": "array", "items": {"type": "integer"}}),
            "1,b",
            "`x`: expected an integer as item 2 of a list, got `1,b`",
        ),
        (
            json!({"type": "object"}),
            "{a: 1}",
            "`x`: expected a JSON object (key must be a string at line 1 column 2), got `{a: 1}`",
        ),
        (
            json!({"type": "object"}),
            "7",
            "`x`: expected a JSON object, got `7`",
        ),
    ] {
        assert_eq!(value(&schema, text), Err(expected.to_owned()), "{schema}");
    }
    let many: Vec<_> = (0..100).map(|n| format!("choice {n}")).collect();
    let error = value(&json!({"enum": many}), &"x".repeat(10_000)).unwrap_err();
    assert!(error.contains("`choice 9` and 90 more"), "{error}");
    assert!(error.len() < 1_000, "{}", error.len());
}

#[test]
fn references_that_lead_in_circles_end() {
    for name in ["again", "round", "missing"] {
        let schema = json!({"$ref": format!("#/$defs/{name}")});
        assert_eq!(value(&schema, "7"), Ok(json!(7)), "{name}");
        assert_eq!(value(&schema, "seven"), Ok(json!("seven")), "{name}");
    }
}

fn any_schema() -> impl Strategy<Value = Value> {
    let kinds = [
        "string", "integer", "number", "boolean", "null", "array", "object", "odd",
    ];
    let leaf = prop_oneof![
        prop::sample::select(kinds.to_vec()).prop_map(|kind| json!({"type": kind})),
        prop::sample::select(vec!["#", "#/properties/a", "#/$defs/no", "x"])
            .prop_map(|reference| json!({"$ref": reference})),
        any::<bool>().prop_map(Value::from),
        Just(json!({"enum": ["a", 1, null, {}]})),
        Just(json!(null)),
    ];
    leaf.prop_recursive(3, 16, 4, |inner| {
        let many = prop::collection::vec(inner.clone(), 0..4);
        prop_oneof![
            (
                prop::sample::select(vec!["anyOf", "oneOf", "allOf", "type"]),
                many
            )
                .prop_map(|(keyword, schemas)| json!({keyword: schemas})),
            (
                prop::sample::select(vec!["items", "additionalProperties", "enum"]),
                inner.clone()
            )
                .prop_map(|(keyword, schema)| json!({keyword: schema})),
            prop::collection::btree_map("[abx.]{1,3}", inner, 0..4)
                .prop_map(|properties| json!({"properties": properties})),
        ]
    })
}

proptest! {
    #[test]
    fn no_words_and_no_schema_make_it_panic(
        schema in any_schema(),
        words in prop::collection::vec(("[abx.]{0,6}|.*", "[0-9a\\[\\]{}\":,.e-]{0,8}|.*"), 0..6),
    ) {
        if let Value::Object(schema) = schema
            && let Err(error) = typed_words(&words, &schema)
        {
            prop_assert!(error.len() < 5_000);
            prop_assert!(!error.contains(char::is_control), "{:?}", error);
        }
    }

    #[test]
    fn texts_survive_exactly(text in ".*|[0-9truefalsn{}\\[\\]\", .-]{0,12}", key in "[a-z.]{1,6}") {
        let schema = object_of(json!({
            "properties": { &key: { "anyOf": [{ "type": "string" }] } },
        }));
        let typed = typed_words(&[(key.clone(), text.clone())], &schema).unwrap();
        prop_assert_eq!(&typed[&key], &Value::String(text));
    }

    #[test]
    fn what_was_written_for_a_type_fits_it(
        kind in prop::sample::select(vec!["string", "integer", "number", "boolean", "null", "array", "object"]),
        text in "[0-9.e-]{1,6}|true|null|\\[1\\]|\\{\\}|[a-z,]{0,6}",
    ) {
        let schema = object_of(json!({"properties": {"x": {"type": kind}}}));
        if let Ok(arguments) = typed_words(&[("x".to_owned(), text)], &schema) {
            prop_assert!(ArgumentCheck::new(&schema).unwrap().check(arguments).is_ok());
        }
    }
}
