//! Which tools may be used.

use crate::expand::Text;
use crate::shape::{choices, object};

choices! {
    /// When a person is asked before a tool runs.
    pub enum Approval {
        /// Never.
        Off = "off",
        /// For tools that are not known to only read.
        Auto = "auto",
        /// For every tool.
        All = "all",
    }
}

choices! {
    /// What happens where nobody can be asked.
    pub enum WithoutPerson {
        /// The tool runs.
        Allow = "allow",
        /// The tool is refused.
        Deny = "deny",
    }
}

choices! {
    /// Whether the model gets a search for tools instead of all definitions.
    pub enum ToolSearch {
        /// Where all definitions would take too much of its context.
        Auto = "auto",
        /// Always.
        On = "on",
        /// Never.
        Off = "off",
    }
}

object! {
    /// Names of tools that may or may not be used. `*` stands for any text, upper and lower case
    /// are the same, and every spelling of a tool counts: `mcp_srv_tool`, `srv__tool`, `srv/tool`.
    open RawPolicy as "toolPolicy" {
        /// Only these. Nothing or an empty list means all.
        allow: Vec<Text> = "allow";
        /// Not these, whatever is allowed.
        deny: Vec<Text> = "deny";
    }
}

object! {
    /// Which tools may be used, and when a person is asked.
    open RawTools as "tools" {
        /// Only these tools. Nothing or an empty list means all.
        allow: Vec<Text> = "allow";
        /// Not these tools, whatever is allowed.
        deny: Vec<Text> = "deny";
        /// When a person is asked before a tool runs.
        approval: Approval = "approval", default "auto";
        /// What happens where nobody can be asked.
        approval_without_person: WithoutPerson = "approvalWithoutPerson", default "allow";
        /// Tools that are known to only read; `*` stands for any text.
        read_only: Vec<Text> = "readOnly";
        /// Whether the model searches for tools instead of seeing all definitions.
        tool_search: ToolSearch = "toolSearch", default "auto";
    }
}
