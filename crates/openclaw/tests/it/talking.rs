//! Turns of an agent with the built-in model and a real server, and the sessions that they leave.

use serde_json::{Value as Json, json};

use crate::lab::{Lab, assert_harmless, assert_keys};
use crate::logins::terminal::Terminal;

#[test]
fn a_turn_calls_a_tool_and_is_kept() {
    let lab = Lab::new("");
    let reply = lab.json(&["agent", "-m", "echo hello"]);
    assert_keys(&reply, &["sessionKey", "model", "reply", "parts"]);
    assert_eq!(reply["sessionKey"], "agent:main:main");
    assert_eq!(reply["model"], "builtin/offline");
    assert_eq!(reply["toolCalls"][0]["name"], "mcp_fake_echo");
    assert_eq!(reply["toolCalls"][0]["isError"], false);
    assert!(reply["reply"].as_str().unwrap().contains("hello"));
    assert_eq!(lab.calls(), 1);

    let plain = lab.done(&["agent", "-m", "echo again"]);
    assert_harmless(&plain.stdout);
    assert_eq!(plain.stderr, "");
    assert!(plain.stdout.contains("again"), "{plain}");

    let listed = lab.json(&["sessions"]);
    assert_eq!(listed["sessions"].as_array().unwrap().len(), 1);
    assert_eq!(listed["sessions"][0]["messages"], 8);
    let shown = lab.json(&["sessions", "show", "main"]);
    let messages = shown["messages"].as_array().unwrap();
    let roles: Vec<&Json> = messages.iter().map(|it| &it["role"]).collect();
    assert_eq!(roles[..4], ["user", "assistant", "tool", "assistant"]);
    assert_eq!(messages[0]["text"], "echo hello");
    assert!(messages[2]["text"].as_str().unwrap().starts_with("<<<EXT"));
    let exported = lab.done(&["sessions", "export", "agent:main:main"]);
    let lines: Vec<Json> = exported
        .stdout
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(&lines, messages);
    assert_eq!(lab.json(&["status"])["sessions"], 1);

    let gone = lab.done(&["sessions", "delete", "main"]);
    assert_eq!(gone.stdout, "deleted: agent:main:main\n");
    let failure = lab.failure(&["sessions", "show", "main"], 2);
    assert_eq!(failure["code"], "unknown-session");
}

#[test]
fn a_new_session_begins_empty_and_a_named_one_goes_on() {
    let lab = Lab::new("");
    let first = lab.json(&["agent", "-m", "echo one", "--new"]);
    let second = lab.json(&["agent", "-m", "echo two", "--new"]);
    assert_ne!(first["sessionKey"], second["sessionKey"]);
    let key = first["sessionKey"].as_str().unwrap();
    let third = lab.json(&["agent", "-m", "echo three", "--session-key", key]);
    assert_eq!(third["sessionKey"], key);
    let shown = lab.json(&["sessions", "show", key]);
    assert_eq!(shown["messages"].as_array().unwrap().len(), 8);
}

#[test]
fn mistakes_of_the_asker_end_with_two() {
    let lab = Lab::empty();
    for (arguments, code) in [
        (
            &["agent", "-m", "x", "--agent", "nobody"][..],
            "unknown-agent",
        ),
        (
            &["agent", "-m", "x", "--session-key", "cron:x"],
            "session-key",
        ),
        (
            &["agent", "-m", "x", "--session-key", "agent:other:x"],
            "unknown-agent",
        ),
        (&["sessions", "delete", "nothing"], "unknown-session"),
        (&["sessions", "--agent", "nobody"], "unknown-agent"),
    ] {
        assert_eq!(lab.failure(arguments, 2)["code"], code, "{arguments:?}");
    }
}

#[test]
fn a_person_is_asked_and_only_a_yes_runs_the_tool() {
    let lab = Lab::new("");
    let ask = |answer: &str| {
        let mut terminal = Terminal::of(lab.home.command(&["agent", "-m", "echo hello"]));
        terminal.shows("[a]lways: ", 1);
        terminal.types(answer);
        terminal.ended()
    };
    let (code, screen) = ask("n");
    assert_eq!((code, lab.calls()), (Some(0), 0), "{screen}");
    assert!(screen.contains("mcp_fake_echo (fake) … "), "{screen}");
    let (code, screen) = ask("y");
    assert_eq!((code, lab.calls()), (Some(0), 1), "{screen}");
    let (code, screen) = ask("a");
    assert_eq!((code, lab.calls()), (Some(0), 2), "{screen}");
    // From now on it is known, and nobody is asked.
    let terminal = Terminal::of(lab.home.command(&["agent", "-m", "echo hello"]));
    let (code, screen) = terminal.ended();
    assert_eq!((code, lab.calls()), (Some(0), 3), "{screen}");
}

#[test]
fn where_nobody_sits_the_configuration_decides_and_yes_wins() {
    let lab = Lab::new("").settings(json!({ "tools": { "approvalWithoutPerson": "deny" } }));
    let reply = lab.json(&["agent", "-m", "echo hello"]);
    assert_eq!(reply["toolCalls"][0]["isError"], true, "{reply:#}");
    assert_eq!(lab.calls(), 0);
    lab.json(&["agent", "-m", "echo hello", "--yes"]);
    assert_eq!(lab.calls(), 1);
}
