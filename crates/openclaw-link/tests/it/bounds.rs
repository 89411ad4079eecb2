//! Peers that are slow, greedy or hostile.

use std::sync::atomic::Ordering;

use openclaw_engine::Engine;
use openclaw_link::Remote;
use serde_json::json;
use tokio::io::AsyncWriteExt;
use tokio::task::JoinSet;
use tokio::time::timeout;

use crate::asking::call;
use crate::setup::{DEADLINE, Gateway, Peer, Way, until};

#[tokio::test]
async fn more_questions_than_fit_are_refused_until_some_are_answered() {
    let gateway = Gateway::start(Way::Socket);
    let mut peer = Peer::greeted(gateway.state.path()).await;
    let wait = serde_json::to_value(call("wait")).unwrap();
    for id in 1..=257 {
        let ask = json!({"type": "ask", "id": id, "question": "call", "with": wait});
        peer.say(&ask).await;
    }
    let heard = peer.hear().await.unwrap();
    assert_eq!(
        (&heard["type"], &heard["id"]),
        (&json!("failed"), &json!(257))
    );
    assert_eq!(heard["failure"]["code"], "busy");
    gateway.until_waiting(256).await;
    peer.say(&json!({"type": "cancel", "id": 7})).await;
    peer.say(&json!({"type": "ask", "id": 258, "question": "statistics"}))
        .await;
    let heard = peer.hear().await.unwrap();
    assert_eq!(
        (&heard["type"], &heard["id"]),
        (&json!("done"), &json!(258))
    );
    drop(peer);
    gateway.until_waiting(0).await;
}

#[tokio::test]
async fn a_number_that_is_under_way_can_not_be_given_again() {
    let gateway = Gateway::start(Way::Socket);
    let mut peer = Peer::greeted(gateway.state.path()).await;
    let wait = serde_json::to_value(call("wait")).unwrap();
    peer.say(&json!({"type": "ask", "id": 1, "question": "call", "with": wait}))
        .await;
    peer.say(&json!({"type": "ask", "id": 1, "question": "statistics"}))
        .await;
    let heard = peer.hear().await.unwrap();
    assert_eq!(heard["failure"]["code"], "same-id");
    // Once it is free it can.
    peer.say(&json!({"type": "cancel", "id": 1})).await;
    for _ in 0..100 {
        peer.say(&json!({"type": "ask", "id": 1, "question": "statistics"}))
            .await;
        assert_eq!(peer.hear().await.unwrap()["type"], "done");
    }
}

#[tokio::test]
async fn garbage_is_answered_once_and_then_nothing_more_is_heard() {
    let gateway = Gateway::start(Way::Socket);
    let garbage = [
        crate::setup::framed(b"garbage"),
        crate::setup::framed(b"\xff\xfe"),
        crate::setup::framed(br#"{"type":"ask","question":"statistics"}"#),
        crate::setup::framed(br#"{"type":"ask","id":1,"question":{}}"#),
        crate::setup::framed(&b"[".repeat(200_000)),
        u32::MAX.to_be_bytes().to_vec(),
    ];
    for says in garbage {
        let mut peer = Peer::greeted(gateway.state.path()).await;
        peer.0.write_all(&says).await.unwrap();
        let heard = peer.hear().await.unwrap();
        assert_eq!(heard["type"], "error", "{heard}");
        assert_eq!(heard["failure"]["code"], "bad-message");
        assert_eq!(peer.hear().await, None);
    }
    gateway.remote().await.statistics().await.unwrap();
}

#[tokio::test]
async fn a_message_that_ends_in_the_middle_ends_the_link() {
    let gateway = Gateway::start(Way::Socket);
    let ask = br#"{"type":"ask","id":1,"question":"statistics"}"#;
    let whole = crate::setup::framed(ask);
    for length in [1, 3, 4, 5, whole.len() - 1] {
        let mut peer = Peer::greeted(gateway.state.path()).await;
        peer.0.write_all(&whole[..length]).await.unwrap();
        peer.0.shutdown().await.unwrap();
        assert_eq!(peer.hear().await, None);
    }
    assert!(gateway.engine.asked.lock().unwrap().is_empty());
}

#[tokio::test]
async fn a_message_in_single_bytes_is_understood() {
    let gateway = Gateway::start(Way::Socket);
    let mut peer = Peer::greeted(gateway.state.path()).await;
    let ask = br#"{"type":"ask","id":1,"question":"statistics"}"#;
    for byte in crate::setup::framed(ask) {
        peer.0.write_all(&[byte]).await.unwrap();
        tokio::task::yield_now().await;
    }
    assert_eq!(peer.hear().await.unwrap()["type"], "done");
}

#[tokio::test]
async fn a_peer_that_reads_nothing_is_cut_off_and_nobody_else() {
    let gateway = Gateway::start(Way::Socket);
    let mut slow = Peer::greeted(gateway.state.path()).await;
    let remote = gateway.remote().await;
    let with = json!({"message": "flood"});
    slow.say(&json!({"type": "ask", "id": 1, "question": "reply", "with": with}))
        .await;
    gateway.until_waiting(1).await;
    // Others are answered while it happens.
    let others = async {
        while gateway.engine.waiting.load(Ordering::SeqCst) > 0 {
            remote.call(call("echo x")).await.unwrap();
        }
    };
    timeout(DEADLINE, others).await.unwrap();
    // What was kept for it is what may be kept, what the socket holds, and the last straw.
    let told = gateway.engine.told.load(Ordering::SeqCst) >> 20;
    assert!((64..=264).contains(&told), "{told} MiB");
    remote.call(call("echo x")).await.unwrap();
    // It reads what was on its way, and then the end.
    let end = async { while slow.pass_over().await.is_some() {} };
    timeout(DEADLINE, end).await.unwrap();
}

#[tokio::test]
async fn answers_wait_for_a_peer_that_is_busy() {
    let gateway = Gateway::start(Way::Socket);
    let mut peer = Peer::greeted(gateway.state.path()).await;
    let with = serde_json::to_value(call("large 5000000")).unwrap();
    for id in 1..=14 {
        let ask = json!({"type": "ask", "id": id, "question": "call", "with": with});
        peer.say(&ask).await;
    }
    let asked = || gateway.engine.asked.lock().unwrap().len() == 14;
    until("all questions", asked).await;
    // Together they are more than may wait; none is lost.
    for _ in 0..14 {
        let length = timeout(DEADLINE, peer.pass_over()).await.unwrap();
        assert!(length.is_some_and(|length| length > 5_000_000));
    }
    peer.say(&json!({"type": "ask", "id": 1, "question": "statistics"}))
        .await;
    assert_eq!(peer.hear().await.unwrap()["type"], "done");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn five_hundred_peers_are_answered_at_once() {
    let gateway = Gateway::start(Way::Socket);
    // Each has two seconds to be greeted: they come in waves, and stay.
    let mut remotes = Vec::new();
    for _ in 0..20 {
        let mut wave = JoinSet::new();
        for _ in 0..25 {
            let state = gateway.state.path().to_owned();
            wave.spawn(async move { Remote::connect(&state, "0.1.0").await.unwrap() });
        }
        remotes.extend(timeout(DEADLINE, wave.join_all()).await.unwrap());
    }
    assert_eq!(remotes.len(), 500);
    for _ in 0..2 {
        let mut peers = JoinSet::new();
        for (number, remote) in std::mem::take(&mut remotes).into_iter().enumerate() {
            peers.spawn(async move {
                let report = remote.call(call(&format!("echo {number}"))).await.unwrap();
                assert_eq!(report.content[0]["text"], number.to_string());
                remote
            });
        }
        remotes = timeout(DEADLINE, peers.join_all()).await.unwrap();
    }
}
