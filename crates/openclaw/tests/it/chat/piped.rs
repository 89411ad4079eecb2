//! Without a terminal: lines in, replies out.

use std::io::Write as _;
use std::process::Stdio;

use serde_json::json;

use super::{messages, offline};
use crate::lab::{Lab, assert_harmless};
use crate::program::Run;

fn piped(lab: &Lab, arguments: &[&str], input: &str) -> Run {
    let mut all = vec!["chat"];
    all.extend(arguments);
    let run = lab.home.run_with_input(&all, input);
    assert_eq!(lab.processes(), 0, "a process is left: {run}");
    run
}

#[test]
fn every_line_is_a_message_and_replies_are_all_there_is_on_stdout() {
    let lab = offline("");
    let run = piped(&lab, &[], "echo one\n\necho two \\\n/help\necho three");
    assert_eq!(run.code, Some(0), "{run}");
    assert_harmless(&run.stdout);
    assert_harmless(&run.stderr);
    for word in ["one", "two \\", "three"] {
        assert!(run.stdout.contains(word), "{run}");
    }
    assert!(!run.stdout.contains("/help"), "{run}");
    assert!(run.stderr.contains("/session"), "{run}");
    assert!(!run.stderr.contains("main>"), "{run}");
    assert_eq!(messages(&lab, "main").len(), 12);
}

#[test]
fn nobody_is_asked_and_the_configuration_decides() {
    let lab = offline("").settings(json!({ "tools": { "approvalWithoutPerson": "deny" } }));
    assert_eq!(piped(&lab, &[], "echo one\n").code, Some(0));
    assert_eq!(lab.calls(), 0);
    let run = piped(&lab, &["--yes"], "echo one\nelicit rounds=1\n");
    assert_eq!(run.code, Some(0), "{run}");
    assert!(run.stdout.contains(r#""action":"decline""#), "{run}");
    assert!(!run.stderr.contains("asks you"), "{run}");
}

#[test]
fn a_turn_that_fails_is_told_and_the_next_one_is_answered() {
    let lab = offline("");
    let input = "/model nobody/nothing\necho one\n/model builtin/offline\necho two\n";
    let run = piped(&lab, &[], input);
    assert_eq!(run.code, Some(1), "{run}");
    assert!(run.stderr.contains("error: "), "{run}");
    assert!(run.stdout.contains("two"), "{run}");
    assert_eq!(piped(&lab, &[], "").code, Some(0));
    assert_eq!(piped(&lab, &["--agent", "nobody"], "x\n").code, Some(2));
}

#[test]
fn whoever_stops_reading_is_no_failure() {
    let lab = offline("");
    let mut child = lab
        .home
        .command(&["chat"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(b"echo one\n").unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn what_is_nearly_a_command_of_ours_is_a_failure() {
    let lab = offline("");
    let run = piped(&lab, &["--yes"], "/helpp\necho one\n");
    assert_eq!(run.code, Some(1), "{run}");
    assert!(run.stderr.contains("did you mean `/help`?"), "{run}");
    assert!(run.stdout.contains("one"), "{run}");
}

#[test]
fn a_line_that_is_too_long_is_left_out_and_told() {
    let lab = offline("");
    let long = "x".repeat(17 * 1024 * 1024);
    let run = piped(&lab, &["--yes"], &format!("{long}\necho after\n"));
    assert_eq!(run.code, Some(1), "{run}");
    assert!(run.stderr.contains("longer than the limit"), "{run}");
    assert!(run.stdout.contains("after"), "{run}");
}

#[test]
fn what_can_name_no_session_and_no_model_is_refused_at_once() {
    let lab = offline("");
    for arguments in [["--session-key", "cron:x"], ["--model", "nonsense"]] {
        assert_eq!(piped(&lab, &arguments, "x\n").code, Some(2));
    }
    let run = piped(&lab, &[], "/session cron:x\n/model nonsense\n");
    assert_eq!(run.code, Some(1), "{run}");
    assert_eq!(run.stderr.matches("error: ").count(), 2, "{run}");
}
