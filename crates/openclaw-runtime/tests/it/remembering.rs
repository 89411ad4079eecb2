//! What happened lately: calls of everybody, and what the runtime itself remembers.

use openclaw_engine::{ActivityEntry, ActivityQuery, Engine, EngineEvent, ShownState};
use serde_json::json;

use crate::house::{House, entry, fake, servers};

async fn activity(house: &House, limit: Option<usize>) -> Vec<ActivityEntry> {
    let query = ActivityQuery { limit };
    house.engine.activity(query).await.unwrap().entries
}

/// The tools that were called, with how that ended.
fn calls(entries: &[ActivityEntry]) -> Vec<(&str, &str)> {
    let calls = entries.iter().filter_map(|entry| match &entry.event {
        EngineEvent::Call { tool, outcome, .. } => Some((tool.as_str(), outcome.as_str())),
        _ => None,
    });
    calls.collect()
}

/// Where something stands.
fn place(entries: &[ActivityEntry], is_it: impl Fn(&EngineEvent) -> bool) -> usize {
    let place = entries.iter().position(|entry| is_it(&entry.event));
    place.unwrap_or_else(|| panic!("{entries:#?}"))
}

fn is_call(event: &EngineEvent, name: &str) -> bool {
    matches!(event, EngineEvent::Call { tool, .. } if tool == name)
}

fn is_server(event: &EngineEvent, wanted: ShownState) -> bool {
    matches!(event, EngineEvent::Server { state, .. } if *state == wanted)
}

#[tokio::test]
async fn calls_restarts_and_reloads_are_told_in_their_order() {
    let mine = fake("");
    let house = House::of_gateway(&servers(&json!({ "mine": entry(&mine) })));
    house
        .until("mine", |it| it.state == ShownState::Ready)
        .await;
    house.echo("mine").await.unwrap();
    // The server ends in the middle of the call.
    house.call("mine/crash", "x", "y").await.unwrap_err();
    house
        .until("mine", |it| {
            it.state == ShownState::Ready && it.restarts == 1
        })
        .await;
    house.write("{ mcp: ");
    house.engine.reload().await.unwrap_err();
    house.write(&servers(&json!({ "mine": entry(&mine) })).to_string());
    house.engine.reload().await.unwrap();
    house.call("mine/fail", "x", "y").await.unwrap();

    let entries = activity(&house, None).await;
    let wanted = [("echo", "ok"), ("crash", "unknown"), ("fail", "tool-error")];
    assert_eq!(calls(&entries), wanted);
    assert!(entries.is_sorted_by(|one, other| one.time <= other.time));
    let order = [
        place(&entries, |it| is_server(it, ShownState::Connecting)),
        place(&entries, |it| is_server(it, ShownState::Ready)),
        place(&entries, |it| is_call(it, "echo")),
        place(
            &entries,
            |it| matches!(it, EngineEvent::Restarted { server } if server == "mine"),
        ),
        place(&entries, |it| matches!(it, EngineEvent::NotReloaded { .. })),
        place(&entries, |it| matches!(it, EngineEvent::Reloaded { .. })),
        place(&entries, |it| is_call(it, "fail")),
    ];
    assert!(order.is_sorted(), "{order:?} {entries:#?}");
    // Of many, the newest.
    let last = activity(&house, Some(2)).await;
    assert_eq!(last, entries[entries.len() - 2..]);
    assert!(activity(&house, Some(0)).await.is_empty());
    house.finish(&[&mine]).await;
}

#[tokio::test]
async fn calls_of_others_and_from_before_are_told_and_nothing_that_must_not_be_seen() {
    let mine = fake("");
    let mut env = entry(&mine);
    env["env"] = json!({ "API_TOKEN": "hunter2hunter2" });
    let house = House::new(&servers(&json!({ "mine": env })));
    assert!(activity(&house, None).await.is_empty());
    let line = |tool: &str| {
        let line = json!({
            "time": "2020-01-01T00:00:00.000Z", "agent": "other", "server": "far", "tool": tool,
            "argumentsHash": "", "argumentsBytes": 2, "outcome": "denied", "durationMs": 7,
            "correlation": "c",
        });
        format!("{line}\n")
    };
    let log = house.path().join("state/logs/audit.jsonl");
    std::fs::create_dir_all(log.parent().unwrap()).unwrap();
    std::fs::write(log.with_extension("jsonl.1"), line("oldest")).unwrap();
    let hostile = line("hunter2hunter2 \u{1b}[31m\n").replace('}', ",\"more\":1}");
    let endless = line(&"x".repeat(10_000));
    std::fs::write(&log, [&hostile, "garbage\n", &endless].concat()).unwrap();
    house.echo("mine").await.unwrap();

    let entries = activity(&house, None).await;
    let calls = calls(&entries);
    assert_eq!(calls.len(), entries.len(), "nobody comes later to ask");
    assert_eq!(calls.len(), 4);
    assert_eq!(calls[0], ("oldest", "denied"));
    assert!(!calls[1].0.contains("hunter2"), "{calls:?}");
    assert!(!calls[1].0.contains(['\u{1b}', '\n']), "{calls:?}");
    assert_eq!(calls[2].0.chars().count(), 201, "{calls:?}");
    assert_eq!(calls[3], ("echo", "ok"));
    let told = serde_json::to_value(&entries[0]).unwrap();
    let expected = json!({
        "time": "2020-01-01T00:00:00.000Z", "type": "call", "agent": "other", "server": "far",
        "tool": "oldest", "outcome": "denied", "durationMs": 7, "correlation": "c",
    });
    assert_eq!(told, expected);
    house.finish(&[&mine]).await;
}

#[tokio::test]
async fn a_log_that_cannot_be_read_is_told() {
    let house = House::of_gateway(&servers(&json!({})));
    std::fs::create_dir_all(house.path().join("state/logs/audit.jsonl")).unwrap();
    let failure = house.engine.activity(ActivityQuery::default()).await;
    let failure = failure.unwrap_err();
    assert_eq!(failure.code, "audit-log");
    assert!(failure.message.contains("is a directory"), "{failure:?}");
    house.finish(&[]).await;
}
