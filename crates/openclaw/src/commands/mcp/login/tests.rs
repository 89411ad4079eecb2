use super::*;
use crate::commands::engine::tests::{Run, asked};
use crate::render::tests::HOSTILE;

/// Logs in with the canned engine; a browser is not opened.
fn logged_in(browser: Option<Browser>, json: bool) -> Run {
    asked(json, async |engine, session| {
        let login = Login {
            agent: None,
            server: "linear".to_owned(),
            browser,
        };
        let report = login.run(engine, session).await?;
        print_report(session, &report, json)?;
        Ok(Exit::Done)
    })
}

fn unharmed(text: &str) {
    let escape = HOSTILE.chars().find(|it| it.is_control()).unwrap();
    assert!(!text.contains(escape), "{text:?}");
}

#[test]
fn a_person_is_told_what_to_open_and_what_was_granted() {
    let run = logged_in(None, false);
    unharmed(&run.stdout);
    unharmed(&run.stderr);
    // The address is whole, although it holds what looks like a credential.
    let address = "\n  https://login.example/authorize?state=abc&code_challenge=def\n";
    assert!(run.stderr.contains(address), "{}", run.stderr);
    assert!(
        run.stderr.contains("warning: there is no keyring"),
        "{}",
        run.stderr
    );
    assert!(
        run.stderr.contains("that the server names"),
        "{}",
        run.stderr
    );
    assert!(
        run.stderr.contains("Client: it registers clients"),
        "{}",
        run.stderr
    );
    assert!(
        run.stderr.contains("openclaw mcp auth linear --code -"),
        "{}",
        run.stderr
    );
    assert!(
        run.stdout.starts_with("Logged in to linear.\n"),
        "{}",
        run.stdout
    );
    assert!(
        run.stdout.contains("expired, renewed by itself"),
        "{}",
        run.stdout
    );
}

#[test]
fn programs_get_one_document_and_nothing_else_on_the_standard_output() {
    let run = logged_in(None, true);
    let report: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(report["server"], "linear");
    assert_eq!(report["renewable"], true);
    assert!(
        run.stderr.contains("https://login.example/authorize"),
        "{}",
        run.stderr
    );
}

#[test]
fn why_no_browser_is_opened_is_said() {
    let absent = Browser::of(|name| (name == "SSH_CONNECTION").then(|| "x".into()));
    let run = logged_in(Some(absent), false);
    let expected = "no browser is opened: you are connected from another machine\n";
    assert!(run.stderr.contains(expected), "{}", run.stderr);
}

#[test]
fn what_became_of_a_logout_is_told() {
    for (server, words) in [
        ("nobody", "nobody: nobody was logged in\n"),
        (
            "withdrawn",
            "withdrawn: logged out, also at the authorization server\n",
        ),
        ("silent", "offers no way to withdraw a login"),
        (
            "kept",
            "was not withdrawn at the authorization server: HTTP status 503",
        ),
    ] {
        let run = asked(false, async |engine, session| {
            let query = OneServer {
                agent: None,
                server: server.to_owned(),
            };
            let report = engine.logout(query).await?;
            session.output.print(&render::logged_out(&report))?;
            Ok(Exit::Done)
        });
        assert!(run.stdout.contains(words), "{}", run.stdout);
        unharmed(&run.stdout);
    }
}

#[test]
fn nobody_is_asked_where_nobody_sits() {
    let run = asked(false, async |engine, session| {
        let is_done = offered(engine, session, None, "linear", "why").await?;
        assert!(!is_done);
        Ok(Exit::Done)
    });
    assert_eq!(run.stderr, "");
    assert_eq!(run.stdout, "");
}

#[test]
fn what_a_browser_brought_is_in_no_debug_output() {
    let answer = LoginAnswer {
        agent: None,
        server: "linear".to_owned(),
        answer: "hunter2".to_owned(),
    };
    assert!(!format!("{answer:?}").contains("hunter2"));
}
