//! Lines as they are, for what no proper editor sends.

use std::io::{self, BufRead as _, BufReader, PipeReader, PipeWriter, Write as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::task::JoinHandle;

use crate::editor::{DEADLINE, start};

pub(crate) struct Raw {
    served: JoinHandle<io::Result<()>>,
    pub(crate) writer: PipeWriter,
    pub(crate) reader: BufReader<PipeReader>,
    _directory: TempDir,
}

impl Raw {
    fn start() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let state = directory.path().join("state");
        let (served, writer, reader) = start(&Arc::default(), &state);
        Self {
            served,
            writer,
            reader: BufReader::new(reader),
            _directory: directory,
        }
    }

    fn write(&mut self, line: &[u8]) {
        self.writer.write_all(line).unwrap();
        self.writer.write_all(b"\n").unwrap();
    }

    fn send(&mut self, message: &Value) {
        self.write(message.to_string().as_bytes());
    }

    fn read(&mut self) -> Value {
        let mut line = String::new();
        self.reader.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap()
    }

    fn ask(&mut self, id: u32, method: &str, params: &Value) {
        let message = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        self.send(&message);
    }

    fn greet(&mut self) {
        self.ask(0, "initialize", &json!({ "protocolVersion": 1 }));
        assert_eq!(self.read()["result"]["protocolVersion"], 1);
    }

    async fn hang_up(self) {
        drop(self.writer);
        let served = tokio::time::timeout(DEADLINE, self.served).await;
        served.unwrap().unwrap().unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn newer_editors_get_the_version_that_we_speak() {
    let mut raw = Raw::start();
    raw.ask(1, "initialize", &json!({ "protocolVersion": 99 }));
    assert_eq!(raw.read()["result"]["protocolVersion"], 1);
    raw.hang_up().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_before_the_first_one_are_refused() {
    let mut raw = Raw::start();
    raw.ask(1, "session/new", &json!({ "cwd": "/", "mcpServers": [] }));
    let answer = raw.read();
    assert_eq!(answer["id"], 1);
    assert!(answer["error"].is_object(), "{answer}");
    raw.greet();
    raw.ask(2, "session/new", &json!({ "cwd": "/", "mcpServers": [] }));
    assert!(raw.read()["result"]["sessionId"].is_string());
    raw.hang_up().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn editors_need_not_wait_for_the_first_answer() {
    let mut raw = Raw::start();
    let hello = json!({
        "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": { "protocolVersion": 1 }
    });
    let new = json!({
        "jsonrpc": "2.0", "id": 2, "method": "session/new",
        "params": { "cwd": "/", "mcpServers": [] }
    });
    raw.write(format!("{hello}\n{new}").as_bytes());
    assert_eq!(raw.read()["id"], 1);
    let answer = raw.read();
    assert!(answer["result"]["sessionId"].is_string(), "{answer}");
    raw.hang_up().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn lines_that_can_not_be_used_are_answered_and_passed_over() {
    let mut raw = Raw::start();
    raw.greet();
    for line in [
        &b"{"[..],
        b"hello",
        b"{\"jsonrpc\":\"2.0\",\"id\":\"\xff\"}",
        &[b'['; 10_000],
    ] {
        raw.write(line);
        assert_eq!(raw.read()["error"]["code"], -32700);
    }
    raw.write(b"");
    raw.write(b"[]");
    assert_eq!(raw.read()["error"]["code"], -32600);
    raw.ask(1, "session/fly", &json!({}));
    assert_eq!(raw.read()["error"]["code"], -32601);
    raw.ask(2, "session/new", &json!({ "cwd": 7 }));
    assert_eq!(raw.read()["error"]["code"], -32602);
    raw.ask(3, "authenticate", &json!({ "methodId": "any" }));
    assert!(raw.read()["result"].is_object());
    raw.hang_up().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_asked_before_the_end_is_answered() {
    let mut raw = Raw::start();
    raw.ask(1, "initialize", &json!({ "protocolVersion": 1 }));
    drop(raw.writer);
    let mut line = String::new();
    raw.reader.read_line(&mut line).unwrap();
    assert!(line.contains("protocolVersion"), "{line}");
    let served = tokio::time::timeout(DEADLINE, raw.served).await;
    served.unwrap().unwrap().unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn an_editor_that_asks_and_does_not_read_is_held_back() {
    const ALL: u32 = 20_000;
    let mut raw = Raw::start();
    raw.greet();
    let written = Arc::new(AtomicU32::new(0));
    let count = Arc::clone(&written);
    let mut writer = raw.writer;
    let writing = std::thread::spawn(move || {
        for id in 0..ALL {
            let message = json!({ "jsonrpc": "2.0", "id": id, "method": "session/fly" });
            writeln!(writer, "{message}").unwrap();
            count.fetch_add(1, Ordering::SeqCst);
        }
        writer
    });
    // It stands still, after what is let in and what pipes hold.
    let mut before = u32::MAX;
    while before != written.load(Ordering::SeqCst) {
        before = written.load(Ordering::SeqCst);
        tokio::time::sleep(Duration::from_millis(300)).await;
    }
    assert!(before < ALL / 2, "{before}");
    for _ in 0..ALL {
        let mut line = String::new();
        raw.reader.read_line(&mut line).unwrap();
        assert!(line.contains("-32601"), "{line}");
    }
    drop(writing.join().unwrap());
    let served = tokio::time::timeout(DEADLINE, raw.served).await;
    served.unwrap().unwrap().unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_line_that_is_too_long_is_passed_over() {
    let mut raw = Raw::start();
    raw.greet();
    let piece = vec![b'x'; 1024 * 1024];
    for _ in 0..65 {
        raw.writer.write_all(&piece).unwrap();
    }
    raw.write(b"");
    let answer = raw.read();
    assert_eq!(answer["error"]["code"], -32700);
    assert!(answer.to_string().contains("more than 64 MiB"), "{answer}");
    raw.ask(1, "session/list", &json!({}));
    assert!(raw.read()["result"].is_object());
    raw.hang_up().await;
}
