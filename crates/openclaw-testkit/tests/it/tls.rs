//! https, with an authority of our own and with client certificates.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::sync::Arc;

use openclaw_testkit::certificates::Issued;
use openclaw_testkit::fake_login::FakeLogin;
use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};
use url::Url;

use crate::conversation::{PATIENCE, fake};

/// An authority and what it has certified, as files.
struct Certificates {
    directory: tempfile::TempDir,
    authority: CertificateDer<'static>,
    client: (CertificateDer<'static>, PrivateKeyDer<'static>),
}

impl Certificates {
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().unwrap();
        let authority = params.self_signed(&key).unwrap();
        let issuer = Issuer::new(params, key);
        let certify = |name: &str| {
            let key = KeyPair::generate().unwrap();
            let params = CertificateParams::new(vec![name.to_owned()]).unwrap();
            (params.signed_by(&key, &issuer).unwrap(), key)
        };
        let (server, server_key) = certify("127.0.0.1");
        let (client, client_key) = certify("client");
        let write = |name: &str, text: String| {
            std::fs::write(directory.path().join(name), text).unwrap();
        };
        write("authority.pem", authority.pem());
        write("server.pem", server.pem());
        write("server.key", server_key.serialize_pem());
        let client_key = PrivateKeyDer::try_from(client_key.serialize_der()).unwrap();
        Self {
            authority: authority.der().clone(),
            client: (client.der().clone(), client_key),
            directory,
        }
    }

    fn path(&self, name: &str) -> std::path::PathBuf {
        Path::join(self.directory.path(), name)
    }
}

/// Asks for something that is not there; the error if the connection can't be secured.
fn visit(port: u16, certificates: &Certificates, shows: bool) -> std::io::Result<String> {
    let mut roots = RootCertStore::empty();
    roots.add(certificates.authority.clone()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots);
    let config = if shows {
        let (certificate, key) = &certificates.client;
        let chain = vec![certificate.clone()];
        config
            .with_client_auth_cert(chain, key.clone_key())
            .unwrap()
    } else {
        config.with_no_client_auth()
    };
    let name = ServerName::try_from("127.0.0.1").unwrap();
    let client = ClientConnection::new(Arc::new(config), name).unwrap();
    let stream = TcpStream::connect(("127.0.0.1", port))?;
    stream.set_read_timeout(Some(PATIENCE))?;
    let mut stream = StreamOwned::new(client, stream);
    stream.write_all(b"GET /nothing HTTP/1.1\r\nhost: here\r\nconnection: close\r\n\r\n")?;
    let mut bytes = [0; 12];
    stream.read_exact(&mut bytes)?;
    Ok(String::from_utf8(bytes.to_vec()).unwrap())
}

#[test]
fn connections_can_be_secured() {
    let certificates = Certificates::new();
    let server = fake("http --tls")
        .flag(certificates.path("server.pem"))
        .flag(certificates.path("server.key"))
        .start()
        .unwrap();
    assert!(server.url().starts_with("https://127.0.0.1:"));
    assert_eq!(
        visit(server.port(), &certificates, false).unwrap(),
        "HTTP/1.1 404"
    );
    assert!(visit(server.port(), &Certificates::new(), false).is_err());
    assert!(
        server
            .journal()
            .wait_for_event(PATIENCE, "tls failed")
            .is_some()
    );
}

#[test]
fn clients_can_be_made_to_show_a_certificate() {
    let certificates = Certificates::new();
    let server = fake("http --tls")
        .flag(certificates.path("server.pem"))
        .flag(certificates.path("server.key"))
        .flag("--client-ca")
        .flag(certificates.path("authority.pem"))
        .start()
        .unwrap();
    assert!(visit(server.port(), &certificates, false).is_err());
    assert_eq!(
        visit(server.port(), &certificates, true).unwrap(),
        "HTTP/1.1 404"
    );
    let secured = server.journal().events("tls");
    assert_eq!(secured.len(), 1);
    assert_eq!(secured[0]["client_certificates"], 1);
}

#[test]
fn both_servers_of_a_login_can_be_secured() {
    let certificates = Certificates::new();
    let read = |name: &str| std::fs::read_to_string(certificates.path(name)).unwrap();
    let issued = Issued {
        certificate: read("server.pem"),
        key: read("server.key"),
    };
    let login = FakeLogin::start_with_tls(issued.acceptor(None).unwrap(), "").unwrap();
    for address in [login.url(), login.issuer()] {
        let address = Url::parse(&address).unwrap();
        assert_eq!(address.scheme(), "https");
        let visited = visit(address.port().unwrap(), &certificates, false);
        assert_eq!(visited.unwrap(), "HTTP/1.1 404");
    }
}
