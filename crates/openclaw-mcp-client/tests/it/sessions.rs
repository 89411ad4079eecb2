//! Sessions of the first era over Streamable HTTP, and streams that break.

use std::time::Duration;

use openclaw_mcp_client::{Endpoint, Outcome, Protocol, RequestError, Target, Transport};
use openclaw_secrets::Secret;
use openclaw_testkit::JournalReader;
use serde_json::{Value, json};
use tokio::time::{Instant, timeout};

use crate::lab::{Lab, SOON, call, echo, eventually};

/// The HTTP requests of a method.
fn requests(journal: &JournalReader, method: &str) -> Vec<Value> {
    let entries = journal.entries();
    let is_one = |entry: &Value| entry["method"] == json!(method) && entry.get("path").is_some();
    entries.into_iter().filter(is_one).collect()
}

fn legacy(lab: &mut Lab, flags: &str) -> (Target, JournalReader) {
    let (mut target, journal) = lab.address(&format!("http --era legacy {flags}"));
    target.protocol = Protocol::Legacy;
    (target, journal)
}

#[tokio::test]
async fn a_session_is_used_and_ended() {
    let mut lab = Lab::new();
    let (target, journal) = legacy(&mut lab, "");
    let connection = lab.connect(&target).await;
    assert_eq!(
        connection.diagnostics().transport,
        Transport::StreamableHttp
    );
    echo(&connection, "hello").await;
    connection.close().await;
    let posts = requests(&journal, "POST");
    assert!(posts[0]["headers"].get("mcp-session-id").is_none());
    for post in &posts[1..] {
        assert!(post["headers"].get("mcp-session-id").is_some(), "{post}");
        assert_eq!(post["headers"]["mcp-protocol-version"], json!("2025-11-25"));
        assert!(post["headers"].get("origin").is_none());
    }
    assert_eq!(requests(&journal, "DELETE").len(), 1);
    lab.finish().await;
}

#[tokio::test]
async fn servers_without_sessions_are_fine() {
    let mut lab = Lab::new();
    for flags in [
        "--stateless",
        "--stateless --no-get",
        "--no-get",
        "--json-only",
        "--sse-only",
    ] {
        let (target, _) = legacy(&mut lab, flags);
        let connection = lab.connect(&target).await;
        echo(&connection, flags).await;
        connection.close().await;
    }
    lab.finish().await;
}

#[tokio::test]
async fn a_forgotten_session_is_made_anew() {
    let mut lab = Lab::new();
    let (target, journal) = legacy(&mut lab, "--expire-session-after 4");
    let connection = lab.connect(&target).await;
    for number in 0..10 {
        echo(&connection, &format!("{number}")).await;
    }
    assert!(
        (3..=6).contains(&sessions(&journal)),
        "{}",
        sessions(&journal)
    );
    // What the new session offers may be different.
    assert!(timeout(SOON, connection.changes()).await.unwrap().tools);
    connection.close().await;
    lab.finish().await;
}

#[tokio::test]
async fn many_callers_of_a_forgotten_session_make_one_new_one() {
    let mut lab = Lab::new();
    let (target, journal) = legacy(&mut lab, "--expire-session-after 20 --json-only");
    let connection = lab.connect(&target).await;
    for _ in 0..16 {
        echo(&connection, "using it up").await;
    }
    let before = sessions(&journal);
    tokio::join!(
        echo(&connection, "a"),
        echo(&connection, "b"),
        echo(&connection, "c"),
        echo(&connection, "d"),
        echo(&connection, "e"),
    );
    assert_eq!(sessions(&journal), before + 1);
    connection.close().await;
    lab.finish().await;
}

fn sessions(journal: &JournalReader) -> usize {
    let methods = journal.methods();
    methods.iter().filter(|it| *it == "initialize").count()
}

#[tokio::test]
async fn a_stream_that_breaks_is_taken_up_again() {
    let mut lab = Lab::new();
    for flags in ["--drop-stream", "--poll --poll-retry 50"] {
        let (target, journal) = legacy(&mut lab, flags);
        let connection = lab.connect(&target).await;
        echo(&connection, "in two parts").await;
        let resumed = requests(&journal, "GET")
            .into_iter()
            .find(|get| get["headers"].get("last-event-id").is_some());
        assert!(resumed.is_some(), "{flags}");
        echo(&connection, "once more").await;
        connection.close().await;
    }
    lab.finish().await;
}

#[tokio::test]
async fn a_stream_that_breaks_for_good_leaves_the_outcome_unknown() {
    let mut lab = Lab::new();
    for era in ["legacy", "modern"] {
        let (target, journal) = lab.address(&format!("http --era {era} --drop-stream-no-ids"));
        let connection = lab.connect(&target).await;
        let error = call(&connection, "echo", json!({"message": "x"}))
            .await
            .unwrap_err();
        assert!(matches!(error, RequestError::OutcomeUnknown(_)), "{error}");
        let calls = journal
            .methods()
            .iter()
            .filter(|it| *it == "tools/call")
            .count();
        assert_eq!(calls, 1, "it is never called twice");
        assert!(!connection.list_tools().await.unwrap().items.is_empty());
        connection.close().await;
    }
    lab.finish().await;
}

#[tokio::test]
async fn the_servers_own_stream_is_opened_again() {
    let mut lab = Lab::new();
    let (target, journal) = legacy(&mut lab, "--drop-get-stream 1");
    let connection = lab.connect(&target).await;
    let opened = || requests(&journal, "GET").len() >= 2;
    assert!(eventually(SOON, opened).await);
    call(&connection, "change_tools", json!({})).await.unwrap();
    assert!(timeout(SOON, connection.changes()).await.unwrap().tools);
    connection.close().await;
    lab.finish().await;
}

#[tokio::test]
async fn headers_are_sent_with_every_request() {
    let mut lab = Lab::new();
    for mode in ["http --era legacy", "http --era modern", "sse"] {
        let (mut target, _) = lab.address(&format!("{mode} --require-header x-key=open-sesame"));
        let error = lab.connector().connect(&target).await.err().unwrap();
        assert!(error.to_string().contains("401"), "{mode}: {error}");
        let Endpoint::Address(address) = &mut target.endpoint else {
            panic!("it is an address")
        };
        address
            .headers
            .push(("X-Key".to_owned(), Secret::new("open-sesame")));
        let connection = lab.connect(&target).await;
        echo(&connection, mode).await;
        connection.close().await;
    }
    lab.finish().await;
}

#[tokio::test]
async fn connections_are_used_again() {
    let mut lab = Lab::new();
    for flags in ["--json-only", "--sse-only"] {
        let (target, _) = legacy(&mut lab, flags);
        let connection = lab.connect(&target).await;
        let before = openclaw_testkit::leaks::open_descriptors().len();
        for _ in 0..50 {
            echo(&connection, "hello").await;
        }
        let after = openclaw_testkit::leaks::open_descriptors().len();
        assert!(after <= before + 3, "{flags}: {before} then {after}");
        connection.close().await;
    }
    lab.finish().await;
}

#[tokio::test]
async fn a_server_that_asks_to_wait_is_waited_for() {
    let mut lab = Lab::new();
    for status in [429, 503] {
        let (target, _) = lab.address(&format!(
            "http --status {status} --status-on tools/call --status-times 1 --retry-after 1"
        ));
        let connection = lab.connect(&target).await;
        let started = Instant::now();
        echo(&connection, "patience").await;
        assert!(started.elapsed() >= Duration::from_secs(1));
        connection.close().await;
    }
    lab.finish().await;
}

#[tokio::test]
async fn a_wait_that_is_too_long_is_an_error() {
    let mut lab = Lab::new();
    let (target, _) = lab.address("http --status 429 --status-on tools/call --retry-after 3600");
    let connection = lab.connect(&target).await;
    let started = Instant::now();
    let error = call(&connection, "echo", json!({"message": "x"}))
        .await
        .unwrap_err();
    assert!(started.elapsed() < Duration::from_secs(5));
    let RequestError::Http(failure) = &error else {
        panic!("{error}")
    };
    assert_eq!(failure.status.as_u16(), 429);
    assert_eq!(failure.retry_after, Some(Duration::from_hours(1)));
    assert_eq!(error.outcome(), Outcome::NotDone);
    connection.close().await;
    lab.finish().await;
}
