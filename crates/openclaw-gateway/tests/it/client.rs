//! A client that sends what it is told, byte by byte.

use std::net::SocketAddr;

use serde_json::Value;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::harness::SOON;

/// A connection.
pub(crate) struct Client {
    pub(crate) stream: BufReader<TcpStream>,
}

/// What was answered.
#[derive(Clone, Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    headers: Vec<(String, String)>,
    pub(crate) body: String,
}

impl Answer {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(key, _)| key == name);
        found.map(|(_, value)| value.as_str())
    }

    pub(crate) fn headers(&self, name: &str) -> usize {
        self.headers.iter().filter(|(key, _)| key == name).count()
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|_| panic!("no JSON: {self:?}"))
    }

    /// The code of an error.
    pub(crate) fn code(&self) -> String {
        self.json()["error"]["code"]
            .as_str()
            .unwrap_or_default()
            .to_owned()
    }
}

impl Client {
    pub(crate) async fn connect(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).await.unwrap();
        stream.set_nodelay(true).unwrap();
        Self {
            stream: BufReader::new(stream),
        }
    }

    pub(crate) async fn send(&mut self, bytes: impl AsRef<[u8]>) {
        self.stream.write_all(bytes.as_ref()).await.unwrap();
    }

    pub(crate) async fn ask(
        &mut self,
        method: &str,
        path: &str,
        head: &[&str],
        body: &str,
    ) -> Answer {
        let mut request = format!("{method} {path} HTTP/1.1\r\n");
        for line in head {
            request.push_str(&format!("{line}\r\n"));
        }
        if method != "GET" || !body.is_empty() {
            request.push_str(&format!("Content-Length: {}\r\n", body.len()));
        }
        request.push_str("\r\n");
        request.push_str(body);
        self.send(request).await;
        self.answer().await.expect("no answer")
    }

    /// The next answer; none if the connection is closed without one.
    pub(crate) async fn answer(&mut self) -> Option<Answer> {
        timeout(SOON, self.read()).await.expect("no answer in time")
    }

    async fn line(&mut self) -> Option<String> {
        let mut line = String::new();
        let read = self.stream.read_line(&mut line).await.unwrap_or(0);
        (read > 0).then(|| line.trim_end().to_owned())
    }

    async fn read(&mut self) -> Option<Answer> {
        let first = self.line().await?;
        let status = first.split(' ').nth(1).unwrap().parse().unwrap();
        let mut headers = Vec::new();
        loop {
            let line = self.line().await?;
            if line.is_empty() {
                break;
            }
            let (name, value) = line.split_once(':').unwrap();
            headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
        }
        let mut answer = Answer {
            status,
            headers,
            body: String::new(),
        };
        let length = answer
            .header("content-length")
            .map(|it| it.parse::<usize>().unwrap());
        let mut body = vec![0; length.unwrap_or(0)];
        self.stream.read_exact(&mut body).await.ok()?;
        answer.body = String::from_utf8(body).unwrap();
        Some(answer)
    }

    /// Everything that comes until the other side has closed.
    pub(crate) async fn text(&mut self) -> String {
        let mut text = String::new();
        let reading = self.stream.read_to_string(&mut text);
        timeout(SOON, reading)
            .await
            .expect("the connection stays open")
            .unwrap();
        text
    }

    /// Reads until the other side has closed; says how much there was.
    pub(crate) async fn rest(&mut self) -> usize {
        let mut rest = Vec::new();
        let reading = self.stream.read_to_end(&mut rest);
        // A reset is an end, too.
        let _ = timeout(SOON, reading)
            .await
            .expect("the connection stays open");
        rest.len()
    }
}
