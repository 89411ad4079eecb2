//! Authorization servers that are wrong, broken or hostile, in every way that there is.

use std::time::{Duration, Instant};

use openclaw_testkit::leaks::wait_until;

use super::{CALL, LoginLab, get, sent_to};
use crate::lab::assert_harmless;
use crate::program::Run;

/// How long a login may take that comes to nothing.
const PATIENCE: Duration = Duration::from_secs(30);

/// What makes a login impossible before a browser is opened, and what is said about it.
const IMPOSSIBLE: [(&str, &str); 19] = [
    ("wrong-issuer", "https://somebody-else.example"),
    ("no-issuer", "issuer"),
    ("http-endpoints", "https"),
    ("private-endpoints", "169.254.169.254"),
    ("only-plain", "S256"),
    ("no-challenge-methods", "S256"),
    ("other-resource", "https://somebody-else.example/mcp"),
    ("huge-metadata", "more than"),
    ("looping-metadata", "on and on"),
    ("moved-metadata", "leads to another server"),
    ("html-metadata", "JSON"),
    ("down-metadata", "503"),
    ("huge-resource", "more than"),
    ("looping-resource", "on and on"),
    ("moved-resource", "leads to another server"),
    ("html-resource", "JSON"),
    ("down-resource", "503"),
    ("registration-refused", "we do not like your name"),
    ("registration-html", "JSON"),
];

/// What is odd, and no obstacle.
const ODD: [&str; 10] = [
    "issuer-slash",
    "listed-slash",
    "silent-iss",
    "odd-token-type",
    "no-token-type",
    "no-expiry",
    "text-expiry",
    "no-scope",
    "form-answer",
    "empty-secret",
];

fn fault(name: &str) -> String {
    format!("--fault {name}")
}

/// Tries to log in where that can't work.
fn refused(lab: &LoginLab, fault: &str, words: &str) -> Run {
    let begun = Instant::now();
    let mut running = lab.begin();
    let ends = wait_until(PATIENCE, || running.has_ended());
    assert!(ends, "{fault}: it still waits");
    let run = running.ended();
    assert_eq!(run.code, Some(1), "{fault}: {run}");
    assert!(
        run.stderr.contains("error: no login to `fake`"),
        "{fault}: {run}"
    );
    assert!(run.stderr.contains(words), "{fault}: {run}");
    assert!(!run.stderr.contains("panicked"), "{fault}: {run}");
    assert!(begun.elapsed() < PATIENCE, "{fault}");
    assert_harmless(&run.stderr);
    run
}

#[test]
fn what_makes_a_login_impossible_is_told_before_a_browser_is_opened() {
    for (name, words) in IMPOSSIBLE {
        let lab = LoginLab::new(&fault(name));
        refused(&lab, name, words);
        let counters = lab.counters();
        assert_eq!(counters.authorizations, 0, "{name}");
        assert_eq!(counters.token_requests, 0, "{name}");
        lab.needs_login();
        lab.server.set_flags("").unwrap();
        lab.log_in();
        lab.calls();
    }
}

#[test]
fn where_nobody_may_register_it_is_told_what_else_there_is() {
    for flags in ["--fault registration-forbidden", "--no-registration"] {
        let lab = LoginLab::new(flags);
        let run = refused(&lab, flags, "auth.clientId");
        assert!(run.stderr.contains("hint:"), "{run}");
    }
}

#[test]
fn what_is_odd_is_no_obstacle() {
    for name in ODD {
        let lab = LoginLab::logged_in(&fault(name));
        lab.calls();
        lab.server.revoke_access();
        lab.calls();
        assert_eq!(lab.counters().refreshes, 1, "{name}");
        lab.done(&["mcp", "logout", "fake"]);
        assert!(lab.counters().revocations > 0, "{name}");
    }
}

#[test]
fn a_token_that_cannot_be_used_is_not_kept() {
    let lab = LoginLab::new("--fault other-token-type");
    let running = lab.begin();
    let page = get(&sent_to(&running.address()));
    assert_eq!(page.status, 400, "{page:?}");
    let run = running.ended();
    assert_eq!(run.code, Some(1), "{run}");
    assert!(run.stderr.contains("DPoP"), "{run}");
    lab.needs_login();
}

#[test]
fn errors_with_the_status_of_success_are_errors() {
    let lab = LoginLab::logged_in("--fault errors-are-ok");
    lab.calls();
    lab.server.revoke_all();
    let run = lab.needs_login();
    assert!(run.stderr.contains("invalid_grant"), "{run}");
}

/// Whatever goes wrong at the authorization server, who is logged in stays so.
fn stays_logged_in(name: &str) {
    let lab = LoginLab::logged_in("--accept-repeats 600000");
    let flags = format!("--accept-repeats 600000 {}", fault(name));
    lab.server.set_flags(&flags).unwrap();
    lab.calls();
    lab.server.revoke_access();
    let begun = Instant::now();
    let run = lab.run(&CALL);
    assert!(begun.elapsed() < PATIENCE, "{name}");
    assert!(matches!(run.code, Some(0 | 1)), "{name}: {run}");
    assert!(!run.stderr.contains("panicked"), "{name}: {run}");
    assert!(!run.stderr.contains("mcp auth"), "{name}: {run}");
    // Somebody begins another login, which comes to nothing.
    if IMPOSSIBLE.iter().any(|(known, _)| *known == name) {
        let (_, words) = IMPOSSIBLE.iter().find(|(known, _)| *known == name).unwrap();
        // Who has registered already need not do so again.
        if !name.starts_with("registration") {
            refused(&lab, name, words);
        }
    }
    lab.server.set_flags("--accept-repeats 600000").unwrap();
    lab.calls();
    assert_eq!(lab.counters().exchanges, 1, "{name}");
}

#[test]
fn a_login_survives_metadata_that_go_wrong() {
    for (name, _) in IMPOSSIBLE {
        stays_logged_in(name);
    }
}

#[test]
fn a_login_survives_answers_that_go_wrong() {
    let answers = ["other-token-type", "registration-forbidden", "wrong-iss"];
    for name in ODD.into_iter().chain(answers) {
        // Another issuer is another one.
        if !name.contains("slash") {
            stays_logged_in(name);
        }
    }
}

#[test]
fn a_refresh_token_that_comes_with_a_token_of_no_use_is_kept_all_the_same() {
    let lab = LoginLab::logged_in("");
    lab.server.set_flags("--fault other-token-type").unwrap();
    lab.server.revoke_access();
    let run = lab.run(&CALL);
    assert_eq!(run.code, Some(1), "{run}");
    assert!(run.stderr.contains("DPoP"), "{run}");
    lab.server.set_flags("").unwrap();
    lab.calls();
    assert_eq!(lab.counters().reuses, 0);
}

#[test]
fn every_failure_of_a_renewal_leaves_the_login_or_says_that_it_is_over() {
    for (failure, is_over) in [
        ("503", false),
        ("429", false),
        ("invalid_request", false),
        ("html", false),
        ("hang-up", false),
        ("invalid_grant", true),
        ("invalid_client", true),
    ] {
        let lab = LoginLab::logged_in("");
        lab.server.revoke_access();
        let flags = format!("--fail-refresh {failure}");
        lab.server.set_flags(&flags).unwrap();
        let run = lab.run(&CALL);
        assert_eq!(run.code, Some(1), "{failure}: {run}");
        let tells = run.stderr.contains("`openclaw mcp auth fake`");
        assert_eq!(tells, is_over, "{failure}: {run}");
        lab.server.set_flags("").unwrap();
        if is_over {
            lab.needs_login();
            lab.log_in();
        }
        lab.calls();
    }
}
