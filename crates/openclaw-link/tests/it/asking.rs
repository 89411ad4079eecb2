//! Questions with one answer.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use openclaw_engine::*;
use openclaw_link::Remote;
use serde_json::{Value, json};
use tokio::time::timeout;

use crate::engine::value;
use crate::setup::{DEADLINE, Gateway, Peer, WAYS, Way, greeting};

/// A call of a tool.
pub(crate) fn call(tool: &str) -> CallRequest {
    value(json!({
        "agent": null, "tool": tool, "arguments": {"object": {}, "words": []},
        "approved": false, "framed": false, "correlation": ""
    }))
}

macro_rules! expected {
    (($report:expr)) => {
        $report
    };
    ($report:tt) => {
        json!($report)
    };
}

macro_rules! ask_each {
    ($($name:ident($($query:ident: $kind:ident $sample:tt)?) -> $report:ident $result:tt;)+) => {
        async fn ask_each(gateway: &Gateway, remote: &Remote) {
            $({
                let asked = [$(json!($sample) as Value)?];
                let asked = asked.into_iter().next().unwrap_or(Value::Null);
                let pending = remote.$name($(value::<$kind>({ let $query = asked.clone(); $query }))?);
                let report = timeout(DEADLINE, pending).await.unwrap().unwrap();
                let report = serde_json::to_value(&report).unwrap();
                assert_eq!(report, expected!($result), "{}", stringify!($name));
                let heard = std::mem::take(&mut *gateway.engine.asked.lock().unwrap());
                assert_eq!(heard, [(stringify!($name), asked)]);
            })+
        }
    };
}

each_question!(ask_each);

#[tokio::test]
async fn every_question_arrives_with_its_query_and_comes_back_with_its_report() {
    for way in WAYS {
        let gateway = Gateway::start(way);
        let remote = gateway.remote().await;
        assert_eq!(remote.greeting(), &greeting());
        ask_each(&gateway, &remote).await;
    }
}

#[tokio::test]
async fn a_failure_comes_back_as_it_is() {
    for way in WAYS {
        let gateway = Gateway::start(way);
        let remote = gateway.remote().await;
        let failure = remote.call(call("fail x")).await.unwrap_err();
        let expected = EngineFailure::asker("code", "failed: x").about("s");
        assert_eq!(failure, expected.hint("do it"));
    }
}

#[tokio::test]
async fn answers_come_in_any_order() {
    for way in WAYS {
        let gateway = Gateway::start(way);
        let remote = gateway.remote().await;
        let waiting = remote.call(call("wait"));
        let quick = async {
            gateway.until_waiting(1).await;
            remote.call(call("echo quick")).await.unwrap()
        };
        tokio::select! {
            _ = waiting => panic!("it never ends"),
            report = quick => assert_eq!(report.content[0]["text"], "quick"),
        }
    }
}

#[tokio::test]
async fn a_question_that_is_dropped_is_dropped_on_the_other_side() {
    for way in WAYS {
        let gateway = Gateway::start(way);
        let remote = gateway.remote().await;
        {
            let waiting = remote.call(call("wait"));
            tokio::select! {
                _ = waiting => panic!("it never ends"),
                () = gateway.until_waiting(1) => {}
            }
        }
        gateway.until_waiting(0).await;
        // The link is as good as before.
        remote.statistics().await.unwrap();
    }
}

#[tokio::test]
async fn a_remote_that_is_dropped_drops_all_that_is_under_way() {
    for way in WAYS {
        let gateway = Gateway::start(way);
        let remote = Arc::new(gateway.remote().await);
        let mut tasks = tokio::task::JoinSet::new();
        for _ in 0..20 {
            let remote = Arc::clone(&remote);
            tasks.spawn(async move { remote.call(call("wait")).await });
        }
        gateway.until_waiting(20).await;
        drop(remote);
        tasks.shutdown().await;
        gateway.until_waiting(0).await;
    }
}

#[tokio::test]
async fn closing_a_remote_closes_the_link_and_not_the_engine() {
    for way in WAYS {
        let gateway = Gateway::start(way);
        let remote = gateway.remote().await;
        let waiting = remote.call(call("wait"));
        let close = async {
            gateway.until_waiting(1).await;
            remote.close().await;
        };
        let (ended, ()) = tokio::join!(waiting, close);
        assert_eq!(ended.unwrap_err().code, "gateway-gone");
        assert_eq!(remote.statistics().await.unwrap_err().code, "gateway-gone");
        gateway.until_waiting(0).await;
        assert_eq!(gateway.engine.closed.load(Ordering::SeqCst), 0);
        gateway.remote().await.statistics().await.unwrap();
    }
}

#[tokio::test]
async fn a_defect_of_the_engine_costs_only_the_question() {
    for way in WAYS {
        let gateway = Gateway::start(way);
        let remote = gateway.remote().await;
        let ended = timeout(DEADLINE, remote.call(call("panic"))).await.unwrap();
        assert_eq!(ended.unwrap_err().code, "internal");
        remote.statistics().await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn large_answers_arrive_whole_beside_small_ones() {
    for way in WAYS {
        let gateway = Gateway::start(way);
        let remote = gateway.remote().await;
        let size = 20 << 20;
        let large = remote.call(call(&format!("large {size}")));
        let small = remote.call(call("echo small"));
        let (large, small) = tokio::join!(large, small);
        assert_eq!(
            large.unwrap().content[0]["text"].as_str().unwrap().len(),
            size
        );
        assert_eq!(small.unwrap().content[0]["text"], "small");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn large_questions_arrive_whole() {
    let gateway = Gateway::start(Way::Socket);
    let remote = gateway.remote().await;
    let text = "y".repeat(8 << 20);
    let report = remote.call(call(&format!("echo {text}"))).await.unwrap();
    assert!(report.content[0]["text"] == text.as_str());
}

#[tokio::test]
async fn numbers_stay_what_they_are() {
    for way in WAYS {
        let gateway = Gateway::start(way);
        let remote = gateway.remote().await;
        let numbers = json!({
            "near": 31.245_270_191_439_438, "small": 5e-324, "large": 1.797_693_134_862_315_7e308,
            "whole": u64::MAX, "negative": i64::MIN, "zero": -0.0
        });
        let mut request = call("keep");
        request.arguments.object = numbers.as_object().unwrap().clone();
        remote.call(request).await.unwrap();
        let (_, heard) = gateway.engine.asked.lock().unwrap().pop().unwrap();
        assert_eq!(heard["arguments"]["object"], numbers);
    }
}

#[tokio::test]
async fn the_gateway_stops_when_it_is_asked_to_over_the_socket_and_only_there() {
    let gateway = Gateway::start(Way::Socket);
    gateway.remote().await.stop().await.unwrap();
    assert_eq!(gateway.stops.load(Ordering::SeqCst), 1);

    let gateway = Gateway::start(Way::Texts);
    let failure = gateway.remote().await.stop().await.unwrap_err();
    assert_eq!(failure.code, "unknown-question");
}

#[tokio::test]
async fn a_question_that_is_not_known_fails_alone() {
    let gateway = Gateway::start(Way::Socket);
    let mut peer = Peer::greeted(gateway.state.path()).await;
    let said = [
        json!({"type": "ask", "id": 1, "question": "later", "with": {}}),
        json!({"type": "later", "id": 2}),
        json!({"type": "later"}),
        json!({"type": "ask", "id": 3, "question": "logs", "with": {"agent": 1}}),
        json!({"type": "ask", "id": 4, "question": "statistics", "later": true}),
    ];
    for message in &said {
        peer.say(message).await;
    }
    let mut codes = Vec::new();
    for _ in 0..4 {
        let heard = peer.hear().await.unwrap();
        let code = heard["failure"]["code"].as_str().unwrap_or("none");
        codes.push((heard["id"].as_u64().unwrap(), code.to_owned()));
    }
    codes.sort();
    let expected = [
        (1, "unknown-question"),
        (2, "unknown-message"),
        (3, "bad-question"),
        (4, "none"),
    ];
    assert_eq!(codes, expected.map(|(id, code)| (id, code.to_owned())));
}

#[tokio::test]
async fn a_query_with_nothing_in_it_can_be_left_out() {
    let gateway = Gateway::start(Way::Socket);
    let mut peer = Peer::greeted(gateway.state.path()).await;
    peer.say(&json!({"type": "ask", "id": 1, "question": "tools"}))
        .await;
    assert_eq!(peer.hear().await.unwrap()["type"], "done");
}

#[tokio::test]
async fn small_questions_are_answered_quickly() {
    let gateway = Gateway::start(Way::Socket);
    let remote = gateway.remote().await;
    remote.statistics().await.unwrap();
    let begun = std::time::Instant::now();
    for _ in 0..1_000 {
        remote.statistics().await.unwrap();
    }
    let each = begun.elapsed() / 1_000;
    println!("a round trip takes {each:?}");
    assert!(each < std::time::Duration::from_millis(20), "{each:?}");
    let begun = std::time::Instant::now();
    for _ in 0..100 {
        gateway.remote().await.statistics().await.unwrap();
    }
    let each = begun.elapsed() / 100;
    println!("calling, asking and hanging up takes {each:?}");
    assert_eq!(gateway.engine.asked.lock().unwrap().len(), 1_101);
}
