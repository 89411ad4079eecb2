//! Clients as people use them from the command line: the Inspector, mcporter, `FastMCP`.

use serde_json::{Value as Json, json};

use super::super::models::Listening;
use super::{Offer, assert_the_tool, texts};
use crate::lab::Lab;
use openclaw_testkit::partners;

#[test]
fn the_inspector_lists_and_calls_the_agent_in_both_eras() {
    let offer = Offer::new();
    for era in ["legacy", "modern"] {
        let listed = offer.inspector(era, &["--method", "tools/list"]);
        assert_the_tool(&listed["tools"]);
        let call = ["--method", "tools/call", "--tool-name", "order_openclaw"];
        let message = ["--tool-arg", "message=echo hello"];
        let result = offer.inspector(era, &[&call[..], &message].concat());
        assert!(texts(&result).contains("hello"), "{era}: {result:#}");
        assert_ne!(result["isError"], true, "{era}: {result:#}");
    }
    assert_eq!(offer.lab.calls(), 2);
}

#[test]
fn mcporter_lists_and_calls_the_agent() {
    let offer = Offer::new();
    let listed = offer.mcporter(&["list", "openclaw", "--json", "--schema"]);
    assert_eq!(listed["status"], "ok", "{listed:#}");
    assert_the_tool(&listed["tools"]);
    let result = offer.ordered(&json!({ "message": "echo hello" }));
    assert!(texts(&result).contains("hello"), "{result:#}");
    assert_eq!(offer.lab.calls(), 1);
}

#[test]
fn the_command_of_fastmcp_lists_and_calls_the_agent() {
    let offer = Offer::new();
    let fastmcp = |arguments: &[&str]| {
        let mut command = offer.client(partners().join("python/bin/fastmcp"));
        command.arg(arguments[0]).arg(offer.configuration());
        offer.done(command.args(&arguments[1..]).arg("--json"))
    };
    assert_the_tool(&fastmcp(&["list"])["tools"]);
    let result = fastmcp(&["call", "order_openclaw", "message=echo hello"]);
    assert!(texts(&result).contains("hello"), "{result:#}");
    assert_eq!(offer.lab.calls(), 1);
}

/// What the stand-in for services answers, whatever was said before.
fn answers() -> Json {
    let answer = |message: &str, content: &str| json!({ "match": { "userMessage": message }, "response": { "content": content } });
    json!({ "fixtures": [
        answer("Remember that my favorite color is blue.", "I will remember it."),
        answer("What's my favorite color?", "You have told me, or not."),
    ] })
}

#[test]
fn a_session_is_remembered_by_the_next_process_and_only_by_its_key() {
    let service = Listening::aimock_with(&answers());
    let offer = Offer::of(Lab::empty().settings(json!({
        "models": { "providers": { "mock": {
            "api": "openai-completions",
            "baseUrl": format!("http://{}/v1", service.address),
            "apiKey": "x-not-a-key",
        } } },
        "agents": { "defaults": { "model": "mock/some-model" } },
    })));
    let (told, asked) = (
        "Remember that my favorite color is blue.",
        "What's my favorite color?",
    );
    let order = |message: &str, key: Option<&str>| {
        let mut arguments = json!({ "message": message });
        if let Some(key) = key {
            arguments["sessionKey"] = json!(key);
        }
        texts(&offer.ordered(&arguments))
    };
    // What the model was asked last: what persons and it itself have said so far.
    let conversation = || {
        let journal: Json = serde_json::from_str(&service.journal()).unwrap();
        let entries = journal.as_array().or_else(|| journal["entries"].as_array());
        let last = entries.and_then(|entries| entries.last()).unwrap();
        let messages = last["body"]["messages"].as_array().unwrap().clone();
        let said = messages.into_iter().filter(|it| it["role"] != "system");
        said.collect::<Vec<Json>>()
    };

    assert_eq!(
        order(told, Some("user-123-conversation")),
        "I will remember it."
    );
    order(asked, Some("user-123-conversation"));
    let remembered = Json::from(conversation());
    assert_eq!(remembered.as_array().unwrap().len(), 3, "{remembered:#}");
    assert!(remembered[0].to_string().contains(told), "{remembered:#}");

    for key in [Some("another"), None, None] {
        order(asked, key);
        let fresh = conversation();
        assert_eq!(fresh.len(), 1, "{key:?}: {fresh:#?}");
    }

    // Two with keys, and each of those without one has its own.
    let sessions = offer.lab.json(&["sessions"])["sessions"].clone();
    let keys: Vec<&str> = sessions
        .as_array()
        .unwrap()
        .iter()
        .map(|session| session["key"].as_str().unwrap())
        .collect();
    assert_eq!(keys.len(), 4, "{keys:?}");
    assert!(
        keys.contains(&"agent:main:user-123-conversation"),
        "{keys:?}"
    );
    let fresh = keys.iter().filter(|key| key.starts_with("agent:main:mcp-"));
    assert_eq!(fresh.count(), 2, "{keys:?}");
}
