//! The reference server that has something of everything, over all transports.

mod asking;
mod calls;
mod changes;
mod connecting;
mod content;

use openclaw_mcp_client::{Connection, Target, Transport};
use serde_json::json;

use super::partners::{EVERYTHING, RealLab};
use crate::lab::{call, text};

const WAYS: [Transport; 3] = [
    Transport::Stdio,
    Transport::StreamableHttp,
    Transport::HttpEvents,
];

/// Starts the server, unless it starts with the connection.
async fn start(lab: &mut RealLab, way: Transport) -> Target {
    match way {
        Transport::Stdio => lab.script(EVERYTHING, &["stdio", lab.marker()]),
        Transport::StreamableHttp => lab.serve(EVERYTHING, &["streamableHttp"], "/mcp").await,
        Transport::HttpEvents => lab.serve(EVERYTHING, &["sse"], "/sse").await,
    }
}

/// Starts the server and connects to it.
async fn connect(lab: &mut RealLab, way: Transport) -> Connection {
    let target = start(lab, way).await;
    lab.connect(&target).await
}

/// How many messages the server has been sent over HTTP.
fn messages(lab: &RealLab, way: Transport) -> usize {
    match way {
        Transport::Stdio => 0,
        Transport::StreamableHttp => lab.server().said("Received MCP POST request"),
        Transport::HttpEvents => lab.server().said("Client Message from"),
    }
}

/// Calls `echo` and makes sure that it does, in its own way.
pub(super) async fn echo(connection: &Connection, message: &str) {
    let result = call(connection, "echo", json!({ "message": message })).await;
    assert_eq!(text(&result.unwrap()), format!("Echo: {message}"));
}
