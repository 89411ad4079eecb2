//! Sessions that begin with what was said elsewhere, and instructions for one turn.

use openclaw_agent::TurnError;
use openclaw_conversation::{AssistantMessage, Message, UserPart};
use openclaw_engine::{EarlierMessage, EarlierSpeaker, EngineFailure, ReplyReport, ReplyRequest};
use openclaw_models::ModelError;
use openclaw_sessions::TurnState;
use serde_json::json;

use crate::house::{House, Listener};
use crate::scripted::{Scripted, Step};

fn user(text: &str) -> EarlierMessage {
    EarlierMessage {
        speaker: EarlierSpeaker::User,
        text: text.to_owned(),
    }
}

fn assistant(text: &str) -> EarlierMessage {
    EarlierMessage {
        speaker: EarlierSpeaker::Assistant,
        text: text.to_owned(),
    }
}

fn saying(message: &str, earlier: Vec<EarlierMessage>) -> ReplyRequest {
    ReplyRequest {
        message: message.to_owned(),
        earlier,
        ..ReplyRequest::default()
    }
}

async fn reply(
    house: &House,
    model: &Scripted,
    request: ReplyRequest,
    listener: &Listener,
) -> Result<ReplyReport, TurnError> {
    let (plan, key) = house.agents.key(None, "main").unwrap();
    let reply = house
        .agents
        .reply_with(model, &plan, &key, request, listener);
    Box::pin(reply).await
}

/// Who said what, in short.
fn short(message: &Message) -> String {
    match message {
        Message::User { parts } => {
            let texts = parts.iter().map(|part| match part {
                UserPart::Text { text } => text.as_str(),
                UserPart::Foreign { text } => text.as_str(),
                UserPart::Media(_) => "[media]",
            });
            format!("user: {}", texts.collect::<String>())
        }
        Message::Assistant(said) => format!("assistant: {}", AssistantMessage::text(said)),
        Message::Tool(answer) => format!("tool: {}", answer.name),
        Message::Summary { .. } => "summary".to_owned(),
    }
}

fn all_short<'a>(messages: impl IntoIterator<Item = &'a Message>) -> Vec<String> {
    messages.into_iter().map(short).collect()
}

#[tokio::test]
async fn a_session_begins_with_what_was_said_elsewhere_and_goes_on_from_there() {
    let house = House::new(&json!({}), &[]);
    let model = Scripted::new([Step::Say("Ann."), Step::Say("Still Ann.")]);
    let listener = Listener::default();
    let earlier = vec![
        user("I am Ann."),
        assistant("Hello <|im_start|> Ann."),
        user("  \n"),
    ];
    let begun = saying("Who am I?", earlier);
    reply(&house, &model, begun, &listener).await.unwrap();
    let first = [
        "user: I am Ann.",
        "assistant: Hello <|im_start|> Ann.",
        "user: Who am I?",
    ];
    assert_eq!(all_short(&model.seen()[0].messages), first);

    // What comes with it now was said in another conversation, or is known.
    let other = vec![user("I am Bob."), assistant("Hello Bob.")];
    let again = saying("And now?", other);
    reply(&house, &model, again, &listener).await.unwrap();
    let mut second = first.map(str::to_owned).to_vec();
    second.extend(["assistant: Ann.", "user: And now?"].map(str::to_owned));
    assert_eq!(all_short(&model.seen()[1].messages), second);

    second.push("assistant: Still Ann.".to_owned());
    let kept = house.kept("main").await;
    assert_eq!(all_short(kept.iter().map(|it| &it.message)), second);
    assert!(kept.iter().all(|it| it.state == TurnState::Complete));
    house.finish().await;
}

#[tokio::test]
async fn a_long_beginning_is_summarised_as_if_it_had_been_said_here() {
    let house = House::new(&json!({}), &[]);
    let model = Scripted::new([]).holding(4_000);
    let listener = Listener::default();
    let long = "It was a dark and stormy night. ".repeat(100);
    let earlier = (0..10).flat_map(|_| [user(&long), assistant("Go on.")]);
    let begun = saying("What was it?", earlier.collect());
    reply(&house, &model, begun, &listener).await.unwrap();
    let heard = listener.heard();
    assert!(
        heard.iter().any(|it| it.contains("summarised")),
        "{heard:?}"
    );
    let seen = all_short(&model.seen().last().unwrap().messages);
    assert_eq!(seen.first().unwrap(), "summary");
    assert_eq!(seen.last().unwrap(), "user: What was it?");
    assert!(seen.len() < 10, "{seen:?}");

    let asked = model.seen().len();
    let next = saying("And then?", vec![]);
    reply(&house, &model, next, &listener).await.unwrap();
    let next = all_short(&model.seen()[asked].messages);
    assert_eq!(next.first().unwrap(), "summary", "it was kept: {next:?}");
    assert_eq!(next[next.len() - 3], "user: What was it?", "{next:?}");
    house.finish().await;
}

#[tokio::test]
async fn a_turn_that_fails_leaves_what_was_said_before_to_the_next_one() {
    let house = House::new(&json!({}), &[]);
    let error = ModelError::Unavailable {
        model: "test/scripted".to_owned(),
        reason: "it sleeps".to_owned(),
        retry_after: None,
    };
    let model = Scripted::new([Step::Fail(error), Step::Say("Ann.")]);
    let listener = Listener::default();
    let earlier = || vec![user("I am Ann."), assistant("Hello Ann.")];
    let first = reply(&house, &model, saying("Who?", earlier()), &listener).await;
    assert!(matches!(first, Err(TurnError::Model(_))), "{first:?}");
    let second = saying("Who am I?", earlier());
    reply(&house, &model, second, &listener).await.unwrap();
    let expected = [
        "user: I am Ann.",
        "assistant: Hello Ann.",
        "user: Who am I?",
    ];
    assert_eq!(all_short(&model.seen()[1].messages), expected);
    house.finish().await;
}

#[tokio::test]
async fn too_much_to_begin_with_is_refused_and_leaves_no_trace() {
    let house = House::new(&json!({}), &[]);
    let model = Scripted::new([]);
    let listener = Listener::default();
    let many = vec![user("x"); 1_001];
    let large = vec![user(&"x".repeat(9 << 20)), assistant(&"x".repeat(9 << 20))];
    for earlier in [many, large] {
        let refused = reply(&house, &model, saying("Hello", earlier), &listener).await;
        let failure = EngineFailure::from(refused.unwrap_err());
        assert_eq!(failure.code, "message-too-large", "{failure:?}");
    }
    let mut request = saying("Hello", vec![]);
    request.instructions = Some("x".repeat(300_000));
    let refused = reply(&house, &model, request, &listener).await;
    let failure = EngineFailure::from(refused.unwrap_err());
    assert_eq!(failure.code, "message-too-large", "{failure:?}");
    assert!(house.kept("main").await.is_empty());
    assert!(model.seen().is_empty());

    // A session that does not begin with it does not mind it.
    reply(&house, &model, saying("Hello", vec![]), &listener)
        .await
        .unwrap();
    let again = saying("Hello", vec![user("x"); 1_001]);
    reply(&house, &model, again, &listener).await.unwrap();
    house.finish().await;
}

#[tokio::test]
async fn instructions_end_the_prompt_of_one_turn_and_are_not_kept() {
    let house = House::new(&json!({}), &[]);
    let model = Scripted::new([]);
    let listener = Listener::default();
    let mut request = saying("Hello", vec![]);
    request.instructions = Some("Answer in <|im_start|>French.\n".to_owned());
    reply(&house, &model, request, &listener).await.unwrap();
    reply(&house, &model, saying("Again", vec![]), &listener)
        .await
        .unwrap();
    let seen = model.seen();
    let (_, told) = seen[0]
        .current
        .split_once("## Instructions of your user for this turn\n\n")
        .unwrap();
    assert!(told.starts_with("Answer in") && told.ends_with("French."));
    assert!(!told.contains("im_start"), "{told}");
    assert_eq!(seen[0].stable, seen[1].stable, "what stays the same does");
    assert!(!seen[1].current.contains("French"), "{}", seen[1].current);
    let kept = format!("{:?}", house.kept("main").await);
    assert!(!kept.contains("French"), "{kept}");
    house.finish().await;
}
