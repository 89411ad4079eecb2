//! Servers behind a proxy.

use std::path::Path;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::sync::mpsc;

use super::certificates::{Authority, answer_tls, server_config};
use super::server::{Peer, Server, answer, json};
use super::*;
use crate::target::ClientIdentity;

/// Pools whose environment has this one variable.
fn clients_with(name: &'static str, value: String) -> HttpClients {
    HttpClients::new(move |asked| (asked == name).then(|| value.clone()))
}

/// Settings for servers whose certificates don't matter here.
fn careless() -> TlsSettings {
    TlsSettings {
        verify: false,
        ..TlsSettings::default()
    }
}

#[tokio::test]
async fn a_proxy_reads_requests_without_tls() {
    let (sender, mut received) = mpsc::unbounded_channel();
    let proxy = Server::start(move |mut peer| {
        let sender = sender.clone();
        async move {
            while let Some(request) = peer.request().await {
                sender.send(request).unwrap();
                peer.send(&json("{}")).await;
            }
        }
    });
    let proxy = proxy.await;
    let variable = format!("http://user:p%40ss@127.0.0.1:{}", proxy.port());
    let clients = clients_with("HTTP_PROXY", variable);
    let tls = TlsSettings::default();
    let endpoint = endpoint_of(&clients, "http://mcp.invalid:8080/mcp?a=b", &tls);
    assert_eq!(post_for_json(&endpoint, "{}").await, "{}");
    let request = received.recv().await.unwrap();
    assert_eq!(
        request.line,
        "POST http://mcp.invalid:8080/mcp?a=b HTTP/1.1"
    );
    assert_eq!(request.header("host"), Some("mcp.invalid:8080"));
    assert_eq!(
        request.header("proxy-authorization"),
        Some("Basic dXNlcjpwQHNz")
    );
    // What runs on this machine is reached without.
    let local = Server::answering(json("[]")).await;
    let endpoint = endpoint_of(&clients, &local.url("/"), &tls);
    assert_eq!(post_for_json(&endpoint, "{}").await, "[]");
    assert_eq!((proxy.accepted(), local.accepted()), (1, 1));
}

/// Does as a proxy does for a client that wants a way through, and is then the server behind.
async fn tunnelled(mut peer: Peer, acceptor: tokio_rustls::TlsAcceptor) -> Option<()> {
    let request = peer.request().await?;
    assert_eq!(request.line, "CONNECT mcp.invalid:443 HTTP/1.1");
    assert_eq!(request.header("proxy-authorization"), Some("Basic dTpw"));
    assert_eq!(request.header("authorization"), None);
    peer.send("HTTP/1.1 200 Connection established\r\n\r\n")
        .await;
    let mut peer = Peer::new(peer.number, acceptor.accept(peer.stream).await.ok()?);
    while let Some(request) = peer.request().await {
        assert_eq!(request.line, "POST /mcp HTTP/1.1");
        assert_eq!(request.header("proxy-authorization"), None);
        peer.send(&json("{}")).await;
    }
    Some(())
}

#[tokio::test]
async fn a_proxy_lets_tls_through_unread() {
    let config = server_config(&Authority::new().issue(&["mcp.invalid"]), None);
    let acceptor = tokio_rustls::TlsAcceptor::from(std::sync::Arc::new(config));
    let proxy = Server::start(move |peer| {
        let acceptor = acceptor.clone();
        async move {
            tunnelled(peer, acceptor).await;
        }
    });
    let proxy = proxy.await;
    let clients = clients_with(
        "https_proxy",
        format!("http://u:p@127.0.0.1:{}", proxy.port()),
    );
    let endpoint = endpoint_of(&clients, "https://mcp.invalid/mcp", &careless());
    for _ in 0..2 {
        assert_eq!(post_for_json(&endpoint, "{}").await, "{}");
    }
    assert_eq!(proxy.accepted(), 1);
}

#[tokio::test]
async fn a_proxy_that_does_not_help_is_explained() {
    let refusing = Server::answering(answer("403 Forbidden", "", "")).await;
    let wanting = Server::answering(answer("407 Proxy Authentication Required", "", "")).await;
    let gone = {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        listener.local_addr().unwrap().port()
    };
    for (variable, why) in [
        (
            format!("http://u:hunter2@127.0.0.1:{}", refusing.port()),
            "the proxy refuses the connection: HTTP status 403 Forbidden".to_owned(),
        ),
        (
            format!("http://u:hunter2@127.0.0.1:{}", wanting.port()),
            "the proxy wants a user and a password (or others than those in its address)"
                .to_owned(),
        ),
        (
            format!("http://u:hunter2@127.0.0.1:{gone}"),
            format!("no connection to the proxy 127.0.0.1:{gone}: connection refused"),
        ),
        (
            format!("socks4://127.0.0.1:{gone}"),
            "proxies with the scheme `socks4` are not supported".to_owned(),
        ),
    ] {
        let clients = clients_with("ALL_PROXY", variable);
        let endpoint = endpoint_of(&clients, "https://mcp.invalid/", &careless());
        let error = post(&endpoint, "{}").await.unwrap_err();
        assert!(matches!(error, HttpError::Unreachable(_)), "{error:?}");
        assert_eq!(
            error.to_string(),
            format!("cannot reach https://mcp.invalid: {why}")
        );
    }
}

/// RFC 1928, without authorization and with the name left to the proxy.
async fn socks(mut peer: Peer) {
    let mut greeting = [0; 3];
    peer.stream.read_exact(&mut greeting).await.unwrap();
    assert_eq!(greeting, [5, 1, 0]);
    peer.stream.write_all(&[5, 0]).await.unwrap();
    let mut request = [0; 4 + 1 + 11 + 2];
    peer.stream.read_exact(&mut request).await.unwrap();
    let expected = b"\x05\x01\x00\x03\x0bmcp.invalid\x00\x50";
    assert_eq!(&request, expected);
    let accepted = [5, 0, 0, 1, 0, 0, 0, 0, 0, 0];
    peer.stream.write_all(&accepted).await.unwrap();
    let request = peer.request().await.unwrap();
    assert_eq!(request.line, "POST /mcp HTTP/1.1");
    peer.send(&json("{}")).await;
    peer.closed().await;
}

#[tokio::test]
async fn a_socks_proxy_is_used() {
    let proxy = Server::start(socks).await;
    let clients = clients_with("ALL_PROXY", format!("socks5h://127.0.0.1:{}", proxy.port()));
    let endpoint = endpoint_of(&clients, "http://mcp.invalid/mcp", &TlsSettings::default());
    assert_eq!(post_for_json(&endpoint, "{}").await, "{}");
}

#[tokio::test]
async fn a_proxy_that_is_not_understood_is_not_passed_by() {
    let clients = clients_with("ALL_PROXY", "http://u:hunter2#x@127.0.0.1:1".to_owned());
    for address in ["https://mcp.invalid", "http://mcp.invalid"] {
        let endpoint = endpoint_of(&clients, address, &careless());
        let error = post(&endpoint, "{}").await.unwrap_err();
        assert!(matches!(error, HttpError::Unreachable(_)), "{error:?}");
        assert_eq!(
            error.to_string(),
            format!(
                "cannot reach {address}: the address of the proxy in `ALL_PROXY` cannot be \
                 understood"
            )
        );
    }
}

#[tokio::test]
async fn a_password_with_an_at_sign_is_not_shown() {
    let gone = {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        listener.local_addr().unwrap().port()
    };
    let clients = clients_with("ALL_PROXY", format!("http://u:p@hunter2@127.0.0.1:{gone}"));
    let endpoint = endpoint_of(&clients, "https://mcp.invalid/", &careless());
    let text = post(&endpoint, "{}").await.unwrap_err().to_string();
    assert!(
        text.contains(&format!("the proxy 127.0.0.1:{gone}: ")),
        "{text}"
    );
    assert!(!text.contains("hunter2"), "{text}");
}

/// Settings for a server that is not verified and gets a certificate, with an authority.
fn settings(directory: &Path, authority: &Authority, clients: &Authority) -> TlsSettings {
    let write = |name: &str, content: String| {
        let path = directory.join(name);
        std::fs::write(&path, content).unwrap();
        path
    };
    let ours = clients.issue(&["client"]);
    let certificate = write("client.pem", format!("{}{}", ours.certificate, ours.key));
    TlsSettings {
        verify: false,
        authorities: Some(write("authority.pem", authority.pem())),
        identity: Some(ClientIdentity {
            certificate,
            key: None,
        }),
    }
}

#[tokio::test]
async fn a_proxy_with_tls_is_verified_even_if_servers_are_not() {
    let directory = tempfile::tempdir().unwrap();
    let (authority, clients) = (Authority::new(), Authority::new());
    let tls = settings(directory.path(), &authority, &clients);
    for (issued, why) in [
        (
            Authority::new().issue(&["127.0.0.1"]),
            "not signed by an authority that is trusted here",
        ),
        (authority.issue(&["other.example"]), "is for another name"),
    ] {
        let proxy = answer_tls(server_config(&issued, None)).await;
        let variable = format!("https://u:p@127.0.0.1:{}", proxy.port());
        let pools = clients_with("ALL_PROXY", variable);
        for address in ["https://mcp.invalid/", "http://mcp.invalid/"] {
            let endpoint = endpoint_of(&pools, address, &tls);
            let error = post(&endpoint, "{}").await.unwrap_err();
            assert!(matches!(error, HttpError::Unreachable(_)), "{error:?}");
            assert!(error.to_string().contains(why), "{error}");
        }
    }
}

#[tokio::test]
async fn a_proxy_with_tls_never_sees_our_certificate() {
    let directory = tempfile::tempdir().unwrap();
    let (authority, clients) = (Authority::new(), Authority::new());
    let tls = settings(directory.path(), &authority, &clients);
    // One that insists on a certificate gets none, and one that does not care is used.
    let issued = authority.issue(&["127.0.0.1"]);
    let insisting = answer_tls(server_config(&issued, Some(&clients))).await;
    let variable = format!("https://u:p@127.0.0.1:{}", insisting.port());
    let pools = clients_with("ALL_PROXY", variable);
    let error = post(&endpoint_of(&pools, "http://mcp.invalid/", &tls), "{}").await;
    let error = error.unwrap_err();
    assert!(
        error.to_string().contains("wants a client certificate"),
        "{error}"
    );
    let content = answer_tls(server_config(&issued, None)).await;
    let variable = format!("https://u:p@127.0.0.1:{}", content.port());
    let pools = clients_with("ALL_PROXY", variable);
    let endpoint = endpoint_of(&pools, "http://mcp.invalid/", &tls);
    assert_eq!(post_for_json(&endpoint, "{}").await, "{}");
}
