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
        let answer = post(&endpoint, "{\"a\":1}").await.unwrap();
        assert_eq!(answer.url.as_str(), server.url("/end"));
        assert!(matches!(answer.body, Body::Json(_)), "{answer:?}");
        for path in ["/start", "/end"] {
            let request = received.recv().await.unwrap();
            assert_eq!(request.line, format!("POST {path} HTTP/1.1"));
            assert_eq!(request.body, "{\"a\":1}");
            assert_eq!(request.header("authorization"), Some("Bearer secret-token"));
        }
        assert_eq!(server.accepted(), 1, "{status}");
        assert_eq!(endpoint.url().path(), "/start");
        let stream = endpoint.get(HeaderMap::new(), LONG).await.unwrap();
        assert_eq!(stream.url.as_str(), server.url("/end"));
    }
}

/// The paths that were asked for so far.
fn paths(received: &mut Requests) -> Vec<String> {
    std::iter::from_fn(|| received.try_recv().ok())
        .map(|request| request.line.split(' ').nth(1).unwrap().to_owned())
        .collect()
}

#[tokio::test]
async fn a_lasting_redirect_costs_one_round_trip() {
    for (status, is_remembered) in [(301, true), (308, true), (307, true), (302, false)] {
        let (server, mut received) = redirecting(status, |_| "/end".to_owned()).await;
        let endpoint = endpoint(&server.url("/start"));
        post_for_json(&endpoint, "{}").await;
        assert_eq!(paths(&mut received), ["/start", "/end"]);
        let copy = endpoint.clone();
        post_for_json(&copy, "{}").await;
        let expected: &[&str] = if is_remembered {
            &["/end"]
        } else {
            &["/start", "/end"]
        };
        assert_eq!(paths(&mut received), expected, "{status}");
        // Other requests, and other addresses, don't count on it.
        endpoint.get(HeaderMap::new(), LONG).await.unwrap();
        let other = endpoint.at(Url::parse(&server.url("/other")).unwrap());
        post_for_json(&other, "{}").await;
        assert_eq!(
            paths(&mut received),
            ["/start", "/end", "/other", "/end"],
            "{status}"
        );
    }
}

#[tokio::test]
async fn a_failure_at_the_new_address_brings_back_the_old_one() {
    let (sender, mut received) = mpsc::unbounded_channel();
    let server = Server::start(move |mut peer| {
        let sender = sender.clone();
        async move {
            let mut ends = 0;
            while let Some(request) = peer.request().await {
                let path = request.line.split(' ').nth(1).unwrap().to_owned();
                sender.send(request).unwrap();
                ends += usize::from(path == "/end");
                let reply = match path.as_str() {
                    "/end" if ends == 2 => answer("404 Not Found", "", ""),
                    "/end" => json("{}"),
                    _ => answer("308 Elsewhere", "Location: /end\r\n", ""),
                };
                peer.send(&reply).await;
            }
        }
    });
    let server = server.await;
    let endpoint = endpoint(&server.url("/start"));
    post_for_json(&endpoint, "{}").await;
    post(&endpoint, "{}").await.unwrap_err();
    assert_eq!(paths(&mut received), ["/start", "/end", "/end"]);
    post_for_json(&endpoint, "{}").await;
    assert_eq!(paths(&mut received), ["/start", "/end"]);
}

#[tokio::test]
async fn a_long_location_is_shown_in_part() {
    let long = format!("https://evil.example/{}", "x".repeat(60_000));
    let (server, _received) = redirecting(307, move |_| long.clone()).await;
    let error = post(&endpoint(&server.url("/")), "{}").await.unwrap_err();
    assert!(error.to_string().len() < 400, "{}", error.to_string().len());
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
