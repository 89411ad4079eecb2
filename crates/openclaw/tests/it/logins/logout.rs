//! `openclaw mcp logout`.

use std::path::PathBuf;

use serde_json::json;

use super::LoginLab;
use crate::program::Run;

fn logout(lab: &LoginLab) -> Run {
    lab.done(&["mcp", "logout", "fake"])
}

/// Where logins are.
fn tokens(lab: &LoginLab) -> PathBuf {
    lab.lab.home.path().join(".openclaw/mcp/tokens")
}

/// The files with logins.
fn logins(lab: &LoginLab) -> Vec<PathBuf> {
    let files = std::fs::read_dir(tokens(lab)).unwrap().flatten();
    let files = files.map(|it| it.path());
    files
        .filter(|it| it.extension().is_some_and(|it| it == "json"))
        .collect()
}

/// How many files there are with logins.
fn files(lab: &LoginLab) -> usize {
    logins(lab).len()
}

#[test]
fn a_login_is_given_back_and_forgotten() {
    let lab = LoginLab::logged_in("");
    assert_eq!(files(&lab), 1);
    let run = logout(&lab);
    assert!(
        run.stdout.contains("also at the authorization server"),
        "{run}"
    );
    assert!(lab.counters().revocations >= 1);
    assert_eq!(files(&lab), 0);
    lab.needs_login();
    let run = logout(&lab);
    assert!(run.stdout.contains("nobody was logged in"), "{run}");
    lab.log_in();
    lab.calls();
}

#[test]
fn where_nothing_can_be_given_back_that_is_told() {
    let lab = LoginLab::logged_in("--no-revocation");
    let run = logout(&lab);
    assert!(run.stdout.contains("offers no way"), "{run}");
    lab.needs_login();
}

#[test]
fn what_the_authorization_server_does_not_take_is_forgotten_all_the_same() {
    let lab = LoginLab::logged_in("--fault revocation-down");
    let run = logout(&lab);
    assert!(run.stdout.contains("was not withdrawn"), "{run}");
    assert!(run.stdout.contains("503"), "{run}");
    assert_eq!(files(&lab), 0);
    lab.needs_login();
}

#[test]
fn programs_are_told_what_became_of_it() {
    let expected = |was_logged_in: bool, revoked: Option<bool>| {
        json!({
            "server": "fake", "wasLoggedIn": was_logged_in, "revoked": revoked, "reason": null,
        })
    };
    let lab = LoginLab::logged_in("");
    let logout = ["mcp", "logout", "fake"];
    assert_eq!(lab.lab.json(&logout), expected(true, Some(true)));
    assert_eq!(lab.lab.json(&logout), expected(false, None));
    lab.log_in();
    lab.server.set_flags("--fault revocation-down").unwrap();
    let report = lab.lab.json(&logout);
    assert_eq!(report["revoked"], false, "{report:#}");
    assert!(
        report["reason"].as_str().unwrap().contains("503"),
        "{report:#}"
    );
    let error = lab.lab.failure(&["mcp", "logout", "nobody"], 2);
    assert_eq!(error["code"], "unknown-server", "{error:#}");
}

#[test]
fn a_login_that_is_under_way_is_given_up_too() {
    let lab = LoginLab::logged_in("");
    let running = lab.begin();
    let address = running.address();
    logout(&lab);
    let run = running.ended();
    assert_eq!(run.code, Some(1), "{run}");
    let back = super::sent_to(&address);
    let run = lab.run(&["mcp", "auth", "fake", "--code", &back]);
    assert_eq!(run.code, Some(1), "{run}");
    lab.needs_login();
}

#[test]
fn who_does_not_use_a_login_any_more_can_still_give_it_back() {
    for more in [
        json!({ "enabled": false }),
        json!({ "apiKey": "a-key-of-some-length" }),
        json!({ "headers": { "Authorization": "Bearer a-token-of-some-length" } }),
        // What is wrong with the rest of a definition does not matter.
        json!({ "connectionTimeoutMs": "soon" }),
        json!({ "apiKey": "${NOT_SET_ANYWHERE}" }),
    ] {
        let lab = LoginLab::logged_in("").place("fake", &more);
        let run = logout(&lab);
        assert!(
            run.stdout.contains("also at the authorization server"),
            "{more}: {run}"
        );
        assert!(lab.counters().revocations >= 1, "{more}");
        assert_eq!(files(&lab), 0, "{more}");
    }
    let lab = LoginLab::logged_in("").place("fake", &json!({ "url": "${NOT_SET_ANYWHERE}" }));
    let error = lab.lab.failure(&["mcp", "logout", "fake"], 2);
    assert_eq!(error["code"], "no-login", "{error:#}");
    assert_eq!(files(&lab), 1);
}

#[test]
fn programs_have_no_login_to_give_up() {
    let lab = LoginLab::new("");
    let lab = lab.lab.server("program", "", json!({}));
    let error = lab.failure(&["mcp", "logout", "program"], 2);
    assert_eq!(error["code"], "no-login", "{error:#}");
}

#[test]
fn a_file_that_is_not_readable_is_deleted_and_that_is_told() {
    let lab = LoginLab::logged_in("");
    let key = tokens(&lab).join("key");
    std::fs::remove_file(&key).unwrap();
    let run = logout(&lab);
    assert!(run.stdout.contains("could not be opened"), "{run}");
    assert!(run.stdout.contains("was not withdrawn"), "{run}");
    assert_eq!(files(&lab), 0);
    assert!(!key.exists(), "nobody needs a key for that");
    assert_eq!(lab.counters().revocations, 0);
}

#[test]
fn a_server_that_is_removed_is_logged_out_of() {
    let lab = LoginLab::logged_in("");
    let run = lab.done(&["mcp", "remove", "fake"]);
    assert!(
        run.stdout.contains("also at the authorization server"),
        "{run}"
    );
    assert!(lab.counters().revocations >= 1);
    assert_eq!(files(&lab), 0);
    let lab = LoginLab::logged_in("").place("fake", &json!({ "enabled": false }));
    let report = lab.lab.json(&["mcp", "remove", "fake"]);
    assert_eq!(report["loggedOut"], true, "{report:#}");
    assert!(lab.counters().revocations >= 1);
    assert_eq!(files(&lab), 0);
}

#[test]
fn of_a_server_that_is_removed_nothing_is_left_where_nobody_had_logged_in() {
    let lab = LoginLab::new("");
    let running = lab.begin();
    running.address();
    assert_eq!(files(&lab), 1);
    let report = lab.lab.json(&["mcp", "remove", "fake"]);
    assert_eq!(report["loggedOut"], false, "{report:#}");
    assert_eq!(files(&lab), 0);
    assert_eq!(running.ended().code, Some(1));
}

#[test]
fn a_login_that_can_not_be_given_up_with_its_server_is_a_warning() {
    let lab = LoginLab::logged_in("");
    let file = logins(&lab).remove(0);
    std::fs::remove_file(&file).unwrap();
    std::fs::create_dir(&file).unwrap();
    let run = lab.done(&["mcp", "remove", "fake", "--json"]);
    let report = run.json();
    assert_eq!(report["removed"], true, "{report:#}");
    assert_eq!(report["loggedOut"], false, "{report:#}");
    let warning = "warning: the login to fake was not given up: ";
    assert!(run.stderr.contains(warning), "{run}");
    assert!(run.stderr.contains("cannot delete"), "{run}");
}

#[test]
fn who_still_has_the_server_stays_logged_in() {
    let lab = LoginLab::logged_in("");
    let url = lab.server.url();
    let lab = LoginLab {
        lab: lab.lab.settings(json!({
            "agents": { "list": [
                { "id": "main", "default": true },
                { "id": "other", "mcp": { "servers": { "fake": { "url": url } } } },
            ] },
        })),
        ..lab
    };
    let report = lab.lab.json(&["mcp", "remove", "fake"]);
    assert_eq!(report["loggedOut"], false, "{report:#}");
    assert_eq!(files(&lab), 1);
    let run = lab.done(&["mcp", "--agent", "other", "call", "fake/echo", "message=hi"]);
    assert_eq!(run.stdout, "hi\n", "{run}");
}
