//! Sessions of the first era over Streamable HTTP, and streams that break.

use std::time::Duration;

use openclaw_mcp_client::{Endpoint, Outcome, Protocol, RequestError, Target, Transport};
use openclaw_secrets::Secret;
use openclaw_testkit::JournalReader;
use serde_json::{Value, json};
use tokio::time::{Instant, timeout};

use crate::lab::{Lab, SOON, call, close, echo, eventually};

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
    close(connection).await;
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
        close(connection).await;
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
    close(connection).await;
    lab.finish().await;
}

#[tokio::test]
async fn many_callers_of_a_forgotten_session_make_one_new_one() {
    let mut lab = Lab::new();
    let (target, journal) = legacy(&mut lab, "--expire-session-after 20 --json-only");
    let connection = lab.connect(&target).await;
    // With the first notification and the stream, all that the session is good for.
    for _ in 0..18 {
        echo(&connection, "using it up").await;
    }
    let before = sessions(&journal);
    let results = tokio::join!(
        connection.list_prompts(),
        connection.list_prompts(),
        connection.list_prompts(),
        connection.list_prompts(),
        connection.list_prompts(),
        connection.list_prompts(),
    );
    let (first, second, third, fourth, fifth, sixth) = results;
    for result in [first, second, third, fourth, fifth, sixth] {
        assert!(!result.unwrap().items.is_empty());
    }
    assert_eq!(sessions(&journal), before + 1);
    close(connection).await;
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
        close(connection).await;
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
        close(connection).await;
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
    close(connection).await;
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
        close(connection).await;
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
        close(connection).await;
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
        close(connection).await;
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
    close(connection).await;
    lab.finish().await;
}

#[tokio::test]
async fn a_bare_503_does_not_repeat_a_call() {
    let mut lab = Lab::new();
    let (target, journal) =
        lab.address("http --status 503 --status-on tools/call --status-times 1");
    let connection = lab.connect(&target).await;
    let error = call(&connection, "echo", json!({"message": "x"}))
        .await
        .unwrap_err();
    assert_eq!(error.outcome(), Outcome::Unknown, "{error}");
    let calls = journal
        .methods()
        .iter()
        .filter(|it| *it == "tools/call")
        .count();
    assert_eq!(calls, 1);
    echo(&connection, "the next one").await;
    close(connection).await;
    lab.finish().await;
}

#[tokio::test]
async fn a_session_that_is_forgotten_with_another_status_is_made_anew() {
    let mut lab = Lab::new();
    let (target, journal) = legacy(&mut lab, "--session-400 --expire-session-after 4");
    let connection = lab.connect(&target).await;
    for number in 0..10 {
        echo(&connection, &format!("{number}")).await;
    }
    assert!(sessions(&journal) >= 3);
    connection.ping(SOON).await.unwrap();
    close(connection).await;
    lab.finish().await;
}

#[tokio::test]
async fn what_was_watched_is_watched_in_the_new_session() {
    let mut lab = Lab::new();
    let (target, journal) = legacy(&mut lab, "--json-only --expire-session-after 6");
    let connection = lab.connect(&target).await;
    connection.subscribe("test://changing").await.unwrap();
    let before = sessions(&journal);
    while sessions(&journal) == before {
        echo(&connection, "using it up").await;
    }
    let subscribed = || {
        let methods = journal.methods();
        methods
            .iter()
            .filter(|it| *it == "resources/subscribe")
            .count()
    };
    assert!(eventually(SOON, || subscribed() >= 2).await);
    close(connection).await;
    lab.finish().await;
}

#[tokio::test]
async fn what_can_not_be_watched_again_is_not_said_to_be() {
    let mut lab = Lab::new();
    let (target, journal) = legacy(
        &mut lab,
        "--expire-session-after 8 --refuse-subscriptions 1",
    );
    let connection = lab.connect(&target).await;
    let uri = "test://changing";
    assert_eq!(connection.watched_version(uri), None);
    connection.subscribe(uri).await.unwrap();
    assert!(eventually(SOON, || connection.watched_version(uri).is_some()).await);
    let before = sessions(&journal);
    while sessions(&journal) == before {
        echo(&connection, "using it up").await;
    }
    assert_eq!(connection.watched_version(uri), None);
    close(connection).await;
    lab.finish().await;
}

#[tokio::test]
async fn without_a_stream_of_its_own_nothing_is_watched() {
    let mut lab = Lab::new();
    let (target, _) = legacy(&mut lab, "--no-get");
    let connection = lab.connect(&target).await;
    connection.subscribe("test://changing").await.unwrap();
    echo(&connection, "the stream is known not to come").await;
    assert_eq!(connection.watched_version("test://changing"), None);
    close(connection).await;
    lab.finish().await;
}

#[tokio::test]
async fn a_connection_that_was_closed_stays_closed() {
    let mut lab = Lab::new();
    for way in ["stdio", "http --era legacy", "http --era modern", "sse"] {
        let (target, journal) = lab.server_of(way);
        let connection = lab.connect(&target).await;
        connection.close().await;
        let before = journal.methods().len();
        let error = call(&connection, "echo", json!({"message": "x"}))
            .await
            .unwrap_err();
        assert_eq!(error.outcome(), Outcome::NotDone, "{way}: {error}");
        assert_eq!(journal.methods().len(), before, "{way}");
    }
    lab.finish().await;
}

#[tokio::test]
async fn only_the_first_call_waits_for_a_stream_that_does_not_begin() {
    let mut lab = Lab::new();
    let (target, _) = legacy(&mut lab, "--hold-get");
    let connection = lab.connect(&target).await;
    echo(&connection, "first").await;
    let started = Instant::now();
    for _ in 0..5 {
        echo(&connection, "next").await;
    }
    assert!(started.elapsed() < Duration::from_millis(400));
    close(connection).await;
    lab.finish().await;
}

#[tokio::test]
async fn a_server_can_not_make_us_ask_without_end() {
    let mut lab = Lab::new();
    let (target, journal) = legacy(&mut lab, "--get-retry 0");
    let connection = lab.connect(&target).await;
    let until = Instant::now() + Duration::from_secs(2);
    while Instant::now() < until {
        echo(&connection, "hello").await;
        tokio::task::yield_now().await;
    }
    let asked = requests(&journal, "GET").len();
    assert!((2..=8).contains(&asked), "{asked}");
    close(connection).await;
    lab.finish().await;
}

#[tokio::test]
async fn a_stream_that_is_refused_for_a_while_is_asked_for_again() {
    let mut lab = Lab::new();
    for status in [409, 429, 503] {
        let flags = format!("--get-status {status} --get-status-times 1");
        let (target, journal) = legacy(&mut lab, &flags);
        let connection = lab.connect(&target).await;
        assert!(
            eventually(SOON, || requests(&journal, "GET").len() >= 2).await,
            "{status}"
        );
        call(&connection, "change_tools", json!({})).await.unwrap();
        assert!(
            timeout(SOON, connection.changes()).await.unwrap().tools,
            "{status}"
        );
        close(connection).await;
    }
    lab.finish().await;
}

#[tokio::test]
async fn a_stream_is_taken_up_with_its_own_last_event() {
    let mut lab = Lab::new();
    let (target, journal) = legacy(&mut lab, "--drop-stream --at tools/call");
    let connection = lab.connect(&target).await;
    let (first, second) = tokio::join!(
        call(&connection, "echo", json!({"message": "first"})),
        call(&connection, "echo", json!({"message": "second"})),
    );
    assert!(first.is_ok() && second.is_ok());
    let resumed: Vec<String> = requests(&journal, "GET")
        .iter()
        .filter_map(|get| Some(get["headers"].get("last-event-id")?.as_str()?.to_owned()))
        .collect();
    // The fake names events after their streams: each call has one, and no stream is taken for
    // another's.
    let streams: std::collections::BTreeSet<_> = resumed
        .iter()
        .filter_map(|id| id.split_once('-').map(|(stream, _)| stream))
        .collect();
    assert_eq!((resumed.len(), streams.len()), (2, 2), "{resumed:?}");
    close(connection).await;
    lab.finish().await;
}
