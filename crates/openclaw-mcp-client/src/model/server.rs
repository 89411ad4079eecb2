//! What a server says about itself.

use serde_json::{Map, Value};

use super::Fields;

/// Who a server says it is. Only its word.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServerInfo {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
    /// A name for people.
    pub title: Option<String>,
    /// How it is to be used.
    pub instructions: Option<String>,
    /// What it offers.
    pub capabilities: Capabilities,
}

/// What a server offers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Capabilities {
    /// Tools.
    pub tools: bool,
    /// Resources.
    pub resources: bool,
    /// Notifications about resources that change.
    pub subscriptions: bool,
    /// Prompts.
    pub prompts: bool,
    /// The completion of arguments.
    pub completions: bool,
    /// Notifications when one of the lists changes.
    pub list_changes: bool,
}

impl ServerInfo {
    /// Reads it from the answer to `initialize` or `server/discover`.
    pub(crate) fn read(result: &mut Fields) -> Self {
        // The second era has it among the other things that are said about results.
        let meta = result.0.get_mut("_meta").and_then(Value::as_object_mut);
        let info = meta
            .and_then(|meta| meta.remove("io.modelcontextprotocol/serverInfo"))
            .or_else(|| result.0.remove("serverInfo"));
        let mut info = info.and_then(Fields::of).unwrap_or(Fields(Map::new()));
        let capabilities = result.object("capabilities").unwrap_or_default();
        Self {
            name: info.text("name").unwrap_or_default(),
            version: info.text("version").unwrap_or_default(),
            title: info.text("title"),
            instructions: result.text("instructions"),
            capabilities: Capabilities::read(&capabilities),
        }
    }
}

impl Capabilities {
    fn read(object: &Map<String, Value>) -> Self {
        let offers = |name: &str| object.get(name).is_some_and(|value| *value != Value::Null);
        let flag = |name: &str, inner: &str| {
            let found = object.get(name).and_then(|value| value.get(inner));
            found.and_then(Value::as_bool).unwrap_or_default()
        };
        Self {
            tools: offers("tools"),
            resources: offers("resources"),
            subscriptions: flag("resources", "subscribe"),
            prompts: offers("prompts"),
            completions: offers("completions"),
            list_changes: ["tools", "resources", "prompts"]
                .iter()
                .any(|name| flag(name, "listChanged")),
        }
    }
}
