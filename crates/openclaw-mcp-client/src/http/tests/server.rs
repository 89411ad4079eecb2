//! A server that does exactly what a test says, byte for byte.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{JoinHandle, JoinSet};

/// A server; it ends with the test.
pub(super) struct Server {
    address: SocketAddr,
    accepted: Arc<AtomicUsize>,
    task: JoinHandle<()>,
}

/// A connection to it.
pub(super) struct Peer<S = TcpStream> {
    /// Its number, counted from 0.
    pub(super) number: usize,
    pub(super) stream: S,
    read: Vec<u8>,
}

/// A request that came.
#[derive(Debug)]
pub(super) struct Received {
    /// Its first line.
    pub(super) line: String,
    /// Its headers, names in lower case.
    pub(super) headers: Vec<(String, String)>,
    pub(super) body: String,
}

impl Server {
    /// Starts a server that does this with every connection.
    pub(super) async fn start<F>(serve: impl Fn(Peer) -> F + Send + 'static) -> Self
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let accepted = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&accepted);
        let task = tokio::spawn(async move {
            let mut serving = JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                let number = count.fetch_add(1, Ordering::SeqCst);
                serving.spawn(serve(Peer::new(number, stream)));
            }
        });
        Self {
            address,
            accepted,
            task,
        }
    }

    /// Starts a server that gives the same answer to every request.
    pub(super) async fn answering(answer: impl Into<String>) -> Self {
        let answer: Arc<str> = answer.into().into();
        Self::start(move |mut peer| {
            let answer = Arc::clone(&answer);
            async move {
                while peer.request().await.is_some() {
                    peer.send(&answer).await;
                }
            }
        })
        .await
    }

    /// An address on it.
    pub(super) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    pub(super) fn port(&self) -> u16 {
        self.address.port()
    }

    /// How many connections there have been.
    pub(super) fn accepted(&self) -> usize {
        self.accepted.load(Ordering::SeqCst)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> Peer<S> {
    pub(super) fn new(number: usize, stream: S) -> Self {
        Self {
            number,
            stream,
            read: Vec::new(),
        }
    }

    /// Waits for a whole request; there is none once the client has gone.
    pub(super) async fn request(&mut self) -> Option<Received> {
        let end = loop {
            let end = self.read.windows(4).position(|four| four == b"\r\n\r\n");
            match end {
                Some(end) => break end,
                None => self.read_more().await?,
            }
        };
        let head = String::from_utf8(self.read[..end].to_vec()).unwrap();
        self.read.drain(..end + 4);
        let mut lines = head.split("\r\n").map(ToOwned::to_owned);
        let mut received = Received {
            line: lines.next().unwrap(),
            headers: lines.map(|line| pair(&line)).collect(),
            body: String::new(),
        };
        let length = received
            .header("content-length")
            .unwrap_or("0")
            .parse()
            .unwrap();
        while self.read.len() < length {
            self.read_more().await?;
        }
        received.body = String::from_utf8(self.read.drain(..length).collect()).unwrap();
        Some(received)
    }

    async fn read_more(&mut self) -> Option<()> {
        let count = self.stream.read_buf(&mut self.read).await.unwrap_or(0);
        (count > 0).then_some(())
    }

    pub(super) async fn send(&mut self, text: &str) {
        // The client may have gone: that is for the test to notice.
        let _ = self.stream.write_all(text.as_bytes()).await;
        let _ = self.stream.flush().await;
    }

    /// Waits until the client has closed the connection.
    pub(super) async fn closed(&mut self) {
        while self.read_more().await.is_some() {}
    }
}

impl Received {
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_str())
    }
}

fn pair(line: &str) -> (String, String) {
    let (name, value) = line.split_once(':').unwrap();
    (name.to_ascii_lowercase(), value.trim().to_owned())
}

/// An answer with a JSON text.
pub(super) fn json(text: &str) -> String {
    format!(
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{text}",
        text.len()
    )
}

/// An answer with a status, headers and a body.
pub(super) fn answer(status: &str, headers: &str, body: &str) -> String {
    let length = body.len();
    format!("HTTP/1.1 {status}\r\n{headers}Content-Length: {length}\r\n\r\n{body}")
}
