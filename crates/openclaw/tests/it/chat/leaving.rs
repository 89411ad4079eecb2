//! Ways out, and back in: signals, a terminal that goes away, and suspension.

use std::process::Command;

use rustix::process::Signal;

use super::{ALLOWED, PROMPT, chat, chat_at, chat_through, left, offline};
use crate::console::{CTRL_D, CTRL_Z, Console, Kind};
use crate::lab::{Lab, SOON};
use crate::streaming::SpokenModel;

#[test]
fn signals_end_it_with_the_terminal_as_it_was() {
    for answers in [true, false] {
        for (signal, code) in [(Signal::TERM, 143), (Signal::HUP, 129)] {
            let lab = offline("");
            let kind = Kind {
                answers,
                ..Kind::default()
            };
            let mut console = chat_at(kind, &lab, &[]);
            console.asks(PROMPT);
            console.types("half of");
            console.asks("main> half of");
            console.signal(signal);
            let (ended, screen) = console.ended();
            assert_eq!(ended, Some(code), "{screen}");
            assert!(lab.is_quiet_within(SOON));
        }
    }
}

#[test]
fn a_signal_during_a_reply_ends_it_as_well() {
    let model = SpokenModel::start();
    let lab = Lab::empty().settings(model.settings());
    let mut console = chat(&lab, &[]);
    console.says(PROMPT, "tell me");
    model.is_asked();
    model.says("It begins ");
    console.shows("It begins");
    console.signal(Signal::TERM);
    assert_eq!(console.ended().0, Some(143));
}

#[test]
fn an_interrupt_from_elsewhere_is_as_ctrl_c() {
    let lab = offline("");
    let mut console = chat(&lab, &[]);
    console.asks(PROMPT);
    console.types("half of");
    console.asks("main> half of");
    console.signal(Signal::INT);
    console.asks(PROMPT);
    console.types(CTRL_D);
    left(&lab, console);
}

#[test]
fn a_terminal_that_goes_away_leaves_nothing_behind() {
    let lab = offline("");
    for line in [r#"exec "$@""#, r#"trap '' HUP; exec "$@""#] {
        let console = chat_through(&lab, line, &[]);
        console.asks(PROMPT);
        console.unplugged();
        assert!(lab.is_quiet_within(SOON), "{line}");
        let mut console = chat_through(&lab, line, &[]);
        console.says(PROMPT, "echo hello");
        console.asks(ALLOWED);
        console.unplugged();
        assert!(lab.is_quiet_within(SOON), "{line}");
        assert_eq!(lab.calls(), 0, "{line}");
    }
}

#[test]
fn a_shell_can_suspend_it_and_let_it_go_on() {
    let lab = offline("");
    let (mut console, path) = shell(&lab);
    console.says("shell$", &format!("{path} chat --yes"));
    is_suspended(&mut console);
    // And in the middle of a turn.
    console.types("sleep ms=1500\r");
    console.shows("calling mcp_fake_sleep");
    console.types(CTRL_Z);
    console.asks("shell$");
    console.types("fg\r");
    console.shows("slept 1500 ms");
    is_left(&lab, console);
}

#[test]
fn a_shell_can_suspend_it_with_what_started_it() {
    let lab = offline("");
    let (mut console, path) = shell(&lab);
    console.says("shell$", &format!("sh -c '{path} chat --yes; true'"));
    is_suspended(&mut console);
    is_left(&lab, console);
}

/// A shell with jobs, and the path of the program.
fn shell(lab: &Lab) -> (Console, String) {
    let program = lab.home.command(&[]);
    let mut shell = Command::new("sh");
    shell.args(["-i"]).env("PS1", "shell$ ").env("ENV", "");
    for (name, value) in program.get_envs() {
        shell.env(name, value.unwrap_or_default());
    }
    shell.current_dir(lab.home.path());
    let path = program.get_program().to_str().unwrap().to_owned();
    (Console::start(Kind::default(), &shell), path)
}

/// Suspends it at its prompt, and lets it go on with the same line.
fn is_suspended(console: &mut Console) {
    console.asks(PROMPT);
    console.types("echo he");
    console.asks("main> echo he");
    console.types(CTRL_Z);
    console.asks("shell$");
    assert!(console.is_calm(), "the shell has its terminal");
    console.types("fg\r");
    console.asks("main> echo he");
    console.types("llo\r");
    console.shows("mcp_fake_echo (fake) … ok, ");
    console.asks(PROMPT);
}

fn is_left(lab: &Lab, mut console: Console) {
    console.asks(PROMPT);
    console.types(CTRL_D);
    console.asks("shell$");
    console.types("exit\r");
    left(lab, console);
    assert!(lab.is_quiet_within(SOON));
}
