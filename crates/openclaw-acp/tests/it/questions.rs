//! What a person is asked.

use agent_client_protocol::v1::schema::{
    CancelNotification, ClientCapabilities, ElicitationCapabilities, ElicitationFormCapabilities,
    ElicitationUrlCapabilities, StopReason,
};
use serde_json::{Value, json};

use crate::editor::{Editor, until};

#[tokio::test]
async fn a_person_says_whether_a_tool_may_run() {
    let editor = Editor::open().await;
    let session = editor.session(vec![]).await;
    let chosen = |option: &str| json!({ "outcome": "selected", "optionId": option });
    for (answer, meant) in [
        (chosen("allow-once"), "Once"),
        (chosen("allow-always"), "Always"),
        (chosen("reject-once"), "No"),
        (json!({ "outcome": "cancelled" }), "No"),
    ] {
        editor.will_answer(answer);
        let before = editor.said(&session);
        editor.prompt(&session, "ask").await.unwrap();
        assert_eq!(editor.said(&session), before + meant);
    }
    let question = editor.questions().remove(0);
    let call = editor.told_of(&session, "tool_call").remove(0);
    assert_eq!(question["sessionId"], *session.0);
    assert_eq!(question["toolCall"]["toolCallId"], call["toolCallId"]);
    assert_eq!(question["toolCall"]["rawInput"], call["rawInput"]);
    assert_eq!(question["toolCall"]["title"], "clock: The time (now)");
    assert_eq!(question["toolCall"]["status"], "pending");
    let updates = editor.told_of(&session, "tool_call_update");
    let states: Vec<&Value> = updates.iter().map(|update| &update["status"]).collect();
    let states_of_yes = ["in_progress", "completed", "in_progress", "completed"];
    assert_eq!(states[..4], states_of_yes);
    assert_eq!(states[4..], ["failed", "failed"]);
    let kinds: Vec<&Value> = question["options"]
        .as_array()
        .unwrap()
        .iter()
        .map(|option| &option["kind"])
        .collect();
    assert_eq!(kinds, ["allow_once", "allow_always", "reject_once"]);
}

#[tokio::test]
async fn a_question_is_withdrawn_with_its_prompt() {
    let editor = Editor::open().await;
    let session = editor.session(vec![]).await;
    let cancelling = async {
        until("a question", || !editor.questions().is_empty()).await;
        let cancel = CancelNotification::new(session.clone());
        editor.connection.send_notification(cancel).unwrap();
    };
    let (answer, ()) = tokio::join!(editor.prompt(&session, "ask"), cancelling);
    assert_eq!(answer.unwrap().stop_reason, StopReason::Cancelled);
    until("it is withdrawn", || editor.desk.withdrawn.is_cancelled()).await;
}

/// An editor that shows questions of servers.
async fn showing() -> Editor {
    let elicitation = ElicitationCapabilities::new()
        .form(ElicitationFormCapabilities::new())
        .url(ElicitationUrlCapabilities::new());
    Editor::with(ClientCapabilities::new().elicitation(elicitation)).await
}

#[tokio::test]
async fn forms_of_servers_are_filled_in() {
    let editor = showing().await;
    let session = editor.session(vec![]).await;
    let accept = |content: Value| json!({ "action": "accept", "content": content });
    editor.will_answer(accept(json!({ "age": 30 })));
    editor.prompt(&session, "form").await.unwrap();
    assert_eq!(editor.said(&session), r#"accepted {"age":30}"#);
    let question = editor.questions().remove(0);
    assert_eq!(
        question["message"],
        "The server shop asks: How old are you?"
    );
    assert_eq!(question["mode"], "form");
    assert_eq!(question["sessionId"], *session.0);
    assert_eq!(
        question["requestedSchema"]["properties"]["age"],
        json!({ "type": "integer", "title": "Your age", "minimum": 18 })
    );
}

#[tokio::test]
async fn answers_that_do_not_fit_are_not_passed_on() {
    let editor = showing().await;
    let session = editor.session(vec![]).await;
    editor.will_answer(json!({ "action": "accept", "content": { "age": 3 } }));
    editor.prompt(&session, "form").await.unwrap();
    assert_eq!(
        editor.said(&session),
        "The answer can't be given to the server shop: Your age: it takes 18 at least\n\nCancel"
    );
}

#[tokio::test]
async fn questions_are_declined_by_people_and_for_editors_that_show_none() {
    let editor = showing().await;
    let session = editor.session(vec![]).await;
    for (action, meant) in [("decline", "Decline"), ("cancel", "Cancel")] {
        editor.will_answer(json!({ "action": action }));
        let before = editor.said(&session);
        editor.prompt(&session, "form").await.unwrap();
        assert_eq!(editor.said(&session), before + meant);
    }
    let editor = Editor::open().await;
    let session = editor.session(vec![]).await;
    editor.prompt(&session, "form").await.unwrap();
    assert_eq!(editor.said(&session), "Decline");
    assert!(editor.questions().is_empty());
}

#[tokio::test]
async fn addresses_of_servers_are_visited() {
    let editor = showing().await;
    let session = editor.session(vec![]).await;
    editor.will_answer(json!({ "action": "accept" }));
    editor.prompt(&session, "visit").await.unwrap();
    assert_eq!(editor.said(&session), "accepted {}");
    assert_eq!(editor.questions()[0]["url"], "https://example.com/login");
}
