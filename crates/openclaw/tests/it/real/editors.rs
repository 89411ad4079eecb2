//! A client of the editors' protocol that others wrote, with the agent and a server of its own settings.

use std::process::{Command, Stdio};

use openclaw_testkit::partners;
use serde_json::{Value as Json, json};

use crate::lab::{Lab, SOON};
use crate::program::Run;

/// Has acpx send one message, with the reference server in its settings; what it shows.
fn acpx(lab: &Lab, flags: &[&str], message: &str) -> Run {
    let modules = partners().join("node_modules");
    let node = modules.join(".bin/node");
    let script = modules.join("@modelcontextprotocol/server-everything/dist/index.js");
    let home = lab.home.path();
    let server = json!({
        "name": "everything",
        "command": node,
        "args": [script, "stdio", home],
        "env": [{ "name": "API_TOKEN", "value": "hunter2-hunter2" }],
    });
    let settings = json!({ "mcpServers": [server] });
    lab.home.write(".acpx/config.json", &settings.to_string());
    let agent = lab.home.command(&[]);
    let agent = format!("{} acp", agent.get_program().to_str().unwrap());
    let child = Command::new(node)
        .arg(modules.join("acpx/dist/cli.js"))
        .args(["--agent", &agent, "--cwd"])
        .arg(home)
        .args(flags)
        .args(["exec", message])
        .env_clear()
        .env("HOME", home)
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nowhere/bus")
        .env("NO_COLOR", "1")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let run = lab.home.finish(child.wait_with_output().unwrap());
    assert!(lab.is_quiet_within(SOON), "a process is left: {run}");
    run
}

#[test]
fn a_tool_of_its_settings_is_called_when_it_is_allowed() {
    let lab = Lab::empty();
    let run = acpx(&lab, &["--approve-all"], "echo message=hello");
    assert_eq!(run.code, Some(0), "{run}");
    for expected in [
        "[tool] everything: Echo Tool (completed)",
        r#"input: {"message":"hello"}"#,
        "<<<EXTERNAL_UNTRUSTED_CONTENT",
        "From: everything/echo",
        "Echo: hello",
        "[done] end_turn",
    ] {
        assert!(run.stdout.contains(expected), "{expected}: {run}");
    }
    let shown = acpx(&lab, &["--approve-all"], "print env");
    assert!(!shown.stdout.contains("hunter2"), "{shown}");
}

#[test]
fn what_it_denies_is_not_done() {
    let lab = Lab::empty();
    let run = acpx(&lab, &["--deny-all"], "get-env");
    // So it tells that something was denied.
    assert_eq!(run.code, Some(5), "{run}");
    assert!(!run.stdout.contains("PATH"), "{run}");
    assert!(run.stdout.contains("did not allow"), "{run}");
}

#[test]
fn every_message_is_as_the_protocol_has_it() {
    let lab = Lab::empty();
    let flags = ["--format", "json", "--json-strict", "--approve-all"];
    let run = acpx(&lab, &flags, "echo message=hello");
    assert_eq!(run.code, Some(0), "{run}");
    let messages = run.stdout.lines();
    let messages: Vec<Json> = messages
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let updates: Vec<&str> = messages
        .iter()
        .filter_map(|it| it["params"]["update"]["sessionUpdate"].as_str())
        .collect();
    for expected in [
        "available_commands_update",
        "tool_call",
        "tool_call_update",
        "agent_message_chunk",
    ] {
        assert!(updates.contains(&expected), "{expected}: {updates:?}");
    }
    let last = messages.iter().rev().find(|it| it["result"].is_object());
    assert_eq!(last.unwrap()["result"]["stopReason"], "end_turn", "{run}");
}
