//! A client of `openclaw mcp-server`, the program.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use openclaw_testkit::leaks::wait_until;
use serde_json::{Value as Json, json};

use crate::lab::{Lab, SOON};

/// A client, and the program that serves it.
pub(super) struct Client {
    pub(super) child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    errors: Option<JoinHandle<String>>,
    number: u64,
}

impl Client {
    /// Starts the program, and begins to talk.
    pub(super) fn start(lab: &Lab, arguments: &[&str]) -> Self {
        let mut client = Self::silent(lab, arguments);
        let params = json!({
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": { "name": "test", "version": "1" },
        });
        let id = client.request("initialize", &params);
        assert_eq!(
            client.answer(id)["result"]["serverInfo"]["name"],
            "openclaw"
        );
        client.say(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        client
    }

    /// Starts the program, and says nothing.
    pub(super) fn silent(lab: &Lab, arguments: &[&str]) -> Self {
        let mut child = lab
            .home
            .command(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut errors = child.stderr.take().unwrap();
        let errors = std::thread::spawn(move || {
            let mut text = String::new();
            errors.read_to_string(&mut text).unwrap();
            text
        });
        Self {
            input: child.stdin.take(),
            output: BufReader::new(child.stdout.take().unwrap()),
            errors: Some(errors),
            child,
            number: 0,
        }
    }

    pub(super) fn say(&mut self, value: &Json) {
        writeln!(self.input.as_mut().unwrap(), "{value}").unwrap();
    }

    pub(super) fn request(&mut self, method: &str, params: &Json) -> u64 {
        self.number += 1;
        let id = self.number;
        self.say(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        id
    }

    /// Gives an order, and says under which number.
    pub(super) fn order(&mut self, arguments: &Json) -> u64 {
        let params = json!({ "name": "order_openclaw", "arguments": arguments });
        self.request("tools/call", &params)
    }

    pub(super) fn cancel(&mut self, id: u64) {
        let method = "notifications/cancelled";
        self.say(&json!({ "jsonrpc": "2.0", "method": method, "params": { "requestId": id } }));
    }

    /// The next message: each line is one, whatever else happens.
    pub(super) fn next(&mut self) -> Option<Json> {
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        let message: Option<Json> =
            (!line.is_empty()).then(|| serde_json::from_str(&line).unwrap());
        if let Some(message) = &message {
            assert_eq!(message["jsonrpc"], "2.0", "{line}");
        }
        message
    }

    /// The answer to a request; notifications are passed over.
    pub(super) fn answer(&mut self, id: u64) -> Json {
        loop {
            let message = self.next().expect("an answer");
            if message["id"] == id {
                return message;
            }
            assert!(message.get("method").is_some(), "{message}");
        }
    }

    /// Gives an order and takes its result.
    pub(super) fn ordered(&mut self, arguments: &Json) -> Json {
        let id = self.order(arguments);
        self.answer(id)["result"].clone()
    }

    /// Says that nothing more will come, and takes the rest: messages, exit code, what was told on
    /// stderr, and how long it took.
    pub(super) fn end(mut self) -> End {
        self.input = None;
        self.ended()
    }

    /// The same for a program that ends by itself.
    pub(super) fn ended(mut self) -> End {
        let begun = Instant::now();
        let mut messages = Vec::new();
        while let Some(message) = self.next() {
            messages.push(message);
        }
        let mut status = None;
        let has_ended = wait_until(SOON, || {
            status = self.child.try_wait().unwrap();
            status.is_some()
        });
        assert!(has_ended, "the program goes on");
        End {
            messages,
            code: status.and_then(|status| status.code()),
            errors: self.errors.take().unwrap().join().unwrap(),
            took: begun.elapsed(),
        }
    }
}

/// What a program left.
#[derive(Debug)]
pub(super) struct End {
    pub(super) messages: Vec<Json>,
    pub(super) code: Option<i32>,
    pub(super) errors: String,
    pub(super) took: Duration,
}

impl End {
    /// Makes sure that it was a good one.
    pub(super) fn is_good(&self) {
        assert_eq!((self.code, self.errors.as_str()), (Some(0), ""), "{self:?}");
        assert!(self.messages.is_empty(), "{self:?}");
    }
}

/// All texts of a result.
pub(super) fn text(result: &Json) -> String {
    let content = result["content"].as_array().unwrap();
    let texts = content.iter().filter_map(|part| part["text"].as_str());
    texts.collect::<Vec<_>>().join("\n")
}
