//! Models behind the protocols of services: a stand-in that others wrote, and a small language model.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use openclaw_testkit::partners;
use serde_json::{Value as Json, json};

use super::everything;
use crate::lab::Lab;
use crate::logins::terminal::Terminal;

/// How long a program may take to listen, on a busy machine.
const STARTING: Duration = Duration::from_mins(1);

/// A program that listens on a port of its own until it is dropped.
pub(super) struct Listening {
    child: Child,
    pub(super) address: String,
    /// What it reads, which is not in the home directory: what has that in its command line counts
    /// as left behind.
    files: Option<tempfile::TempDir>,
}

impl Listening {
    fn start(command: &mut Command) -> Self {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let (tell, told) = std::sync::mpsc::channel();
        let errors = BufReader::new(child.stderr.take().unwrap());
        // Reads on, so that the program never waits for somebody who does.
        std::thread::spawn(move || {
            for line in errors.lines().map_while(Result::ok) {
                if let Some(address) = line.strip_prefix("listening on ") {
                    let _ = tell.send(address.to_owned());
                }
            }
        });
        let address = told.recv_timeout(STARTING);
        let address = address.unwrap_or_else(|_| {
            let _ = child.kill();
            panic!("it does not listen");
        });
        Self {
            child,
            address,
            files: None,
        }
    }

    /// The stand-in for services, with answers for what is asked here.
    fn aimock() -> Self {
        Self::aimock_with(&fixtures())
    }

    /// The stand-in for services, with these answers.
    pub(super) fn aimock_with(answers: &Json) -> Self {
        let files = tempfile::tempdir().unwrap();
        let fixtures = files.path().join("fixtures.json");
        std::fs::write(&fixtures, answers.to_string()).unwrap();
        let partners = partners();
        let mut listening = Self::start(
            Command::new(partners.join("node_modules/.bin/node"))
                .arg("--require")
                .arg(partners.join("listen.cjs"))
                .arg(partners.join("node_modules/@copilotkit/aimock/dist/cli.js"))
                .args(["--log-level", "silent", "--fixtures"])
                .arg(fixtures),
        );
        listening.files = Some(files);
        listening
    }

    /// A small language model.
    fn small_model() -> Self {
        let partners = partners();
        let python = partners.join("python/bin/python");
        Self::start(Command::new(python).arg(partners.join("small_model.py")))
    }

    /// Everything that was asked, as the stand-in notes it down.
    pub(super) fn journal(&self) -> String {
        let address = format!("http://{}/__aimock/journal", self.address);
        let answer = Command::new(partners().join("node_modules/.bin/node"))
            .args([
                "-e",
                "fetch(process.argv[1]).then(it => it.text()).then(console.log)",
            ])
            .arg(address)
            .output()
            .unwrap();
        String::from_utf8(answer.stdout).unwrap()
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Answers to "echo hello": a call, and what is said about its result.
fn fixtures() -> Json {
    json!({ "fixtures": [
        {
            "match": { "userMessage": "echo hello", "hasToolResult": false },
            "response": { "toolCalls": [
                { "name": "mcp_everything_echo", "arguments": { "message": "hello" } },
            ] },
        },
        {
            "match": { "userMessage": "echo hello", "hasToolResult": true },
            "response": { "content": "The server echoed hello." },
        },
    ] })
}

#[test]
fn an_agent_calls_a_tool_on_every_wire_and_the_model_reads_a_framed_result() {
    for (api, path) in [
        ("anthropic-messages", ""),
        ("openai-completions", "/v1"),
        ("openai-responses", "/v1"),
        ("google-generative-ai", "/v1beta"),
    ] {
        let lab = everything();
        let service = Listening::aimock();
        let lab = lab.settings(json!({
            "models": { "providers": { "mock": {
                "api": api,
                "baseUrl": format!("http://{}{path}", service.address),
                "apiKey": "sk-nobody-must-see-this",
            } } },
            "agents": { "defaults": { "model": "mock/some-model" } },
        }));
        let report = lab.json(&["agent", "-m", "please echo hello"]);
        assert_eq!(
            report["reply"], "The server echoed hello.",
            "{api}: {report:#}"
        );
        assert_eq!(report["model"], "mock/some-model", "{api}");
        assert_eq!(report["sessionKey"], "agent:main:main", "{api}");
        let call = &report["toolCalls"][0];
        assert_eq!(call["name"], "mcp_everything_echo", "{api}");
        assert_eq!(call["server"], "everything", "{api}");
        assert_eq!(call["isError"], false, "{api}");
        assert!(
            report["usage"]["outputTokens"].as_u64().is_some(),
            "{api}: {report:#}"
        );

        let journal = service.journal();
        for seen in [
            "<<<EXTERNAL_UNTRUSTED_CONTENT id=",
            "From: everything/echo",
            "Echo: hello",
            "SECURITY NOTICE",
            "<available-mcp-servers>",
        ] {
            assert!(
                journal.contains(seen),
                "{api}: the model does not see {seen:?}"
            );
        }
        let run = lab.done(&["sessions", "show", "main", "--json"]);
        let messages = run.json()["messages"].as_array().unwrap().len();
        assert_eq!(messages, 4, "{api}: {run}");
        assert!(!run.stdout.contains("sk-nobody"), "{api}");
    }
}

#[test]
fn a_service_that_is_down_is_stood_in_for_by_a_fallback() {
    let lab = everything();
    let service = Listening::aimock();
    let lab = lab.settings(json!({
        "models": { "providers": {
            "down": { "baseUrl": "http://127.0.0.1:9/v1", "apiKey": "x-not-a-key" },
            "mock": { "baseUrl": format!("http://{}/v1", service.address), "apiKey": "x-not-a-key" },
        } },
        "agents": { "defaults": { "model": { "primary": "down/a", "fallbacks": ["mock/b"] } } },
    }));
    let run = lab.done(&["agent", "-m", "echo hello", "--json"]);
    assert!(run.stderr.contains("mock/b is asked"), "{run}");
    let report = run.json();
    assert_eq!(report["model"], "mock/b", "{report:#}");
    assert_eq!(report["reply"], "The server echoed hello.");
}

#[test]
fn the_offline_model_uses_the_reference_server() {
    let lab = everything();
    let report = lab.json(&["agent", "-m", "echo hello"]);
    assert_eq!(report["model"], "builtin/offline", "{report:#}");
    assert_eq!(report["toolCalls"][0]["name"], "mcp_everything_echo");
    assert!(
        report["reply"].as_str().unwrap().contains("Echo: hello"),
        "{report:#}"
    );

    // Images are parts of the answer.
    let report = lab.json(&["agent", "-m", "get the tiny image"]);
    let parts = report["parts"].as_array().unwrap();
    let image = parts.iter().find(|part| part["type"] == "image");
    assert_eq!(image.unwrap()["mimeType"], "image/png", "{report:#}");
}

#[test]
fn a_language_model_answers_unscripted_and_word_by_word() {
    let model = Listening::small_model();
    for (api, path) in [("openai-completions", "/v1"), ("anthropic-messages", "")] {
        let lab = Lab::empty().settings(json!({
            "models": { "providers": { "small": {
                "api": api,
                "baseUrl": format!("http://{}{path}", model.address),
                "models": [{ "id": "smollm2", "contextWindow": 8192, "maxTokens": 60 }],
            } } },
            "agents": { "defaults": { "model": "small/smollm2" } },
        }));
        // The model may be told that it has said enough, which is said on stderr.
        let report = lab
            .done(&[
                "agent",
                "-m",
                "Write two sentences about the sea.",
                "--json",
            ])
            .json();
        let reply = report["reply"].as_str().unwrap();
        assert!(reply.split_whitespace().count() > 2, "{api}: {report:#}");
        assert!(
            report["usage"]["outputTokens"].as_u64().unwrap() > 2,
            "{api}: {report:#}"
        );
        streams_on_a_terminal(&lab, api);
    }
}

/// On a terminal the words come one by one. The model says what it likes, now and then next to nothing: it is
/// asked again then.
fn streams_on_a_terminal(lab: &Lab, api: &str) {
    let pieces = || {
        let question = ["agent", "--new", "-m", "Tell me about the sea."];
        let (code, times) = Terminal::of(lab.home.command(&question)).grown();
        assert_eq!(code, Some(0), "{api}");
        times
    };
    let mut seen = Vec::new();
    while seen.len() < 3 && seen.last().is_none_or(|times| *times <= 5) {
        seen.push(pieces());
    }
    assert!(seen.iter().any(|times| *times > 5), "{api}: {seen:?}");
}

#[test]
fn what_is_wrong_with_a_model_is_said_with_what_to_do() {
    let lab = everything();
    let service = Listening::aimock();
    let lab = lab.settings(json!({
        "models": { "providers": { "mock": {
            "baseUrl": format!("http://{}/v1", service.address), "apiKey": "x-not-a-key",
        } } },
    }));
    let failure = |model: &str, code: i32| -> Json {
        lab.failure(&["agent", "-m", "echo hello", "--model", model], code)
    };
    assert_eq!(
        failure("anthropic/claude-sonnet-4-5", 2)["code"],
        "no-model-key"
    );
    assert_eq!(failure("nobody/some", 2)["code"], "unknown-model");
    assert_eq!(failure("gpt", 2)["code"], "unknown-model");
    assert_eq!(failure("builtin/online", 2)["code"], "unknown-model");
}
