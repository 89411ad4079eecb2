//! How both sides of a TLS connection prove who they are.

mod files;
mod verifier;

use std::fmt;
use std::sync::Arc;

use http::uri::Authority;
use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::ServerCertVerifier;
use rustls::crypto::{CryptoProvider, ring};
use rustls::pki_types::{InvalidDnsNameError, ServerName};
use rustls::sign::{CertifiedKey, SingleCertAndKey};
use rustls::{ClientConfig, Error as RustlsError, RootCertStore};
use rustls_platform_verifier::Verifier;
use thiserror::Error;
use tokio::sync::OnceCell;
use tokio::task::{JoinError, spawn_blocking};
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

pub use self::files::TlsError;
use self::verifier::{Additional, Unverified};
use super::stream::Layer;
use crate::target::TlsSettings;

/// The protocols that are offered to a server, the best first.
const HTTP: [&[u8]; 2] = [b"h2", b"http/1.1"];
/// Those that are offered where HTTP/2 won't do.
const HTTP_1: [&[u8]; 1] = [b"http/1.1"];

/// The authorities that the system trusts.
///
/// Reading them takes longer than everything else at the start of a process, so this is done when
/// a server is really reached over TLS, and only once. A failure is not remembered: somebody may
/// install them.
pub(super) struct SystemAuthorities {
    read: Arc<ReadAuthorities>,
    verifier: OnceCell<Arc<Verifier>>,
}

/// How the authorities of the system are read.
pub(super) type ReadAuthorities =
    dyn Fn(Arc<CryptoProvider>) -> Result<Verifier, RustlsError> + Send + Sync;

/// Makes TLS connections with one setting.
pub(super) struct TlsClient {
    provider: Arc<CryptoProvider>,
    /// Whether servers have to prove who they are.
    verify: bool,
    /// Authorities of a file, trusted beside those of the system.
    own: Option<Arc<WebPkiServerVerifier>>,
    identity: Option<Arc<CertifiedKey>>,
    system: Arc<SystemAuthorities>,
    servers: OnceCell<Connectors>,
    /// To proxies, for which only the authorities count: what else is set is for the server.
    proxies: OnceCell<TlsConnector>,
}

/// To servers, by the versions of HTTP that are offered.
struct Connectors {
    all: TlsConnector,
    first: TlsConnector,
}

/// The versions of HTTP that a server is offered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Versions {
    /// Both.
    All,
    /// HTTP/1.1 alone.
    First,
}

/// Why there is no TLS connection.
#[derive(Debug, Error)]
pub(super) enum HandshakeError {
    /// The system trusts nobody.
    #[error(
        "this system has no certificate authorities (on Linux they are the package \
         `ca-certificates`; `SSL_CERT_FILE` or `caCert` names a file)"
    )]
    NoAuthorities,
    /// TLS can't be set up at all.
    #[error("TLS cannot be set up: {0}")]
    Setup(#[from] RustlsError),
    /// Authorities were not read to the end, because the process ends.
    #[error("certificate authorities were not read")]
    Ended(#[from] JoinError),
    /// The host has no name that a certificate could be for.
    #[error("its name is not one that a certificate can be for")]
    Name(#[from] InvalidDnsNameError),
    /// The other side, or what it showed, was not accepted.
    #[error("the TLS connection was not made")]
    Failed(#[from] std::io::Error),
}

impl Default for SystemAuthorities {
    fn default() -> Self {
        Self::new(Arc::new(Verifier::new))
    }
}

impl SystemAuthorities {
    pub(super) fn new(read: Arc<ReadAuthorities>) -> Self {
        Self {
            read,
            verifier: OnceCell::new(),
        }
    }

    async fn get(&self, provider: &Arc<CryptoProvider>) -> Result<Arc<Verifier>, HandshakeError> {
        let verifier = self.verifier.get_or_try_init(async || {
            let (read, provider) = (Arc::clone(&self.read), Arc::clone(provider));
            let verifier = spawn_blocking(move || read(provider)).await?;
            verifier.map(Arc::new).map_err(|error| {
                tracing::debug!(%error, "the system's certificate authorities can't be read");
                HandshakeError::NoAuthorities
            })
        });
        verifier.await.cloned()
    }
}

impl TlsClient {
    /// Reads the files of a setting.
    pub(super) fn new(
        settings: &TlsSettings,
        system: Arc<SystemAuthorities>,
    ) -> Result<Self, TlsError> {
        // The provider is given to everything by hand: nothing depends on one being installed for
        // the whole process.
        let provider = Arc::new(ring::default_provider());
        // They are needed even if servers are not verified: there may be a proxy with TLS.
        let own = match &settings.authorities {
            Some(path) => {
                let roots = files::authorities(path)?;
                Some(own_verifier(roots, &provider, path)?)
            }
            None => None,
        };
        let identity = match &settings.identity {
            Some(identity) => Some(Arc::new(files::identity(identity, &provider)?)),
            None => None,
        };
        Ok(Self {
            provider,
            verify: settings.verify,
            own,
            identity,
            system,
            servers: OnceCell::new(),
            proxies: OnceCell::new(),
        })
    }

    /// Makes a TLS connection to a server.
    pub(super) async fn to_server(
        &self,
        authority: &Authority,
        stream: Layer,
        versions: Versions,
    ) -> Result<Layer, HandshakeError> {
        let connectors = self.servers.get_or_try_init(async || {
            let verifier = if self.verify {
                self.verifier().await?
            } else {
                Arc::new(Unverified::new(&self.provider))
            };
            let mut all = self.config(verifier)?;
            if let Some(identity) = &self.identity {
                let identity = SingleCertAndKey::from(Arc::clone(identity));
                all.client_auth_cert_resolver = Arc::new(identity);
            }
            let first = all.clone();
            all.alpn_protocols = HTTP.map(<[u8]>::to_vec).to_vec();
            Ok::<_, HandshakeError>(Connectors {
                all: TlsConnector::from(Arc::new(all)),
                first: TlsConnector::from(Arc::new(first)),
            })
        });
        let connectors = connectors.await?;
        let connector = match versions {
            Versions::All => &connectors.all,
            Versions::First => &connectors.first,
        };
        handshake(connector, authority, stream).await
    }

    /// Makes a TLS connection to a proxy, which is spoken to in HTTP/1. It is somebody else than
    /// the server: it always has to prove who it is, never sees our certificate, and what is kept
    /// to make the next handshake shorter is kept apart.
    pub(super) async fn to_proxy(
        &self,
        authority: &Authority,
        stream: Layer,
    ) -> Result<Layer, HandshakeError> {
        let connector = self.proxies.get_or_try_init(async || {
            let config = self.config(self.verifier().await?)?;
            Ok::<_, HandshakeError>(TlsConnector::from(Arc::new(config)))
        });
        handshake(connector.await?, authority, stream).await
    }

    /// A setting without a certificate of our own, for HTTP/1 alone.
    fn config(&self, verifier: Arc<dyn ServerCertVerifier>) -> Result<ClientConfig, RustlsError> {
        let mut config = ClientConfig::builder_with_provider(Arc::clone(&self.provider))
            .with_safe_default_protocol_versions()?
            .dangerous()
            .with_custom_certificate_verifier(verifier)
            .with_no_client_auth();
        config.alpn_protocols = HTTP_1.map(<[u8]>::to_vec).to_vec();
        Ok(config)
    }

    async fn verifier(&self) -> Result<Arc<dyn ServerCertVerifier>, HandshakeError> {
        Ok(match &self.own {
            None => self.system.get(&self.provider).await?,
            Some(own) => {
                // With authorities of its own a server can be reached from a system that has none.
                match self.system.get(&self.provider).await {
                    Ok(system) => Arc::new(Additional::new(Arc::clone(own), system)),
                    Err(HandshakeError::NoAuthorities) => Arc::clone(own) as _,
                    Err(error) => return Err(error),
                }
            }
        })
    }
}

async fn handshake(
    connector: &TlsConnector,
    authority: &Authority,
    stream: Layer,
) -> Result<Layer, HandshakeError> {
    let host = authority.host();
    let host = host.trim_start_matches('[').trim_end_matches(']');
    let name = ServerName::try_from(host)?.to_owned();
    let stream: TlsStream<Layer> = connector.connect(name, stream).await?;
    Ok(Layer::Secure(Box::new(stream)))
}

fn own_verifier(
    roots: RootCertStore,
    provider: &Arc<CryptoProvider>,
    path: &std::path::Path,
) -> Result<Arc<WebPkiServerVerifier>, TlsError> {
    WebPkiServerVerifier::builder_with_provider(Arc::new(roots), Arc::clone(provider))
        .build()
        .map_err(|error| TlsError::BadCertificate {
            path: path.to_owned(),
            reason: error.to_string(),
        })
}

impl fmt::Debug for SystemAuthorities {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("SystemAuthorities")
    }
}

impl fmt::Debug for TlsClient {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("TlsClient")
    }
}
