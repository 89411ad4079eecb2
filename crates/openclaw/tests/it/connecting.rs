//! `openclaw mcp connect`, `disconnect`, `remove`, `refresh`, `show` and `set`.

use serde_json::json;

use crate::lab::{Lab, assert_keys};

#[test]
fn a_program_that_is_reached_is_written_with_its_arguments() {
    let mut lab = Lab::empty();
    let line = lab.unknown_program("--only-tools echo");
    let line: Vec<&str> = line.iter().map(String::as_str).collect();
    let run = lab.done(&[&["mcp", "connect", "--name", "mine", "--"], &line[..]].concat());
    assert_eq!(
        run.stdout,
        "mine: connected, 1 tool; written to HOME/.openclaw/openclaw.json\n"
    );
    let shown = lab.done(&["mcp", "show", "mine"]).json();
    assert_eq!(shown["command"], line[0]);
    assert_eq!(shown["args"][0], "stdio");
    let run = lab.done(&["mcp", "call", "mine/echo", "message=hi"]);
    assert_eq!(run.stdout, "hi\n");
}

#[test]
fn an_address_that_is_reached_is_written_and_named_after_its_host() {
    let mut lab = Lab::empty();
    let url = lab.stranger("http");
    let report = lab.json(&["mcp", "add", &url]);
    assert_keys(&report, &["name", "written", "config", "server"]);
    assert_eq!(report["server"]["state"], "ready");
    let name = report["name"].as_str().unwrap();
    assert_eq!(lab.done(&["mcp", "show", name]).json()["url"], url);
}

#[test]
fn headers_are_sent_when_it_is_tried_and_ever_after() {
    let mut lab = Lab::empty();
    let url = lab.stranger("http --require-header X-Key=0123456789abcdef");
    let key = "X-Key=0123456789abcdef";
    let connect = ["mcp", "connect", "--no-keyring", &url];
    let run = lab.done(&[&connect[..], &["--name", "n", "--header", key]].concat());
    assert!(run.stdout.starts_with("n: connected"), "{run}");
    assert!(run.stderr.contains("plaintext credentials"), "FR-5: {run}");
    assert!(!run.to_string().contains("0123456789abcdef"), "{run}");
    lab.done(&["mcp", "call", "n/echo", "message=hi"]);
}

#[test]
fn nothing_is_written_where_nothing_is_reached() {
    let mut lab = Lab::empty();
    let before = lab.config_text();
    let line = lab.unknown_program("--exit-after 1 --flood-stderr 100");
    let line: Vec<&str> = line.iter().map(String::as_str).collect();
    let connect = ["mcp", "connect", "--name", "mine"];
    let run = lab.run(&[&connect[..], &["--"], &line[..]].concat());
    assert_eq!(run.code, Some(1), "{run}");
    assert!(run.stderr.contains("eeeeeeee"), "its last words: {run}");
    assert!(run.stderr.contains("--no-check"), "{run}");
    for target in [&["http://127.0.0.1:1/mcp"][..], &["--", "/nowhere/program"]] {
        let arguments = [&connect[..], &["--json"], target].concat();
        let run = lab.run(&arguments);
        assert_eq!(run.code, Some(1), "{run}");
        assert_keys(&run.json()["error"], &["code", "message", "hint"]);
    }
    assert_eq!(lab.config_text(), before);
    let run = lab.done(&[&connect[..], &["--no-check", "--", "/nowhere/program"]].concat());
    assert!(run.stdout.starts_with("mine: not tried; written"), "{run}");
    assert_ne!(lab.config_text(), before);
}

#[test]
fn a_server_that_wants_a_login_counts_as_reached() {
    let mut lab = Lab::empty();
    let url = lab.stranger("http --status 401");
    let run = lab.done(&["mcp", "connect", &url, "--name", "private"]);
    assert!(
        run.stdout.starts_with("private: needs a login; written"),
        "{run}"
    );
    assert!(run.stderr.contains("openclaw mcp auth private"), "{run}");
    assert_eq!(lab.done(&["mcp", "show", "private"]).json()["url"], url);
}

#[test]
fn a_name_that_exists_is_replaced_only_by_force() {
    let mut lab = Lab::new("");
    let before = lab.config_text();
    let url = lab.stranger("http");
    let connect = ["mcp", "connect", &url, "--name", "fake"];
    let error = lab.failure(&connect, 2);
    assert_eq!(error["code"], "exists");
    assert!(
        error["hint"].as_str().unwrap().contains("--force"),
        "{error}"
    );
    assert_eq!(lab.config_text(), before);
    lab.done(&[&connect[..], &["--force"]].concat());
    let shown = lab.done(&["mcp", "show", "fake"]).json();
    assert_eq!(
        (&shown["url"], &shown["command"]),
        (&json!(url), &json!(null))
    );
}

#[test]
fn a_configured_server_is_connected_again_by_its_name() {
    let lab = Lab::new("").settings(json!({
        "mcp": { "servers": { "broken": { "command": "/nowhere/program" } } },
    }));
    let before = lab.config_text();
    assert_eq!(lab.json(&["mcp", "connect", "fake"])["state"], "ready");
    let run = lab.run(&["mcp", "connect", "broken"]);
    assert_eq!(run.code, Some(1), "{run}");
    assert!(run.to_string().contains("/nowhere/program"), "{run}");
    assert_eq!(
        lab.failure(&["mcp", "connect", "fkae"], 2)["code"],
        "unknown-server"
    );
    assert_eq!(lab.config_text(), before);
}

#[test]
fn a_server_is_disconnected_and_stays_in_the_file() {
    let lab = Lab::new("");
    let before = lab.config_text();
    assert_eq!(
        lab.done(&["mcp", "disconnect", "fake"]).stdout,
        "fake: Stopped\n"
    );
    assert_eq!(lab.json(&["mcp", "disconnect", "fake"])["state"], "stopped");
    assert_eq!(
        lab.failure(&["mcp", "disconnect", "fkae"], 2)["code"],
        "unknown-server"
    );
    assert_eq!(lab.config_text(), before);
}

#[test]
fn a_removed_server_is_gone_from_the_file() {
    let lab = Lab::new("").server("other", "", json!({}));
    let report = lab.json(&["mcp", "remove", "fake"]);
    assert_eq!(report["removed"], true, "{report}");
    let list = lab.json(&["mcp", "servers"]);
    assert_eq!(list["servers"].as_array().unwrap().len(), 1);
    let run = lab.run(&["mcp", "remove", "fake"]);
    assert_eq!(run.code, Some(2), "{run}");
    assert!(run.stderr.contains("the servers are: other"), "{run}");
    assert_eq!(lab.done(&["mcp", "remove", "other"]).code, Some(0));
}

#[test]
fn a_refresh_lists_again_and_fails_where_a_server_does() {
    let lab = Lab::new("--only-tools echo,add");
    let run = lab.done(&["mcp", "refresh"]);
    assert!(run.stdout.contains("Tools: 2"), "{run}");
    let report = lab.json(&["mcp", "reload", "fake"]);
    assert_eq!(report["servers"][0]["state"], "ready");
    assert_eq!(
        lab.failure(&["mcp", "refresh", "fkae"], 2)["code"],
        "unknown-server"
    );
    let lab = lab.settings(json!({
        "mcp": { "servers": { "broken": { "command": "/nowhere/program" } } },
    }));
    assert_eq!(lab.run(&["mcp", "refresh"]).code, Some(1));
    lab.done(&["mcp", "refresh", "fake"]);
}

#[test]
fn what_is_set_by_hand_works_like_the_rest() {
    let mut lab = Lab::empty();
    let url = lab.stranger("http");
    lab.done(&["mcp", "set", "mine", &json!({ "url": url }).to_string()]);
    assert_eq!(lab.done(&["mcp", "show", "mine"]).json()["url"], url);
    lab.done(&["mcp", "call", "mine/echo", "message=hi"]);
    lab.done(&["mcp", "unset", "mine"]);
    assert_eq!(lab.json(&["mcp", "servers"]), json!({ "servers": [] }));
}

#[test]
fn an_agent_that_is_not_there_changes_nothing() {
    let lab = Lab::new("");
    let before = lab.config_text();
    for command in [
        &["mcp", "remove", "fake"][..],
        &["mcp", "set", "fake", "{\"command\":\"x\"}"],
        &["mcp", "doctor"],
        &["mcp", "connect", "--no-check", "https://example.com/mcp"],
    ] {
        let arguments = [command, &["--agent", "nobody"]].concat();
        let failure = lab.failure(&arguments, 2);
        assert_eq!(failure["code"], "unknown-agent", "{command:?}");
    }
    assert_eq!(lab.config_text(), before);
}
