//! Commands behind a slash, sent as messages.

use openclaw_testkit::leaks::wait_until;
use serde_json::{Value as Json, json};

use crate::console::{CTRL_D, Console, Kind};
use crate::lab::{Lab, SOON, assert_harmless};
use crate::scripted::{self, Script};

/// What a message gets that is a command.
fn said(lab: &Lab, message: &str) -> String {
    let run = lab.done(&["agent", "-m", message]);
    assert_harmless(&run.stdout);
    run.stdout
}

/// The failure of a command.
fn refused(lab: &Lab, message: &str, code: i32) -> String {
    let failure = lab.failure(&["agent", "-m", message], code);
    format!(
        "{}; {}",
        failure["message"].as_str().unwrap_or_default(),
        failure["hint"].as_str().unwrap_or_default()
    )
}

/// A list of servers without what is different each time.
fn steady(text: &str) -> String {
    let mut steady = String::new();
    for line in text.lines() {
        let line = match line.split_once("stdio://") {
            Some((before, _)) => format!("{before}stdio://…"),
            None => line.to_owned(),
        };
        let line = match line.split_once("(PID ") {
            Some((before, after)) => {
                let after = after.trim_start_matches(|it: char| it.is_ascii_digit());
                format!("{before}(PID …{after}")
            }
            None => line,
        };
        steady.push_str(line.trim_end());
        steady.push('\n');
    }
    steady
}

#[test]
fn servers_are_listed_as_the_documents_show_it() {
    let lab = Lab::new("").server("off", "", json!({ "enabled": false }));
    insta::assert_snapshot!(steady(&said(&lab, "/mcp servers")), @r"
    MCP Servers (2 configured)
    ──────────────────────────────────────────────────────────
      fake            stdio://…
                      Status: Running (PID …) | Auth: None | Tools: 28 | Resources: 3 | Prompts: 3

      off             stdio://…
                      Status: Disabled | Auth: None | Tools: 0
    ──────────────────────────────────────────────────────────
    ");
}

#[test]
fn a_command_is_answered_without_a_model_and_not_kept() {
    let lab = Lab::new("").settings(json!({
        // It could not be asked.
        "agents": { "defaults": { "model": "openai/gpt-5" } },
    }));
    let reply = lab.json(&["agent", "-m", "/mcp tools fake"]);
    assert_eq!(reply["model"], "builtin/commands");
    assert_eq!(reply["sessionKey"], "agent:main:main");
    assert!(reply["reply"].as_str().unwrap().contains("mcp_fake_echo"));
    assert_eq!(reply["parts"][0]["text"], reply["reply"]);
    assert_eq!(lab.json(&["sessions"])["sessions"], json!([]));
    assert_eq!(lab.calls(), 0);
}

#[test]
fn the_agent_of_the_session_is_meant() {
    let lab = Lab::new("").settings(json!({
        "agents": { "list": [
            { "id": "main" },
            { "id": "quiet", "mcp": { "servers": { "fake": { "enabled": false } } } },
        ] },
    }));
    let of = |key: &str| {
        let run = lab.done(&["agent", "--session-key", key, "-m", "/mcp servers"]);
        run.stdout
    };
    assert!(of("agent:main:x").contains("Running"));
    assert!(of("agent:quiet:x").contains("Disabled"));
}

#[test]
fn what_servers_say_is_framed_in_answers() {
    let lab = Lab::new("");
    for (message, from, word) in [
        (
            "/mcp read fake test://text",
            "From: fake/test://text",
            "the text of a resource",
        ),
        (
            "/mcp prompt fake greeting name=Ada",
            "From: fake/greeting",
            "Ada",
        ),
    ] {
        let text = said(&lab, message);
        assert!(
            text.starts_with("<<<EXTERNAL_UNTRUSTED_CONTENT id="),
            "{text}"
        );
        assert!(text.contains(from) && text.contains(word), "{text}");
    }
}

#[test]
fn texts_of_servers_do_a_terminal_no_harm() {
    let hostile = "\u{1b}[2Jevil\u{1b}]0;owned\u{7}";
    let script = Script {
        resources: json!([{ "uri": "x://1", "name": hostile }]),
        prompts: json!([{ "name": "p", "description": hostile }]),
        stderr: "\\033[2Jboo\\n",
        ..Script::default()
    };
    let lab = scripted::lab(&script, &json!({}));
    for command in [
        "tools",
        "resources",
        "prompts",
        "logs scripted",
        "status scripted",
    ] {
        said(&lab, &format!("/mcp {command}"));
    }
}

#[test]
fn servers_are_added_changed_and_deleted_in_a_conversation() {
    let mut lab = Lab::empty();
    let program = lab.unknown_program("");
    let line = program.join("' '");
    let text = said(&lab, &format!("/mcp connect --name new -- '{line}'"));
    assert!(text.starts_with("new: connected, "), "{text}");
    assert!(lab.config_text().contains("\"new\""));
    assert!(said(&lab, "/mcp tools new").contains("mcp_new_echo"));

    let again = refused(&lab, &format!("/mcp connect --name new -- '{line}'"), 2);
    assert!(again.contains("already"), "{again}");

    let text = said(
        &lab,
        "/mcp set other={\"url\": \"https://mcp.example/x\", \"enabled\": false}",
    );
    assert!(text.starts_with("other: written to "), "{text}");
    let shown: Json = serde_json::from_str(&said(&lab, "/mcp show other")).unwrap();
    assert_eq!(shown["url"], "https://mcp.example/x");

    let text = said(&lab, "/mcp unset other");
    assert!(text.starts_with("other: deleted from "), "{text}");
    assert!(!lab.config_text().contains("mcp.example"));
}

#[test]
fn mistakes_say_what_to_write() {
    let lab = Lab::new("");
    let mistakes = [
        ("/mcp sevrers", 2),
        ("/mcp status fkae", 2),
        ("/mcp read fake test://none", 1),
        ("/mcp prompt fake greeting", 2),
        ("/fake:greetng", 2),
        ("/fake:greeting", 2),
        ("/mcp set x={", 2),
    ];
    let told = mistakes.map(|(message, code)| refused(&lab, message, code));
    insta::assert_snapshot!(told.join("\n"), @r#"
    there is no command `/mcp sevrers`; did you mean `/mcp servers`? `/mcp help` lists all commands
    there is no server `fkae`; did you mean `fake`?
    resource not found (code -32602); 
    the prompt needs more: name; write `/mcp prompt fake greeting name=… [style=…]`
    the server `fake` has no prompt `greetng`; did you mean `/fake:greeting`?
    the prompt needs more: name; write `/fake:greeting name=… [style=…]`
    the definition is not JSON: line 1, column 1; write `/mcp set NAME={"command": "PROGRAM"}` or `/mcp set NAME={"url": "ADDRESS"}`
    "#);
}

#[test]
fn a_prompt_is_sent_to_the_model_in_a_frame() {
    let lab = Lab::new("");
    let reply = lab.json(&["agent", "-m", "/fake:greeting name=Ada"]);
    assert_eq!(reply["model"], "builtin/offline");
    let shown = lab.json(&["sessions", "show", "main"]);
    let text = shown["messages"][0]["text"].as_str().unwrap();
    assert!(text.starts_with("I chose the prompt `greeting`"), "{text}");
    assert!(text.contains("From: fake/greeting"), "{text}");
    assert!(text.contains("Ada"), "{text}");
}

#[test]
fn what_only_looks_like_a_command_is_a_message() {
    let lab = Lab::new("");
    for message in ["/etc/hosts is what?", " /mcp servers", "/nobody:knows this"] {
        let reply = lab.json(&["agent", "-m", message]);
        assert_eq!(reply["model"], "builtin/offline", "{message}");
    }
}

#[test]
fn commands_answer_the_same_from_every_entry_point() {
    let lab = Lab::new("").settings(json!({
        "agents": { "defaults": { "model": "builtin/offline" } },
    }));
    let commands = [
        "/mcp servers",
        "/mcp tools fake",
        "/mcp show fake",
        "/mcp prompts",
        "/mcp resources fake",
        "/mcp help connect",
        "/help",
        "/skill",
    ];
    let answers = commands.map(|command| {
        let single = steady(&said(&lab, command));
        let data = lab.json(&["agent", "-m", command]);
        assert_eq!(steady(data["reply"].as_str().unwrap()), single, "{command}");
        (command, single)
    });
    // A conversation has commands of its own beside those of the engine.
    let same = |command: &str| command != "/help";
    for (command, single) in answers.iter().filter(|(command, _)| same(command)) {
        let piped = lab.home.run_with_input(&["chat"], &format!("{command}\n"));
        assert_eq!(steady(&piped.stdout), *single, "{command}: {piped}");
    }
    let wide = Kind {
        columns: 250,
        answers: true,
    };
    let mut console = Console::start(wide, &lab.home.command(&["chat"]));
    for (command, single) in answers.iter().filter(|(command, _)| same(command)) {
        console.says("main>", command);
        let is_shown = || steady(&console.written().replace("\r\n", "\n")).contains(single);
        assert!(
            wait_until(SOON, is_shown),
            "{command}: {}",
            console.written()
        );
    }
    console.asks("main>");
    console.enters(CTRL_D);
    let (code, screen) = console.ended();
    assert_eq!(code, Some(0), "{screen}");
    assert!(lab.is_quiet_within(SOON), "a process is left");
}

/// Writes a skill into the home directory.
fn skill(lab: &Lab, name: &str, fields: &str, text: &str) {
    let path = format!(".agents/skills/{name}/SKILL.md");
    let text = format!("---\nname: {name}\n{fields}\n---\n\n{text}\n");
    lab.home.write(&path, &text);
}

#[test]
fn skills_are_listed_and_called_by_their_names() {
    let lab = Lab::new("");
    skill(
        &lab,
        "weather",
        "description: Tells the weather",
        "Look out of the window.",
    );
    skill(
        &lab,
        "absent",
        "description: Needs a program\nmetadata: {openclaw: {requires: {bins: [no-such-program]}}}",
        "x",
    );
    skill(
        &lab,
        "shout",
        "description: Shouts\ncommand-dispatch: tool\ncommand-tool: fake/echo",
        "x",
    );
    skill(
        &lab,
        "servers",
        "description: Lists\ncommand-dispatch: tool\ncommand-tool: mcp_manage",
        "x",
    );
    lab.home
        .write(".agents/skills/broken/SKILL.md", "---\nname: [\n---\n");
    insta::assert_snapshot!(said(&lab, "/skill").replace(lab.home.path().to_str().unwrap(), "~"), @r"
    Skills
      /absent  Needs a program
          not now: not found among programs: `no-such-program`
      /skill mcp  Manage and use MCP (Model Context Protocol) servers: list servers and their tools, check status, connect and disconnect servers, log in to them, read their resources and use their prompts.
      /servers  Lists
      /shout  Shouts
      /weather  Tells the weather
    warning: HOME/.agents/skills/broken/SKILL.md:2: this is not YAML: unclosed bracket '['
    ");

    lab.json(&["agent", "-m", "/weather in Basel"]);
    lab.json(&["agent", "-m", "/skill weather in Bern"]);
    let shown = lab.json(&["sessions", "show", "main"]);
    let asked: Vec<&str> = shown["messages"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|it| it["role"] == "user")
        .filter_map(|it| it["text"].as_str())
        .collect();
    assert_eq!(asked.len(), 2, "{shown:#}");
    for (text, town) in asked.iter().zip(["Basel", "Bern"]) {
        assert!(text.contains("Look out of the window."), "{text}");
        assert!(text.ends_with(&format!("in {town}")), "{text}");
    }
    assert!(said(&lab, "/servers tools fake").contains("mcp_fake_echo"));
    let failure = refused(&lab, "/skill weathr", 2);
    assert!(
        failure.contains("did you mean `/skill weather`?"),
        "{failure}"
    );
    assert!(refused(&lab, "/absent", 1).contains("no-such-program"));
    assert!(
        lab.run(&["doctor"])
            .stdout
            .contains("broken/SKILL.md:2: this is not YAML")
    );
}

#[test]
fn a_skill_that_calls_a_tool_passes_policy_like_a_model() {
    let lab = Lab::new("");
    // The tool wants one text, and gets what was typed.
    skill(
        &lab,
        "shout",
        "description: Shouts\ncommand-dispatch: tool\ncommand-tool: fake/echo",
        "x",
    );
    let reply = lab.json(&["agent", "-m", "/shout hello"]);
    assert_eq!(reply["toolCalls"][0]["name"], "mcp_fake_echo");
    assert_eq!(reply["model"], "builtin/commands");
    assert!(
        reply["reply"].as_str().unwrap().contains("\nhello\n"),
        "{reply:#}"
    );
    let lab = lab.settings(json!({ "tools": { "deny": ["fake/echo"] } }));
    let reply = lab.json(&["agent", "-m", "/shout hello"]);
    assert!(
        reply["reply"].as_str().unwrap().contains("not allowed"),
        "{reply:#}"
    );
}

#[test]
fn a_skill_cannot_take_the_place_of_a_command() {
    let lab = Lab::new("");
    skill(
        &lab,
        "mcp",
        "description: Another one\ncommand-dispatch: tool\ncommand-tool: fake/echo",
        "mine",
    );
    assert!(said(&lab, "/mcp servers").contains("MCP Servers (1 configured)"));
    let reply = lab.json(&["agent", "-m", "/skill mcp hello"]);
    assert_eq!(reply["toolCalls"][0]["name"], "mcp_fake_echo");
}

#[test]
fn no_model_can_manage_servers() {
    let lab = Lab::new("");
    let tools = lab.json(&["mcp", "tools"]);
    assert!(!tools.to_string().contains("mcp_manage"));
    for tool in ["mcp_manage", "fake/mcp_manage"] {
        assert_eq!(
            lab.failure(&["mcp", "call", tool], 2)["code"],
            "unknown-tool"
        );
    }
}
