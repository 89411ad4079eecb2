//! All ways to log in.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Stdio;

use openclaw_testkit::leaks::wait_until;
use openclaw_testkit::stand_in::{Answer, StandIn};
use rustix::process::Signal;
use serde_json::{Value as Json, json};

use super::{LoginLab, Running, get, parameter, sent_to};
use crate::lab::{SOON, assert_harmless, assert_keys};
use crate::program::Run;

/// Ends a login that was begun before.
fn finish(lab: &LoginLab, brought: &str) -> Run {
    lab.run(&["mcp", "auth", "fake", "--code", brought])
}

/// A program that notes what it was called with, as a browser in the variable `BROWSER`.
fn recorder(lab: &LoginLab) -> String {
    let path = lab.lab.home.path().join("a browser.sh");
    let lines = [
        "#!/bin/sh",
        "cd \"${0%/*}\"",
        "printf '%s\\n' \"$#\" \"$@\" >opened.new",
        "mv opened.new opened\n",
    ];
    fs::write(&path, lines.join("\n")).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o700)).unwrap();
    path.to_str().unwrap().to_owned()
}

/// What a browser was called with.
fn opened(lab: &LoginLab) -> Option<Vec<String>> {
    let text = fs::read_to_string(lab.lab.home.path().join("opened")).ok()?;
    Some(text.lines().map(str::to_owned).collect())
}

#[test]
fn the_browser_is_opened_with_the_address_and_comes_back_to_a_page() {
    let lab = LoginLab::new("");
    let mut command = lab.lab.home.command(&["mcp", "auth", "fake"]);
    command.env("BROWSER", recorder(&lab));
    let running = Running::of(&lab.lab, command);
    let address = running.address();
    assert!(wait_until(SOON, || opened(&lab).is_some()));
    assert_eq!(opened(&lab).unwrap(), ["1", &address]);
    let back = sent_to(&address);
    let page = get(&back);
    assert_eq!(page.status, 200, "{page:?}");
    assert_eq!(page.header("cache-control"), Some("no-store"));
    assert_eq!(page.header("referrer-policy"), Some("no-referrer"));
    assert!(page.body.contains("fake"), "{page:?}");
    for secret in ["code", "state"] {
        assert!(!page.body.contains(&parameter(&back, secret)), "{page:?}");
    }
    let run = running.ended();
    assert_eq!(run.code, Some(0), "{run}");
    let issuer = lab.server.issuer();
    assert!(run.stdout.starts_with("Logged in to fake.\n"), "{run}");
    assert!(run.stdout.contains(&issuer), "{run}");
    assert!(run.stdout.contains("tools"), "{run}");
    assert!(run.stderr.contains("A browser was opened"), "{run}");
    assert!(run.stderr.contains(&issuer), "who is asked: {run}");
    assert_harmless(&run.stderr);
    lab.calls();
}

#[test]
fn a_browser_that_cannot_be_opened_leaves_the_address() {
    let lab = LoginLab::new("");
    let mut command = lab.lab.home.command(&["mcp", "auth", "fake"]);
    command.env("BROWSER", "/nowhere/browser");
    let running = Running::of(&lab.lab, command);
    assert_eq!(get(&sent_to(&running.address())).status, 200);
    let run = running.ended();
    assert_eq!(run.code, Some(0), "{run}");
    assert!(run.stderr.contains("could not be opened"), "{run}");
    assert!(run.stderr.contains("on any machine"), "{run}");
}

#[test]
fn no_browser_is_opened_where_none_is_wanted_or_the_person_is_elsewhere() {
    let lab = LoginLab::new("");
    for (arguments, variables) in [
        (
            &["mcp", "auth", "fake", "--no-browser"][..],
            vec![("BROWSER", recorder(&lab))],
        ),
        (
            &["mcp", "auth", "fake"],
            vec![
                ("SSH_CONNECTION", "1".to_owned()),
                ("DISPLAY", ":0".to_owned()),
            ],
        ),
        (&["mcp", "auth", "fake"], vec![]),
    ] {
        let mut command = lab.lab.home.command(arguments);
        command.envs(variables);
        let running = Running::of(&lab.lab, command);
        assert_eq!(get(&sent_to(&running.address())).status, 200);
        let run = running.ended();
        assert_eq!(run.code, Some(0), "{run}");
        assert!(run.stderr.contains("on any machine"), "{run}");
        assert!(!run.stderr.contains("A browser was opened"), "{run}");
    }
    assert_eq!(opened(&lab), None);
}

#[test]
fn the_address_asks_for_what_the_books_demand() {
    let lab = LoginLab::new("");
    let running = lab.begin();
    let address = running.address();
    let expected = [
        ("response_type", "code".to_owned()),
        ("code_challenge_method", "S256".to_owned()),
        ("resource", lab.server.url()),
        ("scope", "tools".to_owned()),
    ];
    for (name, value) in expected {
        assert_eq!(parameter(&address, name), value);
    }
    assert_eq!(parameter(&address, "code_challenge").len(), 43);
    let redirect = parameter(&address, "redirect_uri");
    assert!(redirect.starts_with("http://127.0.0.1:"), "{redirect}");
    assert!(redirect.ends_with("/callback"), "{redirect}");
}

#[test]
fn a_name_is_told_as_a_shell_reads_it() {
    let name = "it's my server";
    let lab = LoginLab::new("").place(name, &json!({}));
    let running = lab.begin_with(&["mcp", "auth", name, "--no-browser"]);
    running.says(r"`openclaw mcp auth 'it'\''s my server' --code -`");
    let run = lab.run(&["mcp", "auth", name, "--code", &sent_to(&running.address())]);
    assert_eq!(run.code, Some(0), "{run}");
    assert_eq!(running.ended().code, Some(0));
    lab.server.revoke_all();
    let run = lab.run(&["mcp", "doctor", name, "--probe"]);
    assert!(
        run.stdout
            .contains(r"`openclaw mcp auth 'it'\''s my server'`"),
        "{run}"
    );
}

#[test]
fn the_whole_address_ends_a_login_in_another_process() {
    let lab = LoginLab::new("--lifetime 3045");
    let running = lab.begin();
    let run = finish(&lab, &sent_to(&running.address()));
    assert_eq!(run.code, Some(0), "{run}");
    assert!(run.stdout.starts_with("Logged in to fake.\n"), "{run}");
    let first = running.ended();
    assert_eq!(first.code, Some(0), "who waits sees it: {first}");
    assert_eq!(first.stdout, run.stdout);
    lab.calls();
    assert_eq!(lab.counters().exchanges, 1);
}

#[test]
fn what_was_brought_can_come_on_standard_input() {
    let lab = LoginLab::new("");
    let running = lab.begin();
    let back = sent_to(&running.address());
    let mut child = lab
        .lab
        .home
        .command(&["mcp", "auth", "fake", "--code", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    // As somebody pastes it; the standard input stays open.
    writeln!(stdin, "  \"{back}\" ").unwrap();
    let run = lab.lab.home.finish(child.wait_with_output().unwrap());
    drop(stdin);
    assert_eq!(run.code, Some(0), "{run}");
    assert_eq!(running.ended().code, Some(0));
    lab.calls();
}

#[test]
fn a_bare_code_is_enough_where_no_issuer_was_promised() {
    let lab = LoginLab::new("--fault silent-iss");
    let running = lab.begin();
    let run = finish(&lab, &parameter(&sent_to(&running.address()), "code"));
    assert_eq!(run.code, Some(0), "{run}");
    assert_eq!(running.ended().code, Some(0));
    lab.calls();
}

#[test]
fn a_bare_code_is_not_enough_where_an_issuer_was_promised_and_the_login_goes_on() {
    let lab = LoginLab::new("");
    let running = lab.begin();
    let back = sent_to(&running.address());
    let run = finish(&lab, &parameter(&back, "code"));
    assert_eq!(run.code, Some(1), "{run}");
    assert!(run.stderr.contains("the whole address"), "{run}");
    assert_eq!(finish(&lab, &back).code, Some(0));
    assert_eq!(running.ended().code, Some(0));
}

#[test]
fn a_login_outlives_the_process_that_began_it() {
    for signal in [Signal::KILL, Signal::INT, Signal::TERM] {
        let lab = LoginLab::new("");
        let running = lab.begin();
        let address = running.address();
        running.send(signal);
        let code = running.ended().code;
        let expected = match signal {
            Signal::INT => Some(130),
            Signal::TERM => Some(143),
            _ => None,
        };
        assert_eq!(code, expected);
        assert_eq!(lab.lab.processes(), 0);
        let run = finish(&lab, &sent_to(&address));
        assert_eq!(run.code, Some(0), "{run}");
        lab.calls();
    }
}

#[test]
fn two_logins_at_once_are_ended_each_by_its_own_answer() {
    let lab = LoginLab::new("");
    let (first, second) = (lab.begin(), lab.begin());
    let back = sent_to(&first.address());
    assert_eq!(get(&sent_to(&second.address())).status, 200);
    assert_eq!(second.ended().code, Some(0));
    let page = get(&back);
    assert_eq!(page.status, 200, "{page:?}");
    assert_eq!(first.ended().code, Some(0));
    lab.calls();
}

#[test]
fn programs_get_a_report_and_nothing_else_on_standard_output() {
    let lab = LoginLab::new("");
    let running = lab.begin_with(&["mcp", "auth", "fake", "--no-browser", "--json"]);
    assert_eq!(get(&sent_to(&running.address())).status, 200);
    let report = running.ended().json();
    let keys = ["server", "issuer", "scopes", "tokenExpiresAt", "renewable"];
    assert_keys(&report, &keys);
    assert_eq!(report.as_object().unwrap().len(), keys.len(), "{report:#}");
    assert_eq!(report["server"], "fake");
    assert_eq!(report["issuer"], lab.server.issuer());
    assert_eq!(report["scopes"], json!(["tools"]));
    assert_eq!(report["renewable"], true);
    let running = lab.begin();
    let back = sent_to(&running.address());
    let same = lab.done(&["mcp", "auth", "fake", "--json", "--code", &back]);
    let same = same.json();
    assert_eq!(same["scopes"], report["scopes"]);
    assert_eq!(running.ended().code, Some(0));
    let error = lab
        .lab
        .failure(&["mcp", "auth", "fake", "--code", "nothing#good"], 1);
    assert_keys(&error, &["code", "message"]);
    assert_eq!(error["code"], "login", "{error:#}");
}

#[test]
fn who_registered_once_does_not_register_again() {
    let lab = LoginLab::new("");
    for _ in 0..3 {
        lab.log_in();
    }
    assert_eq!(lab.counters().registrations, 1);
    // Where the authorization server has forgotten us, the next login is told so and the one after
    // it registers anew.
    lab.server.forget_clients();
    let running = lab.begin();
    let page = get(&running.address());
    assert_eq!(page.status, 400, "{page:?}");
    drop(running);
    lab.log_in();
    assert_eq!(lab.counters().registrations, 2);
    lab.log_in();
    assert_eq!(lab.counters().registrations, 2, "this one is known");
    lab.calls();
}

/// The client that a login is begun as, and what is said about it.
fn client_of(flags: &str, auth: &Json) -> (LoginLab, String, String) {
    let lab = LoginLab::with(flags, &json!({ "auth": auth }));
    let running = lab.begin();
    let address = running.address();
    let said = running.says("Client: ");
    assert_eq!(get(&sent_to(&address)).status, 200);
    assert_eq!(running.ended().code, Some(0));
    lab.calls();
    (lab, parameter(&address, "client_id"), said)
}

#[test]
fn a_configured_client_comes_before_all_others() {
    let (lab, client, said) = client_of(
        "--client mine:its-secret-of-20-bytes --documents",
        &json!({
            "clientId": "mine",
            "clientSecret": "its-secret-of-20-bytes",
            "clientMetadataUrl": "https://example.com/client.json",
        }),
    );
    assert_eq!((&*client, lab.counters().registrations), ("mine", 0));
    assert!(said.contains("the configuration"), "{said}");
}

#[test]
fn a_metadata_document_comes_before_registration() {
    let url = "https://example.com/client.json";
    let (lab, client, said) = client_of("--documents", &json!({ "clientMetadataUrl": url }));
    assert_eq!((&*client, lab.counters().registrations), (url, 0));
    assert!(said.contains("document"), "{said}");
}

#[test]
fn registration_is_what_is_left() {
    let url = "https://example.com/client.json";
    let (lab, client, said) = client_of("", &json!({ "clientMetadataUrl": url }));
    assert_ne!(client, url);
    assert_eq!(lab.counters().registrations, 1);
    assert!(said.contains("registered"), "{said}");
}

#[test]
fn scopes_and_the_place_of_the_callback_are_as_configured() {
    let port = free_port();
    let auth = json!({
        "scopes": ["tools", "admin"],
        "callbackHost": "localhost",
        "callbackPort": port,
        "callbackPath": "/back/again",
    });
    let lab = LoginLab::with("", &json!({ "auth": auth }));
    let running = lab.begin();
    let address = running.address();
    let redirect = format!("http://localhost:{port}/back/again");
    assert_eq!(parameter(&address, "redirect_uri"), redirect);
    assert_eq!(parameter(&address, "scope"), "tools admin");
    assert_eq!(get(&sent_to(&address)).status, 200);
    assert_eq!(running.ended().code, Some(0));
    lab.done(&["mcp", "call", "fake/admin"]);
}

/// A port that was free a moment ago.
pub(super) fn free_port() -> u16 {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().port()
}

#[test]
fn where_the_browser_arrives_elsewhere_a_person_brings_the_address() {
    let elsewhere = "https://example.com/back";
    let auth = json!({ "redirectUrl": elsewhere });
    let lab = LoginLab::with("", &json!({ "auth": auth }));
    let running = lab.begin_with(&["mcp", "auth", "fake", "--no-browser"]);
    let address = running.address();
    assert_eq!(parameter(&address, "redirect_uri"), elsewhere);
    running.says("openclaw mcp auth fake --code -");
    let back = sent_to(&address);
    assert!(back.starts_with(elsewhere), "{back}");
    assert_eq!(finish(&lab, &back).code, Some(0));
    assert_eq!(running.ended().code, Some(0));
    lab.calls();
}

#[test]
fn a_server_that_names_nothing_is_logged_in_to_all_the_same() {
    for flags in [
        "--challenge none",
        "--challenge bare --resource-metadata root",
        "--challenge full --resource-metadata elsewhere",
        "--together --challenge none --resource-metadata none",
        "--issuer-path /tenant --server-metadata oidc-appended",
        "--issuer-path /tenant --server-metadata oidc-inserted",
        "--fault issuer-slash",
        "--fault listed-slash",
        "--origin-resource",
    ] {
        let lab = LoginLab::logged_in(flags);
        lab.calls();
    }
}

#[test]
fn nobody_logs_in_to_what_needs_no_login() {
    let lab = LoginLab::new("");
    let lab = LoginLab {
        lab: lab
            .lab
            .server("program", "", json!({}))
            .address("open", "http", json!({})),
        ..lab
    };
    for server in ["program", "open"] {
        let error = lab.lab.failure(&["mcp", "auth", server], 2);
        assert_eq!(error["code"], "no-login", "{error:#}");
    }
    let error = lab.lab.failure(&["mcp", "auth", "nobody"], 2);
    assert_eq!(error["code"], "unknown-server", "{error:#}");
}

#[test]
fn what_keeps_a_login_from_beginning_is_told_as_what_it_is_where_nobody_asks_for_one() {
    let nowhere = format!("http://127.0.0.1:{}", free_port());
    let auth = json!({ "authorizationServerUrl": nowhere });
    let lab = LoginLab::with("--public tools", &json!({ "auth": auth }));
    lab.calls();
    let error = lab.lab.failure(&["mcp", "auth", "fake", "--no-browser"], 1);
    assert_eq!(error["code"], "login", "{error:#}");
    assert!(error.to_string().contains(&nowhere), "{error:#}");
    assert!(error["hint"].is_string(), "{error:#}");
}

#[test]
fn what_a_server_asks_for_when_it_lists_its_tools_is_heard() {
    // Nothing but the challenge tells where it describes itself.
    let lab =
        LoginLab::logged_in("--public greeting --challenge full --resource-metadata elsewhere");
    lab.calls();
}

#[test]
fn a_server_that_lets_nobody_in_is_not_logged_in_to() {
    let server = StandIn::start(|_| Answer::bytes(403, "text/plain", "not from there")).unwrap();
    let url = format!("{}/mcp", server.origin());
    let lab = LoginLab::with("", &json!({ "url": url }));
    let error = lab.lab.failure(&["mcp", "auth", "fake", "--no-browser"], 1);
    assert_eq!(error["code"], "connect", "{error:#}");
    assert!(error.to_string().contains("403"), "{error:#}");
    assert!(server.asked().iter().all(|it| it.path == "/mcp"));
}
