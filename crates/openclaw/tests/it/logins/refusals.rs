//! Logins that come to nothing, and what is said about it.

use std::net::TcpListener;

use openclaw_testkit::leaks::wait_until;
use rustix::process::Signal;
use serde_json::json;
use url::Url;

use super::{LoginLab, get, parameter, sent_to};
use crate::lab::{SOON, assert_harmless};
use crate::program::Run;

fn finish(lab: &LoginLab, brought: &str) -> Run {
    lab.run(&["mcp", "auth", "fake", "--code", brought])
}

/// What the browser would be sent to with an error.
fn with_error(lab: &LoginLab, address: &str, error: &str, description: &str) -> String {
    let mut url = Url::parse(&parameter(address, "redirect_uri")).unwrap();
    url.query_pairs_mut()
        .append_pair("error", error)
        .append_pair("error_description", description)
        .append_pair("state", &parameter(address, "state"))
        .append_pair("iss", &lab.server.issuer());
    url.into()
}

#[test]
fn a_person_who_says_no_is_understood() {
    let lab = LoginLab::new("--deny");
    let running = lab.begin();
    let page = get(&sent_to(&running.address()));
    assert_eq!(page.status, 400, "{page:?}");
    assert!(page.body.contains("refused"), "{page:?}");
    let run = running.ended();
    assert_eq!(run.code, Some(1), "{run}");
    assert!(run.stderr.contains("`access_denied`"), "{run}");
    assert!(run.stderr.contains("`openclaw mcp auth fake`"), "{run}");
    lab.needs_login();
    lab.server.set_flags("").unwrap();
    lab.log_in();
    lab.calls();
}

#[test]
fn every_error_that_a_browser_brings_is_told_and_ends_the_login() {
    let lab = LoginLab::new("");
    for error in [
        "access_denied",
        "invalid_request",
        "unauthorized_client",
        "unsupported_response_type",
        "invalid_scope",
        "invalid_target",
        "server_error",
        "temporarily_unavailable",
        "login_required",
        "something_that_nobody_knows",
    ] {
        let running = lab.begin();
        let address = running.address();
        let evil = "because of \u{1b}[2J reasons\n\u{202e}and <b>more</b>";
        let page = get(&with_error(&lab, &address, error, evil));
        assert_eq!(page.status, 400, "{error}: {page:?}");
        assert!(page.body.contains(error), "{page:?}");
        assert!(!page.body.contains("<b>more"), "{page:?}");
        let run = running.ended();
        assert_eq!(run.code, Some(1), "{error}: {run}");
        assert!(run.stderr.contains(&format!("`{error}`")), "{error}: {run}");
        assert!(run.stderr.contains("reasons"), "{error}: {run}");
        assert_harmless(&run.stderr);
        // It is over: what comes late ends nothing.
        let run = finish(&lab, &sent_to(&address));
        assert_eq!(run.code, Some(1), "{error}: {run}");
    }
    assert_eq!(lab.counters().exchanges, 0);
    lab.log_in();
    lab.calls();
}

#[test]
fn an_error_that_a_person_brings_is_told_to_both() {
    let lab = LoginLab::new("--deny");
    let running = lab.begin();
    let run = finish(&lab, &sent_to(&running.address()));
    assert_eq!(run.code, Some(1), "{run}");
    assert!(run.stderr.contains("`access_denied`"), "{run}");
    let run = running.ended();
    assert_eq!(run.code, Some(1), "{run}");
    assert!(run.stderr.contains("in another process"), "{run}");
}

#[test]
fn what_belongs_to_another_login_ends_none() {
    let lab = LoginLab::new("");
    let mut running = lab.begin();
    let address = running.address();
    let back = sent_to(&address);
    let state = parameter(&address, "state");
    let foreign = back.replace(&state, "a-state-that-nobody-knows");
    assert_ne!(foreign, back);
    let redirect = parameter(&address, "redirect_uri");
    for brought in [
        foreign.as_str(),
        &format!("{redirect}?code=guessed"),
        &format!("{redirect}?error=access_denied"),
        &redirect,
    ] {
        let page = get(brought);
        assert_eq!(page.status, 400, "{brought}: {page:?}");
        assert!(!running.has_ended(), "{brought}");
        let run = finish(&lab, brought);
        assert_eq!(run.code, Some(1), "{brought}: {run}");
    }
    for brought in ["", "   ", "?", "http://127.0.0.1:1/callback", "state=x"] {
        let run = finish(&lab, brought);
        assert_eq!(run.code, Some(1), "{brought:?}: {run}");
        assert!(run.stderr.contains("what a login ends with"), "{run}");
    }
    assert_eq!(lab.counters().token_requests, 0);
    assert!(!running.has_ended());
    assert_eq!(get(&back).status, 200);
    assert_eq!(running.ended().code, Some(0));
    lab.calls();
}

#[test]
fn what_comes_twice_does_no_harm() {
    let lab = LoginLab::new("");
    let running = lab.begin();
    let back = sent_to(&running.address());
    assert_eq!(get(&back).status, 200);
    assert_eq!(running.ended().code, Some(0));
    let run = finish(&lab, &back);
    assert_eq!(run.code, Some(1), "{run}");
    assert!(run.stderr.contains("no login that is under way"), "{run}");
    assert_eq!(
        lab.counters().token_requests,
        1,
        "the code is not shown again"
    );
    lab.calls();
}

#[test]
fn an_answer_for_another_server_ends_no_login_of_this_one() {
    let lab = LoginLab::new("");
    let second = lab.server.second_url();
    let lab = lab.place("other", &json!({ "url": second }));
    let running = lab.begin_with(&["mcp", "auth", "other", "--no-browser"]);
    let back = sent_to(&running.address());
    let run = finish(&lab, &back);
    assert_eq!(run.code, Some(1), "{run}");
    assert_eq!(lab.counters().token_requests, 0);
    lab.done(&["mcp", "auth", "other", "--code", &back]);
    assert_eq!(running.ended().code, Some(0));
}

#[test]
fn an_answer_of_somebody_else_ends_no_login() {
    for (fault, words) in [
        ("wrong-iss", "take the login over"),
        ("no-iss", "`iss`"),
        ("wrong-state", "no login that is under way"),
        ("no-state", "no login that is under way"),
    ] {
        let lab = LoginLab::new(&format!("--fault {fault}"));
        let mut running = lab.begin();
        let address = running.address();
        let back = sent_to(&address);
        let page = get(&back);
        assert_eq!(page.status, 400, "{fault}: {page:?}");
        assert!(!running.has_ended(), "{fault}");
        if fault != "no-state" {
            let run = finish(&lab, &back);
            assert_eq!(run.code, Some(1), "{fault}: {run}");
            assert!(run.stderr.contains(words), "{fault}: {run}");
        }
        assert_eq!(lab.counters().token_requests, 0, "{fault}");
        lab.server.set_flags("").unwrap();
        assert_eq!(get(&sent_to(&address)).status, 200, "{fault}");
        assert_eq!(running.ended().code, Some(0), "{fault}");
        lab.calls();
    }
}

#[test]
fn an_answer_without_a_state_that_a_person_brings_ends_no_login() {
    let lab = LoginLab::new("--fault no-state");
    let running = lab.begin();
    let run = finish(&lab, &sent_to(&running.address()));
    assert_eq!(run.code, Some(1), "{run}");
    assert!(run.stderr.contains("`state`"), "{run}");
    assert_eq!(lab.counters().token_requests, 0);
}

#[test]
fn a_port_that_is_taken_is_named_and_a_person_can_do_without() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port();
    let lab = LoginLab::with("", &json!({ "auth": { "callbackPort": port } }));
    // Something that is no browser, but would be opened.
    let mut command = lab.lab.home.command(&["mcp", "auth", "fake"]);
    command.env("BROWSER", "true");
    let run = lab.lab.home.finish(command.output().unwrap());
    assert_eq!(run.code, Some(1), "{run}");
    assert!(run.stderr.contains(&port.to_string()), "{run}");
    assert!(run.stderr.contains("--no-browser"), "{run}");
    assert_eq!(lab.counters().registrations, 0);
    let running = lab.begin();
    let back = sent_to(&running.address());
    let start = format!("http://127.0.0.1:{port}/callback?");
    assert!(back.starts_with(&start), "{back}");
    assert_eq!(finish(&lab, &back).code, Some(0));
    assert_eq!(running.ended().code, Some(0));
    lab.calls();
}

#[test]
fn who_gives_up_leaves_nothing_and_can_still_go_on() {
    let lab = LoginLab::new("");
    let mut command = lab.lab.home.command(&["mcp", "auth", "fake"]);
    command.env("BROWSER", "true");
    let running = super::Running::of(&lab.lab, command);
    let address = running.address();
    let redirect = Url::parse(&parameter(&address, "redirect_uri")).unwrap();
    running.send(Signal::INT);
    let run = running.ended();
    assert_eq!(run.code, Some(130), "{run}");
    let place = (
        redirect.host_str().unwrap().to_owned(),
        redirect.port().unwrap(),
    );
    let is_free = || TcpListener::bind((place.0.as_str(), place.1)).is_ok();
    assert!(wait_until(SOON, is_free), "nobody listens any longer");
    assert_eq!(finish(&lab, &sent_to(&address)).code, Some(0));
    lab.calls();
}

#[test]
fn an_authorization_server_that_is_down_for_a_moment_does_not_end_the_login() {
    let lab = LoginLab::new("");
    let mut running = lab.begin();
    let back = sent_to(&running.address());
    lab.server.set_flags("--fail-exchange 503").unwrap();
    let page = get(&back);
    assert_eq!(page.status, 400, "{page:?}");
    assert!(page.body.contains("again"), "{page:?}");
    let run = finish(&lab, &back);
    assert_eq!(run.code, Some(1), "{run}");
    assert!(!running.has_ended());
    lab.server.set_flags("").unwrap();
    assert_eq!(get(&back).status, 200, "loaded again");
    assert_eq!(running.ended().code, Some(0));
    lab.calls();
}
