//! The parameters of a request, with what it says about itself.

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use serde_json::{Map, Value};

/// Parameters and what goes with them, written without being copied together.
pub(super) struct Params<'a> {
    pub(super) own: &'a Map<String, Value>,
    pub(super) meta: &'a Meta,
}

/// What a request says about itself.
pub(super) struct Meta {
    /// What every request of the second era says.
    pub(super) modern: Option<Map<String, Value>>,
    /// What its progress is to be told under.
    pub(super) token: Option<u64>,
}

impl Serialize for Params<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for (name, value) in self.own {
            map.serialize_entry(name, value)?;
        }
        if self.meta.modern.is_some() || self.meta.token.is_some() {
            map.serialize_entry("_meta", self.meta)?;
        }
        map.end()
    }
}

impl Serialize for Meta {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for (name, value) in self.modern.iter().flatten() {
            map.serialize_entry(name, value)?;
        }
        if let Some(token) = self.token {
            map.serialize_entry("progressToken", &token)?;
        }
        map.end()
    }
}
