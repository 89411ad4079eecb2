//! Models that search for their tools.

use openclaw_engine::ToolConsent;
use openclaw_testkit::FakeServer;
use serde_json::{Value, json};

use crate::house::{House, Listener, entry, fake, one};
use crate::scripted::{Scripted, Seen, Step, answer_text};

/// What a model has that has found nothing yet.
const OWN: [&str; 7] = [
    "mcp_call_tool",
    "mcp_describe_tool",
    "mcp_list_resources",
    "mcp_read_resource",
    "mcp_read_result",
    "mcp_search_tools",
    "read_skill",
];

/// A server whose tools have to be searched for.
fn searched(fake: &FakeServer) -> Value {
    let mut config = one(fake);
    config["tools"] = json!({ "toolSearch": "on" });
    config
}

fn search(query: &str) -> Step {
    Step::Call("", vec![("mcp_search_tools", json!({ "query": query }))])
}

/// The tools that a model saw beside those that it always has.
fn loaded(seen: &Seen) -> Vec<&str> {
    let names = seen.tools.iter().map(String::as_str);
    assert!(OWN.iter().all(|own| seen.tools.iter().any(|it| it == own)));
    assert!(seen.tools.is_sorted(), "{:?}", seen.tools);
    names.filter(|name| !OWN.contains(name)).collect()
}

#[tokio::test]
async fn where_tools_can_not_be_found_or_called_all_are_defined() {
    for denied in ["mcp_search_tools", "mcp_call_tool"] {
        let fake = fake("--tools 30");
        let mut config = searched(&fake);
        config["tools"]["deny"] = json!([denied, "mcp_read_result"]);
        let house = House::new(&config, &[&fake]);
        let model = Scripted::new([Step::Say("Hello.")]);
        house.reply(&model, "hello").await.unwrap();
        let seen = model.seen();
        assert!(seen[0].tools.len() > 50, "{denied}: {:?}", seen[0].tools);
        for own in ["mcp_search_tools", "mcp_call_tool", "mcp_read_result"] {
            assert!(!seen[0].tools.iter().any(|it| it == own), "{denied}: {own}");
        }
        house.finish().await;
    }
}

#[test]
fn words_lead_to_none_of_our_own_tools() {
    for own in openclaw_mcp::RESERVED {
        assert!(openclaw_models::LEADING.contains(&own), "{own}");
    }
}

#[tokio::test]
async fn a_model_searches_describes_and_calls_and_what_it_called_is_told() {
    let fake = fake("--tools 1000");
    let house = House::new(&searched(&fake), &[&fake]);
    let call = json!({"name": "mcp_fake_echo", "arguments": {"message": "hello"}});
    let model = Scripted::new([
        search("gives a message back"),
        Step::Call(
            "",
            vec![("mcp_describe_tool", json!({"name": "mcp_fake_echo"}))],
        ),
        Step::Call("", vec![("mcp_call_tool", call)]),
        Step::Say("It says hello."),
    ]);
    let report = house.reply(&model, "echo hello").await.unwrap();
    let called = report.tool_calls.iter();
    let called: Vec<_> = called.map(|it| (it.name.as_str(), it.is_error)).collect();
    assert_eq!(
        called,
        [
            ("mcp_search_tools", false),
            ("mcp_describe_tool", false),
            ("mcp_fake_echo", false)
        ]
    );
    assert_eq!(report.tool_calls[2].server.as_deref(), Some("fake"));
    let seen = model.seen();
    assert_eq!(seen[0].tools, OWN);
    // By the estimate that decides when to search; the guide promises less than 2,000.
    let tokens = seen[0].tool_bytes * 2 / 7 + 3 * OWN.len();
    assert!(tokens < 1_000, "{tokens}");
    assert!(
        seen[0]
            .current
            .contains("find those that you need with mcp_search_tools")
    );
    assert!(
        seen[0].current.contains("tools=\"1028\""),
        "{}",
        seen[0].current
    );
    // What was found can be called from the next round on.
    assert!(
        loaded(&seen[1]).contains(&"mcp_fake_echo"),
        "{:?}",
        seen[1].tools
    );
    assert!(seen[1].tools.len() <= OWN.len() + 5);
    let answers = seen[3].answers();
    assert_eq!(answers[2].called.as_deref(), Some("mcp_fake_echo"));
    let text = answer_text(answers[2]);
    assert!(text.contains("From: fake/echo\n") && text.contains("\nhello\n"));
    house.finish().await;
}

#[tokio::test]
async fn ten_thousand_tools_cost_what_none_do_and_a_deferred_one_can_be_called_by_its_name() {
    let fake = fake("--tools 10000");
    let house = House::new(&searched(&fake), &[&fake]);
    let model = Scripted::new([
        Step::Call("", vec![("mcp_fake_generated_9999", json!({}))]),
        Step::Say("done"),
    ]);
    let report = house.reply(&model, "x").await.unwrap();
    assert!(!report.tool_calls[0].is_error, "{report:?}");
    let seen = model.seen();
    assert_eq!(seen[0].tools, OWN);
    assert!(seen[0].tool_bytes / 4 < 1_000);
    assert_eq!(loaded(&seen[1]), ["mcp_fake_generated_9999"]);
    house.finish().await;
}

#[tokio::test]
async fn what_was_found_stays_for_the_session_and_for_no_other() {
    let fake = fake("");
    let config = searched(&fake);
    let house = House::new(&config, &[&fake]);
    let call = json!({"name": "fake/add", "arguments": {"a": 1, "b": 2}});
    let model = Scripted::new([
        Step::Call("", vec![("mcp_call_tool", call)]),
        Step::Say("3"),
    ]);
    house.reply(&model, "1 and 2").await.unwrap();
    // After a restart, too.
    let house = house.again(&config, &[&fake]).await;
    let model = Scripted::new([Step::Say("a"), Step::Say("b")]);
    house.reply(&model, "and now?").await.unwrap();
    assert_eq!(loaded(&model.seen()[0]), ["mcp_fake_add"]);
    house
        .reply_in(&model, "x", "other", &Listener::default())
        .await
        .unwrap();
    assert!(loaded(&model.seen()[1]).is_empty());
    // What is no longer allowed is no longer there.
    let mut denied = config.clone();
    denied["tools"]["deny"] = json!(["fake/add"]);
    let house = house.again(&denied, &[&fake]).await;
    let call = json!({"name": "fake/add", "arguments": {"a": 1, "b": 2}});
    let model = Scripted::new([
        Step::Call("", vec![("mcp_call_tool", call)]),
        search("fake/add"),
        Step::Say("no"),
    ]);
    let report = house.reply(&model, "again").await.unwrap();
    let seen = model.seen();
    assert!(loaded(&seen[0]).is_empty(), "{:?}", seen[0].tools);
    assert!(report.tool_calls[0].is_error);
    assert_eq!(report.tool_calls[0].name, "mcp_fake_add");
    assert!(!loaded(&seen[2]).contains(&"mcp_fake_add"));
    house.finish().await;
}

#[tokio::test]
async fn what_was_found_outlives_a_summary() {
    let fake = fake("");
    let config = searched(&fake);
    let house = House::new(&config, &[&fake]);
    let model = Scripted::new([search("fake/echo"), Step::Say("found")]).holding(8_000);
    let listener = Listener::default();
    let reply = house.reply_in(&model, "find it", "main", &listener);
    reply.await.unwrap();
    let long = "It was a dark and stormy night. ".repeat(150);
    for _ in 0..20 {
        if listener.heard().iter().any(|it| it.contains("summarised")) {
            break;
        }
        let reply = house.reply_in(&model, &long, "main", &listener);
        reply.await.unwrap();
    }
    assert!(listener.heard().iter().any(|it| it.contains("summarised")));
    let seen = model.seen();
    let last = seen.last().unwrap();
    assert!(last.answers().is_empty(), "the search is in the summary");
    assert!(loaded(last).contains(&"mcp_fake_echo"), "{:?}", last.tools);
    let house = house.again(&config, &[&fake]).await;
    let model = Scripted::new([]).holding(8_000);
    house.reply(&model, "and then?").await.unwrap();
    assert!(loaded(&model.seen()[0]).contains(&"mcp_fake_echo"));
    house.finish().await;
}

#[tokio::test]
async fn no_more_is_loaded_than_the_budget_allows_the_last_first() {
    let fake = fake("--tools 100");
    let house = House::new(&searched(&fake), &[&fake]);
    let all = json!({"query": "generated tool", "limit": 20});
    let model = Scripted::new([
        Step::Call("", vec![("mcp_search_tools", all)]),
        search("fake/generated_99"),
        Step::Say("done"),
    ])
    .holding(6_000);
    house.reply(&model, "x").await.unwrap();
    let seen = model.seen();
    let first = loaded(&seen[1]);
    assert!((1..20).contains(&first.len()), "{first:?}");
    let second = loaded(&seen[2]);
    assert!(second.contains(&"mcp_fake_generated_99"), "{second:?}");
    assert!(second.len() <= first.len() + 1, "{second:?}");
    // A tenth of what the model holds, beside what is always there.
    let own = seen[0].tool_bytes;
    assert!((seen[2].tool_bytes - own) / 4 <= 600);
    house.finish().await;
}

#[tokio::test]
async fn tools_of_a_server_that_is_always_loaded_need_no_search() {
    let (small, large) = (fake("--only-tools echo,add"), fake("--tools 50"));
    let mut always = entry(&small);
    always["alwaysLoad"] = json!(true);
    let config = json!({
        "mcp": { "servers": { "small": always, "large": entry(&large) } },
        "tools": { "toolSearch": "on" },
    });
    let house = House::new(&config, &[&small, &large]);
    let model = Scripted::new([Step::Say("a")]);
    house.reply(&model, "x").await.unwrap();
    let seen = model.seen();
    assert_eq!(loaded(&seen[0]), ["mcp_small_add", "mcp_small_echo"]);
    // Where nothing is left to be found, there is no search.
    let config = json!({
        "mcp": { "servers": { "small": config["mcp"]["servers"]["small"].clone() } },
        "tools": { "toolSearch": "on" },
    });
    let house = house.again(&config, &[&small]).await;
    let model = Scripted::new([Step::Say("a")]);
    house.reply(&model, "x").await.unwrap();
    let seen = model.seen();
    assert_eq!(
        seen[0].tools,
        [
            "mcp_list_resources",
            "mcp_read_resource",
            "mcp_read_result",
            "mcp_small_add",
            "mcp_small_echo",
            "read_skill"
        ]
    );
    assert!(!seen[0].current.contains("mcp_search_tools"));
    house.finish().await;
}

#[tokio::test]
async fn tools_are_searched_for_by_themselves_where_they_take_a_tenth_of_the_window() {
    let fake = fake("--tools 300");
    let mut config = one(&fake);
    let house = House::new(&config, &[&fake]);
    let model = Scripted::new([]);
    house.reply(&model, "x").await.unwrap();
    let all = model.seen()[0].clone();
    assert_eq!(all.tools.len(), 332, "the window is large enough");
    assert!(!all.current.contains("mcp_search_tools"));
    let estimate = u64::try_from(all.tool_bytes / 4).unwrap();
    for (window, searches) in [(estimate * 40, false), (estimate * 5, true)] {
        let model = Scripted::new([]).holding(window);
        house.reply(&model, "x").await.unwrap();
        let has_search = model.seen()[0].tools == OWN;
        assert_eq!(has_search, searches, "{window}");
    }
    // A service that does not take all of them is a reason, too.
    for (most, searches) in [(332, false), (331, true)] {
        let model = Scripted::new([]).taking(most);
        house.reply(&model, "x").await.unwrap();
        assert_eq!(model.seen()[0].tools == OWN, searches, "{most}");
    }
    config["tools"] = json!({ "toolSearch": "off" });
    let house = house.again(&config, &[&fake]).await;
    let model = Scripted::new([]).holding(estimate * 5);
    house.reply(&model, "x").await.unwrap();
    assert_eq!(model.seen()[0].tools, all.tools);
    house.finish().await;
}

#[tokio::test]
async fn a_person_is_asked_about_what_is_called_and_slips_are_told_to_the_model() {
    let fake = fake("");
    let house = House::new(&searched(&fake), &[&fake]);
    let call = |arguments: Value| {
        let call = json!({"name": "fake/echo", "arguments": arguments});
        Step::Call("", vec![("mcp_call_tool", call)])
    };
    let model = Scripted::new([
        call(json!({"message": "x"})),
        call(json!([1])),
        Step::Broken("mcp_call_tool", "{\"name\": \"fake/ec"),
        Step::Call(
            "",
            vec![("mcp_call_tool", json!({"name": "mcp_call_tool"}))],
        ),
        Step::Say("I give up."),
    ]);
    let listener = Listener::answering(ToolConsent::No);
    let report = house
        .reply_in(&model, "x", "main", &listener)
        .await
        .unwrap();
    let questions = listener.questions.lock().unwrap().clone();
    assert_eq!(questions.len(), 1);
    assert_eq!(questions[0].name, "mcp_fake_echo");
    assert_eq!(questions[0].server, "fake");
    let called = report.tool_calls.iter().map(|it| it.name.as_str());
    let called: Vec<&str> = called.collect();
    let own = "mcp_call_tool";
    assert_eq!(called, ["mcp_fake_echo", own, own, own]);
    assert!(report.tool_calls.iter().all(|it| it.is_error));
    let seen = model.seen();
    let answers = seen[4].answers();
    for (answer, expected) in answers[1..].iter().zip([
        "have to be a JSON object",
        "the arguments are not JSON",
        "can't call itself",
    ]) {
        let text = answer_text(answer);
        assert!(text.contains(expected), "{text}");
    }
    house.finish().await;
}
