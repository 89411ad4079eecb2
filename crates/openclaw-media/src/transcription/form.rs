//! Forms with files: RFC 7578.

use bytes::Bytes;
use ring::rand::{SecureRandom as _, SystemRandom};

/// A form as it grows.
pub(super) struct Form {
    boundary: String,
    body: Vec<u8>,
}

impl Form {
    /// A form without fields, with room for so many bytes.
    pub(super) fn with_room_for(bytes: usize) -> Self {
        let mut random = [0; 16];
        // Without randomness it is still a boundary, if one that a file could hold on purpose; its
        // own sender would be the only one to be misled.
        let _ = SystemRandom::new().fill(&mut random);
        let digits: String = random.iter().map(|byte| format!("{byte:02x}")).collect();
        Self {
            boundary: format!("openclaw-{digits}"),
            body: Vec::with_capacity(bytes + 1024),
        }
    }

    /// Adds a text. Names are ours.
    pub(super) fn text(&mut self, name: &str, value: &str) {
        self.begin(&format!("form-data; name=\"{name}\""));
        self.body.extend_from_slice(b"\r\n");
        self.body.extend_from_slice(value.as_bytes());
        self.body.extend_from_slice(b"\r\n");
    }

    /// Adds a file. Its names and its type are ours, or were checked.
    pub(super) fn file(&mut self, name: &str, file_name: &str, media_type: &str, bytes: &[u8]) {
        self.begin(&format!(
            "form-data; name=\"{name}\"; filename=\"{file_name}\""
        ));
        let kind = format!("Content-Type: {media_type}\r\n\r\n");
        self.body.extend_from_slice(kind.as_bytes());
        self.body.extend_from_slice(bytes);
        self.body.extend_from_slice(b"\r\n");
    }

    /// The type of the form, and the form.
    pub(super) fn finish(mut self) -> (String, Bytes) {
        let end = format!("--{}--\r\n", self.boundary);
        self.body.extend_from_slice(end.as_bytes());
        let kind = format!("multipart/form-data; boundary={}", self.boundary);
        (kind, Bytes::from(self.body))
    }

    fn begin(&mut self, disposition: &str) {
        let head = format!(
            "--{}\r\nContent-Disposition: {disposition}\r\n",
            self.boundary
        );
        self.body.extend_from_slice(head.as_bytes());
    }
}
