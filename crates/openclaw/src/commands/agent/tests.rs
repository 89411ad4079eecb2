use openclaw_engine::ReplyRequest;

use super::*;
use crate::commands::engine::tests::{Run, asked};

fn turn(message: &str, json: bool) -> Run {
    let request = ReplyRequest {
        message: message.to_owned(),
        ..ReplyRequest::default()
    };
    asked(json, async |engine, session| {
        ask(engine, session, request, false, json).await
    })
}

fn unharmed(text: &str) {
    let acts = |character: char| character.is_control() && character != '\n';
    assert!(!text.contains(acts), "{text:?}");
}

#[test]
fn where_nobody_looks_only_whole_texts_are_printed() {
    let run = turn("hello", false);
    assert_eq!(run.result.unwrap(), Exit::Done);
    unharmed(&run.stdout);
    insta::assert_snapshot!(run.stdout, @r"
    Let me look.
    [image/png, 8 bytes]

    It says hi evil
    Status: Connected
    ");
    assert_eq!(
        run.stderr,
        "(asking again: the service broke off evil Status: Connected)\n\
         note: notes is not connected evil Status: Connected\n"
    );
}

#[test]
fn a_turn_for_programs_has_the_shape_of_the_contract() {
    let run = turn("silent", true);
    insta::assert_snapshot!(run.stdout, @r#"
    {
      "sessionKey": "agent:main:main",
      "model": "builtin/offline",
      "reply": "said only at the end",
      "parts": [
        {
          "type": "text",
          "text": "said only at the end"
        },
        {
          "type": "image",
          "mimeType": "image/png",
          "data": "iVBORw0KGgo="
        }
      ],
      "toolCalls": [
        {
          "name": "mcp_everything_echo\u001b[2J\u001b]0;owned\u0007evil\r\nStatus: Connected\u202e\u200b",
          "server": "everything",
          "isError": false,
          "durationMs": 12
        }
      ],
      "usage": {
        "inputTokens": 10,
        "outputTokens": 2,
        "cachedTokens": 0
      }
    }
    "#);
    let run = turn("hello", true);
    let json: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    assert!(json["reply"].as_str().unwrap().starts_with("It says hi"));
}

#[test]
fn a_reply_that_was_not_heard_is_printed_at_the_end() {
    assert_eq!(turn("silent", false).stdout, "said only at the end\n");
}

#[test]
fn a_failure_keeps_whose_fault_it_is() {
    let told = |message: &str| match turn(message, false).result {
        Err(Failure::Told(told)) => (told.exit, told.code.into_owned()),
        other => panic!("{other:?}"),
    };
    assert_eq!(told("fail"), (Exit::Failed, "model".to_owned()));
    assert_eq!(told("refuse"), (Exit::Usage, "unknown-model".to_owned()));
    assert_eq!(turn("fail", false).stdout, "", "half of a text is none");
}

#[test]
fn nobody_is_asked_where_nobody_can_answer() {
    assert_eq!(turn("ask", false).stdout, "No\n");
    let request = ReplyRequest {
        message: "ask".to_owned(),
        approved: true,
        ..ReplyRequest::default()
    };
    let run = asked(false, async |engine, session| {
        ask(engine, session, request, false, false).await
    });
    assert_eq!(run.stdout, "Once\n");
}
