//! What is said first, and who is turned away.

use std::time::Duration;

use openclaw_link::{NoGateway, PROTOCOL, Remote};
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixListener;

use crate::setup::{Gateway, Peer, Way, framed, greeting};

const COMMAND: &[u8] = b"\0\0\0\x35{\"openclaw\":\"command\",\"protocol\":3,\"version\":\"0.1.0\"}";
const GATEWAY: &[u8] = b"\0\0\0\x72{\"openclaw\":\"gateway\",\"protocol\":3,\"version\":\"9.9.9\",\
    \"pid\":42,\"config\":\"/c/openclaw.json\",\"address\":\"127.0.0.1:1\"}";

/// A gateway of the test that reads what is said first and says something itself.
async fn against(says: Option<Vec<u8>>) -> (Result<Remote, NoGateway>, Vec<u8>) {
    let state = tempfile::tempdir().unwrap();
    let listener = UnixListener::bind(state.path().join("gateway.sock")).unwrap();
    let gateway = async {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut heard = vec![0; COMMAND.len()];
        stream.read_exact(&mut heard).await.unwrap();
        match says {
            Some(says) => stream.write_all(&says).await.unwrap(),
            // Silent until the caller has given up.
            None => assert_eq!(stream.read(&mut [0]).await.unwrap(), 0),
        }
        heard
    };
    tokio::join!(Remote::connect(state.path(), "0.1.0"), gateway)
}

#[tokio::test]
async fn both_sides_say_first_what_they_always_said() {
    let (remote, heard) = against(Some(GATEWAY.to_vec())).await;
    assert_eq!(heard, COMMAND);
    assert_eq!(remote.unwrap().greeting(), &greeting());

    let gateway = Gateway::start(Way::Socket);
    let mut peer = Peer::call(gateway.state.path()).await;
    peer.0.write_all(COMMAND).await.unwrap();
    let mut heard = vec![0; GATEWAY.len()];
    peer.0.read_exact(&mut heard).await.unwrap();
    assert_eq!(heard, GATEWAY);
}

#[tokio::test]
async fn a_newer_gateway_is_noticed_by_an_older_command() {
    let newer = json!({
        "openclaw": "gateway", "protocol": PROTOCOL + 1, "version": "2.0", "pid": 1,
        "config": "c", "address": "a", "later": [1]
    });
    let (remote, _) = against(Some(framed(newer.to_string().as_bytes()))).await;
    match remote.map(|_| ()) {
        Err(NoGateway::Mismatch(greeting)) => {
            assert_eq!((greeting.protocol, greeting.pid), (PROTOCOL + 1, 1));
        }
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_newer_command_is_told_which_gateway_it_met() {
    let gateway = Gateway::start(Way::Socket);
    let mut peer = Peer::call(gateway.state.path()).await;
    let newer = json!({"openclaw": "command", "protocol": PROTOCOL + 1, "version": "2", "x": 1});
    peer.say(&newer).await;
    let heard = peer.hear().await.unwrap();
    assert_eq!(heard["version"], "9.9.9");
    assert_eq!(peer.hear().await, None);
}

#[tokio::test]
async fn what_is_no_gateway_is_not_taken_for_one() {
    for says in [
        b"HTTP/1.1 400 Bad Request\r\n\r\n".to_vec(),
        framed(b"{}"),
        framed(b"\xff\xff"),
        COMMAND.to_vec(),
        b"\0\0\0\x7c{\"openclaw\"".to_vec(),
        u32::MAX.to_be_bytes().to_vec(),
        Vec::new(),
    ] {
        let (remote, _) = against(Some(says)).await;
        assert!(matches!(remote, Err(NoGateway::Unreachable(_))));
    }
}

#[tokio::test(start_paused = true)]
async fn a_silent_gateway_is_given_up_on() {
    let begun = tokio::time::Instant::now();
    let (remote, _) = against(None).await;
    assert!(matches!(remote, Err(NoGateway::Unreachable(_))));
    assert_eq!(begun.elapsed().as_secs(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_silent_caller_is_turned_away() {
    let gateway = Gateway::start(Way::Socket);
    for says in [&b""[..], b"\0", b"\0\0\0\x35", &COMMAND[..20]] {
        let mut peer = Peer::call(gateway.state.path()).await;
        peer.0.write_all(says).await.unwrap();
        let begun = tokio::time::Instant::now();
        assert_eq!(peer.hear().await, None);
        assert!(begun.elapsed() >= Duration::from_millis(1_990));
        assert!(begun.elapsed() < Duration::from_secs(3));
    }
}

#[tokio::test]
async fn a_caller_who_does_not_say_what_it_is_is_turned_away_at_once() {
    let gateway = Gateway::start(Way::Socket);
    for says in [
        b"GET / HTTP/1.1\r\nHost: x\r\n\r\n".to_vec(),
        framed(b"hello"),
        framed(br#"{"type":"ask","id":1,"question":"statistics"}"#),
        u32::MAX.to_be_bytes().to_vec(),
        framed(&vec![b' '; 70_000])[..4].to_vec(),
    ] {
        let mut peer = Peer::call(gateway.state.path()).await;
        peer.0.write_all(&says).await.unwrap();
        assert_eq!(peer.hear().await, None);
    }
    assert!(gateway.engine.asked.lock().unwrap().is_empty());
    gateway.remote().await;
}
