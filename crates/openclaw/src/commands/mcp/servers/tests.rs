use super::*;
use crate::commands::canned;
use crate::commands::engine::tests::{Run, asked};
use crate::render::tests::PAGE;

fn list(json: bool) -> Run {
    asked(json, async |engine, session| {
        let report = settled(engine, session, None).await?;
        print_list(engine, session, None, &report, json).await?;
        Ok(verdict(&report))
    })
}

fn one(server: &str) -> OneServer {
    OneServer {
        agent: None,
        server: server.to_owned(),
    }
}

#[test]
fn servers_are_listed_as_the_document_shows() {
    let run = list(false);
    insta::assert_snapshot!(run.stdout);
    assert_eq!(run.result.unwrap(), Exit::Failed, "some can't be used");
}

#[test]
fn servers_for_programs_have_the_shape_of_the_contract() {
    let json: serde_json::Value = serde_json::from_str(&list(true).stdout).unwrap();
    insta::assert_snapshot!(format!("{:#}", json["servers"][2]));
    assert_eq!(json["servers"][0]["state"], "failed");
    assert_eq!(json["servers"][3]["state"], "needs-auth");
}

#[test]
fn no_server_at_all_is_a_friendly_sentence() {
    let text = render::servers(&[], &BTreeMap::new(), SystemTime::UNIX_EPOCH, PAGE);
    insta::assert_snapshot!(text, @"no MCP servers are configured; add one with `openclaw mcp connect URL` or `openclaw mcp connect -- COMMAND`");
}

#[test]
fn logins_say_when_they_end_and_colours_only_underline_words() {
    let mut github = canned::server("github");
    github.auth = AuthKind::Oauth;
    let expiries = [("github".to_owned(), "1970-01-01T02:00:00Z".to_owned())].into();
    let coloured = render::Page {
        width: None,
        coloured: true,
        speech: render::Speech::Shell,
    };
    let servers = [github];
    let text = render::servers(&servers, &expiries, SystemTime::UNIX_EPOCH, PAGE);
    assert!(text.contains("Auth: OAuth (expires 2h)"), "{text}");
    let text = render::servers(&servers, &expiries, SystemTime::UNIX_EPOCH, coloured);
    assert!(text.contains("\u{1b}[32mConnected\u{1b}[0m"), "{text}");
}

#[test]
fn a_person_sees_which_servers_are_waited_for() {
    let (output, _, stderr) = crate::output::Output::kept(false);
    let mut output = output.watched();
    let redactor = openclaw_secrets::Redactor::new();
    let directory = tempfile::tempdir().unwrap();
    let mut session = Session {
        redactor: &redactor,
        environment: openclaw_config::Environment::new([], None, directory.path()),
        overrides: openclaw_config::Overrides::default(),
        local: false,
        operation: crate::operation::OperationId::new(),
        output: &mut output,
    };
    let engine = canned::Canned::default();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let report = runtime
        .block_on(settled(&engine, &mut session, None))
        .unwrap();
    assert!(
        report
            .servers
            .iter()
            .all(|server| server.state != ShownState::Connecting)
    );
    let told = stderr.text();
    assert!(told.contains("⠋ connecting: tavily"), "{told:?}");
    assert!(told.ends_with("\r\u{1b}[2K"), "wiped off: {told:?}");
}

#[test]
fn one_server_is_a_page_of_facts() {
    let page = |name: &str, json| {
        asked(json, async |engine, session| {
            let details = engine.server(one(name)).await?;
            print_details(session, &details, json)?;
            Ok(Exit::Done)
        })
        .stdout
    };
    insta::assert_snapshot!(page("local-fs", false));
    insta::assert_snapshot!("a_login", page("github-mcp", false));
    insta::assert_snapshot!("details_for_programs", page("github-mcp", true));
}

#[test]
fn all_servers_are_pages_or_one_list_for_programs() {
    let run = |json| {
        asked(json, async |engine, session| {
            ask_status_of_all(engine, session, None, json).await
        })
    };
    assert_eq!(run(false).stdout.matches("Transport:").count(), 7);
    let json: serde_json::Value = serde_json::from_str(&run(true).stdout).unwrap();
    assert_eq!(json["servers"].as_array().unwrap().len(), 8);
    assert!(json["servers"][0]["stderr"].is_array());
}

#[test]
fn a_server_that_is_not_ready_after_connecting_is_a_failure() {
    let connect = |name: &str| {
        asked(false, async |engine, session| {
            ask_reconnect(engine, session, one(name), false).await
        })
        .result
    };
    assert_eq!(connect("tavily").unwrap(), Exit::Done);
    assert_eq!(connect("notes").unwrap(), Exit::Failed);
    assert!(matches!(connect("tavly"), Err(Failure::Told(told)) if told.exit == Exit::Usage));
}

#[test]
fn stopping_says_how_the_server_is_now() {
    let run = asked(false, async |engine, session| {
        ask_disconnect(engine, session, one("tavily"), false).await
    });
    insta::assert_snapshot!(run.stdout, @"tavily: Stopped");
}

#[test]
fn lines_of_standard_error_keep_their_indentation_and_lose_controls() {
    let logs = |name: &str, json| {
        asked(json, async |engine, session| {
            let query = LogsQuery {
                agent: None,
                server: name.to_owned(),
                after: 0,
            };
            ask_logs(engine, session, query, false, json).await
        })
    };
    assert_eq!(
        logs("local", false).stdout,
        "one\n  two evil Status: Connected\n"
    );
    let quiet = logs("quiet", false);
    assert_eq!(quiet.stdout, "");
    assert_eq!(quiet.stderr, "quiet wrote nothing to its standard error\n");
    let json: serde_json::Value = serde_json::from_str(&logs("local", true).stdout).unwrap();
    assert_eq!(json["last"], 2);
}

#[test]
fn the_overview_fits_on_one_screen() {
    let run = asked(false, async |engine, session| {
        let overview = engine.overview().await?;
        let text = render::overview(&overview, "/home/ada/openclaw.json", PAGE);
        session.output.print(&text)?;
        Ok(Exit::Done)
    });
    insta::assert_snapshot!(run.stdout);
}
