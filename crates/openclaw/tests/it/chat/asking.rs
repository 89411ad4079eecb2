//! Questions: of us about tools, and of servers.

use serde_json::json;

use super::{ALLOWED, PROMPT, chat, chat_at, chat_through, left, messages, offline, said};
use crate::console::{CTRL_C, CTRL_D, Kind};
use crate::lab::SOON;

#[test]
fn a_tool_runs_only_after_a_yes_and_always_is_remembered() {
    let lab = offline("");
    let mut console = chat(&lab, &[]);
    for (answer, calls) in [("n", 0), ("y", 1), ("a", 2)] {
        console.says(PROMPT, "echo hello");
        console.says(ALLOWED, answer);
        console.asks(PROMPT);
        assert_eq!(lab.calls(), calls, "{answer}");
    }
    // From now on nobody is asked.
    console.says(PROMPT, "echo again");
    let shown = console.shows("again\n");
    assert!(shown.contains("mcp_fake_echo (fake) … ok, "), "{shown}");
    console.asks(PROMPT);
    assert_eq!(lab.calls(), 3);
    console.types(CTRL_D);
    let (code, screen) = console.ended();
    assert_eq!(code, Some(0), "{screen}");
    assert!(lab.is_quiet_within(SOON));
    assert_eq!(messages(&lab, "main").len(), 16);
}

#[test]
fn ctrl_c_at_a_question_stops_the_turn_and_not_the_program() {
    let lab = offline("");
    let mut console = chat(&lab, &[]);
    console.says(PROMPT, "echo hello");
    console.asks(ALLOWED);
    console.enters(CTRL_C);
    // Nothing was called.
    console.shows("(stopped)");
    console.says(PROMPT, "/quit");
    left(&lab, console);
    assert_eq!(lab.calls(), 0);
    assert_eq!(messages(&lab, "main")[0]["interrupted"], true);
}

#[test]
fn what_was_typed_before_a_question_does_not_answer_it() {
    let lab = offline("");
    let mut console = chat(&lab, &[]);
    console.asks(PROMPT);
    console.types("echo hello\ry\ry\r");
    console.says(ALLOWED, "n");
    console.asks(PROMPT);
    assert_eq!(lab.calls(), 0);
    console.types(CTRL_D);
    left(&lab, console);
}

#[test]
fn the_form_of_a_server_is_filled_in_field_by_field() {
    let lab = offline("");
    let mut console = chat(&lab, &["--yes"]);
    console.says(PROMPT, "elicit rounds=1");
    let shown = console.shows("field 1 of 4 (text, needed)\n  │ Name");
    assert!(
        shown.contains("The server fake asks you something"),
        "{shown}"
    );
    assert!(shown.contains("│ What is your name?"), "{shown}");
    console.says("│ field 1 of 4, Name:", "");
    console.shows("it has to be filled in");
    console.says("│ field 1 of 4, Name:", "Ann");
    console.says("│ field 2 of 4, age:", "young");
    console.shows("it takes a whole number");
    console.says("│ field 2 of 4, age:", "");
    console.says("│ field 3 of 4, colour:", "2");
    console.says("│ field 4 of 4, sure:", "no");
    let summary = console.shows("The server fake would get:");
    assert!(summary.contains("colour: green"), "{summary}");
    console.says("Send this to the server fake? [y]es, [n]o:", "y");
    let shown = console.shows("accept");
    assert!(shown.contains(r#""age":30"#), "{shown}");
    assert!(shown.contains(r#""colour":"green""#), "{shown}");
    console.asks(PROMPT);
    console.types(CTRL_D);
    left(&lab, console);
}

#[test]
fn a_form_can_be_declined_and_put_away() {
    let lab = offline("");
    let mut console = chat(&lab, &["--yes"]);
    for (line, action) in [("/decline", "decline"), ("/cancel", "cancel")] {
        console.says(PROMPT, "elicit rounds=1");
        console.says("│ field 1 of 4, Name:", line);
        console.shows(&format!(r#""action":"{action}""#));
    }
    console.says(PROMPT, "/quit");
    left(&lab, console);
}

#[test]
fn an_address_of_a_server_is_opened_only_after_a_yes() {
    let lab = offline("--era modern");
    let mut console = chat(&lab, &["--yes"]);
    console.says(PROMPT, "elicit_url");
    let shown = console.asks("Open it? [y]es, [n]o:");
    assert!(shown.contains("\n  example.com\n"), "{shown}");
    assert!(shown.contains("\n  https://example.com/visit\n"), "{shown}");
    console.types("n\r");
    console.shows(r#""action":"decline""#);
    console.says(PROMPT, "elicit_url");
    console.says("Open it? [y]es, [n]o:", "y");
    // There is no browser here: it is drawn for a phone.
    console.shows("no browser is opened: there is no display");
    console.shows("▀");
    console.shows(r#""action":"accept""#);
    console.says(PROMPT, "/quit");
    left(&lab, console);
}

#[test]
fn a_question_of_a_server_is_asked_on_a_terminal_that_only_takes_lines() {
    let lab = offline("");
    let kind = Kind {
        answers: false,
        ..Kind::default()
    };
    let mut console = chat_at(kind, &lab, &["--yes"]);
    console.says(PROMPT, "elicit rounds=1");
    console.says("│ field 1 of 4, Name:", "Ann");
    console.says("│ field 2 of 4, age:", "");
    console.says("│ field 3 of 4, colour:", "");
    console.says("│ field 4 of 4, sure:", "");
    console.says("Send this to the server fake? [y]es, [n]o:", "n");
    console.shows(r#""action":"decline""#);
    console.asks(PROMPT);
    console.types(CTRL_D);
    left(&lab, console);
}

#[test]
fn a_question_that_is_withdrawn_says_so_and_what_was_typed_for_it_is_no_message() {
    let of_turn = || {
        let more = json!({ "agents": { "defaults": { "timeoutSeconds": 2 } } });
        offline("").settings(more)
    };
    // The server goes away, or the turn has taken too long.
    for (lab, is_killed) in [(offline("--era legacy"), true), (of_turn(), false)] {
        for answers in [true, false] {
            let kind = Kind {
                answers,
                ..Kind::default()
            };
            let mut console = chat_at(kind, &lab, &["--yes", "--new"]);
            console.says(PROMPT, "elicit rounds=1");
            console.asks("│ field 1 of 4, Name:");
            console.types("An");
            if is_killed {
                lab.kill_servers();
            }
            console.shows("(no longer asked)");
            if answers {
                console.asks(PROMPT);
            } else {
                // The terminal shows what it has; the line editor of a terminal can't be emptied.
                console.shows(PROMPT);
                console.types("\u{15}");
            }
            console.says(PROMPT, "/quit");
            left(&lab, console);
        }
    }
}

#[test]
fn where_a_question_would_not_be_seen_nobody_is_asked() {
    let lab = offline("").settings(json!({ "tools": { "approvalWithoutPerson": "deny" } }));
    let mut console = chat_through(&lab, r#"exec "$@" 2> messages.txt"#, &[]);
    console.enters("echo one\n");
    console.enters("y\n");
    console.shows("y");
    console.enters("/quit\n");
    left(&lab, console);
    assert_eq!(lab.calls(), 0);
    assert_eq!(said(&lab, "main"), ["echo one", "y"]);
    let told = std::fs::read_to_string(lab.home.path().join("messages.txt")).unwrap();
    assert!(!told.contains("Allow it?"), "{told}");
}
