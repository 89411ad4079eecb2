//! Several commands at once, and one that is killed in the middle.

use std::fs::File;

use openclaw_testkit::leaks::wait_until;
use serde_json::json;

use super::{OTHER, TOKEN, account, add, lab, line, servers, token, value};
use crate::lab::SOON;

#[test]
fn of_two_who_add_the_same_server_one_does_and_leaves_nothing_of_the_other() {
    let (lab, keychain) = lab!();
    for round in 0..5 {
        let values = [format!("{TOKEN}{round}"), format!("{OTHER}{round}")];
        let children: Vec<_> = values
            .iter()
            .map(|value| lab.start(&line(&format!("GITHUB_TOKEN={value}"), &[])))
            .collect();
        let runs: Vec<_> = children
            .into_iter()
            .map(|it| lab.home.finish(it.wait_with_output().unwrap()))
            .collect();
        let winners: Vec<usize> = (0..2).filter(|it| runs[*it].code == Some(0)).collect();
        assert_eq!(winners.len(), 1, "{} {}", runs[0], runs[1]);
        let reference = token(&lab);
        let found = value(&keychain, &reference);
        assert_eq!(found.as_ref(), Some(&values[winners[0]]));
        let accounts = keychain.accounts("openclaw").unwrap();
        assert_eq!(accounts, [account(&reference)]);
        lab.done(&["mcp", "remove", "mine"]);
    }
}

#[test]
fn of_two_who_replace_a_server_the_last_one_stays_with_its_credential() {
    let (lab, keychain) = lab!();
    add(&lab, "xyz-0123456789", &[]);
    for round in 0..5 {
        let values = [format!("{TOKEN}{round}"), format!("{OTHER}{round}")];
        let children: Vec<_> = values
            .iter()
            .map(|value| lab.start(&line(&format!("GITHUB_TOKEN={value}"), &["--force"])))
            .collect();
        for child in children {
            let run = lab.home.finish(child.wait_with_output().unwrap());
            assert_eq!(run.code, Some(0), "{run}");
        }
        let reference = token(&lab);
        let found = value(&keychain, &reference).unwrap();
        assert!(values.contains(&found), "{found}");
        let accounts = keychain.accounts("openclaw").unwrap();
        assert_eq!(accounts, [account(&reference)], "nothing else is left");
    }
}

#[test]
fn servers_that_are_added_at_once_all_have_their_credentials() {
    let (lab, keychain) = lab!();
    let names: Vec<String> = (0..6).map(|number| format!("server-{number}")).collect();
    let children: Vec<_> = names
        .iter()
        .map(|name| {
            let variable = format!("GITHUB_TOKEN={TOKEN}{name}");
            let line = ["mcp", "connect", "--no-check", "--name", name, "-e"];
            lab.start(&[&line[..], &[&variable, "--", "x"]].concat())
        })
        .collect();
    for child in children {
        let run = lab.home.finish(child.wait_with_output().unwrap());
        assert_eq!(run.code, Some(0), "{run}");
    }
    let servers = servers(&lab);
    for name in &names {
        let reference = servers[name]["env"]["GITHUB_TOKEN"].as_str().unwrap();
        assert_eq!(value(&keychain, reference), Some(format!("{TOKEN}{name}")));
    }
}

#[test]
fn one_that_is_killed_between_keyring_and_file_changes_nothing_for_the_server() {
    let (lab, keychain) = lab!();
    add(&lab, TOKEN, &[]);
    let (before, old) = (lab.config_text(), token(&lab));
    // It can store the new credential, and not write the file.
    let lock = lab.home.path().join(".openclaw/mcp/config.lock");
    let lock = File::options().write(true).open(lock).unwrap();
    lock.lock().unwrap();
    let variable = format!("GITHUB_TOKEN={OTHER}");
    let mut child = lab.start(&line(&variable, &["--force"]));
    let is_stored = || keychain.accounts("openclaw").unwrap().len() == 2;
    assert!(wait_until(SOON, is_stored));
    child.kill().unwrap();
    child.wait().unwrap();
    lock.unlock().unwrap();
    assert_eq!(lab.config_text(), before);
    assert_eq!(value(&keychain, &old).as_deref(), Some(TOKEN));
    // And the next one does it.
    add(&lab, OTHER, &["--force"]);
    assert_eq!(value(&keychain, &token(&lab)).as_deref(), Some(OTHER));
    assert_eq!(value(&keychain, &old), None);
    assert_eq!(lab.json(&["mcp", "remove", "mine"])["removed"], json!(true));
}

#[test]
fn what_was_stored_is_taken_back_where_the_file_stays_locked() {
    let (lab, keychain) = lab!();
    add(&lab, TOKEN, &[]);
    let old = token(&lab);
    let lock = lab.home.path().join(".openclaw/mcp/config.lock");
    let lock = File::options().write(true).open(lock).unwrap();
    lock.lock().unwrap();
    let variable = format!("GITHUB_TOKEN={OTHER}");
    let error = lab.failure(&line(&variable, &["--force", "--json"])[..], 1);
    assert_eq!(error["code"], "config-write");
    assert_eq!(keychain.accounts("openclaw").unwrap(), [account(&old)]);
}
