//! Servers that an editor lends.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use agent_client_protocol::v1::schema::{
    CloseSessionRequest, LoadSessionRequest, McpServer, McpServerStdio, SessionId,
};
use openclaw_engine::{LendServers, LentLaunch};

use crate::editor::{DEADLINE, Editor, until};

fn server(name: &str) -> McpServer {
    McpServer::Stdio(McpServerStdio::new(name, "/bin/server"))
}

/// Waits until the engine was asked so often what can be typed: at once when a session is opened, when the
/// servers are there that were lent to it, and when all are.
async fn asked(editor: &Editor, count: usize) {
    let asked = || editor.engine.commands.lock().unwrap().len();
    until("commands", || asked() == count).await;
}

/// Waits until an editor was told so often what can be typed in a session.
async fn told(editor: &Editor, session: &SessionId, count: usize) {
    let told = || editor.told_of(session, "available_commands_update").len();
    until("what can be typed", || told() == count).await;
}

#[tokio::test]
async fn servers_are_lent_to_the_session_that_brings_them() {
    let editor = Editor::open().await;
    let session = editor.session(vec![server("clock")]).await;
    asked(&editor, 3).await;
    // What is the same as before is not said again.
    told(&editor, &session, 1).await;
    let loan = editor.engine.loans().remove(0);
    assert_eq!(loan.directory.as_deref(), Some("/project"));
    assert_eq!(loan.servers[0].name, "clock");
    assert!(matches!(loan.servers[0].launch, LentLaunch::Stdio { .. }));
    let key = format!("agent:main:acp:{session}");
    let names = editor.engine.commands.lock().unwrap().clone();
    assert_eq!(names, [Some(key.clone()), Some(key.clone()), Some(key)]);
    editor.session(vec![server("clock")]).await;
    asked(&editor, 6).await;
    let loans = editor.engine.loans();
    assert_eq!(loans[0].lender, loans[1].lender);
    assert_ne!(loans[0].session, loans[1].session);
    assert_eq!(loans[0].lender.id.len(), 32);
    // One lender is there, until the end.
    assert_eq!(editor.engine.lenders.load(Ordering::SeqCst), 1);
    let (engine, _) = editor.hang_up().await;
    assert_eq!(engine.lenders.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn an_agent_that_was_chosen_has_the_servers_and_answers() {
    let editor = Editor::of("work").await;
    let session = editor.session(vec![server("fail")]).await;
    editor.prompt(&session, "hello").await.unwrap();
    let work = Some("work".to_owned());
    assert_eq!(editor.engine.loans()[0].agent, work);
    assert_eq!(editor.engine.asked()[0].agent, work);
    // Nothing is lent, so that the session has no name yet.
    until("commands", || {
        editor.engine.commands.lock().unwrap().first() == Some(&work)
    })
    .await;
}

#[tokio::test]
async fn nothing_is_lent_where_there_is_nothing() {
    let editor = Editor::open().await;
    let session = editor.session(vec![]).await;
    asked(&editor, 2).await;
    told(&editor, &session, 1).await;
    let request = CloseSessionRequest::new(session.clone());
    editor
        .connection
        .send_request(request)
        .block_task()
        .await
        .unwrap();
    assert!(editor.engine.loans().is_empty());
    assert_eq!(*editor.engine.commands.lock().unwrap(), [None, None]);
    let command = &editor.told_of(&session, "available_commands_update")[0]["availableCommands"][0];
    assert_eq!(command["name"], "help");
    assert_eq!(command["input"]["hint"], "[topic]");
}

#[tokio::test]
async fn a_person_hears_of_servers_that_can_not_be_used() {
    let editor = Editor::open().await;
    let session = editor.session(vec![server("bad"), server("down")]).await;
    let both = "\n\nThe server bad of the editor can't be used: it has no name\n\n\
                \n\nThe server down can't be used: it ended\n\n";
    until("warnings", || editor.said(&session) == both).await;
    let session = editor.session(vec![server("fail")]).await;
    let failed = "\n\nThe servers of the editor can't be used: no room\n\n";
    until("a warning", || editor.said(&session) == failed).await;
    editor.prompt(&session, "hello").await.unwrap();
}

#[tokio::test]
async fn what_was_lent_is_taken_back_when_a_session_is_closed() {
    let editor = Editor::open().await;
    let session = editor.session(vec![server("clock")]).await;
    let hanging = editor.prompt(&session, "hang");
    let closing = async {
        until("the turn runs", || editor.said(&session) == "so far").await;
        let request = CloseSessionRequest::new(session.clone());
        editor
            .connection
            .send_request(request)
            .block_task()
            .await
            .unwrap();
        assert_eq!(editor.engine.running.load(Ordering::SeqCst), 0);
    };
    let (answer, ()) = tokio::join!(hanging, closing);
    answer.unwrap();
    let loans = editor.engine.loans();
    assert_eq!(loans.len(), 2);
    assert_eq!(loans[0].session, loans[1].session);
    assert!(loans[1].servers.is_empty());
    editor.prompt(&session, "hello").await.unwrap_err();
}

#[tokio::test]
async fn a_session_that_is_opened_anew_gets_other_servers() {
    let editor = Editor::open().await;
    let session = editor.session(vec![server("clock")]).await;
    asked(&editor, 3).await;
    let load = |servers: Vec<McpServer>| {
        let request = LoadSessionRequest::new(session.clone(), "/project").mcp_servers(servers);
        editor.connection.send_request(request).block_task()
    };
    load(vec![server("calendar")]).await.unwrap();
    asked(&editor, 6).await;
    load(vec![]).await.unwrap();
    asked(&editor, 8).await;
    // Once whenever it is opened.
    told(&editor, &session, 3).await;
    let expected: [&[&str]; 3] = [&["clock"], &["calendar"], &[]];
    assert_eq!(names(&editor), expected);
}

fn names(editor: &Editor) -> Vec<Vec<String>> {
    let loans = editor.engine.loans().into_iter();
    let names = |loan: LendServers| loan.servers.into_iter().map(|it| it.name).collect();
    loans.map(names).collect()
}

#[tokio::test]
async fn servers_are_lent_again_when_the_gateway_comes_back() {
    let editor = Editor::open().await;
    let session = editor.session(vec![server("clock")]).await;
    let bare = editor.session(vec![]).await;
    asked(&editor, 5).await;
    editor.engine.forget_lenders.notify_one();
    let gone = "The servers of the editor are gone";
    until("a warning", || editor.said(&session).contains(gone)).await;
    let again = "The servers of the editor are lent again";
    until("they are back", || editor.said(&session).contains(again)).await;
    asked(&editor, 8).await;
    let loans = editor.engine.loans();
    assert_eq!(loans.len(), 2);
    assert_eq!(loans[0].servers, loans[1].servers);
    assert_eq!(loans[0].session, loans[1].session);
    assert_eq!(editor.engine.lenders.load(Ordering::SeqCst), 1);
    assert_eq!(editor.said(&bare), "");
    // Whoever comes later lends as ever.
    editor.session(vec![server("calendar")]).await;
    asked(&editor, 11).await;
    assert_eq!(names(&editor).pop().unwrap(), ["calendar"]);
}

#[tokio::test]
async fn a_session_that_is_opened_right_behind_its_end_keeps_its_servers() {
    let editor = Editor::open().await;
    let session = editor.session(vec![server("clock")]).await;
    asked(&editor, 3).await;
    editor.engine.is_slow.store(true, Ordering::SeqCst);
    let close = CloseSessionRequest::new(session.clone());
    let close = editor.connection.send_request(close).block_task();
    let servers = vec![server("calendar")];
    let load = LoadSessionRequest::new(session.clone(), "/project").mcp_servers(servers);
    let load = editor.connection.send_request(load).block_task();
    let (closed, loaded) = tokio::join!(close, load);
    closed.unwrap();
    loaded.unwrap();
    asked(&editor, 6).await;
    let expected: [&[&str]; 3] = [&["clock"], &[], &["calendar"]];
    assert_eq!(names(&editor), expected);
    editor.prompt(&session, "hello").await.unwrap();
}

#[tokio::test]
async fn a_person_hears_of_servers_that_nothing_is_known_of() {
    let editor = Editor::open().await;
    let session = editor.session(vec![server("hidden")]).await;
    let dark = "\n\nIt can't be seen whether these servers are ready: hidden: it is dark\n\n";
    until("a warning", || editor.said(&session) == dark).await;
}

#[tokio::test]
async fn servers_are_not_lent_again_without_end() {
    let editor = Editor::open().await;
    let session = editor.session(vec![server("clock")]).await;
    asked(&editor, 3).await;
    editor.engine.is_down.store(true, Ordering::SeqCst);
    // The clock of the agent runs ahead from now on; ours does not.
    tokio::time::pause();
    editor.engine.forget_lenders.notify_one();
    let begun = Instant::now();
    let end = "The servers of the editor can't be lent again: nobody lends";
    while !editor.said(&session).contains(end) && begun.elapsed() < DEADLINE {
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    let said = editor.said(&session);
    assert!(said.contains(end), "{said}");
    tokio::time::sleep(Duration::from_mins(10)).await;
    assert_eq!(editor.engine.attempts.load(Ordering::SeqCst), 5);
    assert_eq!(editor.said(&session), said);
    // Whoever goes on asking has them again as soon as that is possible.
    tokio::time::resume();
    editor.prompt(&session, "hello").await.unwrap();
    assert_eq!(editor.engine.attempts.load(Ordering::SeqCst), 6);
    editor.engine.is_down.store(false, Ordering::SeqCst);
    editor.prompt(&session, "hello").await.unwrap();
    let again = "The servers of the editor are lent again";
    until("they are back", || editor.said(&session).contains(again)).await;
    assert_eq!(names(&editor).pop().unwrap(), ["clock"]);
    editor.prompt(&session, "hello").await.unwrap();
    assert_eq!(editor.said(&session).matches(again).count(), 1);
}
