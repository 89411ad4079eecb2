//! The parameters of a request, with what it says about itself.

use openclaw_telemetry::TraceContext;
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
    /// The trace that it belongs to, where somebody collects them: SEP-414.
    pub(super) trace: Option<TraceContext>,
}

impl Meta {
    fn is_empty(&self) -> bool {
        self.modern.is_none() && self.token.is_none() && self.trace.is_none()
    }
}

impl Serialize for Params<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for (name, value) in &self.own.0 {
            map.serialize_entry(name, value)?;
        }
        if !self.meta.is_empty() {
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
            map.serialize_entry("progressToken", &Token(token))?;
        }
        if let Some(trace) = &self.trace {
            map.serialize_entry("traceparent", &trace.traceparent())?;
            if let Some(state) = trace.tracestate() {
                map.serialize_entry("tracestate", state)?;
            }
        }
        map.end()
    }
}

/// A token, as a text: servers of the official TypeScript SDK read one with less effort than a number.
struct Token(u64);

impl Serialize for Token {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn written(meta: &Meta) -> Value {
        let own = Parameters::from([("name", "echo".into())]);
        serde_json::to_value(Params { own: &own, meta }).unwrap()
    }

    #[test]
    fn a_trace_stands_beside_what_else_a_request_says_about_itself() {
        let parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
        let mut modern = Map::new();
        modern.insert("io.example/a".to_owned(), json!(1));
        let mut meta = Meta {
            modern: Some(modern),
            token: Some(7),
            trace: TraceContext::read(parent, Some("a=b")),
        };
        let expected = json!({
            "io.example/a": 1, "progressToken": "7", "traceparent": parent, "tracestate": "a=b",
        });
        assert_eq!(written(&meta)["_meta"], expected);
        meta.trace = TraceContext::read(parent, None);
        meta.modern = None;
        meta.token = None;
        assert_eq!(written(&meta)["_meta"], json!({ "traceparent": parent }));
        meta.trace = None;
        assert_eq!(written(&meta), json!({ "name": "echo" }));
    }
}
