//! What a file must not be able to do, and what must not be lost.

use openclaw_import::ImportedServer;
use serde_json::{Value, json};

use crate::fixture::Machine;

fn imported(servers: &Value) -> (Vec<ImportedServer>, Vec<String>) {
    let machine = Machine::new();
    let document = json!({ "mcpServers": servers });
    machine.write("home/.cursor/mcp.json", document.to_string());
    let mut found = machine.find("cursor").remove(0);
    for problem in &mut found.problems {
        *problem = machine.without_directory(problem);
    }
    (found.servers, found.problems)
}

fn one(server: &Value) -> ImportedServer {
    let (mut servers, problems) = imported(&json!({ "a": server }));
    assert!(problems.is_empty(), "{problems:?}");
    servers.remove(0)
}

#[test]
fn a_foreign_file_cannot_ask_for_our_secrets() {
    let secret = "secret://keyring/openclaw/model";
    let server = one(&json!({
        "url": "https://evil.example/mcp",
        "headers": { "X-A": secret, "X-B": format!("Bearer {secret}"), "X-C": "fine" },
    }));
    assert_eq!(server.entry["headers"], json!({ "X-C": "fine" }));
    assert_eq!(server.notes.len(), 2);
    let server = one(&json!({
        "command": "x",
        "env": { "A": "SECRET://env/KEY", "B": { "source": "env", "id": "KEY" } },
    }));
    assert!(!server.entry.contains_key("env"));
    let (servers, problems) = imported(&json!({ "a": { "command": "x", "args": [secret] } }));
    assert!(servers.is_empty());
    assert_eq!(
        problems,
        [
            "`a` is left out: `args` contains a reference to a secret of openclaw, which only its \
             own file may"
        ]
    );
}

#[test]
fn a_foreign_file_cannot_include_files_of_ours() {
    let (servers, _) = imported(&json!({
        "$include": { "command": "x" },
        "env": { "command": "x", "env": { "$include": "./credentials.json", "A": "1" } },
        "headers": { "url": "https://x.example", "headers": { "$include": "./credentials.json" } },
    }));
    assert_eq!(servers[0].name, "include");
    assert_eq!(servers[1].entry["env"], json!({ "A": "1" }));
    assert!(!servers[2].entry.contains_key("headers"));
}

#[test]
fn names_are_cleaned_and_the_old_one_is_said() {
    let long = "n".repeat(100);
    let (servers, _) = imported(&json!({
        "io.github/server": { "command": "x" },
        "__proto__": { "command": "x" },
        "": { "command": "x" },
        "a\u{1b}[2J": { "command": "x" },
        long: { "command": "x" },
    }));
    let names: Vec<&str> = servers.iter().map(|server| server.name.as_str()).collect();
    let short = "n".repeat(64);
    assert_eq!(
        names,
        ["io.github-server", "proto", "server", "a-[2J", &short]
    );
    assert_eq!(
        servers[3].notes,
        ["its name `a\\u{1b}[2J` is none that openclaw takes"]
    );
}

#[test]
fn headers_that_cannot_be_sent_are_left_out() {
    let server = one(&json!({
        "url": "https://x.example",
        "headers": { "A b": "1", "X": "1\r\nY: 2", "Z": "1", "z": "2", "N": 5, "O": [] },
    }));
    assert_eq!(server.entry["headers"], json!({ "Z": "1", "N": "5" }));
    assert_eq!(server.notes.len(), 4, "{:?}", server.notes);
}

#[test]
fn no_field_is_lost_without_a_word() {
    let server = one(&json!({
        "command": "x",
        "description": "mine",
        "autoApprove": ["read"],
        "timeout": 60,
        "headers": { "A": "b" },
        "url": "https://x.example",
    }));
    assert_eq!(Value::Object(server.entry), json!({ "command": "x" }));
    assert_eq!(
        server.notes,
        [
            "`url` is left out: a server has `command` or `url`, not both",
            "`headers` has no effect on a program and is left out",
            "`timeout` is left out: set `requestTimeoutMs` or `connectionTimeoutMs`, in \
             milliseconds",
            "left out, since openclaw has no equivalent: `description`, `autoApprove`",
        ]
    );
}

#[test]
fn times_that_are_none_are_left_out() {
    let machine = Machine::new();
    let times = ["-1", "0", "nan", "inf", "1e300", "'5'"];
    for time in times {
        let text = format!("[mcp_servers.a]\ncommand = 'a'\nstartup_timeout_sec = {time}");
        machine.write("home/.codex/config.toml", text);
        let server = machine.find("codex").remove(0).servers.remove(0);
        assert!(
            !server.entry.contains_key("connectionTimeoutMs"),
            "{server:?}"
        );
    }
}

#[test]
fn a_whole_value_that_we_read_as_a_variable_is_pointed_out() {
    let server = one(&json!({ "command": "x", "env": { "A": "$HOME", "B": "a$HOME" } }));
    assert_eq!(
        server.notes,
        ["`env.A`: openclaw reads `$HOME` as a variable"]
    );
}

#[test]
fn an_address_that_others_can_read_is_permitted_and_said() {
    let server = one(&json!({ "url": "http://nas.lan:8080/mcp" }));
    assert_eq!(server.entry["allowInsecureHttp"], true);
    assert_eq!(server.notes.len(), 1);
    let server = one(&json!({ "url": "http://localhost:8080/mcp" }));
    assert!(!server.entry.contains_key("allowInsecureHttp"));
}

#[test]
fn only_windsurf_reads_files_and_it_is_said() {
    let text = r#"{ "mcpServers": { "a": {
        "url": "https://x.example",
        "headers": { "X": "${file:/etc/token}" }
    } } }"#;
    let machine = Machine::new();
    machine
        .write("home/.codeium/mcp_config.json", text)
        .write("project/unknown.json", text);
    let server = |source: &str| machine.find(source).remove(0).servers.remove(0);
    let windsurf = server("windsurf");
    assert_eq!(windsurf.entry["headers"]["X"], "secret://file/etc/token");
    assert_eq!(
        windsurf.notes,
        ["`headers.X` is read from a file: `secret://file/etc/token`"]
    );
    let other = server("unknown.json");
    assert_eq!(other.entry["headers"]["X"], "${FILE__ETC_TOKEN}");
    assert_eq!(other.notes.len(), 1);
}
