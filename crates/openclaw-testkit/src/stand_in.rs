//! A small HTTP server on loopback that stands in for a service which can't be had here: it answers
//! what a test says and remembers what it was asked.

use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::body::Incoming;
use hyper::header::HeaderMap;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response};
use hyper_util::rt::TokioIo;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{oneshot, watch};
use tokio_rustls::TlsAcceptor;

/// How large a request may be.
const LARGEST_REQUEST: usize = 16 * 1024 * 1024;

/// A request as it came.
#[derive(Clone, Debug)]
pub struct Asked {
    /// Its method.
    pub method: Method,
    /// Its path, as it was written.
    pub path: String,
    /// What stands behind `?`.
    pub query: String,
    /// Its headers.
    pub headers: HeaderMap,
    /// Its body.
    pub body: Bytes,
}

impl Asked {
    /// A header, if it is there and a text.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }
}

/// What is answered.
#[derive(Clone, Debug)]
pub struct Answer {
    /// Its status.
    pub status: u16,
    /// Its headers.
    pub headers: Vec<(&'static str, String)>,
    /// Its body.
    pub body: Bytes,
    /// How long it is waited before it is sent.
    pub delay: Duration,
}

impl Answer {
    /// A JSON document.
    pub fn json(status: u16, body: &serde_json::Value) -> Self {
        Self::bytes(status, "application/json", body.to_string())
    }

    /// Something of another type.
    pub fn bytes(status: u16, content_type: &str, body: impl Into<Bytes>) -> Self {
        Self {
            status,
            headers: vec![("content-type", content_type.to_owned())],
            body: body.into(),
            delay: Duration::ZERO,
        }
    }

    /// The same answer with one more header.
    #[must_use]
    pub fn header(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }

    /// The same answer, later.
    #[must_use]
    pub fn after(mut self, delay: Duration) -> Self {
        self.delay = delay;
        self
    }
}

type Respond = dyn Fn(&Asked) -> Answer + Send + Sync;

/// A server that runs until this is dropped.
pub struct StandIn {
    address: SocketAddr,
    scheme: &'static str,
    tls: watch::Sender<Option<TlsAcceptor>>,
    asked: Arc<Mutex<Vec<Asked>>>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl StandIn {
    /// Starts a server that answers as `respond` says.
    pub fn start(respond: impl Fn(&Asked) -> Answer + Send + Sync + 'static) -> io::Result<Self> {
        Self::run(None, Arc::new(respond))
    }

    /// Starts one that speaks TLS.
    pub fn start_with_tls(
        acceptor: TlsAcceptor,
        respond: impl Fn(&Asked) -> Answer + Send + Sync + 'static,
    ) -> io::Result<Self> {
        Self::run(Some(acceptor), Arc::new(respond))
    }

    fn run(tls: Option<TlsAcceptor>, respond: Arc<Respond>) -> io::Result<Self> {
        let listener = std::net::TcpListener::bind(("127.0.0.1", 0))?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let asked = Arc::new(Mutex::new(Vec::new()));
        let (stop, stopped) = oneshot::channel::<()>();
        let scheme = if tls.is_some() { "https" } else { "http" };
        let (tls, secured) = watch::channel(tls);
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        let seen = Arc::clone(&asked);
        let thread = std::thread::spawn(move || {
            runtime.block_on(async move {
                let Ok(listener) = TcpListener::from_std(listener) else {
                    return;
                };
                tokio::select! {
                    _ = stopped => {}
                    () = accept(&listener, secured, respond, seen) => {}
                }
            });
        });
        Ok(Self {
            address,
            scheme,
            tls,
            asked,
            stop: Some(stop),
            thread: Some(thread),
        })
    }

    /// Scheme, host and port.
    pub fn origin(&self) -> String {
        format!("{}://{}", self.scheme, self.address)
    }

    /// Ends all connections, and secures new ones with this from now on.
    pub fn secure_with(&self, acceptor: TlsAcceptor) {
        self.tls.send_replace(Some(acceptor));
    }

    /// Host and port.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// What it was asked so far.
    pub fn asked(&self) -> Vec<Asked> {
        lock(&self.asked).clone()
    }
}

impl Drop for StandIn {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            // A thread that panicked has said so.
            let _ = thread.join();
        }
    }
}

async fn accept(
    listener: &TcpListener,
    tls: watch::Receiver<Option<TlsAcceptor>>,
    respond: Arc<Respond>,
    seen: Arc<Mutex<Vec<Asked>>>,
) {
    while let Ok((stream, _)) = listener.accept().await {
        let (mut tls, respond, seen) = (tls.clone(), Arc::clone(&respond), Arc::clone(&seen));
        tokio::spawn(async move {
            let secured = tls.borrow_and_update().clone();
            tokio::select! {
                () = serve(stream, secured, respond, seen) => {}
                Ok(()) = tls.changed() => {}
            }
        });
    }
}

async fn serve(
    stream: TcpStream,
    tls: Option<TlsAcceptor>,
    respond: Arc<Respond>,
    seen: Arc<Mutex<Vec<Asked>>>,
) {
    let service = service_fn(move |request| {
        let (respond, seen) = (Arc::clone(&respond), Arc::clone(&seen));
        async move { Ok::<_, Infallible>(answer(request, &*respond, &seen).await) }
    });
    // Who goes away in the middle is no trouble of ours.
    match tls {
        None => {
            let _ = http1::Builder::new()
                .serve_connection(TokioIo::new(stream), service)
                .await;
        }
        Some(tls) => {
            if let Ok(stream) = tls.accept(stream).await {
                let _ = http1::Builder::new()
                    .serve_connection(TokioIo::new(stream), service)
                    .await;
            }
        }
    }
}

async fn answer(
    request: Request<Incoming>,
    respond: &Respond,
    seen: &Mutex<Vec<Asked>>,
) -> Response<Full<Bytes>> {
    let (parts, body) = request.into_parts();
    let body = Limited::new(body, LARGEST_REQUEST).collect().await;
    let asked = Asked {
        method: parts.method,
        path: parts.uri.path().to_owned(),
        query: parts.uri.query().unwrap_or_default().to_owned(),
        headers: parts.headers,
        body: body
            .map(http_body_util::Collected::to_bytes)
            .unwrap_or_default(),
    };
    let answer = respond(&asked);
    lock(seen).push(asked);
    tokio::time::sleep(answer.delay).await;
    let mut response = Response::builder().status(answer.status);
    for (name, value) in answer.headers {
        response = response.header(name, value);
    }
    response.body(Full::new(answer.body)).unwrap_or_default()
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
