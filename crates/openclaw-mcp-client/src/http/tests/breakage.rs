//! Connections that break, and servers that fall silent.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpListener;
use tokio::sync::Notify;

use super::server::{Server, json};
use super::*;

#[tokio::test]
async fn nobody_listening_is_unreachable() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    drop(listener);
    let address = format!("http://user:hunter2@127.0.0.1:{port}/secret-path?token=hunter2");
    let error = post(&endpoint(&address), "{}").await.unwrap_err();
    assert!(matches!(error, HttpError::Unreachable(_)), "{error:?}");
    assert_eq!(
        error.to_string(),
        format!("cannot reach http://127.0.0.1:{port}: connection refused")
    );
}

#[tokio::test]
async fn an_unknown_name_is_unreachable() {
    let error = post(&endpoint("http://nowhere.invalid/"), "{}")
        .await
        .unwrap_err();
    assert!(matches!(error, HttpError::Unreachable(_)), "{error:?}");
    let text = error.to_string();
    assert!(
        text.starts_with("cannot reach http://nowhere.invalid: "),
        "{text}"
    );
}

#[tokio::test]
async fn a_head_that_never_comes_times_out() {
    let server = Server::start(async |mut peer| peer.closed().await).await;
    let endpoint = endpoint(&server.url("/"));
    for answer in [
        endpoint
            .post(HeaderMap::new(), Bytes::from_static(b"{}"), SHORT)
            .await,
        endpoint.get(HeaderMap::new(), SHORT).await,
    ] {
        let error = answer.unwrap_err();
        assert!(
            matches!(error, HttpError::TimedOut { connected: true }),
            "{error:?}"
        );
    }
}

#[tokio::test]
async fn a_connection_that_is_never_ready_times_out_before_anything_is_sent() {
    // TCP connects, but nobody answers in TLS.
    let server = Server::start(async |mut peer| peer.closed().await).await;
    let endpoint = endpoint(&format!("https://127.0.0.1:{}/", server.port()));
    let answer = endpoint
        .post(HeaderMap::new(), Bytes::from_static(b"{}"), SHORT)
        .await;
    let error = answer.unwrap_err();
    assert!(
        matches!(error, HttpError::TimedOut { connected: false }),
        "{error:?}"
    );
}

#[tokio::test]
async fn a_deadline_may_be_far_away() {
    let server = Server::answering(json("{}")).await;
    let endpoint = endpoint(&server.url("/"));
    let body = Bytes::from_static(b"{}");
    endpoint
        .post(HeaderMap::new(), body, Duration::MAX)
        .await
        .unwrap();
}

#[tokio::test]
async fn a_body_that_stalls_times_out() {
    let head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 10\r\n\r\n{";
    let server = Server::answering(head).await;
    let answer = post(&endpoint(&server.url("/")), "{}").await.unwrap();
    let Body::Json(body) = answer.body else {
        panic!("{answer:?}");
    };
    let error = body.read(LIMIT, SHORT).await.unwrap_err();
    assert!(
        matches!(error, HttpError::TimedOut { connected: true }),
        "{error:?}"
    );
}

#[tokio::test]
async fn a_connection_closed_before_the_answer_leaves_the_outcome_open() {
    let requests = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&requests);
    let server = Server::start(move |mut peer| {
        let count = Arc::clone(&count);
        async move {
            peer.request().await;
            count.fetch_add(1, Ordering::SeqCst);
        }
    });
    let server = server.await;
    let error = post(&endpoint(&server.url("/")), "{}").await.unwrap_err();
    assert!(matches!(error, HttpError::Interrupted(_)), "{error:?}");
    assert_eq!(
        error.to_string(),
        "the connection broke: it was closed before the answer was complete"
    );
    assert_eq!(
        requests.load(Ordering::SeqCst),
        1,
        "it must not be sent again"
    );
}

#[tokio::test]
async fn a_connection_closed_within_the_answer_is_noticed() {
    for cut in [
        "HTTP/1.1 200 OK\r\nContent-Ty",
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 10\r\n\r\n{\"a\"",
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n\
         5\r\n{\"a",
    ] {
        let server = Server::start(async |mut peer| {
            peer.request().await;
            peer.send(cut).await;
        });
        let server = server.await;
        let error = match post(&endpoint(&server.url("/")), "{}").await {
            Ok(Answer {
                body: Body::Json(body),
                ..
            }) => body.read(LIMIT, LONG).await.unwrap_err(),
            Ok(answer) => panic!("{answer:?}"),
            Err(error) => error,
        };
        assert!(
            matches!(error, HttpError::Interrupted(_)),
            "{cut} {error:?}"
        );
    }
}

#[tokio::test]
async fn an_answer_in_another_protocol_is_told() {
    let server = Server::answering("220 mail.example ESMTP\r\n\r\n").await;
    let error = post(&endpoint(&server.url("/")), "{}").await.unwrap_err();
    assert!(matches!(error, HttpError::Interrupted(_)), "{error:?}");
    assert_eq!(
        error.to_string(),
        "the connection broke: the answer is not HTTP"
    );
}

/// A server that closes connections which are not used, as most do after some seconds.
#[tokio::test]
async fn a_kept_connection_that_was_closed_is_replaced() {
    let closed = Arc::new(Notify::new());
    let tell = Arc::clone(&closed);
    let server = Server::start(move |mut peer| {
        let tell = Arc::clone(&tell);
        async move {
            peer.request().await;
            peer.send(&json("{}")).await;
            peer.stream.shutdown().await.unwrap();
            peer.closed().await;
            tell.notify_one();
        }
    });
    let server = server.await;
    let endpoint = endpoint(&server.url("/"));
    for count in 1..=3 {
        assert_eq!(post_for_json(&endpoint, "{}").await, "{}");
        closed.notified().await;
        assert_eq!(server.accepted(), count);
    }
}

/// The server closes while the second request is on its way: it may have been processed.
#[tokio::test]
async fn a_request_on_a_kept_connection_is_never_sent_twice() {
    let requests = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&requests);
    let server = Server::start(move |mut peer| {
        let count = Arc::clone(&count);
        async move {
            peer.request().await;
            peer.send(&json("{}")).await;
            peer.request().await;
            count.fetch_add(1, Ordering::SeqCst);
        }
    });
    let server = server.await;
    let endpoint = endpoint(&server.url("/"));
    post_for_json(&endpoint, "{}").await;
    let error = post(&endpoint, "{}").await.unwrap_err();
    assert!(matches!(error, HttpError::Interrupted(_)), "{error:?}");
    assert_eq!(requests.load(Ordering::SeqCst), 1);
    assert_eq!(server.accepted(), 1);
}
