//! Peers that send too much, too little, too slowly, or anything but HTTP/2.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use bytes::Bytes;
use h2::Reason;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::{Instant, sleep, timeout};

use super::peer::{Peer, answer, get, post};
use crate::harness::{Running, SOON, TOKEN, until};
use crate::schema;

/// How HTTP/2 begins, with settings that say nothing.
const BEGINNING: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0";

/// A frame as it travels.
fn frame(kind: u8, flags: u8, stream: u32, content: &[u8]) -> Vec<u8> {
    let length = u32::try_from(content.len()).unwrap().to_be_bytes();
    let stream = stream.to_be_bytes();
    [&length[1..], &[kind, flags], &stream, content].concat()
}

/// The kinds of frames that were read, and what they hold.
fn frames(mut read: &[u8]) -> impl Iterator<Item = (u8, &[u8])> {
    std::iter::from_fn(move || {
        let head = read.first_chunk::<9>()?;
        let length = u32::from_be_bytes([0, head[0], head[1], head[2]]);
        let end = 9 + usize::try_from(length).unwrap();
        let content = read.get(9..end)?;
        read = &read[end..];
        Some((head[3], content))
    })
}

#[tokio::test]
async fn what_is_too_large_is_refused() {
    let gateway = Running::start().await;
    let peer = Peer::connect(gateway.address).await;
    let mut announced = post("/api/mcp/refresh");
    let length = ((1 << 20) + 1).to_string().parse().unwrap();
    announced.headers_mut().insert("content-length", length);
    let (response, mut body) = peer.begin(announced, false).await;
    // Whether it is still read depends on who is faster.
    let _ = body.send_data(Bytes::from(vec![b' '; (1 << 20) + 1]), true);
    let refused = answer(response).await;
    assert_eq!((refused.status(), &*refused.code()), (413, "too-large"));

    let (response, mut body) = peer.begin(post("/api/mcp/refresh"), false).await;
    let _ = body.send_data(Bytes::from(vec![b' '; 2 << 20]), true);
    let refused = answer(response).await;
    assert_eq!((refused.status(), &*refused.code()), (413, "too-large"));

    let mut large = get("/health");
    let filler = "x".repeat(40_000).parse().unwrap();
    large.headers_mut().insert("x-filler", filler);
    assert_eq!(peer.ask(large).await.status(), 431);
    assert_eq!(peer.call("echo").await.status(), 200);
}

#[tokio::test]
async fn a_refusal_is_read_even_by_those_who_still_send() {
    let gateway = Running::start().await;
    let peer = Peer::connect(gateway.address).await;
    let mut stranger = post("/api/mcp/call");
    stranger.headers_mut().remove("authorization");
    let (response, mut body) = peer.begin(stranger, false).await;
    let _ = body.send_data(Bytes::from(vec![b'x'; 8 << 20]), true);
    assert_eq!(answer(response).await.status(), 401);
    assert_eq!(peer.call("echo").await.status(), 200);
}

#[tokio::test]
async fn requests_beyond_the_most_wait_for_room() {
    let gateway = Running::start().await;
    let peer = Peer::connect(gateway.address).await;
    let engine = Arc::clone(&gateway.engine);
    // Until the settings of the gateway have come, nothing is known of a limit.
    peer.call("echo").await;
    let mut hanging = Vec::new();
    for _ in 0..128 {
        hanging.push(peer.begin_call("hang").await);
    }
    until("the calls", || engine.hanging.load(Ordering::SeqCst) == 128).await;
    let (response, mut body) = peer.begin(post("/api/mcp/call"), false).await;
    body.send_data(r#"{"tool":"echo"}"#.into(), true).unwrap();
    let mut response = std::pin::pin!(answer(response));
    let early = timeout(Duration::from_millis(100), &mut response).await;
    assert!(early.is_err(), "there was room for one more");
    hanging.pop();
    assert_eq!(response.await.status(), 200);
    // Others have connections of their own.
    assert_eq!(gateway.ask("GET", "/health", &[], "").await.status, 200);
}

#[tokio::test]
async fn garbage_ends_its_connection_and_costs_nobody_else_anything() {
    let gateway = Running::start().await;
    let steady = Peer::connect(gateway.address).await;
    let with = |frame: Vec<u8>| [BEGINNING, &frame].concat();
    for garbage in [
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\nGET / HTTP/1.1\r\n\r\n".to_vec(),
        // Headers that can't be unpacked, of no stream, of one that is the server's to begin.
        with(frame(1, 5, 1, b"\xff\xff\xff\xff\xff\xff")),
        with(frame(1, 5, 0, b"\x82")),
        with(frame(1, 5, 2, b"\x82")),
        // Data of a stream that nobody began, a window that overflows, settings of half a size.
        with(frame(0, 1, 1, b"data")),
        with(frame(8, 0, 0, &u32::MAX.to_be_bytes())),
        with(frame(4, 0, 0, b"half")),
        // More of headers that never began, and a frame that is larger than any may be.
        with(frame(9, 4, 1, b"\x82")),
        with(b"\xff\xff\xff\x00\x00\x00\x00\x00\x01".to_vec()),
    ] {
        let mut client = gateway.client().await;
        client.send(&garbage).await;
        client.rest().await;
        assert_eq!(steady.call("echo").await.status(), 200, "{garbage:?}");
    }
}

#[tokio::test]
async fn headers_without_end_are_not_kept() {
    let gateway = Running::start().await;
    let mut client = gateway.client().await;
    client.send(BEGINNING).await;
    client.send(frame(1, 0, 1, b"\x82\x86\x84")).await;
    // The name and the value of a header, again and again.
    let field = [b"\x00\x01x\x7e".as_slice(), &[b'y'; 126]].concat();
    let more = frame(9, 0, 1, &field.repeat(100));
    let mut sent = 0;
    let sending = async {
        for _ in 0..10_000 {
            if client.stream.write_all(&more).await.is_err() {
                break;
            }
            sent += more.len();
        }
    };
    timeout(SOON, sending).await.expect("it is still read");
    client.rest().await;
    assert!(sent < 64 << 20, "{sent} bytes were taken");
    assert_eq!(gateway.ask("GET", "/health", &[], "").await.status, 200);
}

/// `GET /` of `localhost`, whole.
fn page(stream: u32) -> Vec<u8> {
    frame(1, 5, stream, b"\x82\x86\x84\x41\x09localhost")
}

/// Nobody wants the answer any longer.
fn reset(stream: u32) -> Vec<u8> {
    frame(3, 0, stream, &8_u32.to_be_bytes())
}

#[tokio::test]
async fn one_that_takes_back_all_that_it_asked_at_once_is_answered_what_it_asks_next() {
    let gateway = Running::start().await;
    let client = gateway.client().await;
    let (mut reading, mut writing) = tokio::io::split(client.stream.into_inner());
    let mut together = BEGINNING.to_vec();
    for stream in (1..256).step_by(2) {
        together.extend([page(stream), reset(stream)].concat());
    }
    together.extend(page(257));
    writing.write_all(&together).await.unwrap();
    let mut read = Vec::new();
    let answered = async {
        while !frames(&read).any(|(kind, _)| kind == 1) {
            assert_ne!(reading.read_buf(&mut read).await.unwrap(), 0, "{read:?}");
        }
    };
    timeout(SOON, answered).await.expect("no answer");
    assert!(!frames(&read).any(|(kind, _)| kind == 7), "sent away");
}

#[tokio::test]
async fn one_that_takes_back_more_than_it_may_ask_at_once_is_told_to_calm_down() {
    /// RFC 9113 §7.
    const ENHANCE_YOUR_CALM: &[u8] = &[0, 0, 0, 11];
    let gateway = Running::start().await;
    let mut client = gateway.client().await;
    let mut together = BEGINNING.to_vec();
    for stream in (1..1_024).step_by(2) {
        together.extend([page(stream), reset(stream)].concat());
    }
    // All of it before anything is read, so that what is said to it last is there.
    client.send(&together).await;
    let mut read = Vec::new();
    let hearing = client.stream.read_to_end(&mut read);
    let _ = timeout(SOON, hearing).await.expect("it is still there");
    let goodbye = frames(&read).find(|(kind, _)| *kind == 7);
    let (_, content) = goodbye.expect("no goodbye");
    assert_eq!(&content[4..8], ENHANCE_YOUR_CALM, "{content:?}");
}

#[tokio::test]
async fn one_that_begins_and_resets_without_end_is_cut_off() {
    let gateway = Running::start().await;
    let client = gateway.client().await;
    let (mut reading, mut writing) = tokio::io::split(client.stream.into_inner());
    let sending = async {
        writing.write_all(BEGINNING).await.unwrap();
        for number in 0..1_000_000 {
            let stream = number * 2 + 1;
            let both = [page(stream), reset(stream)].concat();
            if writing.write_all(&both).await.is_err() {
                return true;
            }
        }
        false
    };
    let hearing = async {
        let _ = reading.read_to_end(&mut Vec::new()).await;
    };
    let both = async { tokio::join!(sending, hearing) };
    let (is_cut_off, ()) = timeout(SOON, both).await.expect("it is still there");
    assert!(is_cut_off, "it may go on for ever");
    assert_eq!(gateway.ask("GET", "/health", &[], "").await.status, 200);
}

#[tokio::test(start_paused = true)]
async fn half_a_beginning_is_not_waited_for_without_end() {
    let gateway = Running::start().await;
    for (half, least, most) in [
        (&BEGINNING[..0], 9, 12),
        (&BEGINNING[..7], 1, 3),
        // One that says no goodbye either is left half a minute more.
        (&BEGINNING[..24], 9, 42),
        (BEGINNING, 9, 42),
    ] {
        let mut client = gateway.client().await;
        client.send(half).await;
        let began = Instant::now();
        let mut rest = Vec::new();
        let _ = client.stream.read_to_end(&mut rest).await;
        let waited = began.elapsed().as_secs();
        assert!((least..=most).contains(&waited), "{half:?}: {waited}");
    }
}

#[tokio::test(start_paused = true)]
async fn half_a_head_is_waited_for_no_longer_than_silence() {
    let gateway = Running::start().await;
    let mut client = gateway.client().await;
    client.send(BEGINNING).await;
    client.send(frame(1, 0, 1, b"\x82\x86\x84")).await;
    let began = Instant::now();
    let mut rest = Vec::new();
    let _ = client.stream.read_to_end(&mut rest).await;
    let waited = began.elapsed().as_secs();
    assert!((9..=42).contains(&waited), "{waited}");
}

#[tokio::test(start_paused = true)]
async fn one_without_requests_is_told_to_go_after_ten_seconds() {
    let gateway = Running::start().await;
    let peer = Peer::connect(gateway.address).await;
    assert_eq!(peer.call("echo").await.status(), 200);
    let began = Instant::now();
    peer.closed().await.unwrap();
    let waited = began.elapsed().as_secs();
    assert!((9..=12).contains(&waited), "{waited}");
}

#[tokio::test(start_paused = true)]
async fn one_that_asks_now_and_then_stays() {
    let gateway = Running::start().await;
    let peer = Peer::connect(gateway.address).await;
    for _ in 0..10 {
        assert_eq!(peer.call("echo").await.status(), 200);
        sleep(Duration::from_secs(8)).await;
    }
    let hanging = peer.begin_call("hang").await;
    sleep(Duration::from_mins(5)).await;
    assert_eq!(peer.call("echo").await.status(), 200);
    drop(hanging);
}

#[tokio::test(start_paused = true)]
async fn half_a_body_is_waited_for_half_a_minute() {
    let gateway = Running::start().await;
    let peer = Peer::connect(gateway.address).await;
    let (response, mut body) = peer.begin(post("/api/mcp/call"), false).await;
    body.send_data("{".into(), false).unwrap();
    let began = Instant::now();
    let response = response.await.unwrap();
    assert_eq!(response.status(), 408);
    let waited = began.elapsed();
    assert!((29..=32).contains(&waited.as_secs()), "{waited:?}");
    assert_eq!(peer.call("echo").await.status(), 200);
}

/// The head of a call with the token, whose body is to come.
fn call_head() -> Vec<u8> {
    let field = |name: &[u8], value: &str| {
        let length = u8::try_from(value.len()).unwrap();
        [name, &[length], value.as_bytes()].concat()
    };
    [
        // `POST` and `http`, and names from the table of RFC 7541.
        b"\x83\x86".to_vec(),
        field(b"\x04", "/api/mcp/call"),
        field(b"\x01", "localhost"),
        field(b"\x0f\x08", &format!("Bearer {TOKEN}")),
        field(b"\x0f\x10", "application/json"),
    ]
    .concat()
}

#[tokio::test]
async fn one_that_is_taken_back_before_it_was_said_whole_is_not_done() {
    let gateway = Running::start().await;
    let peer = Peer::connect(gateway.address).await;
    for reason in [Reason::NO_ERROR, Reason::CANCEL] {
        for half in ["", "{"] {
            let (response, mut body) = peer.begin(post("/api/mcp/reload"), false).await;
            if !half.is_empty() {
                body.send_data(half.into(), false).unwrap();
            }
            body.send_reset(reason);
            drop(response);
        }
        assert_eq!(peer.call("echo").await.status(), 200);
    }
    assert_eq!(gateway.engine.reloads.load(Ordering::SeqCst), 0);
    let whole = peer.ask(post("/api/mcp/reload")).await;
    assert_eq!(whole.status(), 200);
    assert_eq!(gateway.engine.reloads.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn one_that_waits_for_a_word_before_its_body_is_told_to_ask_without() {
    let gateway = Running::start().await;
    let peer = Peer::connect(gateway.address).await;
    let mut waiting = post("/api/mcp/call");
    let expect = "100-Continue".parse().unwrap();
    waiting.headers_mut().insert("expect", expect);
    let (response, _body) = peer.begin(waiting.clone(), false).await;
    let told = answer(response).await;
    assert_eq!((told.status(), &*told.code()), (417, "expectation"));
    let described = &schema::DOCUMENT["paths"]["/api/mcp/call"]["post"]["responses"]["417"];
    assert!(described.is_object());
    schema::check_value("Error", &told.json());
    // To those who may know.
    waiting.headers_mut().remove("authorization");
    let (response, _body) = peer.begin(waiting, false).await;
    assert_eq!(answer(response).await.status(), 401);
    assert_eq!(peer.call("echo").await.status(), 200);
}

#[tokio::test]
async fn one_for_whom_there_is_no_room_is_told_in_its_own_words() {
    let gateway = Running::start().await;
    let mut held = Vec::new();
    for _ in 0..1_024 {
        held.push(gateway.client().await);
    }
    let last = held.last_mut().unwrap();
    let answer = last.ask("GET", "/health", &["Host: localhost"], "").await;
    assert_eq!(answer.status, 200);
    let stream = TcpStream::connect(gateway.address).await.unwrap();
    let (mut requests, connection) = h2::client::handshake(stream).await.unwrap();
    let connection = tokio::spawn(connection);
    let asked = requests.send_request(get("/health"), true);
    if let Ok((response, _)) = asked {
        let error = timeout(SOON, response).await.unwrap().unwrap_err();
        assert!(error.is_go_away() || error.is_io(), "{error}");
    }
    let ended = timeout(SOON, connection).await.unwrap().unwrap();
    let error = ended.unwrap_err();
    assert_eq!(error.reason(), Some(Reason::ENHANCE_YOUR_CALM), "{error}");
}

#[tokio::test]
async fn a_call_that_is_written_by_hand_is_answered() {
    let gateway = Running::start().await;
    let mut client = gateway.client().await;
    client.send(BEGINNING).await;
    client.send(frame(1, 4, 1, &call_head())).await;
    client.send(frame(0, 1, 1, br#"{"tool":"echo"}"#)).await;
    let mut read = Vec::new();
    let answered = async {
        let says_hello = |(kind, content): (u8, &[u8])| {
            kind == 0 && String::from_utf8_lossy(content).contains("hello")
        };
        while !frames(&read).any(says_hello) {
            assert_ne!(client.stream.read_buf(&mut read).await.unwrap(), 0);
        }
    };
    timeout(SOON, answered).await.expect("no answer");
}

/// Frames that each want an answer, over and over.
fn wanting() -> [(&'static str, Vec<u8>); 2] {
    [
        ("pings", frame(6, 0, 0, b"12345678")),
        ("settings", frame(4, 0, 0, b"")),
    ]
}

#[tokio::test(start_paused = true)]
async fn one_that_floods_and_does_not_read_is_not_read_any_longer() {
    let empty = ("empty parts", frame(0, 0, 1, b""));
    for (name, content) in wanting().into_iter().chain([empty]) {
        let gateway = Running::start().await;
        let mut client = gateway.client().await;
        client.send(BEGINNING).await;
        client.send(frame(1, 4, 1, &call_head())).await;
        let many = content.repeat(1_000);
        let mut sent = 0;
        let sending = async {
            while client.stream.write_all(&many).await.is_ok() {
                sent += many.len();
                assert!(sent < 64 << 20, "{name}: it is read without end");
            }
        };
        let ended = timeout(Duration::from_mins(2), sending).await;
        assert!(ended.is_ok(), "{name}: it is still there");
        assert_eq!(gateway.ask("GET", "/health", &[], "").await.status, 200);
    }
}

#[tokio::test]
async fn one_that_floods_does_not_keep_the_gateway_from_stopping() {
    // What nobody asked for is answered with nothing.
    let answers = ("answers to no ping", frame(6, 1, 0, b"12345678"));
    for (name, content) in wanting().into_iter().chain([answers]) {
        let gateway = Running::start().await;
        let client = gateway.client().await;
        let (mut reading, mut writing) = tokio::io::split(client.stream.into_inner());
        let sent = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&sent);
        let flooding = tokio::spawn(async move {
            writing.write_all(BEGINNING).await.unwrap();
            let many = content.repeat(1_000);
            while writing.write_all(&many).await.is_ok() {
                counted.fetch_add(many.len(), Ordering::SeqCst);
            }
        });
        let hearing = tokio::spawn(async move {
            let mut sink = tokio::io::sink();
            let _ = tokio::io::copy(&mut reading, &mut sink).await;
        });
        // More than could wait for somebody who does not read it.
        until(name, || sent.load(Ordering::SeqCst) > 16 << 20).await;
        let began = Instant::now();
        gateway.stop().await;
        assert!(
            began.elapsed() < Duration::from_secs(3),
            "{name}: {:?}",
            began.elapsed()
        );
        timeout(SOON, hearing).await.unwrap().unwrap();
        flooding.abort();
    }
}
