//! A gateway that puts HTTP with server-sent events in front of a program.

use openclaw_mcp_client::{Era, FirstTransport, Target, Transport};
use serde_json::json;

use super::everything::echo;
use super::partners::{EVERYTHING, RealLab, SUPERGATEWAY, address_of, modules, node};
use crate::lab::{call, close, text};

async fn gateway(lab: &mut RealLab) -> Target {
    let command = [
        node().to_str().unwrap(),
        modules().join(EVERYTHING).to_str().unwrap(),
        "stdio",
        lab.marker(),
    ]
    .join(" ");
    let arguments = [
        "--stdio",
        &command,
        "--outputTransport",
        "sse",
        "--port",
        "0",
    ];
    lab.serve(SUPERGATEWAY, &arguments, "/sse").await
}

#[tokio::test]
async fn the_program_behind_it_is_found_whichever_transport_is_tried_first() {
    let mut lab = RealLab::new();
    for first in [FirstTransport::Streamable, FirstTransport::Events] {
        // It has one program for all connections, so each gets a gateway of its own.
        let mut target = gateway(&mut lab).await;
        address_of(&mut target).first = first;
        let connection = lab.connect(&target).await;
        let found = connection.diagnostics();
        assert_eq!(found.transport, Transport::HttpEvents, "{first:?}");
        assert_eq!((found.era, found.version), (Era::Legacy, "2025-11-25"));
        assert_eq!(connection.server().name, "mcp-servers/everything");
        let tools = connection.list_tools().await.unwrap();
        assert!(tools.items.len() == 14 && tools.dropped.len() == 1);
        echo(&connection, "hello").await;
        let sum = call(&connection, "get-sum", json!({"a": 2, "b": 3})).await;
        assert!(text(&sum.unwrap()).contains('5'), "{first:?}");
        close(connection).await;
    }
    lab.finish().await;
}

#[tokio::test]
async fn a_second_connection_comes_after_the_first() {
    let mut lab = RealLab::new();
    let target = gateway(&mut lab).await;
    for message in ["first", "second"] {
        let connection = lab.connect(&target).await;
        echo(&connection, message).await;
        close(connection).await;
    }
    lab.finish().await;
}
