//! What editors should not send, and servers that do not come.

use std::path::Path;

use agent_client_protocol::v1::schema::{
    PermissionOptionKind, SessionId, SessionUpdate, StopReason,
};
use serde_json::{Value as Json, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::time::timeout;

use super::editor::{edit, start, stdio};
use crate::lab::{Lab, SOON};

#[test]
fn a_server_that_never_starts_is_told_and_the_session_goes_on() {
    let mut lab = Lab::empty();
    let line = lab.unknown_program("");
    let missing = ["/nowhere/program".to_owned()];
    edit(&lab, PermissionOptionKind::AllowOnce, async |editor| {
        let servers = vec![stdio("broken", &missing), stdio("mine", &line)];
        let opened = editor.open(Path::new("/"), servers).await.unwrap();
        let is_told = |update: &SessionUpdate| {
            let told = json!(update).to_string();
            told.contains("broken") && told.contains("/nowhere/program")
        };
        editor.heard.until(is_told).await;
        let answer = editor.say(&opened.session_id, "echo message=fine").await;
        assert_eq!(answer.unwrap().stop_reason, StopReason::EndTurn);
        assert!(editor.heard.text().contains("fine"));
    });
}

#[test]
fn sessions_that_are_not_there_and_prompts_that_are_none_are_refused() {
    let lab = Lab::empty();
    edit(&lab, PermissionOptionKind::AllowOnce, async |editor| {
        let unknown = SessionId::new("../../etc/passwd");
        let error = editor.say(&unknown, "hello").await.unwrap_err();
        assert!(error.message.contains("session"), "{error:?}");
        assert!(editor.close(&unknown).await.is_err());
        let relative = editor.open(Path::new("here"), Vec::new()).await;
        assert!(relative.is_err());
        let opened = editor.open(Path::new("/"), Vec::new()).await.unwrap();
        let empty = editor.say(&opened.session_id, "  ").await;
        assert!(empty.is_err());
        let answer = editor.say(&opened.session_id, "hello").await.unwrap();
        assert_eq!(answer.stop_reason, StopReason::EndTurn);
    });
}

#[test]
fn two_hundred_sessions_are_open_at_a_time() {
    let lab = Lab::empty();
    edit(&lab, PermissionOptionKind::AllowOnce, async |editor| {
        let mut sessions = Vec::new();
        for _ in 0..200 {
            let opened = editor.open(Path::new("/"), Vec::new()).await.unwrap();
            sessions.push(opened.session_id);
        }
        for session in [&sessions[0], &sessions[199]] {
            let answer = editor.say(session, "hello").await.unwrap();
            assert_eq!(answer.stop_reason, StopReason::EndTurn);
        }
    });
}

#[test]
fn lines_that_are_no_messages_are_answered_and_passed_over() {
    let lab = Lab::empty();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let mut child = start(&lab, &["acp"]);
        let mut input = child.stdin.take().unwrap();
        let mut output = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut answer = async |line: &[u8]| -> Json {
            input.write_all(line).await.unwrap();
            input.write_all(b"\n").await.unwrap();
            let line = timeout(SOON, output.next_line()).await.unwrap().unwrap();
            serde_json::from_str(&line.unwrap()).unwrap()
        };
        let session = json!({ "jsonrpc": "2.0", "id": 1, "method": "session/new",
            "params": { "cwd": "/", "mcpServers": [] } });
        let early = answer(session.to_string().as_bytes()).await;
        assert!(early["error"]["message"].is_string(), "{early}");
        for line in [
            &b"{"[..],
            b"[]",
            b"5",
            b"\xff\xfe",
            b"{\"jsonrpc\":\"2.0\"}",
        ] {
            let answer = answer(line).await;
            assert!(answer["error"]["code"].is_number(), "{line:?}: {answer}");
        }
        let first = json!({ "jsonrpc": "2.0", "id": 2, "method": "initialize",
            "params": { "protocolVersion": 1, "clientCapabilities": {} } });
        let hello = answer(first.to_string().as_bytes()).await;
        assert_eq!(hello["result"]["protocolVersion"], 1, "{hello}");
        let unknown = json!({ "jsonrpc": "2.0", "id": 3, "method": "session/whatever" });
        let unknown = answer(unknown.to_string().as_bytes()).await;
        assert_eq!(unknown["error"]["code"], -32601, "{unknown}");
        let opened = answer(session.to_string().as_bytes()).await;
        assert!(opened["result"]["sessionId"].is_string(), "{opened}");
        drop(input);
        let ended = timeout(SOON, child.wait()).await.unwrap().unwrap();
        assert_eq!(ended.code(), Some(0));
    });
}
