//! How a connection is made: directly or through a proxy, with or without TLS.

use std::error::Error as StdError;
use std::future::ready;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use http::Uri;
use http::uri::{Authority, Scheme};
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::client::legacy::connect::proxy::SocksV5;
use hyper_util::rt::TokioIo;
use thiserror::Error;
use tokio::net::TcpStream;
use tokio::time::timeout;
use tower_service::Service;

use super::proxy::{Proxies, Proxy, ProxyKind, TunnelError, UnreadableProxy, tunnel};
use super::reason::chain;
use super::stream::{Layer, ServerStream};
use super::tls::{HandshakeError, TlsClient, Versions};

/// How long a connection may take to be made, with everything that belongs to it. Most requests
/// have less time.
const LONGEST: Duration = Duration::from_mins(1);
/// How long the connections to all addresses of a host may take, one after the other: each has its
/// share of it. With two, of which the first is dead, the second has its turn while the usual
/// request still waits.
const LONGEST_TCP: Duration = Duration::from_secs(30);
/// After this time without a byte the system asks whether the other side is still there, so that
/// a stream whose server has vanished ends at some time.
const PROBE: Duration = Duration::from_secs(15);
/// How often it asks before it gives up.
const PROBES: u32 = 4;

type BoxError = Box<dyn StdError + Send + Sync>;

/// Makes connections with one TLS setting.
#[derive(Clone)]
pub(super) struct Connector(Arc<Shared>);

struct Shared {
    tcp: HttpConnector,
    tls: Arc<TlsClient>,
    proxies: Arc<Proxies>,
    versions: Versions,
}

/// Why there is no connection.
#[derive(Debug, Error)]
pub(super) enum ConnectError {
    /// It took too long.
    #[error("no connection within {} s", LONGEST.as_secs())]
    TimedOut,
    /// The host can't be reached.
    #[error("no connection")]
    Tcp(#[source] BoxError),
    /// The proxy can't be reached.
    #[error("no connection to the proxy {proxy}")]
    Proxy {
        /// Its host and port.
        proxy: String,
        /// Why.
        #[source]
        source: BoxError,
    },
    /// The proxy does not let us through.
    #[error(transparent)]
    Tunnel(#[from] TunnelError),
    /// The other side, or what it showed, was not accepted.
    #[error(transparent)]
    Tls(#[from] HandshakeError),
    /// Nobody knows which proxy is meant.
    #[error(transparent)]
    UnreadableProxy(#[from] UnreadableProxy),
    /// The proxy is of a kind that is not supported.
    #[error("proxies with the scheme `{0}` are not supported")]
    ProxyScheme(String),
    /// The address has no host.
    #[error("the address has no host")]
    NoHost,
}

/// Whether a request failed because its connection took too long.
pub(super) fn is_connect_timeout(error: &(dyn StdError + 'static)) -> bool {
    chain(error)
        .filter_map(|error| error.downcast_ref())
        .any(|error| matches!(error, ConnectError::TimedOut))
}

impl Connector {
    pub(super) fn new(tls: Arc<TlsClient>, proxies: Arc<Proxies>, versions: Versions) -> Self {
        let mut tcp = HttpConnector::new();
        tcp.enforce_http(false);
        tcp.set_nodelay(true);
        tcp.set_connect_timeout(Some(LONGEST_TCP));
        tcp.set_keepalive(Some(PROBE));
        tcp.set_keepalive_interval(Some(PROBE));
        tcp.set_keepalive_retries(Some(PROBES));
        Self(Arc::new(Shared {
            tcp,
            tls,
            proxies,
            versions,
        }))
    }
}

impl Service<Uri> for Connector {
    type Response = TokioIo<ServerStream>;
    type Error = ConnectError;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Self::Error>> + Send>>;

    fn poll_ready(&mut self, _context: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, uri: Uri) -> Self::Future {
        let Some(authority) = uri.authority().cloned() else {
            return Box::pin(ready(Err(ConnectError::NoHost)));
        };
        let shared = Arc::clone(&self.0);
        Box::pin(async move {
            match timeout(LONGEST, shared.connect(&uri, &authority)).await {
                Ok(connected) => connected.map(TokioIo::new),
                Err(_) => Err(ConnectError::TimedOut),
            }
        })
    }
}

impl Shared {
    async fn connect(
        &self,
        uri: &Uri,
        authority: &Authority,
    ) -> Result<ServerStream, ConnectError> {
        let is_secure = uri.scheme() == Some(&Scheme::HTTPS);
        let proxy = self.proxies.for_address(uri)?;
        let layer = match proxy {
            None => self.tcp(uri.clone()).await.map_err(ConnectError::Tcp)?,
            Some(proxy) => self.through(proxy, uri, authority).await?,
        };
        let is_proxied = proxy.is_some_and(|proxy| proxy.reads(uri));
        let layer = if is_secure {
            self.tls.to_server(authority, layer, self.versions).await?
        } else {
            layer
        };
        Ok(ServerStream::new(layer, is_proxied))
    }

    /// Reaches a server through a proxy; if its address is not one with TLS, a proxy that speaks
    /// HTTP passes requests on by itself.
    async fn through(
        &self,
        proxy: &Proxy,
        uri: &Uri,
        authority: &Authority,
    ) -> Result<Layer, ConnectError> {
        let is_secure = uri.scheme() == Some(&Scheme::HTTPS);
        let port = authority
            .port_u16()
            .unwrap_or(if is_secure { 443 } else { 80 });
        let target = format!("{}:{port}", authority.host());
        let unreachable = |source| unreachable_proxy(proxy, source);
        let listener = with_authority(proxy.authority.as_str())?;
        match &proxy.kind {
            ProxyKind::Http | ProxyKind::Https => {}
            ProxyKind::Socks5 { looks_up_here } => {
                let mut connector =
                    SocksV5::new(listener, self.tcp.clone()).local_dns(*looks_up_here);
                if let Some(user) = &proxy.user {
                    let password = user.password.expose().to_owned();
                    connector = connector.with_auth(user.name.clone(), password);
                }
                let stream = connector.call(with_authority(&target)?).await;
                let stream = stream.map_err(|error| unreachable(error.into()))?;
                return Ok(Layer::Plain(stream.into_inner()));
            }
            ProxyKind::OtherSocks(scheme) => {
                return Err(ConnectError::ProxyScheme(scheme.clone()));
            }
        }
        let mut layer = self.tcp(listener).await.map_err(unreachable)?;
        if proxy.kind == ProxyKind::Https {
            let secured = self.tls.to_proxy(&proxy.authority, layer).await;
            layer = secured.map_err(|error| unreachable(error.into()))?;
        }
        if is_secure {
            tunnel(&mut layer, &target, proxy.basic()).await?;
        }
        Ok(layer)
    }

    async fn tcp(&self, uri: Uri) -> Result<Layer, BoxError> {
        let mut tcp = self.tcp.clone();
        let stream: TokioIo<TcpStream> = tcp.call(uri).await?;
        Ok(Layer::Plain(stream.into_inner()))
    }
}

fn with_authority(authority: &str) -> Result<Uri, ConnectError> {
    Uri::builder()
        .scheme(Scheme::HTTP)
        .authority(authority)
        .path_and_query("/")
        .build()
        .map_err(|_| ConnectError::NoHost)
}

fn unreachable_proxy(proxy: &Proxy, source: BoxError) -> ConnectError {
    ConnectError::Proxy {
        proxy: proxy.authority.to_string(),
        source,
    }
}
