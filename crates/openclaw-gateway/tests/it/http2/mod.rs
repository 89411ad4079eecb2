//! The same over HTTP/2, where many requests share a connection.

mod hostile;
mod peer;
mod unread;

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use futures_util::future::join_all;
use h2::Reason;
use http::Request;
use tokio::time::Instant;

use crate::harness::{BEARER, Running, TOKEN, until};
use peer::{Peer, answer, get, post};

#[tokio::test]
async fn what_is_answered_is_what_http_1_answers() {
    let gateway = Running::start().await;
    let peer = Peer::connect(gateway.address).await;
    let over_one = gateway
        .post("/api/mcp/call", r#"{"tool":"echo","arguments":{}}"#)
        .await;
    let over_two = peer.call("echo").await;
    assert_eq!(over_two.status(), 200);
    assert_eq!(over_two.json(), over_one.json());
    for name in [
        "content-type",
        "content-length",
        "content-security-policy",
        "cache-control",
        "x-content-type-options",
        "x-frame-options",
        "referrer-policy",
        "cross-origin-resource-policy",
    ] {
        assert!(over_one.header(name).is_some(), "{name}");
        assert_eq!(over_two.header(name), over_one.header(name), "{name}");
    }
    for (path, status) in [
        ("/health", 200),
        ("/api/mcp/servers", 200),
        ("/api/mcp/call", 405),
        ("/nothing", 404),
    ] {
        let over_one = gateway.get(path).await;
        let over_two = peer.ask(get(path)).await;
        assert_eq!((over_one.status, over_two.status()), (status, status));
        assert_eq!(over_two.header("allow"), over_one.header("allow"));
    }
}

#[tokio::test]
async fn the_door_is_the_same() {
    let gateway = Running::start().await;
    let peer = Peer::connect(gateway.address).await;
    let request = |uri: &str, headers: &[(&str, &str)]| {
        let mut request = Request::get(uri.to_owned());
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        request.body(()).unwrap()
    };
    let here = "http://localhost/api/mcp/servers";
    let token = ("authorization", &*format!("Bearer {TOKEN}"));
    for (request, status, code) in [
        (request(here, &[]), 401, "unauthorized"),
        (
            request(here, &[("authorization", "Bearer guess")]),
            401,
            "unauthorized",
        ),
        (
            request("http://evil.example/api/mcp/servers", &[token]),
            421,
            "wrong-host",
        ),
        (
            request(here, &[token, ("host", "127.0.0.1")]),
            421,
            "wrong-host",
        ),
        (
            request(here, &[token, ("origin", "http://evil.example")]),
            403,
            "wrong-origin",
        ),
        (
            request(here, &[token, ("sec-fetch-site", "cross-site")]),
            403,
            "wrong-origin",
        ),
    ] {
        let asked = format!("{request:?}");
        let answer = peer.ask(request).await;
        assert_eq!(
            (answer.status(), &*answer.code()),
            (status, code),
            "{asked}"
        );
    }
    let same = request(here, &[token, ("host", "localhost")]);
    assert_eq!(peer.ask(same).await.status(), 200);
}

#[tokio::test]
async fn a_head_is_answered_without_a_body() {
    let gateway = Running::start().await;
    let peer = Peer::connect(gateway.address).await;
    let whole = peer.ask(get("/openapi.json")).await;
    let mut request = get("/openapi.json");
    *request.method_mut() = http::Method::HEAD;
    let head = peer.ask(request).await;
    assert_eq!((head.status(), head.body.len()), (200, 0));
    let length = whole.body.len().to_string();
    assert_eq!(head.header("content-length"), Some(&*length));
    assert_eq!(whole.header("content-length"), Some(&*length));

    let page = peer.ask(get("/")).await;
    let mut request = get("/");
    *request.method_mut() = http::Method::HEAD;
    let tag = page.header("etag").unwrap().parse().unwrap();
    request.headers_mut().insert("if-none-match", tag);
    let unchanged = peer.ask(request).await;
    assert_eq!((unchanged.status(), unchanged.body.len()), (304, 0));
    assert_eq!(unchanged.header("content-length"), None);
}

#[tokio::test]
async fn there_is_no_websocket_over_it_and_it_says_so() {
    let gateway = Running::start().await;
    let peer = Peer::connect(gateway.address).await;
    let answer = peer.ask(get("/api/ws")).await;
    assert_eq!((answer.status(), &*answer.code()), (426, "no-websocket"));
    assert!(
        String::from_utf8_lossy(&answer.body).contains("HTTP/1.1"),
        "{answer:?}"
    );
    // What may come over the connection is bounded by none of that.
    let large = "x".repeat(1 << 20);
    let (response, mut body) = peer.begin(post("/api/mcp/call"), false).await;
    let asked = format!(r#"{{"tool":"echo","arguments":{{"data":"{large}"}}}}"#);
    body.send_data(asked.into(), true).unwrap();
    assert_eq!(self::answer(response).await.status(), 200);
}

#[tokio::test]
async fn what_anybody_may_have_is_there_when_no_more_is_answered() {
    let gateway = Running::start().await;
    let mut held = Vec::new();
    for _ in 0..64 {
        let peer = Peer::connect(gateway.address).await;
        for _ in 0..128 {
            held.push(peer.begin_call("hang").await);
        }
    }
    until("all places are taken", || {
        gateway.engine.hanging.load(Ordering::SeqCst) == 8_192
    })
    .await;
    let mut client = gateway.client().await;
    let busy = client.ask("GET", "/api/status", &["Host: localhost", BEARER], "");
    let busy = busy.await;
    assert_eq!((busy.status, &*busy.code()), (503, "busy"));
    for path in ["/health", "/", "/openapi.json"] {
        assert_eq!(gateway.get(path).await.status, 200, "{path}");
    }
    drop(held.pop());
    until("a place is free", || {
        gateway.engine.hanging.load(Ordering::SeqCst) < 8_192
    })
    .await;
    assert_eq!(gateway.get("/api/status").await.status, 200);
}

#[tokio::test]
async fn many_calls_that_bring_something_come_side_by_side() {
    let gateway = Running::start().await;
    let peer = Peer::connect(gateway.address).await;
    for (count, bytes) in [(20, 1 << 20), (100, 200 * 1024)] {
        // Whether or not they say how large they are.
        for says in [true, false] {
            let asked = format!(
                r#"{{"tool":"echo","arguments":{{"data":"{}"}}}}"#,
                "x".repeat(bytes)
            );
            let mut answers = Vec::new();
            for _ in 0..count {
                let mut request = post("/api/mcp/call");
                if says {
                    let length = asked.len().into();
                    request.headers_mut().insert("content-length", length);
                }
                let (response, mut body) = peer.begin(request, false).await;
                body.send_data(asked.clone().into(), true).unwrap();
                answers.push(answer(response));
            }
            for answer in join_all(answers).await {
                // One that waits for too long is refused.
                assert_eq!(answer.status(), 200, "{count} of {bytes}: {answer:?}");
            }
        }
    }
}

#[tokio::test]
async fn calls_over_one_connection_are_made_side_by_side() {
    let gateway = Running::start().await;
    let peer = Peer::connect(gateway.address).await;
    let never = peer.begin_call("hang").await;
    let began = Instant::now();
    let mut slow = Vec::new();
    for _ in 0..100 {
        slow.push(peer.begin_call("slow").await);
    }
    for answer in join_all(slow.into_iter().map(answer)).await {
        assert_eq!(answer.json()["content"][0]["text"], "at last");
    }
    // Each of them takes a fifth of a second.
    assert!(began.elapsed() < Duration::from_secs(10));
    drop(never);
}

#[tokio::test]
async fn answers_that_are_ready_together_travel_together() {
    const CALLS: usize = 16;
    let gateway = Running::start().await;
    let peer = Peer::connect(gateway.address).await;
    peer.call("echo").await;
    let mut calls = Vec::new();
    for _ in 0..CALLS {
        calls.push(peer.begin_call("slow").await);
    }
    let engine = &gateway.engine;
    until("the calls", || {
        engine.calls.lock().unwrap().len() == CALLS + 1
    })
    .await;
    let before = peer.reads.load(Ordering::SeqCst);
    for answer in join_all(calls.into_iter().map(answer)).await {
        assert_eq!(answer.status(), 200);
    }
    let reads = peer.reads.load(Ordering::SeqCst) - before;
    assert!(reads <= CALLS / 2, "{reads} reads");
}

#[tokio::test]
async fn a_request_that_is_reset_takes_its_call_along_and_no_other() {
    let gateway = Running::start().await;
    let peer = Peer::connect(gateway.address).await;
    let engine = Arc::clone(&gateway.engine);
    let kept = peer.begin_call("slow").await;
    let (response, mut body) = peer.begin(post("/api/mcp/call"), false).await;
    body.send_data(r#"{"tool":"hang"}"#.into(), true).unwrap();
    until("the call", || engine.hanging.load(Ordering::SeqCst) == 1).await;
    body.send_reset(Reason::CANCEL);
    until("the end of it", || {
        engine.withdrawn.load(Ordering::SeqCst) == 1
    })
    .await;
    drop(response);
    assert_eq!(answer(kept).await.status(), 200);
}

#[tokio::test]
async fn a_connection_that_is_closed_takes_all_its_calls_along() {
    let gateway = Running::start().await;
    let peer = Peer::connect(gateway.address).await;
    let engine = Arc::clone(&gateway.engine);
    let mut calls = Vec::new();
    for _ in 0..10 {
        calls.push(peer.begin_call("hang").await);
    }
    until("the calls", || engine.hanging.load(Ordering::SeqCst) == 10).await;
    peer.connection.abort();
    until("the end of them", || {
        engine.withdrawn.load(Ordering::SeqCst) == 10
    })
    .await;
}

#[tokio::test]
async fn what_is_under_way_is_answered_when_all_stops() {
    let gateway = Running::start().await;
    let peer = Peer::connect(gateway.address).await;
    let slow = peer.begin_call("slow").await;
    let hanging = peer.begin_call("hang").await;
    let engine = Arc::clone(&gateway.engine);
    until("the calls", || engine.calls.lock().unwrap().len() == 2).await;
    let stopping = tokio::spawn(gateway.stop());
    let answer = answer(slow).await;
    assert_eq!(answer.json()["content"][0]["text"], "at last");
    let took = stopping.await.unwrap();
    assert!((400..1_500).contains(&took.as_millis()), "{took:?}");
    assert!(hanging.await.is_err());
    assert_eq!(engine.withdrawn.load(Ordering::SeqCst), 1);
    // Whether it heard of the end first or of the connection's is not for us to say.
    let _ = peer.closed().await;
}

#[tokio::test(start_paused = true)]
async fn one_without_requests_is_closed_at_once_when_all_stops() {
    let gateway = Running::start().await;
    let peer = Peer::connect(gateway.address).await;
    assert_eq!(peer.call("echo").await.status(), 200);
    let took = gateway.stop().await;
    assert!(took.as_millis() < 400, "{took:?}");
    peer.closed().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ten_thousand_calls_over_one_connection_are_all_answered() {
    let gateway = Running::start().await;
    let peer = Arc::new(Peer::connect(gateway.address).await);
    let began = Instant::now();
    let callers = (0..32).map(|_| {
        let peer = Arc::clone(&peer);
        tokio::spawn(async move {
            for _ in 0..320 {
                let answer = peer.call("echo").await;
                assert_eq!(answer.json()["content"][0]["text"], "hello");
            }
        })
    });
    for caller in join_all(callers).await {
        caller.unwrap();
    }
    let seconds = began.elapsed().as_secs_f64();
    println!("calls: {:.0} a second", 10_240.0 / seconds);
    assert_eq!(gateway.engine.calls.lock().unwrap().len(), 10_240);
}

#[tokio::test]
async fn it_is_spoken_beside_http_1_on_the_same_port() {
    let gateway = Running::start().await;
    let mut steady = gateway.client().await;
    let peer = Peer::connect(gateway.address).await;
    for _ in 0..3 {
        let host = "Host: localhost";
        let one = steady.ask("GET", "/health", &[host, BEARER], "").await;
        let two = peer.ask(get("/health")).await;
        assert_eq!((one.status, two.status()), (200, 200));
        assert_eq!(one.json()["status"], two.json()["status"]);
    }
}
