//! All tools with their names.

use std::borrow::Cow;
use std::sync::Arc;

use openclaw_config::ToolNaming;

use super::own_names::OwnNames;
use super::qualified::QualifiedToolName;
use super::spelling::{Spelling, is_spelling, spellings};

/// How often names are told apart from those that came of that.
const ATTEMPTS: usize = 4;

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
    /// Which of the sources it is from, and which of its tools.
    pub(crate) place: (usize, usize),
    beside: Arc<Beside>,
}

/// What the spellings of a server's tools depend on beside their names.
#[derive(Debug)]
struct Beside {
    /// What stands for the server in names.
    prefix: String,
    rivals: Vec<String>,
}

impl NamedTool {
    /// Whether its name is not more likely that of a tool of another server.
    fn is_clear(&self) -> bool {
        let mut spellings = self.spellings().into_iter();
        spellings.any(|it| it.text == self.name.as_str() && it.is_clear)
    }

    /// Whether this is one of the ways to write its name, letter by letter.
    fn is_written(&self, text: &str) -> bool {
        is_spelling(text, &self.name, &self.beside.prefix, &self.key)
    }

    /// How long what stands for its server can be.
    pub(super) fn longest_server(&self) -> usize {
        self.key.server.len().max(self.beside.prefix.len())
    }

    /// All ways to write its name: made when they are needed, since nearly nobody needs them.
    pub(crate) fn spellings(&self) -> Vec<Spelling> {
        spellings(
            &self.name,
            &self.beside.prefix,
            &self.key,
            &self.beside.rivals,
        )
    }
}

/// The names of all tools, sorted.
#[derive(Clone, Debug, Default)]
pub struct ToolNames {
    tools: Vec<NamedTool>,
}

/// What a spelling means.
#[derive(Clone, Debug)]
pub enum Lookup<T> {
    /// This tool.
    Found(T),
    /// One of these tools.
    Ambiguous(Vec<T>),
    /// None.
    Unknown,
}

impl ToolNames {
    /// Names the tools of all servers. A tool that is listed twice counts once.
    pub fn new(sources: &[ToolSource<'_>]) -> Self {
        let mut wanted = Vec::new();
        for (place, source) in sources.iter().enumerate() {
            let tools = source.tools.iter().enumerate();
            wanted.extend(tools.map(|(number, tool)| (source.server, *tool, (place, number))));
        }
        // In the order of what they really are, so that the same tools have the same names however
        // their servers came.
        wanted.sort_unstable();
        wanted.dedup_by(|one, other| (one.0, one.1) == (other.0, other.1));
        let beside: Vec<Arc<Beside>> = sources
            .iter()
            .map(|source| {
                Arc::new(Beside {
                    prefix: source.prefix.unwrap_or(source.server).to_owned(),
                    rivals: rivals(source, sources),
                })
            })
            .collect();
        let mut tools: Vec<NamedTool> = wanted
            .into_iter()
            .filter_map(|(server, tool, place)| {
                let (source, beside) = (sources.get(place.0)?, beside.get(place.0)?);
                let key = ToolKey::new(server, tool);
                Some(NamedTool {
                    name: QualifiedToolName::new(&beside.prefix, source.naming, &key),
                    key,
                    place,
                    beside: Arc::clone(beside),
                })
            })
            .collect();
        // Those that would have the same name stay in order, and the first keeps it.
        tools.sort_by(|one, other| one.name.cmp(&other.name));
        tell_apart(&mut tools);
        Self { tools }
    }

    /// The tools in the order of their names.
    pub fn iter(&self) -> impl Iterator<Item = &NamedTool> {
        self.tools.iter()
    }

    /// The same.
    pub(crate) fn into_tools(self) -> Vec<NamedTool> {
        self.tools
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
        get(&self.tools, |tool| tool, name)
    }

    /// The tool that a person means by a spelling.
    pub fn find(&self, spelling: &str) -> Lookup<&NamedTool> {
        let own = OwnNames::new(&self.tools, |tool| tool);
        find(&self.tools, |tool| tool, || &own, spelling)
    }
}

/// Among things that are sorted by the names of their tools, the one of exactly this name.
pub(crate) fn get<'a, T>(
    sorted: &'a [T],
    named: impl Fn(&T) -> &NamedTool,
    name: &str,
) -> Option<&'a T> {
    let found = sorted.binary_search_by(|it| named(it).name.as_str().cmp(name));
    sorted.get(found.ok()?)
}

/// The one that a person means by a spelling. The names that servers give to the same things are asked for only
/// where it is not the one that models know.
pub(crate) fn find<'a, 'o, T>(
    sorted: &'a [T],
    named: impl Fn(&T) -> &NamedTool,
    own: impl FnOnce() -> &'o OwnNames,
    spelling: &str,
) -> Lookup<&'a T> {
    if let Some(tool) = get(sorted, &named, spelling) {
        return Lookup::Found(tool);
    }
    let mut meant: Vec<&T> = own()
        .at_the_end_of(spelling, sorted, &named)
        .into_iter()
        .filter(|tool| named(tool).is_written(spelling))
        .collect();
    if meant.is_empty() {
        // Case matters only if something is written just so.
        let folded = fold(spelling);
        let is_meant = |tool: &&T| {
            let mut spellings = named(tool).spellings().into_iter();
            spellings.any(|it| it.folded() == folded)
        };
        meant = sorted.iter().filter(is_meant).collect();
    }
    match meant.as_slice() {
        [] => Lookup::Unknown,
        [only] => Lookup::Found(only),
        _ => Lookup::Ambiguous(meant),
    }
}

/// Gives names of their own to all but one of those that have the same one.
fn tell_apart(tools: &mut [NamedTool]) {
    // A name with a hash may be one that a server gave: then that one is told apart, too.
    for _ in 0..ATTEMPTS {
        let mut has_changed = false;
        for same in tools.chunk_by_mut(|one, other| one.name == other.name) {
            if same.len() < 2 {
                continue;
            }
            // The one that everybody would take it for; else the first.
            let keeper = same.iter().position(NamedTool::is_clear).unwrap_or(0);
            for (place, tool) in same.iter_mut().enumerate() {
                let apart = tool.name.told_apart(&tool.key);
                if place != keeper && tool.name != apart {
                    tool.name = apart;
                    has_changed = true;
                }
            }
        }
        if !has_changed {
            return;
        }
        tools.sort_by(|one, other| one.name.cmp(&other.name));
    }
}

/// What stands for other servers in names, and begins as this one does or the other way round: only
/// that can make the name of a tool ambiguous.
fn rivals(source: &ToolSource<'_>, all: &[ToolSource<'_>]) -> Vec<String> {
    let own = [source.server, source.prefix.unwrap_or(source.server)];
    let others = all.iter().filter(|other| other.server != source.server);
    others
        .flat_map(|other| [other.server, other.prefix.unwrap_or(other.server)])
        .filter(|other| {
            own.iter()
                .any(|own| own.starts_with(other) || other.starts_with(own))
        })
        .map(str::to_owned)
        .collect()
}

/// A text for whom case does not matter; most have no other letters anyway.
pub(crate) fn fold(text: &str) -> Cow<'_, str> {
    // There are letters that are neither large nor small, and change all the same.
    let is_folded = |byte: u8| byte.is_ascii() && !byte.is_ascii_uppercase();
    if text.bytes().all(is_folded) {
        Cow::Borrowed(text)
    } else {
        Cow::Owned(text.to_lowercase())
    }
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
        // Everybody would take it for the tool of the server with the longer name.
        assert_eq!(found(&names, "mcp_a_b_c"), Some(ToolKey::new("a_b", "c")));
        assert_eq!(found(&names, "a/b_c"), Some(ToolKey::new("a", "b_c")));
        assert_eq!(found(&names, "a_b/c"), Some(ToolKey::new("a_b", "c")));
        // Beside the one that is called so, the other one is only written so.
        assert_eq!(found(&names, "a_b__c"), Some(ToolKey::new("a_b", "c")));
    }

    #[test]
    fn a_server_can_not_take_the_name_that_another_was_given() {
        let (one, two) = (source("a", &["b_c"]), source("a_b", &["c"]));
        let names = ToolNames::new(&[one, two.clone()]);
        let given = names.iter().find(|it| it.key.server == "a").unwrap();
        let taken = given
            .name
            .as_str()
            .strip_prefix("mcp_a_")
            .unwrap()
            .to_owned();
        let greedy = source("a", &["b_c", &taken]);
        let names = ToolNames::new(&[greedy, two]);
        let shown: std::collections::BTreeSet<_> = names.iter().map(|it| &it.name).collect();
        assert_eq!((names.len(), shown.len()), (3, 3), "{names:?}");
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
            tools in prop::collection::btree_map("[a-c_]{1,3}|.{1,80}", prop::collection::btree_set("[a-c_]{1,3}|.{1,90}", 1..5), 1..5),
            prefixes in prop::collection::vec(prop::option::of("[a-c_]{1,3}"), 5),
            joined in prop::collection::vec(any::<bool>(), 5),
        ) {
            let sources: Vec<_> = tools
                .iter()
                .zip(prefixes.iter().zip(&joined))
                .map(|((server, tools), (prefix, is_joined))| ToolSource {
                    server,
                    prefix: prefix.as_deref(),
                    naming: if *is_joined { ToolNaming::Joined } else { ToolNaming::Prefixed },
                    tools: tools.iter().map(String::as_str).collect(),
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
            let every = || names.iter().flat_map(NamedTool::spellings);
            for (tool, spelling) in names.iter().flat_map(|tool| every().map(move |it| (tool, it))) {
                let is_own = tool.spellings().iter().any(|own| own.text == spelling.text);
                prop_assert_eq!(tool.is_written(&spelling.text), is_own, "{}", spelling.text);
            }
            // What is found by what a text ends with is what looking at all of them finds.
            for spelling in every() {
                let text = &spelling.text;
                let keys = |tools: &[&NamedTool]| -> Vec<ToolKey> {
                    tools.iter().map(|tool| tool.key.clone()).collect()
                };
                let written: Vec<_> = names.iter().filter(|tool| tool.is_written(text)).collect();
                let expected = names.get(text).map_or(written, |tool| vec![tool]);
                let found = match names.find(text) {
                    Lookup::Found(tool) => vec![tool],
                    Lookup::Ambiguous(tools) => tools,
                    Lookup::Unknown => Vec::new(),
                };
                prop_assert_eq!(keys(&found), keys(&expected), "{}", text);
            }
        }
    }
}
