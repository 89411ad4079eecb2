//! Starting programs: their streams, environment, directory and rights.

use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;

use openclaw_process::{End, ProgramCommand, SpawnError};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::programs::{Mark, launcher, line, spawn};

#[tokio::test]
async fn a_program_reads_writes_and_ends_with_its_status() {
    let launcher = launcher();
    let mark = Mark::new("cat");
    let mut process = spawn(
        &launcher,
        mark.script("read x; echo \"got $x\"; echo oops >&2; exit 3"),
    )
    .await;
    assert!(process.pid() > 0);
    process
        .stdin
        .as_mut()
        .unwrap()
        .write_all(b"hello\n")
        .await
        .unwrap();
    assert_eq!(line(&mut process).await, "got hello");
    match process.wait().await {
        End::Status(status) => assert_eq!(status.code(), Some(3)),
        End::Lost => panic!("the status is kept"),
    }
    let mut rest = Vec::new();
    process
        .stdout
        .as_mut()
        .unwrap()
        .read_to_end(&mut rest)
        .await
        .unwrap();
    assert!(rest.is_empty());
    // Standard error is read beside; its end follows the program's.
    while process.stderr().lines().is_empty() {
        tokio::task::yield_now().await;
    }
    assert_eq!(process.stderr().texts(), ["oops"]);
}

#[tokio::test]
async fn the_environment_is_what_was_given_and_nothing_else() {
    let launcher = launcher();
    let command = ProgramCommand {
        program: "/usr/bin/env".into(),
        arguments: Vec::new(),
        environment: vec![("ONLY".into(), "this".into())],
        directory: Some("/usr".into()),
    };
    let mut process = spawn(&launcher, command).await;
    let mut text = String::new();
    process
        .stdout
        .as_mut()
        .unwrap()
        .read_to_string(&mut text)
        .await
        .unwrap();
    assert_eq!(text, "ONLY=this\n");
}

#[tokio::test]
async fn a_program_works_where_it_is_told_to() {
    let launcher = launcher();
    let mut command = Mark::new("pwd").script("pwd");
    command.directory = Some("/usr".into());
    let mut process = spawn(&launcher, command).await;
    assert_eq!(line(&mut process).await, "/usr");
    let mut command = Mark::new("pwd").script("pwd");
    command.directory = Some("/nonexistent".into());
    let error = launcher.spawn(&command, |_| {}).await.unwrap_err();
    assert!(matches!(error, SpawnError::NoDirectory(_)), "{error}");
}

#[tokio::test]
async fn what_cannot_be_started_says_why() {
    let launcher = launcher();
    let directory = tempfile::tempdir().unwrap();
    let text = directory.path().join("text");
    std::fs::write(&text, "no program").unwrap();
    for (program, reason) in [
        (PathBuf::from("/nonexistent/program"), "No such file"),
        (text, "Permission denied"),
    ] {
        let command = ProgramCommand {
            program,
            arguments: Vec::new(),
            environment: Vec::new(),
            directory: None,
        };
        let error = launcher.spawn(&command, |_| {}).await.unwrap_err();
        assert!(error.to_string().contains(reason), "{error}");
    }
    // The next one works.
    let mut process = spawn(&launcher, Mark::new("next").script("echo fine")).await;
    assert_eq!(line(&mut process).await, "fine");
}

#[tokio::test]
async fn a_program_has_our_rights_and_never_more() {
    let launcher = launcher();
    let mut process = spawn(
        &launcher,
        Mark::new("rights").script("cat /proc/self/status"),
    )
    .await;
    let mut theirs = String::new();
    process
        .stdout
        .as_mut()
        .unwrap()
        .read_to_string(&mut theirs)
        .await
        .unwrap();
    let ours = std::fs::read_to_string("/proc/self/status").unwrap();
    let field = |status: &str, name: &str| {
        let line = status.lines().find(|line| line.starts_with(name)).unwrap();
        line.split_once(':').unwrap().1.trim().to_owned()
    };
    for name in [
        "Uid", "Gid", "Groups", "CapPrm", "CapEff", "CapBnd", "CapInh", "CapAmb",
    ] {
        assert_eq!(field(&theirs, name), field(&ours, name), "{name}");
    }
    // Programs that lend another user's rights lend nothing to it.
    assert_eq!(field(&theirs, "NoNewPrivs"), "1");
}

#[tokio::test]
async fn a_large_command_line_and_environment_arrive_whole() {
    let launcher = launcher();
    let mark = Mark::new("large");
    let mut command = mark.script("shift 0; echo \"${#BIG} ${#1}\"");
    command.arguments.push("y".repeat(100_000).into());
    command
        .environment
        .push(("BIG".into(), "x".repeat(100_000).into()));
    let mut process = spawn(&launcher, command).await;
    assert_eq!(line(&mut process).await, "100000 100000");
}

#[tokio::test]
async fn a_signal_is_part_of_the_end() {
    let launcher = launcher();
    let mut process = spawn(&launcher, Mark::new("signal").script("kill -SEGV $$")).await;
    match process.wait().await {
        End::Status(status) => assert_eq!(status.signal(), Some(11)),
        End::Lost => panic!("the status is kept"),
    }
}

#[tokio::test]
async fn many_programs_at_once() {
    let launcher = std::sync::Arc::new(launcher());
    let mut running = Vec::new();
    for number in 0..50 {
        let launcher = std::sync::Arc::clone(&launcher);
        running.push(tokio::spawn(async move {
            let script = Mark::new("many").script(&format!("echo {number}"));
            let mut process = spawn(&launcher, script).await;
            assert_eq!(line(&mut process).await, number.to_string());
            process.stop().await
        }));
    }
    for process in running {
        assert!(matches!(process.await.unwrap(), End::Status(_)));
    }
}

#[tokio::test]
async fn programs_can_be_started_while_others_are_being_ended() {
    let launcher = launcher();
    let mark = Mark::new("churn");
    for _ in 0..200 {
        let mut process = spawn(&launcher, mark.script("echo up; sleep 1000")).await;
        assert_eq!(line(&mut process).await, "up");
        // Ended without waiting, so that the next one is asked for at the same time.
        drop(process);
    }
}
