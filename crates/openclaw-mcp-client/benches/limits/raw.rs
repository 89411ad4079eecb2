//! The limits: blocking loops that only send bytes and wait for as many.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::statistics::median;

/// What the client sends for an echo, so that both move the same bytes.
const REQUEST: &str = r#"{"jsonrpc":"2.0","id":1234,"method":"tools/call","params":{"name":"echo","arguments":{"message":"hello"},"_meta":{"progressToken":1234}}}"#;

/// This program as a server.
pub(crate) fn server(mode: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().expect("this program"));
    command.arg(mode).stdin(Stdio::piped()).stdout(Stdio::piped());
    command
}

/// The median of an exchange over pipes.
pub(crate) fn over_pipes(rounds: usize) -> Duration {
    let mut child = server("serve-stdio").spawn().expect("a server");
    let mut input = child.stdin.take().expect("its input");
    let mut output = BufReader::new(child.stdout.take().expect("its output"));
    let request = format!("{REQUEST}\n");
    let mut line = String::new();
    let mut exchange = || {
        let started = Instant::now();
        input.write_all(request.as_bytes()).expect("written");
        line.clear();
        output.read_line(&mut line).expect("read");
        started.elapsed()
    };
    for _ in 0..rounds / 10 {
        exchange();
    }
    let middle = median((0..rounds).map(|_| exchange()).collect());
    drop(input);
    child.wait().expect("its end");
    middle
}

/// A server over HTTP that ends with this.
pub(crate) struct HttpServer {
    child: Child,
    pub(crate) port: u16,
}

impl HttpServer {
    pub(crate) fn start() -> Self {
        let mut child = server("serve-http").spawn().expect("a server");
        let mut line = String::new();
        let output = child.stdout.take().expect("its output");
        BufReader::new(output).read_line(&mut line).expect("a line");
        Self {
            child,
            port: line.trim().parse().expect("a port"),
        }
    }
}

impl Drop for HttpServer {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}

/// The median of a POST over a connection that is kept.
pub(crate) fn over_http(server: &HttpServer, rounds: usize) -> Duration {
    let mut stream = TcpStream::connect(("127.0.0.1", server.port)).expect("a connection");
    stream.set_nodelay(true).expect("no delay");
    let request = format!(
        "POST /mcp HTTP/1.1\r\nhost: 127.0.0.1:{}\r\ncontent-type: application/json\r\naccept: application/json, text/event-stream\r\nmcp-protocol-version: 2025-11-25\r\ncontent-length: {}\r\n\r\n{REQUEST}",
        server.port,
        REQUEST.len()
    );
    let mut buffer = vec![0; 4096];
    let mut exchange = || {
        let started = Instant::now();
        stream.write_all(request.as_bytes()).expect("written");
        // The answer is small and comes at once.
        let count = stream.read(&mut buffer).expect("read");
        assert!(buffer[..count].ends_with(b"}"), "a whole answer");
        started.elapsed()
    };
    for _ in 0..rounds / 10 {
        exchange();
    }
    median((0..rounds).map(|_| exchange()).collect())
}

/// The time from the start of a server to its first answer.
pub(crate) fn first_answer() -> Duration {
    let started = Instant::now();
    let mut child = server("serve-stdio").spawn().expect("a server");
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
