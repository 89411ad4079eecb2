//! OpenAI's own client libraries, with a gateway and an agent behind it.

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use openclaw_testkit::partners;
use serde_json::{Value as Json, json};

use crate::gateway::Gateway;
use crate::lab::Lab;

/// Lets a client library ask everything that its script knows, and answers what it found.
fn asked(lab: &Lab, program: &str, script: &str) -> Json {
    let gateway = Gateway::start(&lab.home, &[]);
    let token = lab.home.path().join(".openclaw/gateway.token");
    let scripts = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/real/clients");
    let mut client = Command::new(partners().join(program))
        .arg(scripts.join(script))
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("OPENCLAW_PARTNERS", partners())
        .env("OPENAI_BASE_URL", format!("{}/v1", gateway.address))
        .env(
            "OPENAI_API_KEY",
            std::fs::read_to_string(token).unwrap().trim(),
        )
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let plan = json!({ "agent": "main", "say": "echo hello", "look": "give me the image" });
    let mut input = client.stdin.take().unwrap();
    input.write_all(plan.to_string().as_bytes()).unwrap();
    drop(input);
    let output = client.wait_with_output().unwrap();
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{script}: {told}");
    serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{script}: {output:?}"))
}

fn check(program: &str, script: &str) {
    let lab = Lab::new("--only-tools echo,image").alone();
    let found = asked(&lab, program, script);
    assert_eq!(
        found["models"],
        json!(["openclaw", "openclaw/main"]),
        "{found:#}"
    );
    let said = found["whole"]["content"].as_str().unwrap();
    assert!(said.contains("hello"), "{found:#}");
    assert_eq!(found["whole"]["hasKey"], true, "{found:#}");
    assert_eq!(
        found["streamed"]["content"], said,
        "whole and in a stream alike"
    );
    let image = found["images"]["whole"][0].as_str().unwrap();
    assert!(image.starts_with("data:image/png;base64,"), "{found:#}");
    assert_eq!(found["images"]["streamed"][0], image);
    assert_eq!(found["unknown"]["status"], 404, "{found:#}");
    assert_eq!(found["unsupported"]["param"], "n", "{found:#}");
    // What came with a message, and what was said before it, is in the sessions.
    let sessions = lab.home.run(&["sessions", "list", "--json"]).json();
    let sessions = sessions["sessions"].as_array().unwrap().clone();
    let transcripts: Vec<String> = sessions
        .iter()
        .map(|it| {
            lab.home
                .run(&["sessions", "show", it["key"].as_str().unwrap()])
                .stdout
        })
        .collect();
    let has = |words: &[&str]| {
        let all = |text: &String| words.iter().all(|word| text.contains(word));
        transcripts.iter().any(all)
    };
    assert!(has(&["look at this", "image/png"]), "{transcripts:#?}");
    assert!(
        has(&["I am Ann.", "Hello.", "and now?"]),
        "{transcripts:#?}"
    );
}

#[test]
fn the_library_for_node_talks_with_an_agent() {
    check("node_modules/.bin/node", "openai_client.cjs");
}

#[test]
fn the_library_for_python_talks_with_an_agent() {
    check("python/bin/python", "openai_client.py");
}
