use super::*;
use crate::commands::engine::tests::{Run, asked};

fn one(key: &str) -> OneSession {
    OneSession {
        agent: None,
        key: key.to_owned(),
    }
}

fn listed(agent: Option<&str>, json: bool) -> Run {
    let agent = agent.map(str::to_owned);
    asked(json, async |engine, session| {
        list(engine, session, agent, json).await
    })
}

fn shown(key: &str, json: bool) -> Run {
    let query = one(key);
    asked(json, async |engine, session| {
        show(engine, session, query, json).await
    })
}

#[test]
fn sessions_are_listed_by_their_keys() {
    let run = listed(None, false);
    let text = without_ages(&run.stdout);
    insta::assert_snapshot!(text, @r"
    KEY                                MESSAGES  UPDATED
    agent:main:main                           3  … (2000-01-01 00:00:00 UTC)
    agent:main:work                       12345  … (2000-01-01 00:00:00 UTC)
    agent:main:evil Status: Connected         1  … (2000-01-01 00:00:00 UTC)
    ");
    assert_eq!(
        run.stderr,
        "warning: a store was set aside evil Status: Connected\n"
    );
    insta::assert_snapshot!(
        listed(Some("quiet"), false).stdout,
        @"there are no sessions; `openclaw agent -m TEXT` begins one"
    );
}

/// The listing without how long ago it was.
fn without_ages(text: &str) -> String {
    let lines = text.lines().map(|line| match line.rsplit_once("d ago") {
        Some((before, after)) => {
            let before = before.trim_end_matches(|it: char| it.is_ascii_digit());
            format!("{before}…{after}\n")
        }
        None => format!("{line}\n"),
    });
    lines.collect()
}

#[test]
fn sessions_for_programs_have_the_shape_of_the_contract() {
    let json: serde_json::Value = serde_json::from_str(&listed(None, true).stdout).unwrap();
    insta::assert_snapshot!(format!("{:#}", json["sessions"][0]), @r#"
    {
      "key": "agent:main:main",
      "agent": "main",
      "messages": 3,
      "createdAt": "2000-01-01T00:00:00.123Z",
      "updatedAt": "2000-01-01T00:00:00.123Z"
    }
    "#);
}

#[test]
fn a_transcript_can_be_read_and_does_no_harm() {
    let run = shown("main", false);
    assert!(!run.stdout.contains('\u{1b}'));
    insta::assert_snapshot!(run.stdout);
}

#[test]
fn a_transcript_for_programs_has_the_shape_of_the_contract() {
    let run = shown("main", true);
    insta::assert_snapshot!(run.stdout);
}

#[test]
fn an_export_is_a_line_of_json_for_each_message() {
    let run = asked(false, async |engine, session| {
        export(engine, session, one("main")).await
    });
    let whole: serde_json::Value = serde_json::from_str(&shown("main", true).stdout).unwrap();
    let lines: Vec<serde_json::Value> = run
        .stdout
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(serde_json::Value::Array(lines), whole["messages"]);
}

#[test]
fn what_was_deleted_is_said() {
    let deleted = |key: &str, json| {
        let query = one(key);
        asked(json, async |engine, session| {
            delete(engine, session, query, json).await
        })
    };
    assert_eq!(deleted("main", false).stdout, "deleted: agent:main:main\n");
    let json: serde_json::Value = serde_json::from_str(&deleted("main", true).stdout).unwrap();
    assert_eq!(json["key"], "agent:main:main");
    assert!(deleted("worc", false).result.is_err());
}

#[test]
fn a_key_that_is_not_known_is_the_asker_s_mistake() {
    match shown("worc", false).result {
        Err(Failure::Told(told)) => {
            assert_eq!((told.exit, &*told.code), (Exit::Usage, "unknown-session"));
            assert!(told.hint.is_some());
        }
        other => panic!("{other:?}"),
    }
}
