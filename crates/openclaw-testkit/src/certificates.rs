//! Authorities of our own, and servers and clients that they vouch for.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair};
use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig};
use tokio_rustls::TlsAcceptor;

static COUNT: AtomicUsize = AtomicUsize::new(0);

/// An authority that signs certificates.
pub struct Authority(CertifiedIssuer<'static, KeyPair>);

/// A certificate and its key, in PEM.
pub struct Issued {
    /// The certificate.
    pub certificate: String,
    /// The key.
    pub key: String,
}

impl Authority {
    /// An authority that nobody knows yet.
    pub fn new() -> io::Result<Self> {
        let mut parameters = CertificateParams::new(Vec::new()).map_err(io::Error::other)?;
        // Authorities of the same name would be taken for one another.
        let number = COUNT.fetch_add(1, Ordering::SeqCst);
        let name = format!("authority {number}");
        parameters.distinguished_name.push(DnType::CommonName, name);
        parameters.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().map_err(io::Error::other)?;
        let issuer = CertifiedIssuer::self_signed(parameters, key).map_err(io::Error::other)?;
        Ok(Self(issuer))
    }

    /// Its own certificate, in PEM.
    pub fn pem(&self) -> String {
        self.0.pem()
    }

    /// Signs a certificate for a host, or for a client that is called so.
    pub fn issue(&self, name: &str) -> io::Result<Issued> {
        let parameters = CertificateParams::new(vec![name.to_owned()]).map_err(io::Error::other)?;
        let key = KeyPair::generate().map_err(io::Error::other)?;
        let certificate = parameters
            .signed_by(&key, &self.0)
            .map_err(io::Error::other)?;
        Ok(Issued {
            certificate: certificate.pem(),
            key: key.serialize_pem(),
        })
    }
}

impl Issued {
    /// What makes a server show this certificate, and ask clients for one of `clients`.
    pub fn acceptor(&self, clients: Option<&Authority>) -> io::Result<TlsAcceptor> {
        let provider = Arc::new(ring::default_provider());
        let builder = ServerConfig::builder_with_provider(Arc::clone(&provider))
            .with_safe_default_protocol_versions()
            .map_err(io::Error::other)?;
        let builder = match clients {
            Some(authority) => {
                let mut roots = RootCertStore::empty();
                let root = authority.0.der().clone();
                roots.add(root).map_err(io::Error::other)?;
                let roots = Arc::new(roots);
                let verifier = WebPkiClientVerifier::builder_with_provider(roots, provider);
                builder.with_client_cert_verifier(verifier.build().map_err(io::Error::other)?)
            }
            None => builder.with_no_client_auth(),
        };
        let chain: Result<Vec<_>, _> =
            CertificateDer::pem_slice_iter(self.certificate.as_bytes()).collect();
        let key = PrivateKeyDer::from_pem_slice(self.key.as_bytes());
        let config = builder
            .with_single_cert(
                chain.map_err(io::Error::other)?,
                key.map_err(io::Error::other)?,
            )
            .map_err(io::Error::other)?;
        Ok(TlsAcceptor::from(Arc::new(config)))
    }
}
