//! Resources, and what is in them.

use serde_json::Value;

use super::{Embedded, Fields};

/// A resource of a server, in the server's words.
#[derive(Clone, Debug, PartialEq)]
pub struct Resource {
    /// Its address.
    pub uri: String,
    /// Its name.
    pub name: String,
    /// A name for people.
    pub title: Option<String>,
    /// What it is.
    pub description: Option<String>,
    /// Its media type.
    pub mime_type: Option<String>,
    /// Its size in bytes.
    pub size: Option<u64>,
    /// Whom it is for, and how important it is.
    pub annotations: Option<Value>,
}

/// A pattern for the addresses of resources.
#[derive(Clone, Debug, PartialEq)]
pub struct ResourceTemplate {
    /// The pattern, as in RFC 6570.
    pub uri_template: String,
    /// Its name.
    pub name: String,
    /// A name for people.
    pub title: Option<String>,
    /// What it is for.
    pub description: Option<String>,
    /// The media type of all that match, if they have one.
    pub mime_type: Option<String>,
}

/// What is in a resource.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ResourceContents {
    /// Its parts.
    pub contents: Vec<Embedded>,
    /// How many parts could not be read.
    pub missing: usize,
}

impl Resource {
    pub(crate) fn read(mut fields: Fields) -> Result<Self, String> {
        let uri = fields.text("uri").filter(|uri| !uri.is_empty());
        let uri = uri.ok_or("it has no address")?;
        Ok(Self {
            name: fields.text("name").unwrap_or_else(|| uri.clone()),
            uri,
            title: fields.text("title"),
            description: fields.text("description"),
            mime_type: fields.text("mimeType"),
            size: fields.number("size"),
            annotations: fields.value("annotations"),
        })
    }
}

impl ResourceTemplate {
    pub(crate) fn read(mut fields: Fields) -> Result<Self, String> {
        let pattern = fields.text("uriTemplate").filter(|uri| !uri.is_empty());
        let uri_template = pattern.ok_or("it has no pattern")?;
        Ok(Self {
            name: fields.text("name").unwrap_or_else(|| uri_template.clone()),
            uri_template,
            title: fields.text("title"),
            description: fields.text("description"),
            mime_type: fields.text("mimeType"),
        })
    }
}

impl ResourceContents {
    pub(crate) fn read(mut fields: Fields) -> Result<Self, String> {
        let parts = fields
            .array("contents")
            .ok_or("the result has no contents")?;
        let count = parts.len();
        let contents: Vec<_> = parts
            .into_iter()
            .filter_map(|part| Embedded::read(Fields::of(part)?))
            .collect();
        Ok(Self {
            missing: count - contents.len(),
            contents,
        })
    }
}
