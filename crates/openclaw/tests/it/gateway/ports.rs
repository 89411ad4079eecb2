//! Where the port of a gateway comes from.

use std::net::TcpListener;

use serde_json::json;

use super::Gateway;
use crate::lab::Lab;

#[test]
fn a_variable_wins_over_the_file_wherever_it_stands() {
    // Whoever takes the port of the file finds somebody there.
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port();
    let mut lab = Lab::empty()
        .alone()
        .settings(json!({ "gateway": { "port": port } }));
    lab.home
        .write(".openclaw/.env", "OPENCLAW_GATEWAY_PORT=0\n");
    drop(Gateway::of(lab.home.plain_command(&["gateway"])));
    lab.home
        .write(".openclaw/.env", "OPENCLAW_GATEWAY_PORT=65536\n");
    let wrong = lab.home.run(&["gateway"]);
    assert_eq!(wrong.code, Some(2), "{wrong}");
    assert!(
        wrong
            .stderr
            .contains("OPENCLAW_GATEWAY_PORT is not a port: \"65536\""),
        "{wrong}"
    );
    lab.home
        .set(vec![("OPENCLAW_GATEWAY_PORT", "0".to_owned())]);
    drop(Gateway::of(lab.home.plain_command(&["gateway"])));
    // It says where a gateway begins, and nothing about one that runs.
    let status = lab.home.run(&["gateway", "status"]);
    assert!(!status.stderr.contains("--port"), "{status}");
    let printed = lab.home.run(&["gateway", "install", "--print"]);
    assert!(printed.stdout.contains("\"--port\" \"0\""), "{printed}");
}
