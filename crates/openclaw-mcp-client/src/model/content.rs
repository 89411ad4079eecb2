//! The parts of a result.

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;
use serde_json::value::RawValue;

use super::Fields;

/// One part of a result. Everything in it is the server's word.
#[derive(Clone, Debug, PartialEq)]
pub enum Content {
    /// Text.
    Text {
        /// The text.
        text: String,
        /// Whom it is for, and how important it is.
        annotations: Option<Value>,
    },
    /// An image.
    Image {
        /// Its bytes, in base64 as they came.
        data: String,
        /// Its media type.
        mime_type: String,
        /// Whom it is for, and how important it is.
        annotations: Option<Value>,
    },
    /// Sound.
    Audio {
        /// Its bytes, in base64 as they came.
        data: String,
        /// Its media type.
        mime_type: String,
        /// Whom it is for, and how important it is.
        annotations: Option<Value>,
    },
    /// A resource with its contents.
    Resource(Embedded),
    /// Where a resource is.
    Link {
        /// Its address.
        uri: String,
        /// Its name.
        name: String,
        /// A name for people.
        title: Option<String>,
        /// What it is.
        description: Option<String>,
        /// Its media type.
        mime_type: Option<String>,
        /// Its size in bytes.
        size: Option<u64>,
    },
    /// Something that we don't know, as it came.
    Unknown(Value),
}

/// The contents of a resource.
#[derive(Clone, Debug, PartialEq)]
pub struct Embedded {
    /// Its address.
    pub uri: String,
    /// Its media type.
    pub mime_type: Option<String>,
    /// The contents, if they are text.
    pub text: Option<String>,
    /// The contents in base64 as they came, if they are not.
    pub blob: Option<String>,
}

impl Content {
    /// Reads a plain text, which nearly all parts are, without a detour.
    pub(crate) fn read_text(raw: &RawValue) -> Option<Self> {
        #[derive(Deserialize)]
        struct Plain<'a> {
            #[serde(rename = "type")]
            kind: &'a str,
            text: String,
            #[serde(default)]
            annotations: Option<IgnoredAny>,
        }
        let plain: Plain<'_> = serde_json::from_str(raw.get()).ok()?;
        let is_plain = plain.kind == "text" && plain.annotations.is_none();
        is_plain.then_some(Self::Text {
            text: plain.text,
            annotations: None,
        })
    }

    /// Reads a part; what is not as it should be is kept as it came.
    pub(crate) fn read(value: Value) -> Self {
        let Value::Object(object) = value else {
            return Self::Unknown(value);
        };
        let is_text = |name: &str| object.get(name).is_some_and(Value::is_string);
        let kind = object.get("type").and_then(Value::as_str);
        match kind {
            Some("text") if is_text("text") => {
                let mut fields = Fields(object);
                Self::Text {
                    text: fields.text("text").unwrap_or_default(),
                    annotations: fields.value("annotations"),
                }
            }
            Some(kind @ ("image" | "audio")) if is_text("data") => {
                let is_image = kind == "image";
                let mut fields = Fields(object);
                let data = fields.text("data").unwrap_or_default();
                let mime_type = fields
                    .text("mimeType")
                    .unwrap_or_else(|| "application/octet-stream".to_owned());
                let annotations = fields.value("annotations");
                if is_image {
                    Self::Image {
                        data,
                        mime_type,
                        annotations,
                    }
                } else {
                    Self::Audio {
                        data,
                        mime_type,
                        annotations,
                    }
                }
            }
            Some("resource") if object.get("resource").is_some_and(Embedded::is_readable) => {
                let resource = Fields(object).object("resource").map(Fields);
                match resource.and_then(Embedded::read) {
                    Some(embedded) => Self::Resource(embedded),
                    None => Self::Unknown(Value::Null),
                }
            }
            Some("resource_link") if is_text("uri") => {
                let mut fields = Fields(object);
                let uri = fields.text("uri").unwrap_or_default();
                Self::Link {
                    name: fields.text("name").unwrap_or_else(|| uri.clone()),
                    uri,
                    title: fields.text("title"),
                    description: fields.text("description"),
                    mime_type: fields.text("mimeType"),
                    size: fields.number("size"),
                }
            }
            _ => Self::Unknown(Value::Object(object)),
        }
    }
}

impl Embedded {
    fn is_readable(value: &Value) -> bool {
        let is_text = |name: &str| value.get(name).is_some_and(Value::is_string);
        is_text("uri") && (is_text("text") || is_text("blob"))
    }

    /// Reads the contents of a resource, if that is what it is.
    pub(crate) fn read(mut fields: Fields) -> Option<Self> {
        let read = Self {
            uri: fields.text("uri")?,
            mime_type: fields.text("mimeType"),
            text: fields.text("text"),
            blob: fields.text("blob"),
        };
        (read.text.is_some() || read.blob.is_some()).then_some(read)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_kind_is_read() {
        let read = Content::read;
        assert!(matches!(
            read(json!({"type":"text","text":"x"})),
            Content::Text { .. }
        ));
        assert!(
            matches!(read(json!({"type":"image","data":"","mimeType":"image/png"})), Content::Image { mime_type, .. } if mime_type == "image/png")
        );
        assert!(matches!(
            read(json!({"type":"audio","data":"AA=="})),
            Content::Audio { .. }
        ));
        let resource = json!({"type":"resource","resource":{"uri":"a:b","blob":"AA=="}});
        assert!(matches!(
            read(resource),
            Content::Resource(Embedded {
                blob: Some(_),
                text: None,
                ..
            })
        ));
        assert!(
            matches!(read(json!({"type":"resource_link","uri":"a:b","size":3})), Content::Link { name, size: Some(3), .. } if name == "a:b")
        );
    }

    #[test]
    fn what_is_not_as_it_should_be_is_kept() {
        for odd in [
            json!({"type":"text"}),
            json!({"type":"text","text":1}),
            json!({"type":"image","data":[]}),
            json!({"type":"resource"}),
            json!({"type":"resource","resource":{"uri":"a:b"}}),
            json!({"type":"resource_link"}),
            json!({"type":7}),
            json!("text"),
            json!(null),
        ] {
            assert_eq!(Content::read(odd.clone()), Content::Unknown(odd));
        }
    }
}
