//! `openclaw demo`, and the server that it starts.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use openclaw_testkit::leaks::wait_until;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value as Json, json};

use crate::lab::assert_harmless;
use crate::program::Home;

const SOON: Duration = Duration::from_secs(20);

/// A home directory, and a directory for temporary files in which something could be left.
struct Guest {
    home: Home,
    temporary: tempfile::TempDir,
}

impl Guest {
    fn new() -> Self {
        Self {
            home: Home::new(),
            temporary: tempfile::tempdir().unwrap(),
        }
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.home.command(arguments);
        command.env("TMPDIR", self.temporary.path());
        command
    }

    fn run(&self, arguments: &[&str]) -> crate::program::Run {
        let output = self.command(arguments).output().unwrap();
        self.home.finish(output)
    }

    /// Nothing lies about, in the home directory or among temporary files.
    #[track_caller]
    fn assert_clean(&self) {
        for directory in [self.home.path(), self.temporary.path()] {
            let left: Vec<_> = std::fs::read_dir(directory).unwrap().collect();
            assert!(left.is_empty(), "{left:?}");
        }
    }
}

#[track_caller]
fn assert_gone(pid: u64) {
    let process = format!("/proc/{pid}");
    assert!(!Path::new(&process).exists(), "{pid} is still running");
}

#[test]
fn every_step_of_the_tour_happens_and_nothing_is_left() {
    let guest = Guest::new();
    let run = guest.run(&["demo"]);
    assert_eq!(run.code, Some(0), "{run}");
    assert_eq!(run.stderr, "", "{run}");
    assert_harmless(&run.stdout);
    for words in [
        "1. A configuration with one MCP server",
        "demo: running (PID ",
        "mcp_demo_add",
        "> add 19 and 23",
        "5. The model builtin/offline chooses a tool",
        "<<<EXTERNAL_UNTRUSTED_CONTENT id=",
        "From: demo/add",
        "7. The reply",
        "42",
        "8. The server is stopped, and nothing is left",
        "openclaw mcp connect",
    ] {
        assert!(run.stdout.contains(words), "{words:?} is missing: {run}");
    }
    guest.assert_clean();
}

#[test]
fn the_tour_for_programs_says_what_happened() {
    let guest = Guest::new();
    let run = guest.run(&["demo", "--json"]);
    assert_eq!(run.code, Some(0), "{run}");
    let facts = run.json();
    assert_gone(facts["pid"].as_u64().unwrap());
    assert_eq!(facts["model"], "builtin/offline");
    assert_eq!(facts["arguments"], json!({ "a": 19, "b": 23 }));
    assert_eq!(facts["toolCalls"][0]["isError"], false);
    assert!(facts["reply"].as_str().unwrap().contains("42"));
    guest.assert_clean();
}

#[test]
fn what_the_person_has_is_not_looked_at() {
    let guest = Guest::new();
    guest.home.write(".openclaw/openclaw.json", "{ broken");
    let run = guest.run(&["demo"]);
    assert_eq!(run.code, Some(0), "{run}");
    let left = std::fs::read_dir(guest.home.path().join(".openclaw")).unwrap();
    assert_eq!(left.count(), 1, "nothing but the file is there");
}

#[test]
fn whoever_stops_the_tour_leaves_nothing_either() {
    for (signal, code) in [(Signal::INT, 130), (Signal::TERM, 143)] {
        // It may be done before it hears of the signal, but hardly each time.
        let is_stopped = (0..20).any(|_| {
            let ended = stopped(signal);
            assert!([Some(code), Some(0)].contains(&ended), "{ended:?}");
            ended == Some(code)
        });
        assert!(is_stopped, "{signal:?} is never heard");
    }
}

/// How a tour ends that is stopped at its first step; nothing is left of it.
fn stopped(signal: Signal) -> Option<i32> {
    let guest = Guest::new();
    let mut child = guest
        .command(&["demo"])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert!(lines.any(|line| line.unwrap().starts_with("1. ")));
    kill_process(Pid::from_child(&child), signal).unwrap();
    // What is written is read, or it would wait for that.
    assert!(lines.all(|line| line.is_ok()));
    let ended = ended(child);
    guest.assert_clean();
    ended
}

fn ended(mut child: Child) -> Option<i32> {
    let mut status = None;
    wait_until(SOON, || {
        status = child.try_wait().unwrap();
        status.is_some()
    });
    status.and_then(|status| status.code())
}

#[test]
fn a_reader_that_leaves_in_the_middle_leaves_nothing_behind() {
    let guest = Guest::new();
    let mut child = guest
        .command(&["demo"])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    assert_eq!(ended(child), Some(0));
    guest.assert_clean();
}

#[test]
fn where_nothing_can_be_written_it_is_said_what_to_do() {
    let guest = Guest::new();
    let missing = guest.temporary.path().join("missing");
    let output = guest.command(&["demo"]).env("TMPDIR", missing).output();
    let run = guest.home.finish(output.unwrap());
    assert_eq!(run.code, Some(1), "{run}");
    assert!(run.stderr.contains("hint: set TMPDIR"), "{run}");
}

#[test]
fn the_server_speaks_over_its_standard_streams_and_ends_with_them() {
    let guest = Guest::new();
    let mut child = guest
        .command(&["demo-server"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    let call = json!({
        "jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": { "name": "add", "arguments": { "a": 1, "b": 2 } },
    });
    writeln!(input, "{call}").unwrap();
    drop(input);
    let run = guest.home.finish(child.wait_with_output().unwrap());
    assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""));
    let answer: Json = run.json();
    assert_eq!(answer["result"]["content"][0]["text"], "1 + 2 = 3");
    guest.assert_clean();
}
