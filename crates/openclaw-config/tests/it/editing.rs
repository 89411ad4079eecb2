//! Changing the file in place.

use std::fs;

use openclaw_config::{EditError, Editor, ServerEdit, ServerName, written_server};
use openclaw_state::StateDirectory;
use proptest::prelude::*;
use serde_json::{Map, Value as Json, json};

use crate::fixture::{Fixture, names};

fn name(text: &str) -> ServerName {
    ServerName::new(text).unwrap()
}

fn definition(value: Json) -> Map<String, Json> {
    match value {
        Json::Object(members) => members,
        _ => panic!("an object"),
    }
}

fn add(server: &str, value: Json) -> ServerEdit {
    ServerEdit::Add(name(server), definition(value))
}

fn apply(fixture: &Fixture, edit: &ServerEdit) -> Result<(), EditError> {
    let (location, environment) = (fixture.location(), fixture.environment());
    let state = StateDirectory::open(&location.state).unwrap();
    Editor::open(&location, &environment, &state)?.apply(edit)
}

fn edited(text: &str, edit: &ServerEdit) -> String {
    let fixture = Fixture::new(text);
    apply(&fixture, edit).unwrap();
    fixture.text()
}

#[test]
fn a_server_is_added_with_comments_and_style_kept() {
    let before = "// mine\n{\n  // all servers\n  mcp: {\n    servers: {\n      a: { command: 'x' }, // first\n      // last words\n    },\n  },\n  other: [1, 2,], /* end */\n}\n";
    insta::assert_snapshot!(edited(before, &add("b", json!({ "command": "npx", "args": ["-y", "it's"] }))), @r#"
    // mine
    {
      // all servers
      mcp: {
        servers: {
          a: { command: 'x' }, // first
          b: {
            command: 'npx',
            args: ['-y', "it's"],
          },
          // last words
        },
      },
      other: [1, 2,], /* end */
    }
    "#);
}

#[test]
fn missing_parts_are_made() {
    insta::assert_snapshot!(edited("{}", &add("a", json!({ "command": "x" }))), @r#"
    {
      "mcp": {
        "servers": {
          "a": {
            "command": "x"
          }
        }
      }
    }
    "#);
    let fixture = Fixture::empty();
    apply(&fixture, &add("a", json!({ "url": "https://x.example" }))).unwrap();
    assert_eq!(fixture.config().agents.len(), 1);
    assert!(fixture.text().contains("https://x.example"));
}

#[test]
fn a_changed_server_keeps_what_stays_the_same() {
    let before = "{\n  \"mcp\": {\n    \"servers\": {\n      \"a\": {\n        // the program\n        \"command\": \"x\", // here\n        \"args\": [\"1\"],\n        \"lazy\": true\n      }\n    }\n  }\n}\n";
    let edit = ServerEdit::Change(
        name("a"),
        definition(json!({ "command": "x", "args": ["2"], "pin": "off" })),
    );
    insta::assert_snapshot!(edited(before, &edit), @r#"
    {
      "mcp": {
        "servers": {
          "a": {
            // the program
            "command": "x", // here
            "args": ["2"],
            "pin": "off"
          }
        }
      }
    }
    "#);
}

#[test]
fn a_removed_server_takes_only_itself() {
    let before = "{\n  mcp: {\n    servers: {\n      a: { command: 'x' },\n      // about b\n      b: { command: 'y' },\n      c: { command: 'z' },\n    },\n  },\n}\n";
    let after = edited(before, &ServerEdit::Remove(name("b")));
    assert!(!after.contains("'y'"), "{after}");
    assert!(after.contains("a: { command: 'x' },\n"), "{after}");
    assert!(after.contains("      c: { command: 'z' },\n"), "{after}");
}

#[test]
fn a_definition_is_found_as_it_is_written() {
    let text = "\u{feff}{ mcp: { servers: { a: { command: '${X}', odd: [1] /* ! */ } } } }";
    let fixture = Fixture::new(text);
    let (location, environment) = (fixture.location(), fixture.environment());
    let state = StateDirectory::open(&location.state).unwrap();
    let editor = Editor::open(&location, &environment, &state).unwrap();
    let expected = json!({ "command": "${X}", "odd": [1] });
    assert_eq!(editor.server(&name("a")), Some(expected.clone()));
    assert_eq!(editor.server(&name("b")), None);
    assert_eq!(written_server(&location, &name("a")), Some(expected));
    let loaded = openclaw_config::load(&location, &environment);
    assert!(loaded.report.is_in_files("'${X}', odd: [1] /* ! */"));
    assert!(!loaded.report.is_in_files("something else"));
}

#[test]
fn line_ends_and_the_byte_order_mark_stay() {
    let before = "\u{feff}{\r\n  \"mcp\": {\r\n    \"servers\": {}\r\n  }\r\n}\r\n";
    let after = edited(before, &add("a", json!({ "command": "x" })));
    assert!(after.starts_with('\u{feff}'));
    assert_eq!(
        after.matches('\n').count(),
        after.matches("\r\n").count(),
        "{after:?}"
    );
}

#[test]
fn what_cannot_be_done_is_said_and_nothing_is_written() {
    let text = r#"{
        mcp: { servers: { a: { command: "x" }, $include: "more.json" } },
        plugins: { entries: { "mcp-client": { config: { servers: { p: { command: "x" } } } } } },
        agents: { list: [{ id: "z", mcp: { servers: { own: { command: "x" } } } }] },
    }"#;
    let fixture = Fixture::new(text);
    fixture.write("more.json", r#"{ "inc": { "command": "x" } }"#);
    let fine = json!({ "command": "x" });
    let cases = [
        (add("a", fine.clone()), "there is a server `a` already"),
        (
            ServerEdit::Remove(name("none")),
            "there is no server `none` in `mcp.servers`",
        ),
        (
            ServerEdit::Remove(name("p")),
            "the server `p` stands in plugins.entries.mcp-client.config.servers: change it there",
        ),
        (
            ServerEdit::Change(name("own"), Map::new()),
            "the server `own` stands in agents.entries.z.mcp.servers: change it there",
        ),
        (
            ServerEdit::Remove(name("inc")),
            "the server `inc` stands in an included file: change it there",
        ),
        (
            add("bad", json!({ "comand": "x" })),
            "the definition of `bad` has errors",
        ),
        (
            add("bad", json!({ "url": "http://example.com" })),
            "the definition of `bad` has errors",
        ),
    ];
    for (edit, expected) in cases {
        assert_eq!(apply(&fixture, &edit).unwrap_err().to_string(), expected);
        assert_eq!(fixture.text(), text);
    }
    let broken = Fixture::new("{ mcp: ");
    let error = apply(&broken, &add("a", fine)).unwrap_err();
    assert!(matches!(error, EditError::Unsound(..)), "{error}");
    assert_eq!(broken.text(), "{ mcp: ");
}

#[test]
fn a_change_by_somebody_else_in_between_is_not_overwritten() {
    let fixture = Fixture::new("{}");
    let (location, environment) = (fixture.location(), fixture.environment());
    let state = StateDirectory::open(&location.state).unwrap();
    let editor = Editor::open(&location, &environment, &state).unwrap();
    fixture.write("openclaw.json", "{ theirs: true }");
    let error = editor
        .apply(&add("a", json!({ "command": "x" })))
        .unwrap_err();
    assert!(matches!(error, EditError::Concurrent(_)), "{error}");
    assert_eq!(fixture.text(), "{ theirs: true }");
}

#[test]
fn many_edits_at_once_are_all_there_in_the_end() {
    let fixture = Fixture::new("{\n  // keep me\n}\n");
    std::thread::scope(|scope| {
        for number in 0..8 {
            let fixture = &fixture;
            scope.spawn(move || {
                let edit = add(&format!("s{number}"), json!({ "command": "x" }));
                apply(fixture, &edit).unwrap();
            });
        }
    });
    assert_eq!(names(&fixture.config(), "main").len(), 8);
    assert!(fixture.text().contains("// keep me"));
}

#[cfg(unix)]
#[test]
fn a_read_only_file_is_left_alone() {
    use std::os::unix::fs::PermissionsExt;
    let fixture = Fixture::new("{}");
    fs::set_permissions(fixture.location().config, fs::Permissions::from_mode(0o444)).unwrap();
    let error = apply(&fixture, &add("a", json!({ "command": "x" }))).unwrap_err();
    assert!(error.to_string().contains("read-only"), "{error}");
    assert_eq!(fixture.text(), "{}");
}

#[cfg(unix)]
#[test]
fn edits_that_fail_cost_no_copies() {
    use std::os::unix::fs::PermissionsExt;
    let fixture = Fixture::new("{ first: 1 }");
    apply(&fixture, &add("a", json!({ "command": "x" }))).unwrap();
    fs::set_permissions(fixture.location().config, fs::Permissions::from_mode(0o444)).unwrap();
    for _ in 0..6 {
        apply(&fixture, &add("b", json!({ "command": "x" }))).unwrap_err();
    }
    let backups = fixture.path().join("state/mcp/config-backups");
    let backups = fs::read_dir(backups)
        .unwrap()
        .next()
        .unwrap()
        .unwrap()
        .path();
    assert_eq!(fs::read_dir(&backups).unwrap().count(), 1);
    assert_eq!(
        fs::read_to_string(backups.join("openclaw.json.1")).unwrap(),
        "{ first: 1 }"
    );
}

#[test]
fn the_last_versions_are_kept() {
    let fixture = Fixture::new("{ first: 1 }");
    for number in 0..8 {
        apply(
            &fixture,
            &add(&format!("s{number}"), json!({ "command": "x" })),
        )
        .unwrap();
    }
    let backups = fixture.path().join("state/mcp/config-backups");
    let backups = fs::read_dir(backups)
        .unwrap()
        .next()
        .unwrap()
        .unwrap()
        .path();
    assert_eq!(fs::read_dir(&backups).unwrap().count(), 5);
    let newest = fs::read_to_string(backups.join("openclaw.json.1")).unwrap();
    assert!(newest.contains("s6") && !newest.contains("s7"));
}

/// A file in any of the manners people write.
fn file() -> impl Strategy<Value = String> {
    let server = prop_oneof![
        Just("{ command: 'x' }"),
        Just("{\n  \"command\": \"x\", // why\n  \"args\": [\"a\", 'b',],\n}"),
        Just("{command:\"x\"}"),
        Just("{ /* in */ url: 'https://x.example' /* out */ }"),
    ];
    let separator = prop_oneof![
        Just(","),
        Just(", // note\n"),
        Just(",\n\n"),
        Just("/* c */ ,")
    ];
    let end = prop_oneof![Just(""), Just(","), Just(", // end\n"), Just("\n")];
    (
        prop::collection::vec((server, separator), 0..4),
        end,
        any::<bool>(),
    )
        .prop_map(|(servers, end, quoted)| {
            let mut text = String::from("// top\n{ mcp: { servers: {");
            let count = servers.len();
            for (index, (server, separator)) in servers.into_iter().enumerate() {
                let key = if quoted {
                    format!("\"s{index}\"")
                } else {
                    format!("s{index}")
                };
                text.push_str(&format!("{key}: {server}"));
                if index + 1 < count {
                    text.push_str(separator);
                } else {
                    text.push_str(end);
                }
            }
            text.push_str("} }, tail: 1 }\n// bottom\n");
            text
        })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn any_file_can_be_edited_and_keeps_its_comments(text in file(), remove in 0_usize..4) {
        let fixture = Fixture::new(&text);
        let count = names(&fixture.config(), "main").len();
        apply(&fixture, &add("new", json!({ "command": "y", "env": { "A": "b" } }))).unwrap();
        prop_assert_eq!(names(&fixture.config(), "main").len(), count + 1);
        for comment in ["// top", "// bottom", "// why", "/* c */", "// note", "/* in */"] {
            prop_assert_eq!(
                fixture.text().matches(comment).count(),
                text.matches(comment).count(),
                "{} in {}", comment, fixture.text()
            );
        }
        if remove < count {
            apply(&fixture, &ServerEdit::Remove(name(&format!("s{remove}")))).unwrap();
            prop_assert_eq!(names(&fixture.config(), "main").len(), count);
        }
    }
}
