//! What is looked at for which source.

use crate::fixture::Machine;

const ONE: &str = r#"{ "mcpServers": { "one": { "command": "one" } } }"#;

#[test]
fn all_takes_what_is_there_and_says_nothing_about_the_rest() {
    let machine = Machine::new();
    assert!(machine.find("all").is_empty());
    machine
        .write("home/.cursor/mcp.json", ONE)
        .write("home/.codeium/windsurf/mcp_config.json", ONE)
        .write(
            "home/.codex/config.toml",
            "[mcp_servers.one]\ncommand = 'one'",
        );
    let found = machine.find("all");
    let clients: Vec<&str> = found.iter().map(|found| found.client.as_str()).collect();
    assert_eq!(clients, ["Cursor", "Codex", "Windsurf"]);
    assert!(found.iter().all(|found| found.servers[0].name == "one"));
}

#[test]
fn a_named_client_without_files_says_where_they_would_be() {
    assert_eq!(
        Machine::new().problem("cursor"),
        "there are no servers of Cursor; looked at: `/home/.cursor/mcp.json`, \
         `/project/.cursor/mcp.json`"
    );
}

#[test]
fn a_path_is_read_as_what_it_is() {
    let machine = Machine::new();
    let editor = r#"{ "servers": { "a": { "command": "x", "env": { "K": "${env:KEY}" } } } }"#;
    machine
        .write("elsewhere/.vscode/mcp.json", editor)
        .write("elsewhere/codex.toml", "[mcp_servers.a]\ncommand = 'a'")
        .write("project/servers.json", ONE);
    let at = |name: &str| {
        let found = machine.find(machine.path(name).to_str().unwrap());
        (found[0].client.clone(), found[0].servers[0].clone())
    };
    let (client, server) = at("elsewhere/.vscode/mcp.json");
    assert_eq!(client, "VS Code");
    assert_eq!(server.entry["env"]["K"], "${KEY}");
    let project = machine.path("elsewhere");
    assert_eq!(server.entry["cwd"], project.to_str().unwrap());
    assert_eq!(at("elsewhere/codex.toml").0, "Codex");
    // Relative to the current directory.
    let found = machine.find("servers.json");
    assert_eq!(found[0].client, "unknown client");
    assert_eq!(found[0].path, machine.path("project/servers.json"));
    assert!(!found[0].servers[0].entry.contains_key("cwd"));
}

#[test]
fn a_path_that_is_not_there_recalls_the_names_of_clients() {
    assert_eq!(
        Machine::new().problem("claud"),
        "there is no file `/project/claud`; clients are named claude, claude-code, cursor, \
         vscode, codex, windsurf"
    );
}

#[test]
fn a_path_without_servers_says_what_was_expected() {
    let machine = Machine::new();
    machine.write("project/package.json", "{ \"name\": \"site\" }");
    let problem = machine.problem("package.json");
    assert!(problem.contains("`mcpServers`, `servers`"), "{problem}");
}

#[test]
fn in_the_home_directory_nothing_is_found_twice() {
    let machine = Machine::new();
    machine.write("home/.cursor/mcp.json", ONE);
    let surroundings = openclaw_import::Surroundings {
        directory: machine.path("home"),
        ..machine.surroundings()
    };
    let found = openclaw_import::find(&openclaw_import::Source::Cursor, &surroundings);
    assert_eq!(found.len(), 1);
    assert!(!found[0].servers[0].entry.contains_key("cwd"));
}
