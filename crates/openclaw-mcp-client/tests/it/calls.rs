//! Calling tools.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use openclaw_mcp_client::{
    CallOptions, Elicitation, ElicitationAnswer, Endpoint, Outcome, Progress, RequestError,
    UnknownOutcome,
};
use openclaw_secrets::Secret;
use serde_json::{Value, json};
use tokio::time::{Instant, timeout};

use crate::lab::{Lab, SOON, Somebody, call, echo, eventually, object, text};

const WAYS: [&str; 5] = [
    "stdio --era legacy",
    "stdio --era modern",
    "http --era legacy",
    "http --era modern",
    "sse",
];

#[tokio::test]
async fn calls_run_side_by_side() {
    let mut lab = Lab::new();
    for way in WAYS {
        let (target, _) = lab.server_of(way);
        let connection = lab.connect(&target).await;
        let started = Instant::now();
        let slow = call(&connection, "sleep", json!({"ms": 300}));
        let other = call(&connection, "sleep", json!({"ms": 300}));
        let quick = async {
            echo(&connection, "quick").await;
            started.elapsed()
        };
        let (slow, other, quick) = tokio::join!(slow, other, quick);
        slow.unwrap();
        other.unwrap();
        assert!(quick < Duration::from_millis(290), "{way}: {quick:?}");
        assert!(started.elapsed() < Duration::from_millis(590), "{way}");
        connection.close().await;
    }
    lab.finish().await;
}

#[tokio::test]
async fn calls_wait_for_each_other_where_the_server_wants_it() {
    let mut lab = Lab::new();
    let (mut target, _) = lab.program("stdio");
    target.parallel_calls = false;
    let connection = lab.connect(&target).await;
    let started = Instant::now();
    let sleep = || call(&connection, "sleep", json!({"ms": 100}));
    let (first, second, third) = tokio::join!(sleep(), sleep(), sleep());
    for result in [first, second, third] {
        result.unwrap();
    }
    assert!(started.elapsed() >= Duration::from_millis(300));
    connection.close().await;
    lab.finish().await;
}

#[tokio::test]
async fn progress_keeps_a_call_alive() {
    let mut lab = Lab::new();
    for way in WAYS {
        let (mut target, _) = lab.server_of(way);
        target.timeouts.request = Duration::from_millis(400);
        let connection = lab.connect(&target).await;
        let heard: Arc<Mutex<Vec<Progress>>> = Arc::default();
        let listener = heard.clone();
        let options = CallOptions {
            progress: Some(Arc::new(move |progress| {
                listener.lock().unwrap().push(progress);
            })),
            ..CallOptions::default()
        };
        let arguments = object(json!({"ms": 1200, "steps": 8}));
        connection
            .call_tool("slow", arguments, options)
            .await
            .expect(way);
        assert!(heard.lock().unwrap().len() >= 7, "{way}");
        // The same without a sign of life does not last.
        let error = call(&connection, "sleep", json!({"ms": 1200}))
            .await
            .unwrap_err();
        let silent = UnknownOutcome::Silent(Duration::from_millis(400));
        assert!(
            matches!(&error, RequestError::OutcomeUnknown(it) if *it == silent),
            "{way}"
        );
        connection.close().await;
    }
    lab.finish().await;
}

#[tokio::test]
async fn progress_does_not_keep_a_call_alive_for_ever() {
    let mut lab = Lab::new();
    let (target, _) = lab.program("stdio");
    let connection = lab.connect(&target).await;
    let options = CallOptions {
        total: Some(Duration::from_millis(500)),
        ..CallOptions::default()
    };
    let arguments = object(json!({"ms": 10_000, "steps": 200}));
    let error = connection
        .call_tool("slow", arguments, options)
        .await
        .unwrap_err();
    assert!(
        matches!(
            error,
            RequestError::OutcomeUnknown(UnknownOutcome::Overdue(_))
        ),
        "{error}"
    );
    connection.close().await;
    lab.finish().await;
}

#[tokio::test]
async fn a_call_that_nobody_waits_for_is_cancelled() {
    let mut lab = Lab::new();
    for way in WAYS {
        let (target, journal) = lab.server_of(way);
        let connection = lab.connect(&target).await;
        let waiting = call(&connection, "sleep", json!({"ms": 60_000}));
        assert!(timeout(Duration::from_millis(300), waiting).await.is_err());
        let cancelled = || !journal.events("cancelled").is_empty();
        assert!(eventually(SOON, cancelled).await, "{way}");
        assert_eq!(
            connection.diagnostics().in_flight,
            usize::from(way.contains("modern"))
        );
        echo(&connection, "hello").await;
        connection.close().await;
    }
    lab.finish().await;
}

#[tokio::test]
async fn errors_of_the_protocol_are_told_apart() {
    let mut lab = Lab::new();
    for way in WAYS {
        let (target, _) = lab.server_of(way);
        let connection = lab.connect(&target).await;
        for tool in ["protocol_error", "no_such_tool"] {
            let error = call(&connection, tool, json!({})).await.unwrap_err();
            assert!(
                matches!(&error, RequestError::Refused(it) if it.code == -32602),
                "{way}"
            );
            assert_eq!(error.outcome(), Outcome::NotDone);
        }
        connection.ping(SOON).await.unwrap();
        connection.close().await;
    }
    lab.finish().await;
}

#[tokio::test]
async fn a_person_is_asked_where_there_is_one() {
    let mut lab = Lab::new();
    for way in WAYS {
        let (target, _) = lab.server_of(way);
        let connection = lab.connect(&target).await;
        // Nobody there: the answer is no.
        let result = call(&connection, "elicit", json!({})).await.unwrap();
        assert!(text(&result).contains("decline"), "{way}: {result:?}");
        let somebody = Somebody::who(ElicitationAnswer::Accept(Some(object(json!({
            "name": "Ada"
        })))));
        let options = CallOptions {
            person: Some(somebody.clone()),
            ..CallOptions::default()
        };
        let result = connection
            .call_tool("elicit", object(json!({})), options)
            .await;
        assert!(text(&result.unwrap()).contains("Ada"), "{way}");
        let asked = somebody.asked.lock().unwrap().clone();
        assert!(matches!(&asked[..], [Elicitation::Form { .. }]), "{way}");
        connection.close().await;
    }
    lab.finish().await;
}

#[tokio::test]
async fn on_a_shared_connection_nobody_is_asked_for_somebody_else() {
    let mut lab = Lab::new();
    let (target, _) = lab.program("stdio --era legacy");
    let connection = lab.connect(&target).await;
    let somebody = Somebody::who(ElicitationAnswer::Accept(None));
    let options = CallOptions {
        person: Some(somebody.clone()),
        ..CallOptions::default()
    };
    let other = call(&connection, "sleep", json!({"ms": 500}));
    let asking = connection.call_tool("elicit", object(json!({})), options);
    let (other, asking) = tokio::join!(other, asking);
    other.unwrap();
    assert!(text(&asking.unwrap()).contains("decline"));
    assert!(somebody.asked.lock().unwrap().is_empty());
    connection.close().await;
    lab.finish().await;
}

#[tokio::test]
async fn roots_are_told_only_where_there_are_some() {
    let mut lab = Lab::new();
    for way in WAYS {
        let (mut target, _) = lab.server_of(way);
        let connection = lab.connect(&target).await;
        let told = call(&connection, "roots", json!({})).await;
        let nothing = told.is_err() || !format!("{told:?}").contains("file:///data");
        assert!(nothing, "{way}");
        connection.close().await;
        target.roots = Some(vec!["file:///data".parse().unwrap()]);
        let connection = lab.connect(&target).await;
        let told = call(&connection, "roots", json!({})).await.unwrap();
        assert!(text(&told).contains("file:///data"), "{way}: {told:?}");
        connection.close().await;
    }
    lab.finish().await;
}

#[tokio::test]
async fn sampling_is_refused_and_pings_are_answered() {
    let mut lab = Lab::new();
    for way in ["stdio --era legacy", "http --era legacy", "sse"] {
        let (target, _) = lab.server_of(way);
        let connection = lab.connect(&target).await;
        let refused = call(&connection, "sample", json!({})).await.unwrap();
        assert!(text(&refused).contains("-32601"), "{way}: {refused:?}");
        call(&connection, "ping_client", json!({}))
            .await
            .expect(way);
        connection.close().await;
    }
    lab.finish().await;
}

#[tokio::test]
async fn what_a_server_logs_stays_in_the_log() {
    let mut lab = Lab::new();
    let (target, _) = lab.program("stdio --era legacy");
    let connection = lab.connect(&target).await;
    let result = call(&connection, "log", json!({})).await.unwrap();
    assert_eq!(result.content.len(), 1);
    connection.close().await;
    lab.finish().await;
}

#[tokio::test]
async fn a_program_sees_little_of_our_environment() {
    let mut lab = Lab::new();
    let (mut target, _) = lab.program("stdio");
    let directory = tempfile::tempdir().unwrap();
    let Endpoint::Program(program) = &mut target.endpoint else {
        panic!("it is a program")
    };
    program
        .environment
        .push(("TOKEN".to_owned(), Secret::new("hunter2")));
    program.directory = Some(directory.path().to_owned());
    let connection = lab.connect(&target).await;
    let names = call(&connection, "environment", json!({})).await.unwrap();
    let names: Vec<String> = serde_json::from_str(text(&names)).unwrap();
    assert!(names.iter().any(|name| name == "TOKEN"));
    // Cargo and nextest set plenty of these.
    assert!(
        !names
            .iter()
            .any(|name| name.starts_with("CARGO") || name.starts_with("NEXTEST"))
    );
    let place = call(&connection, "directory", json!({})).await.unwrap();
    let expected = directory.path().canonicalize().unwrap();
    assert_eq!(text(&place), expected.to_str().unwrap());
    connection.close().await;
    lab.finish().await;
}

#[tokio::test]
async fn large_arguments_and_results_pass() {
    let mut lab = Lab::new();
    for way in WAYS {
        let (target, _) = lab.server_of(way);
        let connection = lab.connect(&target).await;
        let message: Value = "x".repeat(5_000_000).into();
        let result = call(&connection, "echo", json!({"message": message}))
            .await
            .expect(way);
        assert_eq!(text(&result).len(), 5_000_000, "{way}");
        connection.close().await;
    }
    lab.finish().await;
}
