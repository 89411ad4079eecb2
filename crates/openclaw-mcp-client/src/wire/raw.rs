//! A part of a message that has not been looked at yet.

use bytes::Bytes;
use serde::de::DeserializeOwned;
use serde_json::Value;
use serde_json::value::RawValue;

use openclaw_json::read_value;

/// JSON text that shares the memory of the message it came in, so that a large result is not
/// copied on its way to whoever reads it.
#[derive(Clone, Debug)]
pub(crate) struct RawJson(Bytes);

impl RawJson {
    /// A part of `message`.
    pub(crate) fn within(message: &Bytes, part: &RawValue) -> Self {
        Self(message.slice_ref(part.get().as_bytes()))
    }

    /// The text of a value.
    pub(crate) fn of(value: &Value) -> Option<Self> {
        serde_json::to_vec(value).ok().map(|text| Self(text.into()))
    }

    /// Reads it as a `T`.
    pub(crate) fn read<T: DeserializeOwned>(&self) -> serde_json::Result<T> {
        serde_json::from_slice(&self.0)
    }

    /// Reads it as a value of bounded size.
    pub(crate) fn value(&self) -> serde_json::Result<Value> {
        read_value(&self.0)
    }

    /// The text.
    pub(crate) fn text(&self) -> &str {
        // It was made of text: that it is not can't be.
        std::str::from_utf8(&self.0).unwrap_or_default()
    }
}
