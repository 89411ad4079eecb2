//! A client of HTTP that sends what it is given and shows what it gets.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::TcpStream;

use openclaw_testkit::RunningServer;
use serde_json::{Value, json};

use crate::conversation::{PATIENCE, introduction};

/// A connection on which requests follow each other.
pub(crate) struct Connection {
    stream: BufReader<TcpStream>,
    host: String,
}

/// A response whose body has yet to be read.
pub(crate) struct Reply<'connection> {
    pub(crate) status: u16,
    headers: Vec<(String, String)>,
    body: BodyReader<'connection>,
}

/// An event of a stream.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Event {
    pub(crate) kind: String,
    pub(crate) id: String,
    pub(crate) retry: String,
    pub(crate) data: String,
}

impl Connection {
    pub(crate) fn to(server: &RunningServer) -> Self {
        Self::to_host(server.origin().rsplit('/').next().unwrap())
    }

    /// A connection to a host and port.
    pub(crate) fn to_host(host: &str) -> Self {
        let stream = TcpStream::connect(host).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        Self {
            stream: BufReader::new(stream),
            host: host.to_owned(),
        }
    }

    /// Gives up waiting soon.
    pub(crate) fn be_impatient(&mut self) {
        let soon = Some(std::time::Duration::from_millis(200));
        self.stream.get_ref().set_read_timeout(soon).unwrap();
    }

    /// Sends a request.
    pub(crate) fn send_only(
        &mut self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) {
        let mut head = format!("{method} {path} HTTP/1.1\r\n");
        if !headers.iter().any(|(name, _)| *name == "host") {
            head.push_str(&format!("host: {}\r\n", self.host));
        }
        for (name, value) in headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        head.push_str(&format!("content-length: {}\r\n\r\n{body}", body.len()));
        self.stream.get_mut().write_all(head.as_bytes()).unwrap();
    }

    /// Sends a request and reads the head of the response; none if the server hangs up.
    pub(crate) fn send(
        &mut self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> Option<Reply<'_>> {
        self.send_only(method, path, headers, body);
        let line = line_of(&mut self.stream)?;
        let status = line.split(' ').nth(1).unwrap().parse().unwrap();
        let mut headers = Vec::new();
        loop {
            let line = line_of(&mut self.stream).unwrap();
            let Some((name, value)) = line.split_once(": ") else {
                break;
            };
            headers.push((name.to_ascii_lowercase(), value.to_owned()));
        }
        let find = |name: &str| headers.iter().find(|(known, _)| known == name);
        let chunked = find("transfer-encoding").is_some();
        let length = find("content-length").and_then(|(_, length)| length.parse().ok());
        let body = BodyReader {
            stream: &mut self.stream,
            chunked,
            left: length.unwrap_or(0),
            ended: !chunked && length.unwrap_or(0) == 0,
        };
        Some(Reply {
            status,
            headers,
            body,
        })
    }
}

impl Reply<'_> {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_str())
    }

    /// The whole body; an error if it breaks off.
    pub(crate) fn bytes(&mut self) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        self.body.read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    /// So much of the body.
    pub(crate) fn read_exact(&mut self, bytes: &mut [u8]) -> io::Result<()> {
        self.body.read_exact(bytes)
    }

    /// The body as JSON, or the last message of the stream that it is.
    pub(crate) fn json(mut self) -> Value {
        if self.header("content-type") == Some("text/event-stream") {
            let mut last = Value::Null;
            while let Some(event) = self.event().unwrap() {
                if !event.data.is_empty() {
                    last = serde_json::from_str(&event.data).unwrap();
                }
            }
            last
        } else {
            serde_json::from_slice(&self.bytes().unwrap()).unwrap()
        }
    }

    /// The next event; none at the end, an error if the stream breaks off.
    pub(crate) fn event(&mut self) -> io::Result<Option<Event>> {
        let mut event = Event::default();
        let mut seen = false;
        loop {
            let Some(line) = self.body.line()? else {
                return Ok(None);
            };
            if line.is_empty() {
                if seen {
                    return Ok(Some(event));
                }
                continue;
            }
            let (field, value) = line.split_once(": ").unwrap_or((&line, ""));
            seen |= !field.is_empty();
            match field {
                "event" => value.clone_into(&mut event.kind),
                "id" => value.clone_into(&mut event.id),
                "retry" => value.clone_into(&mut event.retry),
                "data" => event.data.push_str(value),
                _ => {}
            }
        }
    }
}

/// Reads a body, whether it has a length or is in chunks.
struct BodyReader<'connection> {
    stream: &'connection mut BufReader<TcpStream>,
    chunked: bool,
    left: usize,
    ended: bool,
}

impl BodyReader<'_> {
    /// A line without its end; none at the end of the body.
    fn line(&mut self) -> io::Result<Option<String>> {
        let mut line = Vec::new();
        let mut byte = [0];
        while self.read(&mut byte)? == 1 {
            if byte == *b"\n" {
                let line = String::from_utf8(line).unwrap();
                return Ok(Some(line.trim_end_matches('\r').to_owned()));
            }
            line.push(byte[0]);
        }
        Ok(None)
    }
}

impl Read for BodyReader<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.ended {
            return Ok(0);
        }
        if self.chunked && self.left == 0 {
            let line = line_of(self.stream).ok_or(io::ErrorKind::UnexpectedEof)?;
            self.left = usize::from_str_radix(&line, 16).map_err(io::Error::other)?;
            if self.left == 0 {
                line_of(self.stream);
                self.ended = true;
                return Ok(0);
            }
        }
        let length = buffer.len().min(self.left);
        let count = self.stream.read(&mut buffer[..length])?;
        if count == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        self.left -= count;
        if self.left == 0 {
            if self.chunked {
                line_of(self.stream);
            } else {
                self.ended = true;
            }
        }
        Ok(count)
    }
}

fn line_of(stream: &mut BufReader<TcpStream>) -> Option<String> {
    let mut line = String::new();
    match stream.read_line(&mut line) {
        Ok(1..) => Some(line.trim_end().to_owned()),
        Ok(0) | Err(_) => None,
    }
}

/// A client of the first era with a session.
pub(crate) struct Client {
    pub(crate) connection: Connection,
    pub(crate) session: Option<String>,
    pub(crate) version: String,
    ids: u64,
}

pub(crate) const BOTH: (&str, &str) = ("accept", "application/json, text/event-stream");
pub(crate) const JSON: (&str, &str) = ("content-type", "application/json");

impl Client {
    /// Past the handshake, with this revision.
    pub(crate) fn with_version(server: &RunningServer, version: &str) -> Self {
        let mut client = Self {
            connection: Connection::to(server),
            session: None,
            version: version.to_owned(),
            ids: 0,
        };
        let message = json!({
            "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": introduction(version),
        });
        let body = message.to_string();
        let reply = client
            .connection
            .send("POST", "/mcp", &[BOTH, JSON], &body)
            .unwrap();
        assert_eq!(reply.status, 200);
        client.session = reply.header("mcp-session-id").map(str::to_owned);
        assert_eq!(reply.json()["result"]["protocolVersion"], version);
        let initialized = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        assert_eq!(client.post(&initialized).unwrap().status, 202);
        client
    }

    pub(crate) fn new(server: &RunningServer) -> Self {
        Self::with_version(server, "2025-11-25")
    }

    /// The same client on another connection.
    pub(crate) fn again(&self, server: &RunningServer) -> Self {
        Self {
            connection: Connection::to(server),
            session: self.session.clone(),
            version: self.version.clone(),
            ids: self.ids + 1000,
        }
    }

    /// Sends something with the headers of the session and others.
    pub(crate) fn send(
        &mut self,
        method: &str,
        others: &[(&str, &str)],
        body: &str,
    ) -> Option<Reply<'_>> {
        let mut headers = others.to_vec();
        if let Some(session) = &self.session {
            headers.push(("mcp-session-id", session));
        }
        headers.push(("mcp-protocol-version", &self.version));
        self.connection.send(method, "/mcp", &headers, body)
    }

    pub(crate) fn post(&mut self, message: &Value) -> Option<Reply<'_>> {
        self.send("POST", &[BOTH, JSON], &message.to_string())
    }

    pub(crate) fn get(&mut self, last_event: Option<&str>) -> Reply<'_> {
        let mut headers = vec![("accept", "text/event-stream")];
        if let Some(id) = last_event {
            headers.push(("last-event-id", id));
        }
        self.send("GET", &headers, "").unwrap()
    }

    pub(crate) fn begin(&mut self, method: &str, params: &Value) -> Reply<'_> {
        self.ids += 1;
        let message = json!({"jsonrpc": "2.0", "id": self.ids, "method": method, "params": params});
        self.post(&message).unwrap()
    }

    pub(crate) fn ask(&mut self, method: &str, params: &Value) -> Value {
        let reply = self.begin(method, params);
        assert_eq!(reply.status, 200);
        reply.json()
    }

    pub(crate) fn call(&mut self, tool: &str, arguments: &Value) -> Reply<'_> {
        self.begin("tools/call", &json!({"name": tool, "arguments": arguments}))
    }
}
