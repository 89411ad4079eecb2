//! Both eras, and what is wrong in either.

use serde_json::{Value, json};

use crate::conversation::{answer, answers, modern};

fn hello(version: &str) -> Value {
    let client = json!({"name": "test", "version": "1"});
    json!({"protocolVersion": version, "capabilities": {}, "clientInfo": client})
}

#[test]
fn the_revision_that_is_asked_for_is_agreed_on() {
    for version in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        let result = answer("initialize", &hello(version))["result"].clone();
        assert_eq!(result["protocolVersion"], version);
        assert_eq!(result["capabilities"], json!({"tools": {}}));
        assert_eq!(result["serverInfo"]["name"], "openclaw-demo");
    }
    for version in ["1999-01-01", "2026-07-28"] {
        let result = answer("initialize", &hello(version))["result"].clone();
        assert_eq!(result["protocolVersion"], "2025-11-25");
    }
}

#[test]
fn a_modern_client_is_told_what_there_is() {
    let result = answer("server/discover", &modern(json!({}), "2026-07-28"))["result"].clone();
    assert_eq!(result["supportedVersions"][0], "2026-07-28");
    assert_eq!(result["supportedVersions"].as_array().unwrap().len(), 5);
    assert_eq!(result["resultType"], "complete");
    assert_eq!(
        result["_meta"]["io.modelcontextprotocol/serverInfo"]["name"],
        "openclaw-demo"
    );
    let list = answer("tools/list", &modern(json!({}), "2026-07-28"))["result"].clone();
    assert_eq!(list["tools"].as_array().unwrap().len(), 4);
    assert_eq!(
        (list["ttlMs"].clone(), list["cacheScope"].clone()),
        (json!(0), json!("private"))
    );
    let call = json!({"name": "add", "arguments": {"a": 1, "b": 2}});
    let result = answer("tools/call", &modern(call, "2026-07-28"))["result"].clone();
    assert_eq!(result["content"][0]["text"], "1 + 2 = 3");
    assert_eq!(result["resultType"], "complete");
}

#[test]
fn a_revision_that_is_not_known_is_refused_with_those_that_are() {
    let error = answer("server/discover", &modern(json!({}), "2030-01-01"))["error"].clone();
    assert_eq!(error["code"], -32022);
    assert_eq!(error["data"]["requested"], "2030-01-01");
    assert_eq!(error["data"]["supported"][0], "2026-07-28");
    let error = answer("server/discover", &json!({}))["error"].clone();
    assert_eq!(error["code"], -32602);
}

#[test]
fn errors_have_the_codes_of_the_protocol() {
    assert_eq!(
        answer("resources/list", &json!({}))["error"]["code"],
        -32601
    );
    assert_eq!(answer("initialize", &json!({}))["error"]["code"], -32602);
    assert_eq!(
        answer("tools/call", &json!({"name": "nobody"}))["error"]["code"],
        -32602
    );
    assert_eq!(answer("tools/call", &json!({}))["error"]["code"], -32602);
    let arguments = json!({"name": "add", "arguments": [1, 2]});
    assert_eq!(answer("tools/call", &arguments)["error"]["code"], -32602);
    // What the second era does without.
    assert_eq!(
        answer("ping", &modern(json!({}), "2026-07-28"))["error"]["code"],
        -32601
    );
    assert_eq!(answer("ping", &json!({}))["result"], json!({}));
    for (line, code) in [
        ("{", -32700),
        ("[]", -32600),
        ("7", -32600),
        (r#"{"jsonrpc": "1.0", "id": 1, "method": "ping"}"#, -32600),
        (r#"{"jsonrpc": "2.0", "id": {}, "method": "ping"}"#, -32600),
        (r#"{"jsonrpc": "2.0", "id": 1, "method": 1}"#, -32600),
        (
            r#"{"jsonrpc": "2.0", "id": 1, "method": "ping", "params": []}"#,
            -32600,
        ),
        (r#"{"jsonrpc": "2.0", "id": 1}"#, -32600),
    ] {
        let answers = answers(line);
        assert_eq!(answers.len(), 1, "{line}");
        assert_eq!(answers[0]["error"]["code"], code, "{line}");
    }
}

#[test]
fn what_wants_no_answer_gets_none() {
    let lines = concat!(
        r#"{"jsonrpc": "2.0", "method": "notifications/initialized"}"#,
        "\n\r\n  \n",
        r#"{"jsonrpc": "2.0", "id": 3, "result": {}}"#,
        "\n",
    );
    assert_eq!(answers(lines), Vec::<Value>::new());
    assert_eq!(answers(""), Vec::<Value>::new());
}

#[test]
fn a_line_that_is_too_long_is_refused_and_the_next_one_is_read() {
    let long = "x".repeat(1024 * 1024 + 1);
    let ping = r#"{"jsonrpc": "2.0", "id": "p", "method": "ping"}"#;
    let answers = answers(&format!("{long}\n{ping}\r\n{ping}"));
    assert_eq!(answers.len(), 3);
    assert_eq!(answers[0]["error"]["code"], -32600);
    assert_eq!(
        answers[2],
        json!({"jsonrpc": "2.0", "id": "p", "result": {}})
    );
}

#[test]
fn names_in_errors_are_short() {
    let error = answer(&"m\n".repeat(1000), &json!({}))["error"].clone();
    let message = error["message"].as_str().unwrap();
    assert!(message.len() < 200 && !message.contains('\n'), "{message}");
}
