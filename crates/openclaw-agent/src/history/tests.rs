//! What was said before, made fit for a model.

use std::time::SystemTime;

use openclaw_conversation::{AssistantMessage, AssistantPart, CallArguments};

use super::*;

pub(crate) fn user(text: &str) -> Message {
    let text = text.to_owned();
    Message::User {
        parts: vec![UserPart::Text { text }],
    }
}

pub(crate) fn said(text: &str) -> Message {
    let text = text.to_owned();
    Message::Assistant(AssistantMessage {
        parts: vec![AssistantPart::Text { text }],
        ..AssistantMessage::default()
    })
}

pub(crate) fn asking(ids: &[&str]) -> Message {
    let calls = ids.iter().map(|id| {
        AssistantPart::ToolCall(ToolCall {
            id: (*id).to_owned(),
            name: "mcp_a_b".to_owned(),
            arguments: CallArguments::Object(serde_json::Map::new()),
            opaque: None,
        })
    });
    Message::Assistant(AssistantMessage {
        parts: calls.collect(),
        ..AssistantMessage::default()
    })
}

pub(crate) fn answer(id: &str, text: &str) -> Message {
    let text = openclaw_content::definition_text(text, 1_000_000).text;
    Message::Tool(ToolAnswer {
        call: id.to_owned(),
        name: "mcp_a_b".to_owned(),
        server: Some("a".to_owned()),
        parts: vec![AnswerPart::Text { text }],
        is_error: false,
        duration_ms: 1,
        called: None,
        found: Vec::new(),
    })
}

fn summary(text: ModelText) -> Message {
    let tools = Vec::new();
    Message::Summary { text, tools }
}

/// Turns as they are kept.
fn kept(turns: &[(TurnState, &[Message])]) -> Vec<KeptMessage> {
    let mut number = 0;
    let mut kept = Vec::new();
    for (state, messages) in turns {
        let turn = number + 1;
        for message in *messages {
            number += 1;
            kept.push(KeptMessage {
                number,
                time: SystemTime::UNIX_EPOCH,
                turn,
                state: *state,
                message: message.clone(),
            });
        }
    }
    kept
}

/// The calls that each answer is to, and whether it failed.
fn answers(conversation: &Conversation) -> Vec<(&str, bool)> {
    let messages = conversation.messages().iter();
    messages
        .filter_map(|message| match message {
            Message::Tool(answer) => Some((answer.call.as_str(), answer.is_error)),
            _ => None,
        })
        .collect()
}

#[test]
fn answers_stand_in_the_order_of_their_calls() {
    let messages = [
        user("x"),
        asking(&["1", "2", "3"]),
        answer("3", "c"),
        answer("1", "a"),
        answer("2", "b"),
        said("done"),
    ];
    let conversation =
        Conversation::of(kept(&[(TurnState::Complete, &messages)]), Taken::default());
    assert_eq!(
        answers(&conversation),
        [("1", false), ("2", false), ("3", false)]
    );
    assert_eq!(conversation.len(), 6);
    assert_eq!(conversation.numbers, [1, 2, 4, 5, 3, 6]);
    assert_eq!(conversation.number_before(3), 4);
    assert_eq!(conversation.number_before(5), 5);
}

#[test]
fn a_turn_that_was_cut_says_so_and_leaves_no_call_without_an_answer() {
    let cut = [user("x"), asking(&["1", "2"]), answer("2", "b")];
    let next = [user("y"), said("z")];
    let conversation = Conversation::of(
        kept(&[(TurnState::Interrupted, &cut), (TurnState::Complete, &next)]),
        Taken::default(),
    );
    assert_eq!(answers(&conversation), [("1", true), ("2", false)]);
    let Message::User { parts } = &conversation.messages()[4] else {
        panic!("{conversation:?}");
    };
    assert!(matches!(&parts[0], UserPart::Foreign { text } if text.as_str().contains("cut off")));
    assert_eq!(conversation.len(), 7);
    assert_eq!(conversation.call_ids().collect::<Vec<_>>(), ["1", "2"]);
}

#[test]
fn what_no_model_took_does_not_stand_in_the_way() {
    let refused = [user("too much")];
    let half = [user("x"), asking(&["1"]), answer("1", "a")];
    let conversation = Conversation::of(
        kept(&[(TurnState::Failed, &refused), (TurnState::Failed, &half)]),
        Taken::default(),
    );
    assert_eq!(conversation.len(), 3);
    assert_eq!(conversation.messages()[0], user("x"));
}

#[test]
fn answers_without_a_call_are_left_out() {
    let messages = [
        user("x"),
        asking(&["1"]),
        answer("9", "?"),
        answer("1", "a"),
    ];
    let conversation =
        Conversation::of(kept(&[(TurnState::Complete, &messages)]), Taken::default());
    assert_eq!(answers(&conversation), [("1", false)]);
}

#[test]
fn a_summary_stands_for_what_is_before_the_next_message_and_belongs_to_no_turn() {
    let text = openclaw_content::recollection("before");
    let mut messages = kept(&[
        (TurnState::Complete, &[user("a"), said("b")]),
        (TurnState::Complete, &[user("c"), said("d")]),
        (
            TurnState::Interrupted,
            &[user("e"), summary(text), asking(&["1"])],
        ),
    ]);
    // It was made in the last turn, for the first one.
    let summary = messages.remove(5);
    messages.drain(..2);
    messages.insert(0, summary);
    let conversation = Conversation::of(messages, Taken::default());
    assert_eq!(conversation.number_before(1), 2);
    assert_eq!(conversation.number_before(3), 4);
    assert!(matches!(
        conversation.messages()[0],
        Message::Summary { .. }
    ));
    assert_eq!(
        conversation.messages()[1],
        user("c"),
        "no turn was cut before it"
    );
    assert_eq!(answers(&conversation), [("1", true)]);
}

#[test]
fn long_conversations_are_made_fit_in_proportion_to_their_length() {
    let turn = [user("x"), asking(&["1"]), answer("1", "a"), said("done")];
    let turns: Vec<(TurnState, &[Message])> =
        std::iter::repeat_n((TurnState::Complete, turn.as_slice()), 10_000).collect();
    let started = std::time::Instant::now();
    let conversation = Conversation::of(kept(&turns), Taken::default());
    assert_eq!(conversation.len(), 40_000);
    // In an unoptimised build, beside others: anything else would take minutes.
    assert!(started.elapsed().as_secs() < 10, "{:?}", started.elapsed());
}
