//! Resources of servers that others wrote: `scripts/partners` installs them.

use std::time::{Duration, Instant};

use openclaw_testkit::partners;
use serde_json::{Value, json};

use crate::beside::beside;
use crate::house::{House, Listener};
use crate::scripted::{Scripted, Step};

/// Node is slow on a busy machine.
const SOON: Duration = Duration::from_secs(30);

/// A script for Node with the path of a directory in its command line, by which it is found if it is
/// left.
fn script(script: &str, arguments: &[&str], directory: &tempfile::TempDir) -> Value {
    let modules = partners().join("node_modules");
    let script = modules.join("@modelcontextprotocol").join(script);
    let mut words = vec![script.to_str().unwrap()];
    words.extend(arguments);
    words.push(directory.path().to_str().unwrap());
    json!({
        "command": modules.join(".bin/node"),
        "args": words,
        "connectionTimeoutMs": 60_000,
    })
}

fn house(name: &str, entry: &Value, directory: &tempfile::TempDir) -> House {
    let config = json!({ "mcp": { "servers": { name: entry } }, "tools": { "approval": "off" } });
    let marker = directory.path().to_str().unwrap().to_owned();
    House::with_markers(&config, vec![marker])
}

/// What stands beside the message of a turn in which the model does this.
async fn turn(house: &House, steps: impl IntoIterator<Item = Step>) -> String {
    let model = Scripted::new(steps);
    let listener = Listener::default();
    let reply = house.reply_in(&model, "go on", "main", &listener);
    let reply = reply.await.unwrap();
    assert!(reply.tool_calls.iter().all(|it| !it.is_error), "{reply:?}");
    let heard = listener.heard();
    assert!(
        !heard.iter().any(|it| it.starts_with("notice")),
        "{heard:?}"
    );
    beside(&model.seen()[0]).pop().unwrap()
}

#[tokio::test]
async fn a_resource_of_the_reference_server_is_kept_until_the_server_says_that_it_changed() {
    let directory = tempfile::tempdir().unwrap();
    let mut entry = script("server-everything/dist/index.js", &["stdio"], &directory);
    entry["resources"] = json!({"inject": ["demo://resource/dynamic/text/1"]});
    let house = house("everything", &entry, &directory);
    let mut kept = turn(&house, []).await;
    assert!(
        kept.contains("\nFrom: everything/demo://resource/dynamic/text/1\n"),
        "{kept}"
    );
    assert!(
        kept.contains("This is a plaintext resource created at "),
        "{kept}"
    );
    let body = |text: &str| {
        text.split_once("---\n")
            .unwrap()
            .1
            .lines()
            .next()
            .unwrap()
            .to_owned()
    };
    // The server announces its lists once it knows us, and every reading has another second in it.
    let (began, mut since) = (Instant::now(), Instant::now());
    while since.elapsed() < Duration::from_millis(2_500) {
        assert!(began.elapsed() < SOON, "it is read again and again");
        let now = turn(&house, []).await;
        if body(&now) != body(&kept) {
            (kept, since) = (now, Instant::now());
        }
    }
    let toggle = || {
        [Step::Call(
            "",
            vec![("mcp_everything_toggle-subscriber-updates", json!({}))],
        )]
    };
    turn(&house, toggle()).await;
    let began = Instant::now();
    while body(&turn(&house, []).await) == body(&kept) {
        assert!(began.elapsed() < SOON, "no update was heard of");
    }
    house.finish().await;
}

#[tokio::test]
async fn documents_of_the_reference_server_take_their_budget() {
    let directory = tempfile::tempdir().unwrap();
    let mut entry = script("server-everything/dist/index.js", &["stdio"], &directory);
    entry["resources"] = json!({
        "inject": ["demo://resource/static/document/*"],
        "maxBytes": 6_000,
    });
    let house = house("everything", &entry, &directory);
    let beside = turn(&house, []).await;
    let frames = beside
        .matches("\nFrom: everything/demo://resource/static/document/")
        .count();
    assert!(frames >= 5, "{beside}");
    assert_eq!(
        beside.matches("<<<END_EXTERNAL_UNTRUSTED_CONTENT").count(),
        frames
    );
    assert!(
        beside.contains("; read all of it with mcp_read_resource\n"),
        "{beside}"
    );
    let (_, texts) = beside.split_once("<<<EXTERNAL").unwrap();
    assert!((4_000..=6_000).contains(&texts.len()), "{}", texts.len());
    house.finish().await;
}

#[tokio::test]
async fn the_graph_of_the_memory_server_is_read_again_after_it_was_written() {
    let directory = tempfile::tempdir().unwrap();
    let memory = directory.path().join("memory.jsonl");
    let mut entry = script("server-memory/dist/index.js", &[], &directory);
    entry["env"] = json!({ "MEMORY_FILE_PATH": memory });
    entry["resources"] = json!({"inject": ["memory/*"], "maxBytes": 2_000});
    let house = house("memory", &entry, &directory);
    let create = |name: &str| {
        let entity = json!({"name": name, "entityType": "person", "observations": ["<<<END>>>"]});
        [Step::Call(
            "",
            vec![("mcp_memory_create_entities", json!({"entities": [entity]}))],
        )]
    };
    let first = turn(&house, create("Ann")).await;
    assert!(
        first.contains("\nFrom: memory/memory://knowledge-graph\n"),
        "{first}"
    );
    assert!(!first.contains("Ann"), "{first}");
    let second = turn(&house, []).await;
    assert!(second.contains("\"name\": \"Ann\""), "{second}");
    // What nobody announces is not looked for.
    std::fs::write(&memory, "").unwrap();
    assert!(turn(&house, []).await.contains("\"name\": \"Ann\""));
    turn(&house, create("Bea")).await;
    let last = turn(&house, []).await;
    assert!(
        last.contains("\"name\": \"Bea\"") && !last.contains("Ann"),
        "{last}"
    );
    let many: Vec<Value> = (0..200)
        .map(|number| json!({"name": format!("n{number}"), "entityType": "x", "observations": []}))
        .collect();
    let write = Step::Call(
        "",
        vec![("mcp_memory_create_entities", json!({"entities": many}))],
    );
    turn(&house, [write]).await;
    let cut = turn(&house, []).await;
    let (_, text) = cut.split_once("<<<EXTERNAL").unwrap();
    assert!((1_500..=2_000).contains(&text.len()), "{}", text.len());
    assert!(
        text.contains("; read all of it with mcp_read_resource\n"),
        "{text}"
    );
    house.finish().await;
}
