//! Ending programs, with everything they started.

use std::time::{Duration, Instant};

use openclaw_process::End;

use crate::programs::{Mark, descriptors, launcher, line, spawn};

/// A script that starts a process of its own session that ignores SIGTERM, as badly behaved
/// servers do, and itself ignores it too.
fn stubborn(mark: &Mark) -> String {
    format!(
        "trap '' TERM; setsid sh -c 'trap \"\" TERM; echo ready; while :; do sleep 1; done' {name} & \
         while :; do sleep 1; done",
        name = mark.text()
    )
}

#[tokio::test]
async fn a_program_that_leaves_by_itself_is_not_disturbed() {
    let launcher = launcher();
    let mark = Mark::new("leaves");
    let process = spawn(
        &launcher,
        mark.script("trap 'echo asked' TERM; cat >/dev/null; exit 7"),
    )
    .await;
    let start = Instant::now();
    match process.stop().await {
        End::Status(status) => assert_eq!(status.code(), Some(7)),
        End::Lost => panic!("the status is kept"),
    }
    assert!(
        start.elapsed() < Duration::from_secs(2),
        "{:?}",
        start.elapsed()
    );
    assert_eq!(mark.processes(), []);
}

#[tokio::test]
async fn a_program_that_does_not_leave_is_asked() {
    let launcher = launcher();
    let mark = Mark::new("asked");
    let mut process = spawn(
        &launcher,
        mark.script("trap 'exit 9' TERM; echo ready; while :; do sleep 0.05; done"),
    )
    .await;
    assert_eq!(line(&mut process).await, "ready");
    match process.stop().await {
        End::Status(status) => assert_eq!(status.code(), Some(9)),
        End::Lost => panic!("the status is kept"),
    }
    assert_eq!(mark.processes(), []);
}

#[tokio::test]
async fn grandchildren_go_with_their_program() {
    let launcher = launcher();
    let mark = Mark::new("grandchildren");
    let name = mark.text();
    // As `npx` does: a shell that starts a shell that starts the server.
    let text =
        format!("sh -c 'sh -c \"echo ready; while :; do sleep 1; done\" {name}; :' {name}; :");
    let mut process = spawn(&launcher, mark.script(&text)).await;
    assert_eq!(line(&mut process).await, "ready");
    assert!(mark.processes().len() >= 3);
    process.stop().await;
    assert_eq!(mark.processes(), []);
}

#[tokio::test]
async fn what_left_the_session_and_ignores_requests_is_killed() {
    let launcher = launcher();
    let mark = Mark::new("stubborn");
    let mut process = spawn(&launcher, mark.script(&stubborn(&mark))).await;
    assert_eq!(line(&mut process).await, "ready");
    let start = Instant::now();
    process.stop().await;
    let took = start.elapsed();
    assert!(took >= Duration::from_secs(5), "it had its time: {took:?}");
    assert!(took < Duration::from_secs(8), "{took:?}");
    assert_eq!(mark.processes(), []);
}

#[tokio::test]
async fn a_daemon_that_hid_itself_is_found() {
    let launcher = launcher();
    let mark = Mark::new("daemon");
    // Forks twice into a new session with an empty environment, so that no link is left.
    let text = format!(
        "(setsid env -i /bin/sh -c 'trap \"\" TERM HUP; while :; do /bin/sleep 1; done' {name} </dev/null >/dev/null 2>&1 &) ; echo ready; while :; do sleep 1; done",
        name = mark.text()
    );
    let mut process = spawn(&launcher, mark.script(&text)).await;
    assert_eq!(line(&mut process).await, "ready");
    mark.wait_for(2, Duration::from_secs(5));
    process.stop().await;
    assert_eq!(mark.processes(), []);
}

#[tokio::test]
async fn a_crash_takes_what_the_program_started_with_it() {
    let launcher = launcher();
    let mark = Mark::new("crash");
    let text = format!(
        "setsid sh -c 'trap \"\" TERM; while :; do sleep 1; done' {name} </dev/null >/dev/null 2>&1 & sleep 0.2; kill -KILL $$",
        name = mark.text()
    );
    let mut process = spawn(&launcher, mark.script(&text)).await;
    process.wait().await;
    mark.wait_for(0, Duration::from_secs(3));
}

#[tokio::test]
async fn dropping_a_process_ends_it() {
    let launcher = launcher();
    let mark = Mark::new("dropped");
    let mut process = spawn(&launcher, mark.script(&stubborn(&mark))).await;
    assert_eq!(line(&mut process).await, "ready");
    drop(process);
    mark.wait_for(0, Duration::from_secs(2));
}

#[tokio::test]
async fn dropping_the_launcher_ends_everything() {
    let launcher = launcher();
    let mark = Mark::new("launcher");
    let mut process = spawn(&launcher, mark.script(&stubborn(&mark))).await;
    assert_eq!(line(&mut process).await, "ready");
    // The process keeps its guardian, so that it can still be stopped in order.
    drop(launcher);
    assert!(!mark.processes().is_empty());
    drop(process);
    mark.wait_for(0, Duration::from_secs(2));
}

#[tokio::test]
async fn a_program_that_starts_processes_faster_than_they_are_counted_ends_too() {
    let launcher = launcher();
    let mark = Mark::new("bomb");
    // Twenty processes at a time, each replaced as soon as it ends.
    let text = format!(
        "trap '' TERM; i=0; while [ $i -lt 20 ]; do (trap '' TERM; while :; do sh -c 'sleep 0.02' {name}; done) & i=$((i+1)); done; echo ready; wait",
        name = mark.text()
    );
    let mut process = spawn(&launcher, mark.script(&text)).await;
    assert_eq!(line(&mut process).await, "ready");
    drop(process);
    mark.wait_for(0, Duration::from_secs(5));
}

#[tokio::test]
async fn a_killed_guardian_takes_its_programs_along_and_a_new_one_is_started() {
    let launcher = launcher();
    let mark = Mark::new("guardian");
    let mut process = spawn(
        &launcher,
        mark.script("echo $PPID; while :; do sleep 1; done"),
    )
    .await;
    let guardian: i32 = line(&mut process).await.parse().unwrap();
    rustix::process::kill_process(
        rustix::process::Pid::from_raw(guardian).unwrap(),
        rustix::process::Signal::KILL,
    )
    .unwrap();
    assert_eq!(process.wait().await, End::Lost);
    mark.wait_for(0, Duration::from_secs(2));
    let mut next = spawn(&launcher, mark.script("echo again")).await;
    assert_eq!(line(&mut next).await, "again");
}

#[tokio::test]
async fn a_thousand_programs_leave_nothing_open() {
    let launcher = launcher();
    let mark = Mark::new("leak");
    // The first one brings the guardian.
    spawn(&launcher, mark.script("exit 0")).await.stop().await;
    let before = descriptors();
    let count = if std::env::var_os("OPENCLAW_TEST_SCALE").is_some_and(|scale| scale == "full") {
        1_000
    } else {
        50
    };
    for _ in 0..count {
        spawn(&launcher, mark.script("exit 0")).await.stop().await;
    }
    // The readers of standard error end with their streams.
    let deadline = Instant::now() + Duration::from_secs(5);
    while descriptors() > before && Instant::now() < deadline {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert!(
        descriptors() <= before,
        "{} instead of {before}",
        descriptors()
    );
    assert_eq!(mark.processes(), []);
}
