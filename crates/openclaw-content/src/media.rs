//! Binary content: what it is by its first bytes, and how large.

mod base64;
mod declared;
mod sniff;

pub use base64::{Base64, Base64Decoder, Base64Error};
pub use sniff::MediaKind;

/// Whether binary content is what the server says it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Agreement {
    /// Its first bytes are of the declared type.
    Same,
    /// Its first bytes are of another type.
    Different,
    /// Its first bytes are of no known type.
    Unknown,
}

/// A piece of binary content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Media {
    declared: String,
    kind: Option<MediaKind>,
    bytes: usize,
}

impl Media {
    /// Looks at binary content in base64: one pass, in which nothing is kept.
    pub fn from_base64(declared: &str, data: &str) -> Result<Self, Base64Error> {
        let data = Base64::check(data)?;
        Ok(Self::new(declared, &data.head(), data.decoded_len()))
    }

    /// Looks at binary content.
    pub fn from_bytes(declared: &str, data: &[u8]) -> Self {
        Self::new(
            declared,
            data.get(..MediaKind::HEAD).unwrap_or(data),
            data.len(),
        )
    }

    fn new(declared: &str, head: &[u8], bytes: usize) -> Self {
        let declared = essence(declared);
        Self {
            kind: MediaKind::recognise(&declared, head),
            declared,
            bytes,
        }
    }

    /// What it is by its first bytes, if that is known.
    pub fn kind(&self) -> Option<MediaKind> {
        self.kind
    }

    /// Its type: by its first bytes, else as declared, else unknown.
    pub fn media_type(&self) -> &str {
        match self.kind {
            // A declared type says more where the bytes allow it.
            Some(kind) if kind.allows(&self.declared) => &self.declared,
            Some(kind) => kind.media_type(),
            None if self.declared.is_empty() => "application/octet-stream",
            None => &self.declared,
        }
    }

    /// Whether it is text by what it is called, and nothing else by its first bytes.
    pub fn is_text(&self) -> bool {
        declared::is_text_type(self.media_type()) && self.kind.is_none_or(MediaKind::is_text)
    }

    /// The type that the server declared, in small letters and without parameters; empty if none.
    pub fn declared(&self) -> &str {
        &self.declared
    }

    /// How many bytes it has when decoded.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Whether it is what the server says it is.
    pub fn agreement(&self) -> Agreement {
        match self.kind {
            None => Agreement::Unknown,
            Some(kind) if kind.allows(&self.declared) => Agreement::Same,
            Some(_) => Agreement::Different,
        }
    }

    /// The declared type, if there is one and the first bytes contradict it.
    pub(crate) fn contradicted(&self) -> Option<&str> {
        let differs = self.agreement() == Agreement::Different && !self.declared.is_empty();
        differs.then_some(self.declared.as_str())
    }
}

/// A media type in small letters, without parameters, or nothing if it is none.
fn essence(declared: &str) -> String {
    let essence = declared.split(';').next().unwrap_or_default().trim();
    let is_type = essence.len() <= 127
        && essence.split('/').count() == 2
        && essence.split('/').all(|part| {
            let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$&-^_.+".contains(&byte);
            !part.is_empty() && part.bytes().all(fits)
        });
    if is_type {
        essence.to_ascii_lowercase()
    } else {
        String::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PNG: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR";

    #[test]
    fn declared_and_sniffed_types_are_compared() {
        let same = Media::from_bytes("Image/PNG; q=1", PNG);
        assert_eq!(
            (same.agreement(), same.media_type()),
            (Agreement::Same, "image/png")
        );
        let other = Media::from_bytes("image/jpeg", PNG);
        assert_eq!(
            (other.agreement(), other.media_type()),
            (Agreement::Different, "image/png")
        );
        let unknown = Media::from_bytes("application/x-thing", b"thing");
        assert_eq!(unknown.agreement(), Agreement::Unknown);
        assert_eq!(unknown.media_type(), "application/x-thing");
        assert_eq!(
            Media::from_bytes("nonsense\n", b"").media_type(),
            "application/octet-stream"
        );
    }

    #[test]
    fn base64_is_looked_at_without_being_decoded_whole() {
        let media = Media::from_base64("image/png", "iVBORw0KGgoAAAANSUhEUg==").unwrap();
        assert_eq!(media.kind(), Some(MediaKind::Png));
        assert_eq!(media.bytes(), 16);
        assert!(Media::from_base64("image/png", "iVBORw0KGgo").is_err());
    }
}
