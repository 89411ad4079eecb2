//! The interface over HTTP, tried by programs that know nothing of it but its own description.

use std::process::{Command, Stdio};

use openclaw_testkit::partners;

use crate::gateway::Gateway;
use crate::lab::Lab;

/// A program of the partners in Python, run to its end; what it says if it is not content.
fn run(program: &str, arguments: &[&str]) -> Result<String, String> {
    let directory = tempfile::tempdir().unwrap();
    let output = Command::new(partners().join("python/bin").join(program))
        .args(arguments)
        // It keeps examples for the next time where it is started.
        .current_dir(directory.path())
        .env("NO_COLOR", "1")
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let text = [output.stdout, output.stderr].concat();
    let text = String::from_utf8_lossy(&text).into_owned();
    if output.status.success() {
        Ok(text)
    } else {
        Err(text)
    }
}

#[test]
fn the_description_is_one_and_what_it_says_is_true() {
    let lab = Lab::new("").alone();
    let gateway = Gateway::start(&lab.home, &[]);
    let ready = lab.home.run(&["mcp", "servers"]);
    assert_eq!(ready.code, Some(0), "{ready}");
    let address = format!("{}/openapi.json", gateway.address);

    let described = gateway.ask(&lab.home, "GET", "/openapi.json", None);
    let file = lab.home.path().join("openapi.json");
    std::fs::write(&file, &described.body).unwrap();
    let file = file.to_str().unwrap();
    run("python", &["-m", "openapi_spec_validator", file]).unwrap_or_else(|why| panic!("{why}"));

    let token = lab.home.path().join(".openclaw/gateway.token");
    let token = std::fs::read_to_string(token).unwrap();
    let header = format!("Authorization: Bearer {}", token.trim());
    // Requests as the description has them and such as break it, and chains of both.
    let checks = "not_a_server_error,status_code_conformance,content_type_conformance,\
                  response_schema_conformance,negative_data_rejection,unsupported_method";
    let tried = run(
        "schemathesis",
        &[
            "run",
            &address,
            "--header",
            &header,
            "--checks",
            checks,
            "--max-examples",
            "40",
            "--generation-deterministic",
            // A WebSocket is begun by other means.
            "--exclude-path",
            "/api/ws",
        ],
    );
    let told = tried.unwrap_or_else(|why| panic!("{why}"));
    let description = described.json();
    let paths = description["paths"].as_object().unwrap().values();
    let operations = paths.map(|path| {
        let ways = ["get", "post"].iter();
        ways.filter(|way| path.get(**way).is_some()).count()
    });
    // All but the WebSocket, and the description, which it has asked for already.
    let tested = format!("Tested: {}\n", operations.sum::<usize>() - 2);
    assert!(told.contains(&tested), "{told}");
    // It is as it was.
    let health = gateway.ask(&lab.home, "GET", "/health", None);
    assert_eq!(health.json()["status"], "ok", "{health:?}");
}
