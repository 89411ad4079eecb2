//! The thread that reads.

use std::io::{self, ErrorKind, Read};
use std::thread;

use memchr::{memchr, memmem};
use serde_json::Value;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

/// How many bytes are read at once: what a pipe holds.
const BUFFER: usize = 64 * 1024;
/// How many lines may wait for whoever acts on them.
const WAITING: usize = 4;
/// How long a line may be.
const LONGEST: usize = 64 * 1024 * 1024;
/// How much of the beginning and of the end of a line is looked at for the number of a request.
const ENVELOPE: usize = 512;
/// How long a line may be that is sent back because it is not JSON.
const LONGEST_QUOTED: usize = 4096;

/// What stands for lines that can't be used. None of them is JSON, so that each is answered with an error
/// that quotes it.
const TOO_LONG: &str = "(a line of more than 64 MiB)";
const NOT_TEXT: &str = "(a line that is not UTF-8)";
const NOT_JSON: &str = "(a long line that is not JSON)";

/// Something that came in.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line {
    /// A line as it is, or what stands for one that can't be used.
    Text(String),
    /// A request that can't be used, and why. Whoever sent it waits for an answer to this number.
    Unusable { id: String, why: &'static str },
}

/// Reads lines on a thread of its own. They have ended when nothing more can be received; `ended` is told as
/// soon as nothing more is read. A thread that waits for its stream can't be stopped, and holds nothing but
/// what has come of a line.
pub(super) fn start(
    stream: Box<dyn Read + Send>,
    ended: CancellationToken,
) -> io::Result<mpsc::Receiver<Line>> {
    let (sender, receiver) = mpsc::channel(WAITING);
    thread::Builder::new()
        .name("acp-input".to_owned())
        .spawn(move || {
            let _told = ended.drop_guard();
            if let Err(error) = read(stream, &sender) {
                tracing::warn!(%error, "the input can't be read to its end");
            }
        })?;
    Ok(receiver)
}

fn read(mut stream: Box<dyn Read + Send>, listener: &mpsc::Sender<Line>) -> io::Result<()> {
    let mut splitter = Splitter::new(LONGEST);
    let mut buffer = vec![0; BUFFER];
    loop {
        let mut bytes = match stream.read(&mut buffer) {
            Ok(0) => return Ok(()),
            Ok(length) => buffer.get(..length).unwrap_or_default(),
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        while let Some(line) = splitter.next(&mut bytes) {
            if listener.blocking_send(line).is_err() {
                return Ok(());
            }
        }
    }
}

/// Finds the ends of lines.
struct Splitter {
    limit: usize,
    line: Vec<u8>,
    /// Whether the line is too long: the rest of it is passed over, but for its last bytes.
    is_too_long: bool,
    last: Vec<u8>,
}

impl Splitter {
    fn new(limit: usize) -> Self {
        Self {
            limit,
            line: Vec::new(),
            is_too_long: false,
            last: Vec::new(),
        }
    }

    /// Takes from these bytes up to the end of the next line that is not empty, or all of them.
    fn next(&mut self, bytes: &mut &[u8]) -> Option<Line> {
        while let Some(end) = memchr(b'\n', bytes) {
            let (head, rest) = bytes.split_at(end);
            *bytes = rest.get(1..).unwrap_or_default();
            self.take(head);
            if let Some(line) = self.finish() {
                return Some(line);
            }
        }
        self.take(bytes);
        *bytes = &[];
        None
    }

    fn take(&mut self, bytes: &[u8]) {
        if !self.is_too_long && self.line.len() + bytes.len() <= self.limit {
            self.line.extend_from_slice(bytes);
            return;
        }
        if !self.is_too_long {
            self.is_too_long = true;
            let first = ENVELOPE.min(self.line.len());
            self.last = self.line.split_off(first);
            let missing = ENVELOPE - first;
            let (head, _) = bytes.split_at(missing.min(bytes.len()));
            self.line.extend_from_slice(head);
            self.line.shrink_to_fit();
        }
        self.last.extend_from_slice(bytes);
        let surplus = self.last.len().saturating_sub(ENVELOPE);
        self.last.drain(..surplus);
        self.last.shrink_to(2 * ENVELOPE + BUFFER);
    }

    fn finish(&mut self) -> Option<Line> {
        let line = std::mem::take(&mut self.line);
        let last = std::mem::take(&mut self.last);
        if std::mem::take(&mut self.is_too_long) {
            return Some(unusable(&line, &last, TOO_LONG));
        }
        let line = match String::from_utf8(line) {
            Ok(line) => line,
            Err(error) => return Some(unusable(error.as_bytes(), error.as_bytes(), NOT_TEXT)),
        };
        if line.trim().is_empty() {
            return None;
        }
        // What is not JSON is sent back whole, which is kind to a person and not to a pipe. It is read as the
        // protocol reads it: a reader that only passes over values takes more than one that keeps them.
        if line.len() > LONGEST_QUOTED && serde_json::from_str::<Value>(&line).is_err() {
            return Some(unusable(line.as_bytes(), line.as_bytes(), NOT_JSON));
        }
        Some(Line::Text(line))
    }
}

/// A line that can't be used, by its beginning and its end.
fn unusable(first: &[u8], last: &[u8], why: &'static str) -> Line {
    let first = first.get(..ENVELOPE).unwrap_or(first);
    let last = last
        .get(last.len().saturating_sub(ENVELOPE)..)
        .unwrap_or(last);
    match number_before(first).or_else(|| number_behind(last)) {
        Some(id) => Line::Unusable { id, why },
        None => Line::Text(why.to_owned()),
    }
}

/// The number of a request, if it stands before what is asked.
fn number_before(first: &[u8]) -> Option<String> {
    let end = memmem::find(first, b"\"params\"").unwrap_or(first.len());
    let first = first.get(..end)?;
    let at = memmem::find(first, b"\"id\"")?;
    let (id, _) = number(first.get(at..)?)?;
    Some(id)
}

/// The number of a request, if it is the last that stands there.
fn number_behind(last: &[u8]) -> Option<String> {
    let at = memmem::rfind(last, b"\"id\"")?;
    let (id, rest) = number(last.get(at..)?)?;
    (rest.trim_ascii() == b"}").then_some(id)
}

/// A number or a plain text behind a name and a colon, and what follows it.
fn number(text: &[u8]) -> Option<(String, &[u8])> {
    let value = text.strip_prefix(b"\"id\"")?.trim_ascii_start();
    let value = value.strip_prefix(b":")?.trim_ascii_start();
    let length = if value.starts_with(b"\"") {
        let text = value.get(1..)?;
        let end = text.iter().position(|byte| matches!(byte, b'"' | b'\\'))?;
        (text.get(end) == Some(&b'"')).then_some(end + 2)?
    } else {
        let is_part = |byte: &u8| byte.is_ascii_digit() || *byte == b'-';
        value.iter().position(|byte| !is_part(byte))?
    };
    let (id, rest) = value.split_at_checked(length)?;
    let id = std::str::from_utf8(id).ok()?;
    serde_json::from_str::<Value>(id).ok()?;
    Some((id.to_owned(), rest))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn all(pieces: &[&[u8]], limit: usize) -> Vec<Line> {
        let mut splitter = Splitter::new(limit);
        let mut lines = Vec::new();
        for piece in pieces {
            let mut bytes = *piece;
            while let Some(line) = splitter.next(&mut bytes) {
                lines.push(line);
            }
        }
        lines
    }

    fn lines(pieces: &[&[u8]], limit: usize) -> Vec<String> {
        let lines = all(pieces, limit).into_iter();
        lines
            .map(|line| match line {
                Line::Text(text) => text,
                Line::Unusable { id, why } => format!("{id}: {why}"),
            })
            .collect()
    }

    #[test]
    fn a_request_that_is_too_long_is_answered_by_its_number() {
        let long = "x".repeat(5_000);
        let before = format!(
            r#"{{"jsonrpc":"2.0","id" : 7,"method":"m","params":{{"id":9,"t":"{long}"}}}}"#
        );
        let behind = format!(r#"{{"method":"m","params":{{"id":9,"t":"{long}"}},"id":"a-1" }}"#);
        let neither = format!(r#"{{"method":"m","params":{{"id":9,"t":"{long}"}}}}"#);
        let strange = format!(r#"{{"id":"a\"b","method":"m","params":{{"t":"{long}"}}}}"#);
        for (text, expected) in [
            (&before, format!("7: {TOO_LONG}")),
            (&behind, format!("\"a-1\": {TOO_LONG}")),
            (&neither, TOO_LONG.to_owned()),
            (&strange, TOO_LONG.to_owned()),
        ] {
            let line = format!("{text}\n{{}}\n");
            for size in [1, 100, 511, 600, 10_000] {
                let pieces: Vec<&[u8]> = line.as_bytes().chunks(size).collect();
                assert_eq!(lines(&pieces, 3_000), [expected.as_str(), "{}"], "{size}");
            }
        }
    }

    #[test]
    fn lines_end_wherever_pieces_do() {
        let pieces: &[&[u8]] = &[b"{}\n{", b"}", b"\n\n\r\n 1\n2"];
        assert_eq!(lines(pieces, 100), ["{}", "{}", " 1"]);
    }

    #[test]
    fn a_line_that_is_too_long_is_passed_over_and_the_next_is_not() {
        let pieces: &[&[u8]] = &[b"123456", b"789", b"0\n12345\n123456\n1\n"];
        assert_eq!(lines(pieces, 5), [TOO_LONG, "12345", TOO_LONG, "1"]);
    }

    #[test]
    fn what_is_not_text_is_replaced() {
        assert_eq!(lines(&[b"{\"a\":\"\xff\"}\n{}\n"], 100), [NOT_TEXT, "{}"]);
    }

    proptest! {
        #[test]
        fn lines_do_not_depend_on_pieces(
            text in "[ab\r\n]{0,40}",
            cuts in prop::collection::vec(0..40_usize, 0..4),
        ) {
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(text.len())).collect();
            cuts.extend([0, text.len()]);
            cuts.sort_unstable();
            let pieces: Vec<&[u8]> = cuts
                .windows(2)
                .map(|cut| &text.as_bytes()[cut[0]..cut[1]])
                .collect();
            let whole = text.rsplit_once('\n').map_or("", |(whole, _)| whole);
            let expected: Vec<&str> = whole
                .split('\n')
                .map(|line| if line.len() > 5 { TOO_LONG } else { line })
                .filter(|line| !line.trim().is_empty())
                .collect();
            prop_assert_eq!(lines(&pieces, 5), expected);
        }
    }

    #[test]
    fn only_short_lines_that_are_not_json_are_quoted() {
        let long = format!("{{{}\n", "x".repeat(LONGEST_QUOTED));
        assert_eq!(lines(&[long.as_bytes()], 10_000), [NOT_JSON]);
        assert_eq!(lines(&[b"{x\n"], 10_000), ["{x"]);
        let padding = "x".repeat(LONGEST_QUOTED);
        for value in [
            "\"\\ud83d\"",
            "1e999",
            &("[".repeat(200) + &"]".repeat(200)),
        ] {
            let line = format!("[\"{padding}\",{value}]\n");
            assert_eq!(lines(&[line.as_bytes()], 10_000), [NOT_JSON], "{value}");
        }
        let sound = format!("\"{}\"", "x".repeat(LONGEST_QUOTED));
        let line = format!("{sound}\n");
        assert_eq!(lines(&[line.as_bytes()], 10_000), [sound]);
    }
}
