//! How long `openclaw mcp call` takes from its start to its end on a server that is fast, beside
//! what starting the same server costs without it. The program fails if the budget is not kept.

#![expect(
    clippy::expect_used,
    reason = "a benchmark that can't be set up has nothing to say"
)]

use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use openclaw_testkit::figures::{Report, median};
use serde_json::{Value, json};

/// How many runs are measured.
const RUNS: usize = 50;
/// What a call may take in all.
const BUDGET: Duration = Duration::from_millis(15);

fn main() -> ExitCode {
    // This program is the server, too.
    if std::env::args().nth(1).as_deref() == Some("stdio") {
        return openclaw_testkit::fake_server::main();
    }
    let mut report = Report::default();
    Report::say("the server's own start and end", &millis(server_alone()));
    Report::say("openclaw --version", &millis(of_runs(&["--version"], None)));
    for (words, more) in [
        ("first era", json!({ "protocol": "legacy" })),
        ("either era", json!({})),
    ] {
        let home = home(&more);
        let call = ["mcp", "call", "fake/echo", "message=hello"];
        let took = of_runs(&call, Some(home.path()));
        let what = format!("openclaw mcp call, {words}");
        report.judge(&what, &millis(took), "15 ms", took <= BUDGET);
    }
    if report.is_kept() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

/// A home directory whose configuration has this program as its only server.
fn home(more: &Value) -> tempfile::TempDir {
    let directory = tempfile::tempdir().expect("a directory");
    let state = directory.path().join(".openclaw");
    std::fs::create_dir(&state).expect("a directory");
    let program = std::env::current_exe().expect("this program");
    let mut entry = json!({ "command": program, "args": ["stdio"] });
    for (name, value) in more.as_object().into_iter().flatten() {
        entry[name] = value.clone();
    }
    let config = json!({ "mcp": { "servers": { "fake": entry } } });
    let path = state.join("openclaw.json");
    std::fs::write(path, config.to_string()).expect("a file");
    directory
}

/// The middle of many runs; the first ones, which warm up, don't count.
fn measured(mut run: impl FnMut()) -> Duration {
    for _ in 0..5 {
        run();
    }
    let timed = |run: &mut dyn FnMut()| {
        let started = Instant::now();
        run();
        started.elapsed()
    };
    median((0..RUNS).map(|_| timed(&mut run)).collect())
}

fn of_runs(arguments: &[&str], home: Option<&Path>) -> Duration {
    measured(|| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_openclaw"));
        command.args(arguments);
        if let Some(home) = home {
            command.env_clear().env("HOME", home);
        }
        finish(&mut command);
    })
}

/// The server, with nothing to read.
fn server_alone() -> Duration {
    let program = std::env::current_exe().expect("this program");
    measured(|| finish(Command::new(&program).arg("stdio")))
}

fn finish(command: &mut Command) {
    let status = command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .status()
        .expect("the program starts");
    assert!(status.success());
}

fn millis(duration: Duration) -> String {
    format!("{:.2} ms", duration.as_secs_f64() * 1e3)
}
