//! `openclaw config …`

use serde_json::json;

use crate::program::Home;

const MISSPELT: &str = "\
{
  mcp: {
    servers: {
      github: {
        comand: \"npx\",
      },
    },
  },
}
";

#[test]
fn the_example_is_valid() {
    let home = Home::new();
    let example = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/openclaw.json");
    let run = home.run(&["config", "validate", "--config", example]);
    assert_eq!(run.code, Some(0), "{run}");
    assert!(run.stdout.ends_with("valid, 6 servers\n"), "{run}");
    let run = home.run(&["config", "validate", "--json", "--config", example]);
    assert_eq!(
        run.json(),
        json!({ "ok": true, "errors": [], "warnings": [] })
    );
}

#[test]
fn a_misspelt_key_is_found_and_the_right_one_suggested() {
    let home = Home::with_config(MISSPELT);
    insta::assert_snapshot!(home.run(&["config", "validate"]));
}

#[test]
fn the_same_as_data() {
    let home = Home::with_config(MISSPELT);
    let run = home.run(&["config", "validate", "--json"]);
    assert_eq!(run.code, Some(2));
    assert_eq!(run.stderr, "");
    insta::assert_snapshot!(run.stdout);
}

#[test]
fn problems_are_coloured_only_where_somebody_sees_it() {
    let home = Home::with_config(MISSPELT);
    assert!(!home.run(&["config", "validate"]).stdout.contains('\u{1b}'));
    let forced = home
        .command(&["config", "validate"])
        .env("CLICOLOR_FORCE", "1")
        .output()
        .unwrap();
    assert!(home.finish(forced).stdout.contains('\u{1b}'));
    let refused = home
        .command(&["--no-color", "config", "validate"])
        .env("CLICOLOR_FORCE", "1")
        .output()
        .unwrap();
    assert!(!home.finish(refused).stdout.contains('\u{1b}'));
}

#[test]
fn one_bad_server_of_three_leaves_the_others() {
    let home = Home::with_config(
        "{ mcp: { servers: { a: { command: 'x' }, b: { command: 'x', env: { K: '${NOT_SET}' } }, c: { command: 'x' } } } }",
    );
    let run = home.run(&["config", "validate", "--json"]);
    assert_eq!(run.code, Some(0), "a missing variable is a warning: {run}");
    assert_eq!(run.json()["warnings"][0]["path"], "mcp.servers.b.env.K");
    let shown = home.run(&["config", "show"]).json();
    assert_eq!(shown["mcp"]["servers"]["a"]["command"], "x");
    assert_eq!(
        shown["mcp"]["servers"]["b"]["problems"],
        json!(["mcp.servers.b.env.K: the environment variable NOT_SET is not set"])
    );
}

#[test]
fn a_file_that_cannot_be_used_is_a_failure_of_show() {
    let home = Home::with_config("{ mcp: ");
    let run = home.run(&["config", "show"]);
    assert_eq!(run.code, Some(2));
    assert_eq!(run.stdout, "");
    assert!(run.stderr.contains(".openclaw/openclaw.json:1:"), "{run}");
    assert!(run.stderr.contains("openclaw config validate"), "{run}");
    let run = home.run(&["config", "show", "--json"]);
    assert_eq!(run.json()["error"]["code"], "config");
}

#[test]
fn the_servers_of_one_agent_are_shown() {
    let home = Home::with_config(
        "{ mcp: { servers: { a: { command: 'x' } } }, agents: { list: [{ id: 'quiet', mcp: { servers: { a: { enabled: false } } } }] } }",
    );
    let shown = home.run(&["config", "show", "--agent", "quiet"]).json();
    assert_eq!(shown["mcp"]["servers"]["a"]["enabled"], false);
    let main = home.run(&["config", "show"]).json();
    assert_eq!(main["mcp"]["servers"]["a"]["enabled"], true);
    let quiet = &main["agents"]["entries"]["quiet"]["mcp"]["servers"];
    assert_eq!(
        quiet["a"]["enabled"], false,
        "agents are shown with what is their own"
    );
    let unknown = home.run(&["config", "show", "--agent", "loud"]);
    assert_eq!(unknown.code, Some(2));
    assert!(
        unknown.stderr.contains("the agents are: main, quiet"),
        "{unknown}"
    );
}

#[test]
fn a_resolved_configuration_hides_credentials() {
    let home = Home::with_config(
        "{ mcp: { servers: { a: { command: 'x', env: { API_KEY: 'hunter2hunter2', HOST: 'h' } } } } }",
    );
    let run = home.run(&["config", "show"]);
    assert!(!run.stdout.contains("hunter2"), "{run}");
    assert_eq!(
        run.json()["mcp"]["servers"]["a"]["env"],
        json!({ "API_KEY": "[REDACTED]", "HOST": "h" })
    );
}

#[test]
fn paths_follow_options_variables_and_profiles() {
    let home = Home::new();
    assert_eq!(
        home.run(&["config", "path"]).stdout,
        "HOME/.openclaw/openclaw.json\n"
    );
    let profile = home
        .run(&["config", "path", "--profile", "work", "--json"])
        .json();
    assert_eq!(
        profile,
        json!({
            "config": "HOME/.openclaw-work/openclaw.json", "exists": false,
            "state": "HOME/.openclaw-work", "profile": "work", "typescriptOpenclaw": null,
        })
    );
    home.write(".openclaw/state/openclaw.sqlite", "another program's");
    assert_eq!(
        home.run(&["config", "path", "--json"]).json()["typescriptOpenclaw"],
        "HOME/.openclaw/state/openclaw.sqlite"
    );
    let output = home
        .command(&["config", "path"])
        .env("OPENCLAW_STATE_DIR", "~/elsewhere")
        .output()
        .unwrap();
    assert_eq!(home.finish(output).stdout, "HOME/elsewhere/openclaw.json\n");
    let output = home
        .command(&["config", "path", "--json"])
        .env("OPENCLAW_CONFIG_PATH", "mine.json")
        .output()
        .unwrap();
    let paths = home.finish(output).json();
    assert_eq!(paths["config"], "HOME/mine.json");
    assert_eq!(paths["state"], "HOME/.openclaw");
}

#[test]
fn another_home_moves_everything() {
    let home = Home::new();
    let output = home
        .command(&["config", "path"])
        .env("OPENCLAW_HOME", "/nonexistent/home")
        .output()
        .unwrap();
    let run = home.finish(output);
    assert_eq!(run.stdout, "/nonexistent/home/.openclaw/openclaw.json\n");
}

#[test]
fn the_schema_is_json_and_describes_servers() {
    let schema = Home::new().run(&["config", "schema"]).json();
    assert_eq!(schema["title"], "openclaw.json");
    assert!(schema["$defs"]["server"]["properties"]["command"].is_object());
}

#[test]
fn strange_files_are_clear_errors() {
    let home = Home::new();
    let large = std::fs::File::create(home.path().join("large.json")).unwrap();
    large.set_len(100_000_000).unwrap();
    std::fs::create_dir(home.path().join("directory.json")).unwrap();
    std::fs::write(home.path().join("binary.json"), b"\xff\xfe{}").unwrap();
    for (name, message) in [
        ("large.json", "larger than the limit of 8 MB"),
        ("directory.json", "is a directory, not a file"),
        ("binary.json", "is not UTF-8 text"),
    ] {
        let run = home.run(&["config", "validate", "--config", name]);
        assert_eq!(run.code, Some(2), "{run}");
        assert!(run.stdout.contains(message), "{run}");
    }
    let run = home.run(&["config", "validate", "--config", "missing.json"]);
    assert_eq!(run.code, Some(0), "a missing file means defaults: {run}");
    assert!(run.stdout.contains("there is no such file"), "{run}");
}
