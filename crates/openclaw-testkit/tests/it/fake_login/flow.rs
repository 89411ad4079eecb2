//! A login from the first refusal to the last token.

use std::time::Duration;

use openclaw_testkit::fake_login::FakeLogin;
use openclaw_testkit::leaks::wait_until;
use serde_json::{Value, json};

use super::{BACK, STATE, VERIFIER, Visitor, both, opens};
use crate::conversation::{PATIENCE, introduction};
use crate::http_client::Connection;
use crate::web::{ask, encoded, get, post_form, send};

fn start(flags: &str) -> FakeLogin {
    FakeLogin::start(flags).unwrap()
}

#[test]
fn every_step_leads_to_the_next() {
    let login = start("");
    let refused = ask(
        &login.url(),
        None,
        "initialize",
        &introduction("2025-11-25"),
    );
    assert_eq!(refused.status, 401);
    let challenge = refused.header("www-authenticate").unwrap();
    let (_, rest) = challenge.split_once("resource_metadata=\"").unwrap();
    let (address, rest) = rest.split_once('"').unwrap();
    assert_eq!(rest, ", scope=\"tools\"");
    let resource = get(address).json();
    assert_eq!(resource["resource"], json!(login.url()));
    assert_eq!(resource["authorization_servers"], json!([login.issuer()]));
    let place = "/.well-known/oauth-authorization-server";
    let server = get(&format!("{}{place}", login.login_origin())).json();
    assert_eq!(server["issuer"], json!(login.issuer()));
    assert_eq!(server["code_challenge_methods_supported"], json!(["S256"]));
    let visitor = Visitor::new(&login);
    assert_eq!(server["token_endpoint"], json!(visitor.endpoint("token")));
    let back = visitor.authorize(&[]);
    assert_eq!(back.status, 302);
    assert!(back.header("location").unwrap().starts_with(BACK));
    assert_eq!(back.brought("state").as_deref(), Some(STATE));
    assert_eq!(back.brought("iss"), Some(login.issuer()));
    let (access, refresh) = both(&visitor.exchange(&back.brought("code").unwrap(), &[]));
    assert!(opens(&login.url(), &access));
    let (renewed, _) = both(&visitor.refresh(&refresh));
    assert!(opens(&login.url(), &renewed));
    let counters = login.counters();
    assert_eq!(
        (counters.registrations, counters.codes, counters.exchanges),
        (1, 1, 1)
    );
    assert_eq!((counters.refreshes_arrived, counters.refreshes), (1, 1));
    assert_eq!(
        (counters.tokens, counters.accepted, counters.unauthorized),
        (2, 2, 1)
    );
}

#[test]
fn the_server_behind_the_gate_speaks_both_eras_and_both_transports() {
    let login = start("-- --both --json-only --stateless");
    let (access, _) = Visitor::new(&login).tokens();
    let listed = ask(&login.url(), Some(&access), "tools/list", &json!({})).json();
    let names = listed["result"]["tools"].as_array().unwrap();
    let has = |name: &str| names.iter().any(|tool| tool["name"] == name);
    assert!(has("echo") && has("admin") && !has("crash"), "{listed}");
    let echo = json!({ "name": "echo", "arguments": { "message": "hello" } });
    let called = ask(&login.url(), Some(&access), "tools/call", &echo).json();
    assert_eq!(called["result"]["content"][0]["text"], "hello");
    let modern = json!({ "_meta": {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    }});
    let message = json!({
        "jsonrpc": "2.0", "id": 1, "method": "server/discover", "params": modern,
    });
    let bearer = format!("Bearer {access}");
    let headers = [
        ("content-type", "application/json"),
        ("accept", "application/json, text/event-stream"),
        ("mcp-protocol-version", "2026-07-28"),
        ("mcp-method", "server/discover"),
        ("authorization", &bearer),
    ];
    let discovered = send("POST", &login.url(), &headers, &message.to_string());
    assert!(discovered.json()["result"]["supportedVersions"].is_array());
    // HTTP+SSE is protected as well.
    assert_eq!(get(&login.sse_url()).status, 401);
    let host = login.sse_url();
    let host = host.strip_prefix("http://").unwrap();
    let mut connection = Connection::to_host(host.strip_suffix("/sse").unwrap());
    let headers = [
        ("accept", "text/event-stream"),
        ("authorization", bearer.as_str()),
    ];
    let mut stream = connection.send("GET", "/sse", &headers, "").unwrap();
    assert_eq!(stream.event().unwrap().unwrap().kind, "endpoint");
}

#[test]
fn a_code_is_worth_nothing_without_what_belongs_to_it() {
    let login = start("");
    let visitor = Visitor::new(&login);
    let other = Visitor::new(&login);
    let code = visitor.code(&[]);
    let second = login.second_url();
    for (instead, error) in [
        (
            ("code_verifier", &VERIFIER.replace('a', "b")[..]),
            "400: invalid_grant",
        ),
        (("code_verifier", ""), "400: invalid_request"),
        (
            ("redirect_uri", "http://127.0.0.1:9/other"),
            "400: invalid_grant",
        ),
        (("client_id", &other.client), "400: invalid_grant"),
        (("client_id", "nobody"), "401: invalid_client"),
        (("resource", ""), "400: invalid_target"),
        (("resource", &second), "400: invalid_target"),
        (
            ("resource", "https://example.com/mcp"),
            "400: invalid_target",
        ),
        (("code", "nothing"), "400: invalid_grant"),
        (("grant_type", "password"), "400: unsupported_grant_type"),
    ] {
        let refused = visitor.exchange(&code, &[instead]);
        assert_eq!(refused.error(), error, "{instead:?}");
    }
    let (access, _) = both(&visitor.exchange(&code, &[]));
    assert!(opens(&login.url(), &access));
    // Who comes with it again has stolen it, or was stolen from.
    assert_eq!(visitor.exchange(&code, &[]).error(), "400: invalid_grant");
    assert!(!opens(&login.url(), &access));
}

#[test]
fn a_browser_is_sent_back_with_an_error_or_not_at_all() {
    let login = start("");
    let visitor = Visitor::new(&login);
    for instead in [
        ("client_id", "nobody"),
        ("redirect_uri", "http://127.0.0.1:10/callback"),
        ("redirect_uri", "https://thief.example/"),
    ] {
        let answered = visitor.authorize(&[instead]);
        assert_eq!(answered.status, 400, "{instead:?}");
        assert_eq!(answered.header("location"), None, "{instead:?}");
    }
    for (instead, error) in [
        (("response_type", "token"), "unsupported_response_type"),
        (("code_challenge", ""), "invalid_request"),
        (("code_challenge_method", ""), "invalid_request"),
        (("code_challenge_method", "plain"), "invalid_request"),
        (("state", ""), "invalid_request"),
        (("resource", ""), "invalid_target"),
        (("resource", "https://example.com/mcp"), "invalid_target"),
        (("scope", "tools root"), "invalid_scope"),
    ] {
        let answered = visitor.authorize(&[instead]);
        assert_eq!(
            answered.brought("error").as_deref(),
            Some(error),
            "{instead:?}"
        );
        assert_eq!(answered.brought("code"), None);
    }
    login.set_flags("--deny").unwrap();
    let denied = visitor.authorize(&[]);
    assert_eq!(denied.brought("error").as_deref(), Some("access_denied"));
    assert_eq!(denied.brought("iss"), Some(login.issuer()));
}

#[test]
fn a_person_can_be_asked() {
    let login = start("--consent-page");
    let visitor = Visitor::new(&login);
    for (decision, brings) in [("allow", "code"), ("deny", "error")] {
        let page = visitor.authorize(&[]);
        assert_eq!(page.status, 200);
        let html = String::from_utf8(page.body).unwrap();
        let (_, rest) = html.split_once("name=\"consent\" value=\"").unwrap();
        let (consent, _) = rest.split_once('"').unwrap();
        let form = [("consent", consent), ("decision", decision)];
        let answered = post_form(&visitor.endpoint("consent"), &[], &form);
        assert!(answered.brought(brings).is_some(), "{answered:?}");
        let again = post_form(&visitor.endpoint("consent"), &[], &form);
        assert_eq!(again.status, 400);
    }
}

#[test]
fn a_token_opens_its_own_server_only_and_only_in_the_header() {
    let login = start("");
    let visitor = Visitor::new(&login);
    let (access, _) = visitor.tokens();
    assert!(opens(&login.url(), &access));
    let elsewhere = ask(&login.second_url(), Some(&access), "ping", &json!({}));
    assert_eq!(elsewhere.status, 401);
    let challenge = elsewhere.header("www-authenticate").unwrap();
    assert!(challenge.contains("error=\"invalid_token\""), "{challenge}");
    let second = login.second_url();
    let there = [("resource", second.as_str())];
    let (access, _) = both(&visitor.exchange(&visitor.code(&there), &there));
    assert!(opens(&second, &access) && !opens(&login.url(), &access));
    let query = encoded(&[("access_token", &access)]);
    let leaked = ask(&format!("{second}?{query}"), None, "ping", &json!({}));
    assert_eq!(leaked.status, 400);
    // A server of another login knows nothing of it.
    assert!(!opens(&start("").url(), &access));
}

#[test]
fn what_a_tool_needs_is_told_and_can_be_granted() {
    let login = start("-- --stateless --json-only");
    let visitor = Visitor::new(&login);
    let (access, _) = visitor.tokens();
    let admin = json!({ "name": "admin", "arguments": {} });
    let refused = ask(&login.url(), Some(&access), "tools/call", &admin);
    assert_eq!(refused.status, 403);
    let challenge = refused.header("www-authenticate").unwrap();
    assert!(
        challenge.contains("error=\"insufficient_scope\""),
        "{challenge}"
    );
    assert!(challenge.ends_with(", scope=\"admin\""), "{challenge}");
    let scopes = [("scope", "tools admin")];
    let (wider, _) = both(&visitor.exchange(&visitor.code(&scopes), &[]));
    let called = ask(&login.url(), Some(&wider), "tools/call", &admin);
    assert_eq!(called.json()["result"]["content"][0]["text"], "{}");
    // Who asks for that alone gets that alone.
    let (narrow, _) = both(&visitor.exchange(&visitor.code(&[("scope", "admin")]), &[]));
    assert_eq!(
        ask(&login.url(), Some(&narrow), "ping", &json!({})).status,
        403
    );
    login.set_flags("--withhold admin").unwrap();
    let granted = visitor.exchange(&visitor.code(&scopes), &[]).json();
    assert_eq!(granted["scope"], Value::from("tools"));
    assert_eq!(login.counters().forbidden, 2);
}

#[test]
fn an_old_refresh_token_ends_the_login_unless_repeats_are_accepted() {
    let login = start("");
    let visitor = Visitor::new(&login);
    let (_, first) = visitor.tokens();
    let (access, second) = both(&visitor.refresh(&first));
    assert_eq!(visitor.refresh(&first).error(), "400: invalid_grant");
    assert!(!opens(&login.url(), &access));
    assert_eq!(visitor.refresh(&second).error(), "400: invalid_grant");
    let counters = login.counters();
    assert_eq!((counters.reuses, counters.refreshes), (1, 1));
    assert_eq!(counters.refreshes_arrived, 3);
    login.set_flags("--accept-repeats 60000").unwrap();
    let (_, first) = visitor.tokens();
    both(&visitor.refresh(&first));
    let (access, _) = both(&visitor.refresh(&first));
    assert!(opens(&login.url(), &access));
    assert_eq!(login.counters().repeats, 1);
}

#[test]
fn of_many_who_refresh_at_once_one_gets_through() {
    let login = start("--token-delay 20");
    let visitor = Visitor::new(&login);
    let (_, token) = visitor.tokens();
    let granted = std::thread::scope(|scope| {
        let refresh = || visitor.refresh(&token).status == 200;
        let all: Vec<_> = (0..20).map(|_| scope.spawn(refresh)).collect();
        let all = all.into_iter().map(|it| it.join().unwrap());
        all.filter(|is_granted| *is_granted).count()
    });
    assert_eq!(granted, 1);
    let counters = login.counters();
    assert_eq!((counters.refreshes_arrived, counters.refreshes), (20, 1));
}

#[test]
fn what_has_arrived_takes_effect_even_if_the_client_is_gone() {
    let login = start("--token-delay 150");
    let visitor = Visitor::new(&login);
    let (_, token) = visitor.tokens();
    let url = login.url();
    let form = encoded(&[
        ("grant_type", "refresh_token"),
        ("client_id", &visitor.client),
        ("refresh_token", &token),
        ("resource", &url),
    ]);
    let origin = login.login_origin();
    let mut connection = Connection::to_host(origin.strip_prefix("http://").unwrap());
    let headers = [("content-type", "application/x-www-form-urlencoded")];
    connection.send_only("POST", "/token", &headers, &form);
    assert!(wait_until(PATIENCE, || login.counters().refreshes_arrived == 1));
    drop(connection);
    assert!(wait_until(PATIENCE, || login.counters().refreshes == 1));
    assert_eq!(visitor.refresh(&token).error(), "400: invalid_grant");
}

#[test]
fn tokens_end_when_their_time_is_over_or_somebody_says_so() {
    let login = start("--lifetime 1");
    let visitor = Visitor::new(&login);
    let (access, refresh) = visitor.tokens();
    assert!(opens(&login.url(), &access));
    let is_over = || !opens(&login.url(), &access);
    assert!(wait_until(Duration::from_secs(5), is_over));
    login.set_flags("").unwrap();
    let (access, refresh) = both(&visitor.refresh(&refresh));
    login.revoke_access();
    assert!(!opens(&login.url(), &access));
    let (access, refresh) = both(&visitor.refresh(&refresh));
    assert!(opens(&login.url(), &access));
    login.forget_clients();
    assert_eq!(visitor.refresh(&refresh).error(), "401: invalid_client");
    let visitor = Visitor::new(&login);
    let (_, refresh) = visitor.tokens();
    login.revoke_all();
    assert_eq!(visitor.refresh(&refresh).error(), "400: invalid_grant");
}

#[test]
fn tokens_can_be_given_back() {
    let login = start("");
    let visitor = Visitor::new(&login);
    let (access, refresh) = visitor.tokens();
    let give_back = |token: &str, client: &str| {
        let form = [("token", token), ("client_id", client)];
        post_form(&visitor.endpoint("revoke"), &[], &form).status
    };
    assert_eq!(give_back(&refresh, "nobody"), 401);
    assert_eq!(give_back("unknown", &visitor.client), 200);
    assert!(opens(&login.url(), &access));
    assert_eq!(give_back(&refresh, &visitor.client), 200);
    assert!(!opens(&login.url(), &access));
    assert_eq!(login.counters().revocations, 1);
}

#[test]
fn refresh_tokens_are_given_as_the_flags_say() {
    let login = start("--no-refresh-token");
    let visitor = Visitor::new(&login);
    assert_eq!(visitor.tokens().1, "");
    login.set_flags("--offline-access").unwrap();
    assert_eq!(visitor.tokens().1, "");
    let scopes = [("scope", "tools offline_access")];
    let (_, refresh) = both(&visitor.exchange(&visitor.code(&scopes), &[]));
    assert_ne!(refresh, "");
    login.set_flags("--keep-refresh-token").unwrap();
    for _ in 0..2 {
        assert_eq!(both(&visitor.refresh(&refresh)).1, "");
    }
}
