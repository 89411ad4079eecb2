//! Layers of permissions: each only restricts, and denying wins.

use openclaw_config::PolicyLayer;

use super::Pattern;
use crate::names::{NamedTool, Spelling, in_names};

/// Words that mean every tool of every server.
const ALL_SERVERS: [&str; 2] = ["group:plugins", "bundle-mcp"];

/// What an agent may use.
#[derive(Clone, Debug)]
pub struct Policy {
    layers: Vec<Layer>,
}

#[derive(Clone, Debug)]
struct Layer {
    origin: String,
    /// Only these, where there are any.
    allow: Vec<Rule>,
    deny: Vec<Rule>,
}

#[derive(Clone, Debug)]
struct Rule {
    text: String,
    means: Means,
}

#[derive(Clone, Debug)]
enum Means {
    EveryServer,
    Names(Pattern),
}

/// Whether a tool may be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    /// It may.
    Allowed,
    /// It may not.
    Denied {
        /// Where that is written.
        origin: String,
        /// The rule, if one denies it; none allows it otherwise.
        rule: Option<String>,
    },
}

impl Decision {
    /// Whether it may be used.
    pub fn is_allowed(&self) -> bool {
        *self == Self::Allowed
    }
}

impl Policy {
    /// The policy of an agent, as it is configured.
    pub fn new(layers: &[PolicyLayer]) -> Self {
        let rules = |texts: &[String]| texts.iter().map(|text| Rule::new(text)).collect();
        let layer = |layer: &PolicyLayer| Layer {
            origin: layer.origin.clone(),
            allow: rules(&layer.allow),
            deny: rules(&layer.deny),
        };
        Self {
            layers: layers.iter().map(layer).collect(),
        }
    }

    /// Whether a tool may be used, however its name is written in the rules.
    pub fn decide(&self, tool: &NamedTool) -> Decision {
        if self.layers.iter().all(Layer::is_empty) {
            return Decision::Allowed;
        }
        let spellings = tool.spellings();
        for layer in &self.layers {
            if let Some(rule) = layer.deny.iter().find(|rule| rule.denies(&spellings)) {
                return Decision::Denied {
                    origin: layer.origin.clone(),
                    rule: Some(rule.text.clone()),
                };
            }
            if !layer.allow.is_empty() && !layer.allow.iter().any(|rule| rule.allows(&spellings)) {
                return Decision::Denied {
                    origin: layer.origin.clone(),
                    rule: None,
                };
            }
        }
        Decision::Allowed
    }

    /// Whether a tool of our own may be used. It is there for the tools and resources of servers, and
    /// so whoever names those that are allowed need not name it; only who denies it takes it away.
    pub fn decide_own(&self, name: &str) -> Decision {
        for layer in &self.layers {
            let denies = |rule: &&Rule| match &rule.means {
                Means::EveryServer => false,
                Means::Names(pattern) => pattern.matches(name),
            };
            if let Some(rule) = layer.deny.iter().find(denies) {
                return Decision::Denied {
                    origin: layer.origin.clone(),
                    rule: Some(rule.text.clone()),
                };
            }
        }
        Decision::Allowed
    }

    /// Whether no tool of a server can be allowed, whatever tools it has: it need not be started.
    ///
    /// `prefix` is what stands for the server in names.
    pub fn denies_all_of(&self, server: &str, prefix: &str) -> bool {
        let beginnings = beginnings(server, prefix);
        self.layers.iter().any(|layer| {
            let denies = |rule: &Rule| match &rule.means {
                Means::EveryServer => true,
                Means::Names(pattern) => beginnings
                    .iter()
                    .any(|beginning| pattern.matches_all_from(beginning)),
            };
            let may_allow = |rule: &Rule| match &rule.means {
                Means::EveryServer => true,
                Means::Names(pattern) => beginnings
                    .iter()
                    .any(|beginning| pattern.may_match_from(beginning)),
            };
            layer.deny.iter().any(denies)
                || (!layer.allow.is_empty() && !layer.allow.iter().any(may_allow))
        })
    }
}

/// How the names of all tools of a server begin.
fn beginnings(server: &str, prefix: &str) -> Vec<String> {
    let mut found = vec![format!("{server}/")];
    for name in [server, prefix].into_iter().flat_map(in_names) {
        found.push(format!("mcp_{name}_"));
        found.push(format!("{name}__"));
    }
    found
}

impl Layer {
    fn is_empty(&self) -> bool {
        self.allow.is_empty() && self.deny.is_empty()
    }
}

impl Rule {
    fn new(text: &str) -> Self {
        let word = text.trim().to_lowercase();
        let means = if ALL_SERVERS.contains(&word.as_str()) {
            Means::EveryServer
        } else {
            Means::Names(Pattern::new(text))
        };
        Self {
            text: text.to_owned(),
            means,
        }
    }

    fn denies(&self, spellings: &[Spelling]) -> bool {
        match &self.means {
            Means::EveryServer => true,
            Means::Names(pattern) => {
                let mut spellings = spellings.iter();
                spellings.any(|spelling| pattern.matches_folded(spelling.folded()))
            }
        }
    }

    fn allows(&self, spellings: &[Spelling]) -> bool {
        match &self.means {
            Means::EveryServer => true,
            Means::Names(pattern) => {
                let mut clear = spellings.iter().filter(|spelling| spelling.is_clear);
                clear.any(|spelling| pattern.matches_folded(spelling.folded()))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use openclaw_config::ToolNaming;

    use super::*;
    use crate::names::{ToolNames, ToolSource};

    fn policy(layers: &[(&[&str], &[&str])]) -> Policy {
        let texts = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
        let layers: Vec<_> = layers
            .iter()
            .enumerate()
            .map(|(number, (allow, deny))| PolicyLayer {
                origin: format!("layer {number}"),
                allow: texts(allow),
                deny: texts(deny),
            })
            .collect();
        Policy::new(&layers)
    }

    fn names(servers: &[(&str, &[&str])]) -> ToolNames {
        let sources: Vec<_> = servers
            .iter()
            .map(|(server, tools)| ToolSource {
                server,
                prefix: None,
                naming: ToolNaming::Prefixed,
                tools: tools.to_vec(),
            })
            .collect();
        ToolNames::new(&sources)
    }

    fn allowed(policy: &Policy, names: &ToolNames) -> Vec<String> {
        names
            .iter()
            .filter(|tool| policy.decide(tool).is_allowed())
            .map(|tool| tool.name.to_string())
            .collect()
    }

    #[test]
    fn a_denied_tool_is_denied_in_every_spelling() {
        let names = names(&[("github", &["create_issue", "delete_repo"])]);
        for rule in [
            "mcp_github_delete_repo",
            "github__delete_repo",
            "github/delete_repo",
            "GITHUB/Delete_*",
            "*delete*",
        ] {
            let policy = policy(&[(&[], &[rule])]);
            assert_eq!(
                allowed(&policy, &names),
                ["mcp_github_create_issue"],
                "{rule}"
            );
        }
    }

    #[test]
    fn layers_only_restrict_and_denying_wins() {
        let names = names(&[("a", &["one", "two", "three"])]);
        let both = policy(&[(&["a/*"], &["a/two"]), (&["a/two", "a/one"], &[])]);
        assert_eq!(allowed(&both, &names), ["mcp_a_one"]);
        let denied = both.decide(names.get("mcp_a_two").unwrap());
        assert_eq!(
            denied,
            Decision::Denied {
                origin: "layer 0".to_owned(),
                rule: Some("a/two".to_owned()),
            }
        );
        let missing = both.decide(names.get("mcp_a_three").unwrap());
        assert_eq!(
            missing,
            Decision::Denied {
                origin: "layer 1".to_owned(),
                rule: None,
            }
        );
        assert_eq!(allowed(&policy(&[]), &names).len(), 3);
        assert_eq!(allowed(&policy(&[(&["bundle-mcp"], &[])]), &names).len(), 3);
        assert_eq!(
            allowed(&policy(&[(&[], &["group:plugins"])]), &names).len(),
            0
        );
    }

    #[test]
    fn our_own_tools_are_there_unless_somebody_denies_them() {
        let decide = |layers: &[(&[&str], &[&str])]| {
            let decision = policy(layers).decide_own("mcp_read_resource");
            decision.is_allowed()
        };
        assert!(decide(&[]));
        assert!(decide(&[(&["github/*"], &["files/*", "bundle-mcp"])]));
        for denied in ["mcp_read_resource", "MCP_Read_*", "*"] {
            assert!(!decide(&[(&[], &[]), (&["*"], &[denied])]), "{denied}");
        }
    }

    #[test]
    fn a_server_can_not_name_its_tools_into_the_rights_of_another() {
        let names = names(&[("git", &["hub_delete"]), ("git_hub", &["create"])]);
        for rule in ["mcp_git_hub_*", "git_hub__*", "git_hub/*"] {
            let policy = policy(&[(&[rule], &[])]);
            assert_eq!(allowed(&policy, &names), ["mcp_git_hub_create"], "{rule}");
        }
    }

    #[test]
    fn a_prefix_is_no_way_into_the_rights_of_another_either() {
        let source = |server, prefix, tools: &[&'static str]| ToolSource {
            server,
            prefix,
            naming: ToolNaming::Prefixed,
            tools: tools.to_vec(),
        };
        let names = ToolNames::new(&[
            source("one", Some("git"), &["hub_delete"]),
            source("two", Some("git_hub"), &["create"]),
        ]);
        let policy = policy(&[(&["mcp_git_hub_*"], &[])]);
        assert_eq!(allowed(&policy, &names), ["mcp_git_hub_create"]);
    }

    #[test]
    fn a_server_without_allowed_tools_is_known_before_it_is_started() {
        let denies = |layers: &[(&[&str], &[&str])]| policy(layers).denies_all_of("github", "gh");
        assert!(denies(&[(&[], &["github/*"])]));
        assert!(denies(&[(&[], &["mcp_gh_*"])]));
        assert!(denies(&[(&[], &["*"])]));
        assert!(denies(&[(&["files/*"], &[])]));
        assert!(denies(&[(&["*"], &[]), (&["mcp_files_read"], &[])]));
        assert!(!denies(&[(&["github/create_issue"], &[])]));
        assert!(!denies(&[(&["*_issue"], &["github/delete_*"])]));
        assert!(!denies(&[]));
    }
}
