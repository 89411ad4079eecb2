use serde_json::json;

use super::*;

fn field(name: &str, kind: FieldKind) -> FormField {
    FormField {
        name: name.to_owned(),
        title: None,
        description: None,
        required: true,
        kind,
        default: None,
    }
}

fn options() -> Vec<FieldOption> {
    let option = |value: &str| FieldOption {
        value: value.to_owned(),
        title: value.to_uppercase(),
    };
    vec![option("a"), option("b")]
}

fn fields() -> Vec<FormField> {
    let text = FieldKind::Text {
        least: Some(1),
        most: None,
        format: Some("email".to_owned()),
    };
    let number = |whole| FieldKind::Number {
        whole,
        least: Some(0.5),
        most: Some(9.5),
    };
    let one = FieldKind::One { options: options() };
    let some = FieldKind::Some {
        options: options(),
        least: Some(1),
        most: None,
    };
    let mut yes = field("yes", FieldKind::YesOrNo);
    yes.required = false;
    yes.default = Some(json!(true));
    vec![
        field("text", text),
        field("whole", number(true)),
        field("number", number(false)),
        yes,
        field("one", one),
        field("some", some),
    ]
}

fn content(value: Value) -> BTreeMap<String, ElicitationContentValue> {
    serde_json::from_value(value).unwrap()
}

#[test]
fn forms_say_what_fields_take() {
    let form = serde_json::to_value(schema(&fields())).unwrap();
    let properties = &form["properties"];
    assert_eq!(
        properties["text"],
        json!({ "type": "string", "minLength": 1, "format": "email" })
    );
    assert_eq!(
        properties["whole"],
        json!({ "type": "integer", "minimum": 1, "maximum": 9 })
    );
    assert_eq!(
        properties["yes"],
        json!({ "type": "boolean", "default": true })
    );
    assert_eq!(
        properties["one"]["oneOf"],
        json!([{ "const": "a", "title": "A" }, { "const": "b", "title": "B" }])
    );
    assert_eq!(properties["some"]["type"], "array");
    assert_eq!(
        form["required"],
        json!(["text", "whole", "number", "one", "some"])
    );
}

#[test]
fn what_fits_is_taken_and_nothing_else() {
    let sound = json!({
        "text": "me@example.com", "whole": 3, "number": 3.5, "one": "a", "some": ["a", "b"],
        "more": "than asked",
    });
    let values = filled_in(&fields(), content(sound.clone())).unwrap();
    assert_eq!(
        Value::Object(values),
        json!({
            "text": "me@example.com", "whole": 3, "number": 3.5, "one": "a", "some": ["a", "b"]
        })
    );
    for (name, wrong) in [
        ("text", json!("me")),
        ("whole", json!(3.5)),
        ("number", json!(10)),
        ("one", json!("c")),
        ("some", json!([])),
        ("yes", json!("yes")),
    ] {
        let mut answer = sound.clone();
        answer[name] = wrong;
        let reason = filled_in(&fields(), content(answer)).unwrap_err();
        assert!(
            reason.starts_with(&format!("{name}: it")) || name == "some",
            "{reason}"
        );
    }
    let mut answer = sound;
    answer.as_object_mut().unwrap().remove("one");
    let reason = filled_in(&fields(), content(answer)).unwrap_err();
    assert_eq!(reason, "one: it has to be filled in");
}
