//! Memory, once work is over.

use std::thread;

use openclaw_testkit::leaks::wait_until;
use serde_json::json;

use super::Gateway;
use crate::lab::{Lab, SOON};

const MEGABYTE: u64 = 1_000_000;

/// A figure of a process in bytes, as `/proc` has it.
fn figure(pid: u32, name: &str) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix(name));
    let amount = line.unwrap().trim_start_matches(':').trim();
    let kilobytes: u64 = amount.strip_suffix(" kB").unwrap().parse().unwrap();
    kilobytes * 1024
}

#[test]
fn what_a_burst_of_large_results_took_is_given_back() {
    const CALLERS: u64 = 16;
    const RESULT: u64 = 4 * MEGABYTE;
    let lab = Lab::new("--only-tools echo,big").alone();
    let gateway = Gateway::start(&lab.home, &[]);
    let ask = |call| gateway.ask(&lab.home, "POST", "/api/mcp/call", Some(&call));
    let small = ask(json!({ "tool": "fake/echo", "arguments": { "message": "hello" } }));
    assert_eq!(small.status, 200, "{small:?}");
    let pid = gateway.pid();
    let (before, whole) = (figure(pid, "RssAnon"), figure(pid, "VmHWM"));
    thread::scope(|scope| {
        for _ in 0..CALLERS {
            scope.spawn(|| {
                let large = ask(json!({ "tool": "fake/big", "arguments": { "bytes": RESULT } }));
                assert_eq!(large.status, 200);
                assert!(large.body.len() as u64 > RESULT);
            });
        }
    });
    let most = figure(pid, "VmHWM");
    assert!(most > whole + 2 * RESULT, "it took {most} bytes");
    let is_given_back = || figure(pid, "RssAnon") < before + 2 * RESULT;
    let now = || figure(pid, "RssAnon") / MEGABYTE;
    assert!(wait_until(SOON, is_given_back), "it has {} MB", now());
}
