//! The reference server for times, which is written in Python and speaks both eras.

use openclaw_mcp_client::{Connection, Era, Outcome, Protocol, RequestError, Target};
use openclaw_testkit::partners;
use serde_json::{Value, json};

use super::partners::RealLab;
use crate::lab::{SOON, call, close, text};

/// The server at a path of our own, by which it can be told from that of another test.
fn server(lab: &RealLab, protocol: Protocol) -> Target {
    let installed = partners().join("python/bin/mcp-server-time");
    let program = lab.directory().join("mcp-server-time");
    std::os::unix::fs::symlink(installed, &program).unwrap();
    let mut target = lab.program(&program, &["--local-timezone", "Europe/Berlin"]);
    target.protocol = protocol;
    target
}

async fn lists_and_calls(connection: &Connection) {
    assert_eq!(connection.server().name, "mcp-time");
    let tools = connection.list_tools().await.unwrap();
    assert!(tools.dropped.is_empty() && tools.truncated.is_none());
    let names: Vec<_> = tools.items.iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(names, ["get_current_time", "convert_time"]);
    for tool in &tools.items {
        assert_eq!(tool.annotations.read_only, Some(true));
        assert!(tool.output_schema.is_some());
        let schema = Value::Object(tool.input_schema.clone()).to_string();
        assert!(schema.contains("Europe/Berlin"), "{schema}");
    }
    // It has neither, but says that it knows of them.
    assert!(connection.list_resources().await.unwrap().items.is_empty());
    assert!(connection.list_prompts().await.unwrap().items.is_empty());

    let arguments = json!({"timezone": "Asia/Kolkata"});
    let now = call(connection, "get_current_time", arguments)
        .await
        .unwrap();
    assert!(!now.is_error && now.missing.is_empty(), "{now:?}");
    let told: Value = serde_json::from_str(text(&now)).unwrap();
    assert_eq!(now.structured.as_ref(), Some(&told));
    assert_eq!(told["timezone"], json!("Asia/Kolkata"));
    assert!(told["datetime"].as_str().unwrap().ends_with("+05:30"));

    // Neither of them knows summer time.
    let arguments = json!({
        "source_timezone": "Asia/Kolkata",
        "time": "12:00",
        "target_timezone": "Asia/Tokyo",
    });
    let converted = call(connection, "convert_time", arguments).await.unwrap();
    let converted = converted.structured.unwrap();
    assert_eq!(converted["time_difference"], json!("+3.5h"));
    let there = converted["target"]["datetime"].as_str().unwrap();
    assert!(there.ends_with("T15:30:00+09:00"), "{there}");
}

async fn says_what_is_wrong(connection: &Connection) {
    let arguments = json!({"timezone": "Europe/Atlantis"});
    let wrong = call(connection, "get_current_time", arguments)
        .await
        .unwrap();
    assert!(wrong.is_error && wrong.structured.is_none(), "{wrong:?}");
    assert!(text(&wrong).contains("Invalid timezone"), "{wrong:?}");
    let wrong = call(connection, "get_current_time", json!({}))
        .await
        .unwrap();
    assert!(wrong.is_error, "{wrong:?}");
    let error = call(connection, "no_such_tool", json!({}))
        .await
        .unwrap_err();
    assert!(
        matches!(&error, RequestError::Refused(it) if it.code == -32602),
        "{error}"
    );
    assert_eq!(error.outcome(), Outcome::NotDone);
    connection.ping(SOON).await.unwrap();
}

async fn works_in(protocol: Protocol, era: Era, version: &str) {
    let lab = RealLab::new();
    let connection = lab.connect(&server(&lab, protocol)).await;
    let found = connection.diagnostics();
    assert_eq!((found.era, found.version), (era, version));
    lists_and_calls(&connection).await;
    says_what_is_wrong(&connection).await;
    assert_eq!(connection.diagnostics().in_flight, 0);
    close(connection).await;
    lab.finish().await;
}

#[tokio::test]
async fn the_second_era_is_chosen_where_there_is_a_choice() {
    works_in(Protocol::Auto, Era::Modern, "2026-07-28").await;
}

#[tokio::test]
async fn the_first_era_is_spoken_where_it_is_wanted() {
    works_in(Protocol::Legacy, Era::Legacy, "2025-11-25").await;
}

#[tokio::test]
async fn the_second_era_is_spoken_where_it_is_wanted() {
    works_in(Protocol::Modern, Era::Modern, "2026-07-28").await;
}

#[tokio::test]
async fn what_the_server_speaks_is_remembered() {
    let lab = RealLab::new();
    let mut target = server(&lab, Protocol::Auto);
    target.fingerprint = Some("time".to_owned());
    lab.connect(&target).await.close().await;
    let connection = lab.connect(&target).await;
    assert_eq!(connection.diagnostics().era, Era::Modern);
    lists_and_calls(&connection).await;
    // It is not asked for the first era as well, however long it takes to start: that would be
    // refused, which nobody waits for.
    assert_eq!(connection.diagnostics().passed_over, 0);
    close(connection).await;
    lab.finish().await;
}
