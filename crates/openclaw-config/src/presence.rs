//! What is set in the file, for those who only ask whether it is.

use crate::config::{Agent, Config};
use crate::environment::Environment;
use crate::expand::expand;
use crate::tree::{Node, Value};

/// The keys of a document that are set to something, without what they are set to: nothing of a
/// credential is in it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Presence {
    members: Vec<(Box<str>, Presence)>,
}

impl Presence {
    /// What is set in a document.
    // The parser has bounded the nesting, so this recursion is bounded too.
    fn of(node: &Node, environment: &Environment) -> Self {
        let Some(object) = node.as_object() else {
            return Self::default();
        };
        let members = object
            .members
            .iter()
            .filter(|member| is_set(&member.value, environment))
            .map(|member| {
                let inside = Self::of(&member.value, environment);
                (member.key.as_str().into(), inside)
            })
            .collect();
        Self { members }
    }

    /// What is set in a whole file. The plugin block is switched on where it does not say otherwise.
    pub(crate) fn of_file(root: &Node, environment: &Environment) -> Self {
        let mut presence = Self::of(root, environment);
        let block = ["plugins", "entries", "mcp-client"];
        let written = block
            .iter()
            .try_fold(root, |node, key| member_of(node, key));
        if let Some(written) = written
            && member_of(written, "enabled").is_none()
            && let Some(block) = presence.get_mut(&block)
        {
            block.members.push(("enabled".into(), Self::default()));
        }
        presence
    }

    fn get(&self, key: &str) -> Option<&Self> {
        let found = self.members.iter().find(|(name, _)| **name == *key);
        found.map(|(_, inside)| inside)
    }

    fn get_mut(&mut self, keys: &[&str]) -> Option<&mut Self> {
        keys.iter().try_fold(self, |inside, key| {
            let mut members = inside.members.iter_mut();
            members.find(|(name, _)| **name == **key).map(|(_, it)| it)
        })
    }

    fn has(&self, path: &str) -> bool {
        let mut keys = path.split('.');
        keys.try_fold(self, |inside, key| inside.get(key)).is_some()
    }
}

fn member_of<'n>(node: &'n Node, key: &str) -> Option<&'n Node> {
    node.as_object()?.get(key).map(|member| &member.value)
}

fn is_set(node: &Node, environment: &Environment) -> bool {
    match &node.value {
        Value::Null => false,
        Value::Bool(value) => *value,
        Value::Number(number) => number.value != 0.0 && !number.value.is_nan(),
        Value::String(source) if !source.contains('$') => !source.trim().is_empty(),
        Value::String(source) => {
            let text = expand(source, environment);
            text.is_complete() && !text.value.trim().is_empty()
        }
        Value::Array(_) | Value::Object(_) => true,
    }
}

impl Config {
    /// Whether something is set at a path such as `channels.mail.enabled`: a list, an object, a text
    /// with something in it, `true`, or a number other than 0.
    ///
    /// `mcp.servers` are the servers of this agent that are switched on, wherever they stand, and
    /// `mcp.servers.NAME` is one of them.
    pub fn has(&self, agent: &Agent, path: &str) -> bool {
        if path == "mcp.servers" {
            return agent.servers.iter().any(|server| server.enabled);
        }
        let server = path.strip_prefix("mcp.servers.");
        match server.and_then(|name| agent.servers.get(name)) {
            Some(server) => server.enabled,
            None => self.presence.has(path),
        }
    }
}
