use super::*;
use crate::output::tests::Kept;
use crate::render::tests::HOSTILE;

fn watched() -> (Output, Kept, Kept) {
    let (output, stdout, stderr) = Output::kept(false);
    (output.watched(), stdout, stderr)
}

fn partial(text: &str) -> ReplyEvent {
    ReplyEvent::Partial {
        text: text.to_owned(),
    }
}

fn block(text: &str) -> ReplyEvent {
    ReplyEvent::Block {
        text: text.to_owned(),
    }
}

fn ending(text: &str) -> ReplyEvent {
    ReplyEvent::Final {
        text: text.to_owned(),
    }
}

fn result(is_error: bool) -> ReplyEvent {
    ReplyEvent::ToolResult {
        id: "1".to_owned(),
        call: ToolCallReport {
            name: format!("mcp_x_echo{HOSTILE}"),
            server: None,
            is_error,
            duration_ms: 12,
        },
        text: String::new(),
    }
}

fn shown(events: impl IntoIterator<Item = ReplyEvent>) -> (String, String) {
    let (mut output, stdout, stderr) = watched();
    let mut stage = Stage::new(&output, Manner::Plain, &[]);
    for event in events {
        stage.show(event, &mut output).unwrap();
    }
    (stdout.text(), stderr.text())
}

#[test]
fn a_person_sees_words_as_they_come_and_each_text_once() {
    let (mut output, stdout, _) = watched();
    let mut stage = Stage::new(&output, Manner::Plain, &[]);
    for (piece, so_far) in [("He", ""), ("llo wor", "Hello "), ("ld\u{1b}[", "Hello ")] {
        stage.show(partial(piece), &mut output).unwrap();
        assert_eq!(stdout.text(), so_far);
    }
    stage
        .show(block("Hello world\u{1b}[2J!"), &mut output)
        .unwrap();
    stage.show(partial("Bye"), &mut output).unwrap();
    stage.show(ending("Bye"), &mut output).unwrap();
    stage.conclude("Bye", &mut output).unwrap();
    assert_eq!(stdout.text(), "Hello world!\n\nBye\n");
}

#[test]
fn a_text_that_is_another_than_was_streamed_is_shown_whole() {
    let (stdout, _) = shown([partial("some thing "), ending("another")]);
    assert_eq!(stdout, "some thing \n\nanother\n");
}

#[test]
fn what_no_longer_counts_is_said_to_a_person() {
    let reason = format!("the service broke off {HOSTILE}");
    let (stdout, stderr) = shown([
        partial("wrong be"),
        ReplyEvent::Retracted { reason },
        partial("right "),
        ending("right one"),
    ]);
    assert_eq!(stdout, "wrong \n\nright one\n");
    assert_eq!(
        stderr,
        "(asking again: the service broke off evil Status: Connected)\n"
    );
}

#[test]
fn calls_are_lines_of_their_own_beside_the_result() {
    let (stdout, stderr) = shown([partial("Let me look "), result(false), result(true)]);
    assert_eq!(stdout, "Let me look \n");
    assert_eq!(
        stderr,
        "· mcp_x_echoevil Status: Connected … ok, 12 ms\n\
         · mcp_x_echoevil Status: Connected … failed, 12 ms\n"
    );
}

#[test]
fn nobody_is_told_of_calls_where_nobody_looks() {
    let (mut output, stdout, stderr) = Output::kept(false);
    let mut stage = Stage::new(&output, Manner::Plain, &[]);
    for event in [partial("a "), result(false), ending("a b")] {
        stage.show(event, &mut output).unwrap();
    }
    assert_eq!(
        (stdout.text().as_str(), stderr.text().as_str()),
        ("a b\n", "")
    );
}

#[test]
fn what_goes_on_never_wipes_off_a_text() {
    let (mut output, _, stderr) = watched();
    let mut stage = Stage::new(&output, Manner::Plain, &[]);
    stage.show(partial("half of "), &mut output).unwrap();
    for _ in 0..10 {
        stage.tick(&mut output);
    }
    assert_eq!(stderr.text(), "");
    let started = ReplyEvent::tool_started("1", HOSTILE);
    stage.show(block("half of it"), &mut output).unwrap();
    stage.show(started, &mut output).unwrap();
    for _ in 0..=QUICK {
        stage.tick(&mut output);
    }
    assert!(
        stderr.text().ends_with("calling evil Status: Connected"),
        "{:?}",
        stderr.text()
    );
}
