//! The end, with clients that are still there.

use std::sync::atomic::Ordering;

use openclaw_engine::Engine as _;
use openclaw_link::{NoGateway, Remote};

use crate::harness::{BEARER, Running, call, until};
use crate::websocket::Socket;

#[tokio::test]
async fn idle_connections_are_closed_at_once() {
    let gateway = Running::start().await;
    let mut used = gateway.client().await;
    let answer = used.ask("GET", "/health", &["Host: localhost"], "").await;
    assert_eq!(answer.status, 200);
    let mut fresh = gateway.client().await;
    let took = gateway.stop().await;
    assert!(took.as_millis() < 400, "{took:?}");
    assert_eq!(used.rest().await, 0);
    fresh.rest().await;
}

#[tokio::test]
async fn half_requests_and_those_who_never_say_goodbye_have_half_a_second() {
    let gateway = Running::start().await;
    let mut half = gateway.client().await;
    half.send("GET /health HT").await;
    let mut socket = Socket::open(gateway.address, &[BEARER]).await;
    assert_eq!(socket.json().await["type"], "welcome");
    let took = gateway.stop().await;
    assert!(took.as_millis() < 1_500, "{took:?}");
    half.rest().await;
    assert_eq!(socket.closed().await, Some(1001));
}

#[tokio::test]
async fn one_that_is_being_answered_gets_its_answer() {
    let gateway = Running::start().await;
    let mut client = gateway.client().await;
    client.send(call("slow")).await;
    let engine = std::sync::Arc::clone(&gateway.engine);
    until("the call", || !engine.calls.lock().unwrap().is_empty()).await;
    gateway.stop().await;
    let answer = client.answer().await.unwrap();
    assert_eq!(answer.json()["content"][0]["text"], "at last");
    assert_eq!(client.rest().await, 0);
}

#[tokio::test]
async fn one_that_would_take_for_ever_is_dropped_after_half_a_second() {
    let gateway = Running::start().await;
    let mut client = gateway.client().await;
    client.send(call("hang")).await;
    let engine = std::sync::Arc::clone(&gateway.engine);
    until("the call", || engine.hanging.load(Ordering::SeqCst) == 1).await;
    let took = gateway.stop().await;
    assert!((400..1_500).contains(&took.as_millis()), "{took:?}");
    assert_eq!(engine.withdrawn.load(Ordering::SeqCst), 1);
    client.rest().await;
}

#[tokio::test]
async fn nobody_is_taken_up_any_longer() {
    let gateway = Running::start().await;
    let address = gateway.address;
    gateway.stop().await;
    assert!(tokio::net::TcpStream::connect(address).await.is_err());
}

#[cfg(unix)]
#[tokio::test]
async fn commands_reach_it_over_the_socket_and_can_have_it_stop() {
    let gateway = Running::start().await;
    let state = gateway.state.path().to_owned();
    let remote = Remote::connect(&state, "1.2.3").await.unwrap();
    let greeting = remote.greeting();
    assert_eq!(greeting.address, format!("http://{}", gateway.address));
    assert_eq!(greeting.version, "1.2.3");
    assert_eq!(greeting.pid, std::process::id());
    assert_eq!(greeting.config, "openclaw.json");
    assert_eq!(remote.overview().await.unwrap().servers[0].name, "fake");
    remote.stop().await.unwrap();
    gateway.ended().await;
    let after = Remote::connect(&state, "1.2.3").await;
    assert!(matches!(after, Err(NoGateway::Absent)));
}
