//! Each client's files, as its users have them.

use openclaw_import::Platform;

use crate::fixture::Machine;

#[test]
fn claude_desktop() {
    let machine = Machine::new();
    machine.write(
        "home/.config/Claude/claude_desktop_config.json",
        include_str!("documents/claude_desktop_config.json"),
    );
    insta::assert_snapshot!(machine.shown("claude"));
}

#[test]
fn claude_desktop_is_found_on_every_platform() {
    let text = include_str!("documents/claude_desktop_config.json");
    for (platform, path) in [
        (
            Platform::MacOs,
            "home/Library/Application Support/Claude/claude_desktop_config.json",
        ),
        (
            Platform::Windows,
            "roaming/Claude/claude_desktop_config.json",
        ),
    ] {
        let machine = Machine::with_platform(platform);
        let found = machine.write(path, text).find("claude");
        assert_eq!(found[0].path, machine.path(path));
        assert_eq!(found[0].servers.len(), 4);
    }
}

#[test]
fn claude_code() {
    let machine = Machine::new();
    machine
        .write(
            "home/.claude.json",
            include_str!("documents/claude_code_user.json"),
        )
        .write(
            "project/.mcp.json",
            include_str!("documents/claude_code_project.json"),
        );
    insta::assert_snapshot!(machine.shown("claude-code"));
}

#[test]
fn a_variable_that_is_set_counts_more_than_its_default() {
    let machine = Machine::new().set(&["API_BASE_URL"]);
    let text = include_str!("documents/claude_code_project.json");
    let found = machine.write("project/.mcp.json", text).find("claude-code");
    assert_eq!(found[0].servers[0].entry["url"], "${API_BASE_URL}/mcp");
}

#[test]
fn cursor() {
    let machine = Machine::new();
    machine.write(
        "home/.cursor/mcp.json",
        include_str!("documents/cursor.json"),
    );
    insta::assert_snapshot!(machine.shown("cursor"));
}

#[test]
fn vs_code() {
    let machine = Machine::new();
    machine
        .write(
            "project/.vscode/mcp.json",
            include_str!("documents/vscode.json"),
        )
        .write(
            "home/.config/Code/User/settings.json",
            include_str!("documents/vscode_settings.json"),
        );
    insta::assert_snapshot!(machine.shown("vscode"));
}

#[test]
fn vs_code_is_found_on_every_platform() {
    let text = include_str!("documents/vscode.json");
    for (platform, path) in [
        (Platform::Linux, "home/.config/Code/User/mcp.json"),
        (
            Platform::MacOs,
            "home/Library/Application Support/Code/User/mcp.json",
        ),
        (Platform::Windows, "roaming/Code/User/mcp.json"),
    ] {
        let machine = Machine::with_platform(platform);
        let found = machine.write(path, text).find("vscode");
        assert_eq!(found[0].path, machine.path(path));
        assert_eq!(found[0].servers.len(), 4);
    }
}

#[test]
fn settings_without_servers_are_nothing_to_speak_of() {
    let machine = Machine::new();
    let path = "home/.config/Code/User/settings.json";
    machine.write(path, "{ \"editor.fontSize\": 13 }");
    assert!(machine.find("all").is_empty());
    let problem = machine.problem("vscode");
    assert!(
        problem.starts_with("there are no servers of VS Code"),
        "{problem}"
    );
}

#[test]
fn codex() {
    let machine = Machine::new();
    machine.write(
        "home/.codex/config.toml",
        include_str!("documents/codex.toml"),
    );
    insta::assert_snapshot!(machine.shown("codex"));
}

#[test]
fn windsurf() {
    let machine = Machine::new();
    machine.write(
        "home/.codeium/windsurf/mcp_config.json",
        include_str!("documents/windsurf.json"),
    );
    insta::assert_snapshot!(machine.shown("windsurf"));
}
