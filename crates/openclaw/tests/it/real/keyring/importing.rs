//! Servers of other clients, and what became of their credentials.

use std::time::Instant;

use openclaw_testkit::leaks::wait_until;
use serde_json::{Value as Json, json};

use super::{OTHER, TOKEN, assert_hidden, lab, send, servers, value};
use crate::lab::{Lab, SOON};

/// The servers of another client.
fn claude(lab: &Lab, token: &str) {
    let text = json!({ "mcpServers": {
        "github": { "command": "npx", "args": ["-y", "x"], "env": { "GITHUB_TOKEN": token } },
        "sql": { "command": "x", "args": ["postgresql://u:hunter2hunter2@localhost/db"] },
        "plain": { "command": "y" },
    }});
    let file = ".config/Claude/claude_desktop_config.json";
    lab.home.write(file, &text.to_string());
    // A client that knows variables: this one is not set here.
    let text = json!({ "mcpServers": { "unset": {
        "command": "z", "args": ["${env:UNSET_HERE}"], "env": { "Z_TOKEN": token },
    } } });
    lab.home.write(".cursor/mcp.json", &text.to_string());
}

/// What stands in the file in the place of a credential.
fn reference(lab: &Lab, server: &str, name: &str) -> String {
    let servers = servers(lab);
    servers[server]["env"][name].as_str().unwrap().to_owned()
}

/// The servers that were skipped, with reasons.
fn skipped(report: &Json) -> Vec<(&str, &str)> {
    let skipped = report["skipped"].as_array().unwrap().iter();
    skipped
        .map(|it| (it["name"].as_str().unwrap(), it["reason"].as_str().unwrap()))
        .collect()
}

#[test]
fn what_is_imported_has_its_credentials_in_the_keyring() {
    let (lab, keychain) = lab!();
    claude(&lab, TOKEN);
    let beginning = "secret://keyring/openclaw/github.env.GITHUB_TOKEN-";
    let before = lab.config_text();
    let run = lab.done(&["mcp", "import", "--dry-run"]);
    let line = format!("GITHUB_TOKEN: would be stored in the keyring, {beginning}…\n");
    assert!(run.stdout.contains(&line), "{run}");
    assert_hidden(&lab, &run);
    assert!(keychain.accounts("openclaw").unwrap().is_empty());
    assert_eq!(lab.config_text(), before);

    let run = lab.done(&["mcp", "import"]);
    let written = reference(&lab, "github", "GITHUB_TOKEN");
    assert!(written.starts_with(beginning), "{written}");
    let line = format!("GITHUB_TOKEN: stored in the keyring, {written}\n");
    assert!(run.stdout.contains(&line), "{run}");
    let warning = "MCP server 'sql' has plaintext credentials in config — consider using \
                   secret:// references (args";
    assert!(run.stderr.contains(warning), "{run}");
    assert!(!run.stderr.contains("'github'"), "{run}");
    assert_hidden(&lab, &run);
    let servers = servers(&lab);
    assert_eq!(servers["unset"]["args"][0], "${UNSET_HERE}");
    let argument = servers["sql"]["args"][0].as_str().unwrap();
    assert!(argument.contains("hunter2"), "no reference can stand there");
    assert_eq!(value(&keychain, &written).as_deref(), Some(TOKEN));
}

#[test]
fn what_was_imported_is_recognised_with_and_without_a_keyring() {
    let (lab, keychain) = lab!();
    claude(&lab, TOKEN);
    lab.done(&["mcp", "import"]);
    let before = (lab.config_text(), keychain.accounts("openclaw").unwrap());
    for more in [&[][..], &["--no-keyring"], &["--dry-run"], &["--force"]] {
        let line = [&["mcp", "import", "--json"], more].concat();
        let report = lab.done(&line).json();
        assert_eq!(report["skipped"], json!([]), "{more:?}");
        let imported = report["imported"].as_array().unwrap();
        assert_eq!(imported.len(), 4, "{report:#}");
        for server in imported {
            assert_eq!(server["written"], false, "{report:#}");
            let note = "it is there already, with the same definition";
            let notes = server["notes"].as_array().unwrap();
            assert_eq!(*notes.last().unwrap(), note, "{report:#}");
        }
    }
    assert_eq!(
        (lab.config_text(), keychain.accounts("openclaw").unwrap()),
        before
    );
    claude(&lab, OTHER);
    for more in [&[][..], &["--no-keyring"], &["--dry-run"]] {
        let report = lab
            .done(&[&["mcp", "import", "--json"], more].concat())
            .json();
        let reason = "there is another server of this name; `--force` replaces it";
        assert_eq!(skipped(&report), [("github", reason), ("unset", reason)]);
    }
    let old = reference(&lab, "github", "GITHUB_TOKEN");
    let run = lab.done(&["mcp", "import", "--force"]);
    let line = format!("note: GITHUB_TOKEN: deleted from the keyring, {old}\n");
    assert!(run.stdout.contains(&line), "{run}");
    assert_eq!(keychain.accounts("openclaw").unwrap().len(), 2);
}

#[test]
fn imported_servers_are_data_for_programs() {
    let (lab, _keychain) = lab!();
    claude(&lab, TOKEN);
    let report = lab.done(&["mcp", "import", "--json"]).json();
    let written = reference(&lab, "github", "GITHUB_TOKEN");
    assert_eq!(
        report["imported"][0]["stored"],
        json!([{ "field": "env.GITHUB_TOKEN", "reference": written }])
    );
    assert_eq!(report["imported"][2]["stored"], json!([]));
}

#[test]
fn a_rehearsal_does_not_ask_for_the_password() {
    let (lab, mut keychain) = lab!();
    claude(&lab, TOKEN);
    lab.done(&["mcp", "import"]);
    keychain.lock().unwrap();
    keychain.stall_prompts().unwrap();
    let begun = Instant::now();
    for more in ["--dry-run", "--no-keyring"] {
        let run = lab.run(&["mcp", "import", "--json", more]);
        let report = run.json();
        let beginning = "there is a server of this name, and whether it is the same can't be \
                         told: the keyring is locked; unlock it";
        let skipped = skipped(&report);
        assert_eq!(skipped.len(), 2, "{report:#}");
        for (_, reason) in skipped {
            assert!(reason.starts_with(beginning), "{reason}");
        }
        assert!(!run.to_string().contains("--force"), "{run}");
    }
    assert!(!keychain.is_prompting());
    assert!(begun.elapsed() < SOON, "{:?}", begun.elapsed());
}

#[test]
fn the_password_is_asked_for_once_and_the_rest_is_left_out_with_what_to_do() {
    let (lab, mut keychain) = lab!();
    claude(&lab, TOKEN);
    keychain.lock().unwrap();
    let run = lab.run(&["mcp", "import", "--json"]);
    assert_eq!(run.code, Some(1), "{run}");
    let report = run.json();
    let skipped = skipped(&report);
    assert_eq!(skipped.len(), 2, "{report:#}");
    for (name, reason) in skipped {
        assert!(reason.contains(&format!("of {name} in the keyring: the keyring is locked")));
        assert!(reason.contains("unlock it in the window"), "{reason}");
        assert!(reason.contains("`--no-keyring`"), "{reason}");
    }
    assert_eq!(keychain.prompts(), 1);
    let servers = servers(&lab);
    assert_eq!(servers["plain"]["command"], "y", "it needs no keyring");
    assert_eq!(servers["github"], Json::Null);
}

#[test]
fn who_stops_an_import_is_told_what_was_done() {
    let (lab, mut keychain) = lab!();
    let text = json!({ "mcpServers": {
        "a": { "command": "y" },
        "b": { "command": "x", "env": { "GITHUB_TOKEN": TOKEN } },
        "c": { "command": "y" },
    }});
    lab.home.write("servers.json", &text.to_string());
    keychain.lock().unwrap();
    keychain.stall_prompts().unwrap();
    let mut child = lab.start(&["mcp", "import", "--from", "servers.json"]);
    assert!(wait_until(SOON, || keychain.is_prompting()));
    send("-INT", child.id());
    assert!(wait_until(SOON, || child.try_wait().unwrap().is_some()));
    let run = lab.home.finish(child.wait_with_output().unwrap());
    assert_eq!(run.code, Some(130), "{run}");
    let end = "1 server imported; written to HOME/.openclaw/openclaw.json\n";
    assert!(run.stdout.ends_with(end), "{run}");
    let written = servers(&lab);
    let names: Vec<&String> = written.as_object().unwrap().keys().collect();
    assert_eq!(names, ["a"]);
}
