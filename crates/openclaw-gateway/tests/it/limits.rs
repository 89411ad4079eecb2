//! Clients that send too much, too little, too slowly, or anything but HTTP.

use std::time::Duration;

use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _};
use tokio::time::{Instant, timeout};

use crate::client::Client;
use crate::harness::{BEARER, JSON, Running, SOON, call, until};
use crate::schema;

#[tokio::test]
async fn what_is_too_large_is_refused_by_what_it_says_and_by_what_it_is() {
    let gateway = Running::start().await;
    let large = format!(r#"{{"server":"{}"}}"#, "x".repeat(1 << 20));
    let answer = gateway.post("/api/mcp/refresh", &large).await;
    assert_eq!((answer.status, answer.code().as_str()), (413, "too-large"));
    schema::check("post", "/api/mcp/refresh", &answer);

    // Without a length, in chunks.
    let mut client = gateway.client().await;
    let head = format!(
        "POST /api/mcp/refresh HTTP/1.1\r\nHost: localhost\r\n{BEARER}\r\n{JSON}\r\n\
         Transfer-Encoding: chunked\r\n\r\n"
    );
    client.send(head).await;
    client
        .send(format!("{:x}\r\n{large}\r\n0\r\n\r\n", large.len()))
        .await;
    let answer = client.answer().await.unwrap();
    assert_eq!((answer.status, answer.code().as_str()), (413, "too-large"));
}

#[tokio::test]
async fn a_call_may_be_larger_but_not_without_limit() {
    let gateway = Running::start().await;
    let call = |bytes: usize| {
        format!(
            r#"{{"tool":"echo","arguments":{{"data":"{}"}}}}"#,
            "x".repeat(bytes)
        )
    };
    let answer = gateway.post("/api/mcp/call", &call(10 << 20)).await;
    assert_eq!(answer.status, 200);
    let answer = gateway.post("/api/mcp/call", &call(16 << 20)).await;
    assert_eq!((answer.status, answer.code().as_str()), (413, "too-large"));
}

#[tokio::test]
async fn what_is_too_large_for_an_agent_is_told_as_its_clients_expect() {
    let gateway = Running::start().await;
    let most = 64 << 20;
    let head = |rest: &str| {
        format!(
            "POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\n{BEARER}\r\n{JSON}\r\n{rest}\r\n\r\n"
        )
    };
    let check = |answer: crate::client::Answer| {
        assert_eq!(answer.status, 413, "{answer:?}");
        schema::check("post", "/v1/chat/completions", &answer);
        assert_eq!(answer.json()["error"]["type"], "invalid_request_error");
    };
    let mut client = gateway.client().await;
    client
        .send(head(&format!("Content-Length: {}", most + 1)))
        .await;
    check(client.answer().await.unwrap());

    let mut client = gateway.client().await;
    client.send(head("Transfer-Encoding: chunked")).await;
    let piece = format!("{:x}\r\n{}\r\n", 1 << 20, " ".repeat(1 << 20));
    for _ in 0..65 {
        client.send(&piece).await;
    }
    check(client.answer().await.unwrap());
}

/// A client that says that so many MiB will come, and has sent enough of them for there to be room for all.
async fn arriving(gateway: &Running, path: &str, mebibytes: usize) -> Client {
    let head = format!(
        "POST {path} HTTP/1.1\r\nHost: localhost\r\n{BEARER}\r\n{JSON}\r\nContent-Length: {}\r\n\r\n",
        mebibytes << 20
    );
    let mut client = gateway.client().await;
    client.send(head).await;
    client.send(vec![b' '; 100 << 10]).await;
    client
}

#[tokio::test(start_paused = true)]
async fn large_requests_for_which_there_is_no_room_are_refused_and_nothing_is_done() {
    const ROOM: usize = 320;
    for (path, most, status) in [
        ("/api/mcp/call", 16, 503),
        ("/v1/chat/completions", 64, 429),
    ] {
        let gateway = Running::start().await;
        let mut coming = Vec::new();
        for _ in 0..ROOM / most {
            coming.push(arriving(&gateway, path, most).await);
        }
        let mut last = arriving(&gateway, path, most).await;
        let refused = last.answer().await.unwrap();
        assert_eq!(refused.status, status, "{refused:?}");
        schema::check("post", path, &refused);
        if path == "/api/mcp/call" {
            assert_eq!(refused.code(), "busy");
        }
        assert!(gateway.engine.calls.lock().unwrap().is_empty());
        // What is small needs no room, and there is some again when one of the others is gone.
        let small = gateway.post("/api/mcp/call", r#"{"tool":"echo"}"#).await;
        assert_eq!(small.status, 200);
        drop(coming.pop());
        let mut next = arriving(&gateway, path, most).await;
        let refused = timeout(Duration::from_secs(8), next.answer()).await;
        assert!(refused.is_err(), "{refused:?}");
    }
}

#[tokio::test]
async fn a_message_to_an_agent_may_be_as_large_as_is_said() {
    let gateway = Running::start().await;
    let message = r#"{"messages":[{"role":"user","content":"hello"}]}"#;
    let padding = " ".repeat((64 << 20) - message.len());
    let answer = gateway
        .post("/v1/chat/completions", &(message.to_owned() + &padding))
        .await;
    assert_eq!(answer.status, 200);
}

#[tokio::test]
async fn a_refusal_is_read_even_by_those_who_still_send() {
    let gateway = Running::start().await;
    let body = "x".repeat(8 << 20);
    let answer = gateway.ask("POST", "/api/mcp/call", &[JSON], &body).await;
    assert_eq!(answer.status, 401);
}

#[tokio::test]
async fn a_head_that_is_too_large_is_refused() {
    let gateway = Running::start().await;
    let mut client = gateway.client().await;
    client
        .send("GET /health HTTP/1.1\r\nHost: localhost\r\n")
        .await;
    client
        .send(format!("X-Filler: {}\r\n\r\n", "x".repeat(40_000)))
        .await;
    assert_eq!(client.answer().await.unwrap().status, 431);

    let mut client = gateway.client().await;
    client
        .send("GET /health HTTP/1.1\r\nHost: localhost\r\n")
        .await;
    client.send("X: y\r\n".repeat(2_000)).await;
    client.send("\r\n").await;
    assert_eq!(client.answer().await.unwrap().status, 431);
}

#[tokio::test]
async fn garbage_is_refused_and_costs_nobody_else_anything() {
    let gateway = Running::start().await;
    let mut steady = gateway.client().await;
    for garbage in [
        &b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"[..],
        b"\0\0\0\0\0\0\0\0\r\n\r\n",
        b"GET\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        b"PRI * HTTP/2.0\r\n\r\nXX\r\n\r\n",
        b"GET / HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: nonsense\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost : localhost\r\n\r\n",
        b"\xff\xfe\xfd\xfc\r\n\r\n",
    ] {
        let mut client = gateway.client().await;
        client.send(garbage).await;
        if let Some(answer) = client.answer().await {
            assert!((400..=505).contains(&answer.status), "{answer:?}");
        }
        client.rest().await;
        let answer = steady.ask("GET", "/health", &["Host: localhost"], "").await;
        assert_eq!(answer.status, 200);
    }
}

#[tokio::test(start_paused = true)]
async fn half_a_head_is_waited_for_ten_seconds() {
    let gateway = Running::start().await;
    let mut client = gateway.client().await;
    client.send("GET /health HTTP/1.1\r\nHost: loc").await;
    let began = Instant::now();
    let mut rest = Vec::new();
    client.stream.read_to_end(&mut rest).await.unwrap();
    let waited = began.elapsed();
    assert!((9..=12).contains(&waited.as_secs()), "{waited:?}");
}

#[tokio::test(start_paused = true)]
async fn a_head_that_comes_byte_by_byte_has_no_more_time() {
    let gateway = Running::start().await;
    let mut client = gateway.client().await;
    let began = Instant::now();
    let sending = async {
        for byte in "GET /health HTTP/1.1\r\nHost: localhost\r\nX-Slow: "
            .bytes()
            .chain([b'x'; 500])
        {
            if client.stream.write_all(&[byte]).await.is_err() {
                break;
            }
            tokio::time::sleep(Duration::from_secs(1)).await;
        }
    };
    sending.await;
    let waited = began.elapsed();
    assert!((9..=14).contains(&waited.as_secs()), "{waited:?}");
}

#[tokio::test(start_paused = true)]
async fn half_a_body_is_waited_for_half_a_minute() {
    let gateway = Running::start().await;
    for (path, shape) in [
        ("/api/mcp/call", r#""code":"silent""#),
        ("/v1/chat/completions", r#""type":"invalid_request_error""#),
    ] {
        let mut client = gateway.client().await;
        let head = format!(
            "POST {path} HTTP/1.1\r\nHost: localhost\r\n{BEARER}\r\n{JSON}\r\n\
             Content-Length: 100\r\n\r\n{{"
        );
        client.send(head).await;
        let began = Instant::now();
        let mut line = String::new();
        client.stream.read_line(&mut line).await.unwrap();
        assert!(line.starts_with("HTTP/1.1 408 "), "{path}: {line}");
        let waited = began.elapsed();
        assert!((29..=32).contains(&waited.as_secs()), "{path}: {waited:?}");
        let mut rest = String::new();
        client.stream.read_to_string(&mut rest).await.unwrap();
        assert!(rest.contains(shape), "{path}: {rest}");
    }
}

#[tokio::test]
async fn beyond_the_most_connections_there_is_an_answer_and_room_again_later() {
    let gateway = Running::start().await;
    let mut held = Vec::new();
    for _ in 0..1_024 {
        held.push(gateway.client().await);
    }
    // The last of them is taken up when it is answered.
    let answer = held[1_023]
        .ask("GET", "/health", &["Host: localhost"], "")
        .await;
    assert_eq!(answer.status, 200);
    let mut beyond = gateway.client().await;
    let answer = beyond.answer().await.unwrap();
    assert_eq!(
        (answer.status, answer.code().as_str()),
        (503, "too-many-connections")
    );
    assert_eq!(beyond.rest().await, 0);
    drop(held);
    let room = async {
        loop {
            let answer = gateway.ask("GET", "/health", &[], "").await;
            if answer.status == 200 {
                break;
            }
        }
    };
    timeout(SOON, room).await.expect("no room again");
}

#[tokio::test]
async fn one_who_does_not_read_keeps_nobody_else_waiting() {
    let gateway = Running::start().await;
    let mut slow = Vec::new();
    let body = r#"{"tool":"large"}"#;
    for _ in 0..4 {
        let mut client = gateway.client().await;
        let request = format!(
            "POST /api/mcp/call HTTP/1.1\r\nHost: localhost\r\n{BEARER}\r\n{JSON}\r\n\
             Content-Length: {}\r\n\r\n{body}",
            body.len()
        );
        client.send(request).await;
        slow.push(client);
    }
    let began = Instant::now();
    for _ in 0..50 {
        assert_eq!(gateway.ask("GET", "/health", &[], "").await.status, 200);
    }
    assert!(began.elapsed() < SOON);
    // And what it does not read is there when it does.
    let answer = slow.remove(0).answer().await.unwrap();
    assert!(answer.body.len() > 12 << 20);
}

#[tokio::test(start_paused = true)]
async fn one_who_does_not_read_for_long_is_cut_off() {
    let gateway = Running::start().await;
    let mut client = gateway.client().await;
    client.send(call("larger")).await;
    let engine = &gateway.engine;
    until("the call", || !engine.calls.lock().unwrap().is_empty()).await;
    for _ in 0..600 {
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    let mut rest = Vec::new();
    // However it ends, it ends before all of it came.
    let _ = client.stream.read_to_end(&mut rest).await;
    assert!(rest.len() < 40 << 20, "all of it was there");
}
