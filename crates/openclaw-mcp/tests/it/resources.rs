//! Resources, as models read and list them, and as people complete their addresses.

use std::pin::Pin;
use std::sync::Mutex;

use openclaw_mcp::{
    Approval, ApprovalAnswer, ApprovalQuestion, Approver, Call, CallEnd, StartMode, ToolChoice,
    ToolOutcome,
};
use openclaw_mcp_client::CompletionTarget;
use openclaw_secrets::{Redactor, Secret};
use serde_json::{Map, Value, json};

use crate::house::{House, entry, fake, media, object, text};

fn own(house: &House) -> Vec<&'static str> {
    let tools = house.servers.tools(&house.main(), None);
    tools.own_tools().iter().map(|tool| tool.name).collect()
}

fn one(entry: &Value, more: &Value) -> Value {
    let mut config = json!({ "mcp": { "servers": { "fake": entry } } });
    for (name, value) in object(more.clone()) {
        config[name] = value;
    }
    config
}

async fn read(house: &House, server: &str, uri: &str) -> ToolOutcome {
    let arguments = json!({"server": server, "uri": uri});
    house.call("mcp_read_resource", arguments).await
}

#[tokio::test]
async fn a_resource_is_read_in_a_frame_that_names_it_and_the_call_is_written_down() {
    let fake = fake("--odd-resources 10");
    let config = one(&entry(&fake, json!({"lazy": true})), &json!({}));
    let house = House::new(StartMode::Eager, &config, &[&fake]);
    assert_eq!(house.processes(), 0, "it is lazy");
    let outcome = read(&house, "fake", "test://text").await;
    assert_eq!(
        (outcome.end, outcome.server.as_deref()),
        (CallEnd::Ok, Some("fake"))
    );
    let shown = text(&outcome);
    assert!(shown.contains("\nFrom: fake/test://text\n"), "{shown}");
    assert!(
        shown.contains("---\nthe text of a resource\n<<<END"),
        "{shown}"
    );
    let outcome = read(&house, "fake", "test://numbered/7").await;
    assert!(
        text(&outcome).contains("---\nnumber 7\n"),
        "no list names it"
    );
    let outcome = read(&house, "fake", "test://blob").await;
    assert_eq!(media(&outcome), 1);
    assert!(text(&outcome).contains("untrusted external content"));
    let outcome = read(&house, "fake", "test://forged").await;
    let shown = text(&outcome);
    assert_eq!(shown.matches("<<<END_EXTERNAL").count(), 1, "{shown}");
    assert!(!shown.contains("<|im_start|>"), "{shown}");
    let lines = house.audit();
    assert_eq!(lines.len(), 4);
    for line in lines {
        assert_eq!(line["server"], "fake");
        assert_eq!(line["tool"], "mcp_read_resource");
        assert_eq!(line["outcome"], "ok");
    }
    house.finish().await;
}

#[tokio::test]
async fn every_mistake_gets_an_answer_that_helps() {
    let (good, gone) = (fake(""), fake(""));
    let config = json!({
        "mcp": { "servers": {
            "good": entry(&good, json!({})),
            "denied": entry(&gone, json!({})),
            "off": entry(&gone, json!({"enabled": false})),
            "broken": { "command": "/nowhere/at/all" },
        } },
        "tools": { "deny": ["denied/*"] },
    });
    let house = House::new(StartMode::OnDemand, &config, &[&good, &gone]);
    for name in ["nobody", "denied", "off"] {
        let outcome = read(&house, name, "test://text").await;
        assert_eq!(outcome.end, CallEnd::InvalidArguments, "{name}");
        assert_eq!(
            text(&outcome),
            format!("there is no server {name}; there are:\n- broken\n- good")
        );
    }
    for (arguments, expected) in [
        (json!({}), "the name of a server is missing"),
        (json!({"server": "good"}), "the address is missing"),
        (
            json!({"server": "good", "uri": " "}),
            "the address is missing",
        ),
        (
            json!({"server": "good", "uri": "x".repeat(9_000)}),
            "too long",
        ),
    ] {
        let outcome = house.call("mcp_read_resource", arguments).await;
        assert_eq!(outcome.end, CallEnd::InvalidArguments);
        assert!(text(&outcome).contains(expected), "{}", text(&outcome));
    }
    let outcome = read(&house, "good", "test://nowhere").await;
    assert_eq!(outcome.end, CallEnd::NotDone);
    let shown = text(&outcome);
    assert!(
        shown.starts_with("MCP tool error (good/test://nowhere): "),
        "{shown}"
    );
    assert!(shown.contains("resource not found"), "{shown}");
    let outcome = read(&house, "broken", "x").await;
    assert_eq!(outcome.end, CallEnd::NotDone, "{}", text(&outcome));
    house.finish().await;
}

#[tokio::test]
async fn a_long_resource_is_cut_and_read_on_and_credentials_stay_hidden() {
    let fake = fake("--odd-resources 5000");
    let redactor = Redactor::new();
    let _ = redactor.learn(&Secret::new("the text of a resource"));
    let config = one(&entry(&fake, json!({"maxResultBytes": 1_000})), &json!({}));
    let house = House::with_redactor(StartMode::OnDemand, &config, &[&fake], redactor);
    let shown = text(&read(&house, "fake", "test://text").await);
    assert!(shown.contains("---\n[REDACTED]\n"), "{shown}");
    let shown = text(&read(&house, "fake", "test://large").await);
    let (_, id) = shown.split_once("mcp_read_result {\"id\": \"").unwrap();
    assert!(shown.contains("Shown: bytes 0 to 1000 of 5000"), "{shown}");
    let arguments = json!({"id": &id[..32], "offset": 1_000});
    let shown = text(&house.call("mcp_read_result", arguments).await);
    assert!(shown.contains("\nFrom: fake/test://large\n"), "{shown}");
    assert!(
        shown.contains("Shown: bytes 1000 to 5000 of 5000"),
        "{shown}"
    );
    house.finish().await;
}

#[tokio::test]
async fn the_tools_are_there_where_they_are_of_use_and_not_denied() {
    let fake = fake("");
    let both = ["mcp_list_resources", "mcp_read_resource"];
    for (more, expected) in [
        (json!({}), &both[..]),
        (json!({"tools": {"allow": ["fake/echo"]}}), &both[..]),
        (
            json!({"tools": {"deny": ["mcp_read_resource"]}}),
            &both[..1],
        ),
        (json!({"tools": {"deny": ["mcp_list_*"]}}), &both[1..]),
        (json!({"tools": {"deny": ["fake/*"]}}), &[]),
    ] {
        let config = one(&entry(&fake, json!({})), &more);
        let house = House::new(StartMode::OnDemand, &config, &[&fake]);
        assert_eq!(own(&house), [""; 0], "nobody has said yet what there is");
        house.started().await;
        assert_eq!(own(&house), expected, "{more}");
        if !expected.contains(&both[1]) {
            let outcome = read(&house, "fake", "test://text").await;
            assert!(outcome.end.is_error(), "{more}");
            assert!(
                !fake
                    .journal()
                    .methods()
                    .contains(&"resources/read".to_owned())
            );
        }
        house.finish().await;
    }
}

#[derive(Default)]
struct Asked {
    questions: Mutex<Vec<ApprovalQuestion>>,
}

impl Approver for Asked {
    fn approve(
        &self,
        question: ApprovalQuestion,
    ) -> Pin<Box<dyn Future<Output = ApprovalAnswer> + Send + '_>> {
        let mut questions = self.questions.lock().unwrap();
        questions.push(question);
        // The first time no, then for ever.
        let answer = if questions.len() == 1 {
            ApprovalAnswer::No
        } else {
            ApprovalAnswer::Always
        };
        Box::pin(std::future::ready(answer))
    }
}

#[tokio::test]
async fn a_person_is_asked_only_where_everything_is_asked_about() {
    let fake = fake("");
    for (approval, questions, ends) in [
        ("off", 0, [CallEnd::Ok; 3]),
        ("auto", 0, [CallEnd::Ok; 3]),
        ("all", 2, [CallEnd::Rejected, CallEnd::Ok, CallEnd::Ok]),
    ] {
        let more = json!({"tools": {"approval": approval}});
        let config = one(&entry(&fake, json!({})), &more);
        let house = House::new(StartMode::OnDemand, &config, &[&fake]);
        let (asked, agent) = (Asked::default(), house.main());
        let mut found = Vec::new();
        for _ in 0..3 {
            let call = Call {
                agent: &agent,
                session: None,
                tool: ToolChoice::Name("mcp_read_resource"),
                arguments: object(json!({"server": "fake", "uri": "test://text"})),
                correlation: "c0ffee",
                persons: None,
                approval: Approval::Ask(Some(&asked)),
                progress: None,
                for_model: true,
            };
            found.push(house.servers.call(call).await.end);
        }
        assert_eq!(found, ends, "{approval}");
        let asked = asked.questions.into_inner().unwrap();
        assert_eq!(asked.len(), questions, "{approval}");
        for question in asked {
            assert_eq!(
                (question.server.as_str(), question.name.as_str()),
                ("fake", "mcp_read_resource")
            );
            assert!(
                question
                    .arguments
                    .iter()
                    .any(|it| it.value == "\"test://text\"")
            );
        }
        house.finish().await;
    }
}

#[tokio::test]
async fn resources_are_listed_in_pages_by_server_and_by_words() {
    let (many, few) = (fake("--resources 120"), fake(""));
    let config = json!({ "mcp": { "servers": {
        "many": entry(&many, json!({"lazy": true})), "few": entry(&few, json!({})),
    } } });
    let house = House::new(StartMode::OnDemand, &config, &[&many, &few]);
    let list = async |arguments: Value| text(&house.call("mcp_list_resources", arguments).await);
    let shown = list(json!({"server": "few"})).await;
    assert!(
        shown.starts_with("Listed: 1 to 4 of 4\n<<<EXTERNAL"),
        "{shown}"
    );
    assert!(shown.contains("\nFrom: few/resources\n"), "{shown}");
    assert!(
        shown.contains(
            "\nresource test://blob; blob; A picture of one pixel; image/png; 70 bytes\n"
        ),
        "{shown}"
    );
    assert!(
        shown.contains("\ntemplate test://numbered/{number}; numbered; "),
        "{shown}"
    );
    let shown = list(json!({})).await;
    assert!(
        shown.starts_with("Listed: 1 to 50 of 128; go on with mcp_list_resources and offset 50\n"),
        "{shown}"
    );
    assert_eq!(shown.matches("<<<EXTERNAL").count(), 2);
    let end = list(json!({"offset": 100})).await;
    assert!(end.starts_with("Listed: 101 to 128 of 128\n"), "{end}");
    let beyond = list(json!({"offset": 500})).await;
    assert_eq!(beyond, "There are only 128.");
    let found = list(json!({"query": "PICTURE pixel"})).await;
    assert_eq!(found.matches("\nresource ").count(), 2, "{found}");
    let nothing = list(json!({"query": "elephants"})).await;
    assert_eq!(nothing, "There are no such resources.");
    assert!(list(json!({"server": "x"})).await.contains("- few\n- many"));
    assert!(list(json!({"offset": -1})).await.contains("at least 0"));
    house.finish().await;
}

#[tokio::test]
async fn a_server_is_meant_by_its_name_as_it_is_shown() {
    let (odd, one, other) = (fake(""), fake(""), fake(""));
    let config = json!({ "mcp": { "servers": {
        "a[b] \"c\"": entry(&odd, json!({})),
        "d[": entry(&one, json!({})),
        "d]": entry(&other, json!({})),
    } } });
    let house = House::new(StartMode::OnDemand, &config, &[&odd, &one, &other]);
    let read = async |server: &str| {
        let arguments = json!({"server": server, "uri": "test://text"});
        house.call("mcp_read_resource", arguments).await
    };
    for name in ["a[b] \"c\"", &openclaw_content::clean_name("a[b] \"c\"")] {
        let outcome = read(name).await;
        assert!(text(&outcome).contains("the text of a resource"), "{name}");
        assert_eq!(outcome.server.as_deref(), Some("a[b] \"c\""));
    }
    let outcome = read("d_").await;
    assert!(
        text(&outcome).contains("there is no server"),
        "two are shown so"
    );
    let arguments = json!({"server": "d[", "uri": "test://nowhere"});
    let outcome = house.call("mcp_read_resource", arguments).await;
    assert_eq!(outcome.end, CallEnd::NotDone);
    assert_eq!(outcome.server.as_deref(), Some("d["), "though it failed");
    house.finish().await;
}

#[tokio::test]
async fn our_own_tools_can_be_denied_by_name() {
    let fake = fake("");
    let deny = json!({"tools": {"deny": ["mcp_search_tools", "mcp_call_*", "mcp_read_re*"]}});
    let config = one(&entry(&fake, json!({})), &deny);
    let house = House::new(StartMode::OnDemand, &config, &[&fake]);
    for (name, arguments) in [
        ("mcp_search_tools", json!({"query": "echo"})),
        (
            "mcp_call_tool",
            json!({"name": "fake/echo", "arguments": {"message": "x"}}),
        ),
        ("mcp_read_result", json!({"id": "x"})),
        (
            "mcp_read_resource",
            json!({"server": "fake", "uri": "test://text"}),
        ),
    ] {
        let outcome = house.call(name, arguments).await;
        assert_eq!(outcome.end, CallEnd::Denied, "{name}");
        assert!(text(&outcome).contains("the tool is not allowed"), "{name}");
        let audit = house.audit();
        let last = audit.last().unwrap();
        assert_eq!((&last["tool"], &last["server"]), (&json!(name), &json!("")));
    }
    let outcome = house
        .call("mcp_describe_tool", json!({"name": "fake/echo"}))
        .await;
    assert_ne!(outcome.end, CallEnd::Denied);
    house.finish().await;
}

#[tokio::test]
async fn arguments_and_addresses_are_completed_by_servers_that_are_ready() {
    let fake = fake("");
    let config = one(
        &entry(&fake, json!({})),
        &json!({"tools": {"deny": ["x/*"]}}),
    );
    let house = House::new(StartMode::OnDemand, &config, &[&fake]);
    let template = CompletionTarget::Template("test://numbered/{number}".to_owned());
    let complete = async |target: &CompletionTarget, name: &str, value: &str| {
        let agent = house.main();
        let servers = &house.servers;
        let argument = (name, value);
        let asking = servers.complete(&agent, None, "fake", target, argument, Map::new());
        asking.await
    };
    assert_eq!(complete(&template, "number", "").await, [""; 0]);
    assert_eq!(
        house.processes(),
        0,
        "nobody waits for a server while writing"
    );
    house.started().await;
    assert_eq!(complete(&template, "number", "").await.len(), 100);
    assert_eq!(complete(&template, "number", "24").await.len(), 11);
    let prompt = CompletionTarget::Prompt("greeting".to_owned());
    assert_eq!(
        complete(&prompt, "style", "f").await,
        ["formal", "friendly", "funny"]
    );
    let typed = openclaw_mcp::typed_variable("test://numbered/{number}", "test://numbered/24");
    let typed = typed.unwrap();
    let values = complete(&template, &typed.name, &typed.value).await;
    assert_eq!(typed.completed(&values[1]), "test://numbered/240");
    house.finish().await;
}
