//! All tools with their names.

use std::collections::{BTreeMap, HashMap};

use openclaw_config::ToolNaming;

use super::qualified::QualifiedToolName;
use super::spelling::{Spelling, spellings};

/// A tool by the names that it really has.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ToolKey {
    /// The name of its server in the configuration.
    pub server: String,
    /// Its name at the server.
    pub tool: String,
}

impl ToolKey {
    /// The tool of this name at this server.
    pub fn new(server: impl Into<String>, tool: impl Into<String>) -> Self {
        Self {
            server: server.into(),
            tool: tool.into(),
        }
    }
}

/// A server and the tools that it offers.
#[derive(Clone, Debug)]
pub struct ToolSource<'a> {
    /// Its name in the configuration.
    pub server: &'a str,
    /// What stands for it in names, if not its own.
    pub prefix: Option<&'a str>,
    /// How its tools are named.
    pub naming: ToolNaming,
    /// The names of its tools, as it gives them.
    pub tools: Vec<&'a str>,
}

/// A tool with its name.
#[derive(Clone, Debug)]
pub struct NamedTool {
    /// What models call it.
    pub name: QualifiedToolName,
    /// What it is.
    pub key: ToolKey,
    pub(crate) spellings: Vec<Spelling>,
}

/// The names of all tools, sorted.
#[derive(Clone, Debug, Default)]
pub struct ToolNames {
    tools: BTreeMap<QualifiedToolName, NamedTool>,
    /// Every spelling, folded, with the tools that it may mean.
    spellings: HashMap<String, Vec<QualifiedToolName>>,
}

/// What a spelling means.
#[derive(Clone, Debug)]
pub enum Lookup<'a> {
    /// This tool.
    Found(&'a NamedTool),
    /// One of these tools.
    Ambiguous(Vec<&'a NamedTool>),
    /// None.
    Unknown,
}

impl ToolNames {
    /// Names the tools of all servers. A tool that is listed twice counts once.
    pub fn new(sources: &[ToolSource<'_>]) -> Self {
        let mut wanted: BTreeMap<ToolKey, (&str, ToolNaming)> = BTreeMap::new();
        for source in sources {
            let prefix = source.prefix.unwrap_or(source.server);
            for tool in &source.tools {
                let key = ToolKey::new(source.server, *tool);
                wanted.insert(key, (prefix, source.naming));
            }
        }
        let rivals: HashMap<&str, Vec<&str>> = sources
            .iter()
            .map(|source| (source.server, rivals(source, sources)))
            .collect();
        let mut names = Self::default();
        // In the order of what they really are, so that the same tools have the same names however
        // their servers came.
        for (key, (prefix, naming)) in wanted {
            let mut name = QualifiedToolName::new(prefix, naming, &key);
            if names.tools.contains_key(&name) {
                name = name.told_apart(&key);
            }
            let rivals = rivals
                .get(key.server.as_str())
                .map_or(&[][..], Vec::as_slice);
            let spellings = spellings(&name, prefix, &key, rivals);
            names.add(NamedTool {
                name,
                key,
                spellings,
            });
        }
        names
    }

    fn add(&mut self, tool: NamedTool) {
        for spelling in &tool.spellings {
            let meant = self.spellings.entry(fold(&spelling.text)).or_default();
            meant.push(tool.name.clone());
        }
        self.tools.insert(tool.name.clone(), tool);
    }

    /// The tools in the order of their names.
    pub fn iter(&self) -> impl Iterator<Item = &NamedTool> {
        self.tools.values()
    }

    /// How many tools there are.
    pub fn len(&self) -> usize {
        self.tools.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.tools.is_empty()
    }

    /// The tool of this name, exactly as a model was told it.
    pub fn get(&self, name: &str) -> Option<&NamedTool> {
        // A name is all that is compared; making one of foreign text is fine for that.
        self.spellings
            .get(&fold(name))
            .into_iter()
            .flatten()
            .filter_map(|meant| self.tools.get(meant))
            .find(|tool| tool.name.as_str() == name)
    }

    /// The tool that a person means by a spelling.
    pub fn find(&self, spelling: &str) -> Lookup<'_> {
        if let Some(tool) = self.get(spelling) {
            return Lookup::Found(tool);
        }
        let meant = self.spellings.get(&fold(spelling)).into_iter().flatten();
        let meant: Vec<_> = meant.filter_map(|name| self.tools.get(name)).collect();
        let exact: Vec<_> = meant
            .iter()
            .copied()
            .filter(|tool| tool.spellings.iter().any(|it| it.text == spelling))
            .collect();
        let candidates = if exact.is_empty() { meant } else { exact };
        match candidates.as_slice() {
            [] => Lookup::Unknown,
            [only] => Lookup::Found(only),
            _ => Lookup::Ambiguous(candidates),
        }
    }
}

/// What stands for other servers in names, and begins as this one does or the other way round: only
/// that can make the name of a tool ambiguous.
fn rivals<'a>(source: &ToolSource<'a>, all: &[ToolSource<'a>]) -> Vec<&'a str> {
    let own = [source.server, source.prefix.unwrap_or(source.server)];
    let others = all.iter().filter(|other| other.server != source.server);
    others
        .flat_map(|other| [other.server, other.prefix.unwrap_or(other.server)])
        .filter(|other| {
            own.iter()
                .any(|own| own.starts_with(other) || other.starts_with(own))
        })
        .collect()
}

fn fold(text: &str) -> String {
    text.to_lowercase()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn source<'a>(server: &'a str, tools: &[&'a str]) -> ToolSource<'a> {
        ToolSource {
            server,
            prefix: None,
            naming: ToolNaming::Prefixed,
            tools: tools.to_vec(),
        }
    }

    fn found(names: &ToolNames, spelling: &str) -> Option<ToolKey> {
        match names.find(spelling) {
            Lookup::Found(tool) => Some(tool.key.clone()),
            Lookup::Ambiguous(_) | Lookup::Unknown => None,
        }
    }

    #[test]
    fn every_spelling_leads_to_the_tool() {
        let names = ToolNames::new(&[source("github", &["create_issue"]), source("x", &["y"])]);
        let expected = Some(ToolKey::new("github", "create_issue"));
        for spelling in [
            "mcp_github_create_issue",
            "github__create_issue",
            "github/create_issue",
            "GitHub/Create_Issue",
        ] {
            assert_eq!(found(&names, spelling), expected, "{spelling}");
        }
        assert!(matches!(names.find("create_issue"), Lookup::Unknown));
        assert!(
            names.get("github/create_issue").is_none(),
            "models know one name"
        );
    }

    #[test]
    fn tools_that_would_have_one_name_have_two() {
        let names = ToolNames::new(&[source("a", &["b_c"]), source("a_b", &["c"])]);
        assert_eq!(names.len(), 2);
        let shown: Vec<_> = names.iter().map(|tool| tool.name.as_str()).collect();
        assert_eq!(shown[0], "mcp_a_b_c");
        assert!(shown[1].starts_with("mcp_a_b_c_"));
        assert_eq!(found(&names, "mcp_a_b_c"), Some(ToolKey::new("a", "b_c")));
        assert_eq!(found(&names, "a_b/c"), Some(ToolKey::new("a_b", "c")));
        // Beside the one that is called so, the other one is only written so.
        assert_eq!(found(&names, "a_b__c"), Some(ToolKey::new("a_b", "c")));
    }

    #[test]
    fn the_order_of_servers_makes_no_difference() {
        let (one, two) = (source("a", &["b_c", "d"]), source("a_b", &["c"]));
        let shown = |names: ToolNames| -> Vec<_> {
            names
                .iter()
                .map(|tool| (tool.name.clone(), tool.key.clone()))
                .collect()
        };
        let forward = shown(ToolNames::new(&[one.clone(), two.clone()]));
        let backward = shown(ToolNames::new(&[two, one]));
        assert_eq!(forward, backward);
    }

    proptest! {
        #[test]
        fn names_are_sound_and_unique_and_lead_back(
            tools in prop::collection::btree_map("[a-c_]{1,3}|.{1,80}", prop::collection::btree_set("[a-c_]{1,3}|.{1,90}", 1..5), 1..5)
        ) {
            let sources: Vec<_> = tools
                .iter()
                .map(|(server, tools)| {
                    let tools: Vec<_> = tools.iter().map(String::as_str).collect();
                    source(server, &tools)
                })
                .collect();
            let names = ToolNames::new(&sources);
            let count: usize = tools.values().map(std::collections::BTreeSet::len).sum();
            prop_assert_eq!(names.len(), count);
            for tool in names.iter() {
                let name = tool.name.as_str();
                prop_assert!(name.len() <= 64);
                prop_assert!(name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')));
                prop_assert_eq!(&names.get(name).unwrap().key, &tool.key);
            }
        }
    }
}
