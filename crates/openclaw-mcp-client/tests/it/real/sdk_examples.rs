//! The example servers of the TypeScript SDK, from which many others are made.

use std::time::Duration;

use openclaw_mcp_client::{
    CallOptions, Connection, Content, Elicitation, ElicitationAnswer, Era, FirstTransport, Target,
    Transport,
};
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::{Instant, timeout};
use url::Url;

use super::cutter::Cutter;
use super::partners::{RealLab, address_of, example};
use super::server_log::ServerLog;
use crate::lab::{SOON, Somebody, call, close, eventually, object, text};

async fn serve(lab: &mut RealLab, name: &str, path: &str) -> Target {
    lab.serve(&example(name), &[], path).await
}

async fn greet(connection: &Connection) {
    let greeting = call(connection, "greet", json!({"name": "Ada"})).await;
    assert_eq!(text(&greeting.unwrap()), "Hello, Ada!");
}

/// Has the server send so many notifications, one after the other.
async fn notifications(connection: &Connection, interval: u32, count: u32) {
    let arguments = json!({"interval": interval, "count": count});
    let sent = call(connection, "start-notification-stream", arguments).await;
    assert!(text(&sent.unwrap()).starts_with("Started sending"));
}

/// Ends a session, as somebody else.
async fn end_session(url: &Url, id: &str) {
    let (host, port) = (url.host_str().unwrap(), url.port().unwrap());
    let mut stream = TcpStream::connect((host, port)).await.unwrap();
    let request = format!(
        "DELETE {} HTTP/1.1\r\nhost: {host}:{port}\r\nmcp-session-id: {id}\r\n\
         mcp-protocol-version: 2025-11-25\r\nconnection: close\r\n\r\n",
        url.path()
    );
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
}

#[tokio::test]
async fn all_that_the_simple_server_offers_is_read() {
    let mut lab = RealLab::new();
    let target = serve(&mut lab, "simpleStreamableHttp", "/mcp").await;
    let connection = lab.connect(&target).await;
    let found = connection.diagnostics();
    assert_eq!(found.transport, Transport::StreamableHttp);
    assert_eq!((found.era, found.version), (Era::Legacy, "2025-11-25"));
    greet(&connection).await;
    let tools = connection.list_tools().await.unwrap();
    assert_eq!((tools.items.len(), tools.dropped.len()), (5, 2));
    let annotated = tools.items.iter().find(|tool| tool.name == "multi-greet");
    let annotations = &annotated.unwrap().annotations;
    assert_eq!(annotations.title.as_deref(), Some("Multiple Greeting Tool"));
    assert_eq!(
        (annotations.read_only, annotations.open_world),
        (Some(true), Some(false))
    );
    let prompts = connection.list_prompts().await.unwrap().items;
    let arguments = object(json!({"name": "Ada"}));
    let filled = connection
        .get_prompt(&prompts[0].name, arguments, None)
        .await;
    assert!(
        matches!(&filled.unwrap().messages[0].content, Content::Text { text, .. } if text.contains("Ada"))
    );
    // Links lead to what is listed, and all of it can be read.
    let files = call(&connection, "list-files", json!({})).await.unwrap();
    let links = files.content.iter().filter_map(|part| match part {
        Content::Link { uri, .. } => Some(uri.clone()),
        _ => None,
    });
    let listed = connection.list_resources().await.unwrap().items;
    let listed: Vec<_> = listed.into_iter().map(|resource| resource.uri).collect();
    assert_eq!(links.collect::<Vec<_>>(), listed);
    for uri in &listed {
        let read = connection.read_resource(uri, None).await.unwrap();
        assert!(read.contents[0].text.is_some(), "{uri}");
    }
    close(connection).await;
    let goodbye = || lab.server().said("Received session termination request") == 1;
    assert!(eventually(SOON, goodbye).await);
    lab.finish().await;
}

#[tokio::test]
async fn a_person_is_asked_over_the_stream_of_the_call_and_over_that_of_the_server() {
    let mut lab = RealLab::new();
    for (name, tool, arguments, declined) in [
        (
            "simpleStreamableHttp",
            "collect-user-info",
            json!({"infoType": "contact"}),
            "User declined contact information request",
        ),
        (
            "elicitationFormExample",
            "register_user",
            json!({}),
            "Registration cancelled by user",
        ),
    ] {
        let target = serve(&mut lab, name, "/mcp").await;
        let connection = lab.connect(&target).await;
        let nobody = call(&connection, tool, arguments.clone()).await.unwrap();
        assert!(text(&nobody).contains(declined), "{name}: {nobody:?}");
        let filled = json!({
            "name": "Ada Lovelace",
            "username": "Ada Lovelace",
            "email": "ada@example.com",
            "password": "not a secret",
        });
        let somebody = Somebody::who(ElicitationAnswer::Accept(Some(object(filled))));
        let options = CallOptions {
            person: Some(somebody.clone()),
            ..CallOptions::default()
        };
        let result = connection.call_tool(tool, object(arguments), options).await;
        let result = result.unwrap();
        assert!(text(&result).contains("Ada Lovelace"), "{name}: {result:?}");
        let asked = somebody.asked.lock().unwrap().clone();
        let [Elicitation::Form { schema, .. }] = &asked[..] else {
            panic!("{name}: {asked:?}")
        };
        assert_eq!(schema["properties"]["email"]["format"], json!("email"));
        close(connection).await;
    }
    lab.finish().await;
}

#[tokio::test]
async fn a_forgotten_session_is_made_anew() {
    let mut lab = RealLab::new();
    let mut target = serve(&mut lab, "simpleStreamableHttp", "/mcp").await;
    let connection = lab.connect(&target).await;
    greet(&connection).await;
    let id = lab.server().after("Session initialized with ID: ").unwrap();
    end_session(&address_of(&mut target).url, &id).await;
    greet(&connection).await;
    assert_eq!(lab.server().said("Session initialized with ID: "), 2);
    // What the new session offers may be different.
    assert!(timeout(SOON, connection.changes()).await.unwrap().tools);
    close(connection).await;
    lab.finish().await;
}

#[tokio::test]
async fn an_answer_is_fetched_after_the_connection_was_cut() {
    let mut lab = RealLab::new();
    let log = ServerLog::read();
    let mut target = serve(&mut lab, "simpleStreamableHttp", "/mcp").await;
    let cutter = Cutter::before(&mut target).await;
    let connection = lab.connect(&target).await;
    let cutting = async {
        assert!(eventually(SOON, || log.count("Periodic notification #3 ") == 1).await);
        cutter.cut();
    };
    tokio::join!(notifications(&connection, 100, 20), cutting);
    assert!(lab.server().said("Client reconnecting with Last-Event-ID") >= 1);
    greet(&connection).await;
    let found = connection.diagnostics();
    assert_eq!((found.in_flight, found.passed_over), (0, 0));
    close(connection).await;
    drop(cutter);
    lab.finish().await;
}

#[tokio::test]
async fn an_answer_is_fetched_where_the_server_hangs_up() {
    let mut lab = RealLab::new();
    let log = ServerLog::read();
    let target = serve(&mut lab, "ssePollingExample", "/mcp").await;
    let connection = lab.connect(&target).await;
    let started = Instant::now();
    let result = call(&connection, "long-task", json!({})).await.unwrap();
    assert_eq!(text(&result), "Long task completed successfully!");
    assert_eq!(lab.server().said("Closing SSE stream"), 1);
    // It hangs up after two seconds, and does not want to be asked for two more.
    assert!(started.elapsed() >= Duration::from_secs(4));
    assert!(started.elapsed() < Duration::from_secs(15));
    for progress in ["25%", "50%", "75%", "100%"] {
        let heard = || log.count(&format!("Progress: {progress}")) == 1;
        assert!(eventually(SOON, heard).await, "{progress}");
    }
    assert_eq!(connection.diagnostics().passed_over, 0);
    close(connection).await;
    lab.finish().await;
}

#[tokio::test]
async fn answers_need_no_streams() {
    let mut lab = RealLab::new();
    let target = serve(&mut lab, "jsonResponseStreamableHttp", "/mcp").await;
    let connection = lab.connect(&target).await;
    assert_eq!(
        connection.diagnostics().transport,
        Transport::StreamableHttp
    );
    let tools = connection.list_tools().await.unwrap();
    assert_eq!((tools.items.len(), tools.dropped.len()), (2, 0));
    // It wants to send notifications meanwhile, but has no stream for them.
    let slow = async {
        let slow = call(&connection, "multi-greet", json!({"name": "Ada"})).await;
        assert_eq!(text(&slow.unwrap()), "Good morning, Ada!");
    };
    tokio::join!(slow, greet(&connection), greet(&connection));
    assert_eq!(connection.diagnostics().passed_over, 0);
    close(connection).await;
    lab.finish().await;
}

#[tokio::test]
async fn a_server_with_both_transports_is_spoken_to_over_the_one_at_the_address() {
    let mut lab = RealLab::new();
    for (path, transport) in [
        ("/mcp", Transport::StreamableHttp),
        ("/sse", Transport::HttpEvents),
    ] {
        let name = "sseAndStreamableHttpCompatibleServer";
        let mut target = serve(&mut lab, name, path).await;
        for first in [FirstTransport::Streamable, FirstTransport::Events] {
            let log = ServerLog::read();
            address_of(&mut target).first = first;
            let connection = lab.connect(&target).await;
            let found = connection.diagnostics();
            assert_eq!(found.transport, transport, "{first:?}");
            assert_eq!(found.version, "2025-11-25");
            notifications(&connection, 20, 10).await;
            let heard = || log.count("Periodic notification #") == 10;
            assert!(eventually(SOON, heard).await, "{path} {first:?}");
            close(connection).await;
        }
    }
    lab.finish().await;
}

#[tokio::test]
async fn sampling_is_refused_and_noise_passed_over() {
    let lab = RealLab::new();
    let target = lab.script(&example("toolWithSampleServer"), &[lab.marker()]);
    let connection = lab.connect(&target).await;
    let result = call(&connection, "summarize", json!({"text": "long"})).await;
    let result = result.unwrap();
    assert!(
        result.is_error && text(&result).contains("-32601"),
        "{result:?}"
    );
    // It writes to its standard output that it is running.
    assert_eq!(connection.diagnostics().passed_over, 1);
    connection.ping(SOON).await.unwrap();
    close(connection).await;
    lab.finish().await;
}
