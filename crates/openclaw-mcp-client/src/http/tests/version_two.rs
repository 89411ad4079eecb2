//! HTTP/2, which servers with TLS may choose.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use h2::Reason;
use http::Response;

use super::certificates::{Authority, serve_tls, server_config};
use super::server::Server;
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
