//! Servers that are added, set and removed through the engine.

use openclaw_engine::{Engine, OfServer, OneServer, SetServer, ShownState};
use serde_json::json;

use crate::house::{House, add, assert_gone, definition, entry, fake, servers};

const TOKEN: &str = "ghp_0123456789abcdefghijABCDEFGHIJ012345";
const OTHER: &str = "wonderful-7391-password";

fn one(server: &str) -> OneServer {
    OneServer {
        agent: None,
        server: server.to_owned(),
    }
}

#[tokio::test]
async fn a_server_that_is_added_is_usable_without_a_restart() {
    let (old, new) = (fake("--only-tools echo"), fake("--only-tools echo"));
    let house = House::new(&servers(&json!({ "old": entry(&old) })));
    house.echo("old").await.unwrap();
    assert!(house.echo("new").await.is_err());
    let added = house.engine.add_server(add("new", entry(&new)));
    let added = added.await.unwrap();
    assert_eq!(added.config, house.file().display().to_string());
    let tried = added.server.unwrap().report;
    assert_eq!((tried.state, tried.tools), (ShownState::Ready, 1));
    assert_gone(&[&new]).await;
    let called = house.echo("new").await.unwrap();
    assert!(!called.is_error, "{called:?}");
    let before = house.engine.server(one("old")).await.unwrap().report;
    house.engine.reload().await.unwrap();
    let after = house.engine.server(one("old")).await.unwrap().report;
    assert_eq!(before.pid, after.pid, "what did not change is not touched");
    house.finish(&[&old, &new]).await;
}

#[tokio::test]
async fn a_turn_uses_the_tools_of_a_server_that_was_just_added() {
    let new = fake("--only-tools add");
    let house = House::new(&servers(&json!({})));
    let before = house.reply("add a=2 b=3").await.unwrap();
    assert_eq!(before.tool_calls.len(), 0, "{before:?}");
    let added = house.engine.add_server(add("sums", entry(&new)));
    added.await.unwrap();
    let after = house.reply("add a=2 b=3").await.unwrap();
    assert_eq!(after.tool_calls.len(), 1, "{after:?}");
    house.finish(&[&new]).await;
}

#[tokio::test]
async fn nothing_is_written_where_nothing_is_reached() {
    let dying = fake("--exit-after 1");
    let house = House::new(&servers(&json!({})));
    let before = house.text();
    let failure = house.engine.add_server(add("mine", entry(&dying)));
    let failure = failure.await.unwrap_err();
    assert_eq!(failure.code, "unreachable", "{failure}");
    assert!(failure.hint.unwrap().contains("--no-check"));
    assert_eq!(house.text(), before);
    assert_eq!(house.names().await, Vec::<String>::new());
    house.finish(&[&dying]).await;
}

#[tokio::test]
async fn whoever_drops_the_question_ends_the_trial() {
    let slow = fake("--initialize-delay 60000");
    let house = House::new(&servers(&json!({})));
    let adding = house.engine.add_server(add("mine", entry(&slow)));
    let running = openclaw_testkit::leaks::eventually(crate::house::SOON, || {
        !openclaw_testkit::leaks::processes_with_argument(slow.marker()).is_empty()
    });
    tokio::select! {
        ended = adding => panic!("{ended:?}"),
        is_running = running => assert!(is_running),
    }
    assert_gone(&[&slow]).await;
    house.finish(&[]).await;
}

#[tokio::test]
async fn a_name_that_exists_is_replaced_only_where_that_is_wanted() {
    let (old, new) = (fake("--only-tools add"), fake("--only-tools echo"));
    let house = House::new(&servers(&json!({ "mine": entry(&old) })));
    let mut request = add("mine", entry(&new));
    let failure = house.engine.add_server(request.clone()).await.unwrap_err();
    assert_eq!(failure.code, "exists");
    request.replace = true;
    house.engine.add_server(request).await.unwrap();
    house.echo("mine").await.unwrap();
    house.finish(&[&old, &new]).await;
}

#[tokio::test]
async fn a_credential_never_shows_in_what_is_asked_and_answered() {
    let mine = fake("--only-tools echo");
    let house = House::new(&servers(&json!({})));
    let mut with_token = entry(&mine);
    with_token["env"] = json!({ "GITHUB_TOKEN": TOKEN });
    let mut request = add("mine", with_token.clone());
    request.keyring = true;
    let mut texts = vec![format!("{request:?}")];
    let added = house.engine.add_server(request).await.unwrap();
    assert!(house.text().contains(TOKEN), "there is no keyring here");
    let warnings = added.warnings.join("\n");
    assert!(warnings.contains("plaintext credentials"), "{warnings}");
    assert!(warnings.contains("no keyring"), "{warnings}");
    texts.push(format!("{added:?} {}", json!(added)));
    let shown = house.engine.definitions(OfServer::default()).await.unwrap();
    assert_eq!(shown.servers["mine"]["command"], with_token["command"]);
    texts.push(format!("{shown:?} {}", json!(shown)));
    // A server that tells it with its last words.
    let telling = json!({
        "command": "/bin/sh",
        "args": ["-c", "echo the token is $OTHER_TOKEN >&2; exit 1"],
        "env": { "OTHER_TOKEN": OTHER },
    });
    let failure = house.engine.add_server(add("telling", telling)).await;
    let failure = format!("{:?}", failure.unwrap_err());
    assert!(failure.contains("the token is"), "{failure}");
    texts.push(failure);
    let set = SetServer {
        name: "mine".to_owned(),
        entry: definition(with_token),
    };
    texts.push(format!("{set:?}"));
    let set = house.engine.set_server(set).await.unwrap();
    texts.push(format!("{set:?} {}", json!(set)));
    for text in texts {
        assert!(!text.contains(TOKEN) && !text.contains(OTHER), "{text}");
    }
    house.finish(&[&mine]).await;
}

#[tokio::test]
async fn what_is_set_replaces_what_runs_and_what_is_removed_stops() {
    let (first, second) = (fake("--only-tools add"), fake("--only-tools echo"));
    let house = House::new(&servers(&json!({})));
    let set = |entry| {
        house.engine.set_server(SetServer {
            name: "mine".to_owned(),
            entry: definition(entry),
        })
    };
    let written = set(entry(&first)).await.unwrap();
    assert_eq!((written.server, written.warnings), (None, Vec::new()));
    house.engine.connect(one("mine")).await.unwrap();
    set(entry(&second)).await.unwrap();
    assert_gone(&[&first]).await;
    house.echo("mine").await.unwrap();
    let removed = house.engine.remove_server(one("mine")).await.unwrap();
    assert_eq!(removed.config, house.file().display().to_string());
    assert_eq!((removed.logged_out, removed.warnings), (vec![], vec![]));
    assert_gone(&[&second]).await;
    assert_eq!(house.names().await, Vec::<String>::new());
    let again = house.engine.remove_server(one("mine")).await.unwrap_err();
    assert_eq!(again.code, "unknown-server");
    house.finish(&[]).await;
}

#[tokio::test]
async fn what_cannot_be_removed_goes_on() {
    let mine = fake("--only-tools echo");
    let house = House::new(&servers(&json!({})));
    house.write(r#"{ "mcp": { "$include": "./servers.json" } }"#);
    let included = json!({ "servers": { "mine": entry(&mine) } });
    let file = house.file().with_file_name("servers.json");
    std::fs::write(file, included.to_string()).unwrap();
    house.engine.reload().await.unwrap();
    house.echo("mine").await.unwrap();
    let failure = house.engine.remove_server(one("mine")).await.unwrap_err();
    assert_eq!(failure.code, "config", "{failure}");
    house.echo("mine").await.unwrap();
    house.finish(&[&mine]).await;
}
