//! Ends in the middle of things: signals, and readers that go away.

use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use openclaw_testkit::leaks::wait_until;
use rustix::process::{Pid, Signal, kill_process};

use crate::lab::{Lab, SOON};

/// Starts a call that takes a minute, and waits until the server has it.
fn calling(lab: &Lab) -> Child {
    let child = lab.start(&["mcp", "call", "fake/sleep", "ms=60000"]);
    assert!(wait_until(SOON, || lab.calls() == 1), "the call arrives");
    assert_ne!(lab.processes(), 0, "what is looked for later is there now");
    child
}

fn send(child: &Child, signal: Signal) {
    kill_process(Pid::from_child(child), signal).unwrap();
}

/// The exit code, and how long it took until then.
fn ended(mut child: Child) -> (Option<i32>, Duration) {
    let started = Instant::now();
    let mut code = None;
    wait_until(SOON, || {
        code = child.try_wait().unwrap();
        code.is_some()
    });
    (code.and_then(|status| status.code()), started.elapsed())
}

#[test]
fn signals_end_a_call_and_its_server() {
    for (signal, code) in [(Signal::INT, 130), (Signal::TERM, 143), (Signal::HUP, 129)] {
        let lab = Lab::new("");
        let child = calling(&lab);
        send(&child, signal);
        assert_eq!(ended(child).0, Some(code));
        assert_eq!(lab.processes(), 0, "nothing is left behind {signal:?}");
        let told = lab.journal().methods();
        let cancelled = "notifications/cancelled";
        assert!(told.iter().any(|method| method == cancelled), "{told:?}");
    }
}

#[test]
fn a_server_that_does_not_want_to_go_is_gone_within_six_seconds() {
    for (signal, code) in [(Signal::INT, 130), (Signal::TERM, 143)] {
        let lab = Lab::new("--ignore-term --ignore-eof --grandchild");
        let child = calling(&lab);
        send(&child, signal);
        let (ended, took) = ended(child);
        assert_eq!(ended, Some(code));
        assert!(took < Duration::from_secs(6), "{took:?}");
        assert_eq!(lab.processes(), 0, "nothing is left behind {signal:?}");
    }
}

#[test]
fn nothing_outlives_a_program_that_is_killed() {
    for flags in ["", "--ignore-term --ignore-eof --grandchild-setsid"] {
        let lab = Lab::new(flags);
        let mut child = calling(&lab);
        send(&child, Signal::KILL);
        child.wait().unwrap();
        let patience = Duration::from_secs(2);
        assert!(lab.is_quiet_within(patience), "a process is left: {flags}");
    }
}

#[test]
fn a_signal_while_servers_start_leaves_nothing_either() {
    let lab = Lab::new("--mute --ignore-term --ignore-eof");
    let child = lab.start(&["mcp", "servers"]);
    let started = |lab: &Lab| !lab.journal().events("started").is_empty();
    assert!(wait_until(SOON, || started(&lab)));
    send(&child, Signal::INT);
    let (code, took) = ended(child);
    assert_eq!(code, Some(130));
    assert!(took < Duration::from_secs(6), "{took:?}");
    // The guardian ends what was not connected yet.
    assert!(
        lab.is_quiet_within(Duration::from_secs(2)),
        "a process is left"
    );
}

#[test]
fn whoever_follows_a_log_ends_it_with_a_signal() {
    let lab = Lab::new("--flood-stderr 100");
    let child = lab.start(&["mcp", "logs", "fake", "-f"]);
    let listed = |lab: &Lab| lab.journal().methods().iter().any(|it| it == "tools/list");
    assert!(wait_until(SOON, || listed(&lab)));
    send(&child, Signal::INT);
    assert_eq!(ended(child).0, Some(130));
    // Where the list was not read yet, the guardian ends what was not connected.
    assert!(
        lab.is_quiet_within(Duration::from_secs(2)),
        "a process is left"
    );
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let lab = Lab::new("--tools 2000");
    for arguments in [
        &["mcp", "tools"][..],
        &["mcp", "tools", "--json"],
        &["mcp", "call", "fake/big", "bytes=1000000"],
    ] {
        let mut child = lab
            .home
            .command(arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        let run = lab.home.finish(child.wait_with_output().unwrap());
        assert_eq!((run.code, &*run.stderr), (Some(0), ""), "{arguments:?}");
        assert_eq!(lab.processes(), 0);
    }
}

#[test]
fn servers_that_ignore_the_end_of_their_input_cost_no_more_than_their_grace() {
    let lab = Lab::new("--ignore-eof --ignore-term");
    let started = Instant::now();
    let run = lab.done(&["mcp", "call", "fake/echo", "message=hi"]);
    assert_eq!(run.stdout, "hi\n");
    assert!(
        started.elapsed() < Duration::from_secs(8),
        "{:?}",
        started.elapsed()
    );
}
