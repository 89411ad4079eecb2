//! One pool of connections per TLS setting, shared by all servers of the process.

use std::collections::HashMap;
use std::fmt;
use std::fs;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use http::{HeaderValue, Request, Response, Uri};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper_util::client::legacy::connect::capture_connection;
use hyper_util::client::legacy::{Client, Error as ClientError};
use hyper_util::rt::{TokioExecutor, TokioTimer};
use tokio::time::{Instant, timeout_at};
use url::Url;

use super::connector::{Connector, is_connect_timeout};
use super::error::HttpError;
use super::proxy::Proxies;
use super::reason::{is_unprocessed, is_unsent};
use super::redirect::origin;
use super::tls::{SystemAuthorities, TlsClient, TlsError};
use crate::target::TlsSettings;

/// How long a connection that nobody uses is kept.
const KEPT: Duration = Duration::from_secs(90);
/// How many such connections are kept for one address.
const MOST_KEPT: usize = 32;
/// How often an HTTP/2 connection that carries something is asked whether it still works.
const PING: Duration = Duration::from_secs(30);

/// The pools of the process.
#[derive(Debug)]
pub(crate) struct HttpClients {
    proxies: Arc<Proxies>,
    authorities: Arc<SystemAuthorities>,
    clients: Mutex<HashMap<TlsSettings, Kept>>,
}

/// A pool and the files that it was made with.
#[derive(Debug)]
struct Kept {
    client: HttpClient,
    files: Vec<FileState>,
}

/// What tells whether a file has changed.
type FileState = Option<(SystemTime, u64)>;

/// A pool of connections with one TLS setting.
#[derive(Clone)]
pub(crate) struct HttpClient {
    client: Client<Connector, Full<Bytes>>,
    proxies: Arc<Proxies>,
}

impl Default for HttpClients {
    fn default() -> Self {
        Self::new(|name| std::env::var(name).ok())
    }
}

impl HttpClients {
    /// Makes pools that use the proxies which the variables of an environment name.
    pub(crate) fn new(variable: impl Fn(&str) -> Option<String>) -> Self {
        Self {
            proxies: Arc::new(Proxies::new(variable)),
            authorities: Arc::default(),
            clients: Mutex::default(),
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
        let client = HttpClient::new(connections, Arc::clone(&self.proxies));
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
    fn new(tls: TlsClient, proxies: Arc<Proxies>) -> Self {
        let connector = Connector::new(tls, Arc::clone(&proxies));
        let client = Client::builder(TokioExecutor::new())
            .pool_idle_timeout(KEPT)
            .pool_max_idle_per_host(MOST_KEPT)
            .pool_timer(TokioTimer::new())
            .timer(TokioTimer::new())
            .http2_keep_alive_interval(PING)
            .build(connector);
        Self { client, proxies }
    }

    /// What a proxy on the way to an address wants to see in the request.
    pub(super) fn proxy_authorization(&self, uri: &Uri) -> Option<HeaderValue> {
        self.proxies.request_authorization(uri)
    }

    /// Sends a request and waits for the head of the answer.
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
        mut request: Request<Full<Bytes>>,
        url: &Url,
        deadline: Instant,
    ) -> Result<Response<Incoming>, SendError> {
        let connection = capture_connection(&mut request);
        match timeout_at(deadline, self.client.request(request)).await {
            Ok(Ok(response)) => Ok(response),
            Ok(Err(error)) if is_unprocessed(&error) => {
                let unreachable = HttpError::unreachable(&origin(url), &error);
                Err(SendError::Unprocessed(unreachable))
            }
            Ok(Err(error)) => Err(SendError::Final(explain(&error, url))),
            Err(_) => {
                let connected = connection.connection_metadata().is_some();
                Err(SendError::Final(HttpError::TimedOut { connected }))
            }
        }
    }
}

/// Why a request has no answer.
pub(super) enum SendError {
    /// The server says that it did nothing with it: it can be sent again at once.
    Unprocessed(HttpError),
    /// Anything else.
    Final(HttpError),
}

fn explain(error: &ClientError, url: &Url) -> HttpError {
    if is_connect_timeout(error) {
        HttpError::TimedOut { connected: false }
    } else if error.is_connect() || is_unsent(error) {
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
