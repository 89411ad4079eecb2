//! Calling tools.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use openclaw_mcp_client::{
    CallOptions, Elicitation, ElicitationAnswer, Endpoint, Outcome, PendingAnswer, Person,
    Progress, RequestError, UnknownOutcome,
};
use openclaw_secrets::Secret;
use serde_json::{Value, json};
use tokio::time::{Instant, timeout};

use crate::lab::{Lab, SOON, Somebody, WAYS, call, close, echo, eventually, object, text};

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
        close(connection).await;
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
    close(connection).await;
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
        close(connection).await;
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
    close(connection).await;
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
        assert_eq!(connection.diagnostics().in_flight, 0, "{way}");
        echo(&connection, "hello").await;
        close(connection).await;
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
        close(connection).await;
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
        close(connection).await;
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
    close(connection).await;
    lab.finish().await;
}

#[tokio::test]
async fn roots_are_told_only_where_there_are_some() {
    let mut lab = Lab::new();
    for way in WAYS {
        let (mut target, _) = lab.server_of(way);
        let connection = lab.connect(&target).await;
        // The server says that it can't ask, or is refused when it does.
        let told = call(&connection, "roots", json!({})).await;
        match told {
            Ok(told) => assert!(!text(&told).contains("file://"), "{way}: {told:?}"),
            Err(error) => assert!(matches!(error, RequestError::Refused(_)), "{way}: {error}"),
        }
        close(connection).await;
        target.roots = Some(vec!["file:///data".parse().unwrap()]);
        let connection = lab.connect(&target).await;
        let told = call(&connection, "roots", json!({})).await.unwrap();
        assert!(text(&told).contains("file:///data"), "{way}: {told:?}");
        close(connection).await;
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
        close(connection).await;
    }
    lab.finish().await;
}

#[tokio::test]
async fn a_person_may_think_longer_than_a_server_may_be_silent_or_a_call_may_take() {
    struct Slow;
    impl Person for Slow {
        fn elicit(&self, _: Elicitation) -> PendingAnswer<'_> {
            Box::pin(async {
                tokio::time::sleep(Duration::from_millis(900)).await;
                ElicitationAnswer::Accept(Some(object(json!({"name": "Ada"}))))
            })
        }
    }
    let mut lab = Lab::new();
    for way in WAYS {
        let (mut target, _) = lab.server_of(way);
        target.timeouts.request = Duration::from_millis(400);
        let connection = lab.connect(&target).await;
        let options = CallOptions {
            person: Some(Arc::new(Slow)),
            total: Some(Duration::from_millis(800)),
            ..CallOptions::default()
        };
        let result = connection
            .call_tool("elicit", object(json!({})), options)
            .await;
        assert!(text(&result.expect(way)).contains("Ada"), "{way}");
        close(connection).await;
    }
    lab.finish().await;
}

#[tokio::test]
async fn a_call_that_is_given_up_while_it_waits_for_its_turn_leaves_no_trace() {
    let mut lab = Lab::new();
    let (mut target, journal) = lab.program("stdio");
    target.parallel_calls = false;
    let connection = lab.connect(&target).await;
    let first = call(&connection, "sleep", json!({"ms": 400}));
    let second = async {
        let waiting = call(&connection, "echo", json!({"message": "never"}));
        timeout(Duration::from_millis(100), waiting).await
    };
    let (first, second) = tokio::join!(first, second);
    first.unwrap();
    assert!(second.is_err());
    echo(&connection, "the third").await;
    let calls = journal
        .methods()
        .iter()
        .filter(|it| *it == "tools/call")
        .count();
    assert_eq!(calls, 2);
    close(connection).await;
    lab.finish().await;
}

#[tokio::test]
async fn an_answer_that_comes_slowly_is_no_silence() {
    let mut lab = Lab::new();
    for flags in [
        "http --json-only --slow-body 100",
        "http --sse-only --slow-body 100",
    ] {
        let (mut target, _) = lab.address(flags);
        target.timeouts.request = Duration::from_millis(500);
        let connection = lab.connect(&target).await;
        let started = Instant::now();
        echo(&connection, &"slowly ".repeat(40)).await;
        assert!(started.elapsed() > Duration::from_millis(600), "{flags}");
        close(connection).await;
    }
    lab.finish().await;
}

#[tokio::test]
async fn no_more_calls_run_at_once_than_a_server_can_bear() {
    let mut lab = Lab::new();
    let (target, journal) = lab.program("stdio");
    let connection = Arc::new(lab.connect(&target).await);
    let mut calls = tokio::task::JoinSet::new();
    for _ in 0..200 {
        let connection = connection.clone();
        calls.spawn(async move { call(&connection, "sleep", json!({"ms": 1_000})).await });
    }
    let sent = || {
        journal
            .methods()
            .iter()
            .filter(|it| *it == "tools/call")
            .count()
    };
    assert!(eventually(SOON, || sent() == 128).await, "{}", sent());
    assert_eq!(connection.diagnostics().in_flight, 128);
    while let Some(result) = calls.join_next().await {
        result.unwrap().unwrap();
    }
    connection.close().await;
    drop(connection);
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
    close(connection).await;
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
        close(connection).await;
    }
    lab.finish().await;
}
