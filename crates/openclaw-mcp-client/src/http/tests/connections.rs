//! Connections without TLS, and how long they are kept.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::{Barrier, Notify};

use super::server::{Server, json};
use super::*;

/// More than are kept.
const MANY: usize = 40;

#[tokio::test]
async fn a_connection_that_nobody_uses_is_closed() {
    let closed = Arc::new(Notify::new());
    let tell = Arc::clone(&closed);
    let server = Server::start(move |mut peer| {
        let tell = Arc::clone(&tell);
        async move {
            while peer.request().await.is_some() {
                peer.send(&json("{}")).await;
            }
            tell.notify_one();
        }
    });
    let server = server.await;
    let endpoint = endpoint(&server.url("/"));
    post_for_json(&endpoint, "{}").await;
    tokio::time::pause();
    // In use again before its time is over.
    tokio::time::advance(Duration::from_secs(80)).await;
    post_for_json(&endpoint, "{}").await;
    assert_eq!(server.accepted(), 1);
    for _ in 0..5 {
        tokio::time::advance(Duration::from_secs(31)).await;
        tokio::task::yield_now().await;
    }
    tokio::time::resume();
    tokio::time::timeout(LONG, closed.notified()).await.unwrap();
    post_for_json(&endpoint, "{}").await;
    assert_eq!(server.accepted(), 2);
}

#[tokio::test]
async fn no_more_connections_are_kept_than_are_of_use() {
    let all = Arc::new(Barrier::new(MANY));
    let closed = Arc::new(AtomicUsize::new(0));
    let (wait, count) = (Arc::clone(&all), Arc::clone(&closed));
    let server = Server::start(move |mut peer| {
        let (wait, count) = (Arc::clone(&wait), Arc::clone(&count));
        async move {
            peer.request().await;
            wait.wait().await;
            peer.send(&json("{}")).await;
            peer.closed().await;
            count.fetch_add(1, Ordering::SeqCst);
        }
    });
    let server = server.await;
    let endpoint = endpoint(&server.url("/"));
    let posts: Vec<_> = (0..MANY)
        .map(|_| {
            let endpoint = endpoint.clone();
            tokio::spawn(async move { post_for_json(&endpoint, "{}").await })
        })
        .collect();
    for post in posts {
        assert_eq!(post.await.unwrap(), "{}");
    }
    assert_eq!(server.accepted(), MANY);
    let settled = async {
        while closed.load(Ordering::SeqCst) < MANY - 32 {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(LONG, settled).await.unwrap();
    assert_eq!(closed.load(Ordering::SeqCst), MANY - 32);
}

#[tokio::test]
async fn a_connection_that_is_not_done_is_not_used() {
    let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n: hello\n";
    let server = Server::answering(head).await;
    let endpoint = endpoint(&server.url("/"));
    let first = post(&endpoint, "{}").await.unwrap();
    let second = post(&endpoint, "{}").await.unwrap();
    assert!(matches!(first.body, Body::Events(_)), "{first:?}");
    assert!(matches!(second.body, Body::Events(_)), "{second:?}");
    assert_eq!(server.accepted(), 2);
}

/// The task of the connection and the caller may be on different threads.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn requests_one_after_the_other_need_few_connections() {
    let server = Server::answering(json("{}")).await;
    let endpoint = endpoint(&server.url("/"));
    for _ in 0..500 {
        post_for_json(&endpoint, "{}").await;
    }
    assert!(server.accepted() <= 8, "{}", server.accepted());
}
