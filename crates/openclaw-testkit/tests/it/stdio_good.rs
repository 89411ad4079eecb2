//! stdio, first era, no faults.

use serde_json::{Value, json};

use crate::conversation::{Conversation, PATIENCE, introduction, text_of};

#[test]
fn the_handshake_agrees_on_a_revision() {
    for (asked, agreed) in [
        ("2024-11-05", "2024-11-05"),
        ("2025-06-18", "2025-06-18"),
        ("2030-01-01", "2025-11-25"),
    ] {
        let mut server = Conversation::start("");
        let answer = server.ask("initialize", &introduction(asked));
        assert_eq!(answer["result"]["protocolVersion"], agreed);
        assert_eq!(answer["result"]["serverInfo"]["name"], "fake-mcp-server");
    }
    let mut server = Conversation::start("--versions 2024-11-05,2025-03-26");
    let answer = server.ask("initialize", &introduction("2025-11-25"));
    assert_eq!(answer["result"]["protocolVersion"], "2025-03-26");
}

#[test]
fn requests_before_the_handshake_are_refused() {
    let mut server = Conversation::start("");
    assert_eq!(
        server.ask("tools/list", &json!({}))["error"]["code"],
        -32600
    );
    assert_eq!(server.ask("ping", &json!({}))["result"], json!({}));
    let bad = server.ask("initialize", &json!({"protocolVersion": "2025-11-25"}));
    assert_eq!(bad["error"]["code"], -32602);
    server.ask("initialize", &introduction("2025-11-25"));
    assert_eq!(
        server.ask("tools/list", &json!({}))["error"]["code"],
        -32600
    );
    server.tell("notifications/initialized", &json!({}));
    assert!(server.ask("tools/list", &json!({}))["result"]["tools"].is_array());
}

#[test]
fn tools_do_what_they_say() {
    let mut server = Conversation::initialized("");
    assert_eq!(
        text_of(&server.call("echo", &json!({"message": "hällo"}))),
        "hällo"
    );
    let sum = server.call("add", &json!({"a": 2, "b": 3}));
    assert_eq!(sum["result"]["structuredContent"], json!({"sum": 5}));
    assert_eq!(
        text_of(&server.call("big", &json!({"bytes": 100_000}))).len(),
        100_000
    );
    assert_eq!(server.call("fail", &json!({}))["result"]["isError"], true);
    for (tool, arguments) in [
        ("protocol_error", json!({})),
        ("there_is_no_such_tool", json!({})),
        ("echo", json!({})),
        ("add", json!({"a": "one", "b": 2})),
    ] {
        assert_eq!(
            server.call(tool, &arguments)["error"]["code"],
            -32602,
            "{tool}"
        );
    }
    let mixed = server.call("mixed", &json!({}));
    let kinds: Vec<&str> = mixed["result"]["content"]
        .as_array()
        .unwrap()
        .iter()
        .map(|block| block["type"].as_str().unwrap())
        .collect();
    assert_eq!(
        kinds,
        [
            "text",
            "image",
            "audio",
            "resource",
            "resource",
            "resource_link",
            "hologram",
            "text"
        ]
    );
    let required = server.call("elicit_url", &json!({}));
    assert_eq!(required["error"]["code"], -32042);
    assert_eq!(
        server.ask("no/such/method", &json!({}))["error"]["code"],
        -32601
    );
}

#[test]
fn a_slow_call_does_not_block_another() {
    let mut server = Conversation::initialized("");
    let slow = server.begin(
        "tools/call",
        &json!({"name": "sleep", "arguments": {"ms": 300}}),
    );
    let quick = server.begin(
        "tools/call",
        &json!({"name": "echo", "arguments": {"message": "a"}}),
    );
    let first = server.message(|message| message.get("id").is_some());
    assert_eq!(first["id"], quick);
    assert_eq!(text_of(&server.reply(slow)), "slept 300 ms");
}

#[test]
fn a_cancelled_call_gets_no_reply_and_is_in_the_journal() {
    let mut server = Conversation::initialized("");
    let arguments = json!({"name": "sleep", "arguments": {"ms": 60_000}});
    let id = server.begin("tools/call", &arguments);
    server.tell("notifications/cancelled", &json!({"requestId": id}));
    let entry = server
        .journal()
        .wait_for_event(PATIENCE, "cancelled")
        .unwrap();
    assert_eq!(entry["id"], id);
    assert!(server.is_silent());
    server.tell("notifications/cancelled", &json!({"requestId": id}));
    let late = server
        .journal()
        .wait_for_event(PATIENCE, "cancelled too late");
    assert!(late.is_some());
}

#[test]
fn progress_is_told_only_to_those_who_ask() {
    let mut server = Conversation::initialized("");
    let mut params = json!({"name": "slow", "arguments": {"ms": 9, "steps": 3}});
    server.begin("tools/call", &params);
    assert!(server.message(|_| true).get("result").is_some());
    params["_meta"] = json!({"progressToken": "token"});
    server.begin("tools/call", &params);
    for step in 1..=3 {
        let progress = server.message(|_| true);
        assert_eq!(progress["method"], "notifications/progress");
        assert_eq!(progress["params"]["progressToken"], "token");
        assert_eq!(progress["params"]["progress"], step);
    }
    assert!(server.message(|_| true).get("result").is_some());
}

#[test]
fn the_client_is_asked_and_its_answer_returned() {
    let mut server = Conversation::initialized("");
    for (tool, method) in [
        ("elicit", "elicitation/create"),
        ("roots", "roots/list"),
        ("sample", "sampling/createMessage"),
        ("ping_client", "ping"),
    ] {
        let id = server.begin("tools/call", &json!({"name": tool}));
        let question = server.message(|_| true);
        assert_eq!(question["method"], method);
        server.send(&json!({"jsonrpc": "2.0", "id": question["id"], "result": {"its": tool}}));
        let answer: Value = serde_json::from_str(text_of(&server.reply(id))).unwrap();
        assert_eq!(answer, json!({"its": tool}));
    }
    let id = server.begin("tools/call", &json!({"name": "sample"}));
    let question = server.message(|_| true);
    let error = json!({"code": -1, "message": "no"});
    server.send(&json!({"jsonrpc": "2.0", "id": question["id"], "error": error}));
    assert!(text_of(&server.reply(id)).contains("\"no\""));
}

#[test]
fn what_the_client_cannot_do_is_not_asked_of_it() {
    let mut server = Conversation::start("");
    let mut introduction = introduction("2025-11-25");
    introduction["capabilities"] = json!({});
    server.ask("initialize", &introduction);
    server.tell("notifications/initialized", &json!({}));
    assert_eq!(server.call("elicit", &json!({}))["result"]["isError"], true);
}

#[test]
fn changes_are_announced() {
    let mut server = Conversation::initialized("");
    server.begin("tools/call", &json!({"name": "change_tools"}));
    server.message(|message| message["method"] == "notifications/tools/list_changed");
    let tools = server.ask("tools/list", &json!({}));
    let added = |tool: &Value| tool["name"] == "added_1";
    assert!(
        tools["result"]["tools"]
            .as_array()
            .unwrap()
            .iter()
            .any(added)
    );

    server.call("touch_resource", &json!({}));
    let uri = json!({"uri": "test://changing"});
    server.ask("resources/subscribe", &uri);
    server.begin("tools/call", &json!({"name": "touch_resource"}));
    let updated = server.message(|message| message["method"] == "notifications/resources/updated");
    assert_eq!(updated["params"], uri);
    server.ask("resources/unsubscribe", &uri);
    server.begin("tools/call", &json!({"name": "touch_resource"}));
    let next = server.message(|message| message.get("id").is_none_or(|id| id != 0));
    assert!(next.get("result").is_some(), "{next}");
    let read = server.ask("resources/read", &uri);
    assert_eq!(read["result"]["contents"][0]["text"], "touched 3 times");
}

#[test]
fn resources_prompts_and_completions_are_there() {
    let mut server = Conversation::initialized("");
    let resources = server.ask("resources/list", &json!({}));
    assert_eq!(
        resources["result"]["resources"].as_array().unwrap().len(),
        3
    );
    let blob = server.ask("resources/read", &json!({"uri": "test://blob"}));
    assert!(blob["result"]["contents"][0]["blob"].is_string());
    let templates = server.ask("resources/templates/list", &json!({}));
    let template = &templates["result"]["resourceTemplates"][0]["uriTemplate"];
    assert_eq!(template, "test://numbered/{number}");
    let read = server.ask("resources/read", &json!({"uri": "test://numbered/7"}));
    assert_eq!(read["result"]["contents"][0]["text"], "number 7");
    let missing = server.ask("resources/read", &json!({"uri": "test://nothing"}));
    assert_eq!(missing["error"]["code"], -32002);

    let arguments = json!({"name": "greeting", "arguments": {"name": "Ada"}});
    let greeting = server.ask("prompts/get", &arguments);
    let text = &greeting["result"]["messages"][0]["content"]["text"];
    assert_eq!(text, "Greet Ada in a friendly way.");
    let incomplete = server.ask("prompts/get", &json!({"name": "greeting"}));
    assert_eq!(incomplete["error"]["code"], -32602);

    let reference = json!({"type": "ref/prompt", "name": "greeting"});
    let argument = json!({"name": "style", "value": "f"});
    let params = json!({"ref": reference, "argument": argument});
    let completion = server.ask("completion/complete", &params);
    let values = &completion["result"]["completion"]["values"];
    assert_eq!(values, &json!(["formal", "friendly", "funny"]));
}

#[test]
fn log_messages_are_sent_from_the_level_on() {
    let mut server = Conversation::initialized("");
    server.begin("tools/call", &json!({"name": "log"}));
    assert_eq!(server.message(|_| true)["method"], "notifications/message");
    server.ask("logging/setLevel", &json!({"level": "error"}));
    assert_eq!(text_of(&server.call("log", &json!({}))), "not logged");
    let unknown = server.ask("logging/setLevel", &json!({"level": "loud"}));
    assert_eq!(unknown["error"]["code"], -32602);
}

#[test]
fn lists_have_pages() {
    let mut server = Conversation::initialized("--tools 30 --page-size 10");
    let mut names = Vec::new();
    let mut params = json!({});
    loop {
        let page = server.ask("tools/list", &params)["result"].clone();
        let tools = page["tools"].as_array().unwrap();
        assert!((1..=10).contains(&tools.len()));
        names.extend(tools.iter().map(|tool| tool["name"].to_string()));
        match page.get("nextCursor") {
            Some(cursor) => params = json!({"cursor": cursor}),
            None => break,
        }
    }
    let count = names.len();
    names.sort();
    names.dedup();
    assert_eq!(names.len(), count);
    assert!(count > 50);
    let bad = server.ask("tools/list", &json!({"cursor": "nonsense"}));
    assert_eq!(bad["error"]["code"], -32602);
}

#[test]
fn what_is_no_message_is_answered_with_an_error() {
    let mut server = Conversation::start("");
    for (line, code) in [
        ("{", -32700),
        ("[]", -32600),
        (
            "{\"jsonrpc\": \"1.0\", \"id\": 1, \"method\": \"ping\"}",
            -32600,
        ),
        (
            "{\"jsonrpc\": \"2.0\", \"id\": null, \"method\": \"ping\"}",
            -32600,
        ),
        (
            "{\"jsonrpc\": \"2.0\", \"id\": 1, \"method\": \"ping\", \"params\": []}",
            -32600,
        ),
    ] {
        server.send_line(line);
        assert_eq!(server.message(|_| true)["error"]["code"], code, "{line}");
    }
}

#[test]
fn the_environment_and_the_directory_are_its_own() {
    let directory = std::fs::canonicalize(std::env::temp_dir()).unwrap();
    let mut server = Conversation::with(crate::conversation::fake(""), |command| {
        command
            .env_clear()
            .env("ONLY_THIS", "1")
            .current_dir(&directory);
    });
    server.initialize();
    let names = server.call("environment", &json!({}));
    assert_eq!(text_of(&names), "[\"ONLY_THIS\"]");
    let answer = server.call("directory", &json!({}));
    assert_eq!(text_of(&answer), directory.to_str().unwrap());
}

#[test]
fn it_ends_with_its_input_and_what_was_asked_before_is_answered() {
    let mut server = Conversation::start("");
    let id = server.begin("initialize", &introduction("2025-11-25"));
    server.close_input();
    server.reply(id);
    assert!(server.wait().success());
    let events: Vec<Value> = server.journal().entries();
    let names: Vec<&str> = events
        .iter()
        .map(|entry| entry["event"].as_str().unwrap())
        .collect();
    let expected = [
        "started",
        "session opened",
        "received",
        "stdin closed",
        "exiting",
    ];
    assert_eq!(names, expected);
}
