//! The ways in which people write the name of a tool.

use std::borrow::Cow;

use super::qualified::QualifiedToolName;
use super::table::{ToolKey, fold};

/// One way to write the name of a tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Spelling {
    pub(crate) text: String,
    /// The same in small letters, if it may have others.
    folded: Option<String>,
    /// Whether it is not more likely the tool of a server with a longer name. Only such a spelling
    /// may permit anything: servers choose the names of their tools, and one called `git` must not
    /// come by the rights of `git_hub` with a tool called `hub_delete`.
    pub(crate) is_clear: bool,
}

impl Spelling {
    /// The spelling for whom case does not matter.
    pub(crate) fn folded(&self) -> &str {
        self.folded.as_deref().unwrap_or(&self.text)
    }
}

/// What stands before a server and between it and its tool, in names that are like those that models
/// know.
const AROUND: [(&str, &str); 2] = [("mcp_", "_"), ("", "__")];
/// How long both are together, at most.
pub(super) const LONGEST_AROUND: usize = "mcp__".len();

/// Whether a text is one of [`spellings`], without making them.
pub(crate) fn is_spelling(
    text: &str,
    name: &QualifiedToolName,
    prefix: &str,
    key: &ToolKey,
) -> bool {
    let Some(before_tool) = text.strip_suffix(key.tool.as_str()) else {
        return text == name.as_str();
    };
    let is_around = |server: &str| {
        AROUND.iter().any(|(before, behind)| {
            let rest = before_tool.strip_prefix(before);
            let rest = rest.and_then(|rest| rest.strip_suffix(behind));
            rest == Some(server)
        })
    };
    before_tool.strip_suffix('/') == Some(&key.server)
        || is_around(&key.server)
        || is_around(prefix)
        || text == name.as_str()
}

/// All ways to write the name of a tool. The rivals are what stands for other servers in names.
pub(crate) fn spellings(
    name: &QualifiedToolName,
    prefix: &str,
    key: &ToolKey,
    rivals: &[String],
) -> Vec<Spelling> {
    // No name of a server holds a `/`.
    let mut found: Vec<Spelling> = Vec::with_capacity(6);
    let mut add = |text: String, is_clear: bool| {
        if !found.iter().any(|it| it.text == text) {
            let folded = match fold(&text) {
                Cow::Borrowed(_) => None,
                Cow::Owned(folded) => Some(folded),
            };
            found.push(Spelling {
                text,
                folded,
                is_clear,
            });
        }
    };
    add([&key.server, "/", &key.tool].concat(), true);
    let is_clear = |text: &str, server: &str, before: &str, behind: &str| {
        let mut longer = rivals.iter().filter(|rival| rival.len() > server.len());
        longer.all(|rival| {
            let rest = text
                .strip_prefix(before)
                .and_then(|rest| rest.strip_prefix(rival.as_str()));
            !rest.is_some_and(|rest| rest.starts_with(behind))
        })
    };
    let other = (prefix != key.server).then_some(prefix);
    for server in [Some(key.server.as_str()), other].into_iter().flatten() {
        for (before, behind) in AROUND {
            let text = [before, server, behind, &key.tool].concat();
            let is_clear = is_clear(&text, server, before, behind);
            add(text, is_clear);
        }
    }
    let is_clear =
        is_clear(name.as_str(), prefix, "mcp_", "_") && is_clear(name.as_str(), prefix, "", "__");
    add(name.as_str().to_owned(), is_clear);
    found
}

#[cfg(test)]
mod tests {
    use openclaw_config::ToolNaming;

    use super::*;

    fn clear(server: &str, tool: &str, rivals: &[&str]) -> Vec<(String, bool)> {
        let key = ToolKey::new(server, tool);
        let name = QualifiedToolName::new(server, ToolNaming::Prefixed, &key);
        let rivals: Vec<String> = rivals.iter().map(|it| (*it).to_owned()).collect();
        let found = spellings(&name, server, &key, &rivals);
        found.into_iter().map(|it| (it.text, it.is_clear)).collect()
    }

    #[test]
    fn every_way_to_write_a_name_is_known() {
        let expected = [
            ("github/create_issue", true),
            ("mcp_github_create_issue", true),
            ("github__create_issue", true),
        ];
        let expected = expected.map(|(text, is_clear)| (text.to_owned(), is_clear));
        assert_eq!(clear("github", "create_issue", &["files"]), expected);
    }

    #[test]
    fn a_name_that_could_be_another_servers_permits_nothing() {
        let found = clear("git", "hub_delete", &["git_hub"]);
        assert_eq!(found[0], ("git/hub_delete".to_owned(), true));
        assert_eq!(found[1], ("mcp_git_hub_delete".to_owned(), false));
        let found = clear("git_hub", "delete", &["git"]);
        assert_eq!(found[1], ("mcp_git_hub_delete".to_owned(), true));
        assert_eq!(found[2], ("git_hub__delete".to_owned(), true));
    }
}
