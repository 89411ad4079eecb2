//! Keys in the configuration: which one wins, and what is said where it is refused.

use openclaw_testkit::stand_in::{Answer, StandIn};
use serde_json::{Value as Json, json};

use super::{CALL, LoginLab};

const HEADER: &str = "a-token-from-the-headers";
const KEY: &str = "a-key-of-some-length";

/// What was shown to the server last.
fn shown(lab: &LoginLab) -> String {
    let asked = lab.server.asked();
    let asked = asked.iter().rfind(|it| it.path == "/mcp").unwrap();
    asked.header("authorization").unwrap_or_default().to_owned()
}

/// Puts more into the configuration of the server, after a login.
fn with(more: &Json) -> LoginLab {
    LoginLab::logged_in("").place("fake", more)
}

#[test]
fn a_header_wins_over_a_key_and_a_key_over_a_login() {
    let headers = json!({ "Authorization": format!("Bearer {HEADER}") });
    for (more, expected) in [
        (
            json!({ "headers": headers, "apiKey": KEY, "auth": "oauth" }),
            HEADER,
        ),
        (json!({ "apiKey": KEY, "auth": "oauth" }), KEY),
        (json!({ "headers": headers }), HEADER),
        (json!({ "apiKey": KEY }), KEY),
    ] {
        let lab = with(&more);
        let before = lab.counters();
        let run = lab.run(&CALL);
        assert_eq!(run.code, Some(1), "{more}: {run}");
        assert_eq!(shown(&lab), format!("Bearer {expected}"), "{more}");
        let after = lab.counters();
        assert_eq!(after.token_requests, before.token_requests, "{more}");
    }
    let lab = with(&json!({ "auth": "oauth" }));
    lab.calls();
    assert!(shown(&lab).contains("access-"));
}

#[test]
fn a_key_that_is_refused_is_told_and_no_login_is_tried() {
    let headers = json!({ "Authorization": format!("Bearer {HEADER}") });
    for (more, name) in [
        (json!({ "apiKey": KEY }), "apiKey"),
        (json!({ "headers": headers }), "Authorization"),
    ] {
        let lab = LoginLab::with("", &more);
        let run = lab.run(&CALL);
        assert_eq!(run.code, Some(1), "{run}");
        assert!(run.stderr.contains(name), "which key: {run}");
        assert!(run.stderr.contains("refuse"), "{run}");
        assert!(
            !run.stderr.contains("mcp auth"),
            "a login is of no use: {run}"
        );
        for secret in [KEY, HEADER] {
            assert!(!run.to_string().contains(secret), "{run}");
        }
        let error = lab.lab.failure(&["mcp", "auth", "fake"], 2);
        assert!(error.to_string().contains(name), "{error:#}");
        let asked = lab.server.asked();
        let strange = asked.iter().find(|it| it.path != "/mcp");
        assert!(strange.is_none(), "nothing else is asked: {strange:?}");
    }
}

#[test]
fn a_key_from_a_store_is_sent() {
    let server = StandIn::start(|asked| match asked.header("authorization") {
        Some("Bearer a-key-of-some-length") => Answer::bytes(503, "text/plain", "it is right"),
        _ => Answer::bytes(401, "text/plain", ""),
    })
    .unwrap();
    let url = format!("{}/mcp", server.origin());
    let more = json!({ "url": url, "apiKey": "secret://file/~/key" });
    let lab = LoginLab::with("", &more);
    lab.lab.home.write("key", &format!("{KEY}\n"));
    let run = lab.run(&CALL);
    assert!(run.stderr.contains("503"), "{run}");
}
