//! What is made of whole lines.

mod arbitrary;
mod attachments;
#[cfg(target_os = "linux")]
mod measures;
mod refusals;

use std::io::Read as _;
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::limits::Limits;
use super::scanner::Scanner;
use super::{Incoming, Problem, SpoolProblem, Spooled};

/// What comes of bytes that are read in pieces of so many.
fn scan_pieces(bytes: &[u8], pieces: usize, limits: &Limits) -> Vec<Incoming> {
    let directory = tempfile::tempdir().unwrap();
    scan_into(bytes.chunks(pieces), limits, directory.path())
}

fn scan_into<'b>(
    pieces: impl IntoIterator<Item = &'b [u8]>,
    limits: &Limits,
    directory: &Path,
) -> Vec<Incoming> {
    let mut scanner = Scanner::new(limits.clone(), directory.to_owned());
    let mut all = Vec::new();
    for mut piece in pieces {
        while !piece.is_empty() {
            all.extend(scanner.push(&mut piece));
        }
    }
    all.extend(scanner.end());
    all
}

/// What comes of a text, which has to be the same for all pieces that it is cut into.
fn scan(text: &str) -> Vec<Incoming> {
    scan_within(text, &Limits::TOOL)
}

fn scan_within(text: &str, limits: &Limits) -> Vec<Incoming> {
    let whole = scan_pieces(text.as_bytes(), text.len().max(1), limits);
    let shown = shown(&whole);
    for pieces in [1, 2, 3, 7, 64] {
        let cut = scan_pieces(text.as_bytes(), pieces, limits);
        assert_eq!(self::shown(&cut), shown, "in pieces of {pieces}");
    }
    whole
}

fn shown(all: &[Incoming]) -> String {
    let shown = all.iter().map(|incoming| match incoming {
        Incoming::Message { value, spooled } => {
            let spooled: Vec<_> = spooled.iter().map(kept).collect();
            format!("{value} {spooled:?}")
        }
        Incoming::Refused { id, problem } => format!("{id:?} {problem}"),
    });
    shown.collect::<Vec<_>>().join("\n")
}

/// The bytes of an attachment, or why there are none.
fn kept(spooled: &Spooled) -> Result<Vec<u8>, String> {
    let mut file = match &spooled.file {
        Ok(file) => file.try_clone().unwrap(),
        Err(problem) => return Err(problem.to_string()),
    };
    std::io::Seek::rewind(&mut file).unwrap();
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes).unwrap();
    assert_eq!(spooled.bytes, bytes.len() as u64);
    assert_eq!(spooled.head, bytes[..bytes.len().min(512)]);
    Ok(bytes)
}

/// The only message.
fn message(text: &str) -> (Value, Vec<Spooled>) {
    let mut all = scan(text);
    match (all.pop(), all.len()) {
        (Some(Incoming::Message { value, spooled }), 0) => (value, spooled),
        (other, before) => panic!("{before} and {other:?}"),
    }
}

/// The only refusal.
fn refusal(text: &str, limits: &Limits) -> (Option<Value>, Problem) {
    let mut all = scan_within(text, limits);
    match (all.pop(), all.len()) {
        (Some(Incoming::Refused { id, problem }), 0) => (id, problem),
        (other, before) => panic!("{before} and {other:?}"),
    }
}

/// A call with these images and files.
fn call(images: &Value, files: &Value) -> Value {
    json!({
        "jsonrpc": "2.0",
        "id": 7,
        "method": "tools/call",
        "params": {"name": "order_openclaw", "arguments": {
            "message": "look", "images": images, "files": files,
        }},
    })
}

/// An attachment with these bytes.
fn attachment(bytes: &[u8]) -> Value {
    json!({"data": STANDARD.encode(bytes), "mimeType": "image/png"})
}
