//! Calls over the gateway's WebSocket, all over one connection, as programs make them that have many in flight.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use memchr::memmem::find;
use serde_json::json;

use crate::keep_alive::{PATIENCE, per_second};

/// How much is read at once.
const PART: usize = 16 * 1024;
/// The longest message of which the length stands in one byte, and what stands there for longer ones.
const SHORT: usize = 125;
const TWO_BYTES: u8 = 126;
/// What begins a message that is a text, whole.
const TEXT: u8 = 0x81;
/// A client's messages are masked. With zeros nothing has to be done for it.
const MASKED: u8 = 0x80;
const MASK: [u8; 4] = [0; 4];

/// Where a gateway can be called over a WebSocket.
pub(crate) struct Door {
    pub(crate) authority: String,
    pub(crate) token: String,
    /// The tool, and what its result must contain.
    pub(crate) tool: String,
    pub(crate) expected: String,
}

/// A conversation.
pub(crate) struct Conversation<'a> {
    door: &'a Door,
    stream: TcpStream,
    received: Vec<u8>,
    /// How many calls were begun.
    begun: usize,
}

impl<'a> Conversation<'a> {
    pub(crate) fn open(door: &'a Door) -> Self {
        let mut stream = TcpStream::connect(&door.authority).expect("a connection");
        stream.set_nodelay(true).expect("a socket");
        stream.set_read_timeout(Some(PATIENCE)).expect("a socket");
        let Door {
            authority, token, ..
        } = door;
        let request = format!(
            "GET /api/ws HTTP/1.1\r\nHost: {authority}\r\nAuthorization: Bearer {token}\r\n\
             Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\
             Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
        );
        stream.write_all(request.as_bytes()).expect("a request");
        let mut conversation = Self {
            door,
            stream,
            received: Vec::with_capacity(PART),
            begun: 0,
        };
        let head = loop {
            if let Some(end) = find(&conversation.received, b"\r\n\r\n") {
                break end + 4;
            }
            conversation.receive();
        };
        conversation.received.drain(..head);
        conversation.hear("welcome");
        conversation
    }

    /// How long one call takes.
    pub(crate) fn timed(&mut self) -> Duration {
        let started = Instant::now();
        self.call(1);
        self.hear(&self.door.expected);
        started.elapsed()
    }

    /// Calls each second with so many in flight.
    pub(crate) fn rate(&mut self, in_flight: usize, time: Duration) -> f64 {
        let started = Instant::now();
        self.call(in_flight);
        let (mut begun, mut answered) = (in_flight, 0);
        while answered < begun {
            let heard = self.hear(&self.door.expected);
            answered += heard;
            if started.elapsed() < time {
                begun += heard;
                self.call(heard);
            }
        }
        per_second(answered, started.elapsed())
    }

    /// Begins so many calls.
    fn call(&mut self, count: usize) {
        let mut bytes = Vec::new();
        for _ in 0..count {
            self.begun += 1;
            let call = json!({ "tool": self.door.tool, "approved": false, "framed": false,
                "arguments": { "object": { "message": "hello" }, "words": [] },
                "correlation": format!("bench-{}", self.begun) });
            let ask = json!({ "type": "ask", "id": self.begun, "question": "call", "with": call });
            frame(&mut bytes, ask.to_string().as_bytes());
        }
        self.stream.write_all(&bytes).expect("messages");
    }

    /// Waits for messages, and says how many came; each must contain this.
    fn hear(&mut self, expected: &str) -> usize {
        loop {
            let (mut count, mut at) = (0, 0);
            while let Some((text, end)) = text(&self.received, at) {
                let is_fine = find(text, expected.as_bytes()).is_some();
                assert!(is_fine, "{}", String::from_utf8_lossy(text));
                (count, at) = (count + 1, end);
            }
            self.received.drain(..at);
            if count > 0 {
                return count;
            }
            self.receive();
        }
    }

    fn receive(&mut self) {
        let mut part = [0; PART];
        let length = self.stream.read(&mut part).expect("a message");
        assert_ne!(length, 0, "the connection ended");
        self.received.extend_from_slice(&part[..length]);
    }
}

/// Adds a message.
fn frame(bytes: &mut Vec<u8>, text: &[u8]) {
    bytes.push(TEXT);
    match u8::try_from(text.len()) {
        Ok(length) if text.len() <= SHORT => bytes.push(MASKED | length),
        _ => {
            let length = u16::try_from(text.len()).expect("a short message");
            bytes.push(MASKED | TWO_BYTES);
            bytes.extend_from_slice(&length.to_be_bytes());
        }
    }
    bytes.extend_from_slice(&MASK);
    bytes.extend_from_slice(text);
}

/// The message that begins there, if it is there as a whole, and where it ends.
fn text(bytes: &[u8], at: usize) -> Option<(&[u8], usize)> {
    let bytes = bytes.get(at..)?;
    assert!(bytes.first().is_none_or(|first| *first == TEXT), "a text");
    let (length, head) = match *bytes.get(1)? {
        TWO_BYTES => {
            let length = bytes.get(2..4)?.try_into().expect("two bytes");
            (usize::from(u16::from_be_bytes(length)), 4)
        }
        length => (usize::from(length), 2),
    };
    let text = bytes.get(head..head + length)?;
    Some((text, at + head + length))
}
