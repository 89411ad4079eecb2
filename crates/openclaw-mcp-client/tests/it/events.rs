//! The transport of the first revision: HTTP with server-sent events.

use std::time::Duration;

use openclaw_mcp_client::{ConnectError, Endpoint, FirstTransport, Outcome, Target, Transport};
use serde_json::{Value, json};
use tokio::time::timeout;

use crate::lab::{Lab, SOON, address, call, close, echo};

fn events_first(mut target: Target) -> Target {
    if let Endpoint::Address(address) = &mut target.endpoint {
        address.first = FirstTransport::Events;
    }
    target
}

#[tokio::test]
async fn it_is_found_from_either_side() {
    let mut lab = Lab::new();
    for flags in ["sse", "sse --endpoint-absolute"] {
        let (target, _) = lab.address(flags);
        for target in [target.clone(), events_first(target)] {
            let connection = lab.connect(&target).await;
            assert_eq!(connection.diagnostics().transport, Transport::HttpEvents);
            echo(&connection, flags).await;
            close(connection).await;
        }
    }
    lab.finish().await;
}

#[tokio::test]
async fn an_address_that_has_moved_on_is_followed() {
    let mut lab = Lab::new();
    for era in ["legacy", "modern"] {
        let (target, _) = lab.address(&format!("http --era {era}"));
        let connection = lab.connect(&events_first(target)).await;
        assert_eq!(
            connection.diagnostics().transport,
            Transport::StreamableHttp
        );
        echo(&connection, era).await;
        close(connection).await;
    }
    lab.finish().await;
}

#[tokio::test]
async fn messages_are_never_sent_to_another_server() {
    let mut lab = Lab::new();
    let (target, _) = lab.address("sse --endpoint-foreign");
    for target in [target.clone(), events_first(target)] {
        let error = lab.connector().connect(&target).await.err().unwrap();
        assert!(matches!(error, ConnectError::Refused(_)), "{error}");
    }
    lab.finish().await;
}

#[tokio::test]
async fn a_stream_that_keeps_silent_leaves_time_for_the_other_way() {
    let mut lab = Lab::new();
    let (mut target, journal) = lab.address("sse --no-endpoint");
    target.timeouts.connection = Duration::from_secs(3);
    let error = lab
        .connector()
        .connect(&events_first(target))
        .await
        .err()
        .unwrap();
    assert!(matches!(error, ConnectError::Refused(_)), "{error}");
    let is_post = |entry: &Value| entry["method"] == json!("POST");
    assert!(journal.events("http").iter().any(is_post));
    let (mut target, _) = lab.address("http --era legacy --hold-get");
    target.timeouts.connection = Duration::from_secs(6);
    let connection = lab.connect(&events_first(target)).await;
    assert_eq!(
        connection.diagnostics().transport,
        Transport::StreamableHttp
    );
    echo(&connection, "moved on").await;
    close(connection).await;
    lab.finish().await;
}

#[tokio::test]
async fn a_stream_that_breaks_is_a_new_session() {
    let mut lab = Lab::new();
    let (target, journal) = lab.address("sse --sse-drop-after 4");
    let connection = lab.connect(&events_first(target)).await;
    let mut answered = 0;
    let mut lost = 0;
    for number in 0..12 {
        let message = format!("{number}");
        match call(&connection, "echo", json!({"message": message})).await {
            Ok(_) => answered += 1,
            Err(error) => {
                assert_eq!(error.outcome(), Outcome::Unknown, "{error}");
                lost += 1;
            }
        }
    }
    assert!(answered >= 6, "{answered} answered, {lost} lost");
    let methods = journal.methods();
    assert!(methods.iter().filter(|it| *it == "initialize").count() >= 2);
    assert!(timeout(SOON, connection.changes()).await.unwrap().tools);
    close(connection).await;
    lab.finish().await;
}

#[tokio::test]
async fn a_server_that_is_not_there_is_said_to_be_so() {
    let lab = Lab::new();
    let target = address("http://127.0.0.1:9/mcp");
    for target in [target.clone(), events_first(target)] {
        let error = lab.connector().connect(&target).await.err().unwrap();
        assert!(matches!(error, ConnectError::Unreachable(_)), "{error}");
        assert!(error.to_string().contains("refused"), "{error}");
    }
    lab.finish().await;
}
