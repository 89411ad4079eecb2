//! Servers that ask the person behind a call something, and tell of their progress.

use openclaw_engine::{Asks, ServerAnswer, ToolConsent};
use serde_json::{Value, json};
use tokio::time::timeout;

use crate::house::{House, Listener, SOON, fake, one};
use crate::scripted::{Scripted, Step, answer_text};

fn calling(tool: &'static str, arguments: Value) -> Scripted {
    Scripted::new([Step::Call("", vec![(tool, arguments)]), Step::Say("done")])
}

fn filled(fields: &Value) -> Listener {
    Listener {
        answer: Some(ServerAnswer::Accept(fields.as_object().unwrap().clone())),
        ..Listener::answering(ToolConsent::Once)
    }
}

/// What the model read of its call.
fn read(model: &Scripted) -> String {
    answer_text(model.seen()[1].answers().last().unwrap())
}

#[tokio::test]
async fn a_form_reaches_the_person_and_its_answer_the_server_in_both_eras() {
    for era in ["--era legacy", "--era modern"] {
        let fake = fake(era);
        let house = House::new(&one(&fake), &[&fake]);
        let model = calling("mcp_fake_elicit", json!({}));
        let listener = filled(&json!({ "name": "Ada", "age": 36 }));
        house
            .reply_in(&model, "ask me", "main", &listener)
            .await
            .unwrap();
        let asked = listener.asked.lock().unwrap().clone();
        assert_eq!(asked.len(), 1, "{era}");
        let question = &asked[0];
        assert_eq!(
            (question.server.as_str(), question.tool.as_str()),
            ("fake", "elicit")
        );
        assert_eq!(question.message, "What is your name?");
        let Asks::Form { fields } = &question.asks else {
            panic!("{question:?}");
        };
        let names: Vec<&str> = fields.iter().map(|it| it.name.as_str()).collect();
        assert_eq!(names, ["name", "age", "colour", "sure"]);
        let text = read(&model);
        assert!(text.contains("accept") && text.contains("Ada"), "{text}");
        house.finish().await;
    }
}

#[tokio::test]
async fn where_nobody_is_a_question_is_declined_and_nobody_hears_of_it() {
    let fake = fake("");
    let house = House::new(&one(&fake), &[&fake]);
    let model = calling("mcp_fake_elicit", json!({}));
    let listener = Listener::default();
    house
        .reply_in(&model, "ask me", "main", &listener)
        .await
        .unwrap();
    assert!(listener.asked.lock().unwrap().is_empty());
    assert!(read(&model).contains("decline"), "{}", read(&model));
    house.finish().await;
}

#[tokio::test]
async fn an_address_is_shown_to_the_person() {
    let fake = fake("--era modern");
    let house = House::new(&one(&fake), &[&fake]);
    let model = calling("mcp_fake_elicit_url", json!({}));
    let listener = Listener {
        answer: Some(ServerAnswer::Decline),
        ..Listener::answering(ToolConsent::Once)
    };
    house
        .reply_in(&model, "ask me", "main", &listener)
        .await
        .unwrap();
    let asked = listener.asked.lock().unwrap().clone();
    let url = "https://example.com/visit".to_owned();
    assert_eq!(asked[0].asks, Asks::Visit { url });
    assert!(read(&model).contains("decline"), "{}", read(&model));
    house.finish().await;
}

#[tokio::test]
async fn a_turn_that_is_given_up_withdraws_its_question() {
    let fake = fake("");
    let house = House::new(&one(&fake), &[&fake]);
    let model = calling("mcp_fake_elicit", json!({}));
    let listener = Listener::answering(ToolConsent::Once);
    {
        let turn = house.reply_in(&model, "ask me", "main", &listener);
        let mut turn = Box::pin(turn);
        let is_asked = || !listener.asked.lock().unwrap().is_empty();
        let asked = async {
            while !is_asked() {
                tokio::task::yield_now().await;
            }
        };
        tokio::select! {
            _ = &mut turn => panic!("nobody answered"),
            asked = timeout(SOON, asked) => asked.unwrap(),
        }
    }
    // The server is free for the next one.
    let model = calling("mcp_fake_echo", json!({ "message": "still there" }));
    house.reply(&model, "again").await.unwrap();
    assert!(read(&model).contains("still there"));
    house.finish().await;
}

#[tokio::test]
async fn progress_of_a_call_is_heard_while_it_runs() {
    let fake = fake("");
    let house = House::new(&one(&fake), &[&fake]);
    let model = calling("mcp_fake_slow", json!({ "ms": 60, "steps": 3 }));
    let listener = Listener::default();
    house
        .reply_in(&model, "slowly", "main", &listener)
        .await
        .unwrap();
    let heard = listener.heard();
    let place = |begin: &str| heard.iter().position(|it| it.starts_with(begin));
    let (progress, done) = (place("progress "), place("done mcp_fake_slow"));
    assert!(progress.is_some() && progress < done, "{heard:#?}");
    house.finish().await;
}
