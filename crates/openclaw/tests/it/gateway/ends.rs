//! How the gateway ends, and what becomes of those who were being served.

use std::os::unix::net::UnixDatagram;
use std::process::Stdio;
use std::time::{Duration, Instant};

use openclaw_testkit::leaks::wait_until;
use rustix::process::Signal;
use serde_json::json;

use super::{Gateway, STOPPING};
use crate::lab::{Lab, SOON};

#[test]
fn it_ends_within_six_seconds_whatever_its_servers_do() {
    for signal in [Signal::TERM, Signal::INT] {
        let lab = Lab::new("--ignore-term --ignore-eof --grandchild").alone();
        let mut gateway = Gateway::start(&lab.home, &[]);
        let servers = lab.home.run(&["mcp", "servers", "--json"]).json();
        assert_eq!(servers["servers"][0]["state"], "ready");
        let call = lab.start(&["mcp", "call", "fake/sleep", "ms=60000"]);
        assert!(wait_until(SOON, || lab.calls() == 1));
        let begun = Instant::now();
        gateway.signal(signal);
        let (code, said) = gateway.ended();
        assert!(begun.elapsed() < STOPPING, "{:?}", begun.elapsed());
        assert_eq!(code, Some(0), "{said}");
        assert_eq!(lab.processes(), 0, "nothing is left");
        let called = lab.home.finish(call.wait_with_output().unwrap());
        assert_eq!(called.code, Some(1), "{called}");
        assert!(called.stderr.contains("not known"), "{called}");
    }
}

#[test]
fn who_waits_for_a_gateway_that_is_killed_is_told_that_the_outcome_is_unknown() {
    let lab = Lab::new("").alone();
    let mut gateway = Gateway::start(&lab.home, &[]);
    lab.home.run(&["mcp", "servers"]);
    let call = lab.start(&["mcp", "call", "fake/sleep", "ms=60000"]);
    assert!(wait_until(SOON, || lab.calls() == 1));
    gateway.kill();
    let called = lab.home.finish(call.wait_with_output().unwrap());
    assert_eq!(called.code, Some(1), "{called}");
    assert!(called.stderr.contains("not known"), "{called}");
    assert!(lab.is_quiet_within(Duration::from_secs(2)));
}

#[test]
fn a_command_that_is_stopped_stops_its_call_and_nothing_else() {
    let lab = Lab::new("").alone();
    let _gateway = Gateway::start(&lab.home, &[]);
    lab.home.run(&["mcp", "servers"]);
    let mut call = lab.start(&["mcp", "call", "fake/sleep", "ms=60000"]);
    assert!(wait_until(SOON, || lab.calls() == 1));
    let pid = rustix::process::Pid::from_child(&call);
    rustix::process::kill_process(pid, Signal::KILL).unwrap();
    call.wait().unwrap();
    let cancelled = || {
        let methods = lab.journal().methods();
        methods.iter().any(|it| it == "notifications/cancelled")
    };
    assert!(wait_until(SOON, cancelled), "{:?}", lab.journal().methods());
    let called = lab.home.run(&["mcp", "call", "fake/echo", "message=hello"]);
    assert_eq!(called.stdout, "hello\n", "{called}");
    assert_eq!(lab.journal().events("started").len(), 1);
}

#[test]
fn systemd_is_told_when_it_is_ready_and_when_it_stops() {
    let lab = Lab::empty().alone();
    let path = lab.home.path().join("notify");
    let told = UnixDatagram::bind(&path).unwrap();
    told.set_read_timeout(Some(SOON)).unwrap();
    let mut child = lab
        .home
        .plain_command(&["gateway", "--port", "0"])
        .env("NOTIFY_SOCKET", &path)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let next = || {
        let mut buffer = [0; 200];
        let size = told.recv(&mut buffer).unwrap();
        String::from_utf8(buffer[..size].to_vec()).unwrap()
    };
    assert_eq!(next(), format!("READY=1\nMAINPID={}", child.id()));
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, Signal::TERM).unwrap();
    assert_eq!(next(), "STOPPING=1");
    assert!(child.wait().unwrap().success());
}

#[test]
fn without_descriptors_it_waits_for_some_and_goes_on() {
    let lab = Lab::new("").alone();
    let limited = lab.home.limited("ulimit -n 60");
    let gateway = Gateway::of(limited);
    let servers = lab.home.run(&["mcp", "servers", "--json"]).json();
    assert_eq!(servers["servers"][0]["state"], "ready");
    let held: Vec<_> = (0..100)
        .map(|_| std::net::TcpStream::connect(gateway.authority()).unwrap())
        .collect();
    let log = lab.home.path().join(".openclaw/logs/openclaw.log");
    let is_told = || {
        let log = std::fs::read_to_string(&log).unwrap_or_default();
        log.contains("as many files and connections open as it may")
    };
    assert!(wait_until(SOON, is_told), "it says what is missing");
    // What is there goes on, once those who hold everything have gone.
    drop(held);
    let answers = || gateway.ask_with("", "GET", "/health", None).status == 200;
    assert!(wait_until(SOON, answers));
    let call = json!({ "tool": "fake/echo", "arguments": { "message": "hello" } });
    let called = gateway.ask(&lab.home, "POST", "/api/mcp/call", Some(&call));
    assert_eq!(called.status, 200, "{called:?}");
}

#[test]
fn programs_get_no_more_descriptors_than_before() {
    let lab = Lab::new("").alone();
    let limited = lab.home.limited("ulimit -S -n 300");
    let _gateway = Gateway::of(limited);
    let status = lab.home.run(&["mcp", "status", "fake", "--json"]).json();
    let pid = &status["pid"];
    let limits = std::fs::read_to_string(format!("/proc/{pid}/limits")).unwrap();
    let files = limits
        .lines()
        .find(|line| line.starts_with("Max open files"))
        .unwrap();
    assert_eq!(files.split_whitespace().nth(3), Some("300"), "{files}");
}
