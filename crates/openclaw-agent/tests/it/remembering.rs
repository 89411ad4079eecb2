//! Conversations over several turns, and those that become too long.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use openclaw_conversation::{Blob, Message};
use openclaw_engine::{Attachment, AttachmentData, ReplyRequest};
use openclaw_models::ModelError;
use serde_json::json;

use crate::house::{House, Listener, fake, one};
use crate::scripted::{Scripted, Step};

#[tokio::test]
async fn a_session_goes_on_and_others_know_nothing_of_it() {
    let house = House::new(&json!({}), &[]);
    let model = Scripted::new([Step::Say("Hello Ann."), Step::Say("Ann."), Step::Say("?")]);
    house.reply(&model, "I am Ann.").await.unwrap();
    house.reply(&model, "Who am I?").await.unwrap();
    house
        .reply_in(&model, "Who am I?", "other", &Listener::default())
        .await
        .unwrap();
    let seen = model.seen();
    assert_eq!(seen[1].said_by_user(), ["I am Ann.", "Who am I?"]);
    assert_eq!(seen[1].messages.len(), 3);
    assert_eq!(seen[2].said_by_user(), ["Who am I?"]);
    house.finish().await;
}

#[tokio::test]
async fn a_document_is_there_again_for_a_model_that_takes_it_and_for_no_other() {
    let house = House::new(&json!({}), &[]);
    let data = STANDARD.encode(b"%PDF-1.7\n%%EOF\n");
    let request = ReplyRequest {
        message: "Read this.".to_owned(),
        attachments: vec![Attachment {
            name: Some("report.pdf".to_owned()),
            mime_type: "application/pdf".to_owned(),
            data: AttachmentData::Base64(data.clone()),
        }],
        ..ReplyRequest::default()
    };
    let reading = Scripted::new([]).taking_documents();
    let (plan, key) = house.agents.key(None, "main").unwrap();
    let listener = Listener::default();
    let reply = house
        .agents
        .reply_with(&reading, &plan, &key, request, &listener);
    Box::pin(reply).await.unwrap();
    house.reply(&reading, "Again.").await.unwrap();
    let other = Scripted::new([]).named("test/other");
    let told = async |model: &Scripted| {
        let listener = Listener::default();
        let reply = house.reply_in(model, "Once more.", "main", &listener);
        reply.await.unwrap();
        let heard = listener.heard().into_iter();
        heard
            .filter(|it| it.starts_with("notice"))
            .collect::<Vec<_>>()
    };
    let notice = "notice report.pdf of an earlier turn is only named to the model: send what it needs \
                  again";
    assert_eq!(told(&other).await, [notice]);
    assert_eq!(told(&other).await, Vec::<String>::new(), "once");
    assert_eq!(told(&reading).await, Vec::<String>::new());

    let here = |seen: &crate::scripted::Seen| {
        let media = seen.messages[0].media().next().unwrap();
        matches!(&media.blob, Blob::Here(it) if **it == *data)
    };
    assert!(reading.seen().iter().all(here), "{:?}", reading.seen());
    assert!(!here(&other.seen()[0]), "{:?}", other.seen());
    house.finish().await;
}

#[tokio::test]
async fn a_document_that_is_too_much_beside_a_new_one_is_named_and_that_is_told() {
    let house = House::new(&json!({}), &[]);
    let (plan, key) = house.agents.key(None, "main").unwrap();
    let model = Scripted::new([]).taking_documents();
    let mut bytes = b"%PDF-1.7\n".to_vec();
    bytes.resize(11 * 1024 * 1024, b'x');
    let data = STANDARD.encode(&bytes);
    let listener = Listener::default();
    for name in ["old.pdf", "new.pdf"] {
        let request = ReplyRequest {
            message: "Read this.".to_owned(),
            attachments: vec![Attachment {
                name: Some(name.to_owned()),
                mime_type: "application/pdf".to_owned(),
                data: AttachmentData::Base64(data.clone()),
            }],
            ..ReplyRequest::default()
        };
        let reply = house
            .agents
            .reply_with(&model, &plan, &key, request, &listener);
        Box::pin(reply).await.unwrap();
    }
    let seen = model.seen();
    let is_here = |message: &Message| {
        let media = message.media().next().unwrap();
        matches!(media.blob, Blob::Here(_))
    };
    assert!(is_here(&seen[0].messages[0]));
    assert!(!is_here(&seen[1].messages[0]) && is_here(&seen[1].messages[2]));
    let heard = listener.heard();
    let notices: Vec<_> = heard.iter().filter(|it| it.starts_with("notice")).collect();
    let expected = "notice old.pdf of an earlier turn is only named to the model: send what it needs \
                    again";
    assert_eq!(notices, [expected]);
    house.finish().await;
}

#[tokio::test]
async fn a_long_conversation_is_summarised_and_stays_whole_in_the_session() {
    let house = House::new(&json!({}), &[]);
    let long = "It was a dark and stormy night. ".repeat(100);
    let model = Scripted::new([]).holding(4_000);
    let mut turns = 0;
    let listener = Listener::default();
    while !listener.heard().iter().any(|it| it.contains("summarised")) {
        assert!(turns < 20, "{:?}", listener.heard());
        house
            .reply_in(&model, &long, "main", &listener)
            .await
            .unwrap();
        turns += 1;
    }
    let seen = model.seen();
    let (asked_for_summary, after) = (&seen[seen.len() - 2], &seen[seen.len() - 1]);
    assert!(asked_for_summary.stable.starts_with("You summarise"));
    let Message::Summary { text, .. } = &after.messages[0] else {
        panic!("{:?}", after.messages[0]);
    };
    assert!(
        text.as_str().ends_with("nothing more"),
        "what the model said: {text}"
    );
    assert!(after.messages.len() < turns * 2);

    // The next turn begins with the summary.
    house.reply(&model, "and then?").await.unwrap();
    let seen = model.seen();
    let last = seen.last().unwrap();
    assert!(matches!(&last.messages[0], Message::Summary { text: kept, .. } if kept == text));
    let kept = house.kept("main").await;
    let said = kept
        .iter()
        .filter(|it| !matches!(it.message, Message::Summary { .. }));
    assert_eq!(said.count(), turns * 2 + 2, "nothing is lost");
    house.finish().await;
}

#[tokio::test]
async fn every_message_is_in_a_summary_or_in_the_conversation() {
    let house = House::new(&json!({}), &[]);
    // Each message takes a third of what there is, so that nearly every turn is a compaction.
    let model = Scripted::new([]).holding(4_000);
    for number in 0..8 {
        let message = format!("fact-{number} {}", "and so on and so on ".repeat(120));
        house.reply(&model, &message).await.unwrap();
    }
    let seen = model.seen();
    let summaries = seen
        .iter()
        .filter(|it| it.stable.starts_with("You summarise"));
    assert!(
        summaries.clone().count() >= 2,
        "there were not enough compactions"
    );
    let last = seen.last().unwrap();
    for number in 0..8 {
        let fact = format!("fact-{number} ");
        let is_in = |seen: &crate::scripted::Seen| {
            seen.said_by_user()
                .iter()
                .any(|text| text.starts_with(&fact))
        };
        let is_summarised = summaries.clone().any(is_in);
        assert!(is_summarised || is_in(last), "{fact} is nowhere");
    }
    house.finish().await;
}

#[tokio::test]
async fn a_summary_that_fails_takes_nothing_away() {
    let house = House::new(&json!({}), &[]);
    let long = "It was a dark and stormy night. ".repeat(100);
    let roomy = Scripted::new([]);
    for _ in 0..4 {
        house.reply(&roomy, &long).await.unwrap();
    }
    let refused = ModelError::Refused {
        model: "test/scripted".to_owned(),
        reason: "no".to_owned(),
    };
    let small = Scripted::new([Step::Fail(refused), Step::Say("so be it")]).holding(4_000);
    let listener = Listener::default();
    let report = house.reply_in(&small, "and now?", "main", &listener).await;
    assert_eq!(report.unwrap().reply, "so be it");
    let heard = listener.heard();
    assert!(
        !heard.iter().any(|it| it.contains("was summarised")),
        "{heard:?}"
    );
    // A model that can hold it sees all of it again.
    house.reply(&roomy, "and then?").await.unwrap();
    let seen = roomy.seen();
    assert_eq!(seen.last().unwrap().said_by_user().len(), 6);
    house.finish().await;
}

#[tokio::test]
async fn results_share_the_room_that_there_is() {
    let fake = fake("--only-tools big,echo");
    let house = House::new(&one(&fake), &[&fake]);
    let big = || ("mcp_fake_big", json!({"bytes": 60_000}));
    let small = ("mcp_fake_echo", json!({"message": "small but needed"}));
    let model = Scripted::new([Step::Call("", vec![big(), big(), small]), Step::Say("read")]);
    let model = model.holding(16_000);
    let report = house.reply(&model, "x").await.unwrap();
    assert_eq!(report.reply, "read");
    let seen = model.seen();
    let texts: Vec<String> = seen[1]
        .answers()
        .iter()
        .map(|it| crate::scripted::answer_text(it))
        .collect();
    assert!(texts[2].contains("small but needed") && !texts[2].contains("to save room"));
    for text in &texts[..2] {
        assert!((2_000..40_000).contains(&text.len()), "{}", text.len());
        assert!(text.contains("to save room"), "{text}");
        assert_eq!(text.matches("<<<END_EXTERNAL").count(), 1);
    }
    house.finish().await;
}

#[tokio::test]
async fn a_service_that_counts_otherwise_gets_less() {
    let fake = fake("");
    let house = House::new(&one(&fake), &[&fake]);
    let big = || Step::Call("", vec![("mcp_fake_big", json!({"bytes": 20_000}))]);
    let too_long = ModelError::TooLong {
        model: "test/scripted".to_owned(),
        reason: "too many".to_owned(),
    };
    let model = Scripted::new([
        big(),
        big(),
        big(),
        Step::Fail(too_long),
        Step::Say("at last"),
    ]);
    let listener = Listener::default();
    let report = house
        .reply_in(&model, "x", "main", &listener)
        .await
        .unwrap();
    assert_eq!(report.reply, "at last");
    let seen = model.seen();
    let bytes = |place: usize| -> usize {
        let answers = seen[place].answers();
        answers
            .iter()
            .map(|it| crate::scripted::answer_text(it).len())
            .sum()
    };
    assert!(
        bytes(4) <= bytes(3) / 2 + 20_500,
        "{} {}",
        bytes(3),
        bytes(4)
    );
    assert!(bytes(4) < bytes(3));
    assert!(
        listener.heard().iter().any(|it| it.contains("left out")),
        "{:?}",
        listener.heard()
    );
    house.finish().await;
}
