//! Images and other binary content.

use std::sync::Arc;

use openclaw_content::ModelText;
use serde::{Deserialize, Serialize};

/// The type of documents.
const PDF: &str = "application/pdf";

/// An image or another file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Media {
    /// Its type, as `image/png`.
    pub mime_type: String,
    /// Its name, where it has one; cleaned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// How many bytes it has.
    pub bytes: u64,
    /// Where its bytes are.
    pub blob: Blob,
    /// What it says, in words: the text of a document, what is spoken in a recording. Stands for it
    /// wherever the bytes can't be shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<ModelText>,
}

impl Media {
    /// Whether it is an image.
    pub fn is_image(&self) -> bool {
        self.mime_type.starts_with("image/")
    }

    /// Whether it is a document of the only kind that services take as such.
    pub fn is_document(&self) -> bool {
        self.mime_type == PDF
    }
}

/// The bytes of a piece of media.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Blob {
    /// Here, in base64.
    Here(Arc<str>),
    /// In the store of sessions.
    Kept(BlobId),
}

/// The name of bytes in the store of sessions: their SHA-256 in hexadecimal digits.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct BlobId(pub Arc<str>);
