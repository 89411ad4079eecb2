//! A gateway that goes away.

use openclaw_engine::{Engine, EngineEvent, LogsQuery, ReplyEngine, ReplyRequest, Watcher};
use serde_json::json;
use tokio::time::timeout;

use crate::asking::call;
use crate::setup::{DEADLINE, Gateway, Listening, Peer, WAYS, Way};

struct Deaf;

impl Watcher for Deaf {
    fn hear(&self, _event: EngineEvent) {}
}

#[tokio::test]
async fn what_is_under_way_fails_and_says_what_is_not_known() {
    for way in WAYS {
        let mut gateway = Gateway::start(way);
        let remote = gateway.remote().await;
        let audience = Listening::new();
        let request = ReplyRequest {
            message: "wait".to_owned(),
            ..ReplyRequest::default()
        };
        let vanish = async {
            gateway.until_waiting(3).await;
            gateway.vanish().await;
        };
        let ended = async {
            tokio::join!(
                remote.call(call("wait")),
                remote.reply(request, &audience),
                remote.watch(&Deaf),
                vanish
            )
        };
        let (called, replied, watched, ()) = timeout(DEADLINE, ended).await.unwrap();
        let (called, replied) = (called.unwrap_err(), replied.unwrap_err());
        for failure in [&called, &replied] {
            assert_eq!(failure.code, "gateway-gone");
            let unknown = "it is not known whether it carried out what was asked";
            assert!(failure.message.contains(unknown), "{failure}");
            let hint = failure.hint.as_deref().unwrap_or_default();
            assert!(hint.contains("openclaw gateway"), "{hint}");
        }
        let watched = watched.unwrap_err();
        assert_eq!(watched.code, "gateway-gone");
        assert!(!watched.message.contains("not known"), "{watched}");

        // Whatever is asked later fails at once, and was certainly not done.
        let later = timeout(DEADLINE, remote.call(call("echo x")))
            .await
            .unwrap();
        let later = later.unwrap_err();
        assert_eq!(later.code, "gateway-gone");
        assert!(later.message.contains("nothing was asked"), "{later}");
        let query = LogsQuery {
            agent: None,
            server: "s".to_owned(),
            after: 0,
        };
        assert_eq!(remote.logs(query).await.unwrap_err().code, "gateway-gone");
        assert_eq!(remote.stop().await.unwrap_err().code, "gateway-gone");
    }
}

#[tokio::test]
async fn a_gateway_that_ends_over_the_request_to_stop_has_stopped() {
    let state = tempfile::tempdir().unwrap();
    let listener = tokio::net::UnixListener::bind(state.path().join("gateway.sock")).unwrap();
    let gateway = async {
        let mut peer = Peer(listener.accept().await.unwrap().0);
        peer.hear().await.unwrap();
        let mut hello = serde_json::to_value(crate::setup::greeting()).unwrap();
        hello["openclaw"] = json!("gateway");
        peer.say(&hello).await;
        let asked = peer.hear().await.unwrap();
        assert_eq!(asked["question"], "stop");
    };
    let stop = async {
        let remote = openclaw_link::Remote::connect(state.path(), "0.1.0").await;
        remote.unwrap().stop().await
    };
    let ((), stopped) = tokio::join!(gateway, stop);
    stopped.unwrap();
}

#[tokio::test]
async fn the_next_gateway_is_reached_by_the_next_remote() {
    let mut gateway = Gateway::start(Way::Socket);
    gateway.remote().await.statistics().await.unwrap();
    gateway.vanish().await;
    let Gateway { state, .. } = gateway;
    let gateway = Gateway::start_in(Way::Socket, state);
    gateway.remote().await.statistics().await.unwrap();
}

#[tokio::test]
async fn the_next_question_finds_the_next_gateway() {
    let mut first = Gateway::start(Way::Socket);
    let remote = first.remote().await;
    assert!(remote.overview().await.is_ok());
    first.vanish().await;
    assert_eq!(remote.overview().await.unwrap_err().code, "gateway-gone");
    let _second = Gateway::start_in(Way::Socket, first.state);
    assert!(remote.overview().await.is_ok());
    // One that was closed stays closed.
    remote.close().await;
    assert_eq!(remote.overview().await.unwrap_err().code, "gateway-gone");
}
