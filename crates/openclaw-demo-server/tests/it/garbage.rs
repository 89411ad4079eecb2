//! Whatever comes, each line that wants one gets an answer, and nothing breaks.

use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::{Value, json};

fn json_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        ".{0,8}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Value::from),
            vec(("[a-z]{1,6}", inner), 0..4)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn bytes_of_any_kind_do_no_harm(bytes in vec(any::<u8>(), 0..400)) {
        let mut output = Vec::new();
        openclaw_demo_server::serve(bytes.as_slice(), &mut output).unwrap();
        for line in String::from_utf8(output).unwrap().lines() {
            let answer: Value = serde_json::from_str(line).unwrap();
            prop_assert_eq!(&answer["jsonrpc"], "2.0");
        }
    }

    #[test]
    fn every_request_gets_exactly_one_answer(
        method in prop_oneof![
            Just("initialize"), Just("ping"), Just("tools/list"), Just("tools/call"),
            Just("server/discover"), Just("other"),
        ],
        name in prop_oneof![Just("add"), Just("roll_dice"), Just("count_words"), Just("x")],
        params in json_value(),
        arguments in json_value(),
    ) {
        let mut params = params;
        if params.is_object() {
            params["name"] = json!(name);
            params["arguments"] = arguments;
        }
        let request = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        let mut output = Vec::new();
        let line = format!("{request}\n");
        openclaw_demo_server::serve(line.as_bytes(), &mut output).unwrap();
        let answer: Value = serde_json::from_slice(&output).unwrap();
        prop_assert_eq!(&answer["id"], 1);
        prop_assert!(answer.get("result").is_some() != answer.get("error").is_some());
    }
}
