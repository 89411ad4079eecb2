//! Files that are not what they should be: each costs only itself.

use std::fs;
use std::time::{Duration, Instant};

use crate::fixture::Machine;

const GOOD: &str = r#"{ "mcpServers": { "good": { "command": "good" } } }"#;

/// What is said about a file of Cursor's, beside a good one of Windsurf's.
fn beside_a_good_one(content: impl AsRef<[u8]>) -> String {
    let machine = Machine::new();
    machine
        .write("home/.cursor/mcp.json", content)
        .write("home/.codeium/windsurf/mcp_config.json", GOOD);
    let found = machine.find("all");
    assert_eq!(found.len(), 2, "{found:?}");
    assert_eq!(found[0].client, "Cursor");
    assert_eq!(found[0].servers, []);
    assert_eq!(found[1].servers[0].name, "good");
    assert_eq!(found[0].problems.len(), 1, "{found:?}");
    machine.without_directory(&found[0].problems[0])
}

#[test]
fn a_file_that_was_cut_off() {
    assert_eq!(
        beside_a_good_one("{\n  \"mcpServers\": {\n    \"a\": { \"command\": \"x"),
        "cannot use /home/.cursor/mcp.json: line 3, column 23: this is not JSON"
    );
}

#[test]
fn a_file_of_another_kind() {
    assert_eq!(
        beside_a_good_one([0x00, 0xff, 0xfe, 0x80]),
        "cannot use /home/.cursor/mcp.json: it is not UTF-8 text"
    );
    assert_eq!(
        beside_a_good_one("[1, 2]"),
        "the file holds an array, not an object"
    );
    assert_eq!(
        beside_a_good_one("{ \"mcpServers\": [] }"),
        "`mcpServers` is an array, not an object"
    );
}

#[test]
fn deep_nesting_is_refused() {
    for open in ["[", "{\"mcpServers\":", "{\"a\":["] {
        let problem = beside_a_good_one(open.repeat(100_000));
        assert!(problem.contains("not JSON"), "{problem}");
    }
    let dotted = format!("{}a = 1", "a.".repeat(100_000));
    let arrays = format!("a = {}", "[".repeat(100_000));
    let tables = format!("a = {}", "{a=".repeat(100_000));
    for text in [dotted, arrays, tables] {
        let machine = Machine::new();
        machine.write("home/.codex/config.toml", text);
        let problem = machine.problem("codex");
        assert!(problem.contains("not TOML"), "{problem}");
    }
}

#[test]
fn a_large_file_is_read_and_a_larger_one_refused() {
    let padded = |bytes: usize| {
        let history = "x".repeat(bytes);
        format!(
            "{{ \"history\": \"{history}\", \"mcpServers\": {{ \"a\": {{ \"command\": \"x\" }} }} }}"
        )
    };
    let machine = Machine::new();
    machine.write("home/.claude.json", padded(10_000_000));
    let start = Instant::now();
    let found = machine.find("claude-code");
    assert_eq!(found[0].servers[0].name, "a");
    assert!(start.elapsed() < Duration::from_secs(10));
    machine.write("home/.claude.json", padded(17 << 20));
    let problem = machine.problem("claude-code");
    assert!(problem.contains("the limit of 16 MB"), "{problem}");
}

#[test]
fn too_many_servers_are_cut_short() {
    let servers: String = (0..1_500)
        .map(|number| format!("\"s{number}\": {{ \"command\": \"x\" }},"))
        .collect();
    let machine = Machine::new();
    machine.write(
        "project/.mcp.json",
        format!("{{ \"mcpServers\": {{ {servers} }} }}"),
    );
    let found = openclaw_import::find(
        &openclaw_import::Source::ClaudeCode,
        &machine.surroundings(),
    );
    assert_eq!(found[0].servers.len(), 1_000);
    assert_eq!(
        found[0].problems,
        ["only the first 1000 servers are taken over"]
    );
}

#[test]
fn a_directory_in_place_of_a_file() {
    let machine = Machine::new();
    fs::create_dir_all(machine.path("home/.cursor/mcp.json")).unwrap();
    let problem = machine.problem("cursor");
    assert!(problem.contains("a directory"), "{problem}");
}

#[test]
fn a_file_in_place_of_a_directory_is_the_same_as_none() {
    let machine = Machine::new();
    machine.write("home/.cursor", "not a directory");
    assert!(machine.find("all").is_empty());
}

#[cfg(unix)]
#[test]
fn a_link_that_leads_to_itself() {
    let machine = Machine::new();
    fs::create_dir(machine.path("home/.cursor")).unwrap();
    let path = machine.path("home/.cursor/mcp.json");
    std::os::unix::fs::symlink(&path, &path).unwrap();
    let problem = machine.problem("cursor");
    assert!(problem.starts_with("cannot read"), "{problem}");
}

#[test]
fn a_bad_server_costs_only_itself() {
    let machine = Machine::new();
    let text = r#"{ "mcpServers": {
        "number": 5,
        "empty": {},
        "no-command": { "type": "stdio", "url": "https://example.com" },
        "no-url": { "type": "http", "command": "x" },
        "command": { "command": ["npx", "x"] },
        "blank": { "command": "" },
        "args": { "command": "x", "args": "-y x" },
        "arg": { "command": "x", "args": [{}] },
        "env": { "command": "x", "env": ["A=1"] },
        "headers": { "url": "https://example.com", "headers": "X: y" },
        "scheme": { "url": "ftp://example.com" },
        "sdk": { "type": "sdk", "name": "x" },
        "good": { "command": "good", "disabled": "yes", "disabledTools": "all", "args": null }
    } }"#;
    machine.write("home/.cursor/mcp.json", text);
    insta::assert_snapshot!(machine.shown("cursor"));
}
