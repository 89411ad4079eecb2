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
use hyper_util::client::proxy::matcher::Intercept;
use hyper_util::rt::TokioIo;
use thiserror::Error;
use tokio::net::TcpStream;
use tokio::time::timeout;
use tower_service::Service;

use super::proxy::{Proxies, TunnelError, tunnel};
use super::reason::chain;
use super::stream::{Layer, ServerStream};
use super::tls::{HandshakeError, TlsClient};

/// How long a connection may take to be made, with everything that belongs to it.
const LONGEST: Duration = Duration::from_secs(10);
/// After this time without a byte the system asks whether the other side is still there, so that
/// a stream whose server has vanished ends at some time.
const PROBE: Duration = Duration::from_secs(15);
/// How often it asks before it gives up.
const PROBES: u32 = 4;
/// Where a SOCKS proxy listens if nothing else is said.
const SOCKS_PORT: u16 = 1080;

type BoxError = Box<dyn StdError + Send + Sync>;

/// Makes connections with one TLS setting.
#[derive(Clone)]
pub(super) struct Connector(Arc<Shared>);

struct Shared {
    tcp: HttpConnector,
    tls: TlsClient,
    proxies: Arc<Proxies>,
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
    pub(super) fn new(tls: TlsClient, proxies: Arc<Proxies>) -> Self {
        let mut tcp = HttpConnector::new();
        tcp.enforce_http(false);
        tcp.set_nodelay(true);
        tcp.set_connect_timeout(Some(LONGEST));
        tcp.set_keepalive(Some(PROBE));
        tcp.set_keepalive_interval(Some(PROBE));
        tcp.set_keepalive_retries(Some(PROBES));
        Self(Arc::new(Shared { tcp, tls, proxies }))
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
        let proxy = self.proxies.for_address(uri);
        let mut is_proxied = false;
        let layer = match &proxy {
            None => self.tcp(uri.clone()).await.map_err(ConnectError::Tcp)?,
            Some(proxy) => {
                is_proxied = !is_secure && !is_socks(proxy);
                self.through(proxy, uri, authority).await?
            }
        };
        let layer = if is_secure {
            self.tls.to_server(authority, layer).await?
        } else {
            layer
        };
        Ok(ServerStream { layer, is_proxied })
    }

    /// Reaches a server through a proxy; if its address is not one with TLS, a proxy that speaks
    /// HTTP passes requests on by itself.
    async fn through(
        &self,
        proxy: &Intercept,
        uri: &Uri,
        authority: &Authority,
    ) -> Result<Layer, ConnectError> {
        let address = proxy.uri();
        let is_secure = uri.scheme() == Some(&Scheme::HTTPS);
        let port = authority
            .port_u16()
            .unwrap_or(if is_secure { 443 } else { 80 });
        let target = format!("{}:{port}", authority.host());
        if is_socks(proxy) {
            return self.socks(proxy, target).await;
        }
        let unreachable = |source| unreachable_proxy(address, source);
        let mut layer = self.tcp(address.clone()).await.map_err(unreachable)?;
        if address.scheme() == Some(&Scheme::HTTPS) {
            let name = address.authority().ok_or(ConnectError::NoHost)?;
            let secured = self.tls.to_proxy(name, layer).await;
            layer = secured.map_err(|error| unreachable_proxy(address, error.into()))?;
        }
        if is_secure {
            tunnel(&mut layer, &target, proxy.basic_auth()).await?;
        }
        Ok(layer)
    }

    async fn socks(&self, proxy: &Intercept, target: String) -> Result<Layer, ConnectError> {
        let address = proxy.uri();
        let scheme = address.scheme_str().unwrap_or_default();
        if !scheme.starts_with("socks5") {
            return Err(ConnectError::ProxyScheme(scheme.to_owned()));
        }
        let destination = with_authority(target, "http")?;
        let host = address.host().unwrap_or_default();
        let port = address.port_u16().unwrap_or(SOCKS_PORT);
        let listener = with_authority(format!("{host}:{port}"), "http")?;
        // As in curl: with `socks5h` the proxy looks up the name.
        let mut connector = SocksV5::new(listener, self.tcp.clone()).local_dns(scheme == "socks5");
        if let Some((user, password)) = proxy.raw_auth() {
            connector = connector.with_auth(user.to_owned(), password.to_owned());
        }
        match connector.call(destination).await {
            Ok(stream) => Ok(Layer::Plain(stream.into_inner())),
            Err(error) => Err(unreachable_proxy(address, error.into())),
        }
    }

    async fn tcp(&self, uri: Uri) -> Result<Layer, BoxError> {
        let mut tcp = self.tcp.clone();
        let stream: TokioIo<TcpStream> = tcp.call(uri).await?;
        Ok(Layer::Plain(stream.into_inner()))
    }
}

fn is_socks(proxy: &Intercept) -> bool {
    let scheme = proxy.uri().scheme_str();
    scheme.is_some_and(|scheme| scheme.starts_with("socks"))
}

fn with_authority(authority: String, scheme: &str) -> Result<Uri, ConnectError> {
    Uri::builder()
        .scheme(scheme)
        .authority(authority)
        .path_and_query("/")
        .build()
        .map_err(|_| ConnectError::NoHost)
}

fn unreachable_proxy(address: &Uri, source: BoxError) -> ConnectError {
    ConnectError::Proxy {
        proxy: address
            .authority()
            .map(ToString::to_string)
            .unwrap_or_default(),
        source,
    }
}
