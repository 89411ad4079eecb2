//! The place of a value in the configuration, as people write it: `mcp.servers.github.env.TOKEN`.

use std::fmt;
use std::sync::Arc;

use openclaw_secrets::is_credential_name;

/// One step from a value to a value inside it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Segment {
    /// Shared, because the path of every field begins with those of all that is around it.
    Key(Arc<str>),
    Index(usize),
}

/// The path from the root of the configuration to one of its values.
///
/// Values that come from an included file have the path at which they were included.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct JsonPath(Vec<Segment>);

impl JsonPath {
    pub(crate) fn of(keys: &[&str]) -> Self {
        Self(
            keys.iter()
                .map(|key| Segment::Key(Arc::from(*key)))
                .collect(),
        )
    }

    pub(crate) fn push_key(&mut self, key: &str) {
        self.0.push(Segment::Key(Arc::from(key)));
    }

    pub(crate) fn push_index(&mut self, index: usize) {
        self.0.push(Segment::Index(index));
    }

    pub(crate) fn pop(&mut self) {
        self.0.pop();
    }

    /// Whether it leads through something that is named like a credential.
    pub(crate) fn names_a_credential(&self) -> bool {
        let last = self.0.len().saturating_sub(1);
        self.0
            .iter()
            .enumerate()
            .any(|(index, segment)| match segment {
                // The settings of a login are not its secrets.
                Segment::Key(key) if &**key == "auth" && index < last => false,
                Segment::Key(key) => is_credential_name(key),
                Segment::Index(_) => false,
            })
    }

    /// The last key.
    pub(crate) fn last_key(&self) -> Option<&str> {
        match self.0.last()? {
            Segment::Key(key) => Some(key),
            Segment::Index(_) => None,
        }
    }

    pub(crate) fn child(&self, key: &str) -> Self {
        let mut child = self.clone();
        child.push_key(key);
        child
    }

    /// The key that follows after `parent`, where this path is inside of it.
    pub(crate) fn key_inside(&self, parent: &Self) -> Option<&str> {
        match self.0.strip_prefix(parent.0.as_slice())? {
            [Segment::Key(key), ..] => Some(key),
            _ => None,
        }
    }

    /// Whether a problem here concerns only a part of the configuration that can be left out: a
    /// server, a provider of models or secrets, the gateway, skills, media, the export of traces.
    /// Anywhere else it concerns everything.
    pub(crate) fn is_in_a_part(&self) -> bool {
        let key = |index: usize| match self.0.get(index) {
            Some(Segment::Key(key)) => Some(&**key),
            Some(Segment::Index(_)) | None => None,
        };
        match (key(0), key(1)) {
            (Some("models" | "secrets"), Some("providers")) => key(2).is_some(),
            // The tools that the gateway may use restrict everybody.
            (Some("gateway"), Some(part)) => part != "tools",
            (Some("skills" | "media"), Some(_)) | (Some("diagnostics"), Some("otel")) => true,
            _ => self.server().is_some(),
        }
    }

    /// The name of the server whose definition this path is in, if it is in one.
    pub(crate) fn server(&self) -> Option<&str> {
        let key = |index: usize| match self.0.get(index) {
            Some(Segment::Key(key)) => Some(&**key),
            Some(Segment::Index(_)) | None => None,
        };
        let starts_with = |keys: &[&str]| {
            keys.iter()
                .enumerate()
                .all(|(index, wanted)| key(index) == Some(*wanted))
        };
        let place = if starts_with(&["mcp", "servers"]) {
            2
        } else if starts_with(&["plugins", "entries", "mcp-client", "config", "servers"]) {
            5
        } else if starts_with(&["agents", "defaults", "mcp", "servers"]) {
            4
        } else if key(0) == Some("agents")
            && matches!(key(1), Some("list" | "entries"))
            && key(3) == Some("mcp")
            && key(4) == Some("servers")
        {
            5
        } else {
            return None;
        };
        key(place)
    }
}

/// Whether a key can stand after a dot without quotes.
fn is_plain(key: &str) -> bool {
    !key.is_empty()
        && key
            .chars()
            .all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '$'))
}

impl fmt::Display for JsonPath {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, segment) in self.0.iter().enumerate() {
            match segment {
                Segment::Index(index) => write!(formatter, "[{index}]")?,
                Segment::Key(key) if is_plain(key) => {
                    if position > 0 {
                        formatter.write_str(".")?;
                    }
                    formatter.write_str(key)?;
                }
                // `Debug` of a string escapes quotes and control characters, so that a hostile
                // key cannot forge a path or move the cursor.
                Segment::Key(key) => write!(formatter, "[{key:?}]")?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_keys_are_joined_by_dots_and_others_are_quoted() {
        let mut path = JsonPath::of(&["agents", "list"]);
        path.push_index(2);
        path.push_key("my server");
        path.push_key("a\u{1b}[31m");
        assert_eq!(
            path.to_string(),
            "agents.list[2][\"my server\"][\"a\\u{1b}[31m\"]"
        );
    }

    #[test]
    fn a_path_knows_the_server_it_is_in() {
        let mut path = JsonPath::of(&["agents", "list"]);
        path.push_index(0);
        for key in ["mcp", "servers", "github", "env", "TOKEN"] {
            path.push_key(key);
        }
        assert_eq!(path.server(), Some("github"));
        assert_eq!(JsonPath::of(&["mcp", "servers"]).server(), None);
        assert_eq!(JsonPath::of(&["tools", "servers", "x"]).server(), None);
        assert_eq!(
            JsonPath::of(&["plugins", "entries", "mcp-client", "config", "servers", "a"]).server(),
            Some("a")
        );
    }
}
