//! The servers as a program.

use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};

use openclaw_testkit::leaks::wait_until;
use serde_json::{Value, json};

use crate::conversation::PATIENCE;
use crate::web::{ask, get, post_json};

#[test]
fn the_program_says_where_it_is_takes_orders_and_ends_with_its_input() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_fake-login-server"))
        .args(["--lifetime", "2"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    stdout.read_line(&mut line).unwrap();
    let places: Value = serde_json::from_str(&line).unwrap();
    let place = |name: &str| places[name].as_str().unwrap().to_owned();
    let control = |what: &str| format!("{}/{what}", place("control"));
    let refused = ask(&place("url"), None, "ping", &json!({}));
    assert!(refused.header("www-authenticate").is_some());
    let flags = json!({ "flags": "--challenge none" });
    assert_eq!(post_json(&control("flags"), &flags).status, 200);
    let refused = ask(&place("second"), None, "ping", &json!({}));
    assert_eq!(refused.header("www-authenticate"), None);
    for wrong in [json!({ "flags": "--unheard-of" }), json!({})] {
        assert_eq!(post_json(&control("flags"), &wrong).status, 400);
    }
    for order in ["revoke-access", "revoke-all", "forget-clients"] {
        assert_eq!(post_json(&control(order), &json!({})).status, 200);
    }
    assert_eq!(get(&control("counters")).json()["unauthorized"], 2);
    let requests = get(&control("requests")).json();
    assert_eq!(requests[0]["path"], "/mcp");
    assert_eq!(requests.as_array().unwrap().len(), 2);
    assert_eq!(get(&control("other")).status, 404);
    drop(child.stdin.take());
    let mut status = None;
    assert!(wait_until(PATIENCE, || {
        status = child.try_wait().unwrap();
        status.is_some()
    }));
    assert!(status.unwrap().success());
}
