//! Servers at addresses that do everything wrong. Whatever they do: a clear error in bounded time
//! and memory, the next call or connection works, and nothing is left.

use std::time::Duration;

use openclaw_mcp_client::{ConnectError, Outcome, RequestError, UnknownOutcome};
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::lab::{Lab, call, close, echo, text};

#[tokio::test]
async fn statuses_at_the_handshake() {
    let mut lab = Lab::new();
    for (status, body) in [
        (400, "html"),
        (401, "empty"),
        (403, "html"),
        (404, "html"),
        (405, "empty"),
        (500, "html"),
        (500, "huge"),
        (502, "html"),
    ] {
        let (mut target, journal) =
            lab.address(&format!("http --status {status} --status-body {body}"));
        target.timeouts.connection = Duration::from_secs(5);
        let started = Instant::now();
        let error = lab.connector().connect(&target).await.err().unwrap();
        let shown = error.to_string();
        assert!(shown.contains(&status.to_string()), "{status}: {shown}");
        assert!(shown.len() < 600 && !shown.contains('<'), "{shown}");
        let unauthorized = matches!(error, ConnectError::Unauthorized(_));
        assert_eq!(unauthorized, matches!(status, 401 | 403), "{status}");
        assert!(started.elapsed() < Duration::from_secs(5), "{status}");
        // Only a status that can mean "not this way" leads on to the other one.
        let is_get = |entry: &Value| entry["method"] == json!("GET");
        let looked_elsewhere = journal.events("http").iter().any(is_get);
        assert_eq!(
            looked_elsewhere,
            matches!(status, 400 | 404 | 405),
            "{status}"
        );
    }
    lab.finish().await;
}

#[tokio::test]
async fn a_challenge_is_kept() {
    let mut lab = Lab::new();
    let (target, _) = lab.address("http --status 401 --www-authenticate Bearer");
    let error = lab.connector().connect(&target).await.err().unwrap();
    let ConnectError::Unauthorized(failure) = error else {
        panic!("{error}")
    };
    assert_eq!(failure.failure.unwrap().challenges, ["Bearer"]);
    lab.finish().await;
}

#[tokio::test]
async fn statuses_at_a_call() {
    let mut lab = Lab::new();
    for (status, outcome) in [
        (400, Outcome::NotDone),
        (401, Outcome::NotDone),
        (403, Outcome::NotDone),
        (405, Outcome::NotDone),
        (408, Outcome::Unknown),
        (500, Outcome::Unknown),
        (502, Outcome::Unknown),
    ] {
        for era in ["legacy", "modern"] {
            let (target, _) = lab.address(&format!(
                "http --era {era} --status {status} --status-on tools/call --status-times 1 \
                 --status-body html"
            ));
            let connection = lab.connect(&target).await;
            let error = call(&connection, "echo", json!({"message": "x"}))
                .await
                .unwrap_err();
            assert!(
                matches!(error, RequestError::Http(_)),
                "{status} {era}: {error}"
            );
            assert!(error.to_string().contains(&status.to_string()), "{error}");
            assert_eq!(error.outcome(), outcome, "{status}");
            echo(&connection, "the next one").await;
            close(connection).await;
        }
    }
    lab.finish().await;
}

#[tokio::test]
async fn redirects() {
    let mut lab = Lab::new();
    for era in ["legacy", "modern"] {
        for status in [301, 302, 307, 308] {
            let (target, _) = lab.address(&format!(
                "http --era {era} --redirect self --redirect-status {status}"
            ));
            let connection = lab.connect(&target).await;
            echo(&connection, "same server").await;
            close(connection).await;
        }
    }
    let (_, elsewhere) = lab.address("http");
    let origin = lab.server().origin().to_owned();
    let (target, _) = lab.address(&format!("http --redirect {origin}/mcp"));
    let error = lab.connector().connect(&target).await.err().unwrap();
    assert!(error.to_string().contains("redirect"), "{error}");
    assert!(elsewhere.methods().is_empty(), "nothing was sent there");
    lab.finish().await;
}

#[tokio::test]
async fn bodies_that_are_wrong() {
    let mut lab = Lab::new();
    let (mut target, _) = lab.address("http --wrong-content-type");
    target.timeouts.connection = Duration::from_secs(5);
    let error = lab.connector().connect(&target).await.err().unwrap();
    assert!(error.to_string().contains("text/plain"), "{error}");
    lab.finish().await;
}

#[tokio::test]
async fn bodies_that_are_too_large() {
    let mut lab = Lab::new();
    for flags in [
        "http --era legacy --json-only --huge-body 90000000",
        "http --era modern --json-only --huge-body 90000000",
        "http --era legacy --sse-only --huge-body 90000000",
        "http --era legacy --endless-event",
        "http --era modern --endless-event",
    ] {
        let (mut target, _) = lab.address(flags);
        target.timeouts.request = Duration::from_secs(30);
        let connection = lab.connect(&target).await;
        let error = call(&connection, "echo", json!({"message": "x"}))
            .await
            .unwrap_err();
        assert!(
            error.to_string().contains("larger than"),
            "{flags}: {error}"
        );
        assert!(
            !connection.list_tools().await.unwrap().items.is_empty(),
            "{flags}"
        );
        close(connection).await;
    }
    lab.finish().await;
}

#[tokio::test]
async fn large_results() {
    let mut lab = Lab::new();
    for flags in ["http --json-only", "http --sse-only", "sse"] {
        let (target, _) = lab.address(flags);
        let connection = lab.connect(&target).await;
        let result = call(&connection, "big", json!({"bytes": 50_000_000}))
            .await
            .expect(flags);
        assert_eq!(text(&result).len(), 50_000_000, "{flags}");
        close(connection).await;
    }
    lab.finish().await;
}

#[tokio::test]
async fn bodies_that_come_in_pieces() {
    let mut lab = Lab::new();
    for flags in [
        "http --era legacy --chunked-sse 3",
        "http --era modern --chunked-sse 3",
        "http --json-only --slow-body 1",
        "http --close-after-reply",
        "http --invalid-utf8",
        "http --era legacy --string-ids",
        "http --era legacy --null-ids",
        "http --era legacy --no-ids",
        "http --era legacy --batch",
        "http --era legacy --duplicate-replies",
        "http --era legacy --not-rpc",
        "http --era legacy --replies-to-nobody 100",
        "http --era legacy --request-storm 1000",
    ] {
        let (target, _) = lab.address(flags);
        let connection = lab.connect(&target).await;
        connection.list_tools().await.unwrap();
        for _ in 0..2 {
            let result = call(&connection, "echo", json!({"message": "hello"})).await;
            let result = result.expect(flags);
            assert!(text(&result).ends_with("hello"), "{flags}: {result:?}");
        }
        close(connection).await;
    }
    lab.finish().await;
}

#[tokio::test]
async fn one_that_never_answers() {
    let mut lab = Lab::new();
    for mode in ["http", "sse"] {
        let (mut target, _) = lab.address(&format!("{mode} --mute"));
        target.timeouts.connection = Duration::from_secs(2);
        let started = Instant::now();
        let error = lab.connector().connect(&target).await.err().unwrap();
        assert!(
            matches!(error, ConnectError::TimedOut { .. }),
            "{mode}: {error}"
        );
        assert!(started.elapsed() < Duration::from_secs(3), "{mode}");
        let (mut target, _) = lab.address(&format!("{mode} --mute-calls"));
        target.timeouts.request = Duration::from_secs(1);
        let connection = lab.connect(&target).await;
        let error = call(&connection, "echo", json!({"message": "x"}))
            .await
            .unwrap_err();
        let silent = UnknownOutcome::Silent(Duration::from_secs(1));
        assert!(
            matches!(&error, RequestError::OutcomeUnknown(it) if *it == silent),
            "{mode}"
        );
        close(connection).await;
    }
    lab.finish().await;
}

#[tokio::test]
async fn one_that_goes_away_in_the_middle_of_a_call() {
    let mut lab = Lab::new();
    for flags in [
        "http --era legacy --exit-on-call",
        "http --era modern --exit-on-call",
        "sse --exit-on-call",
    ] {
        let (target, _) = lab.address(flags);
        let connection = lab.connect(&target).await;
        let started = Instant::now();
        let error = call(&connection, "echo", json!({"message": "x"}))
            .await
            .unwrap_err();
        assert_eq!(error.outcome(), Outcome::Unknown, "{flags}: {error}");
        // A connection that was kept open may still take a request before it is known to be dead.
        let mut next = error;
        for _ in 0..4 {
            next = call(&connection, "echo", json!({"message": "x"}))
                .await
                .unwrap_err();
        }
        assert_eq!(next.outcome(), Outcome::NotDone, "{flags}: {next}");
        assert!(started.elapsed() < Duration::from_secs(5), "{flags}");
        close(connection).await;
    }
    lab.finish().await;
}

#[tokio::test]
async fn one_that_hangs_up() {
    let mut lab = Lab::new();
    let (target, _) = lab.address("http --hang-up 1");
    // The first question meets it; the second one is answered.
    let connection = lab.connect(&target).await;
    echo(&connection, "hello").await;
    close(connection).await;
    lab.finish().await;
}

#[tokio::test]
async fn one_that_nests_deeply() {
    let mut lab = Lab::new();
    let (target, _) = lab.address("http --deep-nesting 100000");
    let connection = lab.connect(&target).await;
    let result = call(&connection, "add", json!({"a": 1, "b": 2}))
        .await
        .unwrap();
    assert!(result.structured.is_none() && result.missing.len() == 1);
    close(connection).await;
    lab.finish().await;
}
