//! What several protocols write or read in the same way.

use serde::de::DeserializeOwned;
use serde::ser::{Serialize, Serializer};
use serde_json::{Map, Value};

use crate::model::SystemPrompt;
use crate::wire::growing::Fault;
use crate::wire::history::Called;

/// An image or a document as an address that holds it, written without a copy of it.
pub(super) struct DataUrl<'a> {
    pub(super) mime_type: &'a str,
    pub(super) data: &'a str,
}

impl Serialize for DataUrl<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (mime_type, data) = (self.mime_type, self.data);
        serializer.collect_str(&format_args!("data:{mime_type};base64,{data}"))
    }
}

/// A list that is written as it is made.
pub(super) struct Each<F>(pub(super) F);

impl<F, I> Serialize for Each<F>
where
    F: Fn() -> I,
    I: Iterator,
    I::Item: Serialize,
{
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq((self.0)())
    }
}

/// The arguments of a call as an object; an empty one where they were broken.
pub(super) struct Arguments<'a>(pub(super) Option<&'a Map<String, Value>>);

impl Serialize for Arguments<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Some(object) => object.serialize(serializer),
            None => Map::new().serialize(serializer),
        }
    }
}

/// The arguments of a call as a text that holds an object.
pub(super) fn arguments_text(call: &Called<'_>) -> String {
    let text = call.arguments.map(serde_json::to_string);
    // What was parsed from JSON can be written as JSON.
    text.and_then(Result::ok).unwrap_or_else(|| "{}".to_owned())
}

/// The whole of what a model is to be.
pub(super) fn whole(system: SystemPrompt<'_>) -> String {
    match (system.stable.is_empty(), system.current.is_empty()) {
        (false, false) => format!("{}\n\n{}", system.stable, system.current),
        _ => format!("{}{}", system.stable, system.current),
    }
}

/// Reads the data of an event.
pub(super) fn parse<T: DeserializeOwned>(data: &[u8]) -> Result<T, Fault> {
    serde_json::from_slice(data)
        .map_err(|error| Fault::Unreadable(format!("an event can't be read: {error}")))
}
