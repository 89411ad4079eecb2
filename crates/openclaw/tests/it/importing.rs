//! `openclaw mcp import`: files of other clients, as they would lie in the home directory.

use serde_json::{Value as Json, json};

use crate::lab::{Lab, assert_harmless, assert_keys};

/// A home directory with files of two clients.
fn home() -> Lab {
    let lab = Lab::empty();
    let cursor = json!({ "mcpServers": {
        "docs": { "url": "https://docs.example/mcp" },
        "github": { "command": "github-mcp", "env": { "GITHUB_TOKEN": "ghp_0123456789abcdefghijABCDEFGHIJ012345" } },
        "nothing": { "note": "neither a program nor an address" },
    } });
    let claude = json!({ "mcpServers": {
        "docs": { "command": "other-docs" },
        "files": { "command": "npx", "args": ["-y", "files-mcp", "/tmp"] },
    } });
    lab.home.write(".cursor/mcp.json", &cursor.to_string());
    let file = ".config/Claude/claude_desktop_config.json";
    lab.home.write(file, &claude.to_string());
    lab
}

fn names(list: &Json) -> Vec<&str> {
    let list = list.as_array().unwrap().iter();
    list.map(|it| it["name"].as_str().unwrap()).collect()
}

#[test]
fn what_would_be_taken_over_is_shown_by_client_and_file() {
    let lab = home();
    let before = lab.config_text();
    let run = lab.done(&["mcp", "import", "--no-keyring", "--dry-run"]);
    insta::assert_snapshot!(run);
    assert_eq!(lab.config_text(), before);
}

#[test]
fn servers_are_taken_over_once() {
    let lab = home();
    let run = lab.done(&["mcp", "import", "--no-keyring", "--json"]);
    let report = run.json();
    assert_eq!(names(&report["imported"]), ["docs", "files", "github"]);
    for server in report["imported"].as_array().unwrap() {
        assert_keys(
            server,
            &["name", "from", "path", "target", "notes", "written"],
        );
        assert_eq!(server["written"], true);
    }
    assert_eq!(report["imported"][1]["target"], "npx -y files-mcp /tmp");
    assert_eq!(names(&report["skipped"]), ["docs"], "the first is taken");
    assert_keys(&report["skipped"][0], &["name", "from", "path", "reason"]);
    assert_eq!(report["skipped"][0]["from"], "Cursor");
    let problem = &report["problems"][0];
    assert_keys(problem, &["from", "path", "message"]);
    assert!(
        problem["message"].as_str().unwrap().contains("`nothing`"),
        "{problem}"
    );
    let shown = lab.done(&["mcp", "show"]).json();
    assert_eq!(shown["docs"]["command"], "other-docs");
    assert_eq!(shown["files"]["args"][1], "files-mcp");
    let again = lab
        .done(&["mcp", "import", "--no-keyring", "--json"])
        .json();
    let written = |it: &Json| it["written"] == true;
    let imported = again["imported"].as_array().unwrap();
    assert!(!imported.iter().any(written), "nothing is to do: {again:#}");
    assert_eq!(imported.len(), 3);
}

#[test]
fn a_credential_in_plain_text_is_warned_about_once_and_never_shown() {
    let lab = home();
    for more in [&["--dry-run"][..], &["--json"], &[]] {
        let run = lab.done(&[&["mcp", "import", "--no-keyring", "--force"], more].concat());
        assert!(!run.to_string().contains("ghp_"), "{run}");
        let warned = run.stderr.matches("plaintext credentials").count();
        let wanted = usize::from(!more.is_empty());
        assert_eq!(warned, wanted, "only where it is taken: {run}");
    }
    assert!(lab.config_text().contains("ghp_"), "but it is taken over");
}

#[test]
fn a_name_that_is_taken_is_left_alone_unless_forced() {
    let lab = home().settings(json!({ "mcp": { "servers": { "docs": { "command": "mine" } } } }));
    let source = ["mcp", "import", "--no-keyring", "--from", "claude"];
    let run = lab.done(&source);
    assert!(
        run.stdout
            .contains("docs   skipped: there is another server"),
        "{run}"
    );
    assert!(
        run.stdout
            .contains("1 server imported, 1 skipped; written to"),
        "{run}"
    );
    assert_eq!(lab.done(&["mcp", "show", "docs"]).json()["command"], "mine");
    lab.done(&[&source[..], &["--force"]].concat());
    assert_eq!(
        lab.done(&["mcp", "show", "docs"]).json()["command"],
        "other-docs"
    );
}

#[test]
fn one_client_or_one_file_can_be_named() {
    let lab = home();
    let report = lab
        .done(&[
            "mcp",
            "import",
            "--no-keyring",
            "--from",
            "cursor",
            "--json",
        ])
        .json();
    assert_eq!(names(&report["imported"]), ["docs", "github"]);
    let lab = home();
    lab.home.write(
        "shared.json",
        r#"{ "servers": { "x": { "command": "x-mcp" } } }"#,
    );
    let report = lab.json(&["mcp", "import", "--no-keyring", "--from", "shared.json"]);
    assert_eq!(names(&report["imported"]), ["x"]);
    assert!(
        report["imported"][0]["path"]
            .as_str()
            .unwrap()
            .ends_with("/shared.json")
    );
}

#[test]
fn a_source_that_is_not_there_is_a_mistake() {
    let lab = Lab::empty();
    for (source, words) in [
        ("emacs", "clients are named claude, claude-code, cursor"),
        ("missing.json", "there is no file"),
        ("cursor", "there are no servers of Cursor; looked at: "),
        ("", "expected one of claude"),
    ] {
        let run = lab.run(&["mcp", "import", "--no-keyring", "--from", source]);
        assert_eq!(run.code, Some(2), "{run}");
        assert!(run.stderr.contains(words), "{run}");
    }
    let error = lab.failure(
        &["mcp", "import", "--no-keyring", "--from", "missing.json"],
        2,
    );
    assert_eq!(error["code"], "unknown-source");
}

#[test]
fn nothing_to_import_is_no_mistake() {
    let lab = Lab::empty();
    let run = lab.done(&["mcp", "import", "--no-keyring"]);
    assert!(
        run.stdout
            .starts_with("no servers of other MCP clients were found"),
        "{run}"
    );
    let report = lab.json(&["mcp", "import", "--no-keyring"]);
    assert_eq!(
        report,
        json!({ "imported": [], "skipped": [], "problems": [] })
    );
}

#[test]
fn a_named_file_that_cannot_be_used_is_a_failure() {
    let lab = Lab::empty();
    lab.home.write("broken.json", "{ \"mcpServers\": ");
    let run = lab.run(&[
        "mcp",
        "import",
        "--no-keyring",
        "--from",
        "broken.json",
        "--json",
    ]);
    assert_eq!(run.code, Some(1), "{run}");
    assert_eq!(run.json()["problems"].as_array().unwrap().len(), 1);
    // Beside others it costs only itself.
    let lab = home();
    lab.home.write(".codex/config.toml", "[mcp_servers");
    let run = lab.done(&["mcp", "import", "--no-keyring", "--dry-run"]);
    assert!(run.stdout.contains("3 servers would be imported"), "{run}");
    assert!(
        run.stdout
            .contains("Codex: HOME/.codex/config.toml\n  problem: "),
        "{run}"
    );
}

#[test]
fn what_is_said_about_a_server_stands_beside_it() {
    let lab = Lab::empty();
    let servers = json!({ "mcpServers": {
        "far": { "url": "http://192.0.2.1/mcp", "flavour": "sweet" },
    } });
    lab.home.write("some.json", &servers.to_string());
    let run = lab.done(&["mcp", "import", "--no-keyring", "--from", "some.json"]);
    assert!(run.stdout.contains("\n       note: "), "{run}");
    assert!(run.stdout.contains("flavour"), "{run}");
    assert!(run.stderr.contains("can read along"), "{run}");
}

#[test]
fn a_server_that_cannot_be_written_is_a_failure_and_the_others_are_taken() {
    let elsewhere = json!({ "mcp": { "servers": { "docs": { "command": "mine" } } } });
    let lab = home().settings(json!({ "agents": { "defaults": elsewhere } }));
    let source = [
        "mcp",
        "import",
        "--no-keyring",
        "--from",
        "cursor",
        "--force",
    ];
    let run = lab.run(&source);
    assert_eq!(run.code, Some(1), "{run}");
    assert!(
        run.stdout
            .contains("docs    skipped: the server `docs` stands in"),
        "{run}"
    );
    let shown = lab.done(&["mcp", "show"]).json();
    assert_eq!(shown["docs"]["command"], "mine");
    assert_eq!(shown["github"]["command"], "github-mcp");
}

#[test]
fn a_rehearsal_makes_no_state_directory() {
    let home = crate::program::Home::new();
    home.write(
        "some.json",
        r#"{ "mcpServers": { "x": { "command": "x-mcp" } } }"#,
    );
    let run = home.run(&[
        "mcp",
        "import",
        "--no-keyring",
        "--from",
        "some.json",
        "--dry-run",
    ]);
    assert_eq!(run.code, Some(0), "{run}");
    assert!(!home.path().join(".openclaw").exists());
    let run = home.run(&["mcp", "import", "--no-keyring", "--from", "some.json"]);
    assert_eq!(run.code, Some(0), "{run}");
    assert!(home.path().join(".openclaw/openclaw.json").exists());
}

#[test]
fn a_hostile_file_cannot_act_on_the_terminal() {
    let lab = Lab::empty();
    let evil = "\u{1b}[2Jevil\u{202e}";
    let servers = json!({ "mcpServers": {
        evil: { "command": evil, "args": [evil], evil: evil },
        format!("{evil}2"): { evil: 1 },
    } });
    lab.home.write("evil.json", &servers.to_string());
    for more in [&["--dry-run"][..], &["--dry-run", "--json"], &[]] {
        let run = lab.run(
            &[
                &["mcp", "import", "--no-keyring", "--from", "evil.json"],
                more,
            ]
            .concat(),
        );
        assert!(run.stdout.contains("evil"), "{run}");
        assert_harmless(&run.stdout);
        assert_harmless(&run.stderr);
    }
}
