//! What is sent, and what is made of an answer.

use std::sync::Arc;

use tokio::sync::mpsc;

use super::server::{Received, Server, answer, json};
use super::*;
use crate::http::Body;

/// A server that tells what it received and answers with an empty object.
async fn recorder() -> (Server, mpsc::UnboundedReceiver<Received>) {
    let (sender, receiver) = mpsc::unbounded_channel();
    let server = Server::start(move |mut peer| {
        let sender = sender.clone();
        async move {
            while let Some(request) = peer.request().await {
                sender.send(request).unwrap();
                peer.send(&json("{}")).await;
            }
        }
    });
    (server.await, receiver)
}

#[tokio::test]
async fn connections_are_used_again() {
    let (server, mut received) = recorder().await;
    let endpoint = endpoint(&server.url("/mcp?key=1"));
    for body in ["{\"a\":1}", "{\"b\":2}"] {
        assert_eq!(post_for_json(&endpoint, body).await, "{}");
        let request = received.recv().await.unwrap();
        assert_eq!(request.line, "POST /mcp?key=1 HTTP/1.1");
        assert_eq!(request.body, body);
    }
    assert_eq!(server.accepted(), 1);
}

#[tokio::test]
async fn endpoints_of_one_setting_share_connections() {
    let (server, mut received) = recorder().await;
    let clients = clients();
    let one = endpoint_of(&clients, &server.url("/one"), &TlsSettings::default());
    let two = endpoint_of(&clients, &server.url("/two"), &TlsSettings::default());
    let three = one.at(Url::parse(&server.url("/three?s=1")).unwrap());
    for endpoint in [&one, &two, &three] {
        post_for_json(endpoint, "{}").await;
        let request = received.recv().await.unwrap();
        assert_eq!(request.header("x-key"), Some("secret-value"));
    }
    assert_eq!(three.url().path(), "/three");
    assert_eq!(server.accepted(), 1);
}

#[tokio::test]
async fn requests_carry_these_headers_and_no_others() {
    let (server, mut received) = recorder().await;
    let endpoint = endpoint(&server.url("/mcp"));
    let mut extra = HeaderMap::new();
    extra.insert("mcp-session-id", "abc".parse().unwrap());
    extra.insert("x-key", "the transport's".parse().unwrap());
    endpoint
        .post(extra, Bytes::from_static(b"{}"), LONG)
        .await
        .unwrap();
    let request = received.recv().await.unwrap();
    let names: Vec<_> = request
        .headers
        .iter()
        .map(|(name, _)| name.as_str())
        .collect();
    let mut sorted = names.clone();
    sorted.sort_unstable();
    assert_eq!(
        sorted,
        [
            "accept",
            "authorization",
            "content-length",
            "content-type",
            "host",
            "mcp-session-id",
            "user-agent",
            "x-key",
        ]
    );
    assert_eq!(
        request.header("accept"),
        Some("application/json, text/event-stream")
    );
    assert_eq!(request.header("authorization"), Some("Bearer secret-token"));
    assert_eq!(request.header("content-type"), Some("application/json"));
    assert_eq!(
        request.header("host"),
        Some(format!("127.0.0.1:{}", server.port()).as_str())
    );
    let ours = concat!("openclaw/", env!("CARGO_PKG_VERSION"));
    assert_eq!(request.header("user-agent"), Some(ours));
    assert_eq!(request.header("x-key"), Some("the transport's"));
    endpoint.get(HeaderMap::new(), LONG).await.unwrap();
    let request = received.recv().await.unwrap();
    assert_eq!(request.line, "GET /mcp HTTP/1.1");
    assert_eq!(request.header("accept"), Some("text/event-stream"));
    assert_eq!(request.header("content-type"), None);
    endpoint.delete(HeaderMap::new(), LONG).await.unwrap();
    assert_eq!(received.recv().await.unwrap().line, "DELETE /mcp HTTP/1.1");
}

#[tokio::test]
async fn a_configured_host_is_sent() {
    let (server, mut received) = recorder().await;
    let client = clients().get(&TlsSettings::default()).unwrap();
    let headers = [("Host".to_owned(), Secret::new("virtual.example"))];
    let url = Url::parse(&server.url("/")).unwrap();
    let endpoint = HttpEndpoint::new(client, url, &headers, &Authorization::None).unwrap();
    post_for_json(&endpoint, "{}").await;
    let request = received.recv().await.unwrap();
    assert_eq!(request.header("host"), Some("virtual.example"));
}

#[tokio::test]
async fn headers_can_be_lent() {
    let (server, mut received) = recorder().await;
    let endpoint = endpoint(&server.url("/mcp"));
    let mut headers = HeaderMap::new();
    headers.insert("mcp-session-id", "abc".parse().unwrap());
    headers.append("x-several", "1".parse().unwrap());
    headers.append("x-several", "2".parse().unwrap());
    let headers = Arc::new(headers);
    for _ in 0..2 {
        let body = Bytes::from_static(b"{}");
        endpoint.post_untimed(&headers, &body).await.unwrap();
        let request = received.recv().await.unwrap();
        assert_eq!(request.header("mcp-session-id"), Some("abc"));
        let several = request.headers.iter().filter(|it| it.0 == "x-several");
        assert_eq!(several.count(), 2);
        assert_eq!(request.header("content-type"), Some("application/json"));
    }
}

#[test]
fn an_endpoint_shows_nothing_secret() {
    let shown = endpoint("http://user:hunter2@127.0.0.1:1/mcp?token=hunter2#hunter2");
    assert_eq!(format!("{shown:?}"), "HttpEndpoint(http://127.0.0.1:1/mcp)");
}

#[test]
fn a_header_that_is_left_out_is_told_once() {
    let clients = clients();
    let name = http::HeaderName::from_static("mcp-session-id");
    let careless = TlsSettings {
        verify: false,
        ..TlsSettings::default()
    };
    let first = clients.get(&TlsSettings::default()).unwrap();
    let headers = [("Mcp-Session-Id".to_owned(), Secret::new("x"))];
    let url = Url::parse("http://a.example").unwrap();
    HttpEndpoint::new(first, url, &headers, &Authorization::None).unwrap();
    let second = clients.get(&careless).unwrap();
    assert!(!second.warn_of_header(&name));
    assert!(second.warn_of_header(&http::header::ACCEPT));
}

#[tokio::test]
async fn an_answer_may_have_many_headers() {
    let many: String = (0..200)
        .map(|number| format!("X-{number}: 1\r\n"))
        .collect();
    let kind = "Content-Type: application/json\r\n";
    let server = Server::answering(answer("200 OK", &format!("{many}{kind}"), "{}")).await;
    assert_eq!(post_for_json(&endpoint(&server.url("/")), "{}").await, "{}");
}

#[tokio::test]
async fn what_a_server_calls_its_answer_harms_no_terminal() {
    let kind = format!(
        "Content-Type: text/\u{9b}31m\u{202e}\u{200b}{}\r\nContent-Encoding: \u{9b}x\r\n",
        "x".repeat(100_000)
    );
    let server = Server::answering(answer("200 OK", &kind, "hi")).await;
    let answer = post(&endpoint(&server.url("/")), "{}").await.unwrap();
    let Body::Other(other) = answer.body else {
        panic!("{answer:?}");
    };
    let message = HttpError::from(other).to_string();
    assert!(
        message.starts_with("the answer is text/31mxxx"),
        "{message}"
    );
    assert!(message.ends_with(", compressed as x"), "{message}");
    assert!(message.chars().count() < 300, "{message}");
}

#[tokio::test]
async fn answers_without_a_body_are_empty_and_keep_the_connection() {
    for head in [
        "202 Accepted\r\nContent-Length: 0\r\n\r\n",
        "204 No Content\r\n\r\n",
        "202 Accepted\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "202 Accepted\r\nContent-Type: text/plain\r\nContent-Length: 8\r\n\r\nAccepted",
        "202 Accepted\r\nContent-Type: application/json\r\nContent-Length: 4\r\n\r\nnull",
        "200 OK\r\nContent-Length: 0\r\n\r\n",
        "200 OK\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    ] {
        let server = Server::answering(format!("HTTP/1.1 {head}")).await;
        let endpoint = endpoint(&server.url("/"));
        for _ in 0..2 {
            let answer = post(&endpoint, "{}").await.unwrap();
            assert!(matches!(answer.body, Body::Empty), "{head} {answer:?}");
        }
        assert_eq!(server.accepted(), 1, "{head}");
    }
}

#[tokio::test]
async fn a_page_instead_of_json_is_explained() {
    let page = "<html><head><title>Sign in</title></head><body>Please <b>log in</b></body></html>";
    let kind = "Content-Type: text/html; charset=utf-8\r\n";
    let server = Server::answering(answer("200 OK", kind, page)).await;
    let answer = post(&endpoint(&server.url("/")), "{}").await.unwrap();
    let Body::Other(other) = answer.body else {
        panic!("{answer:?}");
    };
    let error = HttpError::from(other);
    assert_eq!(
        error.to_string(),
        "the answer is text/html; charset=utf-8: Sign in Please log in"
    );
}

#[tokio::test]
async fn what_cannot_be_read_is_told() {
    for (headers, said) in [
        ("", "the answer is of no stated type: {}"),
        (
            "Content-Type: text/plain\r\n",
            "the answer is text/plain: {}",
        ),
        (
            "Content-Type: application/json\r\nContent-Encoding: gzip\r\n",
            "the answer is application/json, compressed as gzip",
        ),
    ] {
        let server = Server::answering(answer("200 OK", headers, "{}")).await;
        let answer = post(&endpoint(&server.url("/")), "{}").await.unwrap();
        let Body::Other(other) = answer.body else {
            panic!("{answer:?}");
        };
        assert_eq!(HttpError::from(other).to_string(), said);
    }
}

async fn read(head: &str, body: &str, limit: usize) -> Result<String, HttpError> {
    let kind = "Content-Type: application/json; charset=utf-8";
    let server = Server::answering(format!("HTTP/1.1 200 OK\r\n{kind}\r\n{head}\r\n{body}")).await;
    let answer = post(&endpoint(&server.url("/")), "{}").await?;
    let Body::Json(json) = answer.body else {
        panic!("{answer:?}");
    };
    let text = json.read(limit, LONG).await?;
    Ok(String::from_utf8(text.to_vec()).unwrap())
}

#[tokio::test]
async fn a_body_has_a_limit_with_and_without_its_length() {
    let announced = |length: usize| format!("Content-Length: {length}\r\n");
    let body = "x".repeat(1000);
    let chunks =
        "1f4\r\n".to_owned() + &body[..500] + "\r\n1f4\r\n" + &body[..500] + "\r\n0\r\n\r\n";
    let chunked = "Transfer-Encoding: chunked\r\n";
    assert_eq!(read(&announced(1000), &body, 1000).await.unwrap(), body);
    assert_eq!(read(chunked, &chunks, 1000).await.unwrap(), body);
    // Nothing of the body is needed to refuse one that is announced as too large.
    for refused in [
        read(&announced(1_000_000_000_000), "", 1000).await,
        read(&announced(1000), &body, 999).await,
        read(chunked, &chunks, 999).await,
    ] {
        let error = refused.unwrap_err();
        assert!(matches!(error, HttpError::TooLarge { .. }), "{error:?}");
    }
}

#[tokio::test]
async fn an_address_that_is_not_http_is_refused() {
    let error = post(&endpoint("ftp://user:pass@a.example/?x"), "{}")
        .await
        .unwrap_err();
    assert!(matches!(error, HttpError::Unreachable(_)));
    assert_eq!(
        error.to_string(),
        "cannot send to an address that begins with `ftp:`"
    );
}
