//! What the server says on its own.

use std::sync::Arc;
use std::time::Duration;

use openclaw_mcp_client::{Changes, Connection, Content};
use serde_json::json;
use tokio::task::JoinSet;
use tokio::time::timeout;

use super::{WAYS, connect, echo};
use crate::lab::{SOON, call, close, eventually, text};
use crate::real::partners::RealLab;
use crate::real::server_log::ServerLog;

/// All changes until there have been none for a while.
async fn changes(connection: &Connection) -> Vec<Changes> {
    let mut all = Vec::new();
    while let Ok(changes) = timeout(Duration::from_secs(1), connection.changes()).await {
        all.push(changes);
    }
    all
}

#[tokio::test]
async fn resources_can_be_watched() {
    let mut lab = RealLab::new();
    let uri = "demo://resource/dynamic/text/1";
    for way in WAYS {
        let connection = connect(&mut lab, way).await;
        connection.subscribe(uri).await.unwrap();
        let toggled = call(&connection, "toggle-subscriber-updates", json!({})).await;
        assert!(text(&toggled.unwrap()).starts_with("Started"), "{way:?}");
        let heard = async { while !connection.changes().await.updated.contains(uri) {} };
        timeout(SOON, heard).await.expect("an update");
        connection.unsubscribe(uri).await.unwrap();
        let toggled = call(&connection, "toggle-subscriber-updates", json!({})).await;
        assert!(text(&toggled.unwrap()).starts_with("Stopped"), "{way:?}");
        // Once more it would be heard of at once.
        changes(&connection).await;
        call(&connection, "toggle-subscriber-updates", json!({}))
            .await
            .unwrap();
        assert_eq!(changes(&connection).await, [], "{way:?}");
        close(connection).await;
    }
    lab.finish().await;
}

#[tokio::test]
async fn announcements_that_come_together_are_one_change() {
    let mut lab = RealLab::new();
    for way in WAYS {
        let connection = Arc::new(connect(&mut lab, way).await);
        let before = connection.list_resources().await.unwrap().items.len();
        // The server announced its tools when it learned what we can do.
        let first = changes(&connection).await;
        assert!(first.len() <= 1, "{way:?}: {first:?}");
        let mut calls = JoinSet::new();
        for number in 0..5 {
            let connection = connection.clone();
            calls.spawn(async move {
                let name = format!("number-{number}.gz");
                let arguments = json!({"name": name, "data": "data:text/plain,hello"});
                let result = call(&connection, "gzip-file-as-resource", arguments).await;
                let result = result.unwrap();
                assert!(
                    matches!(&result.content[..], [Content::Link { uri, .. }] if uri.ends_with(&name)),
                    "{result:?}"
                );
            });
        }
        let listening = async {
            let mut heard = vec![timeout(SOON, connection.changes()).await.unwrap()];
            heard.extend(changes(&connection).await);
            heard
        };
        let (_, heard) = tokio::join!(calls.join_all(), listening);
        assert!((1..=3).contains(&heard.len()), "{way:?}: {heard:?}");
        assert!(
            heard
                .iter()
                .all(|it| it.resources && !it.tools && !it.prompts)
        );
        let now = connection.list_resources().await.unwrap();
        assert_eq!((now.items.len(), now.dropped.len()), (before + 5, 0));
        Arc::into_inner(connection).unwrap().close().await;
    }
    lab.finish().await;
}

#[tokio::test]
async fn what_the_server_logs_reaches_the_log_and_nothing_else() {
    let mut lab = RealLab::new();
    for way in WAYS {
        let log = ServerLog::read();
        let connection = connect(&mut lab, way).await;
        let toggled = call(&connection, "toggle-simulated-logging", json!({})).await;
        // One part: what is logged during the call is no part of its result.
        assert!(text(&toggled.unwrap()).starts_with("Started"), "{way:?}");
        // The level is a random one.
        let heard = || log.count("message") > 0;
        assert!(eventually(SOON, heard).await, "{way:?}");
        let toggled = call(&connection, "toggle-simulated-logging", json!({})).await;
        assert!(text(&toggled.unwrap()).starts_with("Stopped"), "{way:?}");
        echo(&connection, "hello").await;
        assert_eq!(connection.diagnostics().passed_over, 0);
        close(connection).await;
    }
    lab.finish().await;
}
