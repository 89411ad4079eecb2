//! Orders: what comes of them, and where it is kept.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use openclaw_testkit::leaks::wait_until;
use openclaw_testkit::pictures;
use serde_json::{Value as Json, json};

use super::client::{Client, text};
use crate::lab::{Lab, SOON};

/// The sessions, by their keys.
fn sessions(lab: &Lab) -> Vec<(String, u64)> {
    let listed = lab.json(&["sessions", "list"]);
    let sessions = listed["sessions"].as_array().unwrap().iter();
    sessions
        .map(|session| {
            let key = session["key"].as_str().unwrap().to_owned();
            (key, session["messages"].as_u64().unwrap())
        })
        .collect()
}

#[test]
fn an_order_uses_the_tools_of_the_agent_and_says_everything_once() {
    let lab = Lab::new("");
    let mut client = Client::start(&lab, &["mcp-server"]);
    let result = client.ordered(&json!({ "message": "echo message=unmistakable" }));
    assert_eq!(result["isError"], false, "{result}");
    let said = text(&result);
    assert_eq!(said.matches("unmistakable").count(), 1, "{said}");
    assert!(!said.contains("EXTERNAL_UNTRUSTED_CONTENT"), "{said}");
    client.end().is_good();
}

#[test]
fn media_of_tools_go_back_as_they_are() {
    let lab = Lab::new("");
    let mut client = Client::start(&lab, &["mcp", "serve"]);
    let result = client.ordered(&json!({ "message": "call the tool mixed" }));
    let parts = result["content"].as_array().unwrap();
    let of_kind = |kind: &str| parts.iter().find(|part| part["type"] == kind);
    // As the server gives them when it is asked without an agent between.
    let called = lab
        .home
        .run(&["mcp", "call", "fake/mixed", "--json"])
        .json();
    let given = called["content"].as_array().unwrap();
    for kind in ["image", "audio"] {
        let part = of_kind(kind).unwrap_or_else(|| panic!("{kind}: {result}"));
        assert!(given.iter().any(|it| it["data"] == part["data"]), "{part}");
    }
    let result = client.ordered(&json!({ "message": "call the tool document" }));
    let parts = result["content"].as_array().unwrap();
    let document = parts.iter().find(|part| part["type"] == "resource");
    let document = &document.unwrap_or_else(|| panic!("{result}"))["resource"];
    assert_eq!(document["uri"], "attachment://report.pdf");
    assert_eq!(document["mimeType"], "application/pdf");
    assert_eq!(document["blob"], STANDARD.encode(pictures::pdf(1000)));
    client.end().is_good();
}

#[test]
fn a_key_goes_on_with_a_session_over_processes_and_none_begins_a_new_one() {
    let lab = Lab::new("");
    for number in 1..=2 {
        let mut client = Client::start(&lab, &["mcp-server"]);
        let message = format!("echo message={number}");
        client.ordered(&json!({ "message": message, "sessionKey": "user-123" }));
        client.ordered(&json!({ "message": message }));
        client.end().is_good();
    }
    let sessions = sessions(&lab);
    let kept = sessions
        .iter()
        .find(|(key, _)| key == "agent:main:user-123");
    let whole = kept.unwrap().1;
    let others: Vec<&(String, u64)> = sessions
        .iter()
        .filter(|(key, _)| key.starts_with("agent:main:mcp-"))
        .collect();
    assert_eq!(others.len(), 2, "{sessions:?}");
    for (key, messages) in others {
        assert_eq!(messages * 2, whole, "{key}");
    }
}

#[test]
fn a_hundred_orders_at_once_are_all_answered() {
    let lab = Lab::new("");
    let mut client = Client::start(&lab, &["mcp-server"]);
    let ids: Vec<u64> = (0..100)
        .map(|number| client.order(&json!({ "message": format!("echo message=n{number}-") })))
        .collect();
    let mut answered: Vec<u64> = Vec::new();
    for _ in &ids {
        let answer = client.next().unwrap();
        let id = answer["id"].as_u64().unwrap();
        let number = id - ids[0];
        let said = text(&answer["result"]);
        assert!(said.contains(&format!("n{number}-")), "{number}: {said}");
        answered.push(id);
    }
    answered.sort_unstable();
    assert_eq!(answered, ids);
    client.end().is_good();
}

#[test]
fn orders_of_a_session_come_in_their_order_however_it_is_called() {
    let lab = Lab::new("");
    let mut client = Client::start(&lab, &["mcp-server"]);
    let ids: Vec<u64> = (0..12)
        .map(|number| {
            let key = if number % 2 == 0 { "s" } else { "agent:main:s" };
            let message = format!("echo message=n{number}");
            client.order(&json!({ "message": message, "sessionKey": key }))
        })
        .collect();
    for _ in &ids {
        client.next().unwrap();
    }
    client.end().is_good();
    let shown = lab.json(&["sessions", "show", "s"]);
    let messages = shown["messages"].as_array().unwrap().iter();
    let of_user = messages.filter(|message| message["role"] == "user");
    let said: Vec<&str> = of_user.map(|it| it["text"].as_str().unwrap()).collect();
    let expected: Vec<String> = (0..12)
        .map(|number| format!("echo message=n{number}"))
        .collect();
    assert_eq!(said, expected);
}

#[test]
fn keys_are_judged_as_everywhere() {
    let lab =
        Lab::new("").settings(json!({ "agents": { "list": [{ "id": "main" }, { "id": "ops" }] } }));
    let mut client = Client::start(&lab, &["mcp-server"]);
    let mut refused = |key: &str| {
        let result = client.ordered(&json!({ "message": "x", "sessionKey": key }));
        assert_eq!(result["isError"], true, "{key}");
        let said = text(&result);
        assert!(said.starts_with("Error: "), "{said}");
        said
    };
    for key in ["subagent:x", "cron:x", "acp:x", "hook:x"] {
        assert!(refused(key).contains("reserved"), "{key}");
    }
    assert!(refused("agent:nobody:x").contains("main, ops"));
    for key in ["", "a\nb", &"k".repeat(10 * 1024)] {
        assert!(refused(key).len() < 300);
    }
    let result =
        client.ordered(&json!({ "message": "echo message=1", "sessionKey": "agent:ops:x" }));
    assert_eq!(result["isError"], false, "{result}");
    client.end().is_good();
    assert!(sessions(&lab).iter().any(|(key, _)| key == "agent:ops:x"));
}

#[test]
fn commands_work_as_if_they_were_typed() {
    let lab = Lab::new("");
    let mut client = Client::start(&lab, &["mcp-server"]);
    let said = text(&client.ordered(&json!({ "message": "/mcp servers" })));
    assert!(said.contains("fake"), "{said}");
    let failed = client.ordered(&json!({ "message": "/mcp status nothing" }));
    assert_eq!(failed["isError"], true, "{failed}");
    client.end().is_good();
}

#[test]
fn a_cancelled_order_cancels_the_calls_of_the_agent() {
    let lab = Lab::new("");
    let mut client = Client::start(&lab, &["mcp-server"]);
    let id = client.order(&json!({ "message": "sleep ms=60000", "sessionKey": "s" }));
    assert!(wait_until(SOON, || lab.calls() == 1), "the call arrives");
    client.cancel(id);
    let was_told = |lab: &Lab| {
        let told = lab.journal().methods();
        told.iter()
            .any(|method| method == "notifications/cancelled")
    };
    assert!(wait_until(SOON, || was_told(&lab)));
    let result = client.ordered(&json!({ "message": "echo message=on", "sessionKey": "s" }));
    assert!(text(&result).contains("on"), "{result}");
    client.end().is_good();
    let shown = lab.json(&["sessions", "show", "s"]);
    let messages = shown["messages"].as_array().unwrap();
    assert!(
        messages.iter().any(|it| it["interrupted"] == true),
        "{shown}"
    );
}

#[test]
fn a_server_that_crashed_is_there_again_for_the_next_order() {
    let lab = Lab::new("");
    let mut client = Client::start(&lab, &["mcp-server"]);
    let mut order = |word: &str| {
        let result = client.ordered(&json!({ "message": format!("echo message={word}") }));
        let said = text(&result);
        assert!(said.contains(word), "{said}");
    };
    order("before");
    let killed = lab.kill_servers();
    // An order that comes before anybody has noticed would be told that its outcome is unknown.
    let is_back = || lab.servers().iter().any(|pid| !killed.contains(pid));
    assert!(wait_until(SOON, is_back), "it is started again");
    order("after");
    client.end().is_good();
}

#[test]
fn nothing_but_the_protocol_is_on_stdout_whatever_servers_write() {
    let lab = Lab::new("--flood-stderr 100").server("noisy", "--garbage", json!({}));
    let mut client = Client::start(&lab, &["mcp-server", "--verbose"]);
    // Each line that comes is parsed.
    let result = client.ordered(&json!({ "message": "echo message=clear" }));
    assert!(text(&result).contains("clear"), "{result}");
    let end = client.end();
    assert_eq!(end.code, Some(0), "{end:?}");
    assert!(end.errors.contains("an order"), "{end:?}");
}

#[test]
fn progress_tells_of_the_calls_of_the_agent() {
    let lab = Lab::new("");
    let mut client = Client::start(&lab, &["mcp-server"]);
    let params = json!({
        "name": "order_openclaw",
        "arguments": { "message": "echo message=hello" },
        "_meta": { "progressToken": "token" },
    });
    let id = client.request("tools/call", &params);
    let mut told: Vec<Json> = Vec::new();
    loop {
        let message = client.next().unwrap();
        if message["id"] == id {
            break;
        }
        assert_eq!(message["params"]["progressToken"], "token");
        told.push(message["params"]["message"].clone());
    }
    let told: Vec<&str> = told.iter().filter_map(Json::as_str).collect();
    assert!(told.contains(&"calls mcp_fake_echo"), "{told:?}");
    let is_end = |line: &&str| line.starts_with("mcp_fake_echo finished after ");
    assert!(told.iter().any(is_end), "{told:?}");
    client.end().is_good();
}
