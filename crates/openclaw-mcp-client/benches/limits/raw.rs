//! The limits: blocking loops that only send bytes and wait for as many.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

/// What the client sends for an echo, so that both move the same bytes.
const REQUEST: &str = r#"{"jsonrpc":"2.0","id":1234,"method":"tools/call","params":{"name":"echo","arguments":{"message":"hello"},"_meta":{"progressToken":"1234"}}}"#;

/// This program as a server.
pub(crate) fn server(arguments: &[&str]) -> Command {
    let mut command = Command::new(std::env::current_exe().expect("this program"));
    command
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped());
    command
}

/// A loop that is run in parts.
pub(crate) trait Loop {
    /// Sends the bytes once and waits for those that come back.
    fn exchange(&mut self) -> Duration;
}

/// The loop over pipes.
pub(crate) struct Pipes {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    line: String,
}

impl Pipes {
    pub(crate) fn new() -> Self {
        let mut child = server(&["serve-stdio"]).spawn().expect("a server");
        Self {
            input: child.stdin.take(),
            output: BufReader::new(child.stdout.take().expect("its output")),
            child,
            line: String::new(),
        }
    }
}

impl Loop for Pipes {
    fn exchange(&mut self) -> Duration {
        let input = self.input.as_mut().expect("its input");
        let started = Instant::now();
        input
            .write_all(format!("{REQUEST}\n").as_bytes())
            .expect("written");
        self.line.clear();
        self.output.read_line(&mut self.line).expect("read");
        started.elapsed()
    }
}

impl Drop for Pipes {
    fn drop(&mut self) {
        drop(self.input.take());
        let _ = self.child.wait();
    }
}

/// A server over HTTP that ends with this.
pub(crate) struct HttpServer {
    child: Child,
    pub(crate) port: u16,
}

impl HttpServer {
    /// One that does as little as a server can.
    pub(crate) fn minimal() -> Self {
        Self::start(&["serve-http"])
    }

    /// One as people write them.
    pub(crate) fn usual() -> Self {
        Self::start(&[
            "http",
            "--era",
            "legacy",
            "--json-only",
            "--stateless",
            "--no-get",
        ])
    }

    fn start(arguments: &[&str]) -> Self {
        let mut child = server(arguments).spawn().expect("a server");
        let mut line = String::new();
        let output = child.stdout.take().expect("its output");
        BufReader::new(output).read_line(&mut line).expect("a line");
        Self {
            child,
            port: line
                .trim()
                .rsplit(':')
                .next()
                .and_then(|port| port.parse().ok())
                .expect("a port"),
        }
    }
}

impl Drop for HttpServer {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}

/// The loop of POSTs over a connection that is kept.
pub(crate) struct Posts {
    stream: TcpStream,
    request: String,
    buffer: Vec<u8>,
}

impl Posts {
    pub(crate) fn new(server: &HttpServer) -> Self {
        let stream = TcpStream::connect(("127.0.0.1", server.port)).expect("a connection");
        stream.set_nodelay(true).expect("no delay");
        let head = [
            "POST /mcp HTTP/1.1".to_owned(),
            format!("host: 127.0.0.1:{}", server.port),
            "content-type: application/json".to_owned(),
            "accept: application/json, text/event-stream".to_owned(),
            "user-agent: openclaw/0.1.0".to_owned(),
            "mcp-protocol-version: 2025-11-25".to_owned(),
            format!("content-length: {}", REQUEST.len()),
        ];
        Self {
            stream,
            request: format!("{}\r\n\r\n{REQUEST}", head.join("\r\n")),
            buffer: vec![0; 4096],
        }
    }
}

impl Loop for Posts {
    fn exchange(&mut self) -> Duration {
        let started = Instant::now();
        self.stream
            .write_all(self.request.as_bytes())
            .expect("written");
        // The answer is small and comes at once.
        let count = self.stream.read(&mut self.buffer).expect("read");
        assert!(self.buffer[..count].ends_with(b"}"), "a whole answer");
        started.elapsed()
    }
}

/// The time from the start of a server to its first answer.
pub(crate) fn first_answer() -> Duration {
    let started = Instant::now();
    let mut child = server(&["serve-stdio"]).spawn().expect("a server");
    let mut input = child.stdin.take().expect("its input");
    let mut output = BufReader::new(child.stdout.take().expect("its output"));
    let request = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}"#;
    writeln!(input, "{request}").expect("written");
    output.read_line(&mut String::new()).expect("read");
    let elapsed = started.elapsed();
    drop(input);
    child.wait().expect("its end");
    elapsed
}
