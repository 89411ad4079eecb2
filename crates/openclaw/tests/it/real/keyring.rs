//! `openclaw mcp connect`, `import`, `set` and `remove` beside a real keyring.

mod importing;
mod removing;
mod together;
mod trouble;

use std::process::Command;

use openclaw_testkit::keychain::Keychain;
use serde_json::{Value as Json, json};

use crate::lab::Lab;
use crate::program::Run;

const TOKEN: &str = "ghp_0123456789abcdefghijABCDEFGHIJ012345";
const OTHER: &str = "ghp_ABCDEFGHIJ0123450123456789abcdefghij";
/// What a reference to the token of `mine` begins with.
const REFERENCE: &str = "secret://keyring/openclaw/mine.env.GITHUB_TOKEN-";

/// A home directory without servers, beside a keyring; nothing where nobody wants such tests.
macro_rules! lab {
    () => {
        match openclaw_testkit::keychain::Keychain::start().unwrap() {
            Some(keychain) => {
                let mut lab = crate::lab::Lab::empty();
                lab.home.set(keychain.variables());
                (lab, keychain)
            }
            None => return,
        }
    };
}
use lab;

/// What stands in the file.
fn servers(lab: &Lab) -> Json {
    let text: Json = serde_json::from_str(&lab.config_text()).unwrap();
    text["mcp"]["servers"].clone()
}

/// What stands in the file in the place of the token of `mine`.
fn token(lab: &Lab) -> String {
    let servers = servers(lab);
    let value = &servers["mine"]["env"]["GITHUB_TOKEN"];
    value.as_str().unwrap_or_default().to_owned()
}

/// The account of a reference.
fn account(reference: &str) -> &str {
    reference.rsplit('/').next().unwrap()
}

/// What the keyring has under a reference.
fn value(keychain: &Keychain, reference: &str) -> Option<String> {
    keychain.lookup("openclaw", account(reference)).unwrap()
}

/// The command line that adds a program that is not tried, with this token.
fn line<'l>(variable: &'l str, more: &[&'l str]) -> Vec<&'l str> {
    let line = ["mcp", "connect", "--no-check", "--name", "mine", "-e"];
    [&line[..], &[variable], more, &["--", "/nowhere/program"]].concat()
}

/// Adds a program that is not tried, with this token.
fn add(lab: &Lab, token: &str, more: &[&str]) -> Run {
    lab.done(&line(&format!("GITHUB_TOKEN={token}"), more))
}

fn assert_hidden(lab: &Lab, run: &Run) {
    for value in [TOKEN, OTHER] {
        assert!(!run.to_string().contains(value), "{run}");
        assert!(!lab.config_text().contains(value), "{}", lab.config_text());
    }
}

/// Sends a signal to a process.
fn send(signal: &str, process: u32) {
    let process = process.to_string();
    let sent = Command::new("kill").args([signal, &process]).status();
    assert!(sent.unwrap().success());
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
    let reference = token(&lab);
    assert!(reference.starts_with(REFERENCE), "{reference}");
    assert_eq!(
        run.stdout,
        format!(
            "mine: connected, 1 tool; written to HOME/.openclaw/openclaw.json\n\
             GITHUB_TOKEN: stored in the keyring, {reference}\n"
        )
    );
    assert_eq!(run.stderr, "", "nothing is left to be warned about");
    assert_hidden(&lab, &run);
    assert_eq!(
        servers(&lab)["mine"]["env"],
        json!({ "GITHUB_TOKEN": reference, "LEVEL": "7" })
    );
    assert_eq!(value(&keychain, &reference).as_deref(), Some(TOKEN));
}

#[test]
fn the_scheme_of_a_header_stays_in_the_configuration() {
    let (mut lab, keychain) = lab!();
    let url = lab.stranger("http");
    let line = ["mcp", "connect", &url, "--name", "n", "-H"];
    let header = "Authorization=Bearer xyz-0123456789";
    let report = lab.json(&[&line[..], &[header]].concat());
    let reference = report["stored"][0]["reference"].as_str().unwrap();
    assert!(reference.starts_with("secret://keyring/openclaw/n.headers.Authorization-"));
    assert_eq!(
        report["stored"],
        json!([{ "field": "headers.Authorization", "reference": reference }])
    );
    assert_eq!(
        servers(&lab)["n"]["headers"]["Authorization"],
        json!({ "prefix": "Bearer ", "secret": reference })
    );
    let found = value(&keychain, reference);
    assert_eq!(found.as_deref(), Some("xyz-0123456789"));
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
    let written = servers(&lab);
    let reference = written["n"]["headers"]["Authorization"]["secret"].as_str();
    keychain
        .store("openclaw", account(reference.unwrap()), b"abc-9876543210")
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
    assert!(keychain.accounts("openclaw").unwrap().is_empty());
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
    let run = lab.run(&line(
        &variable,
        &["--force", "-e", "B_TOKEN=xyz-0123456789"],
    ));
    assert_ne!(run.code, Some(0), "{run}");
    assert!(keychain.accounts("openclaw").unwrap().is_empty());
}

#[test]
fn a_profile_keeps_its_credentials_apart() {
    let (lab, keychain) = lab!();
    let run = add(&lab, TOKEN, &["--profile", "work"]);
    let reference = "secret://keyring/openclaw-work/mine.env.GITHUB_TOKEN-";
    assert!(run.stdout.contains(reference), "{run}");
    assert_eq!(keychain.accounts("openclaw-work").unwrap().len(), 1);
    assert!(keychain.accounts("openclaw").unwrap().is_empty());
}

#[test]
fn force_replaces_the_credential_of_that_very_server() {
    let (lab, keychain) = lab!();
    add(&lab, TOKEN, &[]);
    let old = token(&lab);
    let run = add(&lab, OTHER, &["--force"]);
    assert_hidden(&lab, &run);
    let new = token(&lab);
    assert_ne!(old, new);
    let lines = format!(
        "GITHUB_TOKEN: stored in the keyring, {new}\n\
         GITHUB_TOKEN: deleted from the keyring, {old}\n"
    );
    assert!(run.stdout.ends_with(&lines), "{run}");
    assert_eq!(value(&keychain, &new).as_deref(), Some(OTHER));
    assert_eq!(keychain.accounts("openclaw").unwrap(), [account(&new)]);
    // Another definition without it leaves nothing behind.
    let line = ["mcp", "connect", "--no-check", "--force", "--name", "mine"];
    let run = lab.done(&[&line[..], &["--", "x"]].concat());
    let deleted = format!("GITHUB_TOKEN: deleted from the keyring, {new}\n");
    assert!(run.stdout.ends_with(&deleted), "{run}");
    assert!(keychain.accounts("openclaw").unwrap().is_empty());
}

#[test]
fn what_is_set_by_hand_leaves_no_entry_behind() {
    let (lab, keychain) = lab!();
    add(&lab, TOKEN, &[]);
    let reference = token(&lab);
    let kept = json!({ "command": "y", "env": { "TOKEN": reference } }).to_string();
    let run = lab.done(&["mcp", "set", "mine", &kept]);
    assert_eq!(
        run.stdout,
        "mine: written to HOME/.openclaw/openclaw.json\n"
    );
    assert_eq!(value(&keychain, &reference).as_deref(), Some(TOKEN));
    let report = lab.json(&["mcp", "set", "mine", r#"{ "command": "y" }"#]);
    let deleted = json!([{ "field": "env.TOKEN", "reference": reference }]);
    assert_eq!(report["deleted"], deleted);
    assert!(keychain.accounts("openclaw").unwrap().is_empty());
}

#[test]
fn a_key_of_several_lines_reaches_the_server_unchanged() {
    let (mut lab, keychain) = lab!();
    let program = lab.unknown_program("--only-tools environment");
    let program: Vec<&str> = program.iter().map(String::as_str).collect();
    let key = "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBg\n-----END PRIVATE KEY-----\n";
    let variable = format!("SSH_PRIVATE_KEY={key}");
    let line = ["mcp", "connect", "--name", "mine", "-e", &variable, "--"];
    let run = lab.done(&[&line[..], &program[..]].concat());
    assert_eq!(run.stderr, "", "{run}");
    let written = servers(&lab);
    let reference = written["mine"]["env"]["SSH_PRIVATE_KEY"].as_str().unwrap();
    assert!(reference.starts_with("secret://keyring/"), "{reference}");
    // Whoever reads it drops one line break.
    assert_eq!(value(&keychain, reference), Some(format!("{key}\n")));
}

#[test]
fn who_wants_no_keyring_gets_the_value_in_the_file() {
    let (lab, keychain) = lab!();
    let run = add(&lab, TOKEN, &["--no-keyring"]);
    assert_eq!(token(&lab), TOKEN);
    let warning = "has plaintext credentials in config — consider using secret:// references \
                   (env.GITHUB_TOKEN)";
    assert!(run.stderr.contains(warning), "FR-5: {run}");
    assert!(!run.stderr.contains("no keyring"), "{run}");
    assert!(keychain.accounts("openclaw").unwrap().is_empty());
}

#[test]
fn copies_with_the_value_in_plain_text_are_pointed_out() {
    let (lab, _keychain) = lab!();
    let run = add(&lab, TOKEN, &[]);
    assert_eq!(run.stderr, "");
    add(&lab, OTHER, &["--force", "--no-keyring"]);
    let run = add(&lab, OTHER, &["--force"]);
    assert_hidden(&lab, &run);
    let (words, directory) = run.stderr.trim().split_once(": delete ").unwrap();
    assert_eq!(
        words,
        "warning: older copies of the configuration still have env.GITHUB_TOKEN in plain text"
    );
    let directory = directory.replace("HOME", lab.home.path().to_str().unwrap());
    std::fs::remove_dir_all(directory).unwrap();
    assert_eq!(add(&lab, OTHER, &["--force"]).stderr, "");
}
