//! Finding out how the server is spoken to, and letting go of it.

use std::time::Duration;

use openclaw_mcp_client::{ConnectError, Era, FirstTransport, Outcome, Protocol, Transport};
use serde_json::{Value, json};
use tokio::time::timeout;

use super::{WAYS, connect, echo, messages, start};
use crate::lab::{SOON, call, close, eventually, text};
use crate::real::cutter::Cutter;
use crate::real::partners::{RealLab, address_of};

#[tokio::test]
async fn the_transport_and_the_revision_are_found() {
    let mut lab = RealLab::new();
    for way in WAYS {
        let connection = connect(&mut lab, way).await;
        let found = connection.diagnostics();
        assert_eq!(found.transport, way);
        assert_eq!((found.era, found.version), (Era::Legacy, "2025-11-25"));
        assert_eq!(found.pid.is_some(), way == Transport::Stdio);
        let server = connection.server();
        assert_eq!(server.name, "mcp-servers/everything", "{way:?}");
        assert_eq!(server.title.as_deref(), Some("Everything Reference Server"));
        assert!(server.instructions.as_ref().unwrap().contains("Easter Egg"));
        let offered = server.capabilities;
        assert!(offered.tools && offered.resources && offered.prompts);
        assert!(offered.completions && offered.subscriptions && offered.list_changes);
        echo(&connection, "hello").await;
        connection.ping(SOON).await.unwrap();
        assert_eq!(connection.diagnostics().passed_over, 0, "{way:?}");
        close(connection).await;
    }
    lab.finish().await;
}

#[tokio::test]
async fn either_http_transport_is_found_whichever_is_tried_first() {
    let mut lab = RealLab::new();
    for way in [Transport::StreamableHttp, Transport::HttpEvents] {
        let mut target = start(&mut lab, way).await;
        for first in [FirstTransport::Streamable, FirstTransport::Events] {
            address_of(&mut target).first = first;
            let connection = lab.connect(&target).await;
            assert_eq!(connection.diagnostics().transport, way, "{first:?}");
            echo(&connection, "hello").await;
            close(connection).await;
        }
    }
    lab.finish().await;
}

#[tokio::test]
async fn a_server_of_the_first_era_is_not_spoken_to_in_the_second() {
    let mut lab = RealLab::new();
    for way in WAYS {
        let mut target = start(&mut lab, way).await;
        target.protocol = Protocol::Modern;
        let Err(error) = lab.try_connect(&target).await else {
            panic!("{way:?}: connected")
        };
        assert!(
            matches!(error, ConnectError::Refused(_)),
            "{way:?}: {error}"
        );
        assert!(
            error.to_string().contains("does not speak the second era"),
            "{way:?}: {error}"
        );
    }
    lab.finish().await;
}

#[tokio::test]
async fn what_the_server_speaks_is_asked_once() {
    let mut lab = RealLab::new();
    let way = Transport::StreamableHttp;
    let mut target = start(&mut lab, way).await;
    target.fingerprint = Some("everything".to_owned());
    // `server/discover`, which is refused, `initialize` and `notifications/initialized`.
    let connection = lab.connect(&target).await;
    assert!(eventually(SOON, || messages(&lab, way) == 3).await);
    close(connection).await;
    let connection = lab.connect(&target).await;
    assert!(eventually(SOON, || messages(&lab, way) == 5).await);
    echo(&connection, "hello").await;
    close(connection).await;
    lab.finish().await;
}

#[tokio::test]
async fn a_session_ends_with_the_connection() {
    let mut lab = RealLab::new();
    for (way, goodbye) in [
        (
            Transport::StreamableHttp,
            "Received session termination request",
        ),
        (Transport::HttpEvents, "Client Disconnected"),
    ] {
        let connection = connect(&mut lab, way).await;
        echo(&connection, "hello").await;
        assert_eq!(lab.server().said(goodbye), 0);
        close(connection).await;
        let heard = || lab.server().said(goodbye) == 1;
        assert!(eventually(SOON, heard).await, "{way:?}");
    }
    lab.finish().await;
}

#[tokio::test]
async fn a_stream_that_was_cut_is_opened_anew() {
    let mut lab = RealLab::new();
    let mut target = start(&mut lab, Transport::HttpEvents).await;
    let cutter = Cutter::before(&mut target).await;
    let connection = lab.connect(&target).await;
    let arguments = json!({"duration": 30, "steps": 1});
    let waiting = call(&connection, "trigger-long-running-operation", arguments);
    let cutting = async {
        let is_sent = || messages(&lab, Transport::HttpEvents) == 3;
        assert!(eventually(SOON, is_sent).await);
        cutter.cut();
    };
    // A new stream is a new session: the answer will not come.
    let both = Box::pin(async { tokio::join!(waiting, cutting) });
    let (lost, ()) = timeout(SOON, both).await.unwrap();
    assert_eq!(lost.unwrap_err().outcome(), Outcome::Unknown);
    echo(&connection, "hello").await;
    let changes = timeout(SOON, connection.changes()).await.unwrap();
    assert!(changes.tools && changes.resources && changes.prompts);
    close(connection).await;
    drop(cutter);
    lab.finish().await;
}

#[tokio::test]
async fn a_program_that_does_not_leave_by_itself_is_ended() {
    let mut lab = RealLab::new();
    let connection = connect(&mut lab, Transport::Stdio).await;
    // From now on it has something to do, and outlives its input.
    call(&connection, "toggle-simulated-logging", json!({}))
        .await
        .unwrap();
    timeout(Duration::from_secs(3), connection.close())
        .await
        .unwrap();
    lab.finish().await;
}

#[tokio::test]
async fn a_program_that_dies_is_noticed() {
    let mut lab = RealLab::new();
    let connection = connect(&mut lab, Transport::Stdio).await;
    let arguments = json!({"duration": 30, "steps": 1});
    let waiting = call(&connection, "trigger-long-running-operation", arguments);
    let dying = async {
        assert!(eventually(SOON, || connection.diagnostics().in_flight == 1).await);
        let pid = connection.diagnostics().pid.unwrap().to_string();
        let killed = std::process::Command::new("kill").arg(pid).status();
        assert!(killed.unwrap().success());
        timeout(SOON, connection.closed()).await.unwrap()
    };
    let (lost, reason) = tokio::join!(waiting, dying);
    let lost = lost.unwrap_err().to_string();
    assert!(reason.contains("its program ended"), "{reason}");
    assert!(lost.contains(&*reason), "{lost}");
    close(connection).await;
    lab.finish().await;
}

#[tokio::test]
async fn the_program_sees_little_of_our_environment() {
    let mut lab = RealLab::new();
    let connection = connect(&mut lab, Transport::Stdio).await;
    let variables = call(&connection, "get-env", json!({})).await.unwrap();
    let variables: Value = serde_json::from_str(text(&variables)).unwrap();
    let variables = variables.as_object().unwrap();
    assert!(variables.contains_key("PATH"));
    // Cargo and nextest set plenty of these.
    let strange = |name: &&String| name.starts_with("CARGO") || name.starts_with("NEXTEST");
    assert_eq!(variables.keys().find(strange), None);
    close(connection).await;
    lab.finish().await;
}
