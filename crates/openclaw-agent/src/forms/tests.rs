use serde_json::json;

use super::*;

#[test]
fn every_kind_of_field_is_read() {
    let schema = json!({
        "type": "object",
        "properties": {
            "name": { "type": "string", "title": "Name", "minLength": 1, "maxLength": 9, "default": "x" },
            "mail": { "type": "string", "format": "email", "default": 7 },
            "age": { "type": "integer", "minimum": 0, "maximum": 150 },
            "ratio": { "type": "number" },
            "sure": { "type": "boolean", "default": true },
            "colour": { "type": "string", "enum": ["r", "g"], "enumNames": ["Red"] },
            "size": { "type": "string", "oneOf": [{ "const": "s", "title": "Small" }] },
            "tags": { "type": "array", "minItems": 1, "items": { "type": "string", "enum": ["a", "b"] }, "default": ["a"] },
            "odd": { "type": "object" },
        },
        "required": ["name", "age"],
    });
    let fields = form(&schema).unwrap();
    let short: Vec<String> = fields
        .iter()
        .map(|field| {
            let default = field.default.as_ref().map(Value::to_string);
            format!(
                "{} {} {:?} {}",
                field.name,
                field.required,
                field.kind,
                default.as_deref().unwrap_or("-")
            )
        })
        .collect();
    insta::assert_snapshot!(short.join("\n"), @r#"
    name true Text { least: Some(1), most: Some(9), format: None } "x"
    mail false Text { least: None, most: None, format: Some("email") } -
    age true Number { whole: true, least: Some(0.0), most: Some(150.0) } -
    ratio false Number { whole: false, least: None, most: None } -
    sure false YesOrNo true
    colour false One { options: [FieldOption { value: "r", title: "Red" }, FieldOption { value: "g", title: "g" }] } -
    size false One { options: [FieldOption { value: "s", title: "Small" }] } -
    tags false Some { options: [FieldOption { value: "a", title: "a" }, FieldOption { value: "b", title: "b" }], least: Some(1), most: None } ["a"]
    "#);
}

#[test]
fn what_has_to_be_filled_in_and_cannot_be_shown_is_a_reason_to_decline() {
    let cases = [
        json!([]),
        json!({ "properties": [] }),
        json!({ "properties": { "x": { "type": "object" } }, "required": ["x"] }),
        json!({ "properties": {}, "required": ["x"] }),
        json!({ "properties": { "x": { "enum": [1] } }, "required": ["x"] }),
    ];
    for schema in cases {
        assert!(form(&schema).is_err(), "{schema}");
    }
    let many: Map<String, Value> = (0..51)
        .map(|number| (number.to_string(), json!({ "type": "string" })))
        .collect();
    assert!(form(&json!({ "properties": many })).is_err());
    let values: Vec<String> = (0..201).map(|it| it.to_string()).collect();
    for kind in [
        json!({ "enum": values }),
        json!({ "type": "string", "enum": values }),
        json!({ "type": "array", "items": { "type": "string", "enum": values } }),
    ] {
        let long = json!({ "properties": { "x": kind }, "required": ["x"] });
        assert!(form(&long).is_err(), "{kind}");
        let optional = json!({ "properties": { "x": kind } });
        assert_eq!(form(&optional).unwrap(), [], "no field for anything at all");
    }
}

#[test]
fn a_form_without_fields_is_a_question_of_yes_or_no() {
    assert_eq!(form(&json!({ "type": "object" })).unwrap(), []);
}

#[test]
fn people_are_sent_to_safe_addresses_only() {
    for address in [
        "https://example.com/a?b=c",
        "http://127.0.0.1:3/x",
        "http://[::1]/",
    ] {
        assert!(visited(address).is_ok(), "{address}");
    }
    for address in [
        "http://example.com/",
        "file:///etc/passwd",
        "javascript:alert(1)",
        "https://bank.example@evil.example/",
        "nonsense",
        "",
    ] {
        assert!(visited(address).is_err(), "{address}");
    }
    assert_eq!(
        visited("https://ex\u{430}mple.com/").unwrap(),
        "https://xn--exmple-4nf.com/"
    );
}
