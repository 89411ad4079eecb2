//! Questions of the reference server to a person in a conversation.

use serde_json::json;

use super::everything;
use crate::console::{CTRL_D, Console, Kind};

const PROMPT: &str = "main>";

fn chat() -> (crate::lab::Lab, Console) {
    let lab =
        everything().settings(json!({ "agents": { "defaults": { "model": "builtin/offline" } } }));
    let console = Console::start(Kind::default(), &lab.home.command(&["chat", "--yes"]));
    (lab, console)
}

fn leave(lab: &crate::lab::Lab, mut console: Console) {
    console.asks(PROMPT);
    console.types(CTRL_D);
    let (code, screen) = console.ended();
    assert_eq!(code, Some(0), "{screen}");
    assert!(lab.is_quiet_within(crate::lab::SOON), "a process is left");
}

#[test]
fn a_form_of_the_reference_server_is_filled_in() {
    let (lab, mut console) = chat();
    console.says(PROMPT, "trigger-elicitation-request");
    console.shows("│ Please provide inputs for the following fields:");
    for (number, label, line) in [
        (1, "String", "Ann"),
        (2, "Boolean", "yes"),
        (3, "String with default", ""),
        (4, "String with email format", "nobody"),
        (4, "String with email format", "ann@example.com"),
        (5, "String with uri format", ""),
        (6, "String with date format", "1990-02-30"),
        (6, "String with date format", "1990-02-28"),
        (7, "Integer", "101"),
        (7, "Integer", "7"),
        (8, "Number in range 1-1000", ""),
        (9, "Untitled Single Select Enum", "3"),
        (10, "Untitled Multiple Select Enum", "2,4"),
        (11, "Titled Single Select Enum", "wonder woman"),
        (12, "Titled Multiple Select Enum", ""),
        (13, "Legacy Titled Single Select Enum", ""),
    ] {
        console.says(&format!("│ field {number} of 13, {label}:"), line);
    }
    console.says("Send this to the server everything? [y]es, [n]o:", "y");
    console.asks(PROMPT);
    let shown = console.screen();
    for words in ["• Name: Ann", "ann@example.com", "1990-02-28"] {
        assert!(shown.contains(words), "{words}: {shown}");
    }
    assert!(console.written().contains("it takes 100 at most"));
    leave(&lab, console);
}

#[test]
fn a_form_of_the_reference_server_can_be_declined() {
    let (lab, mut console) = chat();
    console.says(PROMPT, "trigger-elicitation-request");
    console.says("│ field 1 of 13, String:", "/decline");
    console.shows("declined");
    leave(&lab, console);
}
