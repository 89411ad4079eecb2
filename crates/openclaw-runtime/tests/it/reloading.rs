//! A configuration that is read anew.

use openclaw_engine::{Engine, ModelsQuery, OneServer};
use serde_json::json;

use crate::house::{House, assert_gone, entry, fake, servers};

#[tokio::test]
async fn a_broken_file_changes_nothing_and_all_errors_are_told() {
    let mine = fake("--only-tools echo");
    let house = House::new(&servers(&json!({ "mine": entry(&mine) })));
    house.echo("mine").await.unwrap();
    let before = house.text();
    let broken = json!({
        "mcp": { "servers": "none" },
        "agents": { "defaults": { "model": 17 } },
    });
    for (text, errors) in [
        (
            broken.to_string(),
            &["found a string", "found a number"][..],
        ),
        ("{ mcp: ".to_owned(), &["openclaw.json:1:"]),
        (String::new(), &["is empty"]),
        (" \n".to_owned(), &["is empty"]),
    ] {
        house.write(&text);
        let failure = house.engine.reload().await.unwrap_err();
        assert_eq!(failure.code, "config", "{failure}");
        for error in errors {
            assert!(failure.message.contains(error), "{error}: {failure}");
        }
        house.echo("mine").await.unwrap();
    }
    std::fs::remove_file(house.file()).unwrap();
    let failure = house.engine.reload().await.unwrap_err();
    assert!(failure.message.contains("is not there"), "{failure}");
    house.echo("mine").await.unwrap();
    house.write(&before);
    let report = house.engine.reload().await.unwrap();
    assert_eq!(report, openclaw_engine::ReloadReport::default());
    house.finish(&[&mine]).await;
}

#[tokio::test]
async fn what_was_added_changed_and_removed_is_told_and_done() {
    let fakes = ["kept", "changed", "removed", "added"].map(|_| fake("--only-tools echo"));
    let [kept, changed, removed, added] = &fakes;
    let house = House::new(&servers(&json!({
        "kept": entry(kept), "changed": entry(changed), "removed": entry(removed),
    })));
    for name in ["kept", "changed", "removed"] {
        house.echo(name).await.unwrap();
    }
    let pid = async || {
        let query = OneServer {
            agent: None,
            server: "kept".to_owned(),
        };
        house.engine.server(query).await.unwrap().report.pid
    };
    let before = pid().await;
    let other = fake("--only-tools add");
    let after = servers(&json!({
        "kept": entry(kept), "changed": entry(&other), "added": entry(added),
    }));
    house.write(&after.to_string());
    let report = house.engine.reload().await.unwrap();
    assert_eq!(report.added, ["added"]);
    assert_eq!(report.changed, ["changed"]);
    assert_eq!(report.removed, ["removed"]);
    assert_eq!(report.warnings, Vec::<String>::new());
    assert_gone(&[changed, removed]).await;
    house.echo("added").await.unwrap();
    assert!(house.echo("changed").await.is_err(), "it has no such tool");
    assert_eq!(pid().await, before);
    house.finish(&[kept, &other, added]).await;
}

#[tokio::test]
async fn a_bad_server_costs_only_itself_and_is_told() {
    let mine = fake("--only-tools echo");
    let house = House::new(&servers(&json!({})));
    let after = servers(&json!({ "mine": entry(&mine), "bad": { "note": "nothing" } }));
    house.write(&after.to_string());
    let report = house.engine.reload().await.unwrap();
    assert_eq!(report.added, ["bad", "mine"]);
    let warnings = report.warnings.join("\n");
    assert!(warnings.contains("openclaw.json:1:"), "{warnings}");
    house.echo("mine").await.unwrap();
    house.finish(&[&mine]).await;
}

#[tokio::test]
async fn models_go_over_too() {
    let house = House::new(&servers(&json!({})));
    let model = async || {
        let query = ModelsQuery { ask: false };
        let report = house.engine.models(query).await.unwrap();
        report.models[0].model.clone()
    };
    assert_eq!(model().await, "builtin/offline");
    house.reply("hello").await.unwrap();
    // Nothing listens there: the turn fails, and says whom it asked.
    let after = json!({
        "agents": { "defaults": { "model": "mine/m" } },
        "models": { "providers": { "mine": {
            "baseUrl": "http://127.0.0.1:1/v1", "api": "openai-completions",
            "models": [{ "id": "m" }],
        } } },
    });
    house.write(&after.to_string());
    house.engine.reload().await.unwrap();
    assert_eq!(model().await, "mine/m");
    let failure = house.reply("hello").await.unwrap_err();
    assert!(failure.message.contains("mine"), "{failure}");
    house.finish(&[]).await;
}
