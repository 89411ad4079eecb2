//! `openclaw mcp …`, `openclaw status` and `openclaw doctor`, as far as no server is needed.

use serde_json::json;

use crate::program::Home;

const TWO: &str = "{
  // Ours.
  mcp: {
    servers: {
      github: { command: 'github-mcp', env: { GITHUB_TOKEN: 'hunter2hunter2' } },
      docs: { url: 'https://docs.example/mcp' },
    },
  },
}
";

#[test]
fn the_help_names_every_command() {
    insta::assert_snapshot!(Home::new().run(&["mcp", "--help"]));
}

#[test]
fn a_misspelt_command_is_suggested() {
    let run = Home::new().run(&["mcp", "sevrers"]);
    assert_eq!(run.code, Some(2));
    assert!(run.stderr.contains("'servers'"), "{run}");
    let run = Home::new().run(&["mcp"]);
    assert_eq!(run.code, Some(2));
}

#[test]
fn definitions_are_shown_without_credentials() {
    let home = Home::with_config(TWO);
    let one = home.run(&["mcp", "show", "github", "--json"]);
    assert_eq!(one.code, Some(0), "{one}");
    assert_eq!(one.json()["env"]["GITHUB_TOKEN"], "[REDACTED]");
    let all = home.run(&["mcp", "show"]).json();
    assert_eq!(all["docs"]["url"], "https://docs.example/mcp");
    let unknown = home.run(&["mcp", "show", "gihub"]);
    assert_eq!(unknown.code, Some(2));
    assert_eq!(
        unknown.stderr,
        "error: there is no server \"gihub\"\nhint: the servers are: docs, github\n"
    );
}

#[test]
fn a_definition_is_set_and_unset_and_comments_stay() {
    let home = Home::with_config(TWO);
    let set = home.run(&["mcp", "set", "new", r#"{"command": "x", "args": ["-y"]}"#]);
    assert_eq!(set.code, Some(0), "{set}");
    assert_eq!(set.stdout, "new: written to HOME/.openclaw/openclaw.json\n");
    let again = home.run(&["mcp", "set", "new", r#"{"command": "y"}"#, "--json"]);
    assert_eq!(
        again.json(),
        json!({ "name": "new", "written": true, "config": "HOME/.openclaw/openclaw.json", "deleted": [] })
    );
    let shown = home.run(&["mcp", "show", "new"]).json();
    assert_eq!(shown["command"], "y");
    let misspelt = home.run(&["mcp", "set", "new", r#"{"command": "y", "arg": []}"#]);
    assert_eq!(misspelt.code, Some(0), "{misspelt}");
    assert!(misspelt.stderr.contains("unknown key `arg`"), "{misspelt}");
    let unset = home.run(&["mcp", "unset", "new"]);
    assert_eq!(
        unset.stdout,
        "new: deleted from HOME/.openclaw/openclaw.json\n"
    );
    let path = home.path().join(".openclaw/openclaw.json");
    assert_eq!(std::fs::read_to_string(path).unwrap(), TWO);
    let unknown = home.run(&["mcp", "remove", "new"]);
    assert_eq!(unknown.code, Some(2), "{unknown}");
    assert!(unknown.stderr.contains("docs, github"), "{unknown}");
}

#[test]
fn a_definition_that_is_none_is_refused() {
    let home = Home::with_config(TWO);
    for (definition, words) in [
        ("[]", "must be a JSON object"),
        ("{", "not valid JSON"),
        ("{}", "a server needs `command`"),
        (r#"{"command": 5}"#, "command"),
    ] {
        let run = home.run(&["mcp", "set", "new", definition]);
        assert_eq!(run.code, Some(2), "{run}");
        assert!(run.stderr.contains(words), "{run}");
    }
    assert_eq!(home.run(&["mcp", "set", "a/b", "{}"]).code, Some(2));
}

#[test]
fn a_new_server_is_written_without_being_tried_where_that_is_wanted() {
    let home = Home::with_config(TWO);
    let run = home.run(&[
        "mcp",
        "add",
        "--no-check",
        "--",
        "npx",
        "-y",
        "@modelcontextprotocol/server-everything",
    ]);
    assert_eq!(run.code, Some(0), "{run}");
    let expected = "everything: not tried; written to HOME/.openclaw/openclaw.json\n";
    assert_eq!(run.stdout, expected);
    let shown = home.run(&["mcp", "show", "everything"]).json();
    assert_eq!(shown["args"][1], "@modelcontextprotocol/server-everything");
    let again = home.run(&["mcp", "add", "--no-check", "https://mcp.github.com/mcp"]);
    assert_eq!(again.code, Some(2), "{again}");
    assert!(again.stderr.contains("--force"), "{again}");
}

#[test]
fn mistakes_do_not_repeat_credentials() {
    let home = Home::with_config(TWO);
    for arguments in [
        &[
            "mcp",
            "connect",
            "--header",
            "hunter2hunter2",
            "https://x.example",
        ][..],
        &["mcp", "connect", "--env", "hunter2hunter2", "--", "x"],
        &["mcp", "call", "tool", "hunter2hunter2"],
    ] {
        let run = home.run(arguments);
        assert_eq!(run.code, Some(2), "{run}");
        assert!(!run.stderr.contains("hunter2"), "{run}");
    }
}

#[test]
fn a_configuration_that_cannot_be_used_stops_every_question() {
    let home = Home::with_config("{ mcp: ");
    for command in ["servers", "tools", "resources", "prompts", "refresh"] {
        let run = home.run(&["mcp", command]);
        assert_eq!(run.code, Some(2), "{run}");
        assert!(run.stderr.contains("openclaw config validate"), "{run}");
    }
    let status = home.run(&["status", "--json"]);
    assert_eq!(status.code, Some(2), "{status}");
    assert!(status.json()["configError"].is_string(), "{status}");
    let doctor = home.run(&["doctor"]);
    assert_eq!(doctor.code, Some(1), "{doctor}");
}

#[test]
fn a_doctor_says_what_is_missing() {
    let home = Home::with_config(TWO);
    let run = home.run(&["mcp", "doctor", "github"]);
    assert_eq!(run.code, Some(1), "{run}");
    assert!(
        run.stdout.contains("cannot find the program `github-mcp`"),
        "{run}"
    );
    assert!(!run.stdout.contains("hunter2"), "{run}");
    let run = home.run(&["mcp", "doctor", "docs", "--json"]);
    assert_eq!(run.code, Some(0), "{run}");
    assert_eq!(run.json()["ok"], true);
}
