//! Servers in programs that do everything wrong. Whatever they do: a clear error in bounded time
//! and memory, the next call or connection works, and nothing is left.

use std::time::Duration;

use openclaw_mcp_client::{
    ConnectError, Connection, Outcome, RequestError, Target, ToolResult, UnknownOutcome,
};
use openclaw_testkit::JournalReader;
use serde_json::json;
use tokio::time::Instant;

use crate::lab::{Lab, SOON, call, close, echo, eventually, text};

/// A target that gives up soon.
fn impatient(lab: &mut Lab, flags: &str) -> (Target, JournalReader) {
    let (mut target, journal) = lab.program(flags);
    target.timeouts.connection = Duration::from_secs(3);
    target.timeouts.request = Duration::from_secs(1);
    (target, journal)
}

fn lost(result: Result<ToolResult, RequestError>) -> String {
    match result {
        Err(RequestError::OutcomeUnknown(UnknownOutcome::Lost(reason))) => reason,
        other => panic!("{other:?}"),
    }
}

/// Waits for the end of a connection.
async fn closed(connection: &Connection) -> String {
    let reason = tokio::time::timeout(SOON, connection.closed()).await;
    reason.expect("the connection ends").to_string()
}

#[tokio::test]
async fn one_that_never_answers() {
    let mut lab = Lab::new();
    let (target, _) = impatient(&mut lab, "stdio --mute");
    let started = Instant::now();
    let error = lab.connector().connect(&target).await.err().unwrap();
    assert!(matches!(error, ConnectError::TimedOut { .. }), "{error}");
    assert!(error.to_string().contains("`initialize`"), "{error}");
    assert!(started.elapsed() < Duration::from_secs(4));
    lab.finish().await;
}

#[tokio::test]
async fn one_that_never_answers_a_call() {
    let mut lab = Lab::new();
    let (target, journal) = impatient(&mut lab, "stdio --mute-calls");
    let connection = lab.connect(&target).await;
    let error = call(&connection, "echo", json!({"message": "x"}))
        .await
        .unwrap_err();
    let silent = UnknownOutcome::Silent(Duration::from_secs(1));
    assert!(
        matches!(&error, RequestError::OutcomeUnknown(it) if *it == silent),
        "{error}"
    );
    assert_eq!(error.outcome(), Outcome::Unknown);
    // It is told that nobody waits, and the connection goes on.
    let is_told = || {
        journal
            .methods()
            .iter()
            .any(|it| it == "notifications/cancelled")
    };
    assert!(eventually(SOON, is_told).await);
    assert!(!connection.list_tools().await.unwrap().items.is_empty());
    close(connection).await;
    lab.finish().await;
}

#[tokio::test]
async fn one_that_exits_after_the_handshake() {
    let mut lab = Lab::new();
    for era in ["legacy", "modern"] {
        let flags = format!("stdio --era {era} --exit-after-initialize");
        let (target, _) = impatient(&mut lab, &flags);
        // In the first era it may be gone before the handshake is over.
        match lab.connector().connect(&target).await {
            Ok(connection) => {
                assert!(closed(&connection).await.contains("its program ended"));
                let error = call(&connection, "echo", json!({"message": "x"}))
                    .await
                    .unwrap_err();
                assert_eq!(error.outcome(), Outcome::NotDone, "{error}");
                close(connection).await;
            }
            Err(error) => {
                assert!(matches!(error, ConnectError::Gone { .. }), "{error}");
                assert!(error.to_string().contains("its program ended"), "{error}");
            }
        }
    }
    lab.finish().await;
}

#[tokio::test]
async fn one_that_exits_in_the_middle_of_a_line() {
    let mut lab = Lab::new();
    let (target, _) = impatient(&mut lab, "stdio --exit-mid-line");
    let connection = lab.connect(&target).await;
    let reason = lost(call(&connection, "echo", json!({"message": "x"})).await);
    assert!(
        reason.contains("its program ended (exit status"),
        "{reason}"
    );
    close(connection).await;
    // The next connection works.
    lab.connect(&target).await.close().await;
    lab.finish().await;
}

#[tokio::test]
async fn one_that_exits_in_the_middle_of_calls() {
    let mut lab = Lab::new();
    let (target, _) = impatient(&mut lab, "stdio");
    let connection = lab.connect(&target).await;
    let slow = call(&connection, "sleep", json!({"ms": 60_000}));
    let crash = call(&connection, "crash", json!({}));
    let (slow, crash) = tokio::join!(slow, crash);
    assert!(lost(slow).contains("its program ended"));
    assert!(lost(crash).contains("its program ended"));
    close(connection).await;
    let connection = lab.connect(&target).await;
    echo(&connection, "again").await;
    close(connection).await;
    lab.finish().await;
}

#[tokio::test]
async fn one_that_stops_reading() {
    let mut lab = Lab::new();
    let (target, _) = impatient(&mut lab, "stdio --era modern --stop-reading-after 1");
    let connection = lab.connect(&target).await;
    let large = "x".repeat(10_000_000);
    let started = Instant::now();
    let error = call(&connection, "echo", json!({"message": large}))
        .await
        .unwrap_err();
    assert_eq!(error.outcome(), Outcome::Unknown, "{error}");
    assert!(started.elapsed() < Duration::from_secs(3));
    // Nothing moves any more, so that the connection is given up.
    assert!(closed(&connection).await.contains("does not read"));
    let error = call(&connection, "echo", json!({"message": "x"}))
        .await
        .unwrap_err();
    assert_eq!(error.outcome(), Outcome::NotDone, "{error}");
    close(connection).await;
    lab.connect(&target).await.close().await;
    lab.finish().await;
}

#[tokio::test]
async fn ones_that_do_not_want_to_end() {
    let mut lab = Lab::new();
    for flags in [
        "stdio --ignore-eof",
        "stdio --ignore-term --ignore-eof",
        "stdio --grandchild",
        "stdio --grandchild --grandchild-setsid --ignore-term --ignore-eof",
        "stdio --grandchild --grandchild-setsid --grandchild-silent",
    ] {
        let (target, _) = lab.program(flags);
        let connection = lab.connect(&target).await;
        echo(&connection, "hello").await;
        let started = Instant::now();
        close(connection).await;
        assert!(started.elapsed() < Duration::from_secs(6), "{flags}");
    }
    lab.finish().await;
}

#[tokio::test]
async fn ones_that_are_simply_dropped() {
    let mut lab = Lab::new();
    for flags in [
        "stdio --grandchild --grandchild-setsid --ignore-term --ignore-eof",
        "stdio",
    ] {
        let (target, _) = lab.program(flags);
        drop(lab.connect(&target).await);
        let (target, _) = impatient(&mut lab, &format!("{flags} --mute"));
        let connecting = lab.connector().connect(&target);
        let given_up = tokio::time::timeout(Duration::from_millis(300), connecting).await;
        assert!(given_up.is_err());
    }
    lab.finish().await;
}

#[tokio::test]
async fn ones_that_write_too_much() {
    let mut lab = Lab::new();
    for flags in [
        "stdio --flood-stderr 20000000",
        "stdio --flood-stdout 200000",
        "stdio --noise",
        "stdio --noise --crlf --bom",
        "stdio --replies-to-nobody 10000",
        "stdio --not-rpc",
        "stdio --duplicate-replies",
        "stdio --request-storm 20000",
        "stdio --era legacy --request-storm 20000",
    ] {
        let (target, _) = lab.program(flags);
        let connection = lab.connect(&target).await;
        connection.list_tools().await.unwrap();
        for _ in 0..3 {
            echo(&connection, "hello").await;
        }
        let told = connection.diagnostics();
        assert!(told.stderr.len() <= 200, "{flags}");
        let odd = ["stdout", "noise", "nobody", "not-rpc", "duplicate"];
        if odd.iter().any(|word| flags.contains(word)) {
            assert!(told.passed_over > 0, "{flags}");
        }
        close(connection).await;
    }
    lab.finish().await;
}

#[tokio::test]
async fn ones_that_write_strangely() {
    let mut lab = Lab::new();
    for flags in [
        "stdio --bom",
        "stdio --crlf",
        "stdio --batch",
        "stdio --era legacy --batch",
        "stdio --string-ids",
        "stdio --era legacy --string-ids",
    ] {
        let (target, _) = lab.program(flags);
        let connection = lab.connect(&target).await;
        assert!(!connection.list_tools().await.unwrap().items.is_empty());
        echo(&connection, flags).await;
        close(connection).await;
    }
    lab.finish().await;
}

#[tokio::test]
async fn one_whose_replies_have_no_ids() {
    let mut lab = Lab::new();
    for flags in [
        "stdio --no-ids --at tools/call",
        "stdio --null-ids --at tools/call",
    ] {
        let (target, _) = impatient(&mut lab, flags);
        // Nothing that it says can be told apart, from the handshake on.
        let started = Instant::now();
        let error = lab.connector().connect(&target).await.err().unwrap();
        assert!(matches!(error, ConnectError::TimedOut { .. }), "{error}");
        assert!(started.elapsed() < Duration::from_secs(4));
    }
    lab.finish().await;
}

#[tokio::test]
async fn one_that_sends_what_is_no_text() {
    let mut lab = Lab::new();
    let (target, _) = lab.program("stdio --invalid-utf8");
    let connection = lab.connect(&target).await;
    let result = call(&connection, "echo", json!({"message": "hello"}))
        .await
        .unwrap();
    assert!(text(&result).contains('\u{FFFD}'), "{result:?}");
    close(connection).await;
    lab.finish().await;
}

#[tokio::test]
async fn one_that_nests_deeply() {
    let mut lab = Lab::new();
    for depth in [200, 100_000] {
        let (target, _) = lab.program(&format!("stdio --deep-nesting {depth}"));
        let connection = lab.connect(&target).await;
        let result = call(&connection, "add", json!({"a": 1, "b": 2}))
            .await
            .unwrap();
        assert!(result.structured.is_none());
        assert_eq!(result.missing.len(), 1, "{:?}", result.missing);
        close(connection).await;
    }
    lab.finish().await;
}

#[tokio::test]
async fn one_that_sends_large_results() {
    let mut lab = Lab::new();
    let (target, _) = lab.program("stdio");
    let connection = lab.connect(&target).await;
    let result = call(&connection, "big", json!({"bytes": 50_000_000}))
        .await
        .unwrap();
    assert_eq!(text(&result).len(), 50_000_000);
    drop(result);
    // Too large for a message: the call fails, its neighbour does not.
    let large = call(&connection, "big", json!({"bytes": 90_000_000}));
    let small = call(&connection, "sleep", json!({"ms": 100}));
    let (large, small) = tokio::join!(large, small);
    let error = large.unwrap_err();
    assert!(error.to_string().contains("80 MiB"), "{error}");
    assert_eq!(error.outcome(), Outcome::Done);
    small.unwrap();
    echo(&connection, "still there").await;
    close(connection).await;
    lab.finish().await;
}

#[tokio::test]
async fn one_that_sends_a_line_without_end() {
    let mut lab = Lab::new();
    let (mut target, _) = lab.program("stdio --endless-line");
    target.timeouts.request = Duration::from_mins(1);
    let connection = lab.connect(&target).await;
    let reason = lost(call(&connection, "echo", json!({"message": "x"})).await);
    assert!(reason.contains("without end"), "{reason}");
    close(connection).await;
    lab.finish().await;
}

#[tokio::test]
async fn one_that_answers_everything_with_nothing() {
    let mut lab = Lab::new();
    let (target, _) = impatient(&mut lab, "stdio --empty-result");
    let error = lab.connector().connect(&target).await.err().unwrap();
    assert!(matches!(error, ConnectError::Refused(_)), "{error}");
    lab.finish().await;
}

#[tokio::test]
async fn one_that_says_why_it_ends() {
    let mut lab = Lab::new();
    let (target, _) = impatient(&mut lab, "stdio --no-such-flag");
    let error = lab.connector().connect(&target).await.err().unwrap();
    assert!(matches!(error, ConnectError::Gone { .. }), "{error}");
    let text = error.to_string();
    assert!(
        text.contains("exit status: 2") && text.contains("it last wrote"),
        "{text}"
    );
    lab.finish().await;
}

#[tokio::test]
async fn one_that_answers_notifications() {
    let mut lab = Lab::new();
    let (target, _) = lab.program("stdio --era legacy --answer-notifications");
    let connection = lab.connect(&target).await;
    // Its errors without an identifier are nobody's, least of all of the only request there is.
    assert!(!connection.list_tools().await.unwrap().items.is_empty());
    echo(&connection, "hello").await;
    let slow = call(&connection, "sleep", json!({"ms": 60_000}));
    assert!(
        tokio::time::timeout(Duration::from_millis(100), slow)
            .await
            .is_err()
    );
    // The cancellation was answered so, too.
    echo(&connection, "still there").await;
    close(connection).await;
    lab.finish().await;
}
