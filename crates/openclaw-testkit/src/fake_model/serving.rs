//! The socket, and who answers.

use std::convert::Infallible;
use std::fs;
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::header::{CONTENT_TYPE, HeaderMap};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response};
use hyper_util::rt::TokioIo;
use serde_json::{Map, Value, json};
use tokio::net::{TcpListener, TcpStream};

use super::answers;
use super::keeping::take;
use super::options::Options;
use crate::fake_server::Journal;

/// The service, which listens.
pub(super) struct Service {
    listener: TcpListener,
    address: SocketAddr,
    shared: Arc<Shared>,
}

struct Shared {
    record: Option<PathBuf>,
    reply: String,
    journal: Journal,
    /// How many requests there were.
    asked: AtomicU64,
}

impl Service {
    pub(super) async fn new(options: &Options) -> io::Result<Self> {
        if let Some(directory) = &options.record {
            fs::create_dir_all(directory)?;
        }
        let listener = TcpListener::bind(("127.0.0.1", options.port)).await?;
        let address = listener.local_addr()?;
        if let Some(file) = &options.port_file {
            // Whoever waits for the file must not find half a number.
            let part = file.with_extension("part");
            fs::write(&part, format!("{}\n", address.port()))?;
            fs::rename(&part, file)?;
        }
        Ok(Self {
            listener,
            address,
            shared: Arc::new(Shared {
                record: options.record.clone(),
                reply: options.reply.clone(),
                journal: Journal::open(options.journal.as_deref())?,
                asked: AtomicU64::new(0),
            }),
        })
    }

    /// Scheme, host and port.
    pub(super) fn origin(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Answers until the program ends.
    pub(super) async fn run(self) -> io::Result<()> {
        loop {
            let (stream, _) = self.listener.accept().await?;
            // The end of the program ends it.
            tokio::spawn(serve(stream, Arc::clone(&self.shared)));
        }
    }
}

async fn serve(stream: TcpStream, shared: Arc<Shared>) {
    let service = service_fn(move |request| {
        let shared = Arc::clone(&shared);
        async move { Ok::<_, Infallible>(answer(request, &shared).await) }
    });
    // Who goes away in the middle is no trouble of ours.
    let _ = http1::Builder::new()
        .serve_connection(TokioIo::new(stream), service)
        .await;
}

async fn answer(request: Request<Incoming>, shared: &Shared) -> Response<Full<Bytes>> {
    let (head, body) = request.into_parts();
    let path = head.uri.path();
    if head.method != Method::POST {
        // Who lists models finds none, which is as good as any.
        return response(200, "application/json", "{\"data\":[]}".to_owned());
    }
    let number = shared.asked.fetch_add(1, Ordering::Relaxed) + 1;
    let taken = match take(body, shared.record.as_deref(), number).await {
        Ok(taken) => taken,
        Err(error) => return response(500, "text/plain", error.to_string()),
    };
    let details = json!({
        "path": path,
        "headers": headers(&head.headers),
        "bytes": taken.bytes,
        "file": taken.file,
    });
    shared.journal.record("asked", details);
    match answers::stream(path, &shared.reply) {
        Some((content_type, text)) => response(200, content_type, text),
        None => response(404, "text/plain", "no protocol has this path".to_owned()),
    }
}

fn headers(headers: &HeaderMap) -> Value {
    let texts = headers.iter().map(|(name, value)| {
        let value = String::from_utf8_lossy(value.as_bytes()).into_owned();
        (name.as_str().to_owned(), Value::String(value))
    });
    Value::Object(texts.collect::<Map<_, _>>())
}

fn response(status: u16, content_type: &'static str, body: String) -> Response<Full<Bytes>> {
    let response = Response::builder()
        .status(status)
        .header(CONTENT_TYPE, content_type);
    response
        .body(Full::new(Bytes::from(body)))
        .unwrap_or_default()
}
