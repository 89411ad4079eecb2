//! Replies as they come: words, Markdown, and what other people's texts try.

use std::time::Duration;

use serde_json::json;

use super::{PROMPT, chat, chat_at, chat_through, left, messages, offline};
use crate::console::{CTRL_C, CTRL_D, Console, Kind};
use crate::lab::Lab;
use crate::scripted::{Script, lab as scripted_lab};
use crate::streaming::SpokenModel;

fn spoken(kind: Kind) -> (Lab, SpokenModel, Console) {
    let model = SpokenModel::start();
    let lab = Lab::empty().settings(model.settings());
    let console = chat_at(kind, &lab, &[]);
    (lab, model, console)
}

fn leave(lab: &Lab, mut console: Console) {
    console.asks(PROMPT);
    console.types(CTRL_D);
    left(lab, console);
}

#[test]
fn a_reply_is_shown_word_by_word_with_its_look() {
    let (lab, model, mut console) = spoken(Kind::default());
    console.says(PROMPT, "tell me");
    model.is_asked();
    model.says("# A title\nIt is **really");
    console.shows("A title\nIt is ");
    assert!(!console.screen().contains("really"));
    model.says("** so, ");
    console.shows("It is really so,");
    model.says("see `code`.\n- one\n");
    console.shows("see code.\n• one");
    model.ends();
    console.asks(PROMPT);
    let written = console.written();
    assert!(written.contains("\u{1b}[1mreally\u{1b}[0m"), "{written:?}");
    // What is there is not drawn again.
    assert_eq!(written.matches("really").count(), 1, "{written:?}");
    leave(&lab, console);
}

#[test]
fn a_narrow_terminal_with_wide_characters_shows_everything() {
    let kind = Kind {
        columns: 20,
        ..Kind::default()
    };
    let (lab, model, mut console) = spoken(kind);
    console.says(PROMPT, "tell me");
    model.is_asked();
    model.says("日本語の文章がここに続きます。**太字の言葉です** and ");
    model.says("more words than a line has\n");
    model.ends();
    console.asks(PROMPT);
    let flat = console.screen().replace('\n', "");
    assert!(
        flat.contains(
            "日本語の文章がここに続きます。太字の言葉です and more words than a line has"
        ),
        "{}",
        console.screen()
    );
    leave(&lab, console);
}

#[test]
fn a_resize_in_the_middle_of_a_reply_loses_nothing() {
    let (lab, model, mut console) = spoken(Kind::default());
    console.says(PROMPT, "tell me");
    model.is_asked();
    model.says("one two three four five ");
    console.shows("five");
    console.resize(30);
    model.says("six seven eight nine ten\n**eleven**\n");
    model.ends();
    console.asks(PROMPT);
    let screen = console.screen().replace('\n', " ");
    for word in ["one", "five", "six", "ten", "eleven"] {
        assert_eq!(screen.matches(word).count(), 1, "{word}: {screen}");
    }
    leave(&lab, console);
}

#[test]
fn ctrl_c_stops_the_reply_and_the_session_says_so() {
    let (lab, model, mut console) = spoken(Kind::default());
    console.says(PROMPT, "tell me");
    model.is_asked();
    model.says("It begins ");
    console.shows("It begins");
    console.enters(CTRL_C);
    console.shows("(stopped)");
    // It goes on: the next message is answered.
    console.says(PROMPT, "again");
    // The first answer has nobody who listens.
    model.ends();
    model.is_asked();
    model.says("Here I am.");
    model.ends();
    console.shows("Here I am.");
    leave(&lab, console);
    let messages = messages(&lab, "main");
    assert_eq!(messages[0]["text"], "tell me");
    assert_eq!(messages[0]["interrupted"], true, "{messages:?}");
    assert_eq!(messages.last().unwrap()["text"], "Here I am.");
}

#[test]
fn what_is_typed_during_a_reply_is_there_afterwards() {
    let (lab, model, mut console) = spoken(Kind::default());
    console.says(PROMPT, "tell me");
    model.is_asked();
    model.says("It begins ");
    console.shows("It begins");
    console.types("/qu");
    model.says("and ends.\n");
    model.ends();
    console.shows("It begins and ends.");
    console.asks("main> /qu");
    console.types("it\r");
    left(&lab, console);
}

#[test]
fn a_call_that_goes_on_is_shown_with_its_progress() {
    let lab = offline("");
    let mut console = chat(&lab, &["--yes"]);
    console.says(PROMPT, "slow ms=3000 steps=6");
    console.shows("calling mcp_fake_slow: step ");
    let shown = console.shows("mcp_fake_slow (fake) … ok, ");
    assert!(!shown.contains("calling"), "{shown}");
    console.asks(PROMPT);
    leave(&lab, console);
}

#[test]
fn escape_sequences_of_servers_never_reach_the_terminal() {
    let hostile = "\u{1b}]0;owned\u{7}\u{1b}[2J\u{1b}[6nquiet\u{202e} \u{9b}31mwords";
    let script = Script {
        result: json!({ "content": [{ "type": "text", "text": hostile }] }),
        ..Script::default()
    };
    let lab = scripted_lab(&script, &json!({}))
        .settings(json!({ "agents": { "defaults": { "model": "builtin/offline" } } }));
    let mut console = chat(&lab, &["--yes"]);
    console.says(PROMPT, "echo");
    console.shows("quiet words");
    console.asks(PROMPT);
    let written = console.written();
    for sequence in ["\u{1b}]0;", "\u{1b}[2J", "\u{9b}", "\u{202e}", "owned"] {
        assert!(!written.contains(sequence), "{sequence:?}: {written:?}");
    }
    leave(&lab, console);
}

#[test]
fn the_first_line_says_who_is_there_and_how_far_it_got() {
    let lab = offline("");
    let mut console = chat(&lab, &[]);
    let shown = console.shows("`/help` lists the commands");
    assert!(
        shown.contains("main with builtin/offline, in the session main (nothing said so far)"),
        "{shown}"
    );
    assert!(shown.contains("1 server starting in the"), "{shown}");
    console.says(PROMPT, "/quit");
    left(&lab, console);
    lab.done(&["agent", "-m", "echo hello"]);
    let console = chat(&lab, &[]);
    let shown = console.shows("`/help` lists the commands");
    assert!(
        shown.contains("in the session agent:main:main (4 messages so far)"),
        "{shown}"
    );
    leave(&lab, console);
}

#[test]
fn a_terminal_that_does_not_answer_gets_plain_lines_soon() {
    let lab = offline("");
    let kind = Kind {
        answers: false,
        ..Kind::default()
    };
    let begun = std::time::Instant::now();
    let mut console = chat_at(kind, &lab, &["--yes"]);
    console.asks(PROMPT);
    // On a busy machine; the wait itself is less than a second.
    assert!(begun.elapsed() < Duration::from_secs(10));
    console.types("echo one \\\r");
    console.asks("…");
    console.types("two\r");
    console.shows("one");
    console.asks(PROMPT);
    console.enters(CTRL_C);
    console.shows("main> ^C\nmain>");
    console.enters(CTRL_C);
    console.shows("(Ctrl-D or `/quit` leaves)");
    let written = console.written();
    assert_eq!(written.matches("\u{1b}[6n").count(), 1, "{written:?}");
    leave(&lab, console);
}

#[test]
fn lines_that_are_typed_ahead_are_taken_one_by_one() {
    let (lab, model, mut console) = spoken(Kind::default());
    console.says(PROMPT, "tell me");
    model.is_asked();
    console.types("/model\r/session\r/quit\r");
    model.says("Done.\n");
    model.ends();
    console.shows("\nspoken/model\n");
    console.shows("\nagent:main:main\n");
    left(&lab, console);
}

#[test]
fn replies_that_go_to_a_file_are_all_there_is_in_it() {
    let lab = offline("");
    let mut console = chat_through(&lab, r#"exec "$@" > replies.txt"#, &["--yes"]);
    console.says(PROMPT, "echo hello");
    console.says(PROMPT, "/quit");
    left(&lab, console);
    let replies = std::fs::read_to_string(lab.home.path().join("replies.txt")).unwrap();
    assert!(replies.contains("hello"), "{replies:?}");
    assert!(!replies.contains('\u{1b}'), "{replies:?}");
}

#[test]
fn what_is_pasted_during_a_reply_is_one_message() {
    let (lab, model, mut console) = spoken(Kind::default());
    console.says(PROMPT, "tell me");
    model.is_asked();
    model.says("It begins ");
    console.shows("It begins");
    let pastes = console.written();
    let on = pastes.rfind("\u{1b}[?2004h").unwrap();
    assert!(pastes.rfind("\u{1b}[?2004l") < Some(on), "{pastes:?}");
    console.types("\u{1b}[200~one \\\rtwo\u{1b}[201~");
    model.ends();
    console.shows("two");
    console.enters("\r");
    let asked = model.is_asked().to_string();
    // The backslash was not typed: it is part of the text.
    assert!(asked.contains(r"one \\\ntwo"), "{asked}");
    model.says("ok");
    model.ends();
    leave(&lab, console);
}

#[test]
fn ctrl_d_during_a_reply_does_nothing() {
    let (lab, model, mut console) = spoken(Kind::default());
    console.says(PROMPT, "tell me");
    model.is_asked();
    model.says("It begins ");
    console.shows("It begins");
    console.types(CTRL_D);
    console.has_keys();
    model.says("and ends.");
    model.ends();
    console.says(PROMPT, "/model");
    console.shows("\nspoken/model\n");
    leave(&lab, console);
}

#[test]
fn a_server_that_can_not_be_used_is_told_of_once() {
    let lab = offline("").settings(json!({ "mcp": { "servers": {
        "broken": { "command": "/nowhere/at/all" },
    } } }));
    let mut console = chat(&lab, &["--yes"]);
    for number in 0..3 {
        console.says(PROMPT, &format!("echo {number}"));
        console.asks(PROMPT);
    }
    let shown = console.written();
    let told = shown.matches("the server broken can't be used").count();
    assert_eq!(told, 1, "{shown}");
    leave(&lab, console);
}

#[test]
fn what_is_typed_before_the_prompt_stands_there() {
    let model = SpokenModel::start();
    let lab = Lab::empty().settings(model.settings());
    let mut console = Console::start(Kind::default(), &lab.home.command(&["chat"]));
    console.types("early");
    console.shows("main> early");
    console.enters(CTRL_C);
    leave(&lab, console);
}

#[test]
fn who_stops_a_call_is_told_that_it_may_have_had_effects() {
    let lab = offline("");
    let mut console = chat(&lab, &["--yes"]);
    console.says(PROMPT, "sleep ms=60000");
    console.shows("calling mcp_fake_sleep");
    console.types(CTRL_C);
    console.shows("(stopped; what was being called may have had effects)");
    leave(&lab, console);
}
