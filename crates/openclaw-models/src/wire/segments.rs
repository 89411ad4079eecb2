//! A request while it is written: words of our own, and large texts that are shared with whoever has
//! them. Ten images in base64 are hundreds of megabytes, and a copy of them would be as many again.

use std::collections::HashMap;
use std::io;
use std::sync::Arc;

use bytes::Bytes;
use openclaw_conversation::{Blob, Message};
use openclaw_http::Outgoing;

/// From how many bytes on a text is shared: a shorter one is copied sooner.
const LARGE: usize = 16 * 1024;

/// Where a text is, and how long it is. No other text can be there while it is borrowed.
type Place = (usize, usize);

/// A request while it is written.
///
/// What is written and *is* one of the large texts of the conversation, byte for byte at the same
/// place, is not copied. Base64 has nothing in it that JSON would write otherwise.
pub(crate) struct Segments<'a> {
    shared: HashMap<Place, &'a Arc<str>>,
    done: Vec<Bytes>,
    open: Vec<u8>,
}

impl<'a> Segments<'a> {
    /// A request with these messages, and room for so many bytes beside large texts.
    pub(crate) fn new(messages: &'a [Message], room: usize) -> Self {
        let media = messages.iter().flat_map(Message::media);
        let texts = media.filter_map(|media| match &media.blob {
            Blob::Here(text) if text.len() >= LARGE => Some((place(text.as_bytes()), text)),
            Blob::Here(_) | Blob::Kept(_) => None,
        });
        Self {
            shared: texts.collect(),
            done: Vec::new(),
            open: Vec::with_capacity(room),
        }
    }

    /// What was written.
    pub(crate) fn finish(mut self) -> Outgoing {
        self.done.push(Bytes::from(self.open));
        self.done.into_iter().collect()
    }
}

impl io::Write for Segments<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let shared = (bytes.len() >= LARGE).then(|| self.shared.get(&place(bytes)));
        match shared.flatten() {
            Some(text) => {
                let before = std::mem::take(&mut self.open);
                let text = Bytes::from_owner(Shared(Arc::clone(text)));
                self.done.extend([Bytes::from(before), text]);
            }
            None => self.open.extend_from_slice(bytes),
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A text that keeps its bytes.
struct Shared(Arc<str>);

impl AsRef<[u8]> for Shared {
    fn as_ref(&self) -> &[u8] {
        self.0.as_bytes()
    }
}

fn place(bytes: &[u8]) -> Place {
    (bytes.as_ptr().addr(), bytes.len())
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use openclaw_conversation::{Media, UserPart};

    use super::*;

    fn message(text: &Arc<str>) -> Message {
        Message::User {
            parts: vec![UserPart::Media(Media {
                mime_type: "image/png".to_owned(),
                name: None,
                bytes: 0,
                blob: Blob::Here(Arc::clone(text)),
                text: None,
            })],
        }
    }

    #[test]
    fn a_large_text_of_the_conversation_is_shared_and_everything_else_is_copied() {
        let large: Arc<str> = "A".repeat(LARGE).into();
        let small: Arc<str> = "B".repeat(LARGE - 1).into();
        let messages = [message(&large), message(&small)];
        let mut segments = Segments::new(&messages, 0);
        let other = large.to_string();
        segments.write_all(b"[").unwrap();
        for text in [&*large, &other, &small, &large[1..], &large] {
            segments.write_all(text.as_bytes()).unwrap();
        }
        segments.write_all(b"]").unwrap();
        assert_eq!(Arc::strong_count(&large), 4, "two of the five");
        let body = segments.finish();
        let expected = format!("[{large}{other}{small}{}{large}]", &large[1..]);
        assert!(body.clone().into_vec() == expected.into_bytes());
        drop(messages);
        drop(body);
        assert_eq!(Arc::strong_count(&large), 1, "nothing keeps it");
    }
}
