//! Texts as a WebSocket carries them.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll, Waker};

use openclaw_link::{hand_over, serve_texts};
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::engine::TestEngine;
use crate::setup::{DEADLINE, until};

/// How long an answer may be in these tests.
const LONGEST: usize = 20 << 20;

struct Page {
    engine: Arc<TestEngine>,
    says: mpsc::Sender<String>,
    hears: mpsc::Receiver<String>,
    serving: JoinHandle<()>,
}

impl Page {
    fn open() -> Self {
        let engine = Arc::new(TestEngine::default());
        let (says, incoming) = mpsc::channel(4);
        let (outgoing, hears) = mpsc::channel(4);
        let serving = tokio::spawn(serve_texts(engine.clone(), incoming, outgoing, LONGEST));
        Self {
            engine,
            says,
            hears,
            serving,
        }
    }

    async fn say(&self, message: Value) {
        self.says.send(message.to_string()).await.unwrap();
    }

    async fn hear(&mut self) -> Option<Value> {
        let heard = timeout(DEADLINE, self.hears.recv()).await.unwrap();
        heard.map(|text| serde_json::from_str(&text).unwrap())
    }
}

#[tokio::test]
async fn a_page_asks_and_is_answered_in_texts() {
    let mut page = Page::open();
    page.say(json!({"type": "ask", "id": 1, "question": "reload"}))
        .await;
    let report = json!({"added": ["a"], "changed": [], "removed": ["r"], "warnings": []});
    let done = json!({"type": "done", "id": 1, "report": report});
    assert_eq!(page.hear().await.unwrap(), done);
}

#[tokio::test]
async fn garbage_is_answered_with_one_error_and_then_it_is_over() {
    for garbage in ["garbage", "", "[]", "{}", r#"{"type":"cancel"}"#] {
        let mut page = Page::open();
        page.says.send(garbage.to_owned()).await.unwrap();
        let heard = page.hear().await.unwrap();
        assert_eq!(heard["type"], "error");
        assert_eq!(heard["failure"]["code"], "bad-message");
        assert_eq!(page.hear().await, None);
        timeout(DEADLINE, page.serving).await.unwrap().unwrap();
    }
}

#[tokio::test]
async fn it_is_over_when_nobody_speaks_or_nobody_listens() {
    for listens in [true, false] {
        let Page {
            engine,
            says,
            hears,
            serving,
        } = Page::open();
        let with = json!({"message": "wait"});
        let ask = json!({"type": "ask", "id": 1, "question": "reply", "with": with});
        says.send(ask.to_string()).await.unwrap();
        until("the turn", || engine.waiting.load(Ordering::SeqCst) == 1).await;
        let (mut says, mut hears) = (Some(says), Some(hears));
        if listens {
            says = None;
        } else {
            hears = None;
        }
        timeout(DEADLINE, serving).await.unwrap().unwrap();
        until("the end of the turn", || {
            engine.waiting.load(Ordering::SeqCst) == 0
        })
        .await;
        drop((says, hears));
    }
}

#[tokio::test]
async fn an_answer_that_is_too_long_is_told_instead_of_sent() {
    let mut page = Page::open();
    let ask = |id: u64, size: usize| {
        let arguments = json!({"object": {}, "words": []});
        let with = json!({
            "agent": null, "tool": format!("large {size}"), "arguments": arguments,
            "approved": false, "framed": false, "correlation": "test",
        });
        json!({"type": "ask", "id": id, "question": "call", "with": with})
    };
    page.say(ask(1, LONGEST)).await;
    let heard = page.hear().await.unwrap();
    assert_eq!(heard["failure"]["code"], "unsendable", "{heard}");
    page.say(ask(2, 1_000)).await;
    assert_eq!(page.hear().await.unwrap()["type"], "done");
}

#[tokio::test]
async fn a_page_that_reads_nothing_is_left() {
    let page = Page::open();
    let with = json!({"message": "flood"});
    page.say(json!({"type": "ask", "id": 1, "question": "reply", "with": with}))
        .await;
    timeout(DEADLINE, page.serving).await.unwrap().unwrap();
    let told = page.engine.told.load(Ordering::SeqCst) >> 20;
    assert!((32..=140).contains(&told), "{told} MiB");
}

#[tokio::test(start_paused = true)]
async fn a_page_that_takes_nothing_for_a_minute_is_left() {
    let page = Page::open();
    let begun = tokio::time::Instant::now();
    for id in 1..=20 {
        page.say(json!({"type": "ask", "id": id, "question": "overview"}))
            .await;
    }
    page.serving.await.unwrap();
    assert_eq!(begun.elapsed().as_secs(), 60);
}

/// What a future gives without waiting.
fn at_once<T>(future: impl Future<Output = T>) -> Option<T> {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(given) => Some(given),
        Poll::Pending => None,
    }
}

#[tokio::test]
async fn a_few_small_texts_wait_together_and_a_large_one_only_where_nothing_waits() {
    const PLACES: usize = 4;
    let small = || "x".to_owned();
    let large = || "x".repeat(1 << 20);
    let (channel, mut taken) = mpsc::channel(PLACES);
    for _ in 0..PLACES {
        assert_eq!(at_once(hand_over(&channel, small())), Some(true));
    }
    assert_eq!(at_once(hand_over(&channel, small())), None);
    for _ in 1..PLACES {
        taken.recv().await.unwrap();
    }
    assert_eq!(at_once(hand_over(&channel, large())), None);
    taken.recv().await.unwrap();
    assert_eq!(at_once(hand_over(&channel, large())), Some(true));
    // Behind it small ones find their places, and nothing large.
    assert_eq!(at_once(hand_over(&channel, small())), Some(true));
    assert_eq!(at_once(hand_over(&channel, large())), None);
    drop(taken);
    assert_eq!(at_once(hand_over(&channel, small())), Some(false));
    assert_eq!(at_once(hand_over(&channel, large())), Some(false));
}
