//! Many at once.

use std::time::Instant;

use crate::client::Client;
use crate::harness::{BEARER, JSON, Running};
use crate::websocket::Socket;

/// 16 connections that ask again and again; all requests together.
async fn storm(gateway: &Running, count: usize, request: String) -> f64 {
    const CONNECTIONS: usize = 16;
    let began = Instant::now();
    let mut tasks = tokio::task::JoinSet::new();
    for _ in 0..CONNECTIONS {
        let (address, request) = (gateway.address, request.clone());
        tasks.spawn(async move {
            let mut client = Client::connect(address).await;
            for _ in 0..count / CONNECTIONS {
                client.send(&request).await;
                let answer = client.answer().await.expect("no answer");
                assert_eq!(answer.status, 200, "{answer:?}");
            }
            count / CONNECTIONS
        });
    }
    let answered: usize = tasks.join_all().await.into_iter().sum();
    assert_eq!(answered, count);
    let seconds = began.elapsed().as_secs_f64();
    f64::from(u32::try_from(count).unwrap()) / seconds
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ten_thousand_requests_are_all_answered() {
    let gateway = Running::start().await;
    let body = r#"{"tool":"echo","arguments":{"text":"hello"}}"#;
    let call = format!(
        "POST /api/mcp/call HTTP/1.1\r\nHost: localhost\r\n{BEARER}\r\n{JSON}\r\n\
         Content-Length: {}\r\n\r\n{body}",
        body.len()
    );
    let rate = storm(&gateway, 10_000, call).await;
    println!("calls: {rate:.0} a second");
    assert_eq!(gateway.engine.calls.lock().unwrap().len(), 10_000);
    let status = format!("GET /api/mcp/servers HTTP/1.1\r\nHost: localhost\r\n{BEARER}\r\n\r\n");
    let rate = storm(&gateway, 10_000, status).await;
    println!("questions: {rate:.0} a second");
    gateway.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn five_hundred_websockets_are_let_in_and_all_told_when_it_stops() {
    let gateway = Running::start().await;
    let mut sockets = Vec::new();
    for _ in 0..500 {
        let mut socket = Socket::open(gateway.address, &[BEARER]).await;
        assert_eq!(socket.json().await["type"], "welcome");
        sockets.push(socket);
    }
    assert_eq!(gateway.ask("GET", "/health", &[], "").await.status, 200);
    let metrics = gateway.get("/metrics").await.body;
    assert!(
        metrics.contains("openclaw_websocket_clients 500\n"),
        "{metrics}"
    );
    let memory = metrics
        .lines()
        .find(|line| line.starts_with("process_resident"));
    println!("with 500 of them: {}", memory.unwrap_or_default());
    let took = gateway.stop().await;
    assert!(took.as_secs_f64() < 2.0, "{took:?}");
    for mut socket in sockets {
        socket.closed().await;
    }
}
