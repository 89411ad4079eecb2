//! The types of attachments that are taken, and whether bytes are of such a type.

use openclaw_content::{Agreement, Media, MediaKind};

use super::{MOST_FILES, MOST_IMAGES};

/// The two lists of attachments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum List {
    Images,
    Files,
}

const IMAGES: [&str; 4] = ["image/jpeg", "image/png", "image/gif", "image/webp"];

const FILES: [&str; 21] = [
    "application/pdf",
    "text/plain",
    "text/markdown",
    "text/html",
    "text/csv",
    "application/json",
    "audio/mpeg",
    "audio/wav",
    "audio/ogg",
    "audio/mp4",
    "audio/aac",
    "audio/flac",
    "audio/opus",
    "video/mp4",
    "video/webm",
    "video/quicktime",
    "video/x-msvideo",
    "application/zip",
    "application/gzip",
    "application/x-tar",
    "application/x-compressed-tar",
];

impl List {
    /// Its name in the arguments.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Images => "images",
            Self::Files => "files",
        }
    }

    /// How many entries it may have.
    pub(super) fn most(self) -> usize {
        match self {
            Self::Images => MOST_IMAGES,
            Self::Files => MOST_FILES,
        }
    }

    fn types(self) -> &'static [&'static str] {
        match self {
            Self::Images => &IMAGES,
            Self::Files => &FILES,
        }
    }

    /// The type that is declared, if it is one that is taken; else all that are.
    pub(super) fn accepted(self, declared: &str) -> Result<&'static str, String> {
        let essence = declared.split(';').next().unwrap_or_default().trim();
        let types = self.types();
        let found = types.iter().find(|it| it.eq_ignore_ascii_case(essence));
        found.copied().ok_or_else(|| types.join(", "))
    }
}

/// Whether a type is one of text.
fn is_text(mime_type: &str) -> bool {
    mime_type.starts_with("text/") || mime_type == "application/json"
}

/// Checks whether the first bytes of something are of this type; else says what they are.
pub(super) fn check(mime_type: &str, head: &[u8]) -> Result<(), String> {
    let content = Media::from_bytes(mime_type, head);
    let kind = content.kind();
    if is_text(mime_type) {
        return match kind {
            None if is_binary(head) => Err("are no text".to_owned()),
            None => Ok(()),
            // A page may begin with a drawing.
            Some(kind) if kind.is_text() => Ok(()),
            Some(kind) => Err(looks_like(kind)),
        };
    }
    match (content.agreement(), kind) {
        (Agreement::Same, _) => Ok(()),
        (_, Some(kind)) => Err(looks_like(kind)),
        (_, None) => Err("are not".to_owned()),
    }
}

fn looks_like(kind: MediaKind) -> String {
    format!("look like {}", kind.media_type())
}

/// Whether bytes can't be text: text has no zeros, unless it is written with two bytes each, and then
/// it says so at its beginning.
fn is_binary(head: &[u8]) -> bool {
    let is_wide = head.starts_with(b"\xff\xfe") || head.starts_with(b"\xfe\xff");
    !is_wide && head.contains(&0)
}
