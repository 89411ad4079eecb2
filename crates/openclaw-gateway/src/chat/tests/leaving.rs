//! Clients that go away, over real connections.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Extension;
use openclaw_engine::Engine;
use openclaw_testkit::leaks::eventually;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio_util::task::AbortOnDropHandle;

use super::engine::Scripted;
use super::house::saying;
use crate::chat::routes;
use crate::peer::Peer;

pub(super) const SOON: Duration = Duration::from_secs(10);

/// Serves the routes on a port of its own until it is dropped.
pub(super) async fn serve(engine: &Scripted) -> (SocketAddr, AbortOnDropHandle<()>) {
    let engine: Arc<dyn Engine> = Arc::new(engine.clone());
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let address = listener.local_addr().unwrap();
    let routes = routes().layer(Extension(Arc::new(Peer::alone())));
    let routes = routes.with_state(engine);
    let serving = tokio::spawn(async move { axum::serve(listener, routes).await.unwrap() });
    (address, AbortOnDropHandle::new(serving))
}

/// Sends a request over a connection of its own.
async fn connected(address: SocketAddr, message: &str, stream: bool) -> TcpStream {
    let body = saying(message, stream).to_string();
    let mut connection = TcpStream::connect(address).await.unwrap();
    let head = format!(
        "POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    connection.write_all(head.as_bytes()).await.unwrap();
    connection.write_all(body.as_bytes()).await.unwrap();
    connection
}

#[tokio::test]
async fn a_client_that_goes_away_stops_the_turn_with_its_call() {
    let engine = Scripted::default();
    let (address, _serving) = serve(&engine).await;
    for (message, stream) in [
        ("hang", true),
        ("hang", false),
        ("silent", true),
        ("silent", false),
    ] {
        let mut connection = connected(address, message, stream).await;
        let runs = || engine.running() == 1;
        assert!(eventually(SOON, runs).await, "{message} {stream}");
        if message == "hang" && stream {
            let mut read = String::new();
            while !read.contains("one ") {
                let mut bytes = [0; 1024];
                let count = connection.read(&mut bytes).await.unwrap();
                assert_ne!(count, 0, "{read}");
                read.push_str(std::str::from_utf8(&bytes[..count]).unwrap());
            }
        }
        drop(connection);
        let is_gone = || engine.running() == 0;
        assert!(eventually(SOON, is_gone).await, "{message} {stream}");
    }
}

#[tokio::test]
async fn a_turn_ends_when_its_stream_is_dropped() {
    let engine = Scripted::default();
    let request = super::house::request(&[], &saying("hang", true));
    let response = engine.send(request).await;
    assert_eq!(engine.running(), 1);
    drop(response);
    let is_gone = || engine.running() == 0;
    assert!(eventually(SOON, is_gone).await);
}
