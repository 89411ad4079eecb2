//! Sessions: opened, listed, opened again.

use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, SystemTime};

use agent_client_protocol::ErrorCode;
use agent_client_protocol::v1::schema::{
    CloseSessionRequest, DeleteSessionRequest, ListSessionsRequest, ListSessionsResponse,
    LoadSessionRequest, NewSessionRequest, ResumeSessionRequest, SessionId,
};
use openclaw_engine::{AskedCall, MessageReport, SessionReport, Speaker, ToolCallReport};
use serde_json::json;
use tokio::time::timeout;

use crate::editor::{DEADLINE, Editor, until};
use crate::engine::FakeEngine;

#[tokio::test]
async fn an_editor_learns_what_the_agent_can_do() {
    let editor = Editor::open().await;
    let introduction = serde_json::to_value(&editor.introduction).unwrap();
    assert_eq!(introduction["protocolVersion"], 1);
    assert_eq!(
        introduction["agentInfo"],
        json!({ "name": "openclaw", "title": "OpenClaw", "version": "1.2.3" })
    );
    let capabilities = &introduction["agentCapabilities"];
    assert_eq!(capabilities["loadSession"], true);
    for name in ["image", "audio", "embeddedContext"] {
        assert_eq!(capabilities["promptCapabilities"][name], true, "{name}");
    }
    assert_eq!(capabilities["mcpCapabilities"]["http"], true);
    assert_eq!(capabilities["mcpCapabilities"]["sse"], true);
    for name in ["list", "resume", "close", "delete"] {
        assert!(
            capabilities["sessionCapabilities"][name].is_object(),
            "{name}"
        );
    }
}

#[tokio::test]
async fn a_new_session_asks_about_tools() {
    let editor = Editor::open().await;
    let request = NewSessionRequest::new("/project");
    let response = editor.connection.send_request(request).block_task().await;
    let response = serde_json::to_value(response.unwrap()).unwrap();
    assert_eq!(response["modes"]["currentModeId"], "ask");
    assert_eq!(response["modes"]["availableModes"][1]["id"], "allow-all");
    let request = NewSessionRequest::new("project");
    let error = editor.connection.send_request(request).block_task().await;
    assert_eq!(error.unwrap_err().code, ErrorCode::INVALID_PARAMS);
}

#[tokio::test]
async fn hundreds_of_sessions_are_open_at_once_and_not_more() {
    let editor = Editor::open().await;
    let mut sessions = HashSet::new();
    for _ in 0..512 {
        assert!(sessions.insert(editor.session(vec![]).await));
    }
    let prompts = sessions.iter().take(200);
    let prompts = prompts.map(|session| editor.prompt(session, "hello"));
    let answers = futures_util::future::join_all(prompts).await;
    assert!(answers.iter().all(Result::is_ok));
    for session in sessions.iter().take(200) {
        assert_eq!(editor.said(session), "hello");
    }
    let request = NewSessionRequest::new("/project");
    let error = editor.connection.send_request(request).block_task().await;
    assert!(
        error
            .unwrap_err()
            .message
            .starts_with("512 sessions are open")
    );
    let closed = sessions.iter().next().unwrap().clone();
    let request = CloseSessionRequest::new(closed);
    editor
        .connection
        .send_request(request)
        .block_task()
        .await
        .unwrap();
    editor.session(vec![]).await;
}

/// A session that another process had: its name.
async fn earlier(engine: &Arc<FakeEngine>, state: &Path) -> SessionId {
    let editor = Editor::again(Arc::clone(engine), state).await;
    let session = editor.session(vec![]).await;
    editor.prompt(&session, "What time is it?").await.unwrap();
    editor.hang_up().await;
    session
}

#[tokio::test]
async fn what_was_said_is_told_again() {
    let directory = tempfile::tempdir().unwrap();
    let (engine, state) = (Arc::default(), directory.path().join("state"));
    let session = earlier(&engine, &state).await;
    let mut asking = MessageReport::said(Speaker::Assistant, "I look.");
    asking.tool_calls = vec![AskedCall {
        id: "1".to_owned(),
        name: "now".to_owned(),
        arguments: json!({ "zone": "utc" }),
        outcome: Some(ToolCallReport {
            name: "now".to_owned(),
            server: Some("clock".to_owned()),
            is_error: false,
            duration_ms: 1,
        }),
    }];
    let said = vec![
        MessageReport::said(Speaker::User, "What time is it?"),
        asking,
        MessageReport::said(Speaker::Tool, "noon"),
        MessageReport::said(Speaker::Assistant, "It is noon."),
    ];
    let key = format!("agent:main:acp:{session}");
    engine.transcripts.lock().unwrap().insert(key, said);
    let editor = Editor::again(engine, &state).await;
    let request = ResumeSessionRequest::new(session.clone(), "/project");
    editor
        .connection
        .send_request(request)
        .block_task()
        .await
        .unwrap();
    assert_eq!(editor.said(&session), "");
    let request = LoadSessionRequest::new(session.clone(), "/project");
    let response = editor.connection.send_request(request).block_task().await;
    assert!(response.unwrap().modes.is_some());
    // Everything was told before the answer.
    let mut told = editor.told(&session);
    told.retain(|update| update["sessionUpdate"] != "available_commands_update");
    assert_eq!(told.len(), 4);
    assert_eq!(told[0]["sessionUpdate"], "user_message_chunk");
    assert_eq!(told[0]["content"]["text"], "What time is it?");
    assert_eq!(told[2]["title"], "clock: now");
    assert_eq!(told[2]["status"], "completed");
    assert_eq!(told[2]["content"][0]["content"]["text"], "noon");
    assert_eq!(editor.said(&session), "I look.It is noon.");
    editor.prompt(&session, "And now?").await.unwrap();
}

#[tokio::test]
async fn only_sessions_of_ours_can_be_opened_again() {
    let editor = Editor::open().await;
    for name in ["", "../state/editors/x", &"0".repeat(32)] {
        let request = LoadSessionRequest::new(name.to_owned(), "/project");
        let error = editor.connection.send_request(request).block_task().await;
        assert_eq!(
            error.unwrap_err().code,
            ErrorCode::RESOURCE_NOT_FOUND,
            "{name}"
        );
        let request = ResumeSessionRequest::new(name.to_owned(), "/project");
        let error = editor.connection.send_request(request).block_task().await;
        assert_eq!(
            error.unwrap_err().code,
            ErrorCode::RESOURCE_NOT_FOUND,
            "{name}"
        );
    }
    // Nothing was said in it.
    let session = editor.session(vec![]).await;
    let request = LoadSessionRequest::new(session.clone(), "/project");
    editor
        .connection
        .send_request(request)
        .block_task()
        .await
        .unwrap();
    let request = LoadSessionRequest::new(session, "project");
    let error = editor.connection.send_request(request).block_task().await;
    assert_eq!(error.unwrap_err().code, ErrorCode::INVALID_PARAMS);
}

async fn list(editor: &Editor, request: ListSessionsRequest) -> ListSessionsResponse {
    let response = editor.connection.send_request(request).block_task().await;
    response.unwrap()
}

#[tokio::test]
async fn sessions_are_listed_by_pages_and_projects() {
    let editor = Editor::open().await;
    let mut reports = Vec::new();
    for number in 0..120 {
        let project = if number % 2 == 0 { "/even" } else { "/odd" };
        let request = NewSessionRequest::new(project);
        let response = editor.connection.send_request(request).block_task().await;
        let session = response.unwrap().session_id;
        editor
            .prompt(&session, &format!("number {number}"))
            .await
            .unwrap();
        reports.push(report(&session.0, number));
    }
    reports.push(report(&"f".repeat(32), 1));
    reports.push(report("../x", 1));
    let mut other = report("x", 1);
    other.key = "agent:main:main".to_owned();
    reports.push(other);
    *editor.engine.sessions.lock().unwrap() = reports;
    let mut titles = Vec::new();
    let mut request = ListSessionsRequest::new();
    let mut pages = 0;
    loop {
        let page = list(&editor, request.clone()).await;
        pages += 1;
        titles.extend(
            page.sessions
                .into_iter()
                .filter_map(|session| session.title),
        );
        let Some(cursor) = page.next_cursor else {
            break;
        };
        request = request.cursor(cursor);
    }
    let expected: Vec<_> = (0..120)
        .rev()
        .map(|number| format!("number {number}"))
        .collect();
    assert_eq!(titles, expected);
    assert_eq!(pages, 3);
    let request = ListSessionsRequest::new().cwd(Path::new("/odd").to_owned());
    let page = list(&editor, request).await;
    assert_eq!(page.sessions.len(), 50);
    assert!(
        page.sessions
            .iter()
            .all(|session| session.cwd == Path::new("/odd"))
    );
    assert_eq!(
        page.sessions[0].updated_at.as_deref(),
        Some("2026-01-01T00:01:59Z")
    );
    let request = ListSessionsRequest::new().cursor("nowhere".to_owned());
    let error = editor.connection.send_request(request).block_task().await;
    assert_eq!(error.unwrap_err().code, ErrorCode::INVALID_PARAMS);
}

fn report(id: &str, number: u32) -> SessionReport {
    let time = format!("2026-01-01T00:{:02}:{:02}Z", number / 60, number % 60);
    SessionReport {
        key: format!("agent:main:acp:{id}"),
        agent: "main".to_owned(),
        messages: 2,
        created_at: time.clone(),
        updated_at: time,
    }
}

#[tokio::test]
async fn a_session_that_is_deleted_is_gone() {
    let editor = Editor::open().await;
    let session = editor.session(vec![]).await;
    editor.prompt(&session, "hello").await.unwrap();
    let delete = || {
        let request = DeleteSessionRequest::new(session.clone());
        editor.connection.send_request(request).block_task()
    };
    delete().await.unwrap();
    let key = format!("agent:main:acp:{session}");
    assert_eq!(*editor.engine.deleted.lock().unwrap(), [key]);
    *editor.engine.sessions.lock().unwrap() = vec![report(&session.0, 1)];
    let page = list(&editor, ListSessionsRequest::new()).await;
    assert!(page.sessions.is_empty());
    let error = delete().await.unwrap_err();
    assert_eq!(error.code, ErrorCode::RESOURCE_NOT_FOUND);
}

#[tokio::test]
async fn a_session_that_is_closed_while_it_is_told_again_is_not_opened() {
    let editor = Editor::open().await;
    let session = editor.session(vec![]).await;
    editor.prompt(&session, "hello").await.unwrap();
    editor.engine.is_silent.store(true, Ordering::SeqCst);
    let load = || {
        let request = LoadSessionRequest::new(session.clone(), "/project");
        editor.connection.send_request(request).block_task()
    };
    let looked_up = || editor.engine.looked_up.load(Ordering::SeqCst);
    let before = looked_up();
    let close = async {
        until("it is being loaded", || looked_up() == before + 1).await;
        let request = CloseSessionRequest::new(session.clone());
        let closed = editor.connection.send_request(request).block_task();
        closed.await.unwrap();
    };
    let both = async { tokio::join!(load(), close) };
    let (loaded, ()) = timeout(DEADLINE, both).await.unwrap();
    let error = loaded.unwrap_err();
    assert!(error.message.contains("closed"), "{}", error.message);
    // The one that is opened anew comes in its place.
    let second = async {
        until("it is being loaded again", || looked_up() == before + 2).await;
        editor.engine.is_silent.store(false, Ordering::SeqCst);
        load().await.unwrap();
    };
    let both = async { tokio::join!(load(), second) };
    let (first, ()) = timeout(DEADLINE, both).await.unwrap();
    first.unwrap_err();
    editor.prompt(&session, "hello").await.unwrap();
}

#[tokio::test]
async fn nothing_is_forgotten_while_sessions_can_not_be_read() {
    let directory = tempfile::tempdir().unwrap();
    let (engine, state) = (Arc::<FakeEngine>::default(), directory.path().join("state"));
    let editor = Editor::again(Arc::clone(&engine), &state).await;
    let session = editor.session(vec![]).await;
    editor.prompt(&session, "hello").await.unwrap();
    let file = state.join(format!("editors/{session}.json"));
    let long_ago = SystemTime::now() - Duration::from_hours(24 * 365);
    let opened = std::fs::File::open(&file).unwrap();
    opened.set_modified(long_ago).unwrap();
    *engine.problems.lock().unwrap() = vec!["a store can't be read".to_owned()];
    list(&editor, ListSessionsRequest::new()).await;
    assert!(file.exists());
    engine.problems.lock().unwrap().clear();
    list(&editor, ListSessionsRequest::new()).await;
    assert!(!file.exists());
}
