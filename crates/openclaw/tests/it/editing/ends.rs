//! How it ends: whatever happens to the editor, nothing is left.

use std::time::{Duration, Instant};

use agent_client_protocol::v1::schema::PermissionOptionKind;
use openclaw_testkit::leaks::{eventually, wait_until};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::time::timeout;

use super::editor::{edit, start, stdio};
use crate::lab::{Lab, SOON};

/// How long an editor that has died may be outlived.
const LIMIT: Duration = Duration::from_secs(6);

#[test]
fn an_editor_that_goes_takes_a_turn_and_all_servers_along() {
    for flags in ["", "--ignore-term --ignore-eof --grandchild"] {
        let mut lab = Lab::empty();
        let line = lab.unknown_program(flags);
        let project = lab.home.path().to_owned();
        let gone = edit(&lab, PermissionOptionKind::AllowOnce, async |editor| {
            let opened = editor.open(&project, vec![stdio("mine", &line)]).await;
            let session = opened.unwrap().session_id;
            let waiting = editor.say(&session, "sleep ms=60000");
            let called = eventually(SOON, || lab.calls() == 1);
            tokio::select! {
                _ = waiting => panic!("it takes a minute"),
                called = called => assert!(called, "the call arrives"),
            }
            Instant::now()
        });
        assert!(lab.is_quiet_within(LIMIT), "a process is left");
        assert!(gone.elapsed() < LIMIT, "{flags}: {:?}", gone.elapsed());
    }
}

#[test]
fn nothing_outlives_it_when_it_is_killed() {
    let mut lab = Lab::empty();
    let line = lab.unknown_program("--ignore-term --ignore-eof --grandchild-setsid");
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let mut child = start(&lab, &["acp"]);
        let mut input = child.stdin.take().unwrap();
        let mut output = BufReader::new(child.stdout.take().unwrap()).lines();
        let (command, arguments) = line.split_first().unwrap();
        let server = json!({ "name": "mine", "command": command, "args": arguments, "env": [] });
        let params = json!({ "cwd": "/", "mcpServers": [server] });
        let first = json!({ "protocolVersion": 1, "clientCapabilities": {} });
        for (id, method, params) in [(1, "initialize", first), (2, "session/new", params)] {
            let request = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
            let text = format!("{request}\n");
            input.write_all(text.as_bytes()).await.unwrap();
            let answer = timeout(SOON, output.next_line()).await.unwrap().unwrap();
            assert!(answer.unwrap().contains("result"));
        }
        let started = wait_until(SOON, || !lab.journal().methods().is_empty());
        assert!(started, "the server starts");
        let pid = Pid::from_raw(child.id().unwrap().try_into().unwrap()).unwrap();
        kill_process(pid, Signal::KILL).unwrap();
        child.wait().await.unwrap();
    });
    assert!(
        lab.is_quiet_within(Duration::from_secs(2)),
        "a process is left"
    );
}
