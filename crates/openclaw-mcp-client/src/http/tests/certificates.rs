//! Authorities, certificates and servers with TLS.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair};
use rustls::crypto::{CryptoProvider, ring};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::{NoServerSessionStorage, WebPkiClientVerifier};
use rustls::{RootCertStore, ServerConfig};
use tokio::net::TcpStream;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

use super::server::{Peer, Server, json};

static COUNT: AtomicUsize = AtomicUsize::new(0);

/// An authority that signs certificates.
pub(super) struct Authority(CertifiedIssuer<'static, KeyPair>);

/// A certificate and its key, as text.
pub(super) struct Issued {
    pub(super) certificate: String,
    pub(super) key: String,
}

impl Authority {
    pub(super) fn new() -> Self {
        let mut parameters = CertificateParams::new(Vec::new()).unwrap();
        // Authorities of the same name would be taken for one another.
        let number = COUNT.fetch_add(1, Ordering::SeqCst);
        let name = format!("authority {number}");
        parameters.distinguished_name.push(DnType::CommonName, name);
        parameters.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().unwrap();
        Self(CertifiedIssuer::self_signed(parameters, key).unwrap())
    }

    pub(super) fn pem(&self) -> String {
        self.0.pem()
    }

    pub(super) fn certificate(&self) -> CertificateDer<'static> {
        self.0.der().clone()
    }

    /// Signs a certificate for names.
    pub(super) fn issue(&self, names: &[&str]) -> Issued {
        let names: Vec<_> = names.iter().map(|name| (*name).to_owned()).collect();
        self.sign(&CertificateParams::new(names).unwrap())
    }

    /// Signs a certificate that has expired.
    pub(super) fn issue_expired(&self, names: &[&str]) -> Issued {
        let names: Vec<_> = names.iter().map(|name| (*name).to_owned()).collect();
        let mut parameters = CertificateParams::new(names).unwrap();
        parameters.not_before = rcgen::date_time_ymd(2001, 1, 1);
        parameters.not_after = rcgen::date_time_ymd(2002, 1, 1);
        self.sign(&parameters)
    }

    fn sign(&self, parameters: &CertificateParams) -> Issued {
        let key = KeyPair::generate().unwrap();
        let certificate = parameters.signed_by(&key, &self.0).unwrap();
        Issued {
            certificate: certificate.pem(),
            key: key.serialize_pem(),
        }
    }
}

impl Issued {
    fn certificates(&self) -> Vec<CertificateDer<'static>> {
        CertificateDer::pem_slice_iter(self.certificate.as_bytes())
            .map(Result::unwrap)
            .collect()
    }

    fn private_key(&self) -> PrivateKeyDer<'static> {
        PrivateKeyDer::from_pem_slice(self.key.as_bytes()).unwrap()
    }
}

/// What a server with TLS does: it shows a certificate, and may want to see one.
pub(super) fn server_config(issued: &Issued, clients: Option<&Authority>) -> ServerConfig {
    let provider: Arc<CryptoProvider> = Arc::new(ring::default_provider());
    let builder = ServerConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .unwrap();
    let builder = match clients {
        Some(authority) => {
            let mut roots = RootCertStore::empty();
            roots.add(authority.certificate()).unwrap();
            let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider);
            builder.with_client_cert_verifier(verifier.build().unwrap())
        }
        None => builder.with_no_client_auth(),
    };
    let mut config = builder
        .with_single_cert(issued.certificates(), issued.private_key())
        .unwrap();
    // Every connection is a whole handshake, as the tests expect.
    config.session_storage = Arc::new(NoServerSessionStorage {});
    config
}

/// Starts a server with TLS that does this with every connection.
pub(super) async fn serve_tls<F>(
    config: ServerConfig,
    serve: impl Fn(Peer<TlsStream<TcpStream>>) -> F + Clone + Send + Sync + 'static,
) -> Server
where
    F: Future<Output = ()> + Send + 'static,
{
    let acceptor = TlsAcceptor::from(Arc::new(config));
    Server::start(move |peer| {
        let (acceptor, serve) = (acceptor.clone(), serve.clone());
        async move {
            // A client that is not content goes away.
            if let Ok(stream) = acceptor.accept(peer.stream).await {
                serve(Peer::new(peer.number, stream)).await;
            }
        }
    })
    .await
}

/// Starts a server with TLS that answers every request with an empty object.
pub(super) async fn answer_tls(config: ServerConfig) -> Server {
    serve_tls(config, async |mut peer| {
        while peer.request().await.is_some() {
            peer.send(&json("{}")).await;
        }
    })
    .await
}
