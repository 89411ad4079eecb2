//! What the tools say.

use serde_json::{Value, json};

use crate::conversation::answer;

fn call(name: &str, arguments: &Value) -> (String, bool) {
    let params = json!({"name": name, "arguments": arguments});
    let result = answer("tools/call", &params)["result"].clone();
    let text = result["content"][0]["text"].as_str().unwrap().to_owned();
    (text, result["isError"] == json!(true))
}

fn good(name: &str, arguments: &Value) -> String {
    let (text, is_error) = call(name, arguments);
    assert!(!is_error, "{text}");
    text
}

#[test]
fn every_tool_is_described_and_reads_only() {
    let tools = answer("tools/list", &json!({}))["result"]["tools"].clone();
    let mut seen = Vec::new();
    for tool in tools.as_array().unwrap() {
        seen.push(tool["name"].as_str().unwrap().to_owned());
        assert!(tool["description"].as_str().unwrap().len() > 10);
        assert_eq!(tool["inputSchema"]["type"], "object");
        assert_eq!(tool["annotations"]["readOnlyHint"], true);
        for (_, property) in tool["inputSchema"]["properties"].as_object().unwrap() {
            assert!(property["description"].is_string() && property["type"].is_string());
        }
    }
    assert_eq!(seen, ["add", "count_words", "reverse_text", "roll_dice"]);
}

#[test]
fn tools_do_what_they_say() {
    assert_eq!(good("add", &json!({"a": 19, "b": 23})), "19 + 23 = 42");
    assert_eq!(good("add", &json!({"a": 0.5, "b": -2})), "0.5 + -2 = -1.5");
    assert_eq!(
        good("add", &json!({"a": i64::MAX, "b": 1})),
        "9223372036854775807 + 1 = 9223372036854776000"
    );
    assert_eq!(
        good("count_words", &json!({"text": "one two\nthree"})),
        "words: 3, lines: 2, characters: 13"
    );
    assert_eq!(good("reverse_text", &json!({"text": "häse"})), "esäh");
    assert_eq!(good("roll_dice", &json!({})), "rolled a die of 6 sides: 2");
    assert_eq!(
        good("roll_dice", &json!({"sides": 2, "count": 3})),
        "rolled 3 dice of 2 sides: 2, 1, 2; total 5"
    );
}

#[test]
fn arguments_that_do_not_fit_are_errors_of_the_tool() {
    for (name, arguments) in [
        ("add", json!({"a": 1})),
        ("add", json!({"a": 1, "b": "2"})),
        ("add", json!({"a": 1.7e308, "b": 1.7e308})),
        ("count_words", json!({})),
        ("reverse_text", json!({"text": 5})),
        ("roll_dice", json!({"sides": 1})),
        ("roll_dice", json!({"sides": 2.5})),
        ("roll_dice", json!({"count": 1_000_000})),
        ("roll_dice", json!({"count": null})),
    ] {
        let (text, is_error) = call(name, &arguments);
        assert!(is_error, "{name} {arguments}: {text}");
    }
}

#[test]
fn dice_fall_differently() {
    let request = json!({
        "jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": {"name": "roll_dice", "arguments": {"count": 100, "sides": 1_000_000}},
    });
    let roll = || {
        let mut output = Vec::new();
        let line = request.to_string();
        openclaw_demo_server::serve(line.as_bytes(), &mut output).unwrap();
        output
    };
    assert_ne!(roll(), roll());
}
