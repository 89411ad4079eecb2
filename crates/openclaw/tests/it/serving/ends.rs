//! How it begins when it can't, and how it ends: nothing is left, neither processes nor files.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use openclaw_testkit::leaks::wait_until;
use openclaw_testkit::pictures;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

use super::client::{Client, text};
use crate::lab::{Lab, SOON};

/// A client whose order waits for a tool that takes a minute.
fn waiting(lab: &Lab) -> Client {
    let mut client = Client::start(lab, &["mcp-server"]);
    // What comes with it is in a file while it is needed.
    let image = STANDARD.encode(pictures::png(200_000));
    client.order(&json!({
        "message": "sleep ms=60000",
        "sessionKey": "s",
        "images": [{ "data": image, "mimeType": "image/png" }],
    }));
    assert!(wait_until(SOON, || lab.calls() == 1), "the call arrives");
    client
}

/// What is in the state directory, by name.
fn state(lab: &Lab) -> Vec<String> {
    let entries = lab.home.path().join(".openclaw").read_dir().unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.collect();
    names.sort();
    names
}

#[test]
fn the_end_of_the_input_stops_the_agent_and_its_servers() {
    for flags in ["", "--ignore-term --ignore-eof --grandchild"] {
        let lab = Lab::new(flags);
        let end = waiting(&lab).end();
        assert_eq!(end.code, Some(0), "{end:?}");
        // A moment for the order, and then as long as a server may take that does not want to go.
        let limit = if flags.is_empty() { 4 } else { 8 };
        assert!(end.took < Duration::from_secs(limit), "{flags}: {end:?}");
        let [answer] = &end.messages[..] else {
            panic!("{end:?}");
        };
        assert_eq!(answer["result"]["isError"], true, "{end:?}");
        let said = text(&answer["result"]);
        assert!(
            said.starts_with("Error: the client closed the connection"),
            "{said}"
        );
        assert_eq!(lab.processes(), 0, "nothing is left");
    }
}

#[test]
fn a_reply_that_is_finished_after_the_client_has_hung_up_is_in_the_session() {
    let lab = Lab::new("");
    let mut client = Client::start(&lab, &["mcp-server"]);
    client.order(&json!({ "message": "sleep ms=500", "sessionKey": "s" }));
    assert!(wait_until(SOON, || lab.calls() == 1), "the call arrives");
    let end = client.end();
    assert_eq!(end.code, Some(0), "{end:?}");
    let shown = lab.json(&["sessions", "show", "s"]);
    let messages = shown["messages"].as_array().unwrap();
    let last = messages.last().unwrap();
    assert_eq!(last["role"], "assistant", "{shown}");
    assert!(
        messages.iter().all(|it| it["interrupted"] != true),
        "{shown}"
    );
}

#[test]
fn signals_stop_it() {
    for (signal, code) in [(Signal::TERM, 143), (Signal::INT, 130)] {
        let lab = Lab::new("");
        let client = waiting(&lab);
        kill_process(Pid::from_child(&client.child), signal).unwrap();
        assert_eq!(client.ended().code, Some(code));
        assert_eq!(lab.processes(), 0, "nothing is left behind {signal:?}");
    }
}

#[test]
fn nothing_outlives_it_when_it_is_killed() {
    let lab = Lab::new("--ignore-term --ignore-eof --grandchild-setsid");
    let client = waiting(&lab);
    let before = state(&lab);
    kill_process(Pid::from_child(&client.child), Signal::KILL).unwrap();
    client.ended();
    assert!(
        lab.is_quiet_within(Duration::from_secs(2)),
        "a process is left"
    );
    assert_eq!(state(&lab), before, "a file is left");
    // What was said is there, and marked.
    let shown = lab.json(&["sessions", "show", "s"]);
    assert_eq!(shown["messages"][0]["text"], "sleep ms=60000");
    let messages = shown["messages"].as_array().unwrap();
    assert!(
        messages.iter().any(|it| it["interrupted"] == true),
        "{shown}"
    );
}

#[test]
fn a_configuration_that_can_not_be_used_is_told_on_stderr() {
    let lab = Lab::empty();
    lab.home
        .write(".openclaw/openclaw.json", "{ mcp: { servers: 5 } ");
    let end = Client::silent(&lab, &["mcp-server"]).end();
    assert_eq!(end.code, Some(2), "{end:?}");
    assert!(
        end.messages.is_empty() && end.errors.contains("openclaw.json"),
        "{end:?}"
    );
}

#[test]
fn a_server_that_can_not_be_used_does_not_keep_the_others_from_it() {
    let lab = Lab::new("").settings(json!({ "mcp": { "servers": {
        "missing": { "command": "/nowhere/program" },
        "broken": { "url": 5 },
    } } }));
    let mut client = Client::start(&lab, &["mcp-server"]);
    let result = client.ordered(&json!({ "message": "echo message=fine" }));
    assert!(text(&result).contains("fine"), "{result}");
    let end = client.end();
    assert_eq!(end.code, Some(0), "{end:?}");
}

#[test]
fn it_says_its_version() {
    let lab = Lab::empty();
    for arguments in [
        &["mcp-server", "--version"][..],
        &["mcp", "serve", "--version"],
    ] {
        let run = lab.done(arguments);
        assert!(
            run.stdout.trim_end().ends_with(env!("CARGO_PKG_VERSION")),
            "{run}"
        );
    }
}
