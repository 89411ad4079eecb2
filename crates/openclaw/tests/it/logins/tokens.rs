//! What becomes of a login in the commands that follow: shown, used, renewed, ended.

use std::os::unix::fs::PermissionsExt as _;
use std::time::{Duration, SystemTime};

use openclaw_testkit::leaks::wait_until;
use serde_json::{Value as Json, json};

use super::{CALL, LoginLab, parameter};

/// How long it may take until tokens that live for seconds have been renewed often enough.
const PATIENCE: Duration = Duration::from_secs(30);
/// Tokens that live so long are renewed after three seconds.
const SHORT: &str = "--lifetime 4";

/// Calls until tokens were renewed so often; no call may fail.
fn call_until_renewed(lab: &LoginLab, times: u64) {
    let renewed = wait_until(PATIENCE, || {
        lab.calls();
        lab.counters().refreshes >= times
    });
    assert!(renewed, "{:?}", lab.counters());
}

#[test]
fn without_a_login_everything_says_how_to_log_in() {
    let lab = LoginLab::new("");
    lab.needs_login();
    let list = lab.done(&["mcp", "servers"]);
    assert!(list.stdout.contains("openclaw mcp auth fake"), "{list}");
    let tools = lab.run(&["mcp", "tools", "fake"]);
    assert_eq!(tools.code, Some(1), "{tools}");
    assert!(tools.stderr.contains("`openclaw mcp auth fake`"), "{tools}");
    let error = lab.lab.failure(&CALL, 1);
    assert!(
        error.to_string().contains("openclaw mcp auth fake"),
        "{error:#}"
    );
    assert_eq!(lab.counters().registrations, 0, "nobody is asked");
    let key = lab.lab.home.path().join(".openclaw/mcp/tokens/key");
    assert!(!key.exists(), "there is nothing to seal");
}

#[test]
fn a_login_is_shown_with_its_end_its_scopes_and_its_issuer() {
    let lab = LoginLab::logged_in("--lifetime 3045");
    let status = lab.status();
    assert_eq!(status["state"], "ready", "{status:#}");
    assert_eq!(status["auth"], "oauth");
    assert_eq!(status["issuer"], lab.server.issuer());
    assert_eq!(status["scopes"], json!(["tools"]));
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    let now = now.unwrap().as_secs();
    let ends = seconds(status["tokenExpiresAt"].as_str().unwrap());
    assert!((now + 3000..=now + 3045).contains(&ends), "{status:#}");
    let text = lab.done(&["mcp", "status", "fake"]);
    for words in [
        &lab.server.issuer()[..],
        "Scopes:",
        "tools",
        "Token ends:",
        ", renewed by itself",
    ] {
        assert!(text.stdout.contains(words), "{words}: {text}");
    }
    let list = lab.done(&["mcp", "servers"]);
    assert!(list.stdout.contains("(expires 50m)"), "{list}");
}

/// A moment as seconds since 1970.
fn seconds(moment: &str) -> u64 {
    let output = std::process::Command::new("date")
        .args(["--utc", "--date", moment, "+%s"])
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    text.trim().parse().unwrap_or_else(|_| panic!("{moment}"))
}

#[test]
fn a_token_is_renewed_before_it_expires_and_rotation_is_honoured() {
    let lab = LoginLab::logged_in(SHORT);
    call_until_renewed(&lab, 2);
    let counters = lab.counters();
    assert_eq!((counters.reuses, counters.exchanges), (0, 1));
    assert_eq!(counters.refreshes, counters.refreshes_arrived);
}

#[test]
fn a_refresh_token_that_is_not_replaced_stays() {
    let lab = LoginLab::logged_in(&format!("{SHORT} --keep-refresh-token"));
    call_until_renewed(&lab, 2);
    assert_eq!(lab.counters().exchanges, 1);
}

#[test]
fn a_token_that_is_refused_is_renewed_and_the_call_repeated_in_the_same_command() {
    let lab = LoginLab::logged_in("");
    for times in 1..=3 {
        lab.server.revoke_access();
        lab.calls();
        let counters = lab.counters();
        assert_eq!(counters.refreshes, times);
    }
    assert_eq!(lab.counters().reuses, 0);
}

#[test]
fn a_login_that_was_withdrawn_is_over_and_nobody_asks_again() {
    let lab = LoginLab::logged_in("");
    lab.server.revoke_all();
    let run = lab.needs_login();
    assert!(run.stderr.contains("the login has ended"), "{run}");
    let asked = lab.counters().refreshes_arrived;
    assert_eq!(asked, 1);
    lab.needs_login();
    assert_eq!(lab.counters().refreshes_arrived, asked);
    let status = lab.run(&["mcp", "status", "fake"]);
    assert!(status.stdout.contains("openclaw mcp auth fake"), "{status}");
    lab.log_in();
    lab.calls();
}

#[test]
fn a_client_that_was_forgotten_ends_the_login_and_registers_anew() {
    let lab = LoginLab::logged_in("");
    lab.server.forget_clients();
    lab.server.revoke_access();
    lab.needs_login();
    lab.log_in();
    lab.calls();
    assert_eq!(lab.counters().registrations, 2);
}

#[test]
fn trouble_at_the_authorization_server_ends_no_login() {
    for failure in ["503", "429", "html", "hang-up"] {
        let lab = LoginLab::logged_in("");
        lab.server.revoke_access();
        let flags = format!("--fail-refresh {failure}");
        lab.server.set_flags(&flags).unwrap();
        for _ in 0..2 {
            let run = lab.run(&CALL);
            assert_eq!(run.code, Some(1), "{failure}: {run}");
            assert!(
                run.stderr.contains("can't be renewed now"),
                "{failure}: {run}"
            );
            assert!(!run.stderr.contains("mcp auth"), "{failure}: {run}");
        }
        assert_ne!(lab.state(), "needs-auth", "{failure}");
        lab.server.set_flags("").unwrap();
        lab.calls();
        assert_eq!(lab.counters().exchanges, 1, "{failure}");
    }
}

#[test]
fn an_authorization_server_that_never_answers_costs_no_more_than_the_patience_for_calls() {
    let lab = LoginLab::with("", &json!({ "connectionTimeoutMs": 2_000 }));
    lab.log_in();
    lab.server.revoke_access();
    lab.server.set_flags("--fail-refresh hang").unwrap();
    let begun = std::time::Instant::now();
    let run = lab.run(&CALL);
    assert_eq!(run.code, Some(1), "{run}");
    let took = begun.elapsed();
    assert!(took < Duration::from_secs(45), "{took:?}: {run}");
    lab.server.set_flags("").unwrap();
    lab.calls();
}

#[test]
fn a_token_that_is_good_for_a_while_is_used_though_it_cannot_be_renewed() {
    // Its last quarter, in which it is to be renewed, takes four seconds.
    let lab = LoginLab::logged_in("--lifetime 16");
    lab.server.set_flags("--fail-refresh 503").unwrap();
    let is_tried = wait_until(PATIENCE, || {
        lab.calls();
        lab.counters().refreshes_arrived > 0
    });
    assert!(is_tried, "{:?}", lab.counters());
    assert_eq!(lab.counters().refreshes, 0, "{:?}", lab.counters());
    lab.server.set_flags("").unwrap();
    call_until_renewed(&lab, 1);
    assert_eq!(lab.counters().exchanges, 1);
}

#[test]
fn who_wants_more_than_the_login_allows_is_told_and_the_next_login_asks_for_all_of_it() {
    let lab = LoginLab::logged_in("");
    let admin = ["mcp", "call", "fake/admin"];
    for _ in 0..2 {
        let run = lab.run(&admin);
        assert_eq!(run.code, Some(1), "{run}");
        assert!(run.stderr.contains("`openclaw mcp auth fake`"), "{run}");
        assert!(run.stderr.contains("admin"), "what is missing: {run}");
    }
    assert_eq!(lab.counters().forbidden, 2, "it is not tried in vain");
    // For everything else the login is good.
    lab.calls();
    assert_eq!(lab.state(), "ready");
    let running = lab.begin();
    let address = running.address();
    let scope = parameter(&address, "scope");
    let mut scopes: Vec<&str> = scope.split(' ').collect();
    scopes.sort_unstable();
    assert_eq!(scopes, ["admin", "tools"]);
    assert_eq!(super::get(&super::sent_to(&address)).status, 200);
    assert_eq!(running.ended().code, Some(0));
    lab.done(&admin);
    lab.calls();
    assert_eq!(lab.status()["scopes"].as_array().unwrap().len(), 2);
    // What was renewed allows as much.
    lab.server.revoke_access();
    lab.done(&admin);
    assert_eq!(lab.counters().refreshes, 1);
}

#[test]
fn scopes_that_are_never_granted_are_not_asked_for_without_end() {
    let lab = LoginLab::logged_in("--withhold admin");
    let admin = ["mcp", "call", "fake/admin"];
    assert_eq!(lab.run(&admin).code, Some(1));
    lab.log_in();
    let before = lab.counters();
    let run = lab.run(&admin);
    assert_eq!(run.code, Some(1), "{run}");
    let after = lab.counters();
    assert!(after.forbidden - before.forbidden <= 3, "{after:?}");
    assert_eq!(after.token_requests, before.token_requests);
    lab.calls();
}

#[test]
fn tokens_in_odd_shapes_are_as_good() {
    for fault in [
        "odd-token-type",
        "no-expiry",
        "text-expiry",
        "no-scope",
        "no-token-type",
    ] {
        let lab = LoginLab::logged_in(&format!("--fault {fault}"));
        lab.calls();
        assert_eq!(lab.state(), "ready", "{fault}");
        lab.server.revoke_access();
        lab.calls();
        assert_eq!(lab.counters().refreshes, 1, "{fault}");
    }
}

#[test]
fn a_login_without_a_refresh_token_says_so_and_ends_with_its_token() {
    let lab = LoginLab::new("--no-refresh-token");
    let run = lab.log_in();
    assert!(run.stdout.contains("log in again"), "{run}");
    lab.calls();
    lab.server.revoke_access();
    lab.needs_login();
    assert_eq!(lab.counters().refreshes_arrived, 0);
    lab.log_in();
    lab.calls();
}

#[test]
fn a_refresh_token_is_asked_for_where_that_takes_a_scope() {
    let lab = LoginLab::logged_in("--offline-access");
    assert!(
        lab.status()["scopes"]
            .to_string()
            .contains("offline_access")
    );
    lab.server.revoke_access();
    lab.calls();
    assert_eq!(lab.counters().refreshes, 1);
}

/// What `openclaw doctor` says about the login.
fn doctor(lab: &LoginLab) -> Json {
    let report = lab.run(&["mcp", "doctor", "fake", "--json"]).json();
    let checks = report["checks"].as_array().unwrap();
    let about = |it: &&Json| it["area"] == "logins" && it["server"] == "fake";
    checks.iter().find(about).unwrap_or(&Json::Null).clone()
}

#[test]
fn the_doctor_knows_a_login_that_is_over() {
    let lab = LoginLab::logged_in("--no-refresh-token --lifetime 2");
    let is_over = wait_until(PATIENCE, || doctor(&lab)["level"] == "problem");
    let check = doctor(&lab);
    assert!(is_over, "{check:#}");
    let message = check["message"].as_str().unwrap();
    assert!(message.contains("expired"), "{message}");
    assert_eq!(check["fix"], "run `openclaw mcp auth fake`");
    lab.server.set_flags("").unwrap();
    lab.log_in();
    assert_eq!(doctor(&lab)["level"], "ok");
}

#[test]
fn the_doctor_does_not_send_people_to_log_in_where_that_is_no_help() {
    let lab = LoginLab::logged_in("");
    let key = lab.lab.home.path().join(".openclaw/mcp/tokens/key");
    std::fs::set_permissions(&key, std::fs::Permissions::from_mode(0o644)).unwrap();
    let check = doctor(&lab);
    assert_eq!(check["level"], "problem", "{check:#}");
    let fix = check["fix"].as_str().unwrap();
    assert!(fix.contains("chmod 600"), "{fix}");
    assert!(!fix.contains("mcp auth"), "{fix}");
}
