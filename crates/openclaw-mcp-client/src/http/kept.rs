//! Connections without TLS to one host, kept for the next request.
//!
//! The pool of hyper-util does the same and more: it tells versions of HTTP apart, and clones
//! itself and makes a large future for every request. Without TLS there is only HTTP/1.1, and a
//! list will do.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use http::{Request, Response, Uri};
use hyper::body::Incoming;
use hyper::client::conn::http1::{self, SendRequest};
use tokio::time::{Instant, timeout};
use tower_service::Service as _;

use super::clients::{KEPT, MOST_HEADERS, MOST_KEPT};
use super::connector::{ConnectError, Connector};
use super::request_body::RequestBody;

/// How often a connection is looked at that may have been kept long enough.
const LOOKED_AT: Duration = Duration::from_secs(30);

/// Connections to one host.
pub(super) struct KeptConnections {
    connector: Connector,
    /// The host.
    uri: Uri,
    count: AtomicU64,
    /// Those that have answered, the last one at the end. Some may still send the rest of it.
    kept: Mutex<Vec<Kept>>,
}

struct Kept {
    number: u64,
    sender: SendRequest<RequestBody>,
    since: Instant,
}

/// Why a request has no answer.
pub(super) enum KeptError {
    /// There is no connection.
    Connect(ConnectError),
    /// There was one, but nothing of the request was written.
    Unsent(hyper::Error),
    /// There was one, and it broke.
    Broken(hyper::Error),
}

impl KeptConnections {
    pub(super) fn new(connector: Connector, uri: Uri) -> Self {
        Self {
            connector,
            uri,
            count: AtomicU64::new(0),
            kept: Mutex::default(),
        }
    }

    /// Sends a request and waits for the head of the answer. `has_begun` says from when on the
    /// request may have been sent.
    ///
    /// A request that was handed to a connection which ended before anything was written comes
    /// back, and is sent over another one.
    pub(super) async fn send(
        self: &Arc<Self>,
        mut request: Request<RequestBody>,
        has_begun: &mut bool,
    ) -> Result<Response<Incoming>, KeptError> {
        loop {
            let (mut kept, is_new) = match self.take() {
                Some(kept) => (kept, false),
                None => (self.connect().await?, true),
            };
            *has_begun = true;
            let mut error = match kept.sender.try_send_request(request).await {
                Ok(response) => {
                    self.keep(kept);
                    return Ok(response);
                }
                Err(error) => error,
            };
            match error.take_message() {
                Some(unsent) if !is_new => request = unsent,
                Some(_) => return Err(KeptError::Unsent(error.into_error())),
                None => return Err(KeptError::Broken(error.into_error())),
            }
            *has_begun = false;
        }
    }

    /// Takes the connection that was used last.
    fn take(&self) -> Option<Kept> {
        let mut kept = self.lock();
        let last = kept.iter().rposition(|kept| kept.sender.is_ready())?;
        Some(kept.remove(last))
    }

    fn keep(&self, mut connection: Kept) {
        connection.since = Instant::now();
        let mut kept = self.lock();
        if kept.len() >= MOST_KEPT {
            // One that still sends something ends when it is done.
            kept.remove(0);
        }
        kept.push(connection);
    }

    async fn connect(self: &Arc<Self>) -> Result<Kept, KeptError> {
        let connecting = self.connector.clone().call(self.uri.clone());
        let stream = connecting.await.map_err(KeptError::Connect)?;
        let mut builder = http1::Builder::new();
        builder.max_headers(MOST_HEADERS);
        let handshake = builder.handshake(stream).await;
        let (sender, connection) = handshake.map_err(KeptError::Unsent)?;
        let number = self.count.fetch_add(1, Ordering::Relaxed);
        let list = Arc::downgrade(self);
        // The task ends with the connection: when the other side closes it, or when nobody is left
        // who could send over it.
        tokio::spawn(async move {
            let mut connection = std::pin::pin!(connection);
            while timeout(LOOKED_AT, &mut connection).await.is_err() {
                if let Some(list) = list.upgrade() {
                    list.expire(number);
                }
            }
            if let Some(list) = list.upgrade() {
                list.lock().retain(|kept| kept.number != number);
            }
        });
        Ok(Kept {
            number,
            sender,
            since: Instant::now(),
        })
    }

    /// Lets go of a connection that nobody has used for long.
    fn expire(&self, number: u64) {
        self.lock().retain(|kept| {
            kept.number != number || !kept.sender.is_ready() || kept.since.elapsed() < KEPT
        });
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Kept>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
