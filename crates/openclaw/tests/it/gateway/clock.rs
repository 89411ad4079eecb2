//! A clock that somebody sets while the gateway runs.

use std::path::PathBuf;
use std::process::Command;

use openclaw_testkit::leaks::wait_until;
use serde_json::json;

use super::Gateway;
use crate::lab::{Lab, SOON};

const DAY: i64 = 24 * 60 * 60;

/// The clock of a gateway.
struct Clock(PathBuf);

impl Clock {
    /// A gateway whose clock can be set. The compiler is the one that Rust links with.
    fn of_gateway(lab: &Lab) -> (Self, Gateway) {
        let library = lab.home.path().join("clock.so");
        let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/gateway/clock.c");
        let mut compiler = Command::new("cc");
        compiler.args(["-shared", "-fPIC", "-O1", "-o"]);
        let status = compiler.arg(&library).arg(source).status().unwrap();
        assert!(status.success());
        let clock = Self(lab.home.path().join("clock"));
        clock.set(0);
        let arguments = ["gateway", "run", "--port", "0"];
        let mut command = lab.home.plain_command(&arguments);
        command.env("LD_PRELOAD", &library);
        command.env("WRONG_CLOCK", &clock.0);
        (clock, Gateway::of(command))
    }

    /// Sets it to another time; never half of one.
    fn set(&self, seconds: i64) {
        let next = self.0.with_extension("next");
        std::fs::write(&next, seconds.to_string()).unwrap();
        std::fs::rename(next, &self.0).unwrap();
    }
}

/// The year in which the gateway saw the last call.
fn year(lab: &Lab) -> i64 {
    let log = lab.home.path().join(".openclaw/logs/audit.jsonl");
    let log = std::fs::read_to_string(log).unwrap();
    let last: serde_json::Value = serde_json::from_str(log.lines().last().unwrap()).unwrap();
    let (year, _) = last["time"].as_str().unwrap().split_once('-').unwrap();
    year.parse().unwrap()
}

#[test]
fn a_clock_that_jumps_costs_neither_servers_nor_calls_nor_what_was_said() {
    let mut lab = Lab::new("").alone();
    let (clock, mut gateway) = Clock::of_gateway(&lab);
    let call = json!({ "tool": "fake/echo", "arguments": { "message": "hello" } });
    let called = gateway.ask(&lab.home, "POST", "/api/mcp/call", Some(&call));
    assert_eq!(called.status, 200, "{called:?}");
    let running = lab.servers();
    assert_eq!(running.len(), 1);
    let other = ["agent", "--session-key", "other", "-m", "kept"];
    assert_eq!(lab.home.run(&other).code, Some(0));
    let this_year = year(&lab);

    let jumps = [0, 1, 3_650, 3_649, -3_650, -1, 0];
    for (number, days) in jumps.into_iter().enumerate() {
        clock.set(days * DAY);
        let called = gateway.ask(&lab.home, "POST", "/api/mcp/call", Some(&call));
        assert!(called.body.contains("hello"), "{days}: {called:?}");
        let years = days / 365;
        assert!((this_year + years - year(&lab)).abs() <= 1, "{days}");
        let called = lab.home.run(&["mcp", "call", "fake/echo", "message=hello"]);
        assert_eq!(called.stdout, "hello\n", "{days}: {called}");
        let said = lab.home.run(&["agent", "-m", &format!("turn {number}")]);
        assert_eq!(said.code, Some(0), "{days}: {said}");
        let health = gateway.ask_with("", "GET", "/health", None);
        assert_eq!(health.status, 200, "{days}: {health:?}");
        // A configuration is another one by what it says, and not by when it was written.
        let agent = format!("agent{number}");
        lab = lab.settings(json!({ "agents": { "entries": { &agent: {} } } }));
        let is_known = || {
            let status = lab.home.run(&["mcp", "servers", "--agent", &agent]);
            status.code == Some(0)
        };
        assert!(wait_until(SOON, is_known), "{days}: the agent is known");
        assert_eq!(lab.servers(), running, "{days}: no server was started anew");
    }

    let shown = lab.home.run(&["sessions", "show", "main", "--json"]).json();
    let messages = shown["messages"].as_array().unwrap();
    let said = messages.iter().filter(|it| it["role"] == "user");
    let said: Vec<_> = said.filter_map(|it| it["text"].as_str()).collect();
    let expected: Vec<_> = (0..jumps.len()).map(|it| format!("turn {it}")).collect();
    assert_eq!(said, expected, "in the order in which it was said");
    let kept = lab.home.run(&["sessions", "show", "other", "--json"]);
    assert_eq!(kept.json()["messages"][0]["text"], "kept");
    gateway.signal(rustix::process::Signal::TERM);
    assert_eq!(gateway.ended().0, Some(0));
}
