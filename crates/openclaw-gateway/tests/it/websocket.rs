//! The engine over `WebSocket`: who is let in, and how it ends.

use std::net::SocketAddr;
use std::sync::atomic::Ordering;
use std::time::Duration;

use openclaw_gateway::Credential;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _};
use tokio::time::{Instant, timeout};

use crate::client::{Answer, Client};
use crate::harness::{BEARER, JSON, Running, SOON, TOKEN, Wanted, until};
use crate::schema;

/// A WebSocket, by hand.
pub(crate) struct Socket {
    client: Client,
}

/// What came over it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Frame {
    Text(String),
    Ping,
    Close(u16),
    End,
}

impl Socket {
    async fn upgrade(address: SocketAddr, head: &[&str]) -> (Client, Answer) {
        let mut client = Client::connect(address).await;
        let mut lines = vec![
            "Host: localhost",
            "Upgrade: websocket",
            "Connection: Upgrade",
            "Sec-WebSocket-Version: 13",
            "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
        ];
        lines.extend(head);
        let answer = client.ask("GET", "/api/ws", &lines, "").await;
        (client, answer)
    }

    pub(crate) async fn open(address: SocketAddr, head: &[&str]) -> Self {
        let (client, answer) = Self::upgrade(address, head).await;
        assert_eq!(answer.status, 101, "{answer:?}");
        assert_eq!(
            answer.header("sec-websocket-accept"),
            Some("s3pPLMBiTxaQ9kYGzzhZRbK+xOo=")
        );
        Self { client }
    }

    /// The answer of a gateway that does not let a WebSocket begin.
    async fn refused(address: SocketAddr, head: &[&str]) -> Answer {
        Self::upgrade(address, head).await.1
    }

    pub(crate) async fn send(&mut self, text: &str) {
        self.frame(0x81, text.as_bytes()).await;
    }

    /// Says who it is.
    async fn introduce(&mut self) {
        self.send(&json!({ "type": "auth", "token": TOKEN }).to_string())
            .await;
    }

    async fn frame(&mut self, first: u8, payload: &[u8]) {
        let frame = Self::framed(first, payload);
        let _ = self.client.stream.write_all(&frame).await;
    }

    fn framed(first: u8, payload: &[u8]) -> Vec<u8> {
        let mut frame = vec![first];
        match payload.len() {
            short @ 0..126 => frame.push(0x80 | u8::try_from(short).unwrap()),
            long => {
                frame.push(0x80 | 127);
                frame.extend((long as u64).to_be_bytes());
            }
        }
        // A mask of zeros leaves the payload as it is.
        frame.extend([0; 4]);
        frame.extend(payload);
        frame
    }

    pub(crate) async fn next(&mut self) -> Frame {
        timeout(SOON, self.read()).await.expect("nothing came")
    }

    async fn read(&mut self) -> Frame {
        let stream = &mut self.client.stream;
        let mut head = [0; 2];
        if stream.read_exact(&mut head).await.is_err() {
            return Frame::End;
        }
        let length = match head[1] {
            126 => u64::from(stream.read_u16().await.unwrap()),
            127 => stream.read_u64().await.unwrap(),
            short => u64::from(short),
        };
        let mut payload = vec![0; usize::try_from(length).unwrap()];
        stream.read_exact(&mut payload).await.unwrap();
        match head[0] & 0x0f {
            1 => Frame::Text(String::from_utf8(payload).unwrap()),
            8 => Frame::Close(u16::from_be_bytes([payload[0], payload[1]])),
            9 => Frame::Ping,
            other => panic!("an unexpected frame: {other}"),
        }
    }

    pub(crate) async fn json(&mut self) -> Value {
        loop {
            match self.next().await {
                Frame::Text(text) => return serde_json::from_str(&text).unwrap(),
                Frame::Ping => {}
                other => panic!("no text: {other:?}"),
            }
        }
    }

    /// Reads until it is over; says with which code.
    pub(crate) async fn closed(&mut self) -> Option<u16> {
        let mut code = None;
        loop {
            match self.next().await {
                Frame::Close(said) => code = Some(said),
                Frame::End => return code,
                Frame::Text(_) | Frame::Ping => {}
            }
        }
    }
}

#[tokio::test]
async fn whoever_has_the_token_is_welcome_with_the_request_or_with_the_first_message() {
    let gateway = Running::start().await;
    let mut socket = Socket::open(gateway.address, &[BEARER]).await;
    let welcome = socket.json().await;
    assert_eq!(welcome["type"], "welcome");
    assert_eq!(welcome["version"], "1.2.3");
    assert_eq!(welcome["protocol"], json!(openclaw_link::PROTOCOL));

    let mut socket = Socket::open(gateway.address, &[]).await;
    socket
        .send(&json!({ "type": "auth", "token": TOKEN }).to_string())
        .await;
    assert_eq!(socket.json().await["type"], "welcome");
}

#[tokio::test]
async fn whoever_has_not_is_told_and_closed() {
    let gateway = Running::start().await;
    let answer = Socket::refused(gateway.address, &["Authorization: Bearer wrong"]).await;
    assert_eq!(answer.status, 401);
    schema::check("get", "/api/ws", &answer);
    for first in [
        json!({ "type": "auth", "token": "wrong" }).to_string(),
        json!({ "type": "auth" }).to_string(),
        json!({ "type": "ask", "id": 1 }).to_string(),
        "garbage".to_owned(),
        String::new(),
    ] {
        let mut socket = Socket::open(gateway.address, &[]).await;
        socket.send(&first).await;
        let refusal = socket.json().await;
        assert_eq!(refusal["type"], "refused", "{first}");
        assert!(refusal["error"]["code"].is_string(), "{refusal}");
        assert_eq!(socket.closed().await, Some(1008), "{first}");
    }
}

#[tokio::test]
async fn first_messages_are_no_better_place_to_guess() {
    let gateway = Running::with(Wanted {
        credential: Credential::Password(openclaw_secrets::Secret::new("sesame")),
        ..Wanted::default()
    })
    .await;
    let code = async |token: &str| {
        let mut socket = Socket::open(gateway.address, &[]).await;
        socket
            .send(&json!({ "type": "auth", "token": token }).to_string())
            .await;
        let said = socket.json().await;
        said["error"]["code"].as_str().map(str::to_owned)
    };
    assert_eq!(code("sesame").await, None);
    for _ in 0..10 {
        assert_eq!(code("wrong").await.as_deref(), Some("unauthorized"));
    }
    assert_eq!(code("sesame").await.as_deref(), Some("too-many-attempts"));
}

#[tokio::test(start_paused = true)]
async fn whoever_says_nothing_is_closed_after_five_seconds() {
    let gateway = Running::start().await;
    let mut socket = Socket::open(gateway.address, &[]).await;
    let began = Instant::now();
    let said = socket.read().await;
    let Frame::Text(said) = said else {
        panic!("no text: {said:?}");
    };
    assert!(said.contains("in time"), "{said}");
    let waited = began.elapsed();
    assert!((4..=7).contains(&waited.as_secs()), "{waited:?}");
}

#[tokio::test]
async fn without_a_credential_all_are_welcome_but_pages_of_others() {
    let gateway = Running::with(Wanted {
        credential: Credential::Nothing,
        ..Wanted::default()
    })
    .await;
    let mut socket = Socket::open(gateway.address, &["Origin: http://localhost"]).await;
    assert_eq!(socket.json().await["type"], "welcome");
    for (line, status) in [
        ("Origin: http://evil.example", 403),
        ("Origin: null", 403),
        ("Sec-Fetch-Site: cross-site", 403),
        ("Sec-Fetch-Site: same-site", 403),
    ] {
        let answer = Socket::refused(gateway.address, &[line]).await;
        assert_eq!(answer.status, status, "{line}");
    }
}

#[tokio::test]
async fn there_are_only_so_many_and_room_again_when_one_goes() {
    let gateway = Running::start().await;
    let mut sockets = Vec::new();
    for _ in 0..600 {
        sockets.push(welcome(&gateway).await);
    }
    let answer = Socket::refused(gateway.address, &[BEARER]).await;
    assert_eq!(
        (answer.status, answer.code().as_str()),
        (503, "too-many-websockets")
    );
    schema::check("get", "/api/ws", &answer);
    // Whoever says only then who they are finds no place either.
    let mut late = Socket::open(gateway.address, &[]).await;
    late.introduce().await;
    let refusal = late.json().await;
    assert_eq!(refusal["error"]["code"], "too-many-websockets");
    assert_eq!(late.closed().await, Some(1008));
    drop(sockets);
    let room = async {
        while Socket::refused(gateway.address, &[BEARER]).await.status != 101 {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    timeout(SOON, room).await.expect("no room again");
}

#[tokio::test]
async fn those_who_do_not_say_who_they_are_take_no_place_of_those_who_do() {
    let gateway = Running::start().await;
    let mut strangers = Vec::new();
    for _ in 0..32 {
        strangers.push(Socket::open(gateway.address, &[]).await);
    }
    let (mut refused, answer) = Socket::upgrade(gateway.address, &[]).await;
    assert_eq!(
        (answer.status, answer.code().as_str()),
        (503, "too-many-websockets")
    );
    // Its connection is as good as any.
    let body = format!(r#"{{"tool":"{}"}}"#, "x".repeat(100_000));
    let head = ["Host: localhost", BEARER, JSON];
    let answer = refused.ask("POST", "/api/mcp/call", &head, &body).await;
    assert_eq!(answer.status, 404);
    welcome(&gateway).await;
    // One who says it makes room for the next.
    let mut known = strangers.pop().unwrap();
    known.introduce().await;
    assert_eq!(known.json().await["type"], "welcome");
    let mut next = Socket::open(gateway.address, &[]).await;
    next.introduce().await;
    assert_eq!(next.json().await["type"], "welcome");
}

#[tokio::test]
async fn much_is_read_only_of_those_who_said_who_they_are() {
    let gateway = Running::start().await;
    let mut stranger = Socket::open(gateway.address, &[]).await;
    let filler = "x".repeat(1 << 20);
    let long = json!({ "type": "auth", "token": TOKEN, "filler": filler });
    stranger.send(&long.to_string()).await;
    let mut heard = Vec::new();
    loop {
        match stranger.next().await {
            Frame::Text(text) => heard.push(text),
            Frame::End => break,
            Frame::Ping | Frame::Close(_) => {}
        }
    }
    assert!(!heard.iter().any(|it| it.contains("welcome")), "{heard:?}");

    let mut known = Socket::open(gateway.address, &[]).await;
    known.introduce().await;
    assert_eq!(known.json().await["type"], "welcome");
    known.send(&call(1, &filler)).await;
    assert_eq!(known.json().await["failure"]["code"], "unknown-tool");
}

#[tokio::test]
async fn frames_that_are_none_end_only_their_own_socket() {
    let gateway = Running::start().await;
    let mut steady = welcome(&gateway).await;
    for (first, payload) in [
        (0x83, &b"reserved"[..]),
        (0xf1, b"bits"),
        (0x81, b"\xff\xfe"),
    ] {
        let mut socket = welcome(&gateway).await;
        socket.frame(first, payload).await;
        assert_eq!(socket.closed().await, Some(1002), "{first:x}");
        steady.send(&call(1, "echo")).await;
        assert_eq!(steady.json().await["type"], "done");
    }
}

async fn welcome(gateway: &Running) -> Socket {
    let mut socket = Socket::open(gateway.address, &[BEARER]).await;
    assert_eq!(socket.json().await["type"], "welcome");
    socket
}

fn ask(id: u64, question: &str, with: &Value) -> String {
    json!({ "type": "ask", "id": id, "question": question, "with": with }).to_string()
}

fn call(id: u64, tool: &str) -> String {
    let with = json!({
        "agent": null, "tool": tool, "arguments": { "object": {}, "words": [] },
        "approved": false, "framed": false, "correlation": "test",
    });
    ask(id, "call", &with)
}

#[tokio::test]
async fn the_engine_is_asked_and_answers() {
    let gateway = Running::start().await;
    let mut socket = welcome(&gateway).await;
    // A page introduces itself whether it has to or not.
    socket
        .send(&json!({ "type": "auth", "token": "whatever" }).to_string())
        .await;
    socket
        .send(&ask(7, "servers", &json!({ "agent": null, "wait": false })))
        .await;
    let answer = socket.json().await;
    assert_eq!(
        (&answer["type"], &answer["id"]),
        (&json!("done"), &json!(7))
    );
    assert_eq!(answer["report"]["servers"][0]["name"], "fake");
    socket.send(&call(8, "none")).await;
    let answer = socket.json().await;
    assert_eq!(
        (&answer["type"], &answer["id"]),
        (&json!("failed"), &json!(8))
    );
}

#[tokio::test]
async fn what_is_asked_at_once_is_answered_at_once() {
    const QUESTIONS: u64 = 16;
    let gateway = Running::start().await;
    let mut socket = welcome(&gateway).await;
    let with = json!({ "agent": null, "wait": false });
    let asked = (0..QUESTIONS).flat_map(|id| {
        let text = ask(id, "servers", &with);
        Socket::framed(0x81, text.as_bytes())
    });
    let asked: Vec<u8> = asked.collect();
    socket.client.stream.write_all(&asked).await.unwrap();
    // As few packets as can be: the answers are together when they are read.
    let mut packets = 0;
    let mut answered = Vec::new();
    while (answered.len() as u64) < QUESTIONS {
        let buffered = timeout(SOON, socket.client.stream.fill_buf()).await;
        assert_ne!(buffered.expect("nothing came").unwrap(), b"");
        packets += 1;
        while !socket.client.stream.buffer().is_empty() {
            answered.push(socket.json().await["id"].as_u64().unwrap());
        }
    }
    answered.sort_unstable();
    assert_eq!(answered, (0..QUESTIONS).collect::<Vec<_>>());
    assert!(packets <= QUESTIONS / 4, "{packets} packets");
}

#[tokio::test]
async fn whoever_goes_away_takes_along_what_was_asked() {
    let gateway = Running::start().await;
    let mut socket = welcome(&gateway).await;
    socket.send(&call(1, "hang")).await;
    let engine = &gateway.engine;
    until("the call", || engine.hanging.load(Ordering::SeqCst) == 1).await;
    drop(socket);
    until("the end of it", || {
        engine.withdrawn.load(Ordering::SeqCst) == 1
    })
    .await;
}

#[tokio::test]
async fn garbage_is_answered_once_and_ends_it() {
    let gateway = Running::start().await;
    let mut socket = welcome(&gateway).await;
    socket.send("this is no JSON").await;
    let answer = socket.json().await;
    assert_eq!(answer["type"], "error", "{answer}");
    assert!(socket.closed().await.is_some());
    let mut socket = welcome(&gateway).await;
    socket.frame(0x82, b"bytes").await;
    assert_eq!(socket.closed().await, Some(1003));
}

#[tokio::test]
async fn a_message_that_is_too_large_ends_only_its_own_socket() {
    let gateway = Running::start().await;
    let mut socket = welcome(&gateway).await;
    socket.send(&"x".repeat((16 << 20) + 1)).await;
    socket.closed().await;
    assert_eq!(gateway.ask("GET", "/health", &[], "").await.status, 200);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_who_does_not_read_keeps_nobody_else_waiting() {
    let gateway = Running::start().await;
    let mut slow = welcome(&gateway).await;
    for id in 0..3 {
        slow.send(&call(id, "large")).await;
    }
    let mut other = welcome(&gateway).await;
    for id in 0..20 {
        other.send(&call(id, "echo")).await;
        assert_eq!(other.json().await["id"], id);
    }
}

#[tokio::test(start_paused = true)]
async fn one_who_does_not_read_is_cut_off() {
    let gateway = Running::start().await;
    let mut slow = Socket::open(gateway.address, &[BEARER]).await;
    assert!(matches!(slow.read().await, Frame::Text(_)));
    slow.send(&call(1, "hang")).await;
    for id in 2..5 {
        slow.send(&call(id, "large")).await;
    }
    let began = Instant::now();
    let withdrawn = || gateway.engine.withdrawn.load(Ordering::SeqCst);
    while withdrawn() == 0 {
        assert!(began.elapsed().as_secs() < 120, "it is still served");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    assert!(began.elapsed().as_secs() >= 20, "it has time to read");
}

#[tokio::test]
async fn an_answer_that_is_too_large_is_told_and_costs_nothing_else() {
    let gateway = Running::start().await;
    let mut socket = welcome(&gateway).await;
    socket.send(&call(1, "larger")).await;
    assert_eq!(socket.json().await["type"], "done");
    socket.send(&call(2, "too-large")).await;
    let answer = socket.json().await;
    assert_eq!(
        (&answer["type"], &answer["failure"]["code"]),
        (&json!("failed"), &json!("unsendable"))
    );
    socket.send(&call(3, "echo")).await;
    assert_eq!(socket.json().await["type"], "done");
}

#[tokio::test(start_paused = true)]
async fn one_that_no_longer_answers_is_asked_twice_and_closed() {
    let gateway = Running::start().await;
    let mut socket = Socket::open(gateway.address, &[BEARER]).await;
    assert!(matches!(socket.read().await, Frame::Text(_)));
    let began = Instant::now();
    assert_eq!(socket.read().await, Frame::Ping);
    assert_eq!(socket.read().await, Frame::Ping);
    assert_eq!(socket.read().await, Frame::End);
    let waited = began.elapsed();
    assert!((88..=93).contains(&waited.as_secs()), "{waited:?}");
}

#[tokio::test(start_paused = true)]
async fn one_that_answers_stays() {
    let gateway = Running::start().await;
    let mut socket = Socket::open(gateway.address, &[BEARER]).await;
    assert!(matches!(socket.read().await, Frame::Text(_)));
    for _ in 0..10 {
        assert_eq!(socket.read().await, Frame::Ping);
        socket.frame(0x8a, b"").await;
    }
}
