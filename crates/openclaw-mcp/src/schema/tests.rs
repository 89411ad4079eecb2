use proptest::prelude::*;
use serde_json::json;

use super::*;

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(object) => object,
        other => panic!("not an object: {other}"),
    }
}

fn made(schema: Value, dialect: SchemaDialect) -> Result<Value, SchemaError> {
    schema_for_model(&object(schema), dialect).map(Value::Object)
}

fn general(schema: Value) -> Value {
    made(schema, SchemaDialect::General).unwrap()
}

#[test]
fn a_sound_schema_is_left_alone() {
    let sound = json!({
        "type": "object",
        "properties": {
            "path": { "type": "string", "description": "Where", "minLength": 1 },
            "depth": { "type": ["integer", "null"], "default": 3 },
        },
        "required": ["path"],
        "additionalProperties": false,
    });
    assert_eq!(general(sound.clone()), sound);
}

#[test]
fn what_is_left_out_is_put_in() {
    assert_eq!(
        general(json!({})),
        json!({"type": "object", "properties": {}})
    );
    let mended = general(json!({
        "properties": {
            "list": { "type": "array" },
            "inner": { "properties": { "a": true, "b": false } },
            "word": { "enum": ["a", "b"] },
            "odd": 7,
        },
        "required": ["list", "missing", 5],
    }));
    assert_eq!(
        mended,
        json!({
            "type": "object",
            "properties": {
                "list": { "type": "array", "items": {} },
                "inner": { "type": "object", "properties": { "a": {} } },
                "word": { "type": "string", "enum": ["a", "b"] },
                "odd": {},
            },
            "required": ["list"],
        })
    );
}

#[test]
fn references_are_put_in_their_place() {
    let inlined = general(json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$defs": {
            "name": { "type": "string" },
            "a/b %": { "$anchor": "odd", "type": "integer" },
        },
        "type": "object",
        "properties": {
            "first": { "$ref": "#/$defs/name", "description": "mine" },
            "second": { "$ref": "#/$defs/a~1b%20%25" },
            "third": { "$ref": "#odd" },
            "$ref": { "type": "boolean" },
        },
    }));
    assert_eq!(
        inlined["properties"],
        json!({
            "first": { "type": "string", "description": "mine" },
            "second": { "type": "integer" },
            "third": { "type": "integer" },
            "$ref": { "type": "boolean" },
        })
    );
    assert!(inlined.get("$defs").is_none());
}

#[test]
fn a_reference_to_itself_ends() {
    let tree = general(json!({
        "type": "object",
        "properties": { "children": { "type": "array", "items": { "$ref": "#" } } },
    }));
    let inner = &tree["properties"]["children"]["items"]["properties"]["children"]["items"];
    assert_eq!(*inner, json!({}));
    let two = made(
        json!({
            "$defs": {
                "a": { "properties": { "b": { "$ref": "#/$defs/b" } } },
                "b": { "properties": { "a": { "$ref": "#/$defs/a" } } },
            },
            "properties": { "a": { "$ref": "#/$defs/a" } },
        }),
        SchemaDialect::General,
    );
    assert!(two.is_ok());
}

#[test]
fn nothing_is_fetched_and_nothing_is_missing() {
    let reference = |to: &str| {
        let schema = json!({ "properties": { "a": { "$ref": to } } });
        made(schema, SchemaDialect::General).unwrap_err()
    };
    let elsewhere = "https://example.com/schema.json";
    assert_eq!(
        reference(elsewhere),
        SchemaError::ForeignReference(elsewhere.to_owned())
    );
    assert!(matches!(
        reference("other.json#/x"),
        SchemaError::ForeignReference(_)
    ));
    assert!(matches!(
        reference("#/$defs/none"),
        SchemaError::MissingReference(_)
    ));
}

#[test]
fn large_schemas_and_bombs_are_refused() {
    let long = json!({ "description": "x".repeat(5_000_000) });
    assert_eq!(
        made(long, SchemaDialect::General),
        Err(SchemaError::TooLarge)
    );
    // Each refers ten times to the next.
    let mut defs = Map::new();
    for level in 0..20 {
        let next = json!({ "$ref": format!("#/$defs/d{}", level + 1) });
        defs.insert(format!("d{level}"), json!({ "anyOf": vec![next; 10] }));
    }
    defs.insert("d20".to_owned(), json!({ "type": "string" }));
    let bomb = json!({ "$defs": defs, "properties": { "a": { "$ref": "#/$defs/d0" } } });
    assert_eq!(
        made(bomb, SchemaDialect::General),
        Err(SchemaError::TooLarge)
    );
}

#[test]
fn a_choice_at_the_root_becomes_one_object() {
    let merged = general(json!({
        "anyOf": [
            { "type": "object", "properties": { "id": { "type": "integer" }, "x": { "type": "string" } }, "required": ["id", "x"] },
            { "properties": { "id": { "type": "string" } }, "required": ["id"] },
        ],
    }));
    assert_eq!(
        merged,
        json!({
            "type": "object",
            "properties": {
                "id": { "anyOf": [{ "type": "integer" }, { "type": "string" }] },
                "x": { "type": "string" },
            },
            "required": ["id"],
        })
    );
    let all = general(json!({
        "allOf": [
            { "properties": { "a": { "type": "string" } }, "required": ["a"] },
            { "properties": { "b": { "type": "string" } }, "required": ["b"] },
        ],
    }));
    assert_eq!(all["required"], json!(["a", "b"]));
    let error = made(json!({ "type": "string" }), SchemaDialect::General);
    assert_eq!(error, Err(SchemaError::NotAnObject));
}

#[test]
fn gemini_gets_what_it_takes() {
    let schema = json!({
        "type": "object",
        "additionalProperties": false,
        "properties": {
            "kind": { "const": "file" },
            "size": { "type": ["integer", "null"], "minimum": 0, "enum": [1, 2] },
            "name": { "type": "string", "pattern": "^a", "format": "email", "maxLength": 3 },
            "either": { "oneOf": [{ "type": "string" }, { "type": "object", "patternProperties": {} }] },
        },
        "required": ["kind"],
    });
    assert_eq!(
        made(schema, SchemaDialect::Gemini).unwrap(),
        json!({
            "type": "object",
            "properties": {
                "kind": { "type": "string", "enum": ["file"] },
                "size": { "type": "integer", "nullable": true },
                "name": { "type": "string" },
                "either": { "anyOf": [{ "type": "string" }, { "type": "object" }] },
            },
            "required": ["kind"],
        })
    );
}

#[test]
fn strict_mode_requires_everything() {
    let schema = json!({
        "properties": {
            "path": { "type": "string", "minLength": 1 },
            "mode": { "enum": ["r", "w"] },
            "options": { "type": "object", "properties": { "deep": { "type": "boolean" } } },
        },
        "required": ["path"],
    });
    assert_eq!(
        made(schema, SchemaDialect::OpenAiStrict).unwrap(),
        json!({
            "properties": {
                "path": { "type": "string" },
                "mode": { "anyOf": [{ "enum": ["r", "w"], "type": "string" }, { "type": "null" }] },
                "options": {
                    "type": ["object", "null"],
                    "properties": { "deep": { "type": ["boolean", "null"] } },
                    "required": ["deep"],
                    "additionalProperties": false,
                },
            },
            "required": ["path", "mode", "options"],
            "additionalProperties": false,
            "type": "object",
        })
    );
    for loose in [
        json!({ "properties": { "any": {} } }),
        json!({ "properties": { "map": { "type": "object", "additionalProperties": { "type": "string" } } } }),
        json!({ "properties": { "free": { "type": "object" } } }),
    ] {
        let error = made(loose.clone(), SchemaDialect::OpenAiStrict);
        assert_eq!(error, Err(SchemaError::NotStrict), "{loose}");
    }
}

fn any_schema() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(json!({})),
        Just(json!(true)),
        Just(json!(false)),
        Just(json!({"type": "string"})),
        Just(json!({"type": ["integer", "null"], "minimum": 1})),
        Just(json!({"$ref": "#"})),
        Just(json!({"$ref": "#/properties/a"})),
        Just(json!({"enum": [1, "a", null]})),
        Just(json!({"const": {"$ref": "x"}})),
        Just(json!({"type": "array"})),
        Just(json!(5)),
        Just(json!("text")),
    ];
    leaf.prop_recursive(4, 40, 5, |inner| {
        let named = prop::collection::btree_map("[abc]", inner.clone(), 0..4);
        let listed = prop::collection::vec(inner.clone(), 0..4);
        prop_oneof![
            (named, prop::collection::vec("[abcd]", 0..3)).prop_map(|(properties, required)| {
                json!({"properties": properties, "required": required})
            }),
            listed.clone().prop_map(|schemas| json!({"anyOf": schemas})),
            listed.clone().prop_map(|schemas| json!({"oneOf": schemas})),
            listed.prop_map(|schemas| json!({"allOf": schemas})),
            inner
                .clone()
                .prop_map(|items| json!({"type": "array", "items": items})),
            inner.prop_map(|other| json!({"type": "object", "additionalProperties": other})),
        ]
    })
}

/// What must hold of every schema that is sent to a model.
fn check(schema: &Value, path: &str) {
    let Value::Object(schema) = schema else {
        panic!("{path} is no schema: {schema}")
    };
    assert!(!schema.contains_key("$ref"), "{path}");
    let properties = schema.get("properties").and_then(Value::as_object);
    for name in schema
        .get("required")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
    {
        let name = name.as_str().unwrap();
        assert!(
            properties.is_some_and(|it| it.contains_key(name)),
            "{path}: {name}"
        );
    }
    for (name, property) in properties.into_iter().flatten() {
        check(property, &format!("{path}.{name}"));
    }
    if schema.get("type").is_some_and(|kind| kind == "array") {
        assert!(schema.contains_key("items"), "{path}");
    }
}

proptest! {
    #[test]
    fn whatever_comes_out_is_sound(schema in any_schema()) {
        if let Value::Object(schema) = schema {
            for dialect in [SchemaDialect::General, SchemaDialect::Gemini, SchemaDialect::OpenAiStrict] {
                if let Ok(made) = schema_for_model(&schema, dialect) {
                    prop_assert_eq!(made.get("type"), Some(&json!("object")));
                    check(&Value::Object(made), "");
                }
            }
        }
    }
}
