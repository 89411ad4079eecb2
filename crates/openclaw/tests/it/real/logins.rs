//! Logins to servers that others wrote, from the first to the last.

use std::time::{Duration, Instant};

use openclaw_testkit::LoginPartner;
use openclaw_testkit::leaks::wait_until;
use serde_json::{Value as Json, json};

use crate::lab::Lab;
use crate::logins::{Running, get, sent_to};
use crate::program::Run;

/// How long tokens live that nobody waits for.
const LONG: Duration = Duration::from_hours(1);
/// How long others live: what happens meanwhile has time enough on a busy machine.
const SHORT: Duration = Duration::from_secs(8);
const PATIENCE: Duration = Duration::from_mins(1);

fn lab(partner: &LoginPartner) -> Lab {
    let entry = json!({ "url": partner.url(), "connectionTimeoutMs": 60_000 });
    Lab::empty().settings(json!({ "mcp": { "servers": { "real": entry } } }))
}

fn begin(lab: &Lab) -> Running<'_> {
    let arguments = ["mcp", "auth", "real", "--no-browser"];
    Running::of(lab, lab.home.command(&arguments))
}

fn by_listener(lab: &Lab) {
    let running = begin(lab);
    let page = get(&sent_to(&running.address()));
    assert_eq!(page.status, 200, "{page:?}");
    let run = running.ended();
    assert_eq!(run.code, Some(0), "{run}");
}

fn by_code(lab: &Lab) {
    let running = begin(lab);
    let back = sent_to(&running.address());
    lab.done(&["mcp", "auth", "real", "--code", &back]);
    let run = running.ended();
    assert_eq!(run.code, Some(0), "{run}");
}

fn needs_login(lab: &Lab, call: &[&str]) -> Run {
    let run = lab.run(call);
    assert_eq!(run.code, Some(1), "{run}");
    assert!(run.stderr.contains("`openclaw mcp auth real`"), "{run}");
    run
}

fn ends(lab: &Lab) -> String {
    let status = lab.json(&["mcp", "status", "real"]);
    assert_eq!(status["state"], "ready", "{status:#}");
    status["tokenExpiresAt"].as_str().unwrap().to_owned()
}

fn kept(partner: &LoginPartner) -> Json {
    let counters = get(&partner.counters_url().unwrap());
    serde_json::from_str(&counters.body).unwrap()
}

const ECHO: [&str; 4] = ["mcp", "call", "real/echo", "message=hi"];
const GREET: [&str; 4] = ["mcp", "call", "real/greet", "name=Ada"];

#[test]
fn fastmcp_is_logged_in_to_both_ways_and_out_of() {
    let partner = LoginPartner::fastmcp(LONG).unwrap();
    let lab = lab(&partner);
    needs_login(&lab, &ECHO);
    for log_in in [by_listener, by_code] {
        log_in(&lab);
        assert_eq!(lab.done(&ECHO).stdout, "hi\n");
        let status = lab.json(&["mcp", "status", "real"]);
        assert_eq!(status["scopes"], json!(["tools"]), "{status:#}");
        let run = lab.done(&["mcp", "logout", "real"]);
        assert!(
            run.stdout.contains("also at the authorization server"),
            "{run}"
        );
        let kept = kept(&partner);
        assert_eq!(
            (&kept["access_tokens"], &kept["refresh_tokens"]),
            (&json!(0), &json!(0))
        );
        needs_login(&lab, &ECHO);
    }
}

#[test]
fn tokens_of_fastmcp_are_renewed_and_its_refresh_tokens_rotate() {
    let partner = LoginPartner::fastmcp(SHORT).unwrap();
    let lab = lab(&partner);
    by_listener(&lab);
    for _ in 0..2 {
        let before = ends(&lab);
        let is_renewed = wait_until(PATIENCE, || {
            assert_eq!(lab.done(&ECHO).stdout, "hi\n");
            ends(&lab) != before
        });
        assert!(is_renewed, "{before}");
    }
    // All of it is one login by one client.
    let kept = kept(&partner);
    assert_eq!(
        (&kept["clients"], &kept["refresh_tokens"]),
        (&json!(1), &json!(1))
    );
}

#[test]
fn a_token_of_fastmcp_that_has_long_expired_is_renewed_before_it_is_shown() {
    // Who shows one loses the refresh token as well.
    let lifetime = Duration::from_secs(2);
    let partner = LoginPartner::fastmcp(lifetime).unwrap();
    let lab = lab(&partner);
    by_listener(&lab);
    let expires = Instant::now() + lifetime;
    assert!(wait_until(PATIENCE, || Instant::now() > expires));
    assert_eq!(lab.done(&ECHO).stdout, "hi\n");
}

#[test]
fn the_typescript_sdk_is_logged_in_to_both_ways_and_out_of() {
    let partner = LoginPartner::typescript_sdk(LONG).unwrap();
    let lab = lab(&partner);
    needs_login(&lab, &GREET);
    for log_in in [by_listener, by_code] {
        log_in(&lab);
        assert_eq!(lab.done(&GREET).stdout, "Hello, Ada!\n");
        let run = lab.done(&["mcp", "logout", "real"]);
        assert!(run.stdout.contains("offers no way"), "{run}");
        needs_login(&lab, &GREET);
    }
}

#[test]
fn a_login_to_the_typescript_sdk_ends_with_its_token_and_that_is_told() {
    let partner = LoginPartner::typescript_sdk(SHORT).unwrap();
    let lab = lab(&partner);
    by_code(&lab);
    assert_eq!(lab.done(&GREET).stdout, "Hello, Ada!\n");
    let has_ended = || lab.run(&GREET).code != Some(0);
    assert!(wait_until(PATIENCE, has_ended));
    let run = needs_login(&lab, &GREET);
    assert!(run.stderr.contains("can't be renewed"), "{run}");
    by_listener(&lab);
    assert_eq!(lab.done(&GREET).stdout, "Hello, Ada!\n");
}
