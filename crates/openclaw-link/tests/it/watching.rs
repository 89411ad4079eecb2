//! What happens, told to whoever watches.

use std::sync::Mutex;
use std::sync::atomic::Ordering;

use openclaw_engine::{Engine, EngineEvent, Watcher};
use serde_json::json;

use crate::setup::{Gateway, Peer, WAYS, Way};

#[derive(Default)]
struct Watching(Mutex<Vec<EngineEvent>>);

impl Watcher for Watching {
    fn hear(&self, event: EngineEvent) {
        self.0.lock().unwrap().push(event);
    }
}

#[tokio::test]
async fn whoever_watches_hears_what_happens_until_the_end() {
    for way in WAYS {
        let gateway = Gateway::start(way);
        gateway.engine.events.store(3, Ordering::SeqCst);
        let remote = gateway.remote().await;
        let watching = Watching::default();
        remote.watch(&watching).await.unwrap();
        let heard = watching.0.into_inner().unwrap();
        let numbers = heard.iter().map(|event| match event {
            EngineEvent::NotReloaded { error } => error.split(' ').next().unwrap().to_owned(),
            other => panic!("{other:?}"),
        });
        assert_eq!(numbers.collect::<Vec<_>>(), ["0", "1", "2"]);
    }
}

#[tokio::test]
async fn watching_ends_when_it_is_dropped() {
    for way in WAYS {
        let gateway = Gateway::start(way);
        let remote = gateway.remote().await;
        let watching = Watching::default();
        tokio::select! {
            _ = remote.watch(&watching) => panic!("it never ends"),
            () = gateway.until_waiting(1) => {}
        }
        gateway.until_waiting(0).await;
    }
}

#[tokio::test]
async fn a_watcher_that_is_too_slow_misses_events_and_is_told_how_many() {
    let gateway = Gateway::start(Way::Socket);
    let count = 60_000;
    gateway.engine.events.store(count, Ordering::SeqCst);
    let mut peer = Peer::greeted(gateway.state.path()).await;
    peer.say(&json!({"type": "ask", "id": 1, "question": "watch"}))
        .await;
    gateway.until_waiting(1).await;
    // All have happened by now, and nothing was read.
    let mut heard = 0;
    let missed = loop {
        let message = peer.hear().await.unwrap();
        match message["event"]["type"].as_str().unwrap() {
            "missed" => break message["event"]["count"].as_u64().unwrap(),
            _ => heard += 1,
        }
    };
    // Some hundred of them wait, of a KiB each, beside those that are on their way.
    assert!(
        missed > 0 && (100..5_000).contains(&heard),
        "{missed} {heard}"
    );
    assert_eq!(heard + missed, count);
    // It was not cut off.
    peer.say(&json!({"type": "ask", "id": 2, "question": "statistics"}))
        .await;
    assert_eq!(peer.hear().await.unwrap()["type"], "done");
}
