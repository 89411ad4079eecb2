//! stdio, modern era.

use serde_json::{Value, json};

use crate::conversation::{Conversation, PATIENCE, introduction, text_of};

/// What a modern request carries about itself.
pub(crate) fn meta() -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {"elicitation": {}, "roots": {}, "sampling": {}},
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
    })
}

/// Parameters with what a modern request carries.
pub(crate) fn with_meta(mut params: Value) -> Value {
    let given = params["_meta"].take();
    params["_meta"] = meta();
    if let (Some(meta), Value::Object(given)) = (params["_meta"].as_object_mut(), given) {
        meta.extend(given);
    }
    params
}

fn tool(name: &str) -> Value {
    with_meta(json!({"name": name, "arguments": {}}))
}

#[test]
fn discovery_tells_revisions_and_capabilities() {
    for (flags, revisions) in [
        ("--era modern", json!(["2026-07-28"])),
        (
            "--versions 2026-07-28,2025-11-25",
            json!(["2026-07-28", "2025-11-25"]),
        ),
    ] {
        let mut server = Conversation::start(flags);
        let result = server.ask("server/discover", &with_meta(json!({})))["result"].clone();
        assert_eq!(result["supportedVersions"], revisions);
        assert_eq!(result["resultType"], "complete");
        assert_eq!(result["ttlMs"], 0);
        assert_eq!(result["cacheScope"], "private");
        assert_eq!(result["capabilities"]["tools"]["listChanged"], true);
        let server_info = &result["_meta"]["io.modelcontextprotocol/serverInfo"];
        assert_eq!(server_info["name"], "fake-mcp-server");
    }
}

#[test]
fn each_era_refuses_the_other() {
    let mut server = Conversation::start("--era legacy");
    let answer = server.ask("server/discover", &with_meta(json!({})));
    assert_eq!(answer["error"]["code"], -32601);
    assert!(server.initialize().get("result").is_some());

    let mut server = Conversation::start("--era modern");
    let answer = server.ask("initialize", &introduction("2025-11-25"));
    assert_eq!(answer["error"]["code"], -32022);
    let data = json!({"supported": ["2026-07-28"], "requested": "2025-11-25"});
    assert_eq!(answer["error"]["data"], data);

    let mut server = Conversation::start("--era both");
    assert!(server.initialize().get("result").is_some());
    assert!(server.ask("tools/list", &json!({})).get("result").is_some());
    let modern = server.ask("tools/list", &with_meta(json!({})));
    assert_eq!(modern["result"]["resultType"], "complete");
}

#[test]
fn requests_must_say_who_sends_them() {
    let mut server = Conversation::start("--era modern");
    for key in ["protocolVersion", "clientCapabilities"] {
        let mut params = with_meta(json!({}));
        let key = format!("io.modelcontextprotocol/{key}");
        params["_meta"].as_object_mut().unwrap().remove(&key);
        let answer = server.ask("tools/list", &params);
        assert_eq!(answer["error"]["code"], -32602, "{key}");
    }
    let mut params = with_meta(json!({}));
    params["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!("2030-01-01");
    let answer = server.ask("tools/list", &params);
    assert_eq!(answer["error"]["code"], -32022);
    assert_eq!(answer["error"]["data"]["requested"], "2030-01-01");
    for gone in ["ping", "logging/setLevel", "resources/subscribe"] {
        let answer = server.ask(gone, &with_meta(json!({})));
        assert_eq!(answer["error"]["code"], -32601, "{gone}");
    }
}

#[test]
fn input_is_asked_for_in_rounds() {
    let mut server = Conversation::start("--era modern");
    for (name, method) in [
        ("elicit", "elicitation/create"),
        ("elicit_url", "elicitation/create"),
        ("roots", "roots/list"),
        ("sample", "sampling/createMessage"),
    ] {
        let first = server.ask("tools/call", &tool(name))["result"].clone();
        assert_eq!(first["resultType"], "input_required");
        assert_eq!(first["inputRequests"]["question-1"]["method"], method);
        let mut params = tool(name);
        params["inputResponses"] = json!({"question-1": {"my": "answer"}});
        let without = server.ask("tools/call", &params);
        assert_eq!(without["error"]["code"], -32602);
        params["requestState"] = first["requestState"].clone();
        let last = server.ask("tools/call", &params);
        assert_eq!(last["result"]["resultType"], "complete");
        assert_eq!(text_of(&last), "{\"my\":\"answer\"}");
    }
}

#[test]
fn there_can_be_several_rounds_and_none_with_state() {
    let mut server = Conversation::start("--era modern");
    let arguments = json!({"name": "elicit", "arguments": {"rounds": 3, "stateless": true}});
    let mut params = with_meta(arguments);
    for round in 1..=3 {
        let result = server.ask("tools/call", &params)["result"].clone();
        assert_eq!(result["resultType"], "input_required");
        assert_eq!(result.get("requestState"), None);
        let key = format!("question-{round}");
        assert!(result["inputRequests"][&key].is_object());
        params["inputResponses"] = json!({key: {"round": round}});
    }
    assert_eq!(text_of(&server.ask("tools/call", &params)), "{\"round\":3}");
}

#[test]
fn what_the_client_cannot_do_is_an_error() {
    let mut server = Conversation::start("--era modern");
    let mut params = tool("elicit");
    params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = json!({});
    let error = server.ask("tools/call", &params)["error"].clone();
    assert_eq!(error["code"], -32021);
    let required = json!({"requiredCapabilities": {"elicitation": {}}});
    assert_eq!(error["data"], required);
}

#[test]
fn subscriptions_get_what_they_asked_for() {
    let mut server = Conversation::start("--era modern");
    let filter = json!({"toolsListChanged": true, "unknown": true});
    let id = server.begin(
        "subscriptions/listen",
        &with_meta(json!({"notifications": filter})),
    );
    let acknowledged = server.message(|_| true);
    assert_eq!(
        acknowledged["method"],
        "notifications/subscriptions/acknowledged"
    );
    let honoured = json!({"toolsListChanged": true});
    assert_eq!(acknowledged["params"]["notifications"], honoured);
    let key = "io.modelcontextprotocol/subscriptionId";
    assert_eq!(acknowledged["params"]["_meta"][key], id);

    server.begin("tools/call", &tool("touch_resource"));
    assert!(server.message(|_| true).get("result").is_some());
    server.begin("tools/call", &tool("change_tools"));
    let changed = server.message(|_| true);
    assert_eq!(changed["method"], "notifications/tools/list_changed");
    assert_eq!(changed["params"]["_meta"][key], id);

    let uris = json!({"resourceSubscriptions": ["test://changing"]});
    let other = server.begin(
        "subscriptions/listen",
        &with_meta(json!({"notifications": uris})),
    );
    server.begin("tools/call", &tool("touch_resource"));
    let updated = server.message(|message| message["method"] == "notifications/resources/updated");
    assert_eq!(updated["params"]["_meta"][key], other);

    server.tell("notifications/cancelled", &json!({"requestId": id}));
    server
        .journal()
        .wait_for_event(PATIENCE, "cancelled")
        .unwrap();
    server.begin("tools/call", &tool("change_tools"));
    let next = server.message(|message| message["id"] != json!(null));
    assert!(text_of(&next).contains("touched"), "{next}");
    assert!(server.message(|_| true).get("result").is_some());

    server.begin("tools/call", &tool("end_subscriptions"));
    let end = server.reply(other);
    assert_eq!(end["result"]["_meta"][key], other);
}

#[test]
fn log_messages_come_only_when_asked_for() {
    let mut server = Conversation::start("--era modern");
    assert_eq!(
        text_of(&server.ask("tools/call", &tool("log"))),
        "not logged"
    );
    let mut params = tool("log");
    params["_meta"]["io.modelcontextprotocol/logLevel"] = json!("debug");
    server.begin("tools/call", &params);
    assert_eq!(server.message(|_| true)["method"], "notifications/message");
}

#[test]
fn a_missing_resource_is_an_error_of_parameters() {
    let mut server = Conversation::start("--era modern");
    let params = with_meta(json!({"uri": "test://nothing"}));
    let error = server.ask("resources/read", &params)["error"].clone();
    assert_eq!(error["code"], -32602);
    assert_eq!(error["data"]["uri"], "test://nothing");
}
