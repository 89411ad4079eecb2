use super::*;
use crate::commands::typed::tests::typing;

async fn messages(prompt: Option<&str>, typed: &[&'static str]) -> (Vec<Next>, String) {
    let (mut output, _, stderr) = Output::kept(false);
    let mut interrupts = Diverted::never();
    let keyboard = typing(typed);
    let mut all = Vec::new();
    loop {
        let next = lines(&keyboard, prompt, &mut output, &mut interrupts).await;
        let next = next.unwrap();
        let is_end = next == Next::End;
        all.push(next);
        if is_end {
            return (all, stderr.text());
        }
    }
}

fn line(text: &str) -> Next {
    Next::Line(text.to_owned())
}

#[tokio::test]
async fn a_line_that_ends_with_a_backslash_goes_on_where_somebody_types() {
    let typed = ["one \\", "two", "three"];
    let (all, shown) = messages(Some("main> "), &typed).await;
    assert_eq!(all, [line("one \ntwo"), line("three"), Next::End]);
    assert_eq!(shown, "main> … main> main> ");
    let (all, shown) = messages(None, &typed).await;
    assert_eq!(all, [line("one \\"), line("two"), line("three"), Next::End]);
    assert_eq!(shown, "");
}

#[tokio::test]
async fn an_interrupt_ends_the_wait_and_takes_no_line() {
    let (mut output, _, _) = Output::kept(false);
    let (sender, mut interrupts) = Diverted::by_hand();
    let keyboard = Typed::never();
    sender.send_modify(|count| *count += 1);
    let next = lines(&keyboard, Some("> "), &mut output, &mut interrupts).await;
    assert_eq!(next.unwrap(), Next::Interrupt);
}

#[test]
fn what_was_typed_too_early_is_text() {
    assert_eq!(begun("one \u{1b}[A two\r"), "one  two");
    assert_eq!(begun("one\r\ntwo\r\r"), "one\ntwo");
}

#[test]
fn what_a_terminal_says_too_late_is_no_part_of_a_message() {
    for (line, left) in [
        ("\u{1b}[24;80Rhello", "hello"),
        ("he\u{1b}[1;1Rllo\u{1b}[1;1R", "hello"),
        ("\u{1b}[A up", "\u{1b}[A up"),
        ("\u{1b}[R", "\u{1b}[R"),
        ("plain", "plain"),
        ("\u{1b}[", "\u{1b}["),
    ] {
        assert_eq!(without_reports(line), left, "{line:?}");
    }
}
