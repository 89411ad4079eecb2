//! Calls that take their time, or are many.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use openclaw_mcp_client::{
    CallOptions, Connection, Progress, ProgressListener, RequestError, ToolResult, Transport,
    UnknownOutcome,
};
use serde_json::json;
use tokio::sync::Notify;
use tokio::task::JoinSet;
use tokio::time::Instant;

use super::{WAYS, connect, echo, messages};
use crate::lab::{SOON, close, eventually, object, text};
use crate::real::partners::RealLab;

/// Calls the tool that takes so many seconds in so many steps.
async fn take_long(
    connection: &Connection,
    seconds: u32,
    steps: u32,
    options: CallOptions,
) -> Result<ToolResult, RequestError> {
    let arguments = object(json!({"duration": seconds, "steps": steps}));
    let tool = "trigger-long-running-operation";
    connection.call_tool(tool, arguments, options).await
}

#[tokio::test]
async fn progress_keeps_a_call_alive() {
    let mut lab = RealLab::new();
    let idle = Duration::from_millis(1500);
    for way in WAYS {
        let connection = connect(&mut lab, way).await;
        let heard: Arc<Mutex<Vec<Progress>>> = Arc::default();
        let listener = heard.clone();
        let options = CallOptions {
            idle: Some(idle),
            progress: Some(Arc::new(move |progress| {
                listener.lock().unwrap().push(progress);
            })),
            ..CallOptions::default()
        };
        let started = Instant::now();
        let result = take_long(&connection, 2, 8, options.clone()).await.unwrap();
        assert!(started.elapsed() > idle, "{way:?}");
        assert!(text(&result).contains("completed"), "{way:?}");
        let heard = std::mem::take(&mut *heard.lock().unwrap());
        let steps: Vec<_> = heard.iter().map(|it| (it.progress, it.total)).collect();
        let expected: Vec<_> = (1..=8).map(|step| (f64::from(step), Some(8.0))).collect();
        assert_eq!(steps, expected, "{way:?}");
        // The same without a sign of life does not last.
        let error = take_long(&connection, 5, 1, options).await.unwrap_err();
        let is_silent = |it: &UnknownOutcome| *it == UnknownOutcome::Silent(idle);
        assert!(
            matches!(&error, RequestError::OutcomeUnknown(it) if is_silent(it)),
            "{way:?}: {error}"
        );
        echo(&connection, "hello").await;
        close(connection).await;
    }
    lab.finish().await;
}

#[tokio::test]
async fn a_call_that_nobody_waits_for_is_cancelled() {
    let mut lab = RealLab::new();
    for way in WAYS {
        let connection = connect(&mut lab, way).await;
        let begun = Arc::new(Notify::new());
        let listener = begun.clone();
        let progress: ProgressListener = Arc::new(move |_| listener.notify_one());
        let options = CallOptions {
            progress: Some(progress),
            ..CallOptions::default()
        };
        tokio::select! {
            result = take_long(&connection, 2, 4, options) => panic!("{way:?}: {result:?}"),
            () = begun.notified() => {}
        }
        let sent = messages(&lab, way);
        assert_eq!(connection.diagnostics().in_flight, 0, "{way:?}");
        if way != Transport::Stdio {
            let is_told = || messages(&lab, way) == sent + 1;
            assert!(eventually(SOON, is_told).await, "{way:?}");
        }
        // The server goes on with the first, but does not answer it: that would be an answer which
        // nobody waits for. It would be there before that of the second.
        let second = take_long(&connection, 2, 4, CallOptions::default()).await;
        assert!(!second.unwrap().is_error);
        assert_eq!(connection.diagnostics().passed_over, 0, "{way:?}");
        close(connection).await;
    }
    lab.finish().await;
}

#[tokio::test]
async fn fifty_calls_at_once_get_their_own_answers() {
    let mut lab = RealLab::new();
    for way in WAYS {
        let connection = Arc::new(connect(&mut lab, way).await);
        let mut calls = JoinSet::new();
        for number in 0..50 {
            let connection = connection.clone();
            calls.spawn(async move { echo(&connection, &format!("number {number}")).await });
        }
        calls.join_all().await;
        let found = connection.diagnostics();
        assert_eq!((found.in_flight, found.passed_over), (0, 0), "{way:?}");
        Arc::into_inner(connection).unwrap().close().await;
    }
    lab.finish().await;
}

#[tokio::test]
async fn large_arguments_and_results_pass() {
    let mut lab = RealLab::new();
    for way in WAYS {
        let connection = connect(&mut lab, way).await;
        // More than a pipe or a window holds, and less than what Express reads.
        echo(&connection, &"ü".repeat(40_000)).await;
        close(connection).await;
    }
    lab.finish().await;
}
