//! Servers with certificates, whole conversations long.

use std::fs;
use std::path::{Path, PathBuf};

use openclaw_mcp_client::{ClientIdentity, ConnectError, Endpoint, Target, TlsSettings};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};

use crate::lab::{Lab, close, echo};

/// An authority, a server and a client that it vouches for, as files.
struct Papers {
    directory: tempfile::TempDir,
}

impl Papers {
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let authority = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
        fs::write(directory.path().join("authority.pem"), authority.pem()).unwrap();
        for name in ["server", "client"] {
            let key = KeyPair::generate().unwrap();
            let params = CertificateParams::new(vec!["127.0.0.1".to_owned()]).unwrap();
            let certificate = params.signed_by(&key, &authority).unwrap();
            fs::write(
                directory.path().join(format!("{name}.pem")),
                certificate.pem(),
            )
            .unwrap();
            fs::write(
                directory.path().join(format!("{name}.key")),
                key.serialize_pem(),
            )
            .unwrap();
        }
        Self { directory }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }
}

fn with_tls(mut target: Target, tls: TlsSettings) -> Target {
    if let Endpoint::Address(address) = &mut target.endpoint {
        address.tls = tls;
    }
    target
}

fn shown(path: &Path) -> &str {
    path.to_str().unwrap()
}

#[tokio::test]
async fn an_authority_of_ones_own_is_trusted_where_it_is_named() {
    let papers = Papers::new();
    let mut lab = Lab::new();
    let (certificate, key) = (papers.path("server.pem"), papers.path("server.key"));
    for mode in ["http --era legacy", "http --era modern", "sse"] {
        let flags = format!("{mode} --tls {} {}", shown(&certificate), shown(&key));
        let (target, _) = lab.address(&flags);
        let error = lab.connector().connect(&target).await.err().unwrap();
        assert!(
            matches!(error, ConnectError::Unreachable(_)),
            "{mode}: {error}"
        );
        let tls = TlsSettings {
            authorities: Some(papers.path("authority.pem")),
            ..TlsSettings::default()
        };
        let connection = lab.connect(&with_tls(target.clone(), tls)).await;
        echo(&connection, mode).await;
        close(connection).await;
        let tls = TlsSettings {
            verify: false,
            ..TlsSettings::default()
        };
        let connection = lab.connect(&with_tls(target, tls)).await;
        echo(&connection, mode).await;
        close(connection).await;
    }
    lab.finish().await;
}

#[tokio::test]
async fn we_prove_who_we_are_where_the_server_wants_it() {
    let papers = Papers::new();
    let mut lab = Lab::new();
    let flags = format!(
        "http --tls {} {} --client-ca {}",
        shown(&papers.path("server.pem")),
        shown(&papers.path("server.key")),
        shown(&papers.path("authority.pem")),
    );
    let (target, _) = lab.address(&flags);
    let mut tls = TlsSettings {
        authorities: Some(papers.path("authority.pem")),
        ..TlsSettings::default()
    };
    let without = with_tls(target.clone(), tls.clone());
    let error = lab.connector().connect(&without).await.err().unwrap();
    assert!(matches!(error, ConnectError::Unreachable(_)), "{error}");
    tls.identity = Some(ClientIdentity {
        certificate: papers.path("client.pem"),
        key: Some(papers.path("client.key")),
    });
    let connection = lab.connect(&with_tls(target, tls)).await;
    echo(&connection, "known to each other").await;
    close(connection).await;
    lab.finish().await;
}

#[tokio::test]
async fn a_file_that_is_not_there_is_named() {
    let mut lab = Lab::new();
    let (target, _) = lab.address("http");
    let tls = TlsSettings {
        authorities: Some(PathBuf::from("/no/such/authority.pem")),
        ..TlsSettings::default()
    };
    let error = lab
        .connector()
        .connect(&with_tls(target, tls))
        .await
        .err()
        .unwrap();
    assert!(matches!(error, ConnectError::Tls(_)), "{error}");
    assert!(
        error.to_string().contains("/no/such/authority.pem"),
        "{error}"
    );
    assert!(error.is_permanent());
    lab.finish().await;
}
