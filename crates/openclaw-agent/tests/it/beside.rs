//! Resources of servers, beside what a person says.

use openclaw_conversation::{Message, UserPart};
use openclaw_models::ModelError;
use serde_json::{Value, json};

use crate::house::{House, Listener, entry, fake};
use crate::scripted::{Scripted, Seen, Step, answer_text};

fn config(entry: &Value, inject: &[&str]) -> Value {
    let mut config = json!({ "mcp": { "servers": { "fake": entry } } });
    config["mcp"]["servers"]["fake"]["resources"] = json!({ "inject": inject });
    config
}

/// What stands beside the words of a person, of each of their messages.
pub(crate) fn beside(seen: &Seen) -> Vec<String> {
    let messages = seen.messages.iter().filter_map(|message| match message {
        Message::User { parts } => Some(parts),
        _ => None,
    });
    messages
        .map(|parts| {
            let foreign = parts.iter().filter_map(|part| match part {
                UserPart::Foreign { text } => Some(text.as_str()),
                _ => None,
            });
            foreign.collect::<Vec<_>>().join("\n")
        })
        .collect()
}

#[tokio::test]
async fn the_model_sees_them_as_they_are_now_and_the_session_keeps_nothing_of_them() {
    let fake = fake("--only-tools touch_resource --odd-resources 10");
    let house = House::new(
        &config(&entry(&fake), &["test://changing", "test://forged"]),
        &[&fake],
    );
    let model = Scripted::new([
        Step::Call("", vec![("mcp_fake_touch_resource", json!({}))]),
        Step::Say("touched"),
        Step::Say("seen"),
    ]);
    let listener = Listener::default();
    for message in ["touch it", "and now?"] {
        let reply = house.reply_in(&model, message, "main", &listener);
        reply.await.unwrap();
    }
    let seen = model.seen();
    let first = &beside(&seen[0])[0];
    assert!(first.contains("\nFrom: fake/test://changing\n"), "{first}");
    assert!(
        first.contains("---\ntouched 0 times\n<<<END_EXTERNAL"),
        "{first}"
    );
    assert_eq!(first.matches("<<<END_EXTERNAL").count(), 2, "{first}");
    assert!(!first.contains("<|im_start|>"), "{first}");
    assert_eq!(beside(&seen[1]), [first.as_str()], "the same within a turn");
    let now = beside(&seen[2]);
    assert_eq!(now[0], "", "what was beside an earlier message is gone");
    assert!(now[1].contains("---\ntouched 1 times\n"), "{now:?}");
    assert_eq!(seen[2].said_by_user(), ["touch it", "and now?"]);
    // The words of the person come last.
    let Some(Message::User { parts }) = seen[2].messages.last() else {
        panic!("{:?}", seen[2].messages.last());
    };
    assert!(matches!(parts.last(), Some(UserPart::Text { text }) if text == "and now?"));
    assert!(!listener.heard().iter().any(|it| it.starts_with("notice")));
    let kept = house.kept("main").await;
    for message in &kept {
        if let Message::User { parts } = &message.message {
            assert!(matches!(&parts[..], [UserPart::Text { .. }]), "{parts:?}");
        }
    }
    let kept = serde_json::to_string(&kept.iter().map(|it| &it.message).collect::<Vec<_>>());
    assert!(!kept.unwrap().contains("test://"));
    house.finish().await;
}

#[tokio::test]
async fn what_can_not_be_read_is_told_and_the_turn_goes_on() {
    let fake = fake("");
    let house = House::new(
        &config(&entry(&fake), &["test://nowhere", "test://text"]),
        &[&fake],
    );
    let model = Scripted::new([Step::Say("well")]);
    let listener = Listener::default();
    let reply = house.reply_in(&model, "x", "main", &listener);
    assert_eq!(reply.await.unwrap().reply, "well");
    let beside = &beside(&model.seen()[0])[0];
    assert!(beside.contains("the text of a resource"), "{beside}");
    assert!(
        beside.contains(
            "The resource test://nowhere of the MCP server fake can't be shown: the server did not \
             give it."
        ),
        "{beside}"
    );
    let heard = listener.heard();
    let notices: Vec<_> = heard.iter().filter(|it| it.starts_with("notice")).collect();
    assert_eq!(notices.len(), 1, "{heard:?}");
    assert!(
        notices[0].contains("the resource test://nowhere of fake is not beside the message: "),
        "{notices:?}"
    );
    house.finish().await;
}

#[tokio::test]
async fn a_small_model_gets_what_it_can_hold() {
    let fake = fake("--odd-resources 60000 --only-tools echo");
    let house = House::new(&config(&entry(&fake), &["test://large"]), &[&fake]);
    let model = Scripted::new([Step::Say("fine")]).holding(6_000);
    let reply = house.reply(&model, "hello").await.unwrap();
    assert_eq!(reply.reply, "fine");
    let beside = &beside(&model.seen()[0])[0];
    assert!(
        beside.contains("of 60000; read all of it with mcp_read_resource"),
        "{beside}"
    );
    assert!(beside.len() < 6_000, "{}", beside.len());
    house.finish().await;
}

#[tokio::test]
async fn a_model_reads_a_resource_that_it_was_told_of() {
    let fake = fake("--only-tools echo");
    let house = House::new(&config(&entry(&fake), &[]), &[&fake]);
    let read = json!({"server": "fake", "uri": "test://text"});
    let model = Scripted::new([
        Step::Call(
            "",
            vec![
                ("mcp_read_resource", read),
                ("mcp_list_resources", json!({"query": "numbered"})),
            ],
        ),
        Step::Say("read"),
    ]);
    let report = house.reply(&model, "read it").await.unwrap();
    let seen = model.seen();
    let answers = seen[1].answers();
    assert!(answer_text(answers[0]).contains("---\nthe text of a resource\n"));
    assert!(answer_text(answers[1]).contains("template test://numbered/{number}"));
    let calls: Vec<_> = report
        .tool_calls
        .iter()
        .map(|call| (call.server.as_deref(), call.is_error))
        .collect();
    assert_eq!(calls, [(Some("fake"), false), (None, false)]);
    assert_eq!(beside(&seen[0]), [""]);
    house.finish().await;
}

#[tokio::test]
async fn a_service_that_says_it_is_too_much_gets_less_of_them() {
    let fake = fake("--odd-resources 40000 --only-tools echo");
    let house = House::new(&config(&entry(&fake), &["test://large"]), &[&fake]);
    let too_long = ModelError::TooLong {
        model: "test/scripted".to_owned(),
        reason: "too many tokens".to_owned(),
    };
    let model = Scripted::new([Step::Fail(too_long), Step::Say("fine")]);
    assert_eq!(house.reply(&model, "hello").await.unwrap().reply, "fine");
    let seen = model.seen();
    let [first, second] = [0, 1].map(|time| beside(&seen[time]).pop().unwrap());
    assert!(first.len() > 40_000, "{}", first.len());
    assert!(second.len() < first.len() / 2 + 1_000, "{}", second.len());
    assert_eq!(second.matches("<<<END_EXTERNAL").count(), 1);
    assert_eq!(seen[1].said_by_user(), ["hello"]);
    house.finish().await;
}
