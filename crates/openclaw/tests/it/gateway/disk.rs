//! A disk on which there is no room.

use std::time::Duration;

use openclaw_testkit::leaks::wait_until;
use rustix::process::{Pid, Resource, Rlimit, getrlimit, prlimit};
use serde_json::json;

use super::Gateway;
use crate::lab::{Lab, SOON};

/// Files may have so many bytes from now on.
fn room(gateway: &Gateway, bytes: Option<u64>) {
    let pid = Pid::from_raw(gateway.pid().try_into().unwrap());
    let limit = Rlimit {
        current: bytes,
        maximum: getrlimit(Resource::Fsize).maximum,
    };
    prlimit(pid, Resource::Fsize, limit).unwrap();
}

#[test]
fn a_full_disk_costs_what_would_be_written_and_nothing_else() {
    let lab = Lab::new("").alone();
    // The signal would end it; a disk that is full sends none.
    let gateway = Gateway::of(lab.home.limited("trap '' XFSZ"));
    let said = lab.home.run(&["agent", "-m", "before"]);
    assert_eq!(said.code, Some(0), "{said}");
    room(&gateway, Some(0));
    let call = json!({ "tool": "fake/echo", "arguments": { "message": "hello" } });
    for _ in 0..20 {
        let called = gateway.ask(&lab.home, "POST", "/api/mcp/call", Some(&call));
        assert_eq!(called.status, 200, "{called:?}");
        assert!(called.body.contains("hello"), "{called:?}");
    }
    let called = lab.home.run(&["mcp", "call", "fake/echo", "message=hello"]);
    assert_eq!(called.stdout, "hello\n", "{called}");
    // What can't be kept is not done.
    let said = lab.home.run(&["agent", "-m", "meanwhile"]);
    assert_eq!(said.code, Some(1), "{said}");
    assert!(said.stderr.contains("session"), "{said}");
    let health = gateway.ask_with("", "GET", "/health", None);
    assert_eq!(health.status, 200, "{health:?}");
    room(&gateway, None);
    let recovers = || lab.home.run(&["agent", "-m", "afterwards"]).code == Some(0);
    assert!(wait_until(SOON, recovers));
    let before = audited(&lab);
    let called = lab.home.run(&["mcp", "call", "fake/echo", "message=hello"]);
    assert_eq!(called.code, Some(0), "{called}");
    let is_written = || audited(&lab) == before + 1;
    assert!(wait_until(Duration::from_secs(1), is_written));
}

#[test]
fn a_line_that_found_room_for_a_part_of_it_does_not_spoil_the_next() {
    let lab = Lab::new("").alone();
    let gateway = Gateway::of(lab.home.limited("trap '' XFSZ"));
    let call = || {
        let call = json!({ "tool": "fake/echo", "arguments": { "message": "hello" } });
        let called = gateway.ask(&lab.home, "POST", "/api/mcp/call", Some(&call));
        assert_eq!(called.status, 200, "{called:?}");
    };
    call();
    let whole = audit_log(&lab);
    room(&gateway, Some(whole.len() as u64 + 40));
    call();
    let torn = audit_log(&lab);
    assert_eq!(torn.len(), whole.len() + 40);
    room(&gateway, None);
    call();
    let last = audit_log(&lab);
    let line = last.lines().next_back().unwrap();
    let line: serde_json::Value = serde_json::from_str(line).unwrap();
    assert_eq!(line["tool"], "echo");
}

fn audit_log(lab: &Lab) -> String {
    let log = lab.home.path().join(".openclaw/logs/audit.jsonl");
    std::fs::read_to_string(log).unwrap()
}

/// How many calls are written down.
fn audited(lab: &Lab) -> usize {
    audit_log(lab).lines().filter(|it| !it.is_empty()).count()
}
