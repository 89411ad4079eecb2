//! OpenAI's own client libraries, over a real connection.

use std::path::Path;
use std::process::Stdio;

use openclaw_engine::AttachmentData;
use openclaw_testkit::leaks::eventually;
use openclaw_testkit::partners;
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt as _;
use tokio::process::Command;
use tokio::time::timeout;

use super::engine::{PNG, Scripted};
use super::leaving::{SOON, serve};

/// Lets a client library ask everything that its script knows, and answers what it found.
async fn asked(program: &str, script: &str, engine: &Scripted) -> Value {
    let (address, _serving) = serve(engine).await;
    let scripts = Path::new(env!("CARGO_MANIFEST_DIR")).join("../openclaw/tests/it/real/clients");
    let mut command = Command::new(partners().join(program));
    command
        .arg(scripts.join(script))
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("OPENCLAW_PARTNERS", partners())
        .env("OPENAI_BASE_URL", format!("http://{address}/v1"))
        .env("OPENAI_API_KEY", "a-token")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true);
    let plan = json!({
        "agent": "coder", "say": "hello there", "look": "tools", "busy": "fail session-in-use",
        "fail": "fail model-unavailable", "called": "called", "break": "break", "hang": "hang",
    });
    let mut child = command.spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    input.write_all(plan.to_string().as_bytes()).await.unwrap();
    drop(input);
    let output = timeout(SOON * 6, child.wait_with_output()).await;
    let output = output.unwrap().unwrap();
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{script}: {told}");
    // The stream that it left is gone with its turn, though the client lived on for a while.
    let is_gone = || engine.running() == 0;
    assert!(eventually(SOON, is_gone).await, "{script}");
    serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{script}: {output:?}"))
}

/// What both libraries find.
async fn check(program: &str, script: &str) {
    let engine = Scripted::default();
    let found = asked(program, script, &engine).await;
    let image = format!("data:image/png;base64,{PNG}");
    let expected = json!({
        "models": ["openclaw", "openclaw/main", "openclaw/coder"],
        "model": "openclaw/coder",
        "whole": {
            "content": "hello there", "role": "assistant", "finish": "stop", "tokens": 12,
            // The entrance says it, which stands before these routes in a gateway.
            "hasKey": true, "requestId": null,
        },
        "streamed": { "content": "hello there", "finish": "stop", "tokens": 12, "role": "assistant" },
        "images": {
            "content": "I look.\n\n \nA pixel.", "helped": "I look.\n\n \nA pixel.",
            "whole": [image, image],
            "streamed": [image, image],
        },
        "unknown": { "kind": "NotFoundError", "status": 404, "code": "model_not_found", "param": "model" },
        "unsupported": {
            "kind": "BadRequestError", "status": 400, "code": "unsupported_parameter", "param": "n",
        },
        "busy": { "kind": "RateLimitError", "status": 429, "code": "session_in_use", "param": null },
        "failed": { "kind": "InternalServerError", "status": 502, "code": "model_unavailable", "param": null },
        "called": { "kind": "InternalServerError", "status": 502, "code": "model_unavailable", "param": null },
        "broken": { "content": "half a ", "code": "model_truncated" },
        "left": "one ",
    });
    assert_eq!(found, expected, "{found:#}");

    // It repeats what had no effect, but not what may have had one.
    let asked = engine.requests();
    let count = |message: &str| asked.iter().filter(|it| it.message == message).count();
    assert_eq!(
        count("fail model-unavailable"),
        2,
        "once more, as it was told"
    );
    assert_eq!(count("called"), 1);
    let looked = asked.iter().find(|it| it.message == "look at this");
    let AttachmentData::Base64(data) = &looked.unwrap().attachments[0].data else {
        panic!("an image");
    };
    assert_eq!(data, PNG);
    let went_on = asked.iter().find(|it| it.message == "and now?").unwrap();
    assert_eq!(went_on.instructions.as_deref(), Some("Be brief."));
    assert_eq!(went_on.earlier.len(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_library_for_node_gets_what_it_expects() {
    check("node_modules/.bin/node", "openai_client.cjs").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_library_for_python_gets_what_it_expects() {
    check("python/bin/python", "openai_client.py").await;
}
