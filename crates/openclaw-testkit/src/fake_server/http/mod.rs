//! Streamable HTTP and the older HTTP+SSE, with their faults.

mod body;
mod checks;
mod events;
mod faults;
mod get;
mod legacy;
mod post;
mod respond;
mod tls;

use std::io::{self, Write};
use std::process::ExitCode;
use std::sync::Arc;

use bytes::Bytes;
use http_body_util::BodyExt;
use hyper::header::{HeaderMap, HeaderValue};
use hyper::service::service_fn;
use hyper::{Method, Request, Response, Uri};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

pub(crate) use self::body::Body;
use super::options::Mode;
use super::process;
use super::server::Server;

/// A request, read to its end.
#[derive(Debug)]
pub(crate) struct Received {
    pub(crate) method: Method,
    pub(crate) uri: Uri,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
    /// The number of its connection.
    pub(crate) connection: u64,
    /// The port that the server listens on.
    pub(crate) port: u16,
}

impl Received {
    /// The body as JSON; null if it is none.
    fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or(Value::Null)
    }

    /// A header, if it is there and is text.
    fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }
}

/// The connection is closed without an answer.
#[derive(Debug)]
pub(crate) struct HangUp;

impl std::fmt::Display for HangUp {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("hung up, as told")
    }
}

impl std::error::Error for HangUp {}

/// Serves until standard input ends.
pub(crate) async fn serve(server: &Arc<Server>) -> io::Result<ExitCode> {
    let listener = TcpListener::bind(("127.0.0.1", server.options.port)).await?;
    let port = listener.local_addr()?.port();
    let acceptor = tls::acceptor(server)?;
    let scheme = if acceptor.is_some() { "https" } else { "http" };
    let mut stdout = io::stdout();
    writeln!(stdout, "listening on {scheme}://127.0.0.1:{port}")?;
    stdout.flush()?;
    tokio::select! {
        result = accept(server, &listener, acceptor.as_ref(), port) => result.map(|()| ExitCode::SUCCESS),
        () = end_of_stdin() => {
            server.journal.note("stdin closed");
            if server.options.framing.ignore_eof {
                std::future::pending::<()>().await;
            }
            Ok(ExitCode::SUCCESS)
        }
    }
}

/// Waits until standard input ends.
pub(crate) async fn end_of_stdin() {
    let mut stdin = tokio::io::stdin();
    let mut ignored = [0; 256];
    while let Ok(1..) = stdin.read(&mut ignored).await {}
}

async fn accept(
    server: &Arc<Server>,
    listener: &TcpListener,
    acceptor: Option<&TlsAcceptor>,
    port: u16,
) -> io::Result<()> {
    let mut connection = 0;
    loop {
        let (stream, _) = listener.accept().await?;
        connection += 1;
        stream.set_nodelay(true)?;
        let server = Arc::clone(server);
        let acceptor = acceptor.cloned();
        // The end of the program ends it.
        tokio::spawn(async move {
            match acceptor {
                None => serve_connection(server, stream, connection, port).await,
                Some(acceptor) => {
                    if let Some(stream) = tls::secure(&server, &acceptor, stream).await {
                        serve_connection(server, stream, connection, port).await;
                    }
                }
            }
        });
    }
}

/// Serves one connection to its end.
async fn serve_connection(
    server: Arc<Server>,
    stream: impl AsyncRead + AsyncWrite + Unpin,
    connection: u64,
    port: u16,
) {
    let service = service_fn(|request: Request<hyper::body::Incoming>| {
        let server = Arc::clone(&server);
        async move {
            let (head, body) = request.into_parts();
            // A body that breaks off gets no answer.
            let body = body.collect().await.map_err(|_| HangUp)?.to_bytes();
            let received = Received {
                method: head.method,
                uri: head.uri,
                headers: head.headers,
                body,
                connection,
                port,
            };
            answer(&server, received).await
        }
    });
    let connected = hyper::server::conn::http1::Builder::new()
        .serve_connection(TokioIo::new(stream), service)
        .await;
    let details = match connected {
        Ok(()) => json!({"connection": connection}),
        Err(error) => json!({"connection": connection, "error": error.to_string()}),
    };
    server.journal.record("connection closed", details);
}

/// Answers a request, unless a flag says otherwise.
pub(crate) async fn answer(
    server: &Arc<Server>,
    received: Received,
) -> Result<Response<Body>, HangUp> {
    write_down(server, &received);
    if received.method == Method::POST {
        let count = server.count_message();
        if server.options.process.exit_after == Some(count) {
            process::leave(server, 1);
        }
        let first_is_initialize = count > 1 || received.json()["method"] == json!("initialize");
        if server.options.process.exit_on_unknown && !first_is_initialize {
            process::leave(server, 1);
        }
    }
    let mut response = match faults::instead(server, &received)? {
        Some(response) => response,
        None => route(server, received).await,
    };
    if server.options.http.close_after_reply {
        let value = HeaderValue::from_static("close");
        response.headers_mut().insert("connection", value);
    }
    Ok(response)
}

/// Finds who answers.
async fn route(server: &Arc<Server>, received: Received) -> Response<Body> {
    let options = &server.options;
    let streamable = options.mode == Mode::Http;
    let events = options.mode == Mode::Sse || options.both;
    match (received.uri.path(), received.method.as_str()) {
        ("/mcp" | faults::ELSEWHERE, "POST") if streamable => post::answer(server, received).await,
        ("/mcp" | faults::ELSEWHERE, "GET") if streamable && options.http.hold_get => {
            std::future::pending().await
        }
        ("/mcp" | faults::ELSEWHERE, "GET") if streamable => get::answer(server, &received),
        ("/mcp" | faults::ELSEWHERE, "DELETE") if streamable => get::delete(server, &received),
        ("/sse", "GET") if events => legacy::open(server, &received),
        ("/message", "POST") if events => legacy::receive(server, received),
        ("/mcp" | faults::ELSEWHERE, _) if streamable => respond::not_allowed("POST, GET, DELETE"),
        ("/sse", _) if events => respond::not_allowed("GET"),
        _ => respond::status(404),
    }
}

fn write_down(server: &Server, received: &Received) {
    let mut headers = json!({});
    for (name, value) in &received.headers {
        headers[name.as_str()] = json!(String::from_utf8_lossy(value.as_bytes()));
    }
    let body = if received.body.is_empty() {
        Value::Null
    } else {
        serde_json::from_slice(&received.body)
            .unwrap_or_else(|_| json!(String::from_utf8_lossy(&received.body)))
    };
    server.journal.record(
        "http",
        json!({
            "connection": received.connection,
            "method": received.method.as_str(),
            "path": received.uri.to_string(),
            "headers": headers,
            "body": body,
        }),
    );
}
