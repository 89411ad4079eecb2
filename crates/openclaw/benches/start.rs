//! How long the program takes from its start to its end.
//!
//! Budgets: `--version` under 5 ms, `config validate` on 20 servers under 15 ms; `true` is the
//! limit of what starting any program costs on the machine.

#![expect(
    clippy::expect_used,
    reason = "a benchmark that can't be set up has nothing to say"
)]

use std::fs;
use std::process::{Command, Stdio};

use divan::Bencher;

fn main() {
    divan::main();
}

fn run(mut command: Command) {
    let status = command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .status()
        .expect("the program starts");
    assert!(status.success());
}

#[divan::bench(sample_count = 200)]
fn limit_true() {
    run(Command::new("true"));
}

#[divan::bench(sample_count = 200)]
fn version() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_openclaw"));
    command.arg("--version");
    run(command);
}

#[divan::bench(sample_count = 200)]
fn validate_20_servers(bencher: Bencher<'_, '_>) {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("openclaw.json");
    let mut text = String::from("{ mcp: { servers: {\n");
    for server in 0..20 {
        text.push_str(&format!(
            "  server{server}: {{ command: \"npx\", args: [\"-y\", \"@example/server-{server}\"], env: {{ API_KEY: \"plain-key-{server}-0123456789\", LEVEL: \"info\" }} }},\n"
        ));
    }
    text.push_str("} } }\n");
    fs::write(&path, text).expect("a file");
    bencher.bench_local(|| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_openclaw"));
        command.args(["config", "validate", "--config"]).arg(&path);
        run(command);
    });
}
