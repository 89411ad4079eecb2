//! Gateways that are none of ours, or are of another version.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::os::unix::net::UnixListener;
use std::thread;

use serde_json::json;

use crate::lab::Lab;

/// What the gateway written in TypeScript says when it is asked how it is.
const TYPESCRIPT: &str = "HTTP/1.1 200 OK\r\nX-Content-Type-Options: nosniff\r\n\
    Content-Type: application/json; charset=utf-8\r\nContent-Length: 27\r\n\
    Connection: close\r\n\r\n{\"ok\":true,\"status\":\"live\"}";

/// Somebody at a port who says this to whoever asks.
fn somebody(says: &'static str) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let _ = stream.read(&mut [0; 1024]);
            let _ = stream.write_all(says.as_bytes());
        }
    });
    port
}

#[test]
fn whoever_has_the_port_is_named_as_far_as_it_is_known() {
    for (says, told) in [
        (TYPESCRIPT, "stop it with its own `openclaw gateway stop`"),
        (
            "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
            "choose another port with `--port`",
        ),
    ] {
        let lab = Lab::empty().alone();
        let port = somebody(says).to_string();
        let refused = lab.home.run(&["gateway", "--port", &port]);
        assert_eq!(refused.code, Some(1), "{refused}");
        assert!(refused.stderr.contains(&port), "{refused}");
        assert!(refused.stderr.contains(told), "{refused}");
        assert_eq!(
            refused.stderr.contains("TypeScript"),
            says == TYPESCRIPT,
            "{refused}"
        );
        assert_eq!(refused.stdout, "");
        // Nothing is left of the attempt that would keep commands from working.
        let listed = lab.home.run(&["mcp", "servers", "--json"]);
        assert_eq!(listed.code, Some(0), "{listed}");
    }
}

/// A gateway that speaks a protocol to come.
fn of_another_version(lab: &Lab) {
    let state = lab.home.path().join(".openclaw");
    let listener = UnixListener::bind(state.join("gateway.sock")).unwrap();
    let config = state.join("openclaw.json");
    let says = json!({
        "openclaw": "gateway", "protocol": 99, "version": "99.1.0", "pid": 1,
        "config": config, "address": "http://127.0.0.1:1", "later": true,
    });
    let says = says.to_string();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let _ = stream.read(&mut [0; 1024]);
            let length = u32::try_from(says.len()).unwrap().to_be_bytes();
            let _ = stream.write_all(&[&length, says.as_bytes()].concat());
        }
    });
}

#[test]
fn a_gateway_of_another_version_is_noticed_and_it_is_said_what_to_do() {
    let lab = Lab::new("").alone();
    of_another_version(&lab);
    for command in [
        &["mcp", "call", "fake/echo", "message=hello"][..],
        &["mcp", "servers"],
        &["status"],
        &["agent", "-m", "hello"],
    ] {
        let failed = lab.home.run(command);
        assert_eq!(failed.code, Some(1), "{command:?}: {failed}");
        let told = "the gateway that runs is of version 99.1.0, and this is";
        assert!(failed.stderr.contains(told), "{command:?}: {failed}");
        assert!(failed.stderr.contains("start the gateway anew"), "{failed}");
        assert!(failed.stderr.contains("`--local`"), "{failed}");
    }
    let failed = lab.home.run(&["mcp", "servers", "--json"]).json();
    assert_eq!(failed["error"]["code"], "gateway-version");
    let local = ["mcp", "call", "fake/echo", "message=hello", "--local"];
    let called = lab.home.run(&local);
    assert_eq!(called.stdout, "hello\n", "{called}");
    let doctor = lab.home.run(&["doctor"]);
    assert!(doctor.stdout.contains("99.1.0"), "{doctor}");
}
