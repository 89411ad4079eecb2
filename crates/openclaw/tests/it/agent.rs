//! `openclaw agent`: what is wrong before anybody is asked.

use std::io::Write as _;
use std::path::Path;
use std::process::Stdio;

use crate::program::{Home, Run};

/// Runs an agent with a message on its standard input.
fn piped(home: &Home, arguments: &[&str], message: &[u8]) -> Run {
    let mut child = home
        .command(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // Whoever refuses a message need not have read it.
    let _ = child.stdin.take().unwrap().write_all(message);
    home.finish(child.wait_with_output().unwrap())
}

#[track_caller]
fn refused(run: &Run, words: &str) {
    assert_eq!(run.code, Some(2), "{run}");
    assert_eq!(run.stdout, "", "{run}");
    assert!(run.stderr.contains(words), "{run}");
}

#[test]
fn the_help_is_short() {
    insta::assert_snapshot!(Home::new().run(&["agent", "-h"]));
}

#[test]
fn a_message_that_is_none_is_refused() {
    let home = Home::new();
    refused(&home.run(&["agent", "-m", " "]), "the message is empty");
    refused(&home.run(&["agent"]), "the message is empty");
    refused(&home.run(&["agent", "-m", "-"]), "the message is empty");
    let run = piped(&home, &["agent"], b"\xff\xfe");
    refused(&run, "is not UTF-8");
    let large = vec![b'x'; 16 * 1024 * 1024 + 1];
    let run = piped(&home, &["agent", "-m", "-"], &large);
    refused(&run, "longer than the limit of 16 MB");
    assert_eq!(std::fs::read_dir(home.path()).unwrap().count(), 0);
}

#[test]
fn a_session_is_new_or_named_and_not_both() {
    let run = Home::new().run(&["agent", "-m", "x", "--new", "--session-key", "y"]);
    refused(&run, "cannot be used with");
}

#[test]
fn files_that_cannot_come_along_are_named() {
    let home = Home::new();
    home.write("notes.png", "not an image");
    let run = home.run(&["agent", "-m", "look", "--image", "notes.png"]);
    refused(&run, "notes.png is not a PNG, JPEG, GIF or WebP image");
    let run = home.run(&["agent", "-m", "look", "--file", "nothing"]);
    refused(&run, "cannot read nothing");
    let run = home.run(&["agent", "-m", "look", "--file", ".", "--json"]);
    assert_eq!(run.code, Some(2), "{run}");
    assert_eq!(run.json()["error"]["code"], "attachment");
}

#[test]
fn documents_are_read_by_this_very_program() {
    let documents = Path::new(env!("CARGO_MANIFEST_DIR")).join("../openclaw-media/tests/documents");
    let document = |name: &str| documents.join(name).to_str().unwrap().to_owned();
    let (read, scan) = (document("invoice.pdf"), document("scan.pdf"));
    let run = Home::new().run(&["agent", "-m", "look", "--file", &read, "--file", &scan]);
    assert_eq!(run.code, Some(0), "{run}");
    let expected = "scan.pdf can't be read as text: there is no text in it: it may be a scan";
    assert!(run.stderr.contains(expected), "{run}");
    assert!(!run.stderr.contains("invoice.pdf"), "{run}");
}

#[test]
fn what_is_almost_a_command_is_suggested() {
    let home = Home::new();
    for (typed, meant) in [
        ("agents", "agent"),
        ("session", "sessions"),
        ("dmo", "demo"),
    ] {
        let run = home.run(&[typed]);
        refused(&run, "unrecognized subcommand");
        assert!(run.stderr.contains(&format!("'{meant}'")), "{run}");
    }
}
