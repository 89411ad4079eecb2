//! A token goes to its own server, and to nobody else.

use openclaw_testkit::fake_login::FakeLogin;
use openclaw_testkit::stand_in::{Answer, StandIn};
use serde_json::json;

use super::{CALL, LoginLab, get, sent_to};

/// Somebody who takes whatever comes.
fn stranger() -> StandIn {
    StandIn::start(|_| Answer::json(200, &json!({}))).unwrap()
}

#[test]
fn a_redirect_to_somebody_else_is_not_followed() {
    for status in [301, 302, 303, 307, 308] {
        let stranger = stranger();
        let to = format!("{}/mcp", stranger.origin());
        let flags = format!("-- --redirect {to} --redirect-status {status}");
        let lab = LoginLab::logged_in(&flags);
        let run = lab.run(&CALL);
        assert_eq!(run.code, Some(1), "{status}: {run}");
        assert!(lab.counters().accepted > 0, "the token was shown");
        assert_eq!(
            stranger.asked().len(),
            0,
            "{status}: {:?}",
            stranger.asked()
        );
    }
}

#[test]
fn a_token_that_is_refused_however_new_it_is_is_renewed_once_and_no_more() {
    // What is followed stays on the server, and is another resource there.
    let lab = LoginLab::logged_in("-- --redirect /second --redirect-status 307");
    let run = lab.needs_login();
    assert!(run.stderr.contains("though its token is new"), "{run}");
    let asked = lab.server.asked();
    let second = asked.iter().find(|it| it.path == "/second");
    assert!(second.unwrap().header("authorization").is_some());
    // Once for the call, and once for the state that is looked at after it.
    assert_eq!(lab.counters().refreshes, 2);
}

#[test]
fn an_endpoint_of_somebody_else_gets_nothing() {
    let lab = LoginLab::new("--origin-resource -- --both --endpoint-foreign");
    let sse = lab.server.sse_url();
    let lab = lab.place("fake", &json!({ "url": sse, "transport": "sse" }));
    let running = lab.begin();
    assert_eq!(get(&sent_to(&running.address())).status, 200);
    assert_eq!(running.ended().code, Some(0));
    let run = lab.run(&CALL);
    assert_eq!(run.code, Some(1), "{run}");
    assert!(lab.counters().accepted > 0, "the token was shown");
    let asked = lab.server.asked();
    let fell_for_it = asked.iter().find(|it| {
        let host = it.header("host").unwrap_or_default();
        host.starts_with("localhost")
    });
    assert!(fell_for_it.is_none(), "{fell_for_it:?}");
}

#[test]
fn the_older_transport_is_logged_in_to_as_well() {
    let lab = LoginLab::new("--origin-resource -- --both");
    let sse = lab.server.sse_url();
    let lab = lab.place("fake", &json!({ "url": sse, "transport": "sse" }));
    let running = lab.begin();
    assert_eq!(get(&sent_to(&running.address())).status, 200);
    assert_eq!(running.ended().code, Some(0));
    lab.calls();
    lab.server.revoke_access();
    lab.calls();
    assert_eq!(lab.counters().refreshes, 1);
}

#[test]
fn two_servers_of_one_authorization_server_have_a_token_each() {
    let lab = LoginLab::logged_in("");
    let second = lab.server.second_url();
    let lab = lab.place("other", &json!({ "url": second }));
    let call = ["mcp", "call", "other/echo", "message=hi"];
    let run = lab.run(&call);
    assert_eq!(run.code, Some(1), "{run}");
    assert!(run.stderr.contains("`openclaw mcp auth other`"), "{run}");
    let running = lab.begin_with(&["mcp", "auth", "other", "--no-browser"]);
    assert_eq!(get(&sent_to(&running.address())).status, 200);
    assert_eq!(running.ended().code, Some(0));
    lab.done(&call);
    lab.calls();
    let asked = lab.server.asked();
    let shown = |path: &str| -> Vec<&str> {
        let asked = asked.iter().filter(|it| it.path == path);
        let mut shown: Vec<&str> = asked.filter_map(|it| it.header("authorization")).collect();
        shown.sort_unstable();
        shown.dedup();
        shown
    };
    let (first, second) = (shown("/mcp"), shown("/second"));
    assert_eq!((first.len(), second.len()), (1, 1));
    assert_ne!(first, second);
    // Who logs out of one stays logged in to the other.
    lab.done(&["mcp", "logout", "other"]);
    lab.calls();
}

#[test]
fn another_name_or_another_address_needs_a_login_of_its_own() {
    let lab = LoginLab::logged_in("").place("renamed", &json!({}));
    let run = lab.run(&["mcp", "call", "renamed/echo", "message=hi"]);
    assert_eq!(run.code, Some(1), "{run}");
    assert!(run.stderr.contains("`openclaw mcp auth renamed`"), "{run}");
    lab.calls();
    // The name stays, and somebody else is at the address.
    let elsewhere = FakeLogin::start("").unwrap();
    let first = lab.server.url();
    let lab = lab.place("fake", &json!({ "url": elsewhere.url() }));
    lab.needs_login();
    let asked = elsewhere.asked();
    let shown = asked.iter().find(|it| it.header("authorization").is_some());
    assert!(shown.is_none(), "{shown:?}");
    let lab = lab.place("fake", &json!({ "url": first }));
    lab.calls();
}

#[test]
fn another_authorization_server_or_client_in_the_configuration_needs_a_new_login() {
    for auth in [
        json!({ "authorizationServerUrl": "https://login.example" }),
        json!({ "clientId": "another" }),
    ] {
        let lab = LoginLab::logged_in("").place("fake", &json!({ "auth": auth }));
        let before = lab.counters();
        let run = lab.needs_login();
        assert!(run.stderr.contains("configuration names"), "{run}");
        let after = lab.counters();
        assert_eq!(after.accepted, before.accepted, "the token is not shown");
        assert_eq!(after.refreshes_arrived, before.refreshes_arrived);
    }
}
