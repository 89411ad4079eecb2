//! `openclaw chat`, as a person at a terminal sees it, and as a program without one.

mod asking;
mod commands;
mod leaving;
mod piped;
mod showing;

use std::process::Command;

use openclaw_testkit::leaks::wait_until;
use serde_json::{Value as Json, json};

use crate::console::{Console, Kind};
use crate::lab::{Lab, SOON};

/// What stands before what is typed.
const PROMPT: &str = "main>";
/// What ends every question about a tool.
const ALLOWED: &str = "Allow it? [y]es, [n]o, [a]lways:";

/// A lab with the model that needs no service.
fn offline(flags: &str) -> Lab {
    Lab::new(flags).settings(json!({ "agents": { "defaults": { "model": "builtin/offline" } } }))
}

fn chat(lab: &Lab, arguments: &[&str]) -> Console {
    chat_at(Kind::default(), lab, arguments)
}

fn chat_at(kind: Kind, lab: &Lab, arguments: &[&str]) -> Console {
    let mut all = vec!["chat"];
    all.extend(arguments);
    let console = Console::start(kind, &lab.home.command(&all));
    // A program that is just being started can't be told from others: whoever leaves by then would find
    // nothing, and then something.
    assert!(
        wait_until(SOON, || lab.has_started()),
        "{}",
        console.screen()
    );
    console
}

/// The same by a line of a shell, to which `"$@"` is the program with its arguments.
fn chat_through(lab: &Lab, line: &str, arguments: &[&str]) -> Console {
    let mut all = vec!["chat"];
    all.extend(arguments);
    let program = lab.home.command(&all);
    let mut shell = Command::new("sh");
    shell.args(["-c", line, "sh"]).arg(program.get_program());
    shell.args(program.get_args()).current_dir(lab.home.path());
    for (name, value) in program.get_envs() {
        shell.env(name, value.unwrap_or_default());
    }
    let console = Console::start(Kind::default(), &shell);
    assert!(
        wait_until(SOON, || lab.has_started()),
        "{}",
        console.screen()
    );
    console
}

/// Waits until the person has left, and nothing is left behind. A server that was only being started is
/// gone a moment later.
#[track_caller]
fn left(lab: &Lab, console: Console) {
    let (code, screen) = console.ended();
    assert_eq!(code, Some(0), "{screen}");
    assert!(lab.is_quiet_within(SOON), "a process is left");
}

/// The messages of a session.
fn messages(lab: &Lab, key: &str) -> Vec<Json> {
    let shown = lab.json(&["sessions", "show", key]);
    shown["messages"].as_array().unwrap().clone()
}

/// What the person said in a session.
fn said(lab: &Lab, key: &str) -> Vec<String> {
    let messages = messages(lab, key).into_iter();
    let of_person = messages.filter(|it| it["role"] == "user");
    of_person
        .map(|it| it["text"].as_str().unwrap().to_owned())
        .collect()
}
