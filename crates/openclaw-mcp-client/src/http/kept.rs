//! Connections without TLS to one host, kept for the next request.
//!
//! The pool of hyper-util does the same and more: it tells versions of HTTP apart, and clones
//! itself and makes a large future for every request. Without TLS there is only HTTP/1.1, and a
//! list will do.

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::time::Duration;

use http::{Request, Response, Uri};
use hyper::body::Incoming;
use hyper::client::conn::http1::{self, SendRequest};
use tokio::time::{Instant, sleep};
use tower_service::Service as _;

use super::clients::{KEPT, MOST_HEADERS, MOST_KEPT};
use super::connector::{ConnectError, Connector};
use super::request_body::RequestBody;
use crate::tasks::OwnedTask;

/// How often it is looked for connections that have been kept long enough.
const LOOKED_AT: Duration = Duration::from_secs(30);

/// How many headers the answers of nearly all hosts have at most.
const FEW_HEADERS: usize = 50;

/// After how many answers it is worth a new connection to have one without that room.
const WORTH_REPLACING: u32 = 64;

/// Connections to one host.
pub(super) struct KeptConnections {
    connector: Connector,
    /// The host.
    uri: Uri,
    list: Mutex<List>,
    /// Whether its answers have few headers, as the first one tells.
    has_few_headers: OnceLock<bool>,
}

#[derive(Default)]
struct List {
    /// Those that have answered, the last one at the end. Some may still send the rest of it.
    kept: Vec<Kept>,
    /// Looks for those that have been kept long enough.
    watch: Option<OwnedTask>,
}

struct Kept {
    sender: SendRequest<RequestBody>,
    /// Whether it takes more headers than usual.
    is_roomy: bool,
    /// How often it has answered.
    answers: u32,
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
            list: Mutex::default(),
            has_few_headers: OnceLock::new(),
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
                    let few = || response.headers().len() <= FEW_HEADERS;
                    let has_few = *self.has_few_headers.get_or_init(few);
                    kept.answers += 1;
                    if !(has_few && kept.is_roomy && kept.answers >= WORTH_REPLACING) {
                        self.keep(kept);
                    }
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
        let kept = &mut self.lock().kept;
        let last = kept.iter().rposition(|kept| kept.sender.is_ready())?;
        Some(kept.remove(last))
    }

    fn keep(self: &Arc<Self>, mut connection: Kept) {
        connection.since = Instant::now();
        let mut list = self.lock();
        if list.kept.len() >= MOST_KEPT {
            // One that still sends something ends when it is done.
            list.kept.remove(0);
        }
        list.kept.push(connection);
        if list.watch.as_ref().is_none_or(OwnedTask::is_finished) {
            list.watch = Some(OwnedTask::spawn(watch(Arc::downgrade(self))));
        }
    }

    async fn connect(self: &Arc<Self>) -> Result<Kept, KeptError> {
        let connecting = self.connector.clone().call(self.uri.clone());
        let stream = connecting.await.map_err(KeptError::Connect)?;
        let mut builder = http1::Builder::new();
        // Room for more than the usual hundred headers is made anew for each answer, and costs: a
        // host that was seen to send few does without.
        let is_roomy = self.has_few_headers.get() != Some(&true);
        if is_roomy {
            builder.max_headers(MOST_HEADERS);
        }
        let handshake = builder.handshake(stream).await;
        let (sender, connection) = handshake.map_err(KeptError::Unsent)?;
        let list = Arc::downgrade(self);
        // The task ends with the connection: when the other side closes it, or when nobody is left
        // who could send over it.
        tokio::spawn(async move {
            let _ = connection.await;
            if let Some(list) = list.upgrade() {
                list.lock().kept.retain(|kept| !kept.sender.is_closed());
            }
        });
        Ok(Kept {
            sender,
            is_roomy,
            answers: 0,
            since: Instant::now(),
        })
    }

    fn lock(&self) -> MutexGuard<'_, List> {
        self.list.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Lets go of connections that nobody has used for long, until there are none.
async fn watch(connections: Weak<KeptConnections>) {
    loop {
        sleep(LOOKED_AT).await;
        let Some(connections) = connections.upgrade() else {
            return;
        };
        let kept = &mut connections.lock().kept;
        kept.retain(|kept| {
            let is_busy = !kept.sender.is_ready();
            !kept.sender.is_closed() && (is_busy || kept.since.elapsed() < KEPT)
        });
        if kept.is_empty() {
            return;
        }
    }
}
