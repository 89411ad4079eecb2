use serde_json::json;

use super::*;

fn command(rest: &str) -> McpCommand {
    match read(rest) {
        Ok(Line::Command(command)) => command,
        other => panic!("{rest}: {other:?}"),
    }
}

#[test]
fn every_command_of_the_documents_is_understood() {
    for (rest, debug) in [
        ("servers", "Servers"),
        ("list", "Servers"),
        ("tools", "Tools"),
        ("tools tavily", "Tools"),
        ("connect https://x.example --name x", "Connect"),
        ("connect -- npx -y server", "Connect"),
        ("disconnect x", "Disconnect"),
        ("auth x", "Auth"),
        ("auth x --code -abc", "Auth"),
        ("status x", "Status"),
        ("status", "Status"),
        ("refresh", "Refresh"),
        ("refresh x", "Refresh"),
        ("show", "Show"),
        ("get x", "Show"),
        ("unset x", "Unset"),
        ("remove x", "Unset"),
        ("resources", "Resources"),
        ("read x demo://1", "Read"),
        ("prompts", "Prompts"),
        ("prompt x y a=b", "Prompt"),
        ("approve x/y", "Approve"),
        ("logs x", "Logs"),
        ("logout x", "Logout"),
        ("reload", "Reload"),
    ] {
        let command = command(rest);
        assert!(format!("{command:?}").starts_with(debug), "{command:?}");
    }
}

/// What is to be written, or what is wrong with it.
fn defined(line: &str) -> Result<(String, ServerEntry), EngineFailure> {
    match read(line)? {
        Line::Command(McpCommand::Set { definition: text }) => definition(&text.0),
        other => panic!("{line}: {other:?}"),
    }
}

#[test]
fn definitions_are_taken_as_they_are_typed() {
    let object = json!({ "command": "np x", "args": ["-y", "it's"] });
    let expected = ServerEntry(object.as_object().unwrap().clone());
    let object = r#"{"command": "np x", "args": ["-y", "it's"]}"#;
    for line in [
        format!("set \"my server\"={object}"),
        format!("set  'my server' = {object}"),
        format!("set my\\ server {object}"),
    ] {
        let (name, entry) = defined(&line).unwrap();
        assert_eq!(
            (name.as_str(), entry),
            ("my server", expected.clone()),
            "{line}"
        );
    }
}

#[test]
fn what_may_be_a_credential_is_not_repeated() {
    for line in [
        "set x={\"apiKey\": \"hunter2hunter2\"",
        "set x=[\"hunter2hunter2\"]",
        "set {\"apiKey\": \"hunter2hunter2\"}",
        "set x y {\"apiKey\": \"hunter2hunter2\"}",
        "auth x hunter2hunter2",
        "connect https://x.example --header X-Key: hunter2hunter2",
        "connect https://x.example --heeder=hunter2hunter2",
        "connect https://x.example --transport hunter2hunter2",
    ] {
        let failure = match line.strip_prefix("set ") {
            Some(_) => defined(line).unwrap_err(),
            None => read(line).unwrap_err(),
        };
        assert!(!format!("{failure:?}").contains("hunter2"), "{failure:?}");
    }
}

#[test]
fn mistakes_are_answered_with_what_to_write() {
    let told = |rest: &str| {
        let failure = match read(rest) {
            Err(failure) => failure,
            Ok(_) => defined(rest).unwrap_err(),
        };
        format!(
            "{}\n  {}",
            failure.message,
            failure.hint.unwrap_or_default()
        )
    };
    let lines = [
        "sevrers",
        "disconnect",
        "connect",
        "auth x --cod y",
        "auth x y z",
        "auth x --code",
        "connect https://x.example --transport foo",
        "set",
        "set x",
    ];
    let told: Vec<String> = lines.iter().map(|rest| told(rest)).collect();
    insta::assert_snapshot!(told.join("\n"), @r#"
    there is no command `/mcp sevrers`
      did you mean `/mcp servers`? `/mcp help` lists all commands
    something is missing: <NAME>
      write `/mcp disconnect <NAME>`; `/mcp help` lists all commands
    something is missing: <URL|NAME>
      write `/mcp connect <URL|NAME> [-- <COMMAND>...]`; `/mcp help` lists all commands
    there is no option `--cod`
      write `/mcp auth --code <CODE_OR_URL> <NAME>`; `/mcp help` lists all commands
    there is a word too many
      write `/mcp auth [OPTIONS] <NAME>`; `/mcp help` lists all commands
    `--code` needs a value
      `/mcp help` lists all commands
    `--transport` takes one of: stdio, http, sse
      `/mcp help` lists all commands
    something is missing: <NAME={JSON}>
      write `/mcp set <NAME={JSON}>`; `/mcp help` lists all commands
    the definition of a server is a JSON object
      write `/mcp set NAME={"command": "PROGRAM"}` or `/mcp set NAME={"url": "ADDRESS"}`
    "#);
}

#[test]
fn help_is_the_same_wherever_it_is_read() {
    let Ok(Line::Help(text)) = read("") else {
        panic!("no help");
    };
    for same in ["help", "--help"] {
        assert_eq!(read(same).unwrap(), Line::Help(text.clone()), "{same}");
    }
    insta::assert_snapshot!(text, @r"
    Manages the MCP servers of the agent

    Usage: /mcp [COMMAND]

    Commands:
      servers     Lists the servers and how they are [alias: list]
      tools       Lists the tools by the names that the model sees
      status      Shows everything about a server, or about all
      connect     Adds a server after trying it, or connects a configured one again [alias: add]
      disconnect  Stops a server until somebody asks for it
      auth        Logs in to a server with a browser [alias: login]
      logout      Gives up the login to a server
      refresh     Lists again what servers offer, and revives those that failed
      resources   Lists what servers offer to read
      read        Reads a resource
      prompts     Lists the prompts that servers offer
      prompt      Shows a prompt, filled in; `/SERVER:PROMPT` sends it to the model
      approve     Accepts a tool's definition after it has changed
      logs        Shows what a server wrote to its standard error
      show        Prints the definition of a server, or of all, credentials hidden [alias: get]
      set         Writes the definition of a server to the configuration without trying it
      unset       Stops a server and deletes it from the configuration [alias: remove]
      reload      Reads the configuration anew
      help        Print this message or the help of the given subcommand(s)

    Options:
      -h, --help  Print help
    ");
    let Ok(Line::Help(of_one)) = read("help connect") else {
        panic!("no help");
    };
    assert!(of_one.contains("--no-check"), "{of_one}");
}

#[test]
fn every_command_can_be_completed() {
    for (name, about) in subcommands() {
        assert!(name == "help" || grammar(&name).is_some(), "{name}");
        assert!(!about.is_empty(), "{name}");
    }
    let options = options_of("connect").into_iter().map(|(name, _)| name);
    assert!(
        options
            .collect::<Vec<_>>()
            .contains(&"--no-check".to_owned())
    );
}

#[test]
fn other_names_of_commands_can_be_completed_as_well() {
    let command = McpLine::command();
    for command in command.get_subcommands() {
        for alias in command.get_visible_aliases() {
            let found = grammar(alias).map(|it| it.name);
            assert_eq!(found, Some(command.get_name()), "{alias}");
        }
    }
}

#[test]
fn nothing_that_was_typed_shows_in_debug_output() {
    for line in [
        "auth x --code hunter2hunter2",
        "connect https://u:hunter2hunter2@x.example -H A=hunter2hunter2 -e B=hunter2hunter2",
        "connect -- run --key hunter2hunter2",
        "set x={\"apiKey\": \"hunter2hunter2\"}",
    ] {
        let shown = format!("{:?}", read(line).unwrap());
        assert!(!shown.contains("hunter2"), "{shown}");
    }
}

#[test]
fn the_skill_teaches_commands_that_there_are() {
    let skill = include_str!("../../../../../skills/mcp/SKILL.md");
    let mut taught = 0;
    for piece in skill.split('`').skip(1).step_by(2) {
        let Some(line) = piece.strip_prefix("/mcp ") else {
            continue;
        };
        // Optional words are written too: with them and without them it is a command.
        let filled = line
            .replace("={…}", "={\"command\": \"x\"}")
            .replace(" …", "");
        let with = filled
            .replace(['<', '>', '[', ']'], "")
            .replace(" or name", "");
        let without = filled.split(" [").next().unwrap_or_default();
        let without = without.replace(['<', '>'], "").replace(" or name", "");
        for line in [with, without] {
            assert!(read(&line).is_ok(), "{piece}: {line}");
        }
        taught += 1;
    }
    assert!(taught > 15, "{taught}");
}
