//! Which tools a person is asked about.

use openclaw_config::Approval;
use openclaw_mcp_client::ToolAnnotations;

use crate::names::NamedTool;
use crate::policy::Pattern;

/// Whether a person is asked before a tool runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ApprovalNeed {
    /// It just runs.
    No,
    /// The person is asked.
    Ask,
}

/// When a person is asked, as it is configured for an agent.
#[derive(Clone, Debug)]
pub struct ApprovalRules {
    approval: Approval,
    read_only: Vec<Pattern>,
}

impl ApprovalRules {
    /// The rules of an agent: its `tools.approval` and `tools.readOnly`.
    pub fn new(approval: Approval, read_only: &[String]) -> Self {
        Self {
            approval,
            read_only: read_only.iter().map(|text| Pattern::new(text)).collect(),
        }
    }

    /// Whether a person is asked about a tool. What its server says about it counts only where
    /// the configuration trusts that server's annotations.
    pub fn needs(
        &self,
        tool: &NamedTool,
        annotations: &ToolAnnotations,
        trust_annotations: bool,
    ) -> ApprovalNeed {
        let is_known = match self.approval {
            Approval::Off => true,
            Approval::All => false,
            Approval::Auto => self.is_read_only(tool, annotations, trust_annotations),
        };
        if is_known {
            ApprovalNeed::No
        } else {
            ApprovalNeed::Ask
        }
    }

    /// Whether a tool changes nothing: the configuration says so, or its server, where that is trusted.
    pub(crate) fn is_read_only(
        &self,
        tool: &NamedTool,
        annotations: &ToolAnnotations,
        trust_annotations: bool,
    ) -> bool {
        self.calls_read_only(tool) || (trust_annotations && says_read_only(annotations))
    }

    /// Whether a person is asked before a resource is read, which changes nothing.
    pub(crate) fn needs_for_reading(&self) -> ApprovalNeed {
        match self.approval {
            Approval::Off | Approval::Auto => ApprovalNeed::No,
            Approval::All => ApprovalNeed::Ask,
        }
    }

    /// Whether the configuration calls a tool read-only. This permits something, so only clear
    /// spellings count: servers choose the names of their tools.
    fn calls_read_only(&self, tool: &NamedTool) -> bool {
        if self.read_only.is_empty() {
            return false;
        }
        let spellings = tool.spellings();
        let mut clear = spellings.iter().filter(|spelling| spelling.is_clear);
        clear.any(|spelling| {
            let mut patterns = self.read_only.iter();
            patterns.any(|it| it.matches_folded(spelling.folded()))
        })
    }
}

/// Whether a server says of a tool that it changes nothing, and does not contradict itself.
fn says_read_only(annotations: &ToolAnnotations) -> bool {
    annotations.read_only == Some(true) && annotations.destructive != Some(true)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::approval::question::tests::named;

    fn rules(approval: Approval, read_only: &[&str]) -> ApprovalRules {
        let texts: Vec<_> = read_only.iter().map(|text| (*text).to_owned()).collect();
        ApprovalRules::new(approval, &texts)
    }

    fn says(read_only: Option<bool>, destructive: Option<bool>) -> ToolAnnotations {
        ToolAnnotations {
            read_only,
            destructive,
            ..ToolAnnotations::default()
        }
    }

    fn asks(rules: &ApprovalRules, server: &str, tool: &str) -> bool {
        let tool = named(server, tool);
        rules.needs(&tool, &says(None, None), false) == ApprovalNeed::Ask
    }

    #[test]
    fn off_never_asks_and_all_always_does() {
        let tool = named("files", "read");
        let reads = says(Some(true), None);
        let needs = |approval| rules(approval, &["*"]).needs(&tool, &reads, true);
        assert_eq!(needs(Approval::Off), ApprovalNeed::No);
        assert_eq!(needs(Approval::Auto), ApprovalNeed::No);
        assert_eq!(needs(Approval::All), ApprovalNeed::Ask);
        assert!(!asks(&rules(Approval::Off, &[]), "files", "delete"));
    }

    #[test]
    fn what_the_configuration_calls_read_only_is_known_in_every_spelling() {
        for pattern in ["files/read*", "mcp_files_read", "FILES__READ", "*read"] {
            let rules = rules(Approval::Auto, &[pattern]);
            assert!(!asks(&rules, "files", "read"), "{pattern}");
            assert!(asks(&rules, "files", "write"), "{pattern}");
        }
        assert!(asks(&rules(Approval::Auto, &[]), "files", "read"));
    }

    #[test]
    fn a_server_can_not_name_its_tools_into_what_is_read_only_of_another() {
        let rules = rules(Approval::Auto, &["mcp_git_hub_*"]);
        assert!(!asks(&rules, "git_hub", "list"));
        assert!(asks(&rules, "git", "hub_delete"));
    }

    #[test]
    fn the_word_of_a_server_counts_where_it_is_trusted_and_does_not_contradict_itself() {
        let (tool, rules) = (named("files", "read"), rules(Approval::Auto, &[]));
        for (read_only, destructive, trusted, expected) in [
            (Some(true), None, true, ApprovalNeed::No),
            (Some(true), Some(false), true, ApprovalNeed::No),
            (Some(true), Some(true), true, ApprovalNeed::Ask),
            (Some(true), None, false, ApprovalNeed::Ask),
            (Some(false), Some(false), true, ApprovalNeed::Ask),
            (None, Some(false), true, ApprovalNeed::Ask),
        ] {
            let found = rules.needs(&tool, &says(read_only, destructive), trusted);
            assert_eq!(found, expected, "{read_only:?} {destructive:?} {trusted}");
        }
    }
}
