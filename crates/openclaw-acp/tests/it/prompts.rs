//! Prompts, and what is told of their answers.

use std::sync::atomic::Ordering;

use agent_client_protocol::ErrorCode;
use agent_client_protocol::v1::schema::{
    CancelNotification, ClientCapabilities, ClientSessionCapabilities, CloseSessionRequest,
    ContentBlock, EmbeddedResource, EmbeddedResourceResource, NoticeCapabilities, PromptRequest,
    SessionId, SetSessionModeRequest, StopReason, TextContent, TextResourceContents,
};
use openclaw_engine::{AttachmentData, SessionChoice};
use serde_json::json;

use crate::editor::{Editor, until};

#[tokio::test]
async fn an_answer_is_told_while_it_is_given() {
    let editor = Editor::open().await;
    let session = editor.session(vec![]).await;
    let answer = editor.prompt(&session, "good morning").await.unwrap();
    assert_eq!(answer.stop_reason, StopReason::EndTurn);
    assert_eq!(editor.said(&session), "good morning");
    let chunks = editor.told_of(&session, "agent_message_chunk");
    assert!(
        chunks
            .iter()
            .all(|it| it["messageId"] == chunks[0]["messageId"])
    );
    let asked = editor.engine.asked().remove(0);
    assert_eq!(asked.session, SessionChoice::Editor(session.to_string()));
    assert_eq!(asked.message, "good morning");
    assert!(asked.instructions.unwrap().contains("/project"));
    assert!(!asked.approved);
    let title = editor.told_of(&session, "session_info_update");
    assert_eq!(title[0]["title"], "good morning");
    editor.prompt(&session, "good evening").await.unwrap();
    assert_eq!(editor.told_of(&session, "session_info_update").len(), 1);
}

#[tokio::test]
async fn calls_of_tools_are_told() {
    let editor = Editor::open().await;
    let session = editor.session(vec![]).await;
    for _ in 0..2 {
        editor.prompt(&session, "tool").await.unwrap();
    }
    let calls = editor.told_of(&session, "tool_call");
    assert_eq!(calls[0]["title"], "clock: The time");
    assert_eq!(calls[0]["kind"], "read");
    assert_eq!(calls[0]["status"], "in_progress");
    assert_eq!(
        calls[0]["locations"],
        json!([{ "path": "/etc/clock", "line": 3 }])
    );
    assert_ne!(calls[0]["toolCallId"], calls[1]["toolCallId"]);
    let updates = editor.told_of(&session, "tool_call_update");
    assert_eq!(updates[0]["toolCallId"], calls[0]["toolCallId"]);
    assert_eq!(updates[0]["content"][0]["content"]["text"], "half way");
    assert_eq!(updates[1]["status"], "completed");
    assert_eq!(updates[1]["content"][0]["content"]["text"], "noon");
    assert_eq!(editor.said(&session), "It is noon.It is noon.");
}

#[tokio::test]
async fn what_an_editor_embeds_is_attached() {
    let editor = Editor::open().await;
    let session = editor.session(vec![]).await;
    let file = TextResourceContents::new("fn main() {}", "file:///project/src/main.rs");
    let file = EmbeddedResourceResource::TextResourceContents(file);
    let blocks = vec![
        ContentBlock::Resource(EmbeddedResource::new(file)),
        ContentBlock::Text(TextContent::new("/explain")),
    ];
    let request = PromptRequest::new(session, blocks);
    editor
        .connection
        .send_request(request)
        .block_task()
        .await
        .unwrap();
    let asked = editor.engine.asked().remove(0);
    assert_eq!(asked.message, "/explain");
    assert_eq!(asked.attachments[0].name.as_deref(), Some("src/main.rs"));
    let AttachmentData::Base64(data) = &asked.attachments[0].data else {
        panic!("it is text");
    };
    assert_eq!(data, "Zm4gbWFpbigpIHt9");
}

#[tokio::test]
async fn failures_are_told_with_what_to_do() {
    let editor = Editor::open().await;
    let session = editor.session(vec![]).await;
    let error = editor.prompt(&session, "fail").await.unwrap_err();
    assert_eq!(error.code, ErrorCode::INTERNAL_ERROR);
    assert_eq!(error.message, "the model is gone (find it)");
    let answer = editor.prompt(&session, "cut").await.unwrap();
    assert_eq!(answer.stop_reason, StopReason::MaxTokens);
    let before = editor.said(&session);
    let answer = editor.prompt(&session, "rounds").await.unwrap();
    assert_eq!(answer.stop_reason, StopReason::MaxTurnRequests);
    let notice = "\n\nthere were 9 rounds of calls, which is the most\n\n";
    assert_eq!(editor.said(&session), before + notice);
    let error = editor.prompt(&session, " ").await.unwrap_err();
    assert_eq!(error.code, ErrorCode::INVALID_PARAMS);
    // Nothing that happens in a turn ends the rest.
    let error = editor.prompt(&session, "panic").await.unwrap_err();
    assert_eq!(error.code, ErrorCode::INTERNAL_ERROR);
    editor.prompt(&session, "hello").await.unwrap();
}

#[tokio::test]
async fn a_prompt_is_cancelled_at_once() {
    let editor = Editor::open().await;
    let session = editor.session(vec![]).await;
    let cancelling = async {
        until("the turn runs", || editor.said(&session) == "so far").await;
        let second = editor.prompt(&session, "another").await.unwrap_err();
        assert_eq!(second.code, ErrorCode::INVALID_REQUEST);
        let cancel = CancelNotification::new(session.clone());
        editor.connection.send_notification(cancel).unwrap();
    };
    let (answer, ()) = tokio::join!(editor.prompt(&session, "hang"), cancelling);
    assert_eq!(answer.unwrap().stop_reason, StopReason::Cancelled);
    assert_eq!(editor.engine.running.load(Ordering::SeqCst), 0);
    // The cancellation is not kept for the next one.
    let answer = editor.prompt(&session, "hello").await.unwrap();
    assert_eq!(answer.stop_reason, StopReason::EndTurn);
}

#[tokio::test]
async fn a_request_that_is_withdrawn_stops_its_turn() {
    let editor = Editor::open().await;
    let session = editor.session(vec![]).await;
    let words = vec![ContentBlock::Text(TextContent::new("hang"))];
    let request = PromptRequest::new(session.clone(), words);
    let sent = editor.connection.send_request(request);
    until("the turn runs", || editor.said(&session) == "so far").await;
    sent.cancel().unwrap();
    let answer = sent.block_task().await.unwrap();
    assert_eq!(answer.stop_reason, StopReason::Cancelled);
    assert_eq!(editor.engine.running.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn modes_say_whether_tools_are_asked_about() {
    let editor = Editor::open().await;
    let session = editor.session(vec![]).await;
    let change = async |mode: &'static str| {
        let request = SetSessionModeRequest::new(session.clone(), mode);
        let changed = editor.connection.send_request(request).block_task().await;
        changed.unwrap();
    };
    change("allow-all").await;
    editor.prompt(&session, "ask").await.unwrap();
    assert_eq!(editor.said(&session), "Once");
    assert!(editor.questions().is_empty());
    // Another mode counts at once, for a turn that runs, too.
    editor.will_answer(json!({ "outcome": "cancelled" }));
    let changing = async {
        until("the turn runs", || editor.said(&session) == "Onceso far").await;
        change("ask").await;
        editor.engine.go_on.notify_one();
    };
    let (answer, ()) = tokio::join!(editor.prompt(&session, "ask later"), changing);
    answer.unwrap();
    assert_eq!(editor.said(&session), "Onceso farNo");
    assert_eq!(editor.questions().len(), 1);
    assert!(editor.engine.asked().iter().all(|asked| !asked.approved));
    let request = SetSessionModeRequest::new(session, "yolo");
    let error = editor.connection.send_request(request).block_task().await;
    assert_eq!(error.unwrap_err().code, ErrorCode::INVALID_PARAMS);
}

#[tokio::test]
async fn sessions_that_are_not_open_are_unknown() {
    let editor = Editor::open().await;
    for name in ["", "../../etc/passwd", &"a".repeat(32)] {
        let session = SessionId::new(name);
        let error = editor.prompt(&session, "hello").await.unwrap_err();
        assert_eq!(error.code, ErrorCode::RESOURCE_NOT_FOUND);
        assert!(
            error.message.starts_with("there is no session"),
            "{}",
            error.message
        );
    }
}

#[tokio::test]
async fn a_turn_ends_with_its_editor() {
    let editor = Editor::open().await;
    let session = editor.session(vec![]).await;
    let words = vec![ContentBlock::Text(TextContent::new("hang"))];
    let request = PromptRequest::new(session.clone(), words);
    editor.connection.send_request(request).detach();
    until("the turn runs", || editor.said(&session) == "so far").await;
    let (engine, _) = editor.hang_up().await;
    assert_eq!(engine.running.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn notices_are_shown_as_such_where_that_is_possible() {
    let notices = ClientSessionCapabilities::new().notices(NoticeCapabilities::new());
    let editor = Editor::with(ClientCapabilities::new().session(notices)).await;
    let bad = serde_json::from_value(json!({
        "name": "bad", "command": "/bin/bad", "args": [], "env": []
    }));
    let session = editor.session(vec![bad.unwrap()]).await;
    until("a notice", || {
        !editor.told_of(&session, "notice").is_empty()
    })
    .await;
    let notice = editor.told_of(&session, "notice").remove(0);
    assert_eq!(
        notice["title"],
        "The server bad of the editor can't be used: it has no name"
    );
}

#[tokio::test]
async fn so_many_requests_are_under_way_and_not_more() {
    let editor = Editor::open().await;
    let mut sessions = Vec::new();
    for _ in 0..257 {
        sessions.push(editor.session(vec![]).await);
    }
    let last = sessions.pop().unwrap();
    let hanging = sessions.iter().map(|session| {
        let words = vec![ContentBlock::Text(TextContent::new("hang"))];
        let request = PromptRequest::new(session.clone(), words);
        editor.connection.send_request(request).block_task()
    });
    let hanging = futures_util::future::join_all(hanging);
    let rest = async {
        let running = || editor.engine.running.load(Ordering::SeqCst);
        until("all turns run", || running() == 256).await;
        let error = editor.prompt(&last, "hello").await.unwrap_err();
        assert_eq!(error.code, ErrorCode::INVALID_REQUEST);
        assert!(
            error.message.starts_with("256 requests"),
            "{}",
            error.message
        );
        // There is always a place for what makes room.
        let close = CloseSessionRequest::new(sessions[0].clone());
        let closed = editor.connection.send_request(close).block_task().await;
        closed.unwrap();
        until("there is a place", || running() == 255).await;
        editor.prompt(&last, "hello").await.unwrap();
        for session in &sessions[1..] {
            let cancel = CancelNotification::new(session.clone());
            editor.connection.send_notification(cancel).unwrap();
        }
    };
    let (answers, ()) = tokio::join!(hanging, rest);
    let is_cancelled = |reason: StopReason| reason == StopReason::Cancelled;
    assert!(
        answers
            .into_iter()
            .all(|answer| is_cancelled(answer.unwrap().stop_reason))
    );
}
