use std::io::Cursor;

use super::*;
use crate::failure::{Exit, Told};

const PNG: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR";

fn typed(text: &[u8]) -> Input<Cursor<Vec<u8>>> {
    Input {
        stream: Cursor::new(text.to_vec()),
        is_terminal: false,
    }
}

fn terminal() -> Input<std::io::Empty> {
    Input {
        stream: std::io::empty(),
        is_terminal: true,
    }
}

fn message(text: Option<&str>) -> AgentOptions {
    AgentOptions {
        message: text.map(str::to_owned),
        ..AgentOptions::default()
    }
}

#[track_caller]
fn refused<T: std::fmt::Debug>(result: Result<T, Failure>) -> Told {
    match result {
        Err(Failure::Told(told)) if told.exit == Exit::Usage => *told,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_message_is_given_or_read() {
    let text = |options, input| compose(&options, input).unwrap().0;
    assert_eq!(text(message(Some("hi ")), typed(b"not read")), "hi ");
    assert_eq!(text(message(Some("-")), typed(b"a\nb\r\n")), "a\nb");
    assert_eq!(text(message(None), typed(b"piped\n\n")), "piped\n");
}

#[test]
fn no_message_is_a_mistake_that_is_explained() {
    let told = refused(compose(&message(None), terminal()));
    assert_eq!(told.message, "there is no message: give one with `-m TEXT`");
    for text in ["", " \n\t"] {
        let told = refused(compose(&message(Some(text)), terminal()));
        assert_eq!(told.message, "the message is empty");
    }
    let told = refused(compose(&message(Some("-")), typed(b"\xff\xfe")));
    assert_eq!(
        told.message,
        "the message on the standard input is not UTF-8"
    );
}

#[test]
fn a_message_may_have_sixteen_megabytes_and_no_more() {
    let most = vec![b'x'; 16 * 1024 * 1024];
    let (text, _) = compose(&message(Some("-")), typed(&most)).unwrap();
    assert_eq!(text.len(), most.len());
    let mut more = most;
    more.push(b'x');
    let told = refused(compose(&message(Some("-")), typed(&more)));
    assert_eq!(
        told.message,
        "the message is longer than the limit of 16 MB"
    );
    let given = String::from_utf8(more).unwrap();
    refused(compose(&message(Some(&given)), terminal()));
}

#[test]
fn what_comes_along_is_known_by_its_bytes() {
    let directory = tempfile::tempdir().unwrap();
    let write = |name: &str, bytes: &[u8]| {
        let path = directory.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        path
    };
    let options = AgentOptions {
        images: vec![write("photo.txt", PNG)],
        files: vec![
            write("notes\u{1b}[2J.png", "grüße".as_bytes()),
            write("paper", b"%PDF-1.7 \xff"),
            write(
                "drawing.svg",
                b"<svg xmlns=\"http://www.w3.org/2000/svg\"/>",
            ),
            write("data.txt", b"a\0b"),
            write("bytes", b"\xff\xfe"),
        ],
        ..AgentOptions::default()
    };
    let (text, attachments) = compose(&options, terminal()).unwrap();
    assert_eq!(text, "", "an empty message is enough here");
    let shown: Vec<_> = attachments
        .iter()
        .map(|it| (it.name.as_deref().unwrap(), it.mime_type.as_str()))
        .collect();
    assert_eq!(
        shown,
        [
            ("photo.txt", "image/png"),
            ("notes.png", "text/plain"),
            ("paper", "application/pdf"),
            ("drawing.svg", "text/plain"),
            ("data.txt", "application/octet-stream"),
            ("bytes", "application/octet-stream"),
        ]
    );
    let AttachmentData::Base64(data) = &attachments[0].data else {
        panic!("{attachments:?}");
    };
    assert_eq!(STANDARD.decode(data).unwrap(), PNG);
    let told = refused(compose(
        &AgentOptions {
            images: options.files[1..2].to_vec(),
            ..AgentOptions::default()
        },
        terminal(),
    ));
    assert!(
        told.message
            .ends_with("is not a PNG, JPEG, GIF or WebP image")
    );
}

#[test]
fn files_have_limits_of_size_and_number() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("large");
    let file = File::create(&path).unwrap();
    let with = |images: usize, files: usize| AgentOptions {
        images: vec![path.clone(); images],
        files: vec![path.clone(); files],
        ..message(Some("look"))
    };
    file.set_len(LARGEST_FILE).unwrap();
    assert!(compose(&with(0, 1), terminal()).is_ok());
    file.set_len(LARGEST_FILE + 1).unwrap();
    let told = refused(compose(&with(0, 1), terminal()));
    assert!(told.message.ends_with("is larger than the limit of 15 MB"));
    let told = refused(compose(&with(11, 0), terminal()));
    assert_eq!(
        told.message,
        "`--image` can be given 10 times at most, not 11 times"
    );
    let told = refused(compose(&with(0, 6), terminal()));
    assert!(told.message.starts_with("`--file` can be given 5 times"));
}

#[test]
fn only_regular_files_come_along() {
    let directory = tempfile::tempdir().unwrap();
    for (path, words) in [
        (directory.path().to_owned(), "is not a regular file"),
        (directory.path().join("nothing"), "cannot read"),
        #[cfg(unix)]
        (PathBuf::from("/dev/zero"), "is not a regular file"),
    ] {
        let options = AgentOptions {
            files: vec![path],
            ..message(Some("look"))
        };
        let told = refused(compose(&options, terminal()));
        assert_eq!(told.code, "attachment");
        assert!(told.message.contains(words), "{}", told.message);
    }
}
