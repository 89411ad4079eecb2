use super::*;
use crate::commands::canned::{Canned, PNG};
use crate::commands::engine::tests::{Run, asked, in_session};
use crate::output::Output;

fn of(server: Option<&str>) -> OfServer {
    OfServer {
        agent: None,
        server: server.map(str::to_owned),
    }
}

fn read(uri: &str, json: bool) -> Run {
    let request = ReadRequest {
        agent: None,
        server: "docs".to_owned(),
        uri: uri.to_owned(),
    };
    // What is not text can't be kept as text.
    asked(json, async |engine, session| {
        ask_read(engine, session, request, json).await
    })
}

#[test]
fn resources_are_listed_by_server() {
    let list = |server, json| {
        asked(json, async |engine, session| {
            ask_resources(engine, session, of(server), json).await
        })
        .stdout
    };
    insta::assert_snapshot!(list(None, false));
    insta::assert_snapshot!(list(Some("quiet"), false), @"quiet offers no resources");
    insta::assert_snapshot!("resources_for_programs", list(None, true));
}

#[test]
fn prompts_are_listed_by_server() {
    let list = |server, json| {
        asked(json, async |engine, session| {
            ask_prompts(engine, session, of(server), json).await
        })
        .stdout
    };
    insta::assert_snapshot!(list(None, false));
    insta::assert_snapshot!(list(Some("quiet"), false), @"quiet offers no prompts");
    insta::assert_snapshot!("prompts_for_programs", list(None, true));
}

#[test]
fn a_prompt_says_who_says_what() {
    let fill = |json| {
        let request = PromptRequest {
            agent: None,
            server: "docs".to_owned(),
            name: "review".to_owned(),
            arguments: [("code".to_owned(), Json::from("x"))].into_iter().collect(),
        };
        asked(json, async |engine, session| {
            ask_prompt(engine, session, request, json).await
        })
        .stdout
    };
    insta::assert_snapshot!(fill(false));
    assert!(fill(true).contains("\"role\": \"user\""));
}

#[test]
fn text_is_read_without_controls() {
    insta::assert_snapshot!(read("text:", false).stdout, @r"
    evil
    Status: Connected
    ");
    insta::assert_snapshot!(read("both:", false).stdout, @"
    text
    [both:: image/png, 8 bytes]
    ");
    insta::assert_snapshot!("contents_for_programs", read("both:", true).stdout);
}

#[test]
fn bad_base64_is_a_failure() {
    assert!(matches!(read("bad:", false).result, Err(Failure::Told(_))));
}

/// Reads something that is not text; a person is there or not.
fn read_blob(is_terminal: bool) -> (Vec<u8>, String) {
    let (output, stdout, stderr) = Output::kept(false);
    let mut output = if is_terminal {
        output.watched()
    } else {
        output
    };
    let directory = tempfile::tempdir().unwrap();
    let environment = openclaw_config::Environment::new([], None, directory.path());
    let ((), _, _) = in_session(false, environment, |session| {
        let mut session = Session {
            redactor: session.redactor,
            environment: session.environment.clone(),
            overrides: session.overrides.clone(),
            local: false,
            operation: session.operation,
            output: &mut output,
        };
        let request = ReadRequest {
            agent: None,
            server: "docs".to_owned(),
            uri: "blob:".to_owned(),
        };
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        let engine = Canned::default();
        let read = ask_read(&engine, &mut session, request, false);
        assert_eq!(runtime.block_on(read).unwrap(), Exit::Done);
    });
    (stdout.bytes(), stderr.text())
}

#[test]
fn what_is_not_text_is_written_decoded_to_files_and_named_on_terminals() {
    let (bytes, _) = read_blob(false);
    assert_eq!(bytes, STANDARD.decode(PNG).unwrap());
    let (bytes, told) = read_blob(true);
    assert_eq!(bytes, b"[blob:: image/png, 8 bytes]\n");
    assert!(told.contains("redirect the output"), "{told}");
}
