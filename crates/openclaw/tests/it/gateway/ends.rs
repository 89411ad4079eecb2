//! How the gateway ends, and what becomes of those who were being served.

use std::io::{Read as _, Write as _};
use std::os::unix::fs::PermissionsExt as _;
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
        const STUBBORN: &str = "--ignore-term --ignore-eof --grandchild";
        let mut lab = Lab::empty();
        for number in 0..10 {
            lab = lab.server(&format!("server{number}"), STUBBORN, json!({}));
        }
        let lab = lab.server("fake", STUBBORN, json!({})).alone();
        let mut gateway = Gateway::start(&lab.home, &[]);
        let servers = lab.home.run(&["mcp", "servers", "--json"]).json();
        let servers = servers["servers"].as_array().unwrap().clone();
        assert!(
            servers.iter().all(|it| it["state"] == "ready"),
            "{servers:?}"
        );
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
fn it_can_be_stopped_before_it_has_begun() {
    let lab = Lab::empty().alone();
    // Whoever is asked for the token says nothing.
    let asked = lab.home.path().join("asked");
    let script = format!(
        "echo $$ >{0}.new; mv {0}.new {0}; exec sleep 60",
        asked.display()
    );
    lab.home.write("slow", &format!("#!/bin/sh\n{script}\n"));
    let program = lab.home.path().join("slow");
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o700)).unwrap();
    let lab = lab.settings(json!({
        "secrets": { "providers": { "slow": { "source": "exec", "command": program } } },
        "gateway": { "auth": { "token": { "source": "exec", "provider": "slow", "id": "x" } } },
    }));
    let mut child = lab.start(&["gateway", "--port", "0"]);
    assert!(wait_until(SOON, || asked.exists()));
    let asked = std::fs::read_to_string(asked).unwrap();
    let asked = std::path::Path::new("/proc").join(asked.trim());
    assert!(asked.exists());
    let begun = Instant::now();
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, Signal::TERM).unwrap();
    let ended = child.wait().unwrap();
    assert!(begun.elapsed() < STOPPING, "{:?}", begun.elapsed());
    assert_eq!(ended.code(), Some(0));
    assert!(!asked.exists(), "nothing is left");
}

#[test]
fn a_socket_that_somebody_deletes_is_there_again() {
    let lab = Lab::new("").alone();
    let gateway = Gateway::start(&lab.home, &[]);
    let socket = lab.home.path().join(".openclaw/gateway.sock");
    for _ in 0..2 {
        std::fs::remove_file(&socket).unwrap();
        assert!(wait_until(SOON, || socket.exists()));
        let status = lab.home.run(&["gateway", "status", "--json"]).json();
        assert_eq!(status["pid"], gateway.pid(), "{status}");
    }
    let called = lab.home.run(&["mcp", "call", "fake/echo", "message=hello"]);
    assert_eq!(called.stdout, "hello\n", "{called}");
    assert_eq!(lab.journal().events("started").len(), 1);
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
    let command = lab.home.run(&["mcp", "servers"]);
    assert_eq!(command.code, Some(1), "{command}");
    assert!(
        command.stderr.contains("the gateway can't be reached"),
        "{command}"
    );
    // What is there goes on, once those who hold everything have gone.
    drop(held);
    let call = json!({ "tool": "fake/echo", "arguments": { "message": "hello" } });
    let answers = || {
        let called = gateway.ask(&lab.home, "POST", "/api/mcp/call", Some(&call));
        // Some of those who have gone may still wait to be taken up.
        assert!(matches!(called.status, 200 | 503), "{called:?}");
        called.body.contains("hello")
    };
    assert!(wait_until(SOON, answers));
}

#[test]
fn a_server_that_can_not_be_started_without_descriptors_is_not_given_up_on() {
    let lab = Lab::new("").server("other", "", json!({ "maxRestarts": 1 }));
    let lab = lab.alone();
    let limited = lab.home.limited("ulimit -n 60");
    let gateway = Gateway::of(limited);
    let state = |wanted: &str| {
        let servers = gateway.ask(&lab.home, "GET", "/api/mcp/servers", None);
        let servers = &servers.json()["servers"];
        let servers = servers.as_array().into_iter().flatten();
        servers.filter(|server| server["state"] == wanted).count()
    };
    assert!(wait_until(SOON, || state("ready") == 2));
    // Whoever has them has asked something, so that he is no stranger who is sent away.
    let take_one = || {
        let mut stream = std::net::TcpStream::connect(gateway.authority()).unwrap();
        stream.set_read_timeout(Some(SOON)).unwrap();
        let head = b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n";
        stream.write_all(head).unwrap();
        let mut first = [0; 12];
        stream.read_exact(&mut first).unwrap();
        first.ends_with(b"200").then_some(stream)
    };
    let mut taken: Vec<_> = std::iter::from_fn(take_one).collect();
    assert!(taken.len() > 10, "{}", taken.len());
    lab.kill_servers();
    let log = lab.home.path().join(".openclaw/logs/openclaw.log");
    let mut times = 0;
    // What the servers had is free now, and has to be taken as well.
    let is_short = || {
        taken.extend(std::iter::from_fn(take_one));
        let log = std::fs::read_to_string(&log).unwrap_or_default();
        let lines = log.lines().filter(|it| it.contains("other"));
        // It is said once why, and each time that it is tried.
        let since = lines.skip_while(|it| !it.contains("Too many open files"));
        times = since
            .filter(|it| it.contains("server connecting again"))
            .count();
        // It may be started anew once, and is tried again nevertheless.
        times >= 3
    };
    assert!(wait_until(SOON * 3, is_short), "{times}");
    drop(taken);
    assert!(wait_until(SOON * 3, || state("ready") == 2));
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
