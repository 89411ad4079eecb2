//! Streams of events.

use tokio::select;

use super::server::Server;
use super::*;
use openclaw_sse::Event;

use crate::http::EventStream;

const HEAD: &str = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\n";

fn chunk(text: &str) -> String {
    format!("{:x}\r\n{text}\r\n", text.len())
}

/// Opens a stream whose body is sent in these chunks, and then ended or not.
async fn stream(chunks: &'static [&'static str], ends: bool) -> (Server, EventStream) {
    let server = Server::start(move |mut peer| async move {
        peer.request().await;
        peer.send(&format!("{HEAD}Transfer-Encoding: chunked\r\n\r\n"))
            .await;
        for text in chunks {
            peer.send(&chunk(text)).await;
            tokio::task::yield_now().await;
        }
        if ends {
            peer.send("0\r\n\r\n").await;
            peer.closed().await;
        }
    });
    let server = server.await;
    let endpoint = endpoint(&server.url("/"));
    let answer = endpoint.get(HeaderMap::new(), LONG).await.unwrap();
    let Body::Events(events) = answer.body else {
        panic!("{answer:?}");
    };
    (server, events)
}

fn text(event: Option<Event>) -> String {
    String::from_utf8(event.unwrap().data.to_vec()).unwrap()
}

#[tokio::test]
async fn events_come_one_by_one_and_end() {
    let (_server, mut events) = stream(
        &[
            "id: 1\nda",
            "ta: a\n\nevent: e\ndata: b\n",
            "\nid\ndata:\n\n",
            ": bye\n",
        ],
        true,
    )
    .await;
    let first = events.next().await.unwrap().unwrap();
    assert_eq!(
        (first.id.as_deref(), first.data.as_ref()),
        (Some("1"), b"a".as_slice())
    );
    let second = events.next().await.unwrap().unwrap();
    assert_eq!((second.id, second.name.as_deref()), (None, Some("e")));
    let third = events.next().await.unwrap().unwrap();
    assert_eq!((third.id.as_deref(), third.data.len()), (Some(""), 0));
    assert_eq!(events.next().await.unwrap(), None);
    assert_eq!(events.next().await.unwrap(), None);
}

#[tokio::test]
async fn a_stream_cut_within_an_event_is_interrupted() {
    // The connection breaks, or the server ends the body as if nothing were missing.
    for (chunks, ends) in [
        (["data: a\n\n", "data: b"].as_slice(), false),
        (&["data: a\n\n", "data: b"], true),
        (&["data: a\n\n", ": only a comment\n"], false),
    ] {
        let (_server, mut events) = stream(chunks, ends).await;
        assert_eq!(text(events.next().await.unwrap()), "a");
        let error = events.next().await.unwrap_err();
        assert!(matches!(error, HttpError::Interrupted(_)), "{error:?}");
        assert_eq!(events.next().await.unwrap(), None);
    }
}

#[tokio::test]
async fn an_event_that_takes_long_is_heard_and_a_comment_is_not() {
    let go = std::sync::Arc::new(tokio::sync::Notify::new());
    let wait = std::sync::Arc::clone(&go);
    let pieces = [": ping\n\n", "id: 1\n", "data: a", "b", "c\n\n: ping\n\n"];
    let server = Server::start(move |mut peer| {
        let wait = std::sync::Arc::clone(&wait);
        async move {
            peer.request().await;
            peer.send(&format!("{HEAD}Transfer-Encoding: chunked\r\n\r\n"))
                .await;
            for piece in pieces {
                peer.send(&chunk(piece)).await;
                // The next one goes out only once this one was taken in.
                if piece.contains('a') || piece == "b" {
                    wait.notified().await;
                }
            }
            peer.send("0\r\n\r\n").await;
            peer.closed().await;
        }
    });
    let server = server.await;
    let endpoint = endpoint(&server.url("/"));
    let answer = endpoint.get(HeaderMap::new(), LONG).await.unwrap();
    let Body::Events(mut events) = answer.body else {
        panic!("{answer:?}");
    };
    let mut heard = 0;
    let mut hear = || {
        heard += 1;
        go.notify_one();
    };
    assert_eq!(text(events.next_heard(&mut hear).await.unwrap()), "abc");
    assert_eq!(events.next_heard(&mut hear).await.unwrap(), None);
    assert_eq!(heard, 3);
}

#[tokio::test]
async fn an_event_has_a_limit() {
    let (_server, events) = stream(&["data: a\n\n", "data: ", "0123456789"], false).await;
    let mut events = events.limited(12);
    assert_eq!(text(events.next().await.unwrap()), "a");
    let error = events.next().await.unwrap_err();
    assert!(
        matches!(error, HttpError::TooLarge { limit: 12 }),
        "{error:?}"
    );
    assert_eq!(events.next().await.unwrap(), None);
}

#[tokio::test]
async fn nothing_is_lost_when_the_caller_stops_waiting() {
    let pieces = &[
        "d",
        "a",
        "ta",
        ": ",
        "a",
        "b",
        "\n",
        "data",
        ":c",
        "\n",
        "\n",
        "data: d\n\n",
    ];
    let (_server, mut events) = stream(pieces, true).await;
    let mut seen = Vec::new();
    let mut waits = 0;
    loop {
        select! {
            biased;
            next = events.next() => match next.unwrap() {
                Some(event) => seen.push(text(Some(event))),
                None => break,
            },
            () = tokio::task::yield_now() => waits += 1,
        }
    }
    assert_eq!(seen, ["ab\nc", "d"]);
    assert!(waits > 0);
}

#[tokio::test]
async fn a_stream_without_a_length_ends_with_its_connection() {
    let server = Server::start(async |mut peer| {
        peer.request().await;
        peer.send(&format!("{HEAD}Connection: close\r\n\r\ndata: a\n\n"))
            .await;
    });
    let server = server.await;
    let answer = post(&endpoint(&server.url("/")), "{}").await.unwrap();
    let Body::Events(mut events) = answer.body else {
        panic!("{answer:?}");
    };
    assert_eq!(text(events.next().await.unwrap()), "a");
    assert_eq!(events.next().await.unwrap(), None);
}

#[tokio::test]
async fn dropping_a_stream_closes_its_connection() {
    let (sender, closed) = tokio::sync::oneshot::channel();
    let sender = std::sync::Mutex::new(Some(sender));
    let server = Server::start(move |mut peer| {
        let sender = sender.lock().unwrap().take();
        async move {
            peer.request().await;
            peer.send(&format!("{HEAD}\r\n: hello\n")).await;
            peer.closed().await;
            sender.unwrap().send(()).unwrap();
        }
    });
    let server = server.await;
    let answer = endpoint(&server.url("/"))
        .get(HeaderMap::new(), LONG)
        .await
        .unwrap();
    assert!(matches!(answer.body, Body::Events(_)));
    drop(answer);
    tokio::time::timeout(LONG, closed).await.unwrap().unwrap();
}
