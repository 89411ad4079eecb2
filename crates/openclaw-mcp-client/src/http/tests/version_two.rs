//! HTTP/2, which servers with TLS may choose.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use h2::Reason;
use http::Response;

use super::certificates::{Authority, serve_tls, server_config};
use super::server::{Peer, Server, json};
use super::*;

/// A server that speaks HTTP/2 and refuses the first requests, as one does that is about to stop.
async fn refusing(refusals: usize) -> (Server, Arc<AtomicUsize>) {
    let mut config = server_config(&Authority::new().issue(&["localhost"]), None);
    config.alpn_protocols = vec![b"h2".to_vec()];
    let requests = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&requests);
    let server = serve_tls(config, move |peer| {
        let count = Arc::clone(&count);
        async move {
            let mut connection = h2::server::handshake(peer.stream).await.unwrap();
            while let Some(Ok((request, mut respond))) = connection.accept().await {
                assert_eq!(request.uri().path(), "/mcp");
                if count.fetch_add(1, Ordering::SeqCst) < refusals {
                    respond.send_reset(Reason::REFUSED_STREAM);
                    continue;
                }
                let head = Response::builder().header("content-type", "application/json");
                let mut body = respond
                    .send_response(head.body(()).unwrap(), false)
                    .unwrap();
                body.send_data(Bytes::from_static(b"{}"), true).unwrap();
            }
        }
    });
    (server.await, requests)
}

fn careless(server: &Server) -> HttpEndpoint {
    let tls = TlsSettings {
        verify: false,
        ..TlsSettings::default()
    };
    let address = format!("https://localhost:{}/mcp", server.port());
    endpoint_of(&clients(), &address, &tls)
}

#[tokio::test]
async fn requests_at_the_same_time_share_a_connection() {
    let (server, requests) = refusing(0).await;
    let endpoint = careless(&server);
    post_for_json(&endpoint, "{}").await;
    let posts = (
        post_for_json(&endpoint, "{}"),
        post_for_json(&endpoint, "{}"),
        post_for_json(&endpoint, "{}"),
    );
    let texts = tokio::join!(posts.0, posts.1, posts.2);
    assert_eq!(
        (texts.0.as_str(), texts.1.as_str(), texts.2.as_str()),
        ("{}", "{}", "{}")
    );
    assert_eq!(requests.load(Ordering::SeqCst), 4);
    assert_eq!(server.accepted(), 1);
}

#[tokio::test]
async fn a_request_that_was_not_looked_at_is_sent_again() {
    let (server, requests) = refusing(2).await;
    assert_eq!(post_for_json(&careless(&server), "{}").await, "{}");
    assert_eq!(requests.load(Ordering::SeqCst), 3);
}

#[tokio::test]
async fn a_server_that_refuses_every_time_is_unreachable() {
    let (server, requests) = refusing(usize::MAX).await;
    let error = post(&careless(&server), "{}").await.unwrap_err();
    assert!(matches!(error, HttpError::Unreachable(_)), "{error:?}");
    assert_eq!(requests.load(Ordering::SeqCst), 3);
}

/// A server that speaks both versions, HTTP/2 with a single request at a time. A GET opens a
/// stream that never ends; a POST is answered with the version and the host.
async fn with_a_single_place(protocols: &[&[u8]]) -> Server {
    let mut config = server_config(&Authority::new().issue(&["localhost"]), None);
    config.alpn_protocols = protocols.iter().map(|name| name.to_vec()).collect();
    serve_tls(config, async |peer| {
        if peer.stream.get_ref().1.alpn_protocol() == Some(b"h2") {
            second(peer).await;
        } else {
            first(peer).await;
        }
    })
    .await
}

async fn first<S: tokio::io::AsyncRead + tokio::io::AsyncWrite + Unpin>(mut peer: Peer<S>) {
    while let Some(request) = peer.request().await {
        let reply = if request.line.starts_with("GET") {
            "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n: hello\n".to_owned()
        } else {
            json(&format!("1.1 {}", request.header("host").unwrap()))
        };
        peer.send(&reply).await;
    }
}

async fn second<S: tokio::io::AsyncRead + tokio::io::AsyncWrite + Unpin>(peer: Peer<S>) {
    let mut connection = h2::server::Builder::new()
        .max_concurrent_streams(1)
        .handshake::<_, Bytes>(peer.stream)
        .await
        .unwrap();
    let mut open = Vec::new();
    while let Some(Ok((request, mut respond))) = connection.accept().await {
        let is_stream = request.method() == "GET";
        let kind = if is_stream {
            "text/event-stream"
        } else {
            "application/json"
        };
        let head = Response::builder().header("content-type", kind);
        let mut body = respond
            .send_response(head.body(()).unwrap(), false)
            .unwrap();
        if is_stream {
            open.push(body);
        } else {
            body.send_data(Bytes::from_static(b"2"), true).unwrap();
        }
    }
}

#[tokio::test]
async fn a_stream_of_events_takes_no_place_that_a_request_needs() {
    let server = with_a_single_place(&[b"h2", b"http/1.1"]).await;
    let endpoint = careless(&server);
    assert_eq!(post_for_json(&endpoint, "{}").await, "2");
    let streams = [
        endpoint.get(HeaderMap::new(), LONG).await.unwrap(),
        endpoint.get(HeaderMap::new(), LONG).await.unwrap(),
    ];
    assert_eq!(post_for_json(&endpoint, "{}").await, "2");
    for stream in streams {
        assert!(matches!(stream.body, Body::Events(_)), "{stream:?}");
    }
    assert_eq!(server.accepted(), 3);
}

#[tokio::test]
async fn a_server_with_nothing_but_the_second_version_has_streams_too() {
    let server = with_a_single_place(&[b"h2"]).await;
    let endpoint = careless(&server);
    let stream = endpoint.get(HeaderMap::new(), LONG).await.unwrap();
    assert!(matches!(stream.body, Body::Events(_)), "{stream:?}");
}

#[tokio::test]
async fn a_configured_host_is_sent_in_the_first_version() {
    let server = with_a_single_place(&[b"h2", b"http/1.1"]).await;
    let tls = TlsSettings {
        verify: false,
        ..TlsSettings::default()
    };
    let client = clients().get(&tls).unwrap();
    let headers = [("Host".to_owned(), Secret::new("inner.example"))];
    let url = format!("https://localhost:{}/mcp", server.port());
    let url = Url::parse(&url).unwrap();
    let endpoint = HttpEndpoint::new(client, url, &headers, &Authorization::None).unwrap();
    assert_eq!(post_for_json(&endpoint, "{}").await, "1.1 inner.example");
}

/// Nothing of a request is sent while it waits for its place.
#[tokio::test]
async fn a_request_that_never_got_its_place_was_not_sent() {
    let server = with_a_single_place(&[b"h2"]).await;
    let endpoint = careless(&server);
    let _stream = endpoint.get(HeaderMap::new(), LONG).await.unwrap();
    let body = Bytes::from_static(b"{}");
    let error = endpoint.post(HeaderMap::new(), body, SHORT).await;
    let error = error.unwrap_err();
    assert!(
        matches!(error, HttpError::TimedOut { connected: false }),
        "{error:?}"
    );
}
