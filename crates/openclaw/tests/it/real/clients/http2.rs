//! Node's own client of HTTP/2, with a gateway and a server behind it.

use std::path::Path;
use std::process::Command;

use openclaw_testkit::partners;
use serde_json::{Value as Json, json};

use crate::gateway::Gateway;
use crate::lab::Lab;

#[test]
fn node_makes_many_calls_over_one_connection_of_http_2() {
    let lab = Lab::new("--only-tools echo,sleep").alone();
    let gateway = Gateway::start(&lab.home, &[]);
    let token = lab.home.path().join(".openclaw/gateway.token");
    let scripts = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/real/clients");
    let output = Command::new(partners().join("node_modules/.bin/node"))
        .arg(scripts.join("http2_client.cjs"))
        .env_clear()
        .env("GATEWAY", &gateway.address)
        .env("TOKEN", std::fs::read_to_string(token).unwrap().trim())
        .output()
        .unwrap();
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{told}");
    let found: Json = serde_json::from_slice(&output.stdout).unwrap();
    let words = found["words"].as_array().unwrap();
    let echoes = found["echoes"].as_array().unwrap();
    assert_eq!(echoes.len(), 64);
    for (word, echo) in words.iter().zip(echoes) {
        assert_eq!(echo[0], 200, "{echo}");
        let said = echo[1].as_str().unwrap();
        assert!(said.ends_with(word.as_str().unwrap()), "{said}");
    }
    assert!(found["large"].as_u64().unwrap() >= 1 << 20, "{found:#}");
    let streamed = json!({ "status": 200, "type": "text/event-stream", "ends": true });
    assert_eq!(found["streamed"], streamed);
    assert_eq!(found["running"], true);
    assert_eq!(found["givenUp"], 8, "NGHTTP2_CANCEL");
    assert_eq!(found["after"], 200);
}
