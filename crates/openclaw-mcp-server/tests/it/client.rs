//! A client of the server, over pipes.

use std::io::{BufRead as _, BufReader, PipeReader, PipeWriter, Write as _, pipe};
use std::path::Path;
use std::thread::JoinHandle;

use openclaw_mcp_server::{ServerSetup, serve};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::engine::Scripted;

/// A client, whose server runs on a thread of its own.
pub(crate) struct Client {
    pub(crate) engine: Scripted,
    input: Option<PipeWriter>,
    output: BufReader<PipeReader>,
    server: Option<JoinHandle<std::io::Result<()>>>,
    spool: TempDir,
}

impl Client {
    /// A client that has said nothing yet.
    pub(crate) fn silent() -> Self {
        let (stdin, input) = pipe().unwrap();
        let (output, stdout) = pipe().unwrap();
        let spool = tempfile::tempdir().unwrap();
        let engine = Scripted::default();
        let setup = ServerSetup {
            input: Box::new(stdin),
            output: Box::new(stdout),
            spool: spool.path().to_owned(),
            agent: None,
            default_agent: "main".to_owned(),
            version: "1.2.3",
            correlation: "test".to_owned(),
        };
        let serving = engine.clone();
        let server = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .unwrap();
            runtime.block_on(serve(&serving, setup))
        });
        Self {
            engine,
            input: Some(input),
            output: BufReader::new(output),
            server: Some(server),
            spool,
        }
    }

    /// A client that has begun in the first era.
    pub(crate) fn of(revision: &str) -> Self {
        let mut client = Self::silent();
        let agreed = client.ask(0, "initialize", initialize(revision));
        assert_eq!(agreed["result"]["protocolVersion"], revision);
        client.say(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        client
    }

    pub(crate) fn say(&mut self, value: &Value) {
        self.write(value.to_string().as_bytes());
        self.write(b"\n");
    }

    pub(crate) fn write(&mut self, bytes: &[u8]) {
        self.input.as_mut().unwrap().write_all(bytes).unwrap();
    }

    /// The way in, for somebody who writes beside us.
    pub(crate) fn another_input(&self) -> PipeWriter {
        self.input.as_ref().unwrap().try_clone().unwrap()
    }

    #[expect(
        clippy::needless_pass_by_value,
        reason = "arguments are made where they are passed"
    )]
    pub(crate) fn request(&mut self, id: u64, method: &str, params: Value) {
        self.say(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
    }

    #[expect(
        clippy::needless_pass_by_value,
        reason = "arguments are made where they are passed"
    )]
    pub(crate) fn order(&mut self, id: u64, arguments: Value) {
        let params = json!({ "name": "order_openclaw", "arguments": arguments });
        self.request(id, "tools/call", params);
    }

    pub(crate) fn cancel(&mut self, id: u64) {
        let params = json!({ "requestId": id, "reason": "enough" });
        let method = "notifications/cancelled";
        self.say(&json!({ "jsonrpc": "2.0", "method": method, "params": params }));
    }

    /// The next line; none where there are no more.
    pub(crate) fn next(&mut self) -> Option<Value> {
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        (!line.is_empty()).then(|| serde_json::from_str(&line).unwrap())
    }

    /// Asks, and takes the next line for the answer.
    pub(crate) fn ask(&mut self, id: u64, method: &str, params: Value) -> Value {
        self.request(id, method, params);
        let answer = self.next().unwrap();
        assert_eq!(answer["id"], id, "{answer}");
        answer
    }

    /// Orders, and takes the next line for the reply.
    pub(crate) fn ordered(&mut self, id: u64, arguments: Value) -> Value {
        self.order(id, arguments);
        let answer = self.next().unwrap();
        assert_eq!(answer["id"], id, "{answer}");
        answer["result"].clone()
    }

    /// Says that nothing more will come.
    pub(crate) fn hang_up(&mut self) {
        self.input = None;
    }

    /// Hangs up, and takes what is left to hear. Nothing is left behind.
    pub(crate) fn ends(mut self) -> Vec<Value> {
        self.hang_up();
        let mut rest = Vec::new();
        while let Some(line) = self.next() {
            rest.push(line);
        }
        self.server.take().unwrap().join().unwrap().unwrap();
        assert!(is_empty(self.spool.path()));
        rest
    }

    /// Waits for the end of the server, and reads nothing of what it says.
    pub(crate) fn left_without_a_word(mut self) -> Scripted {
        self.server.take().unwrap().join().unwrap().unwrap();
        assert!(is_empty(self.spool.path()));
        self.engine
    }

    /// Goes without a word: neither does it speak, nor does it listen.
    pub(crate) fn dies(mut self) -> Scripted {
        self.input = None;
        drop(self.output);
        self.server.take().unwrap().join().unwrap().unwrap();
        assert!(is_empty(self.spool.path()));
        self.engine
    }

    /// Whether there is nothing in the spool: its files have no names.
    pub(crate) fn has_clean_spool(&self) -> bool {
        is_empty(self.spool.path())
    }
}

fn is_empty(directory: &Path) -> bool {
    std::fs::read_dir(directory).unwrap().next().is_none()
}

pub(crate) fn initialize(revision: &str) -> Value {
    json!({
        "protocolVersion": revision,
        "capabilities": {},
        "clientInfo": { "name": "test", "version": "1" },
    })
}

/// The text of a result, which has nothing else.
pub(crate) fn text(result: &Value) -> &str {
    let content = result["content"].as_array().unwrap();
    assert_eq!(content.len(), 1, "{result}");
    content[0]["text"].as_str().unwrap()
}
