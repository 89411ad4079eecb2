//! The parameters of a request, with what it says about itself.

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use serde_json::{Map, Value};

/// The parameters of a request. They are few, and all their names are known.
#[derive(Clone, Debug, Default)]
pub(crate) struct Parameters(Vec<(&'static str, Value)>);

impl Parameters {
    pub(crate) fn get(&self, name: &str) -> Option<&Value> {
        let found = self.0.iter().find(|(key, _)| *key == name);
        found.map(|(_, value)| value)
    }

    /// Sets a parameter, or takes it away.
    pub(crate) fn set(&mut self, name: &'static str, value: Option<Value>) {
        self.0.retain(|(key, _)| *key != name);
        self.0.extend(value.map(|value| (name, value)));
    }
}

impl<const N: usize> From<[(&'static str, Value); N]> for Parameters {
    fn from(parameters: [(&'static str, Value); N]) -> Self {
        Self(parameters.into())
    }
}

/// Parameters and what goes with them, written without being copied together.
pub(super) struct Params<'a> {
    pub(super) own: &'a Parameters,
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
        for (name, value) in &self.own.0 {
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
