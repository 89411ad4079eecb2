//! Servers with TLS.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use rustls_platform_verifier::Verifier;
use tempfile::TempDir;
use tokio::io::AsyncReadExt as _;

use super::certificates::{Authority, answer_tls, server_config};
use super::server::{Server, json};
use super::*;
use crate::http::tls::SystemAuthorities;
use crate::target::ClientIdentity;

/// A directory with files.
struct Files(TempDir);

impl Files {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn write(&self, name: &str, content: &str) -> PathBuf {
        let path = self.0.path().join(name);
        fs::write(&path, content).unwrap();
        path
    }

    /// Settings that trust an authority.
    fn trusting(&self, authority: &Authority) -> TlsSettings {
        TlsSettings {
            authorities: Some(self.write("authority.pem", &authority.pem())),
            ..TlsSettings::default()
        }
    }
}

fn at(server: &Server, host: &str) -> String {
    format!("https://{host}:{}/", server.port())
}

async fn message(clients: &HttpClients, address: &str, tls: &TlsSettings) -> String {
    let error = post(&endpoint_of(clients, address, tls), "{}").await;
    let error = error.unwrap_err();
    assert!(matches!(error, HttpError::Unreachable(_)), "{error:?}");
    error.to_string()
}

#[tokio::test]
async fn an_authority_of_ones_own_is_trusted() {
    let (authority, other) = (Authority::new(), Authority::new());
    let issued = authority.issue(&["localhost", "127.0.0.1"]);
    let server = answer_tls(server_config(&issued, None)).await;
    let files = Files::new();
    // The file holds several.
    let several = format!("{}{}", other.pem(), authority.pem());
    let tls = TlsSettings {
        authorities: Some(files.write("several.pem", &several)),
        ..TlsSettings::default()
    };
    for host in ["localhost", "127.0.0.1"] {
        let endpoint = endpoint_of(&clients(), &at(&server, host), &tls);
        assert_eq!(post_for_json(&endpoint, "{}").await, "{}");
        assert_eq!(post_for_json(&endpoint, "{}").await, "{}");
    }
    assert_eq!(server.accepted(), 2);
}

#[tokio::test]
async fn certificates_that_are_not_good_are_explained() {
    let files = Files::new();
    let (authority, unknown) = (Authority::new(), Authority::new());
    let tls = files.trusting(&authority);
    for (issued, why) in [
        (
            unknown.issue(&["localhost"]),
            "its certificate is not signed by an authority that is trusted here \
             (`caCert` names more)",
        ),
        (
            authority.issue(&["other.example", "more.example"]),
            "its certificate is for another name: other.example, more.example",
        ),
        (
            authority.issue_expired(&["localhost"]),
            "its certificate has expired",
        ),
    ] {
        let server = answer_tls(server_config(&issued, None)).await;
        let address = at(&server, "localhost");
        let origin = address.trim_end_matches('/');
        assert_eq!(
            message(&clients(), &address, &tls).await,
            format!("cannot reach {origin}: {why}")
        );
        // Without verification all of them will do.
        let careless = TlsSettings {
            verify: false,
            ..TlsSettings::default()
        };
        let endpoint = endpoint_of(&clients(), &address, &careless);
        assert_eq!(post_for_json(&endpoint, "{}").await, "{}");
    }
}

#[tokio::test]
async fn a_server_gets_the_certificate_that_it_wants() {
    let files = Files::new();
    let (authority, clients_authority) = (Authority::new(), Authority::new());
    let issued = authority.issue(&["localhost"]);
    let server = answer_tls(server_config(&issued, Some(&clients_authority))).await;
    let address = at(&server, "localhost");
    let without = files.trusting(&authority);
    let with = |certificate: PathBuf, key: Option<PathBuf>| TlsSettings {
        identity: Some(ClientIdentity { certificate, key }),
        ..without.clone()
    };
    let ours = clients_authority.issue(&["client"]);
    let both = files.write("both.pem", &format!("{}{}", ours.key, ours.certificate));
    let certificate = files.write("certificate.pem", &ours.certificate);
    let key = files.write("key.pem", &ours.key);
    for tls in [with(both, None), with(certificate, Some(key))] {
        let endpoint = endpoint_of(&clients(), &address, &tls);
        assert_eq!(post_for_json(&endpoint, "{}").await, "{}");
    }
    let missing = message(&clients(), &address, &without).await;
    assert!(
        missing.ends_with("the server wants a client certificate (`clientCert`)"),
        "{missing}"
    );
    let foreign = Authority::new().issue(&["client"]);
    let foreign = files.write(
        "foreign.pem",
        &format!("{}{}", foreign.key, foreign.certificate),
    );
    let refused = message(&clients(), &address, &with(foreign, None)).await;
    assert!(
        refused.contains("the server refuses our client certificate"),
        "{refused}"
    );
}

#[tokio::test]
async fn the_wrong_scheme_is_suggested() {
    let server = Server::start(async |mut peer| {
        let mut hello = [0; 8];
        peer.stream.read_exact(&mut hello).await.unwrap();
        peer.send("HTTP/1.1 400 Bad Request\r\n\r\n").await;
        peer.closed().await;
    });
    let server = server.await;
    let text = message(
        &clients(),
        &at(&server, "localhost"),
        &TlsSettings::default(),
    )
    .await;
    assert!(
        text.ends_with("the answer is not TLS; is this an `http://` address?"),
        "{text}"
    );
}

#[tokio::test]
async fn authorities_of_the_system_are_read_once_and_only_for_tls() {
    let authority = Authority::new();
    let root = authority.certificate();
    let reads = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&reads);
    let system = SystemAuthorities::new(Arc::new(move |provider| {
        count.fetch_add(1, Ordering::SeqCst);
        Verifier::new_with_extra_roots([root.clone()], provider)
    }));
    let clients = clients().with_authorities(system);
    let plain = Server::answering(json("{}")).await;
    let endpoint = endpoint_of(&clients, &plain.url("/"), &TlsSettings::default());
    post_for_json(&endpoint, "{}").await;
    assert_eq!(reads.load(Ordering::SeqCst), 0);
    let secure = answer_tls(server_config(&authority.issue(&["localhost"]), None)).await;
    let files = Files::new();
    let other = files.trusting(&Authority::new());
    for tls in [TlsSettings::default(), other] {
        let endpoint = endpoint_of(&clients, &at(&secure, "localhost"), &tls);
        post_for_json(&endpoint, "{}").await;
    }
    assert_eq!(reads.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn a_system_without_authorities_is_no_obstacle_where_none_are_needed() {
    let nobody = || {
        SystemAuthorities::new(Arc::new(|_| {
            Err(rustls::Error::General("nothing found".to_owned()))
        }))
    };
    let files = Files::new();
    let authority = Authority::new();
    let clients = clients().with_authorities(nobody());
    let plain = Server::answering(json("{}")).await;
    let endpoint = endpoint_of(&clients, &plain.url("/"), &TlsSettings::default());
    assert_eq!(post_for_json(&endpoint, "{}").await, "{}");
    let secure = answer_tls(server_config(&authority.issue(&["localhost"]), None)).await;
    let address = at(&secure, "localhost");
    let endpoint = endpoint_of(&clients, &address, &files.trusting(&authority));
    assert_eq!(post_for_json(&endpoint, "{}").await, "{}");
    let text = message(&clients, &address, &TlsSettings::default()).await;
    assert!(
        text.contains("this system has no certificate authorities"),
        "{text}"
    );
}

#[tokio::test]
async fn files_that_changed_are_read_again() {
    let files = Files::new();
    let (old, new) = (Authority::new(), Authority::new());
    let server = answer_tls(server_config(&new.issue(&["localhost"]), None)).await;
    let clients = clients();
    let address = at(&server, "localhost");
    let tls = files.trusting(&old);
    message(&clients, &address, &tls).await;
    fs::write(
        tls.authorities.as_ref().unwrap(),
        format!("# renewed\n{}", new.pem()),
    )
    .unwrap();
    let endpoint = endpoint_of(&clients, &address, &tls);
    assert_eq!(post_for_json(&endpoint, "{}").await, "{}");
}
