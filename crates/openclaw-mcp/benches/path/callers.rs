//! Many callers at once on a real server, beside a loop that keeps as many requests in flight.

use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Instant;

use openclaw_testkit::figures::Report;
use serde_json::{Value, json};
use tokio::runtime::Builder;
use tokio::task::JoinSet;

use crate::house::{House, message};

/// How many callers there are.
const CALLERS: usize = 64;
/// How many calls each makes.
const CALLS: usize = 100;
/// How often both take turns.
const TURNS: usize = 3;

pub(crate) fn measure(report: &mut Report) {
    let Some(program) = everything() else {
        Report::say("64 callers on server-everything", "no partners");
        return;
    };
    let (mut raw, mut ours) = (0.0_f64, 0.0_f64);
    // The best of each: whatever else the machine does only makes both slower.
    for _ in 0..TURNS {
        raw = raw.max(loop_of_requests(&program));
        ours = ours.max(callers(&program));
    }
    let percent = ours / raw * 100.0;
    Report::say(
        "64 requests in flight over a raw pipe",
        &format!("{raw:.0} /s"),
    );
    Report::say("64 callers, the whole way", &format!("{ours:.0} /s"));
    report.judge(
        "64 callers on server-everything",
        &format!("{percent:.0} %"),
        "70 % of the raw pipe",
        percent >= 70.0,
    );
}

fn everything() -> Option<PathBuf> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../target/partners");
    let root = std::env::var_os("OPENCLAW_PARTNERS").map_or(root, PathBuf::from);
    let program = root.join("node_modules/@modelcontextprotocol/server-everything/dist/index.js");
    program.exists().then_some(program)
}

/// Requests each second of a loop that does nothing but write and read lines.
fn loop_of_requests(program: &PathBuf) -> f64 {
    let mut child = Command::new("node")
        .arg(program)
        .arg("stdio")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("a server");
    let mut input = child.stdin.take().expect("an input");
    let mut output = BufReader::new(child.stdout.take().expect("an output"));
    let mut send = |message: Value| {
        writeln!(input, "{message}").expect("a line is written");
    };
    let mut receive = || -> Value {
        let mut line = String::new();
        output.read_line(&mut line).expect("a line");
        serde_json::from_str(&line).expect("a message")
    };
    send(
        json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {},
        "clientInfo": {"name": "loop", "version": "1"}}}),
    );
    while receive()["id"] != 0 {}
    send(json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    let request = |id: usize| {
        json!({"jsonrpc": "2.0", "id": id, "method": "tools/call",
            "params": {"name": "echo", "arguments": {"message": "hello"}}})
    };
    let total = CALLERS * CALLS;
    let started = Instant::now();
    let mut begun = 0;
    while begun < CALLERS {
        begun += 1;
        send(request(begun));
    }
    let mut answered = 0;
    while answered < total {
        // The server says things of its own, too.
        if receive()["id"].is_null() {
            continue;
        }
        answered += 1;
        if begun < total {
            begun += 1;
            send(request(begun));
        }
    }
    let took = started.elapsed();
    child.kill().expect("it ends");
    child.wait().expect("it has ended");
    per_second(total, took)
}

fn per_second(count: usize, took: std::time::Duration) -> f64 {
    f64::from(u32::try_from(count).expect("few")) / took.as_secs_f64()
}

/// Calls each second of many callers.
fn callers(program: &PathBuf) -> f64 {
    let runtime = Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .expect("a runtime");
    runtime.block_on(async {
        let entry = json!({"command": "node", "args": [program, "stdio"], "protocol": "legacy"});
        let house = Arc::new(House::started(&json!({ "everything": entry })).await);
        let started = Instant::now();
        let mut calling = JoinSet::new();
        for _ in 0..CALLERS {
            let house = Arc::clone(&house);
            calling.spawn(async move {
                for _ in 0..CALLS {
                    let outcome = house.call("mcp_everything_echo", message("hello")).await;
                    assert!(!outcome.end.is_error(), "{outcome:?}");
                }
            });
        }
        while let Some(called) = calling.join_next().await {
            called.expect("all calls");
        }
        let took = started.elapsed();
        house.servers.shutdown().await;
        per_second(CALLERS * CALLS, took)
    })
}
