//! Servers that send us elsewhere.

use std::sync::Arc;

use tokio::sync::mpsc;

use super::server::{Received, Server, answer, json};
use super::*;
use crate::http::error::Refusal;

type Requests = mpsc::UnboundedReceiver<Received>;

/// A server that redirects from every path but `/end`.
async fn redirecting(
    status: u16,
    to: impl Fn(&str) -> String + Send + Sync + 'static,
) -> (Server, Requests) {
    let (sender, receiver) = mpsc::unbounded_channel();
    let to = Arc::new(to);
    let server = Server::start(move |mut peer| {
        let (sender, to) = (sender.clone(), Arc::clone(&to));
        async move {
            while let Some(request) = peer.request().await {
                let path = request.line.split(' ').nth(1).unwrap().to_owned();
                sender.send(request).unwrap();
                let reply = if path == "/end" {
                    json("{}")
                } else {
                    let location = format!("Location: {}\r\n", to(&path));
                    answer(&format!("{status} Elsewhere"), &location, "see there")
                };
                peer.send(&reply).await;
            }
        }
    });
    (server.await, receiver)
}

#[tokio::test]
async fn the_request_is_kept_whole_on_the_same_server() {
    for status in [301, 302, 307, 308] {
        let (server, mut received) = redirecting(status, |_| "/end".to_owned()).await;
        let endpoint = endpoint(&server.url("/start"));
        assert_eq!(post_for_json(&endpoint, "{\"a\":1}").await, "{}");
        for path in ["/start", "/end"] {
            let request = received.recv().await.unwrap();
            assert_eq!(request.line, format!("POST {path} HTTP/1.1"));
            assert_eq!(request.body, "{\"a\":1}");
            assert_eq!(request.header("authorization"), Some("Bearer secret-token"));
        }
        assert_eq!(server.accepted(), 1, "{status}");
        assert_eq!(endpoint.url().path(), "/start");
    }
}

#[tokio::test]
async fn five_redirects_are_followed_and_not_six() {
    let count = |path: &str| path.trim_start_matches('/').parse::<usize>().unwrap();
    let five = move |path: &str| match count(path) {
        5 => "/end".to_owned(),
        step => format!("/{}", step + 1),
    };
    let (server, _received) = redirecting(307, five).await;
    assert_eq!(
        post_for_json(&endpoint(&server.url("/1")), "{}").await,
        "{}"
    );
    let error = post(&endpoint(&server.url("/0")), "{}").await.unwrap_err();
    assert!(
        matches!(
            error,
            HttpError::Redirected {
                why: Refusal::TooMany,
                ..
            }
        ),
        "{error:?}"
    );
}

#[tokio::test]
async fn another_origin_gets_nothing() {
    let (other, mut received) = redirecting(307, |_| "/end".to_owned()).await;
    let target = format!("http://user:pass@127.0.0.1:{}/end?token=x#f", other.port());
    let (server, _received) = redirecting(308, move |_| target.clone()).await;
    let error = post(&endpoint(&server.url("/")), "{}").await.unwrap_err();
    let shown = format!("http://127.0.0.1:{}/end", other.port());
    match &error {
        HttpError::Redirected { to, why } => {
            assert_eq!((to, *why), (&shown, Refusal::OtherOrigin));
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(
        error.to_string(),
        format!(
            "the server redirects to {shown}, which is another server; \
             use that address if it is the right one"
        )
    );
    assert_eq!(other.accepted(), 0);
    assert!(received.try_recv().is_err());
}

#[tokio::test]
async fn see_other_is_a_failure() {
    let (server, _received) = redirecting(303, |_| "/end".to_owned()).await;
    let error = post(&endpoint(&server.url("/")), "{}").await.unwrap_err();
    assert_eq!(error.to_string(), "HTTP status 303 (See Other)");
}
