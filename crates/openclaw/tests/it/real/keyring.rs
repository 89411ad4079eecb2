//! `openclaw mcp connect`, `import` and `remove` beside a real keyring.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use openclaw_testkit::keychain::Keychain;
use openclaw_testkit::leaks::wait_until;
use serde_json::{Value as Json, json};

use crate::lab::{Lab, SOON};
use crate::program::Run;

const TOKEN: &str = "ghp_0123456789abcdefghijABCDEFGHIJ012345";
const OTHER: &str = "ghp_ABCDEFGHIJ0123450123456789abcdefghij";
const REFERENCE: &str = "secret://keyring/openclaw/mine.env.GITHUB_TOKEN";
const ACCOUNT: &str = "mine.env.GITHUB_TOKEN";

/// A home directory without servers, beside a keyring; nothing where nobody wants such tests.
macro_rules! lab {
    () => {
        match Keychain::start().unwrap() {
            Some(keychain) => {
                let mut lab = Lab::empty();
                lab.home.set(keychain.variables());
                (lab, keychain)
            }
            None => return,
        }
    };
}

/// What stands in the file.
fn servers(lab: &Lab) -> Json {
    let text: Json = serde_json::from_str(&lab.config_text()).unwrap();
    text["mcp"]["servers"].clone()
}

/// Adds a program that is not tried, with this token.
fn add(lab: &Lab, token: &str, more: &[&str]) -> Run {
    let variable = format!("GITHUB_TOKEN={token}");
    let line = [
        "mcp",
        "connect",
        "--no-check",
        "--name",
        "mine",
        "-e",
        &variable,
    ];
    lab.done(&[&line[..], more, &["--", "/nowhere/program"]].concat())
}

fn assert_hidden(lab: &Lab, run: &Run) {
    for value in [TOKEN, OTHER] {
        assert!(!run.to_string().contains(value), "{run}");
        assert!(!lab.config_text().contains(value), "{}", lab.config_text());
    }
}

#[test]
fn a_credential_is_stored_once_the_server_was_reached() {
    let (mut lab, keychain) = lab!();
    let program = lab.unknown_program("--only-tools echo");
    let program: Vec<&str> = program.iter().map(String::as_str).collect();
    let variable = format!("GITHUB_TOKEN={TOKEN}");
    let line = [
        "mcp", "connect", "--name", "mine", "-e", &variable, "-e", "LEVEL=7", "--",
    ];
    let run = lab.done(&[&line[..], &program[..]].concat());
    assert_eq!(
        run.stdout,
        format!(
            "mine: connected, 1 tool; written to HOME/.openclaw/openclaw.json\n\
             GITHUB_TOKEN: stored in the keyring, {REFERENCE}\n"
        )
    );
    assert_eq!(run.stderr, "", "nothing is left to be warned about");
    assert_hidden(&lab, &run);
    assert_eq!(
        servers(&lab)["mine"]["env"],
        json!({ "GITHUB_TOKEN": REFERENCE, "LEVEL": "7" })
    );
    let found = keychain.lookup("openclaw", ACCOUNT).unwrap();
    assert_eq!(found.as_deref(), Some(TOKEN));
}

#[test]
fn the_scheme_of_a_header_stays_in_the_configuration() {
    let (mut lab, keychain) = lab!();
    let url = lab.stranger("http");
    let line = ["mcp", "connect", &url, "--name", "n", "-H"];
    let header = "Authorization=Bearer xyz-0123456789";
    let report = lab.json(&[&line[..], &[header]].concat());
    let reference = "secret://keyring/openclaw/n.headers.Authorization";
    assert_eq!(
        report["stored"],
        json!([{ "field": "headers.Authorization", "reference": reference }])
    );
    assert_eq!(
        servers(&lab)["n"]["headers"]["Authorization"],
        json!({ "prefix": "Bearer ", "secret": reference })
    );
    let found = keychain.lookup("openclaw", "n.headers.Authorization");
    assert_eq!(found.unwrap().as_deref(), Some("xyz-0123456789"));
}

#[test]
fn what_was_stored_reaches_the_server_in_every_command_from_then_on() {
    let (mut lab, keychain) = lab!();
    let url = lab.stranger("http");
    let line = ["mcp", "connect", &url, "--name", "n", "-H"];
    lab.done(&[&line[..], &["Authorization=Bearer xyz-0123456789"]].concat());
    let report = lab.json(&["doctor"]);
    assert_eq!(report["ok"], true, "{report:#}");
    // It was changed in the keyring, by somebody else: the next command has the new one.
    keychain
        .store("openclaw", "n.headers.Authorization", b"abc-9876543210")
        .unwrap();
    let run = lab.done(&["mcp", "call", "n/headers"]);
    assert!(run.stdout.contains("Bearer [REDACTED]"), "{run}");
    assert!(!run.to_string().contains("abc-9876543210"), "{run}");
    let heard = lab.heard_at_address();
    assert!(
        heard.contains("\"authorization\":\"Bearer abc-9876543210\""),
        "{heard}"
    );
}

#[test]
fn nothing_is_stored_for_a_server_that_is_not_reached() {
    let (mut lab, keychain) = lab!();
    let before = lab.config_text();
    let program = lab.unknown_program("--exit-after 1");
    let program: Vec<&str> = program.iter().map(String::as_str).collect();
    let variable = format!("GITHUB_TOKEN={TOKEN}");
    let line = ["mcp", "connect", "--name", "mine", "-e", &variable, "--"];
    let run = lab.run(&[&line[..], &program[..]].concat());
    assert_eq!(run.code, Some(1), "{run}");
    assert_eq!(keychain.lookup("openclaw", ACCOUNT).unwrap(), None);
    assert_eq!(lab.config_text(), before);
}

#[test]
fn nothing_stays_stored_where_the_configuration_cannot_be_written() {
    let (mut lab, keychain) = lab!();
    // A server that an included file has can't be replaced here.
    lab.home.write(
        ".openclaw/servers.json",
        r#"{ "servers": { "mine": { "command": "x" } } }"#,
    );
    lab = lab.settings(json!({ "mcp": { "$include": "./servers.json" } }));
    let variable = format!("GITHUB_TOKEN={TOKEN}");
    let line = [
        "mcp",
        "connect",
        "--no-check",
        "--force",
        "--name",
        "mine",
        "-e",
        &variable,
    ];
    let run = lab.run(&[&line[..], &["--", "/nowhere/program"]].concat());
    assert_ne!(run.code, Some(0), "{run}");
    assert_eq!(keychain.lookup("openclaw", ACCOUNT).unwrap(), None);
}

#[test]
fn a_profile_keeps_its_credentials_apart() {
    let (lab, keychain) = lab!();
    let variable = format!("GITHUB_TOKEN={TOKEN}");
    let line = [
        "--profile",
        "work",
        "mcp",
        "connect",
        "--no-check",
        "--name",
        "mine",
    ];
    let run = lab.done(&[&line[..], &["-e", &variable, "--", "x"]].concat());
    let reference = "secret://keyring/openclaw-work/mine.env.GITHUB_TOKEN";
    assert!(run.stdout.contains(reference), "{run}");
    let found = keychain.lookup("openclaw-work", ACCOUNT).unwrap();
    assert_eq!(found.as_deref(), Some(TOKEN));
    assert_eq!(keychain.lookup("openclaw", ACCOUNT).unwrap(), None);
}

#[test]
fn an_entry_of_somebody_else_is_not_overwritten() {
    let (lab, keychain) = lab!();
    keychain
        .store("openclaw", ACCOUNT, OTHER.as_bytes())
        .unwrap();
    let run = add(&lab, TOKEN, &[]);
    assert_hidden(&lab, &run);
    let second = format!("{REFERENCE}-2");
    assert_eq!(servers(&lab)["mine"]["env"]["GITHUB_TOKEN"], second);
    let found = |account: &str| keychain.lookup("openclaw", account).unwrap();
    assert_eq!(found(ACCOUNT).as_deref(), Some(OTHER));
    assert_eq!(found(&format!("{ACCOUNT}-2")).as_deref(), Some(TOKEN));
}

#[test]
fn an_entry_with_the_same_value_is_used_again() {
    let (lab, keychain) = lab!();
    keychain
        .store("openclaw", ACCOUNT, TOKEN.as_bytes())
        .unwrap();
    add(&lab, TOKEN, &[]);
    assert_eq!(servers(&lab)["mine"]["env"]["GITHUB_TOKEN"], REFERENCE);
    let second = format!("{ACCOUNT}-2");
    assert_eq!(keychain.lookup("openclaw", &second).unwrap(), None);
}

#[test]
fn force_replaces_the_credential_of_that_very_server() {
    let (lab, keychain) = lab!();
    add(&lab, TOKEN, &[]);
    let run = add(&lab, OTHER, &["--force"]);
    assert_hidden(&lab, &run);
    assert_eq!(servers(&lab)["mine"]["env"]["GITHUB_TOKEN"], REFERENCE);
    let found = keychain.lookup("openclaw", ACCOUNT).unwrap();
    assert_eq!(found.as_deref(), Some(OTHER));
    // Another definition without it leaves nothing behind.
    let line = [
        "mcp",
        "connect",
        "--no-check",
        "--force",
        "--name",
        "mine",
        "--",
        "x",
    ];
    let run = lab.done(&line);
    let deleted = format!("GITHUB_TOKEN: deleted from the keyring, {REFERENCE}\n");
    assert!(run.stdout.ends_with(&deleted), "{run}");
    assert_eq!(keychain.lookup("openclaw", ACCOUNT).unwrap(), None);
}

#[test]
fn without_a_keyring_the_value_is_written_and_it_is_said_why() {
    let Some(keychain) = Keychain::without_keyring().unwrap() else {
        return;
    };
    let mut lab = Lab::empty();
    lab.home.set(keychain.variables());
    let run = add(&lab, TOKEN, &[]);
    assert_eq!(servers(&lab)["mine"]["env"]["GITHUB_TOKEN"], TOKEN);
    assert!(!run.to_string().contains(TOKEN), "{run}");
    assert!(
        run.stderr.contains("has plaintext credentials"),
        "FR-5: {run}"
    );
    let reason = "warning: no keyring: no Secret Service runs on the session bus: install";
    assert!(run.stderr.contains(reason), "{run}");
}

#[test]
fn who_wants_no_keyring_gets_the_value_in_the_file() {
    let (lab, keychain) = lab!();
    let run = add(&lab, TOKEN, &["--no-keyring"]);
    assert_eq!(servers(&lab)["mine"]["env"]["GITHUB_TOKEN"], TOKEN);
    assert!(
        run.stderr.contains("has plaintext credentials"),
        "FR-5: {run}"
    );
    assert!(!run.stderr.contains("no keyring"), "{run}");
    assert_eq!(keychain.lookup("openclaw", ACCOUNT).unwrap(), None);
}

#[test]
fn a_locked_keyring_is_a_failure_and_nothing_is_written() {
    let (lab, mut keychain) = lab!();
    keychain.lock().unwrap();
    let before = lab.config_text();
    let variable = format!("GITHUB_TOKEN={TOKEN}");
    let line = [
        "mcp",
        "connect",
        "--no-check",
        "--name",
        "mine",
        "-e",
        &variable,
    ];
    let error = lab.failure(&[&line[..], &["-e", "X_KEY=k1k2k3k4"]].concat(), 2);
    assert_eq!(error["code"], "usage", "a program is missing");
    let line = [&line[..], &["--json", "--", "x"]].concat();
    let run = lab.run(&line);
    assert_eq!(run.code, Some(1), "{run}");
    let error = run.json()["error"].clone();
    assert_eq!(error["code"], "keyring", "{error}");
    assert_eq!(
        error["message"],
        "cannot keep env.GITHUB_TOKEN of mine in the keyring: the keyring is locked, and its \
         password was not given"
    );
    assert!(
        error["hint"].as_str().unwrap().contains("--no-keyring"),
        "{error}"
    );
    assert_eq!(lab.config_text(), before);
}

#[test]
fn whoever_waits_for_the_password_can_be_stopped() {
    let (lab, mut keychain) = lab!();
    keychain.lock().unwrap();
    keychain.stall_prompts().unwrap();
    let before = lab.config_text();
    let variable = format!("GITHUB_TOKEN={TOKEN}");
    let line = [
        "mcp",
        "connect",
        "--no-check",
        "--name",
        "mine",
        "-e",
        &variable,
        "--",
        "x",
    ];
    let mut child = lab
        .home
        .command(&line)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    assert!(wait_until(SOON, || keychain.is_prompting()));
    let begun = Instant::now();
    let pid = child.id().to_string();
    Command::new("kill").args(["-INT", &pid]).status().unwrap();
    let ended = wait_until(SOON, || child.try_wait().unwrap().is_some());
    assert!(ended, "it did not end within {:?}", begun.elapsed());
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert!(
        begun.elapsed() < Duration::from_secs(5),
        "{:?}",
        begun.elapsed()
    );
    assert_eq!(lab.config_text(), before);
}

/// The servers of another client.
fn claude(lab: &Lab) {
    let text = json!({ "mcpServers": {
        "github": { "command": "npx", "args": ["-y", "x"], "env": { "GITHUB_TOKEN": TOKEN } },
        "sql": { "command": "x", "args": ["postgresql://u:hunter2hunter2@localhost/db"] },
        "plain": { "command": "y" },
    }});
    let file = ".config/Claude/claude_desktop_config.json";
    lab.home.write(file, &text.to_string());
}

#[test]
fn what_is_imported_has_its_credentials_in_the_keyring() {
    let (lab, keychain) = lab!();
    claude(&lab);
    let account = "github.env.GITHUB_TOKEN";
    let reference = format!("secret://keyring/openclaw/{account}");
    let before = lab.config_text();
    let run = lab.done(&["mcp", "import", "--dry-run"]);
    let line = format!("GITHUB_TOKEN: would be stored in the keyring, {reference}\n");
    assert!(run.stdout.contains(&line), "{run}");
    assert_hidden(&lab, &run);
    assert_eq!(keychain.lookup("openclaw", account).unwrap(), None);
    assert_eq!(lab.config_text(), before);

    let run = lab.done(&["mcp", "import"]);
    let line = format!("GITHUB_TOKEN: stored in the keyring, {reference}\n");
    assert!(run.stdout.contains(&line), "{run}");
    assert!(
        run.stderr.contains("MCP server 'sql' has plaintext"),
        "{run}"
    );
    assert!(!run.stderr.contains("'github'"), "{run}");
    assert_hidden(&lab, &run);
    let servers = servers(&lab);
    assert_eq!(servers["github"]["env"]["GITHUB_TOKEN"], reference);
    let argument = servers["sql"]["args"][0].as_str().unwrap();
    assert!(argument.contains("hunter2"), "no reference can stand there");
    let found = keychain.lookup("openclaw", account).unwrap();
    assert_eq!(found.as_deref(), Some(TOKEN));

    let again = lab.done(&["mcp", "import", "--json"]).json();
    let github = &again["imported"][0];
    assert_eq!(github["name"], "github", "{again:#}");
    assert_eq!(github["written"], false, "{again:#}");
    assert_eq!(
        github["notes"],
        json!(["it is there already, with the same definition"])
    );
    assert_eq!(again["skipped"], json!([]));
}

#[test]
fn imported_servers_are_data_for_programs() {
    let (lab, _keychain) = lab!();
    claude(&lab);
    let run = lab.done(&["mcp", "import", "--json"]);
    let report = run.json();
    assert_eq!(
        report["imported"][0]["stored"],
        json!([{
            "field": "env.GITHUB_TOKEN",
            "reference": "secret://keyring/openclaw/github.env.GITHUB_TOKEN",
        }])
    );
    assert_eq!(report["imported"][2]["stored"], json!([]));
}

#[test]
fn a_removed_server_takes_its_entries_with_it() {
    let (lab, keychain) = lab!();
    keychain
        .store("openclaw", "by-hand", b"by-hand-value")
        .unwrap();
    add(
        &lab,
        TOKEN,
        &["-e", "OTHER_TOKEN=secret://keyring/openclaw/by-hand"],
    );
    let run = lab.done(&["mcp", "remove", "mine"]);
    assert_eq!(
        run.stdout,
        format!(
            "mine: deleted from HOME/.openclaw/openclaw.json\n\
             GITHUB_TOKEN: deleted from the keyring, {REFERENCE}\n"
        )
    );
    assert_eq!(keychain.lookup("openclaw", ACCOUNT).unwrap(), None);
    let by_hand = keychain.lookup("openclaw", "by-hand").unwrap();
    assert_eq!(by_hand.as_deref(), Some("by-hand-value"), "it was not ours");
}

#[test]
fn an_entry_that_another_server_uses_stays() {
    let (lab, keychain) = lab!();
    add(&lab, TOKEN, &[]);
    let text = json!({ "command": "y", "env": { "TOKEN": REFERENCE } }).to_string();
    lab.done(&["mcp", "set", "other", &text]);
    assert_eq!(lab.json(&["mcp", "remove", "mine"])["deleted"], json!([]));
    let found = keychain.lookup("openclaw", ACCOUNT).unwrap();
    assert_eq!(found.as_deref(), Some(TOKEN));
}

#[test]
fn an_entry_that_cannot_be_deleted_is_a_warning() {
    let (lab, mut keychain) = lab!();
    add(&lab, TOKEN, &[]);
    keychain.lock().unwrap();
    let run = lab.done(&["mcp", "remove", "mine"]);
    let warning = format!("warning: the keyring still has {REFERENCE}, which nothing uses: ");
    assert!(run.stderr.starts_with(&warning), "{run}");
    assert_eq!(servers(&lab)["mine"], Json::Null);
}
