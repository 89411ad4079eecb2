//! A whole conversation with a server that the editor brings along.

use std::path::Path;

use agent_client_protocol::v1::schema::{
    CancelNotification, HttpHeader, ListSessionsRequest, LoadSessionRequest, McpServer,
    McpServerHttp, McpServerSse, PermissionOptionKind, SessionModeId, SessionUpdate,
    SetSessionModeRequest, StopReason, ToolCall, ToolCallContent, ToolCallStatus, ToolKind,
};
use openclaw_testkit::leaks::{eventually, processes_with_argument};
use serde_json::json;

use super::editor::{Editor, edit, stdio};
use crate::lab::{Lab, SOON};

/// A configuration without servers, and one that the editor knows.
fn lab(flags: &str) -> (Lab, Vec<String>) {
    let mut lab = Lab::empty();
    let line = lab.unknown_program(flags);
    (lab, line)
}

/// What tells the processes of a server from others.
fn marker(line: &[String]) -> &str {
    let place = line.iter().position(|word| word == "--marker").unwrap();
    &line[place + 1]
}

fn calls(editor: &Editor) -> Vec<ToolCall> {
    let updates = editor.heard.updates().into_iter();
    let calls = updates.filter_map(|update| match update {
        SessionUpdate::ToolCall(call) => Some(call),
        _ => None,
    });
    calls.collect()
}

/// How the last call ended, and what was told of its result.
fn result(editor: &Editor) -> (Option<ToolCallStatus>, String) {
    let updates = editor.heard.updates();
    let mut ends = updates.iter().rev().filter_map(|update| match update {
        SessionUpdate::ToolCallUpdate(update) => Some(&update.fields),
        _ => None,
    });
    let fields = ends.next().expect("an end");
    let content = fields.content.clone().unwrap_or_default().into_iter();
    let texts = content.filter_map(|content| match content {
        ToolCallContent::Content(content) => Some(json!(content.content)["text"].to_string()),
        _ => None,
    });
    (fields.status, texts.collect())
}

#[test]
fn a_tool_of_the_editor_is_called_with_permission_and_its_result_is_framed() {
    let (lab, line) = lab("");
    let project = lab.home.path().to_owned();
    edit(&lab, PermissionOptionKind::AllowOnce, async |editor| {
        let capabilities = &editor.agent.agent_capabilities;
        assert!(capabilities.load_session);
        assert!(capabilities.mcp_capabilities.http && capabilities.mcp_capabilities.sse);
        assert!(capabilities.prompt_capabilities.image);
        assert!(capabilities.prompt_capabilities.embedded_context);
        assert!(editor.agent.auth_methods.is_empty());

        let opened = editor.open(&project, vec![stdio("mine", &line)]).await;
        let opened = opened.unwrap();
        let session = &opened.session_id;
        let is_announced = |update: &SessionUpdate| match update {
            SessionUpdate::AvailableCommandsUpdate(update) => {
                let mut commands = update.available_commands.iter();
                commands.any(|command| command.name == "mine:greeting")
            }
            _ => false,
        };
        editor.heard.until(is_announced).await;

        let answer = editor.say(session, "echo message=hello").await.unwrap();
        assert_eq!(answer.stop_reason, StopReason::EndTurn);
        let [call] = &calls(editor)[..] else {
            panic!("{:?}", editor.heard.updates());
        };
        assert_eq!(call.raw_input, Some(json!({ "message": "hello" })));
        assert!(call.title.contains("mine"), "{call:?}");
        assert_eq!(call.kind, ToolKind::Other);
        let [question] = &editor.heard.questions()[..] else {
            panic!("one question");
        };
        assert_eq!(question.tool_call.tool_call_id, call.tool_call_id);
        let asked = &question.tool_call.fields;
        assert_eq!(asked.kind, Some(ToolKind::Other), "{asked:?}");
        assert!(asked.title.as_ref().unwrap().contains("echo"), "{asked:?}");
        let (status, text) = result(editor);
        assert_eq!(status, Some(ToolCallStatus::Completed));
        assert!(text.contains("hello"), "{text}");
        assert!(
            text.contains("UNTRUSTED") && text.contains("mine"),
            "{text}"
        );
        assert!(editor.heard.text().contains("hello"));

        assert_eq!(processes_with_argument(marker(&line)).len(), 1);
        editor.close(session).await.unwrap();
        assert_eq!(processes_with_argument(marker(&line)).len(), 0);
        let gone = editor.say(session, "hello").await.unwrap_err();
        assert!(gone.message.contains("session"), "{gone:?}");
    });
}

#[test]
fn servers_at_addresses_are_used_with_their_headers() {
    let mut lab = Lab::empty();
    let http = lab.stranger("http --require-header X-Key=0123456789abcdef");
    let sse = lab.stranger("sse --require-header X-Key=0123456789abcdef");
    let project = lab.home.path().to_owned();
    edit(&lab, PermissionOptionKind::AllowOnce, async |editor| {
        let headers = vec![HttpHeader::new("X-Key", "0123456789abcdef")];
        let servers = vec![
            McpServer::Http(McpServerHttp::new("web", http).headers(headers.clone())),
            McpServer::Sse(McpServerSse::new("old", sse).headers(headers)),
        ];
        let session = editor.open(&project, servers).await.unwrap().session_id;
        for (server, word) in [("web", "hello"), ("old", "goodbye")] {
            editor.heard.forget();
            let message = format!("mcp_{server}_echo message={word}");
            editor.say(&session, &message).await.unwrap();
            let (status, text) = result(editor);
            assert_eq!(status, Some(ToolCallStatus::Completed), "{text}");
            assert!(text.contains(word) && text.contains(server), "{text}");
        }
        editor.close(&session).await.unwrap();
    });
}

#[test]
fn prompts_of_configured_servers_are_announced_as_soon_as_they_are_known() {
    let lab = Lab::new("");
    let project = lab.home.path().to_owned();
    edit(&lab, PermissionOptionKind::AllowOnce, async |editor| {
        editor.open(&project, Vec::new()).await.unwrap();
        let is_announced = |update: &SessionUpdate| match update {
            SessionUpdate::AvailableCommandsUpdate(update) => {
                let mut commands = update.available_commands.iter();
                commands.any(|command| command.name.ends_with(":greeting"))
            }
            _ => false,
        };
        editor.heard.until(is_announced).await;
    });
}

#[test]
fn what_the_person_rejects_is_not_done_and_a_mode_saves_the_question() {
    let (lab, line) = lab("");
    let project = lab.home.path().to_owned();
    edit(&lab, PermissionOptionKind::RejectOnce, async |editor| {
        let opened = editor.open(&project, vec![stdio("mine", &line)]).await;
        let opened = opened.unwrap();
        let session = &opened.session_id;
        editor.say(session, "echo message=hello").await.unwrap();
        let (status, text) = result(editor);
        assert_eq!(status, Some(ToolCallStatus::Failed));
        assert!(text.contains("did not allow"), "{text}");

        let modes = opened.modes.unwrap();
        let mut others = modes.available_modes.iter();
        let other = others.find(|mode| mode.id != modes.current_mode_id);
        let other = other.unwrap().id.clone();
        let request = SetSessionModeRequest::new(session.clone(), other);
        let set = editor.connection.send_request(request).block_task();
        set.await.unwrap();
        editor.heard.forget();
        editor.say(session, "echo message=hello").await.unwrap();
        assert_eq!(result(editor).0, Some(ToolCallStatus::Completed));
        assert!(editor.heard.questions().is_empty());

        let unknown = SessionModeId::new("whatever");
        let request = SetSessionModeRequest::new(session.clone(), unknown);
        let set = editor.connection.send_request(request).block_task();
        assert!(set.await.is_err());
    });
}

#[test]
fn a_turn_is_cancelled_and_the_next_one_goes_on() {
    let (lab, line) = lab("");
    let project = lab.home.path().to_owned();
    edit(&lab, PermissionOptionKind::AllowOnce, async |editor| {
        let opened = editor.open(&project, vec![stdio("mine", &line)]).await;
        let session = opened.unwrap().session_id;
        let waiting = editor.say(&session, "sleep ms=60000");
        let cancelling = async {
            let is_called = || lab.calls() == 1;
            assert!(eventually(SOON, is_called).await, "the call arrives");
            let notification = CancelNotification::new(session.clone());
            editor.connection.send_notification(notification).unwrap();
        };
        let (answer, ()) = tokio::join!(waiting, cancelling);
        assert_eq!(answer.unwrap().stop_reason, StopReason::Cancelled);
        let answer = editor.say(&session, "echo message=again").await.unwrap();
        assert_eq!(answer.stop_reason, StopReason::EndTurn);
        assert!(editor.heard.text().contains("again"));
    });
}

#[test]
fn a_session_is_listed_and_loaded_by_the_next_editor() {
    let (lab, line) = lab("");
    let project = lab.home.path().to_owned();
    let session = edit(&lab, PermissionOptionKind::AllowOnce, async |editor| {
        let opened = editor.open(&project, vec![stdio("mine", &line)]).await;
        let session = opened.unwrap().session_id;
        editor.say(&session, "echo message=hello").await.unwrap();
        // One that nothing was said in is nothing to go on with.
        editor
            .open(Path::new("/elsewhere"), Vec::new())
            .await
            .unwrap();
        session
    });
    edit(&lab, PermissionOptionKind::AllowOnce, async |editor| {
        let list = ListSessionsRequest::new();
        let list = editor.connection.send_request(list).block_task().await;
        let sessions = list.unwrap().sessions;
        let [listed] = &sessions[..] else {
            panic!("{sessions:?}");
        };
        assert_eq!((&listed.session_id, &listed.cwd), (&session, &project));
        assert_eq!(listed.title.as_deref(), Some("echo message=hello"));
        let load = LoadSessionRequest::new(session.clone(), project.clone())
            .mcp_servers(vec![stdio("mine", &line)]);
        let load = editor.connection.send_request(load).block_task();
        load.await.unwrap();
        let updates = editor.heard.updates();
        let user = updates
            .iter()
            .any(|update| matches!(update, SessionUpdate::UserMessageChunk(_)));
        assert!(user && !calls(editor).is_empty(), "{updates:?}");
        assert!(editor.heard.text().contains("hello"));
        editor.heard.forget();
        editor.say(&session, "echo message=more").await.unwrap();
        assert!(editor.heard.text().contains("more"));
        assert_eq!(editor.heard.questions().len(), 1);
    });
}

#[test]
fn what_a_server_wants_to_know_is_asked_in_the_editor() {
    let (lab, line) = lab("");
    let project = lab.home.path().to_owned();
    edit(&lab, PermissionOptionKind::AllowOnce, async |editor| {
        let opened = editor.open(&project, vec![stdio("mine", &line)]).await;
        let session = opened.unwrap().session_id;
        editor.say(&session, "elicit rounds=1").await.unwrap();
        let [form] = &editor.heard.forms()[..] else {
            panic!("one form");
        };
        let asked = form["message"].as_str().unwrap();
        assert!(asked.contains("mine"), "{form}");
        assert!(asked.contains("What is your name?"), "{form}");
        let fields = form["requestedSchema"]["properties"].as_object();
        assert_eq!(fields.unwrap().len(), 4, "{form}");
        let (_, text) = result(editor);
        assert!(text.contains("accept") && text.contains("green"), "{text}");
    });
}

#[test]
fn commands_behind_a_slash_are_answered_without_a_model() {
    let (lab, line) = lab("");
    let project = lab.home.path().to_owned();
    edit(&lab, PermissionOptionKind::AllowOnce, async |editor| {
        let opened = editor.open(&project, vec![stdio("mine", &line)]).await;
        let session = opened.unwrap().session_id;
        editor.say(&session, "/mcp servers").await.unwrap();
        let text = editor.heard.text();
        assert!(text.contains("mine") && text.contains("Running"), "{text}");
    });
}
