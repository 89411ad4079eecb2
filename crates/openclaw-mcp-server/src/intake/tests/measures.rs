//! What reading takes of memory.

use std::io::Read;

use openclaw_testkit::memory;
use tokio_util::sync::CancellationToken;

use super::*;
use crate::intake::start;

/// A call with images of so many bytes each, made while it is read.
struct LongLine {
    parts: Vec<Part>,
    /// What was read of the first part.
    done: usize,
}

enum Part {
    Text(String),
    /// So many characters of base64.
    Data(usize),
}

impl LongLine {
    fn new(images: usize, bytes: usize) -> Self {
        assert!(bytes.is_multiple_of(3));
        let before = r#"{"method":"tools/call","params":{"arguments":{"message":"look","images":["#;
        let mut parts = vec![Part::Text(before.to_owned())];
        for image in 0..images {
            let comma = if image > 0 { "," } else { "" };
            parts.push(Part::Text(format!(r#"{comma}{{"data":""#)));
            parts.push(Part::Data(bytes / 3 * 4));
            parts.push(Part::Text(r#"","mimeType":"image/png"}"#.to_owned()));
        }
        parts.push(Part::Text("]}},\"id\":1}\n".to_owned()));
        parts.reverse();
        Self { parts, done: 0 }
    }
}

impl Read for LongLine {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        const BASE64: [u8; 4096] = [b'Q'; 4096];
        let Some(part) = self.parts.last() else {
            return Ok(0);
        };
        let (rest, length) = match part {
            Part::Text(text) => (&text.as_bytes()[self.done..], text.len()),
            Part::Data(length) => (&BASE64[..(length - self.done).min(4096)], *length),
        };
        let given = rest.len().min(buffer.len());
        buffer[..given].copy_from_slice(&rest[..given]);
        self.done += given;
        if self.done == length {
            self.parts.pop();
            self.done = 0;
        }
        Ok(given)
    }
}

/// Reads a line to its end, and drops what comes of it. Returns how many bytes were kept.
fn read(line: LongLine) -> u64 {
    let directory = tempfile::tempdir().unwrap();
    let mut incoming = start(line, directory.path().to_owned(), CancellationToken::new()).unwrap();
    let Some(Incoming::Message { spooled, .. }) = incoming.blocking_recv() else {
        panic!("no message");
    };
    assert!(incoming.blocking_recv().is_none());
    assert!(spooled.iter().all(|one| one.file.is_ok()));
    spooled.iter().map(|one| one.bytes).sum()
}

#[test]
fn attachments_take_no_memory() {
    // What is needed once is needed before. Each test is a process of its own.
    read(LongLine::new(1, 300_000));
    let before = memory::peak().unwrap();
    let kept = read(LongLine::new(10, 3 << 18));
    assert_eq!(kept, 10 * (3 << 18));
    let grown = memory::peak().unwrap() - before;
    assert!(grown < 2 << 20, "{grown} bytes");
}
