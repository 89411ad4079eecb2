//! Connections that are secured, and clients that show a certificate.

use std::io;
use std::path::Path;
use std::sync::Arc;

use serde_json::json;
use tokio::net::TcpStream;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::crypto::{CryptoProvider, ring};
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::server::WebPkiClientVerifier;
use tokio_rustls::rustls::{RootCertStore, ServerConfig};
use tokio_rustls::server::TlsStream;

use crate::fake_server::server::Server;

/// What secures connections, if `--tls` asks for it.
pub(super) fn acceptor(server: &Server) -> io::Result<Option<TlsAcceptor>> {
    let faults = &server.options.http;
    let [certificate, key] = faults.tls.as_slice() else {
        return Ok(None);
    };
    let provider = Arc::new(ring::default_provider());
    let builder = ServerConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .map_err(io::Error::other)?;
    let builder = match &faults.client_ca {
        None => builder.with_no_client_auth(),
        Some(authority) => {
            let verifier = WebPkiClientVerifier::builder_with_provider(
                Arc::new(roots(authority)?),
                provider as Arc<CryptoProvider>,
            );
            builder.with_client_cert_verifier(verifier.build().map_err(io::Error::other)?)
        }
    };
    let key = PrivateKeyDer::from_pem_file(key).map_err(io::Error::other)?;
    let config = builder
        .with_single_cert(certificates(certificate)?, key)
        .map_err(io::Error::other)?;
    Ok(Some(TlsAcceptor::from(Arc::new(config))))
}

fn certificates(path: &Path) -> io::Result<Vec<CertificateDer<'static>>> {
    CertificateDer::pem_file_iter(path)
        .map_err(io::Error::other)?
        .collect::<Result<_, _>>()
        .map_err(io::Error::other)
}

fn roots(path: &Path) -> io::Result<RootCertStore> {
    let mut roots = RootCertStore::empty();
    for certificate in certificates(path)? {
        roots.add(certificate).map_err(io::Error::other)?;
    }
    Ok(roots)
}

/// Secures a connection; the journal says how that went.
pub(super) async fn secure(
    server: &Server,
    acceptor: &TlsAcceptor,
    stream: TcpStream,
) -> Option<TlsStream<TcpStream>> {
    match acceptor.accept(stream).await {
        Ok(stream) => {
            let shown = stream.get_ref().1.peer_certificates().map_or(0, <[_]>::len);
            let details = json!({"client_certificates": shown});
            server.journal.record("tls", details);
            Some(stream)
        }
        Err(error) => {
            let details = json!({"error": error.to_string()});
            server.journal.record("tls failed", details);
            None
        }
    }
}
