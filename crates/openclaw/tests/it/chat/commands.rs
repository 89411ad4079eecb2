//! What is typed behind a slash, and how keys help.

use std::os::unix::fs::PermissionsExt as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::json;

use super::{ALLOWED, PROMPT, chat, chat_at, left, messages, offline, said};
use crate::console::{CTRL_C, CTRL_D, ENTER, Kind, TAB, UP};
use crate::lab::Lab;
use crate::logins::{LoginLab, get, sent_to};
use crate::streaming::SpokenModel;

#[test]
fn a_word_that_is_no_command_is_not_sent() {
    let lab = offline("");
    let mut console = chat(&lab, &["--yes"]);
    console.says(PROMPT, "/helpx me");
    console.shows("error: there is no command `/helpx`\nhint: did you mean `/help`?");
    console.says(PROMPT, "/HELP");
    console.shows("Ctrl-D leaves.");
    console.says(PROMPT, "exit");
    console.shows("(Ctrl-D or `/quit` leaves;");
    // With a space before it, and as a path, it is a message.
    console.says(PROMPT, " /helpx me");
    console.asks(PROMPT);
    console.says(PROMPT, "/etc/hosts is short");
    console.asks(PROMPT);
    console.types(CTRL_D);
    left(&lab, console);
    assert_eq!(said(&lab, "main"), [" /helpx me", "/etc/hosts is short"]);
}

#[test]
fn sessions_are_begun_listed_and_gone_on_with() {
    let lab = offline("");
    let mut console = chat(&lab, &["--yes", "--session-key", "work"]);
    console.says(PROMPT, "echo one");
    console.asks(PROMPT);
    console.says(PROMPT, "/new");
    console.says(PROMPT, "echo two");
    console.asks(PROMPT);
    console.says(PROMPT, "/session work");
    console.shows("agent:main:work: 4 messages so far");
    console.says(PROMPT, "echo three");
    console.asks(PROMPT);
    console.says(PROMPT, "/sessions");
    console.shows("agent:main:cli");
    console.says(PROMPT, "/history 2");
    console.shows("(6 messages before that)");
    console.says(PROMPT, "/session agent:other:x");
    console.shows("error: ");
    console.says(PROMPT, "/quit");
    left(&lab, console);
    assert_eq!(messages(&lab, "work").len(), 8);
    assert_eq!(
        lab.json(&["sessions"])["sessions"]
            .as_array()
            .unwrap()
            .len(),
        2
    );
}

#[test]
fn help_lists_all_commands_and_the_model_can_be_changed() {
    let lab = offline("");
    let mut console = chat(&lab, &[]);
    console.says(PROMPT, "/help");
    let shown = console.shows("Ctrl-D leaves.");
    for command in ["/new", "/session [KEY]", "/image PATH", "/mcp"] {
        assert!(shown.contains(command), "{command}: {shown}");
    }
    console.says(PROMPT, "/model");
    console.shows("\nbuiltin/offline\n");
    console.says(PROMPT, "/model nobody/nothing");
    console.says(PROMPT, "echo hello");
    console.shows("error: ");
    console.says(PROMPT, "/exit");
    // A person has seen what failed.
    left(&lab, console);
}

#[test]
fn files_go_with_the_next_message_only() {
    let model = SpokenModel::start();
    let lab = Lab::empty().settings(model.settings());
    lab.home.write("notes on it.txt", "remember the milk");
    let mut console = chat(&lab, &[]);
    console.says(PROMPT, "/file nowhere.txt");
    console.shows("error: cannot read nowhere.txt");
    console.says(PROMPT, "/image notes on it.txt");
    console.shows("is not a PNG, JPEG, GIF or WebP image");
    console.asks(PROMPT);
    console.types("/file not");
    console.types(TAB);
    console.asks("main> /file notes on it.txt");
    console.enters(ENTER);
    console.shows("with the next message:\n  notes on it.txt (text/plain)");
    // A command is no message, and one that fails before it is sent is none either.
    console.says(PROMPT, "/mcp servers");
    console.says(PROMPT, "/model nobody/nothing");
    console.says(PROMPT, "read it");
    console.shows("error: ");
    console.says(PROMPT, "/model spoken/model");
    for (message, is_there) in [("read it", true), ("and now", false)] {
        console.says(PROMPT, message);
        let asked = model.is_asked().to_string();
        let last = asked.rfind(message).unwrap();
        assert_eq!(asked[last..].contains("milk"), is_there, "{asked}");
        model.says("ok");
        model.ends();
        console.asks(PROMPT);
    }
    console.types(CTRL_D);
    left(&lab, console);
}

#[test]
fn an_image_reaches_the_model_and_none_after_all_does_not() {
    const PIXEL: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==";
    let model = SpokenModel::start();
    let sees = json!({ "models": { "providers": { "spoken": {
        "models": [{ "id": "model", "input": ["text", "image"] }],
    } } } });
    let lab = Lab::empty().settings(model.settings()).settings(sees);
    let bytes = STANDARD.decode(PIXEL).unwrap();
    std::fs::write(lab.home.path().join("dot.png"), bytes).unwrap();
    lab.home.write("notes.txt", "remember the milk");
    let mut console = chat(&lab, &[]);
    console.says(PROMPT, "/image notes.txt");
    console.shows("hint: send any other file with `/file`");
    console.says(PROMPT, "/file notes.txt");
    console.says(PROMPT, "/file -");
    console.shows("with the next message: nothing");
    console.says(PROMPT, "/image dot.png");
    console.shows("dot.png (image/png)");
    console.says(PROMPT, "what is it?");
    let asked = model.is_asked().to_string();
    assert!(asked.contains(PIXEL), "{asked}");
    assert!(!asked.contains("milk"), "{asked}");
    model.says("a dot");
    model.ends();
    console.asks(PROMPT);
    console.types(CTRL_D);
    left(&lab, console);
}

#[test]
fn tab_completes_what_servers_and_sessions_are_called() {
    let lab = offline("");
    let mut console = chat(&lab, &["--session-key", "work"]);
    console.says(PROMPT, "/sessions");
    console.shows("there are no sessions; the first message begins one");
    // A prompt of a server that is only being started is waited for.
    console.says(PROMPT, "/fake:greeting name=Ada");
    console.shows("No tool clearly fits");
    for (typed, completed) in [
        ("/mcp status fa", "/mcp status fake"),
        ("/fake:gree", "/fake:greeting"),
        ("/fake:greeting style=for", "/fake:greeting style=formal"),
        ("/session wo", "/session agent:main:work"),
    ] {
        console.asks(PROMPT);
        console.types(typed);
        console.asks(&format!("main> {typed}"));
        console.types(TAB);
        console.asks(&format!("main> {completed}"));
        console.enters(CTRL_C);
    }
    console.asks(PROMPT);
    console.types(CTRL_D);
    left(&lab, console);
    let said = messages(&lab, "work")[0]["text"].to_string();
    assert!(said.contains("I chose the prompt `greeting`"), "{said}");
}

#[test]
fn help_has_each_command_once_and_all_of_it_on_a_narrow_terminal() {
    let lab = offline("");
    let narrow = Kind {
        columns: 50,
        ..Kind::default()
    };
    for kind in [Kind::default(), narrow] {
        let mut console = chat_at(kind, &lab, &[]);
        console.says(PROMPT, "/help");
        console.asks(PROMPT);
        let shown = console.screen();
        let helps = shown.lines().filter(|line| line.starts_with("  /help"));
        assert_eq!(helps.count(), 1, "{shown}");
        assert!(shown.contains("begins a new session"), "{shown}");
        console.types(CTRL_D);
        left(&lab, console);
    }
}

#[test]
fn a_login_is_begun_and_ended_in_a_conversation() {
    let lab = LoginLab::new("");
    let kind = Kind {
        columns: 1_000,
        ..Kind::default()
    };
    let mut console = chat_at(kind, &lab.lab, &["--model", "builtin/offline"]);
    console.says(PROMPT, "/mcp auth fake");
    console.shows("waiting for the browser");
    let written = console.written();
    let mut words = written.split_whitespace();
    let address = words.find(|word| word.contains("/authorize?")).unwrap();
    assert_eq!(get(&sent_to(address)).status, 200);
    console.asks(PROMPT);
    console.types(CTRL_D);
    left(&lab.lab, console);
    lab.calls();
}

#[test]
fn tab_completes_commands_and_a_line_can_have_several() {
    let lab = offline("");
    let mut console = chat(&lab, &[]);
    console.asks(PROMPT);
    console.types("/he");
    console.types(TAB);
    console.asks("main> /help");
    console.enters(ENTER);
    console.shows("Ctrl-D leaves.");
    console.asks(PROMPT);
    console.enters("echo one\\\r");
    console.enters("two\r");
    console.says(ALLOWED, "n");
    // What is pasted is one message, whatever is in it.
    console.asks(PROMPT);
    console.types("\u{1b}[200~echo three\nfour\u{1b}[201~");
    console.shows("four");
    console.enters(ENTER);
    console.says(ALLOWED, "n");
    console.asks(PROMPT);
    console.types(CTRL_D);
    left(&lab, console);
    assert_eq!(said(&lab, "main"), ["echo one\ntwo", "echo three\nfour"]);
}

#[test]
fn ctrl_c_at_the_prompt_clears_the_line_and_twice_says_how_to_leave() {
    let lab = offline("");
    let mut console = chat(&lab, &[]);
    console.asks(PROMPT);
    console.types("half of a mess");
    console.asks("main> half of a mess");
    console.enters(CTRL_C);
    console.asks(PROMPT);
    assert!(!console.screen().contains("leaves)"));
    console.enters(CTRL_C);
    console.shows("(Ctrl-D or `/quit` leaves)");
    console.asks(PROMPT);
    console.types(CTRL_D);
    left(&lab, console);
    assert_eq!(lab.json(&["sessions"])["sessions"], json!([]));
}

#[test]
fn what_was_typed_is_there_in_the_next_run_for_its_owner_alone() {
    let lab = offline("");
    let mut console = chat(&lab, &[]);
    console.says(PROMPT, "/model builtin/offline");
    console.says(PROMPT, " /secret thoughts");
    console.says(PROMPT, "/quit");
    left(&lab, console);
    let file = lab.home.path().join(".openclaw/chat/history.json");
    let mode = file.metadata().unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let text = std::fs::read_to_string(&file).unwrap();
    assert!(text.contains("/model builtin/offline"), "{text}");
    assert!(!text.contains("thoughts"), "{text}");
    let mut console = chat(&lab, &[]);
    console.asks(PROMPT);
    console.types(UP);
    console.asks("main> /quit");
    console.types(UP);
    console.asks("main> /model builtin/offline");
    console.enters(ENTER);
    console.shows("from now on builtin/offline is asked");
    console.asks(PROMPT);
    console.types(CTRL_D);
    left(&lab, console);
}
