use std::fs;
use std::path::Path;

use openclaw_config::Environment;

use super::*;
use crate::commands::engine::tests::in_session;

fn options(arguments: &[&str]) -> ConnectOptions {
    use clap::Parser;
    let arguments = ["openclaw", "mcp", "connect"].iter().chain(arguments);
    match crate::cli::Cli::try_parse_from(arguments).unwrap().command {
        crate::cli::Command::Mcp(options) => match options.command {
            crate::cli::McpCommand::Connect(options) => *options,
            other => panic!("{other:?}"),
        },
        other => panic!("{other:?}"),
    }
}

/// What came of it, what was printed, what was said.
type Outcome = (Result<Exit, String>, String, String);

fn connect(home: &Path, arguments: &[&str]) -> Outcome {
    // Without it, the keyring of the person who runs the tests would be found.
    let nowhere = [("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nowhere/bus")];
    let environment = Environment::new(nowhere, Some(home), home);
    let options = options(arguments);
    let (result, stdout, stderr) =
        in_session(false, environment, |session| run(session, None, &options));
    let result = result.map_err(|failure| match failure {
        Failure::Told(told) => format!("{:?} {}: {}", told.exit, told.code, told.message),
        other => format!("{other:?}"),
    });
    let tidy = |text: String| text.replace(&home.display().to_string(), "HOME");
    (result.map_err(tidy), tidy(stdout), tidy(stderr))
}

fn config(home: &Path) -> Option<String> {
    fs::read_to_string(home.join(".openclaw/openclaw.json")).ok()
}

#[test]
fn a_server_that_is_not_tried_is_written_beside_comments() {
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join(".openclaw/openclaw.json");
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(&file, "{\n  // mine\n  mcp: { servers: {} },\n}\n").unwrap();
    let line = ["--no-check", "https://mcp.tavily.com/mcp", "-H", "X-Team=a"];
    let (result, stdout, stderr) = connect(home.path(), &line);
    assert_eq!(result.unwrap(), Exit::Done);
    assert_eq!(
        stdout,
        "tavily: not tried; written to HOME/.openclaw/openclaw.json\n"
    );
    assert_eq!(stderr, "");
    let text = config(home.path()).unwrap();
    assert!(text.contains("// mine"), "{text}");
    assert!(text.contains("https://mcp.tavily.com/mcp"), "{text}");
}

#[test]
fn a_name_that_exists_is_replaced_only_by_force() {
    let home = tempfile::tempdir().unwrap();
    let first = ["--no-check", "--name", "a", "--", "one"];
    connect(home.path(), &first).0.unwrap();
    let again = connect(home.path(), &["--no-check", "--name", "a", "--", "two"]).0;
    assert_eq!(
        again.unwrap_err(),
        "Usage exists: there is a server \"a\" already"
    );
    assert!(config(home.path()).unwrap().contains("one"));
    let forced = ["--no-check", "--force", "--name", "a", "--", "two"];
    connect(home.path(), &forced).0.unwrap();
    let text = config(home.path()).unwrap();
    assert!(text.contains("two") && !text.contains("one"), "{text}");
}

#[test]
fn credentials_in_plain_text_are_warned_about_and_not_repeated() {
    let home = tempfile::tempdir().unwrap();
    let line = [
        "--no-check",
        "--no-keyring",
        "-e",
        "GITHUB_TOKEN=hunter2hunter2",
        "--",
        "github-mcp",
    ];
    let (result, stdout, stderr) = connect(home.path(), &line);
    assert_eq!(result.unwrap(), Exit::Done);
    assert!(
        stderr.contains(
            "warning: MCP server 'github' has plaintext credentials in config — consider using \
             secret:// references (env.GITHUB_TOKEN): write "
        ),
        "{stderr}"
    );
    assert!(!format!("{stdout}{stderr}").contains("hunter2"));
    let (_, _, quiet) = connect(
        home.path(),
        &[
            "--no-check",
            "--name",
            "b",
            "-e",
            "GITHUB_TOKEN=secret://env/X",
            "--",
            "x",
        ],
    );
    assert_eq!(quiet, "");
}

#[test]
fn a_credential_that_cannot_be_hidden_is_warned_about() {
    let home = tempfile::tempdir().unwrap();
    let line = ["--no-check", "-e", "H_TOKEN=abc", "--name", "a", "--", "x"];
    let (result, _, stderr) = connect(home.path(), &line);
    assert_eq!(result.unwrap(), Exit::Done);
    let warning = "warning: env.H_TOKEN of a: it is so short or so common that it can't be hidden \
                   in logs and results: choose a longer one\n";
    assert!(stderr.contains(warning), "{stderr}");
}

#[test]
fn a_reference_behind_a_scheme_is_written_and_a_wrong_one_says_the_form() {
    let home = tempfile::tempdir().unwrap();
    let connect = |header| {
        let line = ["--no-check", "--force", "--name", "a", "https://x.example"];
        connect(home.path(), &[&line[..], &["-H", header]].concat())
    };
    let (result, _, stderr) = connect("Authorization=Bearer secret://env/X");
    assert_eq!((result.unwrap(), stderr.as_str()), (Exit::Done, ""));
    let text = config(home.path()).unwrap();
    assert!(text.contains("\"prefix\": \"Bearer \""), "{text}");
    let (result, _, _) = connect("Authorization=Bearer secret://nowhere/X and more");
    let message = result.unwrap_err();
    assert!(message.contains("headers.Authorization: "), "{message}");
    assert!(message.contains("\"prefix\""), "{message}");
}

#[test]
fn secrets_may_come_from_where_the_configuration_says() {
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join(".openclaw/openclaw.json");
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    let text = "{ secrets: { providers: { pass: { source: 'exec', command: '/bin/pass' } } } }";
    fs::write(&file, text).unwrap();
    let connect = |value| {
        let line = ["--no-check", "--name", "a", "-e", value, "--", "x"];
        connect(home.path(), &line).0
    };
    assert!(connect("TOKEN=secret://exec/other/id").is_err());
    assert_eq!(connect("TOKEN=secret://exec/pass/id").unwrap(), Exit::Done);
}

#[test]
fn an_address_without_its_beginning_is_recognised() {
    let home = tempfile::tempdir().unwrap();
    let message = connect(home.path(), &["mcp.tavily.com/mcp"]).0.unwrap_err();
    assert_eq!(
        message,
        "Usage unknown-server: there is no server \"mcp.tavily.com/mcp\""
    );
}

#[test]
fn a_definition_with_mistakes_is_refused_and_nothing_is_written() {
    let home = tempfile::tempdir().unwrap();
    let (result, _, _) = connect(home.path(), &["--no-check", "http://192.0.2.1/mcp"]);
    let message = result.unwrap_err();
    assert!(message.starts_with("Usage config: url: "), "{message}");
    let state = home.path().join(".openclaw");
    assert!(!state.exists(), "a look makes no state directory");
    fs::create_dir(&state).unwrap();
    let line = ["--no-check", "--", "x", "secret://env/KEY"];
    let message = connect(home.path(), &line).0.unwrap_err();
    assert!(message.starts_with("Usage config: args"), "{message}");
    assert_eq!(config(home.path()), None);
    let left: Vec<_> = fs::read_dir(state)
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    assert!(left.is_empty(), "the temporary file is gone: {left:?}");
}

#[test]
fn everything_that_can_be_typed_is_handed_on() {
    let read = |arguments: &[&str]| wanted(&Typed::from(&options(arguments))).unwrap();
    let new = |arguments: &[&str]| match read(arguments) {
        Wanted::New(server) => (server.name.to_string(), Json::Object(server.entry.0)),
        Wanted::Configured(name) => panic!("{name}"),
    };
    let line = [
        "https://x.example",
        "--name",
        "n",
        "-H",
        "A=1",
        "--transport",
        "streamable-http",
    ];
    let entry = json!({ "url": "https://x.example", "headers": { "A": "1" }, "transport": "http" });
    assert_eq!(new(&line), ("n".to_owned(), entry));
    let entry = json!({ "command": "prog", "args": ["-y"], "env": { "A": "1" } });
    let line = ["n", "-e", "A=1", "--", "prog", "-y"];
    assert_eq!(new(&line), ("n".to_owned(), entry.clone()));
    let line = ["n", "-e", "A=1", "--command", "prog", "--arg", "-y"];
    assert_eq!(new(&line), ("n".to_owned(), entry));
    let line = ["n", "--url", "https://x.example"];
    assert_eq!(new(&line).1, json!({ "url": "https://x.example" }));
    let typed = Typed::from(&options(&["n", "--no-check", "--force", "--no-keyring"]));
    assert!(typed.no_check && typed.force && typed.no_keyring);
}

#[test]
fn what_was_done_is_data_for_programs() {
    let added = AddedServer {
        name: "x".to_owned(),
        config: "/c.json".to_owned(),
        ..AddedServer::default()
    };
    let expected = json!({
        "name": "x", "written": true, "config": "/c.json",
        "stored": [], "deleted": [], "server": null,
    });
    assert_eq!(report(&added), expected);
}
