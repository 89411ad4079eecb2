//! Many processes at once, and processes that are killed.

use std::time::Duration;

use openclaw_state::FileLock;
use openclaw_testkit::leaks::wait_until;
use rustix::process::Signal;
use serde_json::{Value as Json, json};

use super::files::{login_file, names};
use super::{CALL, LoginLab, Running};

/// How many processes there are at once.
const CROWD: u64 = 50;
const PATIENCE: Duration = Duration::from_secs(40);

fn start(lab: &LoginLab) -> Running<'_> {
    lab.begin_with(&CALL)
}

/// The lock that whoever changes the login holds.
fn lock(lab: &LoginLab) -> FileLock {
    let path = login_file(lab).with_extension("lock");
    assert!(path.exists(), "{}", path.display());
    FileLock::acquire(&path, PATIENCE).unwrap()
}

#[test]
fn a_crowd_that_needs_one_renewal_asks_for_one() {
    let lab = LoginLab::with("", &json!({ "connectionTimeoutMs": 120_000 }));
    lab.log_in();
    lab.server.revoke_access();
    let before = lab.counters();
    // Nobody renews before all have seen that it is needed.
    let held = lock(&lab);
    let crowd: Vec<Running<'_>> = (0..CROWD).map(|_| start(&lab)).collect();
    let refused = || lab.counters().unauthorized - before.unauthorized;
    assert!(wait_until(PATIENCE, || refused() >= CROWD), "{}", refused());
    assert_eq!(lab.counters().refreshes_arrived, 0);
    drop(held);
    for running in crowd {
        let run = running.ended();
        assert_eq!((run.code, &*run.stdout), (Some(0), "hi\n"), "{run}");
    }
    let counters = lab.counters();
    assert_eq!((counters.refreshes_arrived, counters.refreshes), (1, 1));
    assert_eq!((counters.reuses, counters.repeats), (0, 0));
    lab.calls();
}

#[test]
fn a_crowd_that_cannot_renew_is_told_by_one_request() {
    let lab = LoginLab::with("", &json!({ "connectionTimeoutMs": 120_000 }));
    lab.log_in();
    lab.server.revoke_all();
    let before = lab.counters();
    let held = lock(&lab);
    let crowd: Vec<Running<'_>> = (0..10).map(|_| start(&lab)).collect();
    let refused = || lab.counters().unauthorized - before.unauthorized;
    assert!(wait_until(PATIENCE, || refused() >= 10), "{}", refused());
    drop(held);
    for running in crowd {
        let run = running.ended();
        assert_eq!(run.code, Some(1), "{run}");
        assert!(run.stderr.contains("`openclaw mcp auth fake`"), "{run}");
    }
    assert_eq!(lab.counters().refreshes_arrived, 1);
}

/// How many processes are killed.
fn kills() -> u64 {
    let is_full = std::env::var("OPENCLAW_TEST_SCALE").is_ok_and(|scale| scale == "full");
    if is_full { 200 } else { 24 }
}

/// Kills a process in the middle of a renewal, or a little before or after it.
fn kill_while_renewing(lab: &LoginLab, round: u64) {
    lab.server.revoke_access();
    let before = lab.counters().refreshes_arrived;
    let mut running = start(lab);
    // A quarter of them at any time from the start, the others after the request has arrived.
    if !round.is_multiple_of(4) {
        let has_arrived = || lab.counters().refreshes_arrived > before;
        assert!(wait_until(PATIENCE, has_arrived));
    }
    // Numbers that are spread over everything that happens from then on.
    let moment = Duration::from_millis(round * 37 % 120);
    wait_until(moment, || false);
    if !running.has_ended() {
        running.send(Signal::KILL);
    }
}

/// What is kept is whole, and nothing is left beside it that grows.
fn assert_whole(lab: &LoginLab, round: u64) {
    let text = std::fs::read_to_string(login_file(lab)).unwrap();
    let document: Json = serde_json::from_str(&text).unwrap();
    assert!(document["data"]["sealed"].is_string(), "{round}: {text}");
    let names = names(lab);
    assert!(names.len() < 12, "{round}: {names:?}");
    assert!(!names.iter().any(|it| it.contains("corrupt")), "{names:?}");
}

#[test]
fn who_is_killed_in_the_middle_of_a_renewal_loses_no_login() {
    let flags = "--token-delay 30 --accept-repeats 600000";
    let lab = LoginLab::logged_in(flags);
    for round in 0..kills() {
        kill_while_renewing(&lab, round);
        assert_whole(&lab, round);
        lab.calls();
        assert_whole(&lab, round);
    }
    let counters = lab.counters();
    assert_eq!((counters.exchanges, counters.reuses), (1, 0));
    assert!(
        counters.repeats > 0,
        "some were killed in time: {counters:?}"
    );
}

#[test]
fn where_nothing_may_come_twice_who_is_killed_has_a_login_or_is_told_to_log_in() {
    let lab = LoginLab::logged_in("--token-delay 30");
    let mut logins = 1;
    for round in 0..kills() / 2 {
        kill_while_renewing(&lab, round);
        assert_whole(&lab, round);
        let run = lab.run(&CALL);
        if run.code != Some(0) {
            lab.needs_login();
            lab.log_in();
            logins += 1;
        }
        lab.calls();
        assert_whole(&lab, round);
    }
    assert_eq!(lab.counters().exchanges, logins);
    assert!(logins > 1, "none was killed in time");
}
