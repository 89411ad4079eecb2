//! Conversations that are too long.

use openclaw_conversation::Blob;

use super::*;
use crate::history::tests::{answer, asking, said, user};

fn conversation(messages: Vec<Message>) -> Conversation {
    let mut made = Conversation::default();
    for (number, message) in (1..).zip(messages) {
        made.push(message, number);
    }
    made
}

/// Turns of a message, a call with a long result, and an answer.
fn long(turns: usize) -> Conversation {
    let mut messages = Vec::new();
    for turn in 0..turns {
        let id = turn.to_string();
        messages.push(user("please look"));
        messages.push(asking(&[&id]));
        messages.push(answer(&id, &"word ".repeat(800)));
        messages.push(said("it is fine"));
    }
    conversation(messages)
}

#[test]
fn the_old_part_ends_where_a_person_speaks() {
    let all = long(10);
    let each = all.tokens() / 10;
    let old = all.old_part(40, each * 3 + each / 2).unwrap();
    assert_eq!(old, 28, "three turns of four messages stay");
    assert!(matches!(all.messages()[old], Message::User { .. }));
    // Nothing fits: all of it is old.
    assert_eq!(all.old_part(40, 10), Some(40));
    // Everything fits: there is nothing to be gained.
    assert_eq!(all.old_part(40, each * 20), None);
    assert_eq!(all.old_part(0, 10), None);
}

#[test]
fn a_summary_alone_is_not_summarised_again() {
    let text = openclaw_content::recollection("everything");
    let mut made = conversation(vec![Message::Summary {
        text,
        tools: Vec::new(),
    }]);
    made.push(user("and now?"), 2);
    assert_eq!(made.old_part(1, 0), None);
}

#[test]
fn details_go_from_the_beginning_until_it_fits() {
    let mut all = long(10);
    let room = all.tokens() / 2;
    assert!(all.strip(room));
    assert!(all.tokens() <= room);
    let last = all
        .messages()
        .iter()
        .rev()
        .find_map(|message| match message {
            Message::Tool(answer) => Some(answer),
            _ => None,
        });
    let AnswerPart::Text { text } = &last.unwrap().parts[0] else {
        panic!("no text");
    };
    assert!(text.as_str().contains("word"), "the last result stays");
    let Message::Tool(first) = &all.messages()[2] else {
        panic!("no answer");
    };
    let AnswerPart::Text { text } = &first.parts[0] else {
        panic!("no text");
    };
    assert_eq!(
        text.as_str(),
        "(3999 bytes stood here, and were left out to save room; call the tool again if they are needed.)"
    );
    assert!(!all.strip(u64::MAX), "what fits is left alone");
}

#[test]
fn the_words_of_persons_stay_and_their_files_go() {
    let media = Media {
        mime_type: "image/png".to_owned(),
        name: None,
        bytes: 100_000,
        blob: Blob::Here("x".into()),
    };
    let parts = vec![
        UserPart::Text {
            text: "look ".repeat(100),
        },
        UserPart::Media(media),
    ];
    let mut made = conversation(vec![
        Message::User { parts },
        said("a"),
        user("b"),
        said("c"),
    ]);
    assert!(made.strip(0));
    let Message::User { parts } = &made.messages()[0] else {
        panic!("no message");
    };
    assert!(matches!(&parts[0], UserPart::Text { text } if text.len() == 500));
    let UserPart::Foreign { text } = &parts[1] else {
        panic!("the picture is still there");
    };
    let text = text.as_str();
    assert!(text.contains("mcp_read_resource") && text.contains("has to be sent again"));
    assert!(
        !text.contains("call the tool again"),
        "no tool gave it: {text}"
    );
}

#[test]
fn there_is_room_for_an_answer() {
    let facts = ModelFacts {
        context_window: 100_000,
        max_tokens: 8_000,
        takes_images: false,
        most_tools: None,
    };
    assert_eq!(room(&facts, 2_000), 80_000);
    assert_eq!(room(&facts, 1_000_000), 0);
    let small = ModelFacts {
        context_window: 2_000,
        ..facts
    };
    assert_eq!(room(&small, 0), 1_300);
}
