//! Calls over the gateway's WebSocket.

use memchr::memmem::find;
use serde_json::json;

use crate::conversation::{Dialect, Door};

/// The longest message of which the length stands in one byte, and what stands there for longer ones.
const SHORT: usize = 125;
const TWO_BYTES: u8 = 126;
/// What begins a message that is a text, whole.
const TEXT: u8 = 0x81;
/// A client's messages are masked. With zeros nothing has to be done for it.
const MASKED: u8 = 0x80;
const MASK: [u8; 4] = [0; 4];

/// A WebSocket, as far as it has come.
pub(crate) struct WebSocket {
    is_upgraded: bool,
    is_welcome: bool,
    /// How many calls were begun.
    begun: usize,
}

impl Dialect for WebSocket {
    fn begin(door: &Door, said: &mut Vec<u8>) -> Self {
        let Door {
            authority, token, ..
        } = door;
        let request = format!(
            "GET /api/ws HTTP/1.1\r\nHost: {authority}\r\nAuthorization: Bearer {token}\r\n\
             Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\
             Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
        );
        said.extend_from_slice(request.as_bytes());
        Self {
            is_upgraded: false,
            is_welcome: false,
            begun: 0,
        }
    }

    fn is_open(&self) -> bool {
        self.is_welcome
    }

    fn call(&mut self, door: &Door, said: &mut Vec<u8>) {
        self.begun += 1;
        let call = json!({ "tool": door.tool, "approved": false, "framed": false,
            "arguments": { "object": { "message": "hello" }, "words": [] },
            "correlation": format!("bench-{}", self.begun) });
        let ask = json!({ "type": "ask", "id": self.begun, "question": "call", "with": call });
        frame(said, ask.to_string().as_bytes());
    }

    fn hear(&mut self, door: &Door, received: &mut Vec<u8>, _: &mut Vec<u8>) -> usize {
        if !self.is_upgraded {
            let Some(end) = find(received, b"\r\n\r\n") else {
                return 0;
            };
            received.drain(..end + 4);
            self.is_upgraded = true;
        }
        let (mut answered, mut at) = (0, 0);
        while let Some((text, end)) = text(received, at) {
            let expected = if self.is_welcome {
                answered += 1;
                &*door.expected
            } else {
                self.is_welcome = true;
                "welcome"
            };
            let is_fine = find(text, expected.as_bytes()).is_some();
            assert!(is_fine, "{}", String::from_utf8_lossy(text));
            at = end;
        }
        received.drain(..at);
        answered
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
