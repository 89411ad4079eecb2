//! The limit: a loop that writes requests into the pipe of a server and reads its answers.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::keep_alive::per_second;
use crate::process::Running;

/// A server and both ends of its pipes.
pub(crate) struct Pipe {
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    line: String,
    number: usize,
    /// Whether the server is asked to tell of progress, as those behind a gateway are.
    asks_for_progress: bool,
    running: Running,
}

impl Pipe {
    pub(crate) fn open(command: &mut Command) -> Self {
        let command = command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut running = Running::start(command.stderr(Stdio::null()));
        let child = running.child();
        let input = child.stdin.take().expect("an input");
        let output = BufReader::new(child.stdout.take().expect("an output"));
        let mut pipe = Self {
            input,
            output,
            line: String::new(),
            number: 0,
            asks_for_progress: false,
            running,
        };
        pipe.send(&initialize().to_string());
        while pipe.receive()["id"] != 0 {}
        let initialized = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        pipe.send(&initialized.to_string());
        pipe
    }

    /// The same, with the requests that a gateway sends.
    pub(crate) fn asking_for_progress(mut self) -> Self {
        self.asks_for_progress = true;
        self
    }

    /// Both ends, and the server.
    pub(crate) fn into_parts(self) -> (ChildStdin, BufReader<ChildStdout>, Running) {
        (self.input, self.output, self.running)
    }

    /// How long one call takes.
    pub(crate) fn timed(&mut self) -> Duration {
        self.number += 1;
        let (number, request) = (self.number, self.call());
        let started = Instant::now();
        self.send(&request);
        loop {
            let answer = self.receive();
            // The server says things of its own, too.
            if answer["id"] == number {
                let took = started.elapsed();
                check(&answer);
                return took;
            }
        }
    }

    /// Calls each second with so many in flight.
    pub(crate) fn rate(&mut self, in_flight: usize, time: Duration) -> f64 {
        let started = Instant::now();
        for _ in 0..in_flight {
            self.next();
        }
        let (mut begun, mut answered) = (in_flight, 0);
        while answered < begun {
            let answer = self.receive();
            if answer["id"].is_null() {
                continue;
            }
            check(&answer);
            answered += 1;
            if started.elapsed() < time {
                begun += 1;
                self.next();
            }
        }
        per_second(answered, started.elapsed())
    }

    fn next(&mut self) {
        self.number += 1;
        let call = self.call();
        self.send(&call);
    }

    fn call(&self) -> String {
        let number = self.number;
        if !self.asks_for_progress {
            return call(number);
        }
        let call = json!({"jsonrpc": "2.0", "id": number, "method": "tools/call",
            "params": {"name": "echo", "arguments": {"message": "hello"},
                "_meta": {"progressToken": number.to_string()}}});
        call.to_string()
    }

    fn send(&mut self, message: &str) {
        let line = format!("{message}\n");
        self.input.write_all(line.as_bytes()).expect("a line");
    }

    fn receive(&mut self) -> Value {
        self.line.clear();
        let length = self.output.read_line(&mut self.line).expect("a line");
        assert_ne!(length, 0, "the server ended");
        serde_json::from_str(&self.line).expect("a message")
    }
}

/// The first request of a session.
pub(crate) fn initialize() -> Value {
    json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {},
        "clientInfo": {"name": "bench", "version": "1"}}})
}

/// A call of `echo`.
pub(crate) fn call(number: usize) -> String {
    let call = json!({"jsonrpc": "2.0", "id": number, "method": "tools/call",
        "params": {"name": "echo", "arguments": {"message": "hello"}}});
    call.to_string()
}

fn check(answer: &Value) {
    assert_eq!(answer["result"]["content"][0]["text"], "Echo: hello");
}
