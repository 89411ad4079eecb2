//! Entries that are deleted, and those that are not.

use std::io::{BufRead as _, BufReader, Read as _};
use std::time::Instant;

use serde_json::{Value as Json, json};

use super::{REFERENCE, TOKEN, account, add, lab, send, servers, token, value};
use crate::lab::SOON;

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
    let reference = token(&lab);
    let run = lab.done(&["mcp", "remove", "mine"]);
    assert_eq!(
        run.stdout,
        format!(
            "mine: deleted from HOME/.openclaw/openclaw.json\n\
             GITHUB_TOKEN: deleted from the keyring, {reference}\n"
        )
    );
    let left = keychain.accounts("openclaw").unwrap();
    assert_eq!(left, ["by-hand"], "it was not ours");
}

#[test]
fn an_entry_that_another_server_uses_stays() {
    let (lab, keychain) = lab!();
    add(&lab, TOKEN, &[]);
    let reference = token(&lab);
    let text = json!({ "command": "y", "env": { "TOKEN": reference } }).to_string();
    lab.done(&["mcp", "set", "other", &text]);
    assert_eq!(lab.json(&["mcp", "remove", "mine"])["deleted"], json!([]));
    assert_eq!(value(&keychain, &reference).as_deref(), Some(TOKEN));
}

#[test]
fn an_entry_that_a_broken_server_names_stays() {
    let (lab, keychain) = lab!();
    add(&lab, TOKEN, &[]);
    let reference = token(&lab);
    let mut text: Json = serde_json::from_str(&lab.config_text()).unwrap();
    // Neither a program nor an address.
    text["mcp"]["servers"]["other"] = json!({ "env": { "TOKEN": reference } });
    lab.home.write(".openclaw/openclaw.json", &text.to_string());
    assert_eq!(lab.json(&["mcp", "remove", "mine"])["deleted"], json!([]));
    assert_eq!(value(&keychain, &reference).as_deref(), Some(TOKEN));
}

#[test]
fn an_entry_that_an_included_file_names_or_may_name_stays() {
    for included in [true, false] {
        let (lab, keychain) = lab!();
        add(&lab, TOKEN, &[]);
        let reference = token(&lab);
        let mut text: Json = serde_json::from_str(&lab.config_text()).unwrap();
        text["models"] = json!({ "providers": { "x": { "$include": "./model.json" } } });
        lab.home.write(".openclaw/openclaw.json", &text.to_string());
        if included {
            let model = json!({ "apiKey": reference });
            lab.home.write(".openclaw/model.json", &model.to_string());
        }
        let run = lab.run(&["mcp", "remove", "mine"]);
        assert!(!run.stdout.contains("deleted from the keyring"), "{run}");
        assert_eq!(value(&keychain, &reference).as_deref(), Some(TOKEN));
    }
}

#[test]
fn an_entry_that_cannot_be_deleted_is_a_warning_with_the_command_that_deletes_it() {
    let (lab, mut keychain) = lab!();
    add(&lab, TOKEN, &["-e", "OTHER_TOKEN=xyz-0123456789"]);
    let reference = token(&lab);
    keychain.lock().unwrap();
    let run = lab.done(&["mcp", "remove", "mine"]);
    assert_eq!(servers(&lab)["mine"], Json::Null);
    let warnings: Vec<&str> = run.stderr.lines().collect();
    assert_eq!(warnings.len(), 2, "{run}");
    let beginning = format!("warning: the keyring still has {reference}, which nothing uses: ");
    assert!(warnings[0].starts_with(&beginning), "{run}");
    assert_eq!(keychain.prompts(), 1, "a person is asked once");
    // What it says to do does it.
    keychain.unlock().unwrap();
    let command = warnings[0].split('`').nth(1).unwrap();
    let words: Vec<&str> = command.split(' ').collect();
    assert_eq!(words[0], "secret-tool");
    keychain.secret_tool(&words[1..], b"").unwrap();
    assert_eq!(value(&keychain, &reference), None);
    assert_eq!(keychain.accounts("openclaw").unwrap().len(), 1);
}

#[test]
fn that_a_server_is_deleted_is_said_before_the_keyring_is_asked() {
    let (lab, mut keychain) = lab!();
    add(&lab, TOKEN, &[]);
    keychain.lock().unwrap();
    keychain.stall_prompts().unwrap();
    let begun = Instant::now();
    let mut child = lab.start(&["mcp", "remove", "mine"]);
    let mut first = String::new();
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    stdout.read_line(&mut first).unwrap();
    assert!(first.starts_with("mine: deleted from "), "{first}");
    let mut stderr = BufReader::new(child.stderr.take().unwrap());
    let mut waiting = String::new();
    stderr.read_line(&mut waiting).unwrap();
    assert!(
        waiting.starts_with("waiting for the keyring to be unlocked"),
        "{waiting}"
    );
    send("-INT", child.id());
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert!(begun.elapsed() < SOON, "{:?}", begun.elapsed());
    let mut rest = String::new();
    stderr.read_to_string(&mut rest).unwrap();
    assert!(rest.contains("warning: the keyring still has"), "{rest}");
    assert!(rest.contains("`secret-tool clear service openclaw username"));
    assert_eq!(servers(&lab)["mine"], Json::Null);
}

#[test]
fn what_another_configuration_has_made_is_left_alone() {
    let (lab, keychain) = lab!();
    add(&lab, TOKEN, &[]);
    let reference = token(&lab);
    assert!(reference.starts_with(REFERENCE));
    // A copy of the file refers to the entry of the first.
    lab.home.write("copy.json", &lab.config_text());
    let copy = ["--config", "copy.json"];
    let removed = lab.json(&[&["mcp", "remove", "mine"], &copy[..]].concat());
    assert_eq!(removed["deleted"], json!([]));
    assert_eq!(value(&keychain, &reference).as_deref(), Some(TOKEN));
    // It gets one of its own, even for the same value.
    add(&lab, TOKEN, &copy);
    let accounts = keychain.accounts("openclaw").unwrap();
    assert_eq!(accounts.len(), 2, "{accounts:?}");
    add(&lab, "xyz-0123456789", &["--force", copy[0], copy[1]]);
    assert_eq!(value(&keychain, &reference).as_deref(), Some(TOKEN));
    let removed = lab.json(&[&["mcp", "remove", "mine"], &copy[..]].concat());
    assert_eq!(removed["deleted"].as_array().unwrap().len(), 1);
    assert_eq!(
        keychain.accounts("openclaw").unwrap(),
        [account(&reference)]
    );
}
