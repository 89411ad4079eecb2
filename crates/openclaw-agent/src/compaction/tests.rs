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
    assert!(all.strip(room).left_out);
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
    let rest = all.strip(u64::MAX);
    assert_eq!(rest, Stripped::default(), "what fits is left alone");
}

#[test]
fn the_words_of_persons_stay_and_their_files_go() {
    let media = Media {
        mime_type: "image/png".to_owned(),
        name: None,
        bytes: 100_000,
        blob: Blob::Here("x".into()),
        text: None,
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
    assert!(made.strip(0).left_out);
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
        takes_documents: false,
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

const ALL: Taken = Taken {
    images: true,
    documents: true,
    document_tokens: 50_000,
};

fn framed(text: &str) -> ModelText {
    let whole = openclaw_content::Excerpt::new(1_000_000);
    let framer = openclaw_content::Framer::new();
    framer.frame_file("report.pdf", text, &whole).text
}

fn file(mime_type: &str, text: Option<&str>) -> Media {
    Media {
        mime_type: mime_type.to_owned(),
        name: None,
        bytes: 15 * 1024 * 1024,
        blob: Blob::Here("x".into()),
        text: text.map(framed),
    }
}

fn with_files(files: impl IntoIterator<Item = Media>) -> Message {
    Message::User {
        parts: files.into_iter().map(UserPart::Media).collect(),
    }
}

#[test]
fn the_largest_files_that_may_come_leave_room_in_usual_models() {
    for context_window in [128_000, 200_000] {
        let facts = ModelFacts {
            context_window,
            max_tokens: 16_000,
            takes_images: true,
            takes_documents: true,
            most_tools: None,
        };
        let taken = Taken::by(&facts);
        let images = std::iter::repeat_n(file("image/png", None), 10);
        let documents = std::iter::repeat_n(file("application/pdf", None), 5);
        let needed = tokens(&with_files(images.chain(documents)), taken);
        assert!(needed < room(&facts, 20_000) * 3 / 4, "{needed}");
        assert!(
            needed > context_window / 4,
            "it is not for nothing: {needed}"
        );
    }
    let small = Media {
        bytes: 100,
        ..file("application/pdf", None)
    };
    assert!(tokens(&with_files([small]), ALL) >= PAGE_TOKENS);
}

#[test]
fn a_document_that_is_not_sent_costs_its_text_or_its_name() {
    let kept = |text| Media {
        blob: Blob::Kept(openclaw_conversation::BlobId("abc".into())),
        ..file("application/pdf", text)
    };
    assert!(tokens(&with_files([kept(None)]), ALL) < 100);
    let text = "word ".repeat(7_000);
    assert!(tokens(&with_files([kept(Some(&text))]), ALL) > 10_000);
}

#[test]
fn files_are_cut_to_what_the_own_words_leave_small_ones_last() {
    let own = "mine ".repeat(1_400);
    let [small, large] = [100, 70_000].map(|words| framed(&"word ".repeat(words)));
    let cyrillic = framed(&"\u{441}\u{43b}\u{43e}\u{432}\u{43e} ".repeat(10_000));
    let parts = vec![
        UserPart::Text { text: own.clone() },
        UserPart::Foreign {
            text: small.clone(),
        },
        UserPart::Foreign { text: large },
        UserPart::Foreign { text: cyrillic },
    ];
    let mut made = conversation(vec![Message::User { parts }]);
    assert!(made.strip(20_000).shortened);
    assert!(made.tokens() <= 20_000, "{}", made.tokens());
    assert!(made.tokens() > 18_000, "{}", made.tokens());
    let Message::User { parts } = &made.messages()[0] else {
        panic!("no message");
    };
    assert!(matches!(&parts[0], UserPart::Text { text } if *text == own));
    assert!(matches!(&parts[1], UserPart::Foreign { text } if *text == small));
}

#[test]
fn a_file_that_is_not_taken_costs_what_is_read_of_it() {
    let text = "word ".repeat(7_000);
    let document = || file("application/pdf", Some(&text));
    let none = Taken::default();
    let as_text = tokens(&with_files([document()]), none);
    assert!((10_000..11_000).contains(&as_text), "{as_text}");
    for nameless in [file("application/pdf", None), file("audio/mpeg", None)] {
        assert!(tokens(&with_files([nameless]), none) < 100);
    }

    // Nobody has read it yet, so that it is shortened; one that is sent as it is can't be.
    let mut made = conversation(vec![with_files([document()])]);
    assert!(made.strip(1_000).shortened);
    assert!(made.tokens() < 1_200, "{}", made.tokens());
    let mut made = Conversation::new(ALL);
    made.push(with_files([document()]), 1);
    assert_eq!(made.strip(1_000), Stripped::default());
}
