//! Our own end, in every way there is: nothing that we started is left.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crate::programs::Mark;

/// Runs a host that starts a script with a stubborn grandchild, and waits until both run.
fn host(mode: &str, mark: &Mark) -> Child {
    let text = format!(
        "trap '' TERM HUP; setsid sh -c 'trap \"\" TERM HUP; while :; do sleep 1; done' {name} </dev/null >/dev/null 2>&1 & while :; do sleep 1; done",
        name = mark.text()
    );
    let mut child = Command::new(env!("CARGO_BIN_EXE_process-host"))
        .args([mode, "/bin/sh", "-c", &text, mark.text()])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap())
        .read_line(&mut line)
        .unwrap();
    assert!(line.trim().parse::<u32>().is_ok(), "{line:?}");
    child
}

#[test]
fn killed() {
    let mark = Mark::new("killed");
    let mut child = host("wait", &mark);
    // The host itself carries the mark in its arguments.
    mark.wait_for(3, Duration::from_secs(5));
    child.kill().unwrap();
    child.wait().unwrap();
    mark.wait_for(0, Duration::from_secs(2));
}

#[test]
fn killed_again_and_again() {
    let count = if std::env::var_os("OPENCLAW_TEST_SCALE").is_some_and(|scale| scale == "full") {
        500
    } else {
        10
    };
    for round in 0..count {
        let mark = Mark::new(&format!("round{round}"));
        let mut child = host("wait", &mark);
        child.kill().unwrap();
        child.wait().unwrap();
        mark.wait_for(0, Duration::from_secs(2));
    }
}

#[test]
fn panicking() {
    let mark = Mark::new("panicking");
    let mut child = host("panic", &mark);
    assert!(!child.wait().unwrap().success());
    mark.wait_for(0, Duration::from_secs(2));
}

#[test]
fn aborting() {
    let mark = Mark::new("aborting");
    let mut child = host("abort", &mark);
    assert!(!child.wait().unwrap().success());
    mark.wait_for(0, Duration::from_secs(2));
}

#[test]
fn returning_from_main() {
    let mark = Mark::new("returning");
    let mut child = host("return", &mark);
    assert!(child.wait().unwrap().success());
    mark.wait_for(0, Duration::from_secs(2));
}

#[test]
fn stopping_in_order() {
    let mark = Mark::new("order");
    let mut child = host("wait", &mark);
    drop(child.stdin.take());
    assert!(child.wait().unwrap().success());
    mark.wait_for(0, Duration::from_secs(1));
}
