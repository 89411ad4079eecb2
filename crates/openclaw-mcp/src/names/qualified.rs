//! Names that every model takes.

use std::borrow::Cow;
use std::fmt;

use openclaw_config::ToolNaming;
use ring::digest::{SHA256, digest};

use super::table::{ToolKey, fold};

/// Names of our own tools, which no tool of a server gets.
pub const RESERVED: [&str; 8] = [
    "mcp_call_tool",
    "mcp_describe_tool",
    "mcp_list_resources",
    "mcp_manage",
    "mcp_read_resource",
    "mcp_read_result",
    "mcp_search_tools",
    "read_skill",
];

/// How long a name may be.
const LONGEST: usize = 64;
/// How long the server's part may be.
const LONGEST_SERVER: usize = 30;
/// How many digits tell apart what would have the same name.
const DIGITS: usize = 8;

/// The name of a tool as models see it: letters, digits, `_` and `-`, at most 64 of them.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct QualifiedToolName(String);

impl QualifiedToolName {
    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The name of a tool whose server is called `prefix` in names.
    ///
    /// What can't be kept as it is gets a hash at its end, whoever else is there: a name must not
    /// change because another server comes or goes.
    pub(crate) fn new(prefix: &str, naming: ToolNaming, key: &ToolKey) -> Self {
        let server = clean(prefix);
        let tool = clean(&key.tool);
        let is_kept = server == prefix && tool == key.tool;
        let short = &server[..server.len().min(LONGEST_SERVER)];
        let name = match naming {
            ToolNaming::Prefixed => format!("mcp_{short}_{tool}"),
            ToolNaming::Joined => format!("{short}__{tool}"),
        };
        let fits = name.len() <= LONGEST && short.len() == server.len();
        if is_kept && fits && !RESERVED.contains(&name.as_str()) {
            Self(name)
        } else {
            Self(name).told_apart(key)
        }
    }

    /// The same name with a hash of what it stands for at its end.
    pub(crate) fn told_apart(&self, key: &ToolKey) -> Self {
        let mut name = self.0.clone();
        name.truncate(LONGEST - DIGITS - 1);
        Self(format!("{name}_{}", hash(key)))
    }
}

impl fmt::Display for QualifiedToolName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

/// What can stand for a server in the names of its tools, in small letters.
#[derive(Debug)]
pub(crate) struct ServerForms(Vec<String>);

impl ServerForms {
    /// Those of a server with this name and what stands for it otherwise.
    pub(crate) fn new(server: &str, prefix: &str) -> Self {
        let other = (prefix != server).then_some(prefix);
        let names = [Some(server), other].into_iter().flatten();
        let forms = names.flat_map(in_names);
        Self(forms.map(|form| fold(&form).into_owned()).collect())
    }

    /// Whether a spelling in small letters may be that of a tool of the server, whatever tools it has.
    pub(crate) fn may_begin(&self, folded: &str) -> bool {
        self.0.iter().any(|form| {
            let behind = |text: &str, expected: &str| {
                let rest = text.strip_prefix(form.as_str());
                rest.is_some_and(|rest| rest.starts_with(expected))
            };
            let is_prefixed = |rest: &str| behind(rest, "_");
            behind(folded, "/")
                || behind(folded, "__")
                || folded.strip_prefix("mcp_").is_some_and(is_prefixed)
        })
    }
}

/// The forms in which the name of a server can stand in the names of its tools.
pub(crate) fn in_names(server: &str) -> impl Iterator<Item = Cow<'_, str>> {
    let clean = clean(server);
    let is_long = clean.len() > LONGEST_SERVER;
    let short = is_long.then(|| Cow::Owned(clean[..LONGEST_SERVER].to_owned()));
    let cleaned = (clean != server).then_some(clean);
    [Some(Cow::Borrowed(server)), cleaned, short]
        .into_iter()
        .flatten()
}

/// The text with `_` for everything that can't be in a name.
fn clean(text: &str) -> Cow<'_, str> {
    let fits = |character: char| character.is_ascii_alphanumeric() || "_-".contains(character);
    if text.chars().all(fits) {
        return Cow::Borrowed(text);
    }
    let keep = |character| if fits(character) { character } else { '_' };
    Cow::Owned(text.chars().map(keep).collect())
}

fn hash(key: &ToolKey) -> String {
    let text = format!("{}\0{}", key.server, key.tool);
    let digest = digest(&SHA256, text.as_bytes());
    let bytes = digest.as_ref().iter().take(DIGITS / 2);
    bytes.map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(server: &str, tool: &str) -> String {
        let key = ToolKey::new(server, tool);
        QualifiedToolName::new(server, ToolNaming::Prefixed, &key).0
    }

    #[test]
    fn a_name_that_fits_is_kept() {
        assert_eq!(name("github", "create_issue"), "mcp_github_create_issue");
        let key = ToolKey::new("github", "create-issue");
        let joined = QualifiedToolName::new("github", ToolNaming::Joined, &key);
        assert_eq!(joined.as_str(), "github__create-issue");
        let prefixed = QualifiedToolName::new("gh", ToolNaming::Prefixed, &key);
        assert_eq!(prefixed.as_str(), "mcp_gh_create-issue");
    }

    #[test]
    fn what_does_not_fit_is_shortened_and_told_apart() {
        let long = name("github", &"x".repeat(300));
        assert_eq!(long.len(), LONGEST);
        assert_ne!(long, name("github", &"x".repeat(301)));
        assert_ne!(name("my server", "echo"), name("my_server", "echo"));
        assert_ne!(
            name("files", "reаd"),
            name("files", "read"),
            "a Cyrillic letter"
        );
        assert!(name("files", "reаd").starts_with("mcp_files_re_d_"));
        assert!(
            name(&"s".repeat(64), "echo").starts_with(&format!("mcp_{}_echo_", "s".repeat(30)))
        );
        assert!(!name("", "").is_empty());
    }

    #[test]
    fn the_server_of_a_spelling_is_found_by_each_of_its_forms() {
        let may_begin = |server: &str, prefix: &str, spelling: &str| {
            ServerForms::new(server, prefix).may_begin(spelling)
        };
        let long = "s".repeat(64);
        let short = format!("mcp_{}_echo", "s".repeat(30));
        for (server, prefix, spelling) in [
            ("github", "github", "github/create_issue"),
            ("github", "github", "mcp_github_create_issue"),
            ("github", "github", "github__create_issue"),
            ("GitHub", "gh", "mcp_gh_create_issue"),
            ("GitHub", "gh", "github/create_issue"),
            ("my server", "my server", "mcp_my_server_echo_0a1b2c3d"),
            ("my server", "my server", "my server/echo"),
            (long.as_str(), long.as_str(), short.as_str()),
        ] {
            assert!(may_begin(server, prefix, spelling), "{spelling}");
            assert!(!may_begin("git", "hub", spelling), "{spelling}");
        }
        assert!(!may_begin("github", "github", "github"));
        assert!(!may_begin("github", "github", "github_create_issue"));
    }

    #[test]
    fn our_own_names_are_not_given_away() {
        for (server, tool) in [("search", "tools"), ("call", "tool"), ("read", "result")] {
            let reserved = format!("mcp_{server}_{tool}");
            assert!(RESERVED.contains(&reserved.as_str()));
            let given = name(server, tool);
            assert!(given.starts_with(&reserved) && given != reserved, "{given}");
        }
    }
}
