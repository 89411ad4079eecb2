//! A client of the fake server's stdio that knows nothing but lines.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use openclaw_testkit::leaks::{processes_with_argument, wait_until};
use openclaw_testkit::{FakeServer, JournalReader};
use serde_json::{Value, json};

pub(crate) const PATIENCE: Duration = Duration::from_secs(10);

pub(crate) fn fake(words: &str) -> FakeServer {
    FakeServer::at(Path::new(env!("CARGO_BIN_EXE_fake-mcp-server"))).flags(words)
}

/// A running server and the lines that it has written.
pub(crate) struct Conversation {
    server: FakeServer,
    pub(crate) child: Child,
    lines: Receiver<Vec<u8>>,
    ids: u64,
}

impl Conversation {
    pub(crate) fn start(words: &str) -> Self {
        Self::with(fake(words), |_| {})
    }

    pub(crate) fn with(server: FakeServer, change: impl FnOnce(&mut Command)) -> Self {
        let mut command = Command::new(server.program());
        command.args(server.arguments());
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        change(&mut command);
        let mut child = command.spawn().unwrap();
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            loop {
                let mut line = Vec::new();
                match stdout.read_until(b'\n', &mut line) {
                    Ok(1..) if sender.send(line).is_ok() => {}
                    _ => return,
                }
            }
        });
        Self {
            server,
            child,
            lines,
            ids: 0,
        }
    }

    /// A conversation that is past the handshake of the first era.
    pub(crate) fn initialized(words: &str) -> Self {
        let mut conversation = Self::start(words);
        conversation.initialize();
        conversation
    }

    pub(crate) fn initialize(&mut self) -> Value {
        let answer = self.ask("initialize", &introduction("2025-11-25"));
        self.tell("notifications/initialized", &json!({}));
        answer
    }

    pub(crate) fn journal(&self) -> &JournalReader {
        self.server.journal()
    }

    pub(crate) fn marker(&self) -> String {
        self.server.marker().to_owned()
    }

    pub(crate) fn send_line(&mut self, line: &str) {
        let mut stdin = self.child.stdin.as_ref().unwrap();
        // The server may be gone, which is then what the test is about.
        let _ = stdin.write_all(format!("{line}\n").as_bytes());
    }

    pub(crate) fn send(&mut self, message: &Value) {
        self.send_line(&message.to_string());
    }

    pub(crate) fn tell(&mut self, method: &str, params: &Value) {
        self.send(&json!({"jsonrpc": "2.0", "method": method, "params": params}));
    }

    /// Sends a request; gives its id.
    pub(crate) fn begin(&mut self, method: &str, params: &Value) -> u64 {
        self.ids += 1;
        let id = self.ids;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        id
    }

    /// Sends a request and waits for the reply; what comes before it is dropped.
    pub(crate) fn ask(&mut self, method: &str, params: &Value) -> Value {
        let id = self.begin(method, params);
        self.reply(id)
    }

    pub(crate) fn call(&mut self, tool: &str, arguments: &Value) -> Value {
        self.ask("tools/call", &json!({"name": tool, "arguments": arguments}))
    }

    pub(crate) fn reply(&self, id: u64) -> Value {
        self.message(|message| message["id"] == json!(id) && message.get("method").is_none())
    }

    /// The next message that is like that; what comes before it is dropped.
    pub(crate) fn message(&self, wanted: impl Fn(&Value) -> bool) -> Value {
        loop {
            let line = self.line().expect("the server ended");
            let message: Value = serde_json::from_slice(&line)
                .unwrap_or_else(|_| panic!("no JSON: {}", String::from_utf8_lossy(&line)));
            if wanted(&message) {
                return message;
            }
        }
    }

    /// The next line as it is; none if there are no more.
    pub(crate) fn line(&self) -> Option<Vec<u8>> {
        match self.lines.recv_timeout(PATIENCE) {
            Ok(line) => Some(line),
            Err(RecvTimeoutError::Disconnected) => None,
            Err(RecvTimeoutError::Timeout) => panic!("the server says nothing"),
        }
    }

    /// Whether the server says nothing for a while.
    pub(crate) fn is_silent(&self) -> bool {
        let while_ = Duration::from_millis(200);
        self.lines.recv_timeout(while_) == Err(RecvTimeoutError::Timeout)
    }

    pub(crate) fn close_input(&mut self) {
        drop(self.child.stdin.take());
    }

    /// Waits for the server to end by itself.
    pub(crate) fn wait(&mut self) -> ExitStatus {
        let mut status = None;
        assert!(
            wait_until(PATIENCE, || {
                status = self.child.try_wait().unwrap();
                status.is_some()
            }),
            "the server does not end"
        );
        status.unwrap()
    }

    pub(crate) fn is_running(&mut self) -> bool {
        self.child.try_wait().unwrap().is_none()
    }
}

impl Drop for Conversation {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
        let left = || processes_with_argument(self.server.marker());
        if !std::thread::panicking() {
            assert!(wait_until(PATIENCE, || left().is_empty()), "{:?}", left());
        }
    }
}

/// What a client says of itself in the first era.
pub(crate) fn introduction(version: &str) -> Value {
    json!({
        "protocolVersion": version,
        "capabilities": {"elicitation": {}, "roots": {}},
        "clientInfo": {"name": "test", "version": "1"},
    })
}

/// The text of a tool's result.
pub(crate) fn text_of(reply: &Value) -> &str {
    reply["result"]["content"][0]["text"]
        .as_str()
        .unwrap_or_else(|| panic!("no text in {reply}"))
}
