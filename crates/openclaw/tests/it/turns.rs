//! Turns of an agent by the real program, with the model that needs no service: what is left of those
//! that are killed, and of many at once.

use std::process::{Child, Stdio};
use std::time::Duration;

use openclaw_testkit::leaks::wait_until;
use serde_json::{Value as Json, json};

use crate::lab::{Lab, SOON};

/// How often something is repeated.
fn times(usual: usize, full: usize) -> usize {
    let is_full = std::env::var("OPENCLAW_TEST_SCALE").is_ok_and(|scale| scale == "full");
    if is_full { full } else { usual }
}

fn lab() -> Lab {
    Lab::new("").settings(json!({ "agents": { "defaults": { "model": "builtin/offline" } } }))
}

fn messages(lab: &Lab, key: &str) -> Vec<Json> {
    let run = lab.run(&["sessions", "show", key, "--json"]);
    match run.code {
        Some(0) => run.json()["messages"].as_array().unwrap().clone(),
        _ => Vec::new(),
    }
}

/// What persons said in turns that came to their end, and in those that were cut.
fn said(messages: &[Json]) -> (Vec<&str>, Vec<&str>) {
    let texts = |is_cut: bool| {
        let of_user = messages.iter().filter(|it| it["role"] == "user");
        of_user
            .filter(|it| (it["interrupted"] == json!(true)) == is_cut)
            .filter_map(|it| it["text"].as_str())
            .collect()
    };
    (texts(false), texts(true))
}

/// Numbers that look random and are the same each time.
fn delays() -> impl Iterator<Item = Duration> {
    let mut state: u64 = 0x9e37_79b9;
    std::iter::from_fn(move || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        Some(Duration::from_micros((state >> 33) % 120_000))
    })
}

#[test]
fn a_turn_that_is_killed_is_marked_and_one_that_was_answered_is_whole() {
    let lab = lab();
    let mut answered: Vec<String> = Vec::new();
    let mut killed = 0;
    for (number, delay) in delays().take(times(30, 300)).enumerate() {
        let message = format!("echo message=turn-{number}");
        let mut child = lab.start(&["agent", "-m", &message, "--json"]);
        std::thread::sleep(delay);
        let is_done = child.try_wait().unwrap().is_some();
        if !is_done {
            child.kill().unwrap();
            killed += 1;
        }
        let output = child.wait_with_output().unwrap();
        if output.stdout.ends_with(b"}\n") {
            answered.push(message);
        }
        assert!(
            lab.is_quiet_within(SOON),
            "a process is left after {number}"
        );
    }
    assert!(killed > 0, "nothing was killed");
    // One that nobody disturbs, so that the last one that was cut is looked at, too.
    lab.done(&["agent", "-m", "echo message=last"]);
    let messages = messages(&lab, "main");
    let (whole, cut) = said(&messages);
    for message in &answered {
        assert!(
            whole.contains(&message.as_str()),
            "{message} was answered and is not there"
        );
    }
    for message in &cut {
        assert!(
            !answered.contains(&(*message).to_owned()),
            "{message} was answered"
        );
    }
    // Every turn that counts as whole has its answer: user, call, result, answer.
    for turn in turns(&messages) {
        if turn[0]["interrupted"] != json!(true) {
            let roles: Vec<&str> = turn.iter().map(|it| it["role"].as_str().unwrap()).collect();
            assert_eq!(
                roles,
                ["user", "assistant", "tool", "assistant"],
                "{turn:?}"
            );
        }
    }
}

/// The messages by turns.
fn turns(messages: &[Json]) -> Vec<Vec<&Json>> {
    let mut turns: Vec<Vec<&Json>> = Vec::new();
    for message in messages {
        if message["role"] == "user" || turns.is_empty() {
            turns.push(Vec::new());
        }
        turns.last_mut().unwrap().push(message);
    }
    turns
}

#[test]
fn processes_that_speak_in_one_session_wait_for_each_other() {
    let lab = lab();
    let count = times(8, 30);
    let children: Vec<Child> = (0..count)
        .map(|number| {
            let message = format!("echo message=from-{number}");
            let mut command = lab.home.command(&["agent", "-m", &message]);
            command
                .stdin(Stdio::null())
                .stdout(Stdio::null())
                .stderr(Stdio::piped());
            command.spawn().unwrap()
        })
        .collect();
    for child in children {
        let output = child.wait_with_output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{stderr}");
    }
    let messages = messages(&lab, "main");
    assert_eq!(messages.len(), count * 4);
    for turn in turns(&messages) {
        let asked = turn[0]["text"].as_str().unwrap();
        let word = asked.trim_start_matches("echo message=");
        assert_eq!(turn.len(), 4, "{turn:?}");
        for message in &turn[2..] {
            let text = message["text"].as_str().unwrap();
            assert!(text.contains(word), "{text:?} is no answer to {asked:?}");
        }
    }
}

#[test]
fn a_signal_stops_the_call_and_the_turn_is_marked() {
    let lab = lab();
    let child = lab.start(&["agent", "-m", "sleep ms=60000"]);
    assert!(wait_until(SOON, || lab.calls() == 1), "the call arrives");
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130));
    assert!(lab.is_quiet_within(SOON));
    // A gateway hears of the command's end only when that is over.
    let is_told = || {
        let told = lab.journal().methods();
        told.iter().any(|it| it == "notifications/cancelled")
    };
    assert!(wait_until(SOON, is_told), "{:?}", lab.journal().methods());
    let mut kept = Vec::new();
    let is_marked = || {
        kept = messages(&lab, "main");
        kept.len() == 2 && kept.iter().all(|it| it["interrupted"] == json!(true))
    };
    assert!(wait_until(SOON, is_marked), "{kept:?}");
}

#[test]
fn a_message_of_ten_megabytes_is_taken() {
    let lab = lab();
    let words = "word ".repeat(2_000_000);
    lab.home
        .write("long.txt", &format!("echo message=short {words}"));
    let mut command = lab.home.command(&["agent", "-m", "-", "--json"]);
    let input = std::fs::File::open(lab.home.path().join("long.txt")).unwrap();
    let output = command.stdin(input).output().unwrap();
    let run = lab.home.finish(output);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    let report = run.json();
    assert_eq!(report["model"], "builtin/offline");
}

#[test]
fn a_store_that_is_broken_is_set_aside_and_work_goes_on() {
    let lab = lab();
    lab.done(&["agent", "-m", "echo message=before"]);
    let path = lab.home.path().join(".openclaw/sessions/sessions.sqlite");
    assert!(path.exists(), "the store is elsewhere");
    std::fs::write(&path, b"this is no database at all, and never was one").unwrap();
    let run = lab.done(&["agent", "-m", "echo message=after"]);
    assert!(run.stderr.contains("set aside"), "{run}");
    let messages = messages(&lab, "main");
    assert_eq!(messages.len(), 4, "{messages:?}");
    let files: Vec<String> = std::fs::read_dir(path.parent().unwrap())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    assert!(
        files.iter().any(|name| name.contains("corrupt")),
        "{files:?}"
    );
    let run = lab.run(&["sessions"]);
    assert!(run.stderr.contains("were set aside in"), "{run}");
    let run = lab.run(&["doctor"]);
    assert!(
        run.stdout.contains("corrupt") || run.stdout.contains("set aside"),
        "{run}"
    );
}
