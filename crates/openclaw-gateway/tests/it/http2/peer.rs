//! A client of HTTP/2 that does what it is told.

use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};

use bytes::Bytes;
use h2::client::{Builder, ResponseFuture, SendRequest};
use h2::{Error, RecvStream, SendStream};
use http::{Request, Response};
use serde_json::Value;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::harness::{SOON, TOKEN};

/// A connection.
pub(super) struct Peer {
    pub(super) requests: SendRequest<Bytes>,
    /// Ends with the connection.
    pub(super) connection: JoinHandle<Result<(), Error>>,
    /// How often something was read from it.
    pub(super) reads: Arc<AtomicUsize>,
}

/// What was answered.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) head: Response<()>,
    pub(super) body: Vec<u8>,
}

impl Answer {
    pub(super) fn status(&self) -> u16 {
        self.head.status().as_u16()
    }

    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.head.headers().get(name)?.to_str().ok()
    }

    pub(super) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|_| panic!("no JSON: {self:?}"))
    }

    /// The code of an error.
    pub(super) fn code(&self) -> String {
        let code = &self.json()["error"]["code"];
        code.as_str().unwrap_or_default().to_owned()
    }
}

impl Peer {
    pub(super) async fn connect(address: SocketAddr) -> Self {
        Self::with(address, &Builder::new()).await
    }

    pub(super) async fn with(address: SocketAddr, builder: &Builder) -> Self {
        let stream = TcpStream::connect(address).await.unwrap();
        stream.set_nodelay(true).unwrap();
        let reads = Arc::default();
        let counted = Counted {
            stream,
            reads: Arc::clone(&reads),
        };
        let shaken = builder.handshake(counted);
        let (requests, connection) = timeout(SOON, shaken).await.unwrap().unwrap();
        Self {
            requests,
            connection: tokio::spawn(connection),
            reads,
        }
    }

    /// Begins a request; its body is sent with what is returned.
    pub(super) async fn begin(
        &self,
        request: Request<()>,
        is_whole: bool,
    ) -> (ResponseFuture, SendStream<Bytes>) {
        let ready = timeout(SOON, self.requests.clone().ready()).await;
        let mut ready = ready.expect("no room for a request").unwrap();
        ready.send_request(request, is_whole).unwrap()
    }

    /// One request with the token, and its answer.
    pub(super) async fn call(&self, tool: &str) -> Answer {
        let response = self.begin_call(tool).await;
        answer(response).await
    }

    /// A call of a tool that is not answered yet.
    pub(super) async fn begin_call(&self, tool: &str) -> ResponseFuture {
        let (response, mut body) = self.begin(post("/api/mcp/call"), false).await;
        let asked = serde_json::json!({ "tool": tool }).to_string();
        body.send_data(asked.into(), true).unwrap();
        response
    }

    pub(super) async fn ask(&self, request: Request<()>) -> Answer {
        let (response, _) = self.begin(request, true).await;
        answer(response).await
    }

    /// Waits until the other side has closed the connection.
    pub(super) async fn closed(self) -> Result<(), Error> {
        // While this is there, it is not closed from here.
        let _open = self.requests;
        let ended = timeout(SOON, self.connection).await;
        ended.expect("the connection stays open").unwrap()
    }
}

/// A request with the token and JSON.
pub(super) fn post(path: &str) -> Request<()> {
    let bearer = format!("Bearer {TOKEN}");
    let request = Request::post(format!("http://localhost{path}"));
    let request = request.header("authorization", bearer);
    let request = request.header("content-type", "application/json");
    request.body(()).unwrap()
}

pub(super) fn get(path: &str) -> Request<()> {
    let bearer = format!("Bearer {TOKEN}");
    let request = Request::get(format!("http://localhost{path}"));
    request.header("authorization", bearer).body(()).unwrap()
}

/// The whole answer.
pub(super) async fn answer(response: ResponseFuture) -> Answer {
    let reading = async {
        let (head, body) = response.await.expect("no answer").into_parts();
        let body = rest(body).await.expect("half an answer");
        (Response::from_parts(head, ()), body)
    };
    let (head, body) = timeout(SOON, reading).await.expect("no answer in time");
    Answer { head, body }
}

/// What is left of a body.
pub(super) async fn rest(mut body: RecvStream) -> Result<Vec<u8>, Error> {
    let mut whole = Vec::new();
    while let Some(part) = body.data().await {
        let part = part?;
        body.flow_control().release_capacity(part.len())?;
        whole.extend_from_slice(&part);
    }
    Ok(whole)
}

/// A connection of which it is counted how often something was there.
struct Counted {
    stream: TcpStream,
    reads: Arc<AtomicUsize>,
}

impl AsyncRead for Counted {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<std::io::Result<()>> {
        let read = Pin::new(&mut self.stream).poll_read(context, buffer);
        if read.is_ready() {
            self.reads.fetch_add(1, Ordering::SeqCst);
        }
        read
    }
}

impl AsyncWrite for Counted {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<std::io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_flush(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<std::io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<std::io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
