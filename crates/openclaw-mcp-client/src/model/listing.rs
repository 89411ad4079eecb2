//! Lists of what a server offers.

use openclaw_json::read_value;
use serde_json::value::RawValue;

use super::Fields;

/// A list, as far as it could be read.
#[derive(Clone, Debug, PartialEq)]
pub struct Listing<T> {
    /// What is on it, in the server's order.
    pub items: Vec<T>,
    /// What could not be read.
    pub dropped: Vec<Dropped>,
    /// Why the list was not read to its end, if it was not.
    pub truncated: Option<Truncation>,
}

/// Something on a list that could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dropped {
    /// Its place on the list, from 1.
    pub place: usize,
    /// What is wrong with it.
    pub reason: String,
}

/// Why a list was not read to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Truncation {
    /// It has more pages than are read.
    Pages,
    /// It has more items than are read.
    Items,
    /// It has more bytes than are read.
    Bytes,
    /// The server sent us to a page where we had been.
    RepeatedPage,
    /// A page could not be read.
    BrokenPage,
}

impl std::fmt::Display for Truncation {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(match self {
            Self::Pages => "the list has too many pages",
            Self::Items => "the list has too many items",
            Self::Bytes => "the list is too large",
            Self::RepeatedPage => "the server repeats a page",
            Self::BrokenPage => "a page can't be read",
        })
    }
}

impl<T> Default for Listing<T> {
    fn default() -> Self {
        Self {
            items: Vec::new(),
            dropped: Vec::new(),
            truncated: None,
        }
    }
}

/// What kind of list it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ListKind {
    Tools,
    Resources,
    Templates,
    Prompts,
}

impl ListKind {
    /// The method that lists it.
    pub(crate) fn method(self) -> &'static str {
        match self {
            Self::Tools => "tools/list",
            Self::Resources => "resources/list",
            Self::Templates => "resources/templates/list",
            Self::Prompts => "prompts/list",
        }
    }
}

/// Reads one item of a list.
pub(crate) fn read_item<T>(
    raw: &RawValue,
    read: impl FnOnce(Fields) -> Result<T, String>,
) -> Result<T, String> {
    let value = read_value(raw.get().as_bytes()).map_err(|error| error.to_string())?;
    let fields = Fields::of(value).ok_or("it is not an object")?;
    read(fields)
}
