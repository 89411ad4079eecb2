//! What `openclaw mcp-server` costs: how long a client waits for its first answer (an editor of `openclaw
//! acp`, too), what many orders leave in memory, what large attachments take of it. The program fails if a budget is not kept.

#![expect(
    clippy::expect_used,
    reason = "a benchmark that can't be set up has nothing to say"
)]

use std::io::{BufRead as _, BufReader, BufWriter, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use openclaw_testkit::figures::{Report, median};
use openclaw_testkit::{FakeServer, memory, pictures};
use serde_json::{Value, json};

// Servers are started with the first order: what counts at the start is how much there is to be read.

/// How many starts are measured.
const STARTS: usize = 50;
/// How many orders are given one after the other.
const ORDERS: usize = 1000;
/// How many are given before memory is looked at: what is made once is made then.
const WARMING: usize = 100;
/// When a client must have its first answer.
const FIRST_ANSWER: Duration = Duration::from_millis(30);
/// What many orders may leave.
const GROWTH: i64 = 5 * MIB;
const MIB: i64 = 1024 * 1024;

fn main() -> ExitCode {
    // This program is the service of models, too.
    if std::env::args().any(|argument| argument == "--record") {
        return openclaw_testkit::fake_model::main();
    }
    let mut report = Report::default();
    starts(&mut report);
    orders(&mut report);
    attachments(&mut report);
    if report.is_kept() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

fn starts(report: &mut Report) {
    let servers: Vec<(String, Value)> = (0..10)
        .map(|number| (format!("s{number}"), json!({ "command": "/bin/cat" })))
        .collect();
    let servers: Value = Value::Object(servers.into_iter().collect());
    for (words, config) in [
        ("no configuration", json!({})),
        ("10 servers in it", json!({ "mcp": { "servers": servers } })),
    ] {
        let home = home(&config);
        for command in ["mcp-server", "acp"] {
            let took = (0..STARTS + 5).map(|_| {
                let begun = Instant::now();
                let client = Client::start_as(command, home.path());
                let took = begun.elapsed();
                client.end();
                took
            });
            // The first ones warm up.
            let took = median(took.skip(5).collect());
            let what = format!("{command}: start to `initialize` answered, {words}");
            let figure = format!("{:.2} ms", took.as_secs_f64() * 1e3);
            report.judge(&what, &figure, "30 ms", took < FIRST_ANSWER);
        }
    }
}

fn orders(report: &mut Report) {
    let home = home(&json!({ "agents": { "defaults": { "model": "builtin/offline" } } }));
    let mut client = Client::start(home.path());
    let order = json!({ "message": "hello, what can you do?" });
    for _ in 0..WARMING {
        client.order(&order);
    }
    let before = client.resident();
    let begun = Instant::now();
    for _ in 0..ORDERS {
        client.order(&order);
    }
    let each = begun.elapsed() / u32::try_from(ORDERS).expect("a number");
    let growth = client.resident() - before;
    Report::say("memory after 100 orders", &mebibytes(before));
    Report::say(
        "one order, builtin/offline",
        &format!("{:.2} ms", each.as_secs_f64() * 1e3),
    );
    let what = "growth of memory over 1,000 orders";
    report.judge(what, &mebibytes(growth), "5 MiB", growth < GROWTH);
    client.end();
}

fn attachments(report: &mut Report) {
    let asked = tempfile::tempdir().expect("a directory");
    let this = std::env::current_exe().expect("this program");
    let service = FakeServer::at(&this).flag("--record").flag(asked.path());
    let service = service.start().expect("the service starts");
    let home = home(&json!({
        "agents": { "defaults": { "model": "test/m" } },
        "models": { "providers": { "test": {
            "api": "anthropic-messages", "apiKey": "key-of-the-benchmark",
            "baseUrl": service.origin(),
            "models": [{ "id": "m", "input": ["text", "image"], "contextWindow": 1_000_000 }],
        } } },
    }));
    let mut client = Client::start(home.path());
    let image = STANDARD.encode(pictures::png(15 << 20));
    let image = json!({ "data": image, "mimeType": "image/png" });
    let images: Vec<&Value> = (0..10).map(|_| &image).collect();
    let begun = Instant::now();
    client.order(&json!({ "message": "look", "images": images }));
    let took = begun.elapsed();
    let peak = memory::peak_of(client.child.id()).expect("the process is there");
    let peak = i64::try_from(peak).expect("a number");
    Report::say(
        "10 images of 15 MiB, to the model and back",
        &format!("{:.2} s", took.as_secs_f64()),
    );
    let what = "peak of memory with 10 images of 15 MiB";
    report.judge(what, &mebibytes(peak), "450 MiB", peak < 450 * MIB);
    client.end();
}

/// A home directory with this configuration.
fn home(config: &Value) -> tempfile::TempDir {
    let directory = tempfile::tempdir().expect("a directory");
    let state = directory.path().join(".openclaw");
    std::fs::create_dir(&state).expect("a directory");
    std::fs::write(state.join("openclaw.json"), config.to_string()).expect("a file");
    directory
}

#[expect(clippy::cast_precision_loss, reason = "a figure for people")]
fn mebibytes(bytes: i64) -> String {
    format!("{:.1} MiB", bytes as f64 / MIB as f64)
}

struct Client {
    child: Child,
    input: BufWriter<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl Client {
    /// Starts the server, and has it answer the first request.
    fn start(home: &Path) -> Self {
        Self::start_as("mcp-server", home)
    }

    /// Starts a command that begins with the same question, whoever asks it.
    fn start_as(command: &str, home: &Path) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_openclaw"))
            .arg(command)
            .env_clear()
            .env("HOME", home)
            .env("OLLAMA_HOST", "off")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the program starts");
        let mut client = Self {
            input: BufWriter::new(child.stdin.take().expect("a pipe")),
            output: BufReader::new(child.stdout.take().expect("a pipe")),
            child,
        };
        let answer = client.ask(
            "initialize",
            &json!({
                "protocolVersion": if command == "acp" { json!(1) } else { json!("2025-11-25") },
                "capabilities": {},
                "clientInfo": { "name": "bench", "version": "1" },
            }),
        );
        assert!(answer["result"].is_object(), "{answer}");
        client
    }

    fn ask(&mut self, method: &str, params: &Value) -> Value {
        let request = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        serde_json::to_writer(&mut self.input, &request).expect("it listens");
        self.input.write_all(b"\n").expect("it listens");
        self.input.flush().expect("it listens");
        let mut line = String::new();
        self.output.read_line(&mut line).expect("an answer");
        serde_json::from_str(&line).expect("JSON")
    }

    fn order(&mut self, arguments: &Value) {
        let params = json!({ "name": "order_openclaw", "arguments": arguments });
        let answer = self.ask("tools/call", &params);
        assert_eq!(answer["result"]["isError"], false, "{answer}");
    }

    fn resident(&self) -> i64 {
        let bytes = memory::resident(self.child.id()).expect("the process is there");
        i64::try_from(bytes).expect("a number")
    }

    fn end(mut self) {
        drop(self.input);
        let status = self.child.wait().expect("it ends");
        assert!(status.success());
    }
}
