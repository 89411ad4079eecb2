//! The pools of connections of one TLS setting, shared by all servers of the process.

use std::collections::{BTreeSet, HashMap};
use std::fmt;
use std::fs;
use std::path::Path;
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use http::uri::{Authority, Scheme};
use http::{HeaderName, HeaderValue, Request, Response, Uri};
use hyper::body::Incoming;
use hyper_util::client::legacy::{Client, Error as ClientError};
use hyper_util::rt::{TokioExecutor, TokioTimer};
use tokio::time::error::Elapsed;
use tokio::time::{Instant, timeout_at};
use url::Url;

use super::connector::{Connector, is_connect_timeout};
use super::error::HttpError;
use super::kept::{KeptConnections, KeptError};
use super::proxy::Proxies;
use super::reason::{is_other_version, is_refused_handshake, is_unprocessed, is_unsent};
use super::redirect::origin;
use super::request_body::{Progress, RequestBody};
use super::tls::{SystemAuthorities, TlsClient, TlsError, Versions};
use crate::target::TlsSettings;

/// How long a connection that nobody uses is kept.
pub(super) const KEPT: Duration = Duration::from_secs(90);
/// How many such connections are kept for one address.
pub(super) const MOST_KEPT: usize = 32;
/// How often an HTTP/2 connection that carries something is asked whether it still works.
const PING: Duration = Duration::from_secs(30);
/// How many headers an answer may have. Behind some proxies there are more than the usual 100.
pub(super) const MOST_HEADERS: usize = 256;

/// The pools of the process.
#[derive(Debug)]
pub(crate) struct HttpClients {
    proxies: Arc<Proxies>,
    authorities: Arc<SystemAuthorities>,
    clients: Mutex<HashMap<TlsSettings, Kept>>,
    /// The headers that somebody was told about.
    told: Arc<Mutex<BTreeSet<String>>>,
}

/// A pool and the files that it was made with.
#[derive(Debug)]
struct Kept {
    client: HttpClient,
    files: Vec<FileState>,
}

/// What tells whether a file has changed.
type FileState = Option<(SystemTime, u64)>;

/// The connections of one TLS setting.
#[derive(Clone)]
pub(crate) struct HttpClient(Arc<Pools>);

struct Pools {
    /// For requests without TLS, by the host and port.
    plain: Mutex<HashMap<Authority, Arc<KeptConnections>>>,
    connector: Connector,
    /// For most requests with TLS.
    all: Client<Connector, RequestBody>,
    /// For those that must not be sent over HTTP/2.
    first: Client<Connector, RequestBody>,
    proxies: Arc<Proxies>,
    told: Arc<Mutex<BTreeSet<String>>>,
}

impl Default for HttpClients {
    fn default() -> Self {
        Self::new(|name| {
            let value = std::env::var_os(name)?;
            // What is not text is no address either, which is told like any other mistake.
            Some(value.to_string_lossy().into_owned())
        })
    }
}

impl HttpClients {
    /// Makes pools that use the proxies which the variables of an environment name.
    pub(crate) fn new(variable: impl Fn(&str) -> Option<String>) -> Self {
        Self {
            proxies: Arc::new(Proxies::new(variable)),
            authorities: Arc::default(),
            clients: Mutex::default(),
            told: Arc::default(),
        }
    }

    /// Replaces the authorities of the system.
    #[cfg(test)]
    pub(super) fn with_authorities(mut self, authorities: SystemAuthorities) -> Self {
        self.authorities = Arc::new(authorities);
        self
    }

    /// Returns the pool for a TLS setting. Files that the setting names are read here, so that a
    /// wrong one is told as such and not as a server that can't be reached; when they have changed
    /// since, as certificates do that are renewed, there is a new pool.
    pub(crate) fn get(&self, tls: &TlsSettings) -> Result<HttpClient, TlsError> {
        let files = files(tls).map(file_state).collect();
        let mut clients = self.clients.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(kept) = clients.get(tls).filter(|kept| kept.files == files) {
            return Ok(kept.client.clone());
        }
        let connections = TlsClient::new(tls, Arc::clone(&self.authorities))?;
        let client = HttpClient::new(
            connections,
            Arc::clone(&self.proxies),
            Arc::clone(&self.told),
        );
        let kept = Kept {
            client: client.clone(),
            files,
        };
        clients.insert(tls.clone(), kept);
        Ok(client)
    }
}

fn files(tls: &TlsSettings) -> impl Iterator<Item = &Path> {
    let identity = tls.identity.as_ref();
    tls.authorities
        .as_deref()
        .into_iter()
        .chain(identity.map(|identity| identity.certificate.as_path()))
        .chain(identity.and_then(|identity| identity.key.as_deref()))
}

fn file_state(path: &Path) -> FileState {
    let metadata = fs::metadata(path).ok()?;
    Some((metadata.modified().ok()?, metadata.len()))
}

impl HttpClient {
    fn new(tls: TlsClient, proxies: Arc<Proxies>, told: Arc<Mutex<BTreeSet<String>>>) -> Self {
        let tls = Arc::new(tls);
        let connector = |versions| Connector::new(Arc::clone(&tls), Arc::clone(&proxies), versions);
        let pool = |versions| {
            Client::builder(TokioExecutor::new())
                .pool_idle_timeout(KEPT)
                .pool_max_idle_per_host(MOST_KEPT)
                .pool_timer(TokioTimer::new())
                .timer(TokioTimer::new())
                .http1_max_headers(MOST_HEADERS)
                .http2_keep_alive_interval(PING)
                .build(connector(versions))
        };
        Self(Arc::new(Pools {
            plain: Mutex::default(),
            connector: connector(Versions::First),
            all: pool(Versions::All),
            first: pool(Versions::First),
            proxies,
            told,
        }))
    }

    /// The connections to the host of an address, if it is one without TLS.
    pub(super) fn plain(&self, uri: &Uri) -> Option<Arc<KeptConnections>> {
        let authority = uri
            .authority()
            .filter(|_| uri.scheme() == Some(&Scheme::HTTP))?;
        let mut plain = self.0.plain.lock().unwrap_or_else(PoisonError::into_inner);
        let kept = plain.entry(authority.clone()).or_insert_with(|| {
            let connector = self.0.connector.clone();
            Arc::new(KeptConnections::new(connector, uri.clone()))
        });
        Some(Arc::clone(kept))
    }

    /// Whether a proxy on the way to an address reads requests and passes them on by itself.
    pub(super) fn is_read_by_proxy(&self, uri: &Uri) -> bool {
        let proxy = self.0.proxies.for_address(uri).ok().flatten();
        proxy.is_some_and(|proxy| proxy.reads(uri))
    }

    /// What a proxy on the way to an address wants to see in the request.
    pub(super) fn proxy_authorization(&self, uri: &Uri) -> Option<HeaderValue> {
        self.0.proxies.request_authorization(uri)
    }

    /// Says that a header of the configuration is not sent, the first time. Says whether it was.
    pub(super) fn warn_of_header(&self, name: &HeaderName) -> bool {
        let mut told = self.0.told.lock().unwrap_or_else(PoisonError::into_inner);
        let is_new = told.insert(name.as_str().to_owned());
        if is_new {
            tracing::warn!(
                header = %name,
                "a header of the configuration is left out: it is set by the transport"
            );
        }
        is_new
    }

    /// Sends a request over a pool and waits for the head of the answer.
    ///
    /// A server may close a connection that was kept, at the very moment that a request is sent
    /// over it. Each kept connection is watched by a task of hyper's, which takes it out of the
    /// pool once it sees the end; a request that was handed to it in between, and of which nothing
    /// was written, comes back and is sent over another connection by the pool itself
    /// (`retry_canceled_requests`, on by default). What is left is the time that the server's
    /// farewell is on its way: something was written, the server may have processed it before it
    /// closed, and there is no way to know. Then the error is `Interrupted`.
    pub(super) async fn send(
        &self,
        mut request: Request<RequestBody>,
        url: &Url,
        versions: Versions,
        deadline: Option<Instant>,
    ) -> Result<Response<Incoming>, SendError> {
        let progress = Progress::of(&mut request);
        let pool = match versions {
            Versions::All => &self.0.all,
            Versions::First => &self.0.first,
        };
        match by(deadline, pin!(pool.request(request))).await {
            Ok(Ok(response)) => Ok(response),
            Ok(Err(error)) if is_unprocessed(&error) => {
                let unreachable = HttpError::unreachable(&origin(url), &error);
                Err(SendError::Unprocessed(unreachable))
            }
            Ok(Err(error)) if error.is_connect() && is_other_version(&error) => {
                let unreachable = HttpError::unreachable(&origin(url), &error);
                Err(SendError::OtherVersion(unreachable))
            }
            Ok(Err(error)) => Err(SendError::Final(explain(&error, url))),
            Err(_) => {
                let connected = progress.has_begun();
                Err(SendError::Final(HttpError::TimedOut { connected }))
            }
        }
    }
}

/// Sends a request without TLS and waits for the head of the answer.
pub(super) async fn send_plain(
    kept: &Arc<KeptConnections>,
    request: Request<RequestBody>,
    url: &Url,
    deadline: Option<Instant>,
) -> Result<Response<Incoming>, HttpError> {
    let mut connected = false;
    let sent = {
        let sending = pin!(kept.send(request, &mut connected));
        by(deadline, sending).await
    };
    match sent {
        Ok(Ok(response)) => Ok(response),
        Ok(Err(KeptError::Connect(error))) if is_connect_timeout(&error) => {
            Err(HttpError::TimedOut { connected: false })
        }
        Ok(Err(KeptError::Connect(error))) => Err(HttpError::unreachable(&origin(url), &error)),
        Ok(Err(KeptError::Unsent(error))) => Err(HttpError::unreachable(&origin(url), &error)),
        Ok(Err(KeptError::Broken(error))) if is_refused_handshake(&error) => {
            // There is TLS after all: to the proxy.
            Err(HttpError::unreachable(&origin(url), &error))
        }
        Ok(Err(KeptError::Broken(error))) => Err(HttpError::broken(&error)),
        Err(_) => Err(HttpError::TimedOut { connected }),
    }
}

/// Waits until the deadline, if there is one.
async fn by<F: Future>(
    deadline: Option<Instant>,
    future: Pin<&mut F>,
) -> Result<F::Output, Elapsed> {
    match deadline {
        Some(deadline) => timeout_at(deadline, future).await,
        None => Ok(future.await),
    }
}

/// Why a request has no answer.
pub(super) enum SendError {
    /// The server says that it did nothing with it: it can be sent again at once.
    Unprocessed(HttpError),
    /// There is no connection, because the server speaks none of the versions that were offered.
    OtherVersion(HttpError),
    /// Anything else.
    Final(HttpError),
}

impl From<SendError> for HttpError {
    fn from(error: SendError) -> Self {
        match error {
            SendError::Unprocessed(error)
            | SendError::OtherVersion(error)
            | SendError::Final(error) => error,
        }
    }
}

fn explain(error: &ClientError, url: &Url) -> HttpError {
    if is_connect_timeout(error) {
        HttpError::TimedOut { connected: false }
    } else if error.is_connect() || is_unsent(error) || is_refused_handshake(error) {
        HttpError::unreachable(&origin(url), error)
    } else {
        HttpError::broken(error)
    }
}

impl fmt::Debug for HttpClient {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("HttpClient")
    }
}
