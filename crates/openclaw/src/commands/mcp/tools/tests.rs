use super::*;
use crate::commands::engine::tests::{Run, asked};

fn call(tool: &str, framed: bool, json: bool) -> Run {
    let request = CallRequest {
        agent: None,
        tool: tool.to_owned(),
        arguments: CallArguments::default(),
        approved: true,
        framed,
        correlation: "0".to_owned(),
    };
    asked(json, async |engine, session| {
        ask_call(engine, session, request, json).await
    })
}

fn list(server: Option<&str>, json: bool) -> Run {
    let query = OfServer {
        agent: None,
        server: server.map(str::to_owned),
    };
    asked(json, async |engine, session| {
        ask_list(engine, session, query, json).await
    })
}

#[test]
fn a_result_is_text_without_controls_and_binary_is_named() {
    let run = call("echo", false, false);
    assert_eq!(run.result.unwrap(), Exit::Done);
    insta::assert_snapshot!(run.stdout);
}

#[test]
fn a_result_without_text_is_its_data() {
    insta::assert_snapshot!(call("data", false, false).stdout, @r#"
    {
      "answer": 42
    }
    "#);
    insta::assert_snapshot!(call("nothing", false, false).stdout, @"(the result is empty)");
}

#[test]
fn what_the_model_would_read_is_printed_as_it_is() {
    insta::assert_snapshot!(call("echo", true, false).stdout, @"<<<framed>>>");
    let json: serde_json::Value = serde_json::from_str(&call("echo", true, true).stdout).unwrap();
    assert_eq!(json["framed"], "<<<framed>>>");
}

#[test]
fn a_failed_call_is_a_result_with_exit_code_one() {
    let run = call("fails", false, false);
    assert_eq!(run.result.unwrap(), Exit::Failed);
    assert!(run.stdout.starts_with("hello"));
}

#[test]
fn an_unknown_tool_is_the_asker_s_mistake() {
    match call("missing", false, false).result {
        Err(Failure::Told(told)) => {
            assert_eq!(told.exit, Exit::Usage);
            assert_eq!(told.hint.as_deref(), Some("did you mean echo?"));
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_result_for_programs_has_the_shape_of_the_contract() {
    insta::assert_snapshot!(call("data", false, true).stdout, @r#"
    {
      "tool": "data",
      "server": "everything",
      "isError": false,
      "content": [],
      "structuredContent": {
        "answer": 42
      },
      "durationMs": 3
    }
    "#);
}

#[test]
fn tools_are_listed_by_server() {
    let run = list(None, false);
    insta::assert_snapshot!(run.stdout);
    assert_eq!(
        run.stderr,
        "warning: broken could not be asked: it has failed\n"
    );
    insta::assert_snapshot!(list(Some("quiet"), false).stdout, @"quiet offers no tools that may be used");
}

#[test]
fn tools_for_programs_have_the_shape_of_the_contract() {
    let json: serde_json::Value = serde_json::from_str(&list(None, true).stdout).unwrap();
    insta::assert_snapshot!(format!("{:#}", json["tools"][1]));
}

#[test]
fn approval_says_what_was_accepted() {
    let approve = |tool: &str, json| {
        let request = ApprovalRequest {
            agent: None,
            tool: tool.to_owned(),
        };
        asked(json, async |engine, session| {
            ask_approve(engine, session, request, json).await
        })
        .stdout
    };
    insta::assert_snapshot!(approve("echo", false), @"echo: the new definition is accepted");
    insta::assert_snapshot!(approve("same", false), @"same: its definition had not changed");
    assert!(approve("echo", true).contains("\"changed\": true"));
}
