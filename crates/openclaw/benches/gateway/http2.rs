//! Calls over HTTP/2: each is the same request as over HTTP/1.1, in a stream of its own.
//!
//! Like the client of HTTP/1.1, this one does no more than it has to, so that what is measured is the gateway:
//! requests are ready frames (RFC 9113), and of answers the status and the body are looked at.

use memchr::memmem::find;
use serde_json::json;

use crate::conversation::{Dialect, Door};

const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
/// What stands before what a frame holds.
const HEAD: usize = 9;

/// Kinds of frames: RFC 9113 §6.
const DATA: u8 = 0;
const HEADERS: u8 = 1;
const SETTINGS: u8 = 4;
const PING: u8 = 6;
const WINDOW_UPDATE: u8 = 8;
/// Flags of frames.
const END_STREAM: u8 = 1;
const ACK: u8 = 1;
const END_HEADERS: u8 = 4;

/// The window that every stream and every connection begins with, and the largest that there may be.
const FIRST_WINDOW: u32 = 65_535;
const LARGEST_WINDOW: u32 = (1 << 31) - 1;
/// Settings: RFC 9113 §6.5.2.
const ENABLE_PUSH: u16 = 2;
const INITIAL_WINDOW: u16 = 4;

/// Whole lines of the static table (RFC 7541, appendix A), as they are written, and names of lines.
const METHOD_POST: u8 = 0x83;
const SCHEME_HTTP: u8 = 0x86;
const STATUS_200: u8 = 0x88;
const AUTHORITY: u8 = 1;
const PATH: u8 = 4;
const AUTHORIZATION: u8 = 23;
const CONTENT_TYPE: u8 = 31;
/// Where lines begin that were sent before, the last one first.
const DYNAMIC: u8 = 62;

/// A connection.
pub(crate) struct Http2 {
    /// The stream of the next call.
    next: u32,
    /// The lines of the next call: in full for the first one, and where they stood for the others.
    head: Vec<u8>,
    body: Vec<u8>,
}

impl Dialect for Http2 {
    fn begin(door: &Door, said: &mut Vec<u8>) -> Self {
        said.extend_from_slice(PREFACE);
        let mut settings = Vec::new();
        for (name, value) in [(ENABLE_PUSH, 0), (INITIAL_WINDOW, LARGEST_WINDOW)] {
            settings.extend_from_slice(&name.to_be_bytes());
            settings.extend_from_slice(&value.to_be_bytes());
        }
        frame(said, SETTINGS, 0, 0, &settings);
        let more = LARGEST_WINDOW - FIRST_WINDOW;
        frame(said, WINDOW_UPDATE, 0, 0, &more.to_be_bytes());
        let mut head = vec![METHOD_POST, SCHEME_HTTP];
        line(&mut head, PATH, "/api/mcp/call");
        line(&mut head, AUTHORITY, &door.authority);
        line(&mut head, CONTENT_TYPE, "application/json");
        line(&mut head, AUTHORIZATION, &format!("Bearer {}", door.token));
        let body = json!({ "tool": door.tool, "arguments": { "message": "hello" } });
        Self {
            next: 1,
            head,
            body: body.to_string().into_bytes(),
        }
    }

    fn is_open(&self) -> bool {
        true
    }

    fn call(&mut self, _: &Door, said: &mut Vec<u8>) {
        frame(said, HEADERS, END_HEADERS, self.next, &self.head);
        frame(said, DATA, END_STREAM, self.next, &self.body);
        if self.next == 1 {
            let known = (DYNAMIC..DYNAMIC + 4).rev().map(|place| 0x80 | place);
            self.head = [METHOD_POST, SCHEME_HTTP]
                .into_iter()
                .chain(known)
                .collect();
        }
        self.next += 2;
    }

    fn hear(&mut self, door: &Door, received: &mut Vec<u8>, said: &mut Vec<u8>) -> usize {
        let (mut answered, mut at) = (0, 0);
        while let Some((kind, flags, content)) = whole(&received[at..]) {
            match kind {
                HEADERS => assert_eq!(content.first(), Some(&STATUS_200)),
                DATA if content.is_empty() => {}
                DATA => {
                    let is_fine = find(content, door.expected.as_bytes()).is_some();
                    assert!(is_fine, "{}", String::from_utf8_lossy(content));
                }
                SETTINGS if flags & ACK == 0 => frame(said, SETTINGS, ACK, 0, &[]),
                PING if flags & ACK == 0 => frame(said, PING, ACK, 0, content),
                other => {
                    let is_known = matches!(other, SETTINGS | PING | WINDOW_UPDATE);
                    assert!(is_known, "a frame of kind {other}: {content:?}");
                }
            }
            answered += usize::from(kind == DATA && flags & END_STREAM != 0);
            at += HEAD + content.len();
        }
        received.drain(..at);
        answered
    }
}

/// Adds a frame.
fn frame(said: &mut Vec<u8>, kind: u8, flags: u8, stream: u32, content: &[u8]) {
    let length = u32::try_from(content.len()).expect("a small frame");
    said.extend_from_slice(&length.to_be_bytes()[1..]);
    said.extend_from_slice(&[kind, flags]);
    said.extend_from_slice(&stream.to_be_bytes());
    said.extend_from_slice(content);
}

/// Adds a line of a head that is to be remembered.
fn line(head: &mut Vec<u8>, name: u8, value: &str) {
    let length = u8::try_from(value.len()).expect("a short line");
    assert!(length < 0x7f, "a short line");
    head.extend_from_slice(&[0x40 | name, length]);
    head.extend_from_slice(value.as_bytes());
}

/// The first frame, if it is there as a whole: its kind, its flags and what it holds.
fn whole(bytes: &[u8]) -> Option<(u8, u8, &[u8])> {
    let [a, b, c, kind, flags] = *bytes.first_chunk()?;
    let length = usize::try_from(u32::from_be_bytes([0, a, b, c])).expect("a length");
    Some((kind, flags, bytes.get(HEAD..HEAD + length)?))
}
